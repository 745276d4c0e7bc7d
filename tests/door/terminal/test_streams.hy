"Who has the terminal: children, C code, what a form reads, an editor, a terminal that goes away; what was typed too early."

(import
  os
  re
  signal
  time
  pytest
  tests.doubles [scripted]
  tests.door.terminal [lib test-safety])

(setv CHILDREN (+ "(do (import os subprocess) (os.system \"echo one; printf '\\\\033[2J\\\\033]0;pwned\\\\007two\\\\n'; read x || echo ended\")"
                  " (subprocess.run [\"echo\" \"three\"]) (os.write 2 b\"four\\n\") (os.write 1 b\"fi\") (os.write 1 b\"ve\\n\") 6)"))

(defn test-children-write-above-the-prompt [tmp-path]
  "What children and C code write stands whole above the prompt, before the value, without their escape sequences; they read nothing."
  (with [tty (lib.started tmp-path)]
    (.line tty CHILDREN)
    (.until tty r"^  one\n.*2J.*two\n  ended\n  three\n  four\n  five\n= 6$")
    (assert (= (test-safety.foreign tty.raw) []))
    (.line tty "(os.system \"sleep 0.3; echo late &\")")
    (.send tty "half a line")
    (.until tty r"^  late$")
    (.until tty r"^❯ half a line$")))

