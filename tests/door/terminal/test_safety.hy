"What models, tools and files write never moves the terminal; nothing typed for the draft decides anything; nothing costs the screen."

(import
  os
  re
  signal
  pytest
  tests.doubles [scripted]
  tests.door.terminal [lib])

(setv HOSTILE ["\x1b]52;c;ZWNobyBoaQ==\x07" "\x1b]0;pwned\x07" "\x1b[2J" "\x1b[3J" "\x1b[?1049h" "\x9b31m" "\x1bP q\x1b\\" "\x1b[10;10H" "\x07"
               "[t](javascript:x)" "\u202e"]
      OURS (re.compile (+ r"\x1b\[\?(2026|2004|25|7|12|1)[hl]|\x1b\[[0-9;]*[mABCDJKHG]|\x1b\]133;[ABCD](;\d+)?\x07"
                          r"|\x1b\]0;autolith[^\x07\x1b]*\x07|\x1b\[0? ?q|\x1b=")))

(setv ASKING (+ "(do (import threading time) (defn asking [] (time.sleep 0.3) (print \"chose\" (ask \"which\" [\"red\" \"blue\"])))"
                " (.start (threading.Thread :target asking)) None)")
      STRAY (+ "(do (import threading time) (defn stray [] (time.sleep 0.3) (for [i (range 40)] (print \"stray\" i) (time.sleep 0.01)))"
               " (.start (threading.Thread :target stray)) None)")
      MESSAGE (+ "# Title\n\nA paragraph with `code` and **strong** words that goes on until it has to be wrapped, "
                 "twice at least, I think, if not more than that.\n\n- one\n- two\n\n```py\ndef f():\n    pass\n```\n\nDone"))

(defn foreign [raw]
  "Return the control sequences in RAW that are not the program's own."
  (re.findall r"\x1b[^\x1b]{0,12}|[\x07\x80-\x9f]" (.sub OURS "" (.decode (bytes raw) "utf-8" "replace"))))

(defn test-no-escape-gets-through [tmp-path]
  "Control sequences in answers, cut anywhere, in calls, in results, in output, in errors and in a resumed conversation come out as signs."
  (setv text (.join " mid " HOSTILE))
  (.write-text (/ tmp-path "evil.txt") text)
  (with [server (scripted.Server [[(scripted.answer text :pieces (list text)) (scripted.call "search_content" {"pattern" "\x1b]0;x\x07"})]
                                  (scripted.answer "fine")])]
    (with [tty (lib.talking server tmp-path)]
      (.line tty "go")
      (.until tty r"^  fine$")
      (.line tty "(print (+ (chr 27) \"[2J\" (chr 155) \"31m\"))")
      (.until tty r"\[2J.*31m\n")
      (.line tty "(raise (ValueError (+ (chr 27) \"]0;pwned\" (chr 7))))")
      (.until tty r"abort")
      (.key tty "escape")
      (.until tty lib.PROMPT)
      (assert (not (in b"pwned\x07" tty.raw)))
      (assert (= (foreign tty.raw) []))
      (assert (.startswith tty.screen.title "autolith"))
      (assert (in "go" (.history tty)))
      (.key tty "c-d")
      (.status tty))
    (with [tty (lib.talking server tmp-path "-c")]
      (.until tty r"^  fine$" :everywhere True)
      (assert (= (foreign tty.raw) [])))))

(defn test-resumed-looks-as-it-did [tmp-path]
  "After a resume the answer with its list, code and fences stands on the screen as it did when it streamed."
  (defn shown [tty] (re.search r"^  # Title[\s\S]*^  Done$" (.history tty) re.M))
  (with [server (scripted.Server [(scripted.answer MESSAGE :pieces (list MESSAGE))])]
    (with [tty (lib.talking server tmp-path)]
      (.line tty "go")
      (.until tty r"^  Done$")
      (setv live (get (shown tty) 0))
      (.key tty "c-d")
      (.status tty))
    (with [tty (lib.talking server tmp-path "-c")]
      (assert (= (get (shown tty) 0) live))
      (assert (in "❯ go" (.history tty))))))

(defn test-typing-never-answers [tmp-path]
  "A question that the user did not start takes no letter and no digit: they go into the draft. A form answers it."
  (with [tty (lib.started tmp-path)]
    (.line tty ASKING)
    (.until tty r"^\? which$")
    (.type tty "yes 1 y a l")
    (.key tty "2")
    (.until tty r"^❯ yes 1 y a l2$")
    (.until tty r"1 red[\s\S]*2 blue")
    (.key tty "c-c")
    (.line tty "(answer 2)")
    (.until tty r"^  chose blue$")
    (.gone tty r"1 red")))

