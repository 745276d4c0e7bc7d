"What the tool tests share: the tables put back after each test, and calls as the model makes them."

(import
  pytest
  autolith.base [threads]
  autolith.tool [context registry])

(defn [pytest.fixture] tools []
  "Let a test define tools, and put the tables back after it."
  (setv before (registry.snapshot))
  (yield registry)
  (registry.restore before))

(defn run [coroutine]
  "Return what COROUTINE gives on the loop."
  (threads.on-loop coroutine))

(defn call [name [arguments None] #** about]
  "Return the result of calling the tool NAME with ARGUMENTS as the model does, in a context of ABOUT."
  (run (registry.call name (if (is arguments None) {} arguments)
                      (context.ToolContext :origin "model" #** about))))