(defn test-much-output-of-children [tmp-path]
  "A child without end fills neither memory nor the way of Ctrl-C."
  (with [tty (lib.started tmp-path)]
    (.line tty "(do (import subprocess) (subprocess.run [\"yes\" \"again\"]))")
    (.until tty r"^  again\n  again$")
    (.rest tty 0.5)
    (.key tty "c-c")
    (.until tty r"^! interrupted" :timeout 30)
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn test-crash-and-farewell-reach-the-terminal [tmp-path]
  "After the session the standard streams are the terminal again: the farewell is read there, in order, and its modes are back."
  (with [tty (lib.started tmp-path)]
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")
    (.line tty "(do (import os) (os.system \"sleep 0.1; echo last words\") (quit))")
    (assert (= (.status tty) 0))
    (assert (in "  last words\n" (.history tty)))
    (assert (in "; (resume" (get (.split (.history tty) "last words") -1)))
    (assert (:echo (.modes tty)))))

(defn test-input [tmp-path]
  "A form that reads asks at the prompt: a line, an empty line, several lines; Ctrl-D is the end, Ctrl-C an interrupt."
  (with [tty (lib.started tmp-path)]
    (.line tty "(input \"name? \")")
    (.until tty r"^\? name\?$[\s\S]*^=$")
    (.line tty "Ada L")
    (.until tty r"^= [\"']Ada L[\"']$")
    (.line tty "(len (input))")
    (.until tty r"^\? input$[\s\S]*^=$")
    (.key tty "enter")
    (.until tty r"^= 0$")
    (.line tty "(do (import sys) (lfor line sys.stdin (.strip line)))")
    (for [word ["alpha" "beta"]]
      (.until tty r"^=$")
      (.line tty word)
      (.until tty (+ "^✓ " word "$")))
    (.until tty r"^=$")
    (.key tty "c-d")
    (.until tty r"^= \[.alpha. .beta.\]$")
    (.line tty "(input \"more? \")")
    (.until tty r"^\? more\?[\s\S]*^=$")
    (.key tty "c-c")
    (.until tty r"^! interrupted")
    (.line tty "(try (input \"end? \") (except [EOFError] \"the end\"))")
    (.until tty r"^\? end\?[\s\S]*^=$")
    (.key tty "c-d")
    (.until tty r"^= .the end.$")
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn test-models-form-reads-nothing [tmp-path]
  "A form of the model's that reads is at the end of its input at once."
  (with [server (scripted.Server [(scripted.call "self_eval" {"form" "(input \"who? \")"}) (scripted.answer "fine")])
         tty (lib.talking server tmp-path)]
    (.line tty "go")
    (.until tty r"EOFError[\s\S]*^  fine$")))

(defn [(pytest.mark.parametrize "how" ["variable" "setting"])] test-editor [tmp-path how]
  "The editor of the settings, or of the environment, has the real terminal, and what it saves is the draft."
  (setv editor (/ tmp-path "editor"))
  (.write-text editor "#!/bin/sh\ntest -t 0 && test -t 1 && test -t 2 || exit 1\necho '(* 6 7)' > \"$1\"\n")
  (.chmod editor 0o755)
  (with [tty (lib.started tmp-path #** (if (= how "variable") {"EDITOR" (str editor) "VISUAL" None} {"EDITOR" "false" "VISUAL" None}))]
    (when (= how "setting")
      (.line tty f"(setting \"editor\" \"{editor}\")")
      (.gone tty r"EVAL"))
    (.type tty "draft")
    (.key tty "c-x" "c-e")
    (.until tty r"^\* \(\* 6 7\)$")
    (.key tty "enter")
    (.until tty r"^= 42$")))

(defn capsules []
  "Return the crash capsules of this test."
  (setv folder (os.path.join (get os.environ "XDG_STATE_HOME") "autolith" "crashes"))
  (if (os.path.isdir folder) (os.listdir folder) []))

(defn [(pytest.mark.parametrize "options" [{} {"AUTOLITH_PLAIN" "1"}])] test-hang-up [tmp-path options]
  "A terminal that goes away ends the program in order: status 129, and no crash."
  (setv tty (lib.opened tmp-path #** options))
  (.until tty r"^(❯|you:)\s*$" :quiet 0.3)
  (.send tty "(+ 20 22)")
  (.rest tty 0.2)
  (.key tty "enter")
  (.until tty r"42$")
  (lib.hang-up tty)
  (for [_ (range 400)]
    (setv [pid status] (os.waitpid tty.child.pid os.WNOHANG))
    (when pid (break))
    (time.sleep 0.05))
  (assert pid)
  (assert (or (= (os.waitstatus-to-exitcode status) 129) (= (os.waitstatus-to-exitcode status) (- signal.SIGHUP))))
  (assert (= (capsules) [])))

(setv SLOW "(do (import time) (open \"begun\" \"w\") (time.sleep 1.5))")

(defn test-typed-ahead [tmp-path]
  "Lines typed before there is a prompt are the draft then: not lost, not sent, not joined with what is typed afterwards."
  (os.makedirs (os.path.join (get os.environ "XDG_CONFIG_HOME") "autolith") :exist-ok True)
  (with [f (open (os.path.join (get os.environ "XDG_CONFIG_HOME") "autolith" "init.hy") "w")] (.write f SLOW))
  (with [tty (lib.opened tmp-path)]
    (for [_ (range 400)]
      (when (.exists (/ tmp-path "begun")) (break))
      (.rest tty 0.05))
    (.send tty "(do (open \"sent\" \"w\")\r")
    (.rest tty 0.1)
    (.send tty "  (+ 20 22))\r")
    (.rest tty 0.1)
    (.until tty r"^\* \(do \(open \"sent\" \"w\"\)\n    \(\+ 20 22\)\)$" :quiet 0.3)
    (assert (not (.exists (/ tmp-path "sent"))))
    (.key tty "enter")
    (.until tty r"^= 42$")))

(defn screen-of [tty]
  "Return what stands on the screen of TTY and above it, from the first input to the prompt, with all times made equal."
  (setv rows (.rows tty)
        begin (next (gfor [i row] (enumerate rows) :if (.startswith row "❯ go") i))
        end (next (gfor [i row] (enumerate rows) :if (and (> i begin) (or (= row "❯") (.startswith row "; conversation"))) i)))
  (re.sub r"\d+(\.\d+)? (ms|s)\b" "T" (.join "\n" (cut rows begin end))))

(setv FORMS ["(do (import os) (os.system \"echo child\") 7)" "(defn f [x] x) (f 1) (f \"two\")" "(do (print \"p\") None)"
             "(resource.read :uri \"workspace:a.txt\")" "/effort high"])

(defn test-resumed-screen-is-the-live-one [tmp-path]
  "A resumed conversation looks as it did: turns and their ends, calls and results, an edit, steering, forms, values, questions, interrupts."
  (.write-text (/ tmp-path "a.txt") (.join "" (gfor i (range 30) f"line {i}\n")))
  (with [server (scripted.Server
                  [[(scripted.reasoning "hm") (scripted.answer "Reading.") (scripted.call "resource_read" {"uri" "workspace:a.txt"})]
                   [(scripted.call "search_content" {"pattern" "line 2"}) (scripted.call "resource_read" {"uri" "workspace:none"})]
                   (scripted.answer "All\n\n- done\n")
                   [(scripted.answer "half ") (scripted.stall)]
                   (scripted.call "self_eval" {"form" "(do (import time) (time.sleep 30))"})
                   (scripted.error 401)])]
    (with [tty (lib.talking server tmp-path :rows 60)]
      (.line tty "go on")
      (.until tty r"^; done")
      (.line tty "stop here")
      (.until tty r"^  half$")
      (.key tty "escape")
      (.until tty r"^; stopped by you")
      (.line tty "call")
      (.until tty r"EVAL")
      (.key tty "escape")
      (.until tty r"(^; stopped by you[\s\S]*){2}")
      (.line tty "fail")
      (.until tty r"^; failed")
      (for [form FORMS]
        (.line tty form)
        (.rest tty 0.4))
      (.line tty "(+ 1 foo)")
      (.until tty r"4 abort")
      (.key tty "1" "enter")
      (.until tty r"^=$")
      (.line tty "4")
      (.until tty r"^= 5$")
      (.line tty "(/ 1 0)")
      (.until tty r"3 abort")
      (.key tty "escape")
      (.until tty r"^; given up")
      (.line tty "(while True)")
      (.until tty r"Ctrl-C stops")
      (.key tty "c-c")
      (.until tty r"^! interrupted")
      (.rest tty 0.4)
      (setv live (screen-of tty))
      (.key tty "c-d")
      (.status tty))
    (with [tty (lib.talking server tmp-path "-c" :rows 60)]
      (.until tty r"goes on$")
      (assert (= (screen-of tty) live)))))

(defn test-escape-stops-the-models-form [tmp-path]
  "Esc stops a form of the model's and the turn, holds nothing back, and arms nothing; Ctrl-C there holds what waits."
  (setv sleeping (scripted.call "self_eval" {"form" "(do (import time) (time.sleep 30))"}))
  (with [server (scripted.Server [sleeping (scripted.answer "went on") sleeping (scripted.answer "released")])
         tty (lib.talking server tmp-path)]
    (for [key ["escape" "c-c"]]
      (.line tty "go")
      (.until tty r"EVAL")
      (.rest tty 0.3)
      (.type tty "next")
      (.key tty "tab")
      (.until tty r"after this turn")
      (.key tty key)
      (if (= key "escape")
        (do (.until tty r"^; stopped by you[\s\S]*^  went on$")
            (assert (not-in "Ctrl-C again" (.text tty))))
        (do (.until tty r"Ctrl-C again")
            (.until tty r"next  held"))))
    (assert (= (len server.requests) 3))))

(setv STUBBORN "(do (import time) (try (while True (time.sleep 0.05)) (finally (open \"cleaning\" \"w\") (time.sleep 30))))")

(defn test-interrupt-of-a-clean-up [tmp-path]
  "A second Ctrl-C, in what a form does at its end, ends that; the prompt lives."
  (with [tty (lib.started tmp-path)]
    (for [n [1 2]]
      (.line tty STUBBORN)
      (.until tty r"Ctrl-C stops")
      (os.kill (test-safety.image-of tty) signal.SIGINT)
      (for [_ (range 200)]
        (when (.exists (/ tmp-path "cleaning")) (break))
        (.rest tty 0.05))
      (.rest tty 2.6)                              ; else it would leave
      (os.kill (test-safety.image-of tty) signal.SIGINT)
      (.until tty (+ r"(^! interrupted[\s\S]*){" (str n) "}"))
      (.unlink (/ tmp-path "cleaning")))
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))

(defn test-vi-keys [tmp-path]
  "The setting edit-mode gives the prompt vi's keys at once, and takes them away again; Esc there ends inserting."
  (with [tty (lib.started tmp-path)]
    (.line tty "(setting \"edit-mode\" \"vi\")")
    (.until tty r"^= .*vi")
    (.type tty "(+ 20 299)")
    (.key tty "escape" "0" "f" "9" "x")
    (.until tty r"^\* \(\+ 20 29\)$")
    (.key tty "enter")
    (.until tty r"^= 49$")
    (.line tty "(setting \"edit-mode\" \"emacs\")")
    (.until tty r"^= .*emacs")
    (.type tty "(+ 1 1)")
    (.key tty "escape" "0")
    (.until tty r"^\* \(\+ 1 1\)0$")))

(defn test-a-name-answers [tmp-path]
  "With the keys back in the draft, the number or the name of a restart takes it; one that wants a value asks for it."
  (with [tty (lib.started tmp-path)]
    (for [[answer value] [["1" "5"] ["use-value" "6"]]]
      (.line tty "(+ 1 foo)")
      (.until tty r"4 abort")
      (.line tty "(+ 1 1)")
      (.until tty r"^= 2$")
      (.line tty answer)
      (.until tty r"^=$")
      (.line tty value)
      (.until tty f"^= {(+ 1 (int value))}$"))
    (for [[answer end] [["abort" r"^; given up"] ["3" r"^= 42$"]]]
      (.line tty "(+ 1 foo)")
      (.until tty r"4 abort")
      (.line tty "(setv foo 41)")
      (.rest tty 0.3)
      (.line tty answer)
      (.until tty end)
      (.line tty "(do (del foo) 8)")
      (.until tty r"^= 8$"))))

(defn test-escape-gives-up-what-waits [tmp-path]
  "Esc gives up a failing form also from the draft, and ends a form that waits for its input."
  (with [tty (lib.started tmp-path)]
    (.line tty "(+ 1 foo)")
    (.until tty r"4 abort")
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")
    (.key tty "escape")
    (.until tty r"^; given up")
    (.line tty "(input \"name? \")")
    (.until tty r"^=$")
    (.key tty "escape")
    (.gone tty r"^=$")
    (.key tty "escape")
    (.until tty r"^! interrupted")
    (.line tty "(+ 1 2)")
    (.until tty r"^= 3$")))

(defn test-where-it-failed [tmp-path]
  "A failing form says under its message where it failed: the user's own lines, and none of the program's."
  (.write-text (/ tmp-path "mine.py") "def half(x):\n    return x / 0\n")
  (with [tty (lib.started tmp-path)]
    (.line tty "(do (import sys) (.insert sys.path 0 \"\") (import mine) (mine.half 3))")
    (.until tty r"^! ZeroDivisionError[\s\S]*mine\.half 3[\s\S]*return x / 0[\s\S]*1 retry")
    (assert (not-in "interactive.hy" (.history tty)))
    (.key tty "escape")
    (.line tty "(+ 1 foo)")
    (.until tty r"^! NameError[\s\S]*\(\+ 1 foo\)[\s\S]*1 use-value")
    (assert (not-in "autolith/" (.history tty)))))