(defn test-list-after-its-key [tmp-path]
  "Alt-a gives the keys to the list of a question; then a digit marks and Enter decides, and the draft keeps its text."
  (with [tty (lib.started tmp-path)]
    (.line tty ASKING)
    (.until tty r"^\? which$")
    (.type tty "draft")
    (.rest tty 0.9)
    (.key tty "\x1ba")
    (.key tty "1")
    (.until tty r"> 1 red")
    (.key tty "enter")
    (.until tty r"^  chose red$")
    (.until tty r"^❯ draft$")))

(defn test-own-question [tmp-path]
  "A question of the user's own form has the keys at once: a text is typed, a row is marked and taken."
  (with [tty (lib.started tmp-path)]
    (.line tty "(ask \"your name\")")
    (.until tty r"^\? your name$[\s\S]*^=$")
    (.line tty "Ada")
    (.until tty r"^= [\"']Ada[\"']$")
    (.line tty "(ask \"which\" [\"red\" \"blue\"])")
    (.until tty r"2 blue")
    (.key tty "down" "down" "enter")
    (.until tty r"^= [\"']blue[\"']$")
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn test-no-colour [tmp-path]
  "With NO_COLOR no colour is set anywhere, and the marks still tell who speaks."
  (with [server (scripted.Server [(scripted.answer "`code` and **strong**")])
         tty (lib.talking server tmp-path :NO-COLOR "1")]
    (.line tty "go")
    (.until tty r"^❯ go$[\s\S]*^  `code` and strong$")
    (for [codes (re.findall rb"\x1b\[([0-9;]*)m" (bytes tty.raw))]
      (for [code (.split (.decode codes) ";")]
        (assert (not (re.fullmatch r"[34]\d|9\d|10\d" code)))))))

(defn test-stray-output [tmp-path]
  "A thread that prints while one types tears nothing: its lines stand above the prompt."
  (with [tty (lib.started tmp-path)]
    (.line tty STRAY)
    (.send tty "half a line")
    (.until tty r"^  stray 39$")
    (.until tty r"^❯ half a line$")
    (for [i (range 40)]
      (assert (= (.count (.rows tty) f"  stray {i}") 1)))))

(defn test-broken-drawing [tmp-path]
  "A drawing function that raises costs one line; the event is drawn plainly, and the rest goes on."
  (with [tty (lib.started tmp-path)]
    (.line tty "(do (import autolith.door.terminal.render :as r) (setv r.show-value (fn [e s] (/ 1 0))) None)")
    (.until tty lib.PROMPT)
    (.line tty "(+ 20 22)")
    (.until tty r"^! .*show-value|^! drawing value")
    (.until tty r"^; value.*42")
    (.line tty "(do (import autolith.door.terminal.view :as v) (setv v.status (fn [d w] (/ 1 0))) None)")
    (.until tty r"drawing status")
    (.type tty "still")
    (.until tty r"^❯ still$")))

(defn test-killed [tmp-path]
  "A killed image leaves a terminal that echoes, with paste marks off; everything submitted is there after a resume."
  (with [server (scripted.Server [(scripted.answer "remembered") [(scripted.answer "half ") (scripted.stall)]])]
    (with [tty (lib.talking server tmp-path :AUTOLITH-RECOVERED "1")]
      (.line tty "first words")
      (.until tty r"^  remembered$")
      (.line tty "second words")
      (.until tty r"^  half$")
      (os.kill (image-of tty) signal.SIGKILL)
      (assert (= (.status tty) 70))
      (assert (:echo (.modes tty)))
      (assert (> (.rfind (bytes tty.raw) b"\x1b[?2004l") (.rfind (bytes tty.raw) b"\x1b[?2004h"))))
    (with [tty (lib.talking server tmp-path "-c")]
      (.until tty r"^❯ first words$[\s\S]*^  remembered$[\s\S]*^❯ second words$" :everywhere True))))

(defn image-of [tty]
  "Return the process of the image under the launcher on TTY."
  (with [f (open f"/proc/{tty.child.pid}/task/{tty.child.pid}/children")]
    (int (get (.split (.read f)) 0))))

(defn test-suspended-and-killed-by-a-closed-terminal [tmp-path]
  "When the terminal goes away the program ends."
  (setv tty (lib.started tmp-path) image (image-of tty))
  (lib.hang-up tty)
  (setv gone False)
  (for [_ (range 200)]
    (try
      (os.kill image 0)
      (with [f (open f"/proc/{image}/stat")]
        (when (in ") Z" (.read f)) (setv gone True)))
      (except [[ProcessLookupError FileNotFoundError]] (setv gone True)))
    (when gone (break))
    (import time)
    (time.sleep 0.05))
  (assert gone))
