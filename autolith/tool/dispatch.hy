"Run one tool once: decode, validate, bind the context, time, and make exactly one ToolResult of whatever happens.

`run` serves the model and everything else that holds a map of arguments; `direct` is what calling a Tool does."

(import
  time
  autolith.base [conditions threads]
  autolith.tool [context guard result schema])

;; * One call

(defn :async run [tool arguments caller]
  "Run TOOL with the map ARGUMENTS for CALLER, a ToolContext; return its ToolResult. Only cancelling raises."
  (setv started (time.perf-counter)
        call {"tool" tool "outer" (_frames) "offered" {} "restart" None}
        context-token (.set context.current caller)
        handler-token None)
  (try
    (guard.check tool caller)
    (setv prepared (_prepare call arguments)
          handler-token (conditions.bind-handlers #(Exception (fn [c] (_note call c)))
                                                  #(Exception (fn [c] (_go-on call c))))
          outcome (result.of (await (tool.function #** prepared))))
    (except [e [Exception SystemExit KeyboardInterrupt]]
      (setv outcome (_failure call e)))
    (finally
      (when handler-token (conditions.unbind-handlers handler-token))
      (.reset context.current context-token)))
  (finish tool.name outcome started))

(defn finish [name outcome started]
  "Return the ToolResult OUTCOME of the tool NAME, begun at STARTED, bounded, named and timed."
  (setv done (result.bound outcome))
  (result.replace done :tool name :seconds (- (time.perf-counter) started)))

(defn _prepare [call arguments]
  "Return the typed arguments of CALL from the map ARGUMENTS, noting the restart that they name."
  (setv tool (get call "tool") restarts (get tool.traits "restarts"))
  (when (isinstance arguments str)
    (raise (schema.Mismatch (_not-object arguments))))
  (setv parameters tool.parameters)
  (when (and restarts (not (_own-restart? tool)))
    (setv parameters [#* parameters #* (_restart-parameters restarts)]))
  (setv built (schema.build-arguments parameters arguments))
  (when (is-not parameters tool.parameters)
    (setv (get call "restart") (.pop built "restart" None)
          (get call "values") (if (in "restart_value" built) [(.pop built "restart_value")] [])))
  built)

(defn _own-restart? [tool]
  "Does TOOL deal with restarts itself?"
  (any (gfor p tool.parameters (= (get p "name") "restart"))))

(defn _restart-parameters [restarts]
  "Return the parameters by which a repeated call names one of RESTARTS."
  [{"name" "restart" "type" (get schema.Literal (tuple restarts)) "required" False "default" None "doc" ""}
   {"name" "restart_value" "type" schema.Any "required" False "default" None "doc" ""}])

(defn _not-object [text]
  "Return what is wrong with TEXT, arguments that are not a JSON object."
  (import json)
  (setv reason (try (json.loads text) "it is another JSON value"
                 (except [e ValueError] (str e))))
  f"the arguments are not a JSON object ({reason}): {(cut text 200)}")

;; * Conditions during a call

(defn _frames []
  "Return the frames whose restarts were offered before the call."
  (sfor [_ frame] (conditions.offered) (id frame)))

(defn _inner [call]
  "Return {name: #(sentence frame)} of the restarts that the running CALL itself offers here."
  (setv found {})
  (for [[name frame] (conditions.offered)]
    (when (not-in (id frame) (get call "outer"))
      (.setdefault found name #((.get frame.sentences name "") frame))))
  found)

(defn _note [call condition]
  "Remember which restarts CALL offered when CONDITION was signalled; decline to decide."
  (setv (get call "offered" (id condition))
        #(condition (dfor [name [sentence _]] (.items (_inner call)) name sentence)))
  None)

(defn _go-on [call condition]
  "Take the restart that the caller of CALL named, once, if it is offered where CONDITION was signalled."
  (setv name (get call "restart") inner (_inner call))
  (when (and name (in name inner))
    (setv count (.get (. (get inner name 1) counts) name) values (get call "values"))
    (when (and count (not values))
      (raise (schema.Mismatch f"the restart {name} takes a value: give restart_value")))
    (setv (get call "restart") None)
    (conditions.invoke-restart name #* (if (= count 0) [] values))))

;; * Failures

(defn _failure [call error]
  "Return the failed result that ERROR makes of CALL."
  (setv tool (get call "tool")
        restarts (_restarts call error)
        accepted (dfor [n s] (.items restarts)
                       :if (or (in n (get tool.traits "restarts")) (_own-restart? tool))
                       n (or s (.get (get tool.traits "restarts") n "")))
        others (lfor [n s] (.items restarts) :if (not-in n accepted) f"Way out, {n}: {s}"))
  (result.failed tool.name (message error) :restarts accepted :condition error
                 :data (getattr error "data" None)
                 :detail (.join "\n" [#* (where error) #* others])))

(defn _restarts [call error]
  "Return {name: sentence} of what CALL offered when ERROR was signalled, and of what ERROR itself names."
  (setv [_ offered] (.get (get call "offered") (id error) #(None {})) found (dict offered))
  (for [row (or (getattr error "restarts" None) [])]
    (setv [name sentence] (if (isinstance row str) #(row "") row))
    (.setdefault found name sentence))
  found)

(defn message [error]
  "Return what ERROR says; the kind of exception comes first unless the program expects it."
  (setv text (try (str error) (except [Exception] "(its text cannot be made)")))
  (cond
    (isinstance error conditions.AutolithError) text
    (isinstance error KeyboardInterrupt) "interrupted"
    (isinstance error SystemExit) f"it tried to end the program ({text})"
    True (.rstrip f"{(. (type error) __name__)}: {text}" ": ")))

(defn where [error [limit 3]]
  "Return up to LIMIT lines that say where an unexpected ERROR arose, innermost last."
  (when (isinstance error #(conditions.AutolithError KeyboardInterrupt))
    (return []))
  (import traceback)
  (setv frames (lfor f (traceback.extract-tb error.__traceback__)
                     :if (!= f.filename __file__) f))
  (lfor f (cut frames (- limit) None)
        f"  at {f.filename}:{f.lineno} in {(hy.unmangle f.name)}"))

;; * Calls from code

(defn direct [tool positional named]
  "Do what calling TOOL with POSITIONAL and NAMED arguments does: wait for the result, or on the loop give a coroutine."
  (setv caller (context.obtain))
  (if (threads.on-loop-thread?)
    (_awaited tool positional named caller)
    (_waited tool positional named caller)))

(defn :async _once [tool positional named caller]
  "Run TOOL with arguments as code gives them, for CALLER."
  (try
    (setv arguments (as-map tool positional named))
    (except [e schema.Mismatch]
      (return (result.failed tool.name e.message :condition e))))
  (await (run tool arguments caller)))

(defn as-map [tool positional named]
  "Return POSITIONAL and NAMED arguments of TOOL as one map."
  (setv open (lfor p (.values tool.__signature__.parameters)
                   :if (!= p.kind p.KEYWORD-ONLY) p.name))
  (when (> (len positional) (len open))
    (raise (schema.Mismatch f"{(len positional)} arguments without a name, but it takes {(len open)}; name the others, as :name value")))
  (setv arguments (dict (zip open positional)))
  (for [[key value] (.items named)]
    (when (in key arguments)
      (raise (schema.Mismatch f"{key} is given twice")))
    (setv (get arguments key) value))
  arguments)

(defn _failed [outcome]
  "Return the condition that the failed OUTCOME is to code; an exception that nobody expects is its cause."
  (setv failure (result.ToolFailed outcome)
        cause outcome.condition)
  (setv failure.__cause__ (if (isinstance cause conditions.AutolithError) None cause))
  failure)

(defn _waited [tool positional named caller]
  "Run TOOL on the loop and wait; signal a failure here, with the ways on still open."
  (while True
    (setv outcome (threads.on-loop (_once tool positional named caller)))
    (when outcome.ok (return outcome))
    (setv frame (_frame tool outcome))
    (.enter frame)
    (try
      (conditions.signal (_failed outcome))
      (except [e BaseException] (setv [again value] (_taken frame e)))
      (finally (.leave frame)))
    (when (is again None) (return value))
    (setv named {#** named #** again})))

(defn :async _awaited [tool positional named caller]
  "Do as `_waited`, here on the loop."
  (while True
    (setv outcome (await (_once tool positional named caller)))
    (when outcome.ok (return outcome))
    (setv frame (_frame tool outcome))
    (.enter frame)
    (try
      (await (conditions.asignal (_failed outcome)))
      (except [e BaseException] (setv [again value] (_taken frame e)))
      (finally (.leave frame)))
    (when (is again None) (return value))
    (setv named {#** named #** again})))

;; * The ways on from a failed call

(defn _frame [tool outcome]
  "Return the frame that offers the ways on from OUTCOME of TOOL: its own restarts, each a repeated call, and two for any call."
  (setv own (dfor [name sentence] (.items outcome.restarts)
                  :if (in name (get tool.traits "restarts"))
                  name #(name sentence None)))
  (conditions.Frame #* (.values {"retry" #("retry" "Make the call again." 0)
                                 "use-value" #("use-value" "Give a value in place of the result." 1)
                                 #** own})))

(defn _taken [frame error]
  "Return what the restart of FRAME that ERROR brings means: #(more arguments, None) to call again, or #(None value).
Any other ERROR goes on up."
  (.leave frame)
  (setv unwind (.own frame error))
  (cond
    (is unwind None) (raise error)
    (is-not (get frame.counts unwind.name) None)
      (if (= unwind.name "retry") #({} None) #(None (get unwind.args 0)))
    True #({"restart" unwind.name #** (if unwind.args {"restart_value" (get unwind.args 0)} {})} None)))
