"Reading and evaluating what was typed, so that whatever it does the caller gets a result.

`(probe text)` says whether TEXT is complete. `(run source)` reads SOURCE whole, then evaluates its forms one after another on the
calling thread. A result is {\"status\" ok, error or aborted, \"values\" [text ...], \"objects\" [value ...], \"condition\" None or
{\"type\" \"message\" \"traceback\" \"restarts\"}, \"printed\" text, \"source\" text}; values that are None are in neither list.

Around every top-level form stand the restarts retry, use-value and abort. Awaitable values are awaited on the loop; a form with
an `await` of its own runs there."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  collections [deque]
  inspect
  itertools
  linecache
  sys
  hy
  hy.compiler [hy-compile]
  hy.models [Expression]
  hy.reader.exceptions [LexException PrematureEndOfInput]
  autolith.base [conditions]
  autolith.image [namespace output :as outputs printing reading tracebacks])

(defonce _serial (itertools.count 1) "Numbers the pseudo files.")
(defonce _files (deque) "The pseudo files whose text is kept, oldest first.")

(defparameter kept-sources 5000
  "How many submissions keep their text for tracebacks and `inspect.getsource`.")

(defparameter kept-output 20000
  "How many characters of what forms printed a result keeps.")

(setv TOP-LEVEL-AWAIT 0x2000  COROUTINE 0x80
      RESTARTS [#("retry" "Evaluate the form again." 0)
                #("use-value" "Go on with another value of the form." 1)
                #("abort" "Give up the form." 0)])

(defclass Aborted [BaseException]
  "Somebody chose the restart abort of a top-level form.")


;; * Reading

(defn probe [text]
  "Return \"complete\", \"incomplete\" or #(\"error\" message line column) for TEXT. Runs no code of the user's."
  (try
    (for [_ (hy.read-many (unmarked text) :filename "<probe>.hy" :reader (reading.QuickReader))])
    "complete"
    (except [PrematureEndOfInput] "incomplete")
    (except [e LexException]
      (if (_user-reader-macro? e.msg) "complete" #("error" (reading-fault e) e.lineno e.offset)))
    (except [e Exception] #("error" (or (str e) (. (type e) __name__)) 1 1))))

(defn _user-reader-macro? [fault]
  "Tell whether FAULT, of a probe, is only that it does not know a reader macro which the user defined."
  (any (gfor name (getattr (namespace.current) "_hy_reader_macros" {})
             (in f"'#{(hy.unmangle name)}'" fault))))

(defn unmarked [text]
  "Return TEXT without a byte-order mark."
  (.removeprefix text "\ufeff"))

(defn reading-fault [e]
  "Return what the reader's error E says, for people."
  (if (in "recursion" e.msg) "nested too deeply to read" e.msg))

(defn read-forms [source name module]
  "Return the forms of SOURCE, all read before any runs, with the reader macros of MODULE; NAME is their file."
  (setv reader (reading.QuickReader))
  (.update reader.reader-macros (getattr module "_hy_reader_macros" {}))
  (list (hy.read-many (unmarked source) :filename name :reader reader)))

(defn keep-source [source [kind "form"]]
  "Keep SOURCE as the text of a new pseudo file, for tracebacks and `inspect`; return its name."
  (setv name f"<{kind} {(next _serial)}>.hy")
  (setv (get linecache.cache name) #((len source) None (.splitlines source True) name))
  (.append _files name)
  (while (> (len _files) kept-sources)
    (linecache.cache.pop (.popleft _files) None))
  name)


;; * One form

(defn compiled [form module name source]
  "Return the code of FORM's statements and that of its value; NAME and SOURCE are the file that it stands in."
  (namespace.prepare form module)
  (setv [body value] (hy-compile form module :get-expr True :filename name :source source :import-stdlib False))
  (lfor [tree mode] [[body "exec"] [value "eval"]]
        (compile tree name mode :flags TOP-LEVEL-AWAIT :dont-inherit True)))

(defn execute [codes module [names None]]
  "Run CODES, of one form, in MODULE, its local names in NAMES; return the form's value, awaited if it is awaitable."
  (setv names (if (is names None) (namespace.scope module) names)
        globals (vars module)
        [body value] codes)
  (if (& (| body.co-flags value.co-flags) COROUTINE)
    (_on-loop (_execute-awaiting body value globals names))
    (do
      (eval body globals names)
      (settled (eval value globals names)))))

(defn :async _execute-awaiting [body value globals names]
  "Run the code BODY, then VALUE, either of which may await."
  (setv result (eval body globals names))
  (when (inspect.iscoroutine result) (await result))
  (setv result (eval value globals names))
  (when (& value.co-flags COROUTINE) (setv result (await result)))
  (if (inspect.isawaitable result) (await result) result))

(defn settled [value]
  "Return VALUE or, if it is awaitable, what awaiting it on the loop gives."
  (if (inspect.isawaitable value)
    (_on-loop (_awaited value))
    value))

(defn :async _awaited [x]
  "Await X."
  (await x))

(defn _on-loop [coroutine]
  "Run COROUTINE on the loop and wait for it."
  (import autolith.base [threads])
  (threads.on-loop coroutine))

(defn evaluate-form [form module name source]
  "Evaluate FORM, read from SOURCE in the file NAME, in MODULE; in a module of the tree a definition redefines."
  (when (namespace.tree-module? module)
    (import autolith.image [definitions])
    (namespace.wake module)
    (when (definitions.installable? form)
      (return (definitions.install-form form module source :file name))))
  (if (namespace.tree-module? module)
    (do (setv module.hy hy)
        (execute (compiled form module name source) module))
    (execute-in-user (compiled form module name source))))

(defn execute-in-user [codes]
  "Run CODES, of one form, in the user's module; a function that was advised and is defined anew stays advised."
  (setv module (namespace.user)
        module.hy hy
        value (execute codes module)
        advice (.get sys.modules "autolith.image.advice"))
  (when (and advice advice.table) (advice.mend module))
  value)

(defn with-restarts [thunk]
  "Return the value of THUNK, or what a restart gives: another try, another value; abort raises Aborted."
  (while True
    (setv frame (conditions.Frame #* RESTARTS))
    (.enter frame)
    (try
      (return (_deciding thunk))
      (except [e BaseException]
        (.leave frame)
        (setv unwind (.own frame e))
        (cond
          (is unwind None) (raise)
          (= unwind.name "use-value") (return (get unwind.args 0))
          (= unwind.name "abort") (raise (Aborted) :from None)))
      (finally (.leave frame)))))

(defn _deciding [thunk]
  "Return the value of THUNK. An exception that nobody was asked about where it arose is asked about here."
  (try
    (thunk)
    (except [e Exception]
      (when (or (conditions.declined? e) (namespace.declined? e) (_interrupted? e)) (raise))
      (conditions.signal e))))

(defn _interrupted? [error]
  "Tell whether ERROR is an interrupt, perhaps one that a macro's expansion wrapped."
  (or (isinstance error KeyboardInterrupt)
      (and (= (. (type error) __name__) "HyMacroExpansionError")
           (isinstance error.__context__ KeyboardInterrupt))))


;; * A whole submission

(defn run [source * [module None] [output None] [on-value None] [kind "form"]]
  "Evaluate the forms of SOURCE in MODULE (a module or its name; else where the prompt is); return a result, and raise nothing.

OUTPUT is called with what is printed, as it is printed; ON-VALUE with the text of each value. The first form that fails ends
the submission. KIND names the pseudo file."
  (setv result {"status" "ok" "values" [] "objects" [] "condition" None "printed" "" "source" source}
        printed []
        keep (outputs.bounded printed.append kept-output))
  (defn tee [text]
    (keep text)
    (output text))
  (try
    (with [_ (outputs.capturing (when output tee))]
      (_run-all result module on-value kind))
    (except [KeyboardInterrupt] (_note-failure result (KeyboardInterrupt) "aborted")))
  (setv (get result "printed") (.join "" printed))
  result)

(defn _run-all [result module on-value kind]
  "Read and evaluate the source of RESULT in MODULE, filling in RESULT."
  (setv outside (conditions.offered))
  (try
    (setv start (if (is module None) (namespace.current) (namespace.find-module module))
          source (get result "source")
          name (keep-source source kind))
    (for [form (read-forms source name start)]
      (setv here (if (is module None) (namespace.current) start)
            value (with-restarts (fn [[form form] [here here]] (evaluate-form form here name source))))
      (_note-value result value on-value))
    (except [e conditions.Unwind]
      (when (in e.frame (lfor [_ frame] outside frame)) (raise))
      (_note-failure result (LookupError f"the operation that offered the restart {e.name} is over") "error"))
    (except [e BaseException]
      (_note-failure result e (if (or (isinstance e Aborted) (_interrupted? e)) "aborted" "error")))))

(defn _note-value [result value on-value]
  "Enter VALUE in RESULT, make it *1, and tell ON-VALUE its text."
  (when (is value None) (return))
  (namespace.remember value)
  (with [_ (outputs.limited printing.shown-characters)]
    (setv text (printing.text-of value)))
  (.append (get result "objects") value)
  (.append (get result "values") text)
  (when on-value (on-value text)))

(defn _note-failure [result error status]
  "Enter ERROR, with STATUS, as what ended RESULT."
  (setv (get result "status") status
        (get result "condition") (explain error status))
  (when (not (isinstance error #(Aborted KeyboardInterrupt)))
    (namespace.remember-error error)))

(defn explain [error [status "error"]]
  "Describe ERROR as `tracebacks.describe` does, with the restarts that a form's error offers."
  (cond
    (isinstance error Aborted) (_plain "abort" "given up")
    (= status "aborted") (_plain "KeyboardInterrupt" "interrupted" (tracebacks.frames error))
    True (try
           (_explained error)
           (except [e Exception]              ; an error that breaks its own description
             (_plain (tracebacks.type-name error)
                     f"{(printing.safe-str error)} (it could not be described: {(printing.safe-str e)})")))))

(defn _plain [kind message [traceback ""]]
  "Describe an end of KIND that needs no more than its MESSAGE, and perhaps a TRACEBACK."
  {"type" kind "message" message "traceback" traceback "restarts" []})

(defn _explained [error]
  "Describe ERROR, adding what else helps."
  (setv offered (lfor [name sentence _] RESTARTS #(name sentence)))
  (when (and (isinstance error NameError) error.name)
    (setv offered [#("use-value" "Use another value for the name this once.")
                   #("store-value" "Bind the name to a value and go on.")
                   #* (lfor row offered :if (!= (get row 0) "use-value") row)]))
  (setv row (tracebacks.describe error offered))
  (cond
    (isinstance error SystemExit)
      (.update row {"message" f"the form asked to exit with status {(hy.repr error.code)}; (quit) leaves the program" "restarts" []})
    (isinstance error LexException)
      (.update row {"type" "reader error" "traceback" "" "restarts" []
                    "message" f"{(reading-fault error)} (line {error.lineno}, column {error.offset})"}))
  row)
