"Let the model evaluate forms in the running program.

The forms run on the main thread in the module `autolith.user`, as what the user types does."

(eval-when-compile
  (require autolith.base.macros [defparameter]
           autolith.tool.macros [deftool]))
(import
  autolith.base [conditions threads]
  autolith.image [evaluate namespace]
  autolith.tool [result])

(defparameter most-output 4000000 "How many characters that a form prints are kept.")

(deftool self.eval [#^ str form * #^ (| str None) [restart None] #^ (| str None) [restart-value None]]
  "Evaluate Hy forms in the running program, in the user's namespace autolith.user. They see and change everything the program is
made of; definitions stay until the program ends. The result has what was printed, and the value of each form.

form: one or more Hy forms, such as (+ 1 2) or (defn f [x] ...). Tools are functions here: (resource.read :uri \"workspace:.\").
restart: after a failure that listed restarts, the one to take when it happens again: retry, use-value, store-value ...
restart-value: a Hy form that gives the value which that restart takes.

The forms are read before any of them runs. A failure leaves the effects of the forms before it."
  {:effect "execute"}
  (setv way (Way restart restart-value)
        printed []
        outcome (await (on-main (fn [] (evaluated form way printed))))
        output (.join "" printed))
  (if (= (get outcome "status") "ok")
    (result.ToolResult :text (sections output (get outcome "values")) :data (_data outcome output))
    (failure outcome output way)))

(defclass Way []
  "How to go on at the first failure that offers the restart NAME, with the value that the form VALUE gives."
  (defn __init__ [self name value]
    (setv self.name name
          self.value value
          self.taken False))

  (defn decide [self condition]
    "Take the restart where CONDITION was signalled, the first time; else decline."
    (setv frames (dfor [name frame] (reversed (conditions.offered)) name frame)
          frame (.get frames self.name))
    (when (and frame (not self.taken))
      (setv self.taken True
            wants (!= (get frame.counts self.name) 0))
      (conditions.invoke-restart self.name #* (if (and wants (is-not self.value None)) [(self.computed)] [])))
    None)

  (defn computed [self]
    "Return the value of the form that the restart takes."
    (setv module (namespace.user) forms (list (hy.read-many self.value)) value None)
    (for [form forms]
      (setv value (hy.eval form :module module)))
    value))

(defn evaluated [source way printed]
  "Evaluate SOURCE, on this thread, going on by WAY; collect what it prints in PRINTED. Return evaluate's result."
  (setv size [0])
  (defn keep [text]
    (when (< (get size 0) most-output) (.append printed text))
    (+= (get size 0) (len text)))
  (setv token (conditions.bind-handlers #(Exception way.decide)))
  (try
    (evaluate.run source :module (namespace.user) :output keep :kind "self.eval")
    (finally (conditions.unbind-handlers token))))

(defn :async on-main [thunk]
  "Run THUNK on the main thread and await its value; being cancelled interrupts it and waits for its end."
  (import asyncio concurrent.futures [Future])
  (setv ended (Future) entries [])                       ; what main was noted to run, once it runs
  (defn job []
    (.extend entries (cut threads.running -1 None))
    (try (thunk) (finally (.set-result ended None))))
  (try
    (await (threads.on-main job :label "self.eval"))
    (except [asyncio.CancelledError]
      (when (and (not (.done ended)) (any (gfor e entries row threads.running (is e row))))
        (threads.interrupt-main)
        (await (asyncio.wait [(asyncio.wrap-future ended)] :timeout 2)))
      (raise))))

;; * Results

(defn sections [output values]
  "Return the text of a result: what was printed, OUTPUT, and the VALUES, each under its heading if there is any."
  (setv parts [])
  (when output (.append parts (+ "Output\n" (.rstrip output "\n"))))
  (when values (.append parts (+ "Values\n" (.join "\n" values))))
  (or (.join "\n\n" parts) "Done; no output and no value but None."))

(defn _data [outcome output]
  "Return OUTCOME of evaluate and OUTPUT as plain data."
  (setv condition (get outcome "condition"))
  {"status" (get outcome "status") "values" (get outcome "values") "output" output
   "condition" (when condition
                 {#** condition "restarts" (lfor row (get condition "restarts") (list row))})})

(defn failure [outcome output way]
  "Return the failed result of OUTCOME, with its OUTPUT, where the caller wanted to go on by WAY."
  (setv condition (get outcome "condition")
        rows (dict (gfor row (get condition "restarts") (cut (tuple row) 2)))
        message (get condition "message")
        kind (get condition "type")
        before (if (or output (get outcome "values")) (sections output (get outcome "values")) "")
        unused (if (and way.name (not way.taken)) f"The restart {way.name} was not offered, so it was not taken." ""))
  (result.failed "self.eval"
                 (if (.startswith message kind) message f"{kind}: {message}")
                 :restarts rows :data (_data outcome output)
                 :detail (.join "\n" (filter None [(.rstrip (get condition "traceback") "\n") unused before]))))
