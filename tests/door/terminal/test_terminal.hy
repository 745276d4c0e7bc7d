"The real program in a real pseudo-terminal: typing, evaluating, streaming, stopping, leaving."

(import
  re
  signal
  pytest
  tests.doubles [scripted]
  tests.door.terminal [lib])

(setv WORDS (lfor i (range 200) f"w{i}"))

(defn words-on [tty]
  "Return the numbered words of the last turn on TTY and in its scrollback, in order."
  (lfor w (re.findall r"\bw(\d+)\b" (get (.split (.history tty) "❯ go") -1)) (int w)))

(defn test-forms [tmp-path]
  "A form is evaluated; an incomplete one goes on with indentation; an unreadable one stays in the draft with the caret on it."
  (with [tty (lib.started tmp-path)]
    (.line tty "(+ 20 22)")
    (.until tty r"^= 42$")
    (.line tty "(defn f [x]")
    (.until tty r"^\* \(defn f \[x\]$")
    (assert (= (get (.cursor tty) 1) 4))
    (.line tty "(+ x 1))")
    (.until tty r"^; f defined")
    (.line tty "(f 1)")
    (.until tty r"^= 2$")
    (.line tty "(f 1))")
    (.until tty r"^! ")
    (.until tty r"^\* \(f 1\)\)$" :quiet 0.1)
    (assert (= (get (.cursor tty) 1) 7))
    (.key tty "backspace" "enter")
    (.gone tty r"^\* \(f 1\)\)$")
    (.until tty r"^❯$")))

(defn test-marks [tmp-path]
  "The mark tells prose from a form at the first bracket, and the caret stays where it was."
  (with [tty (lib.started tmp-path)]
    (setv before (get (.cursor tty) 1))
    (.send tty "(")
    (.until tty r"^\* \($")
    (assert (= (get (.cursor tty) 1) (+ before 1)))
    (.key tty "backspace")
    (.until tty lib.PROMPT)))

