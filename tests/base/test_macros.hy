"The defining macros keep state over reloads, keep docs, and need nothing imported by their users."

(import
  sys
  types
  pytest
  autolith.base [macros])

(defn load [module text]
  "Evaluate the forms of TEXT in MODULE, the macros required first."
  (hy.eval '(require autolith.base.macros [defonce defparameter]) :module module)
  (hy.eval (hy.read-many text) :module module))

(defn [pytest.fixture] module [monkeypatch]
  "A module of its own, listed as loaded."
  (setv m (types.ModuleType "autolith.scratch-macros"))
  (monkeypatch.setitem sys.modules m.__name__ m)
  m)

(defn test-defonce-keeps-the-first-value [module]
  "A second load neither rebinds nor evaluates."
  (setv text "(setv runs (+ 1 (.get (globals) \"runs\" 0))) (defonce the-log (do (setv made runs) [runs]) \"What happened.\")")
  (load module text)
  (.append module.the-log "kept")
  (load module text)
  (assert (= [module.the-log module.made module.runs] [[1 "kept"] 1 2])))

(defn test-defparameter-takes-the-newest-value [module]
  "A parameter is rebound by each definition and keeps its newest documentation."
  (load module "(defparameter max-steps 3 \"Steps in a turn.\")")
  (load module "(defparameter max-steps 4 \"Steps in one turn.\")")
  (assert (= module.max-steps 4))
  (assert (= (lfor r (macros.parameters) :if (= (get r "module") module.__name__) r)
             [{"module" module.__name__ "name" "max-steps" "value" 4 "doc" "Steps in one turn."}])))

(defn test-kept-state-is-listed-too [module]
  "What defonce bound is listed apart from parameters, with its doc."
  (load module "(defonce the-log [] \"What happened.\")")
  (setv rows (lfor r (macros.parameters "__kept__") :if (= (get r "module") module.__name__) r))
  (assert (= (lfor r rows [(get r "name") (get r "value") (get r "doc")]) [["the-log" [] "What happened."]])))

(defn test-odd-names-are-mangled-once [module]
  "A name that Python cannot spell is kept and listed under its Hy name."
  (load module "(defonce ready? 1 \"R\") (defonce ready? 2 \"R\") (defparameter a->b 5)")
  (assert (= (getattr module (hy.mangle "ready?")) 1))
  (assert (= (lfor r (macros.parameters) :if (= (get r "module") module.__name__) [(get r "name") (get r "value")])
             [["a->b" 5]])))
