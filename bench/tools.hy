"What a tool call costs beside the function it runs: `python -m hy bench/tools.hy`.

The comparison is the same work without the tool: awaiting the bare coroutine function on the loop, crossing from main to the
loop and back, and the standard json module over the same arguments."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  json
  os
  sys)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(import
  autolith.base [threads]
  autolith.tool [call-form context registry result]
  bench [_measure :as measure])

(setv ROUNDS 300
      CHANGE {"uri" "workspace:a.py" "base_revision" "R1"
              "operations" (lfor i (range 8) {"op" "replace-lines" "start_line" i "end_line" i "content" "x = 1\n"})})

(deftool bench.echo [#^ str text * #^ int [count 1] #^ (get list dict) [rows []]]
  "Give the text back."
  {:effect "read"}
  text)

(defn many [thunk]
  "Return a thunk that runs THUNK, which makes a coroutine, many times on the loop, in one crossing."
  (defn :async all []
    (for [_ (range ROUNDS)] (await (thunk))))
  (fn [] (threads.on-loop (all))))

(defn crossing []
  "Return a thunk that crosses to the loop and back many times."
  (defn :async nothing [] None)
  (fn [] (for [_ (range ROUNDS)] (threads.on-loop (nothing)))))

(defn main []
  "Print every row; return 1 if a budget was not kept."
  (setv caller (context.ToolContext)
        tool (registry.find "bench.echo")
        arguments {"text" "hello" "count" 3 "rows" [CHANGE]}
        data (json.dumps CHANGE))
  (int (not (all
    [(measure.report f"registry.call, {ROUNDS} calls" (many (fn [] (registry.call "bench_echo" arguments caller)))
                   (many (fn [] (tool.function #** arguments))) 400)
     (measure.report f"a tool called by code, {ROUNDS} calls" (fn [] (for [_ (range ROUNDS)] (tool "hello" :count 3)))
                   (crossing) 3)
     (measure.report "call form of an edit" (fn [] (for [_ (range ROUNDS)] (call-form.render "resource_edit" CHANGE)))
                   (fn [] (for [_ (range ROUNDS)] (json.dumps (json.loads data)))) 20)
     (measure.report "declarations" (fn [] (for [_ (range ROUNDS)] (registry.declarations)))
                   (fn [] (for [_ (range ROUNDS)] (json.dumps (registry.declarations)))) 1)]))))

(when (= __name__ "__main__")
  (sys.exit (main)))