(defn test-output-and-errors [tmp-path]
  "What a form prints stands before its value; a failing one shows what failed and its restarts, and leaves the prompt alive."
  (with [tty (lib.started tmp-path)]
    (.line tty "(do (print \"printed\") 7)")
    (.until tty r"^  printed$\n^= 7$")
    (.line tty "(/ 1 0)")
    (.until tty r"^! .*division by zero[\s\S]*retry[\s\S]*abort")
    (.key tty "escape")
    (.gone tty r"use-value")
    (.line tty "(undefined-name 1)")
    (.until tty r"1 use-value")
    (.key tty "1")
    (.until tty r"> 1 use-value")
    (.key tty "enter")
    (.until tty r"^=$")
    (.line tty "(fn [x] (* 7 x))")
    (.until tty r"^= 7$")
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn test-streaming-is-intact [tmp-path]
  "An answer that streams above the prompt, while somebody types, loses and doubles nothing at several widths."
  (setv turn [(scripted.slow 0.002) (scripted.answer (+ (.join " " WORDS) "\n"))])
  (with [server (scripted.Server [turn turn turn])
         tty (lib.talking server tmp-path)]
    (for [[i columns] (enumerate [80 47 20])]
      (.resize tty 24 columns)
      (.line tty "go")
      (.until tty r"\bw20\b")
      (.send tty "typed meanwhile")
      (.until tty (+ r"(^; done[\s\S]*){" (str (+ i 1)) "}") :timeout 30 :everywhere True)
      (.until tty r"typed\s+meanwhile$")
      (assert (= (words-on tty) (list (range 200))))
      (.key tty "c-c")
      (.until tty lib.PROMPT))))

(defn test-streaming-survives-resizes [tmp-path]
  "A screen that grows and shrinks while an answer streams loses no word of it; one column and none ends nothing."
  (setv items (.join "" (gfor i (range 120) f"- w{i}\n")))
  (with [server (scripted.Server [[(scripted.slow 0.005) (scripted.answer items)] [(scripted.slow 0.005) (scripted.answer items)]])
         tty (lib.talking server tmp-path)]
    (.line tty "go")
    (.until tty r"\bw5\b")
    (for [size [40 20 80 33 20 80]]
      (.resize tty 24 size)
      (.rest tty 0.08))
    (.until tty r"^; done" :timeout 30 :everywhere True)
    (.until tty lib.PROMPT)
    (assert (= (words-on tty) (list (range 120))))
    (.line tty "go")
    (.until tty r"\bw5\b")
    (for [[rows columns] [[24 3] [24 1] [1 1] [2 80] [24 80]]]
      (.resize tty rows columns)
      (.rest tty 0.08))
    (.until tty r"^; done" :timeout 30)
    (.until tty lib.PROMPT)))

(defn test-narrow-draft [tmp-path]
  "A draft with wide characters survives every width, and is whole again when there is room."
  (with [tty (lib.started tmp-path)]
    (.type tty "你好🦀")
    (for [size [8 3 2 1 2 80]]
      (.resize tty 24 size)
      (.rest tty 0.1))
    (.until tty r"^❯ 你 ?好 ?🦀")
    (.key tty "c-c")
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn test-escape-stops-every-phase [tmp-path]
  "Esc stops a turn before the first byte, in reasoning, in the text and in a call's arguments; what is queued goes on."
  (setv phases [[(scripted.stall)]
                [(scripted.reasoning "hm") (scripted.stall)]
                [(scripted.answer "half an ") (scripted.stall)]
                [(scripted.call "search_content" {"pattern" "xxxxxxxxxxxxxx"}) (scripted.stall)]
                [(scripted.slow 0.05) (scripted.answer (* "word " 200))]])
  (with [server (scripted.Server (sum (lfor [i p] (enumerate phases) [p (scripted.answer f"answer {i}")]) []))
         tty (lib.talking server tmp-path)]
    (for [i (range (len phases))]
      (.line tty "go")
      (.until tty "Esc stops")
      (.type tty f"queued {i}")
      (.key tty "tab")
      (.until tty r"after this turn")
      (.key tty "escape")
      (.until tty (+ r"^; stopped by you[^❯]*^❯ queued " (str i) r"$[\s\S]*^  answer " (str i) "$"))
      (.gone tty "Esc stops")
      (.until tty lib.PROMPT))
    (for [_ (range 100)]
      (when (= server.disconnects (len phases)) (break))
      (.rest tty 0.05))
    (assert (= server.disconnects (len phases)))))

(defn test-steering-and-recall [tmp-path]
  "Prose during a turn steers and Tab queues, both visibly; Tab on an empty draft takes the queued text back."
  (with [server (scripted.Server [[(scripted.slow 0.015) (scripted.calls "search_files" {"query" "x"}) (scripted.answer (* "word " 60))]
                                  (scripted.answer "steered")])
         tty (lib.talking server tmp-path)]
    (.line tty "go")
    (.until tty "Esc stops")
    (.line tty "also mul")
    (.until tty r"» also mul")
    (.type tty "later")
    (.key tty "tab")
    (.until tty r"\d later")
    (.key tty "tab")
    (.until tty r"^❯ later$")
    (.gone tty r"\d later  ")
    (.until tty r"^» also mul$[\s\S]*^  steered$" :timeout 30)))

(defn test-interrupt [tmp-path]
  "Ctrl-C stops the turn and holds the queue; on a draft it clears, and Up brings that back; twice on nothing it leaves with 130."
  (with [server (scripted.Server [[(scripted.answer "half ") (scripted.stall)] (scripted.answer "released")])
         tty (lib.talking server tmp-path)]
    (.line tty "go")
    (.until tty r"^  half$")
    (.type tty "kept back")
    (.key tty "tab")
    (.until tty r"after this turn")
    (.key tty "c-c")
    (.until tty r"^; stopped by you")
    (.until tty r"kept back  held")
    (assert (= (len server.requests) 1))
    (.type tty "draft words")
    (.key tty "c-c")
    (.gone tty r"^❯ draft words")
    (.key tty "up")
    (.until tty r"^❯ draft words")
    (.key tty "c-c")
    (.until tty lib.PROMPT)
    (.key tty "enter")
    (.until tty r"^  released$")
    (.key tty "c-c" "c-c")
    (assert (= (.status tty) 130))
    (setv modes (.modes tty))
    (assert (and (:echo modes) (:canonical modes)))))

(defn test-interrupted-forms [tmp-path]
  "Ctrl-C ends a sleeping form, an endless one, and leaves the image with its state."
  (with [tty (lib.started tmp-path)]
    (for [[i form] (enumerate ["(do (setv kept 5) (import time) (time.sleep 60))" "(while True)"
                                "(do (import asyncio) (.run-forever (asyncio.new-event-loop)))"
                                "(do (import asyncio) (asyncio.run (asyncio.sleep 60)))"])]
      (.line tty form)
      (.until tty "Ctrl-C stops")
      (.key tty "c-c")
      (.until tty (+ r"(^! interrupted[\s\S]*){" (str (+ i 1)) "}")))
    (.line tty "(+ kept 1)")
    (.until tty r"^= 6$")))

(defn test-leaving [tmp-path]
  "Ctrl-D on an empty draft leaves with 0, a form says how to come back, and the terminal is as it was."
  (with [tty (lib.started tmp-path)]
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")
    (.key tty "c-d")
    (assert (= (.status tty) 0))
    (setv modes (.modes tty))
    (assert (and (:echo modes) (:canonical modes) (:signals modes)))
    (assert (not tty.screen.cursor.hidden))
    (assert (in b"\x1b[?2004l" tty.raw))))

(defn test-marks-for-terminals [tmp-path]
  "Prompt, input, output and end of an interaction are marked once each, and the window is named after the program."
  (with [tty (lib.started tmp-path)]
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")
    (.type tty "draft")
    (assert (= (re.findall rb"\x1b\]133;([A-D](?:;\d+)?)\x07" (bytes tty.raw)) [b"A" b"B" b"C" b"D;0"]))
    (assert (in (str tmp-path) tty.screen.title))))

(defn test-quit-by-form [tmp-path]
  "(quit) ends the program once, with 0."
  (with [tty (lib.started tmp-path)]
    (.line tty "(quit)")
    (assert (= (.status tty) 0))))

(defn [(pytest.mark.parametrize "number,status" [#(signal.SIGTERM 143) #(signal.SIGHUP 129)])] test-signals [tmp-path number status]
  "TERM and HUP end the program in good order, also while a form runs."
  (with [tty (lib.started tmp-path)]
    (.line tty "(do (import time) (time.sleep 60))")
    (.until tty "Ctrl-C stops")
    (.kill tty number)
    (assert (= (.status tty) status))
    (assert (:echo (.modes tty)))))

(defn test-suspend [tmp-path]
  "Ctrl-Z stops the program with the shell's modes; continued, it draws its prompt once and goes on."
  (with [tty (lib.started tmp-path)]
    (.type tty "dra")
    (.key tty "c-z")
    (setv end (range 200))
    (for [_ end]
      (when (:canonical (.modes tty)) (break))
      (.rest tty 0.05))
    (assert (:canonical (.modes tty)))
    (.kill tty signal.SIGCONT)
    (for [_ end]
      (when (not (:canonical (.modes tty))) (break))
      (.rest tty 0.05))
    (.type tty "ft")
    (.until tty r"^❯ draft$")
    (.key tty "c-c")
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn [(pytest.mark.parametrize "plain" ["" "1"])] test-report-on-signal [tmp-path plain]
  "SIGUSR1 has the session say what each task and thread waits for, while a form runs too."
  (with [tty (if plain (lib.opened tmp-path :AUTOLITH_PLAIN plain) (lib.started tmp-path))]
    (when plain (.until tty "form|note"))
    (.rest tty 0.5)
    (.line tty "(do (import time) (time.sleep 60))")
    (.rest tty 0.5)
    (.kill tty signal.SIGUSR1)
    (.until tty "thread MainThread: <form" :everywhere True)
    (.kill tty signal.SIGTERM)
    (assert (= (.status tty) 143))))

(defn test-nothing-stands-above-the-banner [tmp-path]
  "The first thing on the terminal is the banner; no earlier drawing of the prompt is left above it."
  (with [tty (lib.started tmp-path)]
    (.settle tty)
    (setv text (.history tty))
    (assert (= (len (re.findall "^❯" text re.M)) 1))))
