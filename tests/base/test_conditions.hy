"Conditions decide at the point of the error, across functions, tasks and threads."

(eval-when-compile (require autolith.base.macros [restart-case handler-bind]))

(import
  asyncio
  threading
  contextvars [copy-context]
  concurrent.futures [Future ThreadPoolExecutor]
  hy.errors
  pytest
  autolith.base [conditions])

(defclass Stale [conditions.AutolithError]
  "A revision that moved.")

(defn taking [name #* args]
  "Return a handler that takes the restart NAME with ARGS."
  (fn [condition] (conditions.invoke-restart name #* args)))

(defn deep [n trail]
  "Signal N calls down, noting in TRAIL what is unwound."
  (try
    (if n (deep (- n 1) trail) (conditions.signal (Stale "moved" [#("reread" "Read it again.")])))
    (finally (.append trail n))))

(defn guarded [trail]
  "Offer two restarts around a deep failure."
  (restart-case (deep 3 trail)
    (reread [value] "Read it again." ["reread" value])
    (skip [] "skipped")))

(defn test-restart-gives-the-clauses-value []
  "A handler's choice becomes the value of restart-case, after the stack between is unwound."
  (setv trail [])
  (assert (= (handler-bind [Stale (taking "reread" 7)] (guarded trail)) ["reread" 7]))
  (assert (= trail [0 1 2 3]))
  (assert (= (handler-bind [Stale (taking "skip")] (guarded [])) "skipped"))
  (assert (= (conditions.offered) [])))

(defn test-handlers-run-before-unwinding []
  "When a handler runs, nothing has been unwound and the restarts are live."
  (setv trail []  seen [])
  (defn look [c]
    (.append seen #((list trail) (conditions.choices) c.message c.restarts)))
  (with [(pytest.raises Stale)]
    (handler-bind [Stale look] (guarded trail)))
  (assert (= seen [#([] [#("reread" "Read it again.") #("skip" "")] "moved" [#("reread" "Read it again.")])])))

(defn test-value-without-a-condition []
  "A form that does not fail gives its own value and leaves nothing behind."
  (assert (= (restart-case (+ 1 2) (skip [] 9)) 3))
  (assert (= (conditions.offered) [])))

(defn test-innermost-handler-first-and-sees-only-outer-ones []
  "Handlers run from the inside out, and one that signals meets only those outside it."
  (setv order [])
  (defn note [name] (fn [c] (.append order name)))
  (defn again [c]
    (.append order "again")
    (restart-case (conditions.signal (Stale "second"))
      (skip [] None)))
  (defn outer [c]
    (.append order f"outer {c.message}")
    (when (= c.message "second") (conditions.invoke-restart "skip")))
  (with [(pytest.raises Stale)]
    (handler-bind [Stale outer]
      (handler-bind [Stale (note "first") #(Stale ValueError) again Exception (note "third")]
        (conditions.signal (Stale "one")))))
  (assert (= order ["first" "again" "third" "outer second" "third" "outer one"])))

(defn test-innermost-restart-wins-and-clauses-see-outer-ones []
  "The innermost frame of a name is taken, and its clause may take the outer one."
  (setv value
    (restart-case
      (handler-bind [Stale (taking "skip")]
        (restart-case (conditions.signal (Stale))
          (skip [] (conditions.invoke-restart "skip") "inner")))
      (skip [] "outer")))
  (assert (= value "outer")))

(defn test-plain-exceptions-pass-through []
  "An ordinary exception is neither swallowed nor changed."
  (with [(pytest.raises ZeroDivisionError)]
    (restart-case (/ 1 0) (skip [] 1)))
  (assert (= (conditions.offered) [])))

(defn test-except-exception-does-not-eat-an-unwind []
  "A broad `except Exception` between signal and restart does not stop the unwinding."
  (defn careless []
    (try (conditions.signal (Stale)) (except [Exception] "eaten")))
  (assert (= (handler-bind [Stale (taking "skip")]
               (restart-case (careless) (skip [] "skipped")))
             "skipped")))

(defn test-unknown-restart-names-those-offered []
  "Taking a restart that nobody offers is a LookupError that lists those that are."
  (with [e (pytest.raises LookupError)]
    (restart-case (conditions.invoke-restart "nothing") (skip [] 1)))
  (assert (in "skip" (str e.value)))
  (with [(pytest.raises LookupError)] (conditions.invoke-restart "skip")))

(defn test-wrong-number-of-values-is-refused-at-the-choice []
  "A restart that takes one value is not unwound to with none."
  (setv caught [])
  (defn clumsy [c]
    (try (conditions.invoke-restart "use-value") (except [e TypeError] (.append caught (str e))))
    (conditions.invoke-restart "use_value" 5))
  (assert (= (handler-bind [Stale clumsy]
               (restart-case (conditions.signal (Stale)) (use-value [x] x)))
             5))
  (assert (in "use-value" (get caught 0))))

(defn test-rest-parameters-take-any-number []
  "A clause with a rest parameter takes whatever is supplied."
  (assert (= (handler-bind [Stale (taking "supply" 1 2 3)]
               (restart-case (conditions.signal (Stale)) (supply [a #* more] [a more])))
             [1 [2 3]])))

(defn test-yield-inside-is-refused []
  "A yield that would leak restarts or handlers to a consumer does not compile; one in an inner function does."
  (for [form ['(restart-case (yield 1) (skip [] 1))
              '(handler-bind [ValueError print] (for [x [1]] (yield x)))]]
    (with [(pytest.raises hy.errors.HyLanguageError)]
      (hy.eval `(do (require autolith.base.macros [restart-case handler-bind])
                    (defn f [] ~form))
               :module (hy.I.types.ModuleType "scratch"))))
  (assert (= (list ((restart-case (fn [] (yield 1)) (skip [] 2)))) [1])))

(defn test-malformed-clauses-are-refused []
  "A clause without parameters, or an odd number of bindings, does not compile."
  (for [form ['(restart-case 1 (skip)) '(restart-case 1 7) '(handler-bind [ValueError] 1)]]
    (with [(pytest.raises hy.errors.HyLanguageError)]
      (hy.eval `(do (require autolith.base.macros [restart-case handler-bind]) ~form)
               :module (hy.I.types.ModuleType "scratch")))))

(defn :async failing []
  "Give way once, then signal as a coroutine does."
  (await (asyncio.sleep 0))
  (await (conditions.asignal (Stale "later"))))

(defn :async offering []
  "Offer a restart around a coroutine."
  (restart-case (await (failing)) (use-value [x] x)))

(defn test-across-await-and-tasks []
  "Handlers of the caller decide for child tasks, each task has its own, and a task group's wrapping is seen through."
  (defn :async one [n]
    (handler-bind [Stale (taking "use-value" n)] (await (offering))))
  (defn :async grouped []
    (restart-case
      (with [:async group (asyncio.TaskGroup)]
        (.create-task group (failing))
        (.create-task group (asyncio.sleep 60)))
      (use-value [x] x)))
  (defn :async main []
    (handler-bind [Stale (taking "use-value" 99)]
      [(await (asyncio.gather (one 1) (one 2) (one 3)))
       (await (asyncio.create-task (offering)))
       (await (grouped))]))
  (assert (= (asyncio.run (main)) [[1 2 3] 99 99])))

(defn test-across-threads []
  "A thread that was given the context decides like its starter; a bare one has no handlers."
  (defn work []
    (try
      (restart-case (conditions.signal (Stale)) (use-value [x] x))
      (except [Stale] "raised")))
  (with [pool (ThreadPoolExecutor 1)]
    (handler-bind [Stale (taking "use-value" 4)]
      (assert (= (.result (.submit pool (. (copy-context) run) work)) 4))
      (assert (= (.result (.submit pool work)) "raised"))))
  (defn :async threaded []
    (handler-bind [Stale (taking "use-value" 5)] (await (asyncio.to-thread work))))
  (assert (= (asyncio.run (threaded)) 5)))

(defn test-a-future-is-waited-for []
  "A handler that has to ask returns a Future; signal waits for it, asignal awaits it, an empty decision declines."
  (defn asking [#* decision]
    (fn [c]
      (setv future (Future))
      (.start (threading.Timer 0.01 (fn [] (.set-result future decision))))
      future))
  (assert (= (handler-bind [Stale (asking "use-value" 3)]
               (restart-case (conditions.signal (Stale)) (use-value [x] x)))
             3))
  (assert (= (handler-bind [Stale (asking "use-value" 4)] (asyncio.run (offering))) 4))
  (with [(pytest.raises Stale)]
    (handler-bind [Stale (asking)] (guarded []))))

(defn test-ask-decides-last [monkeypatch]
  "The door's ask is called when handlers decline, with the choices; None declines and the condition is marked."
  (setv asked [])
  (defn ask [condition choices]
    (.append asked #(condition.message choices))
    (when (= condition.message "mine") #("use-value" 8)))
  (monkeypatch.setattr conditions "ask" ask)
  (defn run [message]
    (restart-case (conditions.signal (Stale message)) (use-value [x] "Use X." x)))
  (assert (= (run "mine") 8))
  (with [e (pytest.raises Stale)] (run "other"))
  (assert (conditions.declined? e.value))
  (assert (= asked [#("mine" [#("use-value" "Use X.")]) #("other" [#("use-value" "Use X.")])])))

(defn test-nobody-is_waited_for-on-a-loop-thread [monkeypatch]
  "On an event loop's own thread a plain signal raises at once; a coroutine's asignal awaits an awaitable answer."
  (defn ask [condition choices]
    (defn :async answer [] (await (asyncio.sleep 0)) #("use-value" 6))
    (answer))
  (monkeypatch.setattr conditions "ask" ask)
  (setv results [])
  (defn :async plain []
    (handler-bind [Stale (fn [c] (Future))]
      (try
        (restart-case (conditions.signal (Stale)) (use-value [x] x))
        (except [Stale] "raised"))))
  (defn work []
    (.append results (asyncio.run (plain)))
    (.append results (asyncio.run (offering))))
  (setv thread (threading.Thread :target work))
  (.start thread)
  (.join thread)
  (assert (= results ["raised" 6])))

(defn test-errors-speak []
  "An AutolithError prints as its message and keeps its restarts; it survives without either."
  (setv e (conditions.AutolithError "gone" [#("create" "Make it.")]))
  (assert (= [(str e) e.restarts] ["gone" [#("create" "Make it.")]]))
  (assert (= (str (conditions.AutolithError)) "")))
