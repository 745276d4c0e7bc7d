"Whatever is typed, the caller gets a result: values, output, or a condition with the user's own lines."

(import
  os
  re
  subprocess
  threading
  pytest
  hypothesis [given settings strategies :as st]
  autolith.base [conditions]
  autolith.image [evaluate namespace printing]
  tests.image [lib]
  tests.image.lib [tree])

(defn [(pytest.fixture :autouse True)] clean []
  "Forget afterwards what a test bound in the user's module."
  (setv before (dict (vars (namespace.user))))
  (yield)
  (setv names (vars (namespace.user)))
  (for [key (list names)] (when (not-in key before) (del (get names key))))
  (.update names before)
  (namespace.in-module))


;; * Reading

(setv PROBES [
  ["" "complete"] ["(+ 1 2)" "complete"] ["1 2 ; x" "complete"] ["(+ 1" "incomplete"] ["\"abc" "incomplete"] ["(f #[x[ab" "incomplete"]
  ["'" "incomplete"] ["#" "incomplete"] ["#_" "incomplete"] ["(a ; )" "incomplete"] ["f\"{(+ 1" "incomplete"] ["\ufeff(+ 1 2)" "complete"]
  [")" #(1 1)] ["(a\n  ])" #(2 3)] ["\"\\x8\"" #(1 5)] ["#unknown x" #(1 8)] ["(a..b)" None] ["[1 2)" #(1 5)]])

(defn [(pytest.mark.parametrize "text,expected" PROBES)] test-probe [text expected]
  "Only a premature end is incomplete; any other fault of reading is told with its place."
  (setv result (evaluate.probe text))
  (if (isinstance expected str)
    (assert (= result expected))
    (do (assert (= (get result 0) "error"))
        (assert (or (is expected None) (= (tuple (cut result 2 None)) expected))))))

(defn test-probe-runs-nothing-of-the-users []
  "A reader macro of the user's, which a submission may use, is not run by the probe; its text may be submitted."
  (lib.value "(setv ran []) (defreader twice (.append ran 1) (setv x (.parse-one-form &reader)) `(do ~x ~x))")
  (assert (= (evaluate.probe "#twice (+ 1 2)") "complete"))
  (assert (= (. (namespace.user) ran) []))
  (assert (= (lib.value "#twice (+ 1 2)") 3))
  (assert (= (. (namespace.user) ran) [1])))

(defn test-probe-of-deep-and-odd-text []
  "Deep nesting, NUL bytes and lone surrogates give an answer, not an exception."
  (assert (= (get (evaluate.probe (* "(" 5000)) 0) "error"))
  (for [text ["\0" "(a\0b)" "\ud800" "\"\ud800\"" "\x0c(" "(a\r\n"]]
    (evaluate.probe text)
    (assert (in (get (evaluate.run text) "status") ["ok" "error"]))))

(defn [(given (st.text :alphabet "()[]{}\"'`~#;:.\\ab1 \n*^_-" :max-size 25))  (settings :max-examples 200 :deadline None)]
  test-probe-and-run-agree [text]
  "What the probe calls complete is read by run; what it does not, run reports as a reader's error."
  (setv probe (evaluate.probe text)
        condition (get (evaluate.run text) "condition")
        reading (and condition (= (get condition "type") "reader error")))
  (assert (= (bool reading) (!= probe "complete"))))

(defn test-nothing-runs-when-a-later-form-cannot-be-read []
  "A submission is read whole before any of it is evaluated."
  (setv result (evaluate.run "(setv ran-first 1) (+ 1"))
  (assert (= (get result "status") "error"))
  (assert (not (hasattr (namespace.user) "ran_first"))))


;; * Values

(defn test-values-and-history []
  "Each value but None is shown as Hy writes it, in order, and becomes *1, *2, *3."
  (setv shown []
        result (evaluate.run "(+ 1 2) None \"a\\nb\" {\"k\" [1 2.0]}" :on-value shown.append))
  (assert (= (get result "values") shown ["3" "\"a\\nb\"" "{\"k\" [1 2.0]}"]))
  (assert (= (get result "objects") [3 "a\nb" {"k" [1 2.0]}]))
  (assert (= (lib.value "[*1 *2 *3]") [{"k" [1 2.0]} "a\nb" 3]))
  (assert (= (get (evaluate.run "") "status") "ok")))

(defn test-texts-of-their-own []
  "An object that defines its text for the prompt prints as that; its subclassing something printable does not matter."
  (assert (= (get (evaluate.run "(defclass T [dict] (defn __autolith_text__ [self] \"two\\nlines\")) (T)") "values")
             ["two\nlines"])))

(setv BAD-PRINTERS [
  "(raise (ValueError 3))" "(raise (SystemExit 3))" "(raise (KeyboardInterrupt))" "(raise (GeneratorExit))" "(/ 1 0)" "7" "None"
  "(raise ((type \"E\" #(Exception) {\"__str__\" (fn [self] (raise (SystemExit)))})))" "(self.__repr__)" "(get [] 0)"])

(defn [(pytest.mark.parametrize "body" BAD-PRINTERS)] test-values-that-cannot-be-printed [body]
  "A value whose printing raises, returns no string or recurses for ever is shown by a stand-in."
  (setv result (evaluate.run f"(defclass Odd [] (defn __repr__ [self] {body})) (Odd) (+ 1 1)"))
  (assert (= (get result "status") "ok"))
  (assert (in "Odd" (get result "values" 0)))
  (assert (= (get result "values" 1) "2")))

(defn test-huge-values-are-bounded []
  "Text of a hundred million characters, a list of ten million, and printing that prints a lot, are shown in part, soon."
  (for [source ["(defclass Big [] (defn __repr__ [self] (* \"x\" 100000000))) (Big)" "(* \"x\" 100000000)" "(list (range 3000000))"
                "(* [[1 2]] 2000000)" "(dict.fromkeys (range 500000))" "(set (range 500000))" "(* b\"x\" 50000000)" "(range 1000000000)"]]
    (setv text (get (evaluate.run source) "values" 0))
    (assert (< (len text) (+ printing.shown-characters 1000)) source)))

(defn test-cyclic-and-deep-values []
  "A list in itself, and one nested far too deep to print, are values like others."
  (assert (= (get (evaluate.run "(setv x []) (.append x x) x") "status") "ok"))
  (setv result (evaluate.run "(setv y []) (for [_ (range 100000)] (setv y [y])) y"))
  (assert (= [(get result "status") (len (get result "values"))] ["ok" 1])))

(defn test-a-generator-is-a-value []
  "A generator is shown, not run."
  (assert (= (lib.value "(setv ran []) (defn g [] (.append ran 1) (yield 1)) (g) ran") [])))

(defn test-awaitables-are-awaited []
  "A coroutine's value is what it gives; a form may await by itself, on the loop; the forms stay on the main thread."
  (lib.value "(import asyncio threading) (defn :async g [x] (await (asyncio.sleep 0)) [x (. (threading.current-thread) name)])")
  (assert (= (lib.value "(g 1)") [1 "loop"]))
  (assert (= (lib.value "(setv a (await (g 2)) b (await (g 3))) [(get a 0) (get b 0)]") [2 3]))
  (assert (= (lib.value "(with [:async _ (asyncio.timeout 5)] (get (await (g 4)) 0))") 4))
  (assert (= (lib.value "(setv t (do (setv t (asyncio.create-task (g 5))) (await t))) (get t 0)") 5))
  (assert (= (lib.value "(. (threading.current-thread) name)") "MainThread"))
  (assert (= (get (lib.condition "(do (await (asyncio.sleep 0)) (/ 1 0))") "type") "ZeroDivisionError")))


;; * Failures

(setv FATAL [
  ["(raise (SystemExit 3))" "SystemExit"] ["(exit)" "SystemExit"] ["(defn f [] (f)) (f)" "RecursionError"]
  ["(defmacro bad [] (raise (SystemExit 3))) (bad)" "HyMacroExpansionError"] ["(defmacro bad [] (/ 1 0)) (bad)" "HyMacroExpansionError"]
  ["(raise (GeneratorExit))" "GeneratorExit"] ["(setv 3 4)" None] ["(yield 3)" "SyntaxError"]
  ["(return 3)" "SyntaxError"] ["(import nothing-at-all)" "ModuleNotFoundError"]
  ["(require nothing-at-all)" None] ["(import asyncio) (raise (asyncio.CancelledError))" "CancelledError"] ["(raise (MemoryError))" "MemoryError"]
  ["(raise (ExceptionGroup \"g\" [(ValueError 1)]))" "ExceptionGroup"]
  ["(raise (BaseExceptionGroup \"g\" [(KeyboardInterrupt)]))" "BaseExceptionGroup"]
  ["(defn f [#* a #* b] 1)" None] ["(.x)" None] ["()" None] ["(raise 3)" "TypeError"] ["(int (* \"9\" 5000))" "ValueError"]
  ["(defclass E [Exception] (defn __str__ [self] (raise (SystemExit 3)))) (raise (E))" "E"]
  ["(defclass E [Exception] (defn __init__ [self #* a] None) (setv __cause__ 3 __traceback__ None)) (raise (E))" None]
  ["(do (import sys) (sys.setrecursionlimit 100000) (sys.setrecursionlimit 1000) (raise (OSError 2 \"no\" \"f\")))" "FileNotFoundError"]])

(defn [(pytest.mark.parametrize "source,kind" FATAL)] test-every-failure-is-a-result [source kind]
  "No form ends the program: the failure is described, and the next form runs with the state kept."
  (lib.value "(setv kept 1)")
  (setv result (evaluate.run source))
  (assert (= (get result "status") "error"))
  (when kind (assert (= (get result "condition" "type") kind)))
  (assert (isinstance (get result "condition" "message") str))
  (assert (= (lib.value "(+ kept 1)") 2)))

(defn test-interrupts-abort []
  "A KeyboardInterrupt, raised or sent, also inside a macro's expansion, ends the form as aborted."
  (for [source ["(raise (KeyboardInterrupt))" "(defmacro m [] (raise (KeyboardInterrupt))) (m)"]]
    (assert (= (get (evaluate.run source) "status") "aborted")))
  (for [source ["(while True)" "(import time) (time.sleep 60)" "(do (import asyncio) (await (asyncio.sleep 60)))"
                "(import asyncio) (.run-forever (asyncio.new-event-loop))"
                "(import re) (re.match \"(a+)+$\" (+ (* \"a\" 60) \"b\"))"]]
    (setv sender (subprocess.Popen ["/bin/sh" "-c" f"sleep 0.2; kill -INT {(os.getpid)}"]))
    (assert (= (get (evaluate.run source) "status") "aborted") source)
    (.wait sender)))

(defn test-an-endless-coroutine-is-interrupted []
  "A coroutine that never gives way is interrupted by Ctrl-C like a form, and the loop serves the next one."
  (lib.value "(defn :async endless [] (while True)) (defn :async fine [] 5)")
  (setv sender (subprocess.Popen ["/bin/sh" "-c" f"sleep 0.2; kill -INT {(os.getpid)}"]))
  (assert (= (get (evaluate.run "(endless)") "status") "aborted"))
  (.wait sender)
  (assert (= (lib.value "(fine)") 5)))

(defn test-an-interrupt-tells-where []
  "The condition of an interrupted form shows the line that was running."
  (setv sender (subprocess.Popen ["/bin/sh" "-c" f"sleep 0.2; kill -INT {(os.getpid)}"])
        condition (get (evaluate.run "(defn spin []\n  (while True))\n(spin)") "condition"))
  (.wait sender)
  (assert (= (get condition "type") "KeyboardInterrupt"))
  (assert (in "spin" (get condition "traceback"))))

(defn test-printing-of-a-value-is-bounded-too []
  "A value that prints a hundred million characters while it is shown does not flood the output."
  (setv count 0)
  (defn more [text] (nonlocal count) (+= count (len text)))
  (evaluate.run "(defclass Loud [] (defn __repr__ [self] (for [_ (range 1000)] (print (* \"x\" 100000))) \"loud\")) (Loud)" :output more)
  (assert (< count (* 2 printing.shown-characters))))

(defn test-closing-the-streams []
  "A form that closes its standard output or deletes it closes it for nobody else."
  (for [source ["(import sys) (.close sys.stdout)" "(del sys.stdout)" "(setv sys.stdout None)" "(setv sys.stdout 3)"]]
    (setv texts [])
    (evaluate.run (+ "(import sys) " source) :output texts.append)
    (evaluate.run "(print \"alive\")" :output texts.append)
    (assert (= (.join "" texts) "alive\n") source)))

(defn test-tracebacks-quote-the-users-lines []
  "The traceback shows the user's frames with their lines, unmangled, and none of Hy's machinery or ours."
  (setv text (get (lib.condition "(defn ok? [x]\n  (/ 1\n     x))\n\n(ok? 0)") "traceback"))
  (assert (re.search r"line 5.*\n\s*\(ok\? 0\)" text))
  (assert (in "(/ 1" text))
  (assert (in "in ok?" text))
  (assert (not (re.search "hyx_|hy/compiler|autolith/image|eval\\(" text))))

(defn test-tracebacks-show-libraries-and-causes []
  "Frames of libraries and the chain of causes are shown, the first cause first."
  (setv text (get (lib.condition "(import json) (try (json.loads \"{\") (except [e ValueError] (raise (KeyError 1) :from e)))") "traceback"))
  (assert (in "json" text))
  (assert (in "JSONDecodeError" text))
  (assert (< (.index text "JSONDecodeError") (.rindex text "raise (KeyError 1)"))))

(defn test-tracebacks-of-failing-sources []
  "A deep recursion's traceback is short; a source with form feeds or only one long line does no harm."
  (setv text (get (lib.condition "(defn f [x] (g x)) (defn g [x] (f x)) (f 1)") "traceback"))
  (assert (< (len text) 20000))
  (for [source ["\x0c\x0c(/ 1 0)" (+ "(do " (* "1 " 5000) "(/ 1 0))")]]
    (assert (= (get (lib.condition source) "type") "ZeroDivisionError"))))

(defn test-sources-can-be-found-later []
  "inspect.getsource gives a function back as it was typed."
  (assert (= (lib.value "(import inspect)\n(defn one [] 1)\n(defn two []\n  ; a remark\n  2)\n(inspect.getsource two)")
             "(defn two []\n  ; a remark\n  2)\n")))

(defn test-the-last-error-is-star-e []
  "*e is the exception itself, also in the next submission; *1 is not touched by a failure."
  (lib.value "5")
  (lib.condition "(raise (ValueError \"mine\"))")
  (assert (= (lib.value "[(str *e) *1]") ["mine" 5])))


;; * Restarts

(defn choosing [#* decisions]
  "Return an `ask` that takes DECISIONS in turn, and the list of what it was asked."
  (setv asked []  left (list decisions))
  [(fn [condition choices] (.append asked #(condition (lfor [n _] choices n))) (when left (.pop left 0))) asked])

(defn test-plain-exceptions-offer-restarts [monkeypatch]
  "Around a form stand retry, use-value and abort, innermost; each does what it says; declining raises, and asks once."
  (setv [ask asked] (choosing #("retry") #("use-value" 7) #("abort") None))
  (monkeypatch.setattr conditions "ask" ask)
  (lib.value "(setv tries 0)")
  (assert (= (lib.value "(do (+= tries 1) (/ 1 0))") 7))
  (assert (= (lib.value "tries") 2))
  (setv result (evaluate.run "(+ 1 1) (/ 1 0) (+ 2 2)"))
  (assert (= [(get result "status") (get result "values")] ["aborted" ["2"]]))
  (assert (= (get (lib.condition "(/ 1 0)") "type") "ZeroDivisionError"))
  (assert (= (lfor [_ names] asked (cut names 3)) (* [["retry" "use-value" "abort"]] 4))))

(defn test-an-unknown-name-is-supplied-where-it-is-missing [monkeypatch]
  "use-value, store-value and retry repair an unknown name with nothing unwound and nothing run twice."
  (setv [ask asked] (choosing #("use-value" 20) #("store-value" 21) #("use-value" 1)))
  (monkeypatch.setattr conditions "ask" ask)
  (assert (= (lib.value "(setv n 0) (do (+= n 1) (+ n 21 missing-one))") 42))
  (assert (= (lib.value "n") 1))
  (assert (= (lib.value "(defn f [] (lfor x [1] (+ x missing-two))) (get (f) 0)") 22))
  (assert (= (lib.value "missing-two") 21))
  (assert (= (get asked 0 1) ["use-value" "store-value" "retry" "abort"]))
  (defn define [condition choices]
    (setv (. (namespace.user) missing-three) 5)
    #("retry"))
  (monkeypatch.setattr conditions "ask" define)
  (assert (= (lib.value "(+ missing-three 1)") 6)))

(defn test-a-declined-name-asks-once-and-raises [monkeypatch]
  "When nobody supplies an unknown name it is an ordinary NameError that names it as it was written."
  (setv [ask asked] (choosing))
  (monkeypatch.setattr conditions "ask" ask)
  (setv condition (lib.condition "(+ 1 no-such-name?)"))
  (assert (= (get condition "type") "NameError"))
  (assert (in "no-such-name?" (get condition "message")))
  (assert (= (len asked) 1))
  (assert (= (lib.value "(try no-such (except [NameError] \"caught\"))") "caught")))

(defn test-nobody-to-ask-lists-the-restarts []
  "Without anybody to ask, the condition lists the restarts with a sentence each, the error's own first."
  (setv restarts (get (lib.condition "(import autolith.base.conditions [AutolithError])
                                      (raise (AutolithError \"gone\" [#(\"create\" \"Make it.\")]))") "restarts"))
  (assert (= (get restarts 0) #("create" "Make it.")))
  (assert (<= #{"retry" "use-value" "abort"} (set (dfor [n s] restarts n s))))
  (assert (in "store-value" (dict (get (lib.condition "no-such") "restarts")))))

(defn test-restarts-of-an-outer-operation-pass-through []
  "A form evaluated inside another's restart-case may take that restart: the inner evaluation is left, not the program."
  (assert (= (lib.value "(restart-case (do (import autolith.image [evaluate])
                                              (evaluate.run \"(invoke-restart \\\"skip\\\")\")) (skip [] \"skipped\"))")
             "skipped")))

(defn test-a-handler-in-the-form-decides []
  "handler-bind in a form sees plain unknown names; its restart is taken at the place of the look-up."
  (assert (= (lib.value "(handler-bind [NameError (fn [c] (invoke-restart \"use-value\" 4))] (+ 1 unheard-of))") 5)))

(defn test-errors-in-asking-are-results [monkeypatch]
  "An `ask` that fails, or chooses nonsense, leaves a result like any failure."
  (defn broken [condition choices] (raise (RuntimeError "no terminal")))
  (monkeypatch.setattr conditions "ask" broken)
  (assert (= (get (lib.condition "(/ 1 0)") "type") "RuntimeError"))
  (monkeypatch.setattr conditions "ask" (fn [condition choices] #("no-such-restart")))
  (assert (= (get (lib.condition "(/ 1 0)") "type") "LookupError")))


;; * Output

(defn test-output-is-live-and-ordered []
  "What is printed, on both streams, is handed over as it is printed, before the values that follow."
  (setv events [])
  (evaluate.run "(import sys) (print 1) (+ 1 1) (print 2 :file sys.stderr) (.write sys.stdout.buffer b\"3\\n\") (.writelines sys.stdout [\"4\"])"
                :output (fn [t] (.append events #("out" t))) :on-value (fn [v] (.append events #("value" v))))
  (assert (= (lfor [k t] events :if (.strip t) #(k (.strip t)))
             [#("out" "1") #("value" "2") #("out" "2") #("out" "3") #("value" "2") #("out" "4")])))

(defn test-output-belongs-to-who-prints [capsys]
  "A thread that a form started prints to the form's output, also later; one of somebody else's prints where it always did."
  (setv texts []  go (threading.Event)  done (threading.Event))
  (defn stranger [] (.wait go 10) (print "stranger") (.set done))
  (setv thread (threading.Thread :target stranger)
        user (namespace.user)
        user.go go  user.done done)
  (.start thread)
  (evaluate.run "(import threading) (defn late [] (.wait done 10) (print \"late\"))
                 (setv t (threading.Thread :target late)) (.start t) (.set go) (.wait done 10) (print \"form\")"
                :output texts.append)
  (.join thread 10)
  (.join user.t 10)
  (assert (= (sorted (.split (.join "" texts))) ["form" "late"]))
  (assert (in "stranger" (. (.readouterr capsys) out))))

(defn test-output-of-coroutines []
  "What a form's coroutine prints on the loop thread goes to the form's output."
  (setv texts [])
  (evaluate.run "(import asyncio) (defn :async g [] (await (asyncio.sleep 0)) (print \"on the loop\")) (g)" :output texts.append)
  (assert (= (.join "" texts) "on the loop\n")))

(defn test-output-nests []
  "An evaluation inside another has its own output, and the outer one's comes back."
  (setv outer []  inner []  user (namespace.user)  user.inner inner.append)
  (evaluate.run "(print 1) (import autolith.image [evaluate]) (do (evaluate.run \"(print 2)\" :output inner) None) (print 3)" :output outer.append)
  (assert (= [(.split (.join "" outer)) (.split (.join "" inner))] [["1" "3"] ["2"]])))

(defn test-printed-is-kept-in-part []
  "A result keeps the beginning of what was printed; all of it went to the output."
  (setv count 0)
  (defn more [text] (nonlocal count) (+= count (len text)))
  (setv result (evaluate.run "(for [i (range 3000)] (print (* \"x\" 100)))" :output more))
  (assert (= count (* 3000 101)))
  (assert (< 10000 (len (get result "printed")) 30000)))

(defn test-without-output-nothing-is-captured [capsys]
  "Where nobody takes the output, it goes to the real streams."
  (evaluate.run "(print \"plain\")")
  (assert (in "plain" (. (.readouterr capsys) out))))


;; * Modules

(defn test-in-module-moves-the-prompt [tree]
  "in-module moves where names and definitions are; what the user knows is still known there; without a name it goes back."
  (setv module (lib.load tree "zoo.inside" "(setv secret 5)\n(defn f [] (+ secret 1))")
        alias module.f)
  (lib.value "(setv mine 3)")
  (assert (= (lib.value "(in-module \"zoo.inside\") [secret mine (f)]") [5 3 6]))
  (assert (is (namespace.current) module))
  (assert (= (get (lib.value "(defn f [] (* secret 2))") "how") "changed in place"))
  (assert (= [(alias) (lib.value "(f)")] [10 10]))
  (lib.value "(undo) (in-module)")
  (assert (= [(alias) (is (namespace.current) (namespace.user))] [6 True]))
  (assert (= (get (lib.condition "(in-module \"zoo.insid\")") "type") "NoModule"))
  (assert (= (get (lib.condition "secret") "type") "NameError")))

(defn test-several-definitions-in-one-form [tree]
  "In a module of the tree, a `do` of definitions is one change; other forms run plainly, outside of any lock."
  (setv module (lib.load tree "zoo.many" "(defn f [] 1)\n(defn g [] 1)")
        [f g] [module.f module.g]
        change (lib.value "(in-module \"zoo.many\") (do (defn f [] 2) (do (defn g [] 3) (setv h 4)))"))
  (assert (= (get change "names") ["f" "g" "h"]))
  (assert (= [(f) (g) module.h] [2 3 4]))
  (lib.value "(undo)")
  (assert (= [(f) (g) (hasattr module "h")] [1 1 False]))
  (assert (= (lib.value "(when True (setv plain 1)) (+ plain (f))") 2)))

(defn test-the-tree-modules-macros-are-awake [tree]
  "In a module that required macros at compile time only, they are known at the prompt."
  (lib.load tree "zoo.sleepy" "(eval-when-compile (require autolith.base.macros [restart-case]))\n(defn f [] 1)")
  (assert (= (lib.value "(in-module \"zoo.sleepy\") (defn f [] (restart-case (+ 1 1) (skip [] 0))) (f)") 2)))

(defn test-another-module-by-name [tree]
  "A caller may name the module of a submission."
  (lib.load tree "zoo.named" "(setv x 9)")
  (assert (= (lib.value "x" :module "zoo.named") 9)))
