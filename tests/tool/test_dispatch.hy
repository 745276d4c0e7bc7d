"One call, one result: whatever a tool does, however it is called."

(eval-when-compile
  (require autolith.base.macros [handler-bind restart-case]
           autolith.tool.macros [deftool]))
(import
  asyncio
  pytest
  autolith.base [conditions threads]
  autolith.tool [context registry result]
  tests.tool.lib [call run tools])

(defclass Rude [Exception]
  "An exception whose text cannot be made."
  (defn __str__ [self] (raise (ValueError "no text"))))

(defn [(pytest.mark.parametrize "name,arguments,words"
        [#("no.such" {} "no.such") #("serach.glob" {} "search.glob") #("" {} "name") #(None {} "name")
         #("demo.echo" "{\"x\": " "JSON") #("demo.echo" "[1]" "JSON") #("demo.echo" {"y" 1} "x is required")
         #("demo.echo" [1] "map")])]
  test-calls-that-cannot-run [name arguments words tools]
  "An unknown name, or arguments that are no map or do not fit, give one failed result that says so."
  (deftool demo.echo [x] "Echo." x)
  (setv r (call name arguments))
  (assert (not r.ok))
  (assert (in words r.text)))

(defn test-bare-names [tools]
  "A name without its namespace reaches the one tool that has it; several are listed."
  (deftool demo.lonely [] "Alone." 1)
  (deftool demo.twin [] "One." 1)
  (deftool other.twin [] "Two." 2)
  (assert (. (call "lonely") ok))
  (setv r (call "twin"))
  (assert (not r.ok))
  (assert (and (in "demo.twin" r.text) (in "other.twin" r.text))))

(defn test-every-end-is-one-result [tools]
  "Exceptions of every kind become failed results; nothing gets out."
  (deftool demo.fail [kind] "Fail."
    (raise (match kind
             "plain" (ValueError "plain words")
             "rude" (Rude)
             "exit" (SystemExit 3)
             "interrupt" (KeyboardInterrupt)
             "recursion" (RecursionError "deep")
             "expected" (conditions.AutolithError "expected words" [#("again" "Do it again.")]))))
  (for [kind ["plain" "rude" "exit" "interrupt" "recursion" "expected" "no such kind"]]
    (setv r (call "demo.fail" {"kind" kind}))
    (assert (isinstance r result.ToolResult))
    (assert (not r.ok))
    (assert (= r.tool "demo.fail"))
    (assert (>= r.seconds 0)))
  (assert (in "plain words" (. (call "demo.fail" {"kind" "plain"}) text)))
  (assert (in "test_dispatch.hy" (. (call "demo.fail" {"kind" "plain"}) text)))
  (assert (in "Do it again." (. (call "demo.fail" {"kind" "expected"}) text))))

(defn test-kinds-of-value [tools]
  "Text, nothing, data, maps with text, blocks and ready results all become results."
  (deftool demo.give [which] "Give."
    (get {"text" "words" "none" None "data" [1 2] "map" {"text" "t" "n" 1}
          "blocks" [{"type" "text" "text" "a"} {"type" "image" "mime" "image/png" "path" "/p" "label" "L"}]
          "result" (result.ToolResult :ok False :text "no")} which))
  (defn give [which] (call "demo.give" {"which" which}))
  (assert (= (. (give "text") text) "words"))
  (assert (. (give "none") ok))
  (assert (= #((. (give "data") text) (. (give "data") data)) #("[1 2]" [1 2])))
  (assert (= #((. (give "map") text) (. (give "map") data)) #("t" {"n" 1})))
  (assert (= #((. (give "blocks") text) (len (. (give "blocks") content))) #("a" 1)))
  (assert (not (. (give "result") ok))))

(defn test-context-reaches-the-tool [tools]
  "A tool sees the context it was called in, also in what it calls, and it is gone afterwards."
  (deftool demo.where [] "Where." (. (context.current.get) cwd))
  (deftool demo.outer [] "Outer." (. (await ((registry.find "demo.where"))) text))
  (assert (= (. (call "demo.where" {} :cwd "/somewhere") text) "/somewhere"))
  (assert (= (. (call "demo.outer" {} :cwd "/elsewhere") text) "/elsewhere"))
  (assert (is (context.current.get) None)))

(defn test-code-gets-a-condition [tools]
  "Called by code a failure is signalled with its result, and retry and use-value go on in place."
  (setv tries [])
  (deftool demo.flaky [] "Fail twice."
    (.append tries 1)
    (if (< (len tries) 3) (/ 1 0) "done"))
  (setv tool (registry.find "demo.flaky"))
  (with [e (pytest.raises result.ToolFailed)] (tool))
  (assert (not e.value.result.ok))
  (assert (isinstance e.value.__cause__ ZeroDivisionError))
  (handler-bind [result.ToolFailed (fn [c] (conditions.invoke-restart "retry"))]
    (assert (= (. (tool) text) "done")))
  (.clear tries)
  (handler-bind [result.ToolFailed (fn [c] (conditions.invoke-restart "use-value" 42))]
    (assert (= (tool) 42))))

(defn test-code-on-the-loop-awaits [tools]
  "On the loop's thread a tool called as a function gives a coroutine of the same result or condition."
  (deftool demo.inner [n] "Divide." (/ 6 n))
  (defn :async both []
    (setv tool (registry.find "demo.inner") good (await (tool 3)))
    (try (await (tool 0))
      (except [e result.ToolFailed] [good.data e.result.ok])))
  (assert (= (run (both)) [2.0 False])))

(defn test-direct-arguments [tools]
  "Positional and named arguments mean what they do for a function; too many, repeated and unknown ones fail."
  (deftool demo.args [a [b 2] * [c 3]] "Args." [a b c])
  (setv tool (registry.find "demo.args"))
  (assert (= (. (tool 1 5 :c 6) data) [1 5 6]))
  (assert (= (. (tool :a 1) data) [1 2 3]))
  (for [bad [(fn [] (tool)) (fn [] (tool 1 2 3)) (fn [] (tool 1 :a 2)) (fn [] (tool 1 :d 2))
             (fn [] (tool 1 #** {"self" 2}))]]
    (with [_ (pytest.raises result.ToolFailed)] (bad))))

(defn declare-stale []
  "Define a tool that signals, offering ways to go on."
  (deftool demo.stale [x]
    "Signal."
    {:restarts {"reread" "Read it again." "use-value" "Use another value." "retry" "Try again."}}
    (while True
      (setv again (restart-case (await (conditions.asignal (conditions.AutolithError f"{x} is stale")))
                    (reread [] "Read it anew." #(True "reread"))
                    (use-value [v] #(True v))
                    (retry [] #(False None))))
      (when (get again 0) (return (get again 1))))))

(defn test-restart-named-by-the-model [tools]
  "A failed result lists the restarts that were open; a repeated call that names one goes on there."
  (declare-stale)
  (setv r (call "demo.stale" {"x" 1}))
  (assert (not r.ok))
  (assert (= (set r.restarts) #{"reread" "use-value" "retry"}))
  (assert (= (. (call "demo.stale" {"x" 1 "restart" "reread"}) text) "reread"))
  (assert (= (. (call "demo.stale" {"x" 1 "restart" "use-value" "restart_value" [7]}) data) [7]))
  (setv r (call "demo.stale" {"x" 1 "restart" "use-value"}))
  (assert (and (not r.ok) (in "restart_value" r.text)))
  (assert (not (. (call "demo.stale" {"x" 1 "restart" "explode"}) ok))))

(defn test-a-restart-is-taken-once [tools]
  "A restart that leads to the same condition again does not go round for ever."
  (declare-stale)
  (assert (not (. (call "demo.stale" {"x" 1 "restart" "retry"}) ok))))

(defn test-restarts-of-the-caller-are-not-listed [tools]
  "What the code around a call offers is no way on for the call itself."
  (declare-stale)
  (setv r (restart-case (call "demo.stale" {"x" 1}) (outermost [] None)))
  (assert (not-in "outermost" r.restarts)))

(defn test-handlers-of-the-caller-decide-inside [tools]
  "A handler bound around a call from the main thread takes a restart inside the tool, on the loop."
  (declare-stale)
  (handler-bind [conditions.AutolithError (fn [c] (conditions.invoke-restart "use-value" 9))]
    (assert (= (. ((registry.find "demo.stale") 1) data) 9))))

(defn test-code-takes-the-tools-own-restart [tools]
  "To code a failed call offers the restarts that the tool would take in a repeated call, once, with their values."
  (declare-stale)
  (setv tool (registry.find "demo.stale"))
  (defn taking [name #* values]
    (handler-bind [result.ToolFailed (fn [c] (conditions.invoke-restart name #* values))]
      (tool 1)))
  (assert (= (. (taking "reread") text) "reread"))
  (assert (= (. (taking "use-value" [5]) data) [5])))

(defn test-cancelling-goes-through [tools]
  "A cancelled call is cancelled; its clean-up runs."
  (setv seen [])
  (deftool demo.sleep [] "Sleep."
    (try (await (asyncio.sleep 30))
      (finally (.append seen "cleaned"))))
  (defn :async main []
    (setv task (asyncio.create-task (registry.call "demo.sleep" {} (context.ToolContext))))
    (await (asyncio.sleep 0.01))
    (.cancel task)
    (try (await task) (except [asyncio.CancelledError] (.append seen "cancelled"))))
  (run (main))
  (assert (= seen ["cleaned" "cancelled"])))

(defn test-calls-side-by-side [tools]
  "Calls that run together each keep their own context and result."
  (deftool demo.slow [n] "Slow."
    (await (asyncio.sleep (* 0.002 (- 5 n))))
    [n (. (context.current.get) cwd)])
  (defn :async main []
    (await (asyncio.gather #* (lfor n (range 5)
                                    (registry.call "demo.slow" {"n" n} (context.ToolContext :cwd (str n)))))))
  (assert (= (lfor r (run (main)) r.data) (lfor n (range 5) [n (str n)]))))

(defn test-broken-tool-module-is-a-failed-result [tools]
  "A namespace whose module does not load makes a failed result that says why, and stops no other tool."
  (setv (get registry.sources "broken") "autolith.tool.no_such_module")
  (try
    (setv r (call "broken.thing") declared (registry.declarations))
    (with [_ (pytest.raises ImportError)] (registry.namespace "broken"))
    (finally
      (del (get registry.sources "broken"))
      (.clear registry.broken)))
  (assert (not r.ok))
  (assert (in "no_such_module" r.text))
  (assert (in "search_glob" (lfor d declared (get d "name")))))
