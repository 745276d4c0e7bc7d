"Names come when they are wanted: offered ones, hyrule's macros, and those of modules that are entered."

(import
  json
  subprocess
  sys
  pytest
  hy
  hyrule
  autolith.image [evaluate namespace registries]
  tests.image [lib]
  tests.image.lib [tree])

(defn [(pytest.fixture :autouse True)] clean []
  "Put registries back afterwards."
  (import autolith.image [layers])
  (setv before (registries.take)
        finders (list namespace.finders))
  (yield)
  (registries.give before)
  (setv (cut namespace.finders) finders)
  (namespace.in-module))

(defn in-child [source]
  "Return what SOURCE, Python, prints in a process of its own, as JSON."
  (json.loads (subprocess.check-output [(getattr hy "sys_executable" sys.executable) "-c" source] :text True)))

(defn test-start-up-imports-little []
  "The evaluator and the layers, and evaluating a form, load neither asyncio nor hyrule nor anything else that is heavy."
  (setv heavy ["asyncio" "hyrule" "httpx" "rich" "prompt_toolkit" "concurrent.futures" "dataclasses" "logging" "hypothesis"
               "autolith.image.definitions" "autolith.image.advice" "autolith.image.install" "autolith.base.threads" "ctypes"]
        loaded (in-child (+ "import sys, json, hy; had = set(sys.modules); import autolith.image.evaluate as e, autolith.image.layers as l; "
                            "faults = l.load(); r = e.run('(+ 1 (len [2]))'); "
                            f"print(json.dumps([faults, r['values'], [m for m in {(repr heavy)} if m in set(sys.modules) - had]]))")))
  (assert (= loaded [[] ["2"] []])))

(defn test-hyrule-comes-with-its-first-macro []
  "hyrule is imported by the first form that uses one of its macros, not by a name that merely looks like one."
  (setv script "import sys, json, hy; import autolith.image.evaluate as e
out = []
for s in ['(setv unless 3) unless', '(defn f [case] (case 1)) (f str)', \"'(unless False 1)\", '(unless False 7)']:
    r = e.run(s); out.append([r['values'][-1:], 'hyrule' in sys.modules])
    e.run('(do (try (del unless) (except [NameError])) None)')
print(json.dumps(out))")
  (assert (= (in-child script) [[["3"] False] [["\"1\""] False] [["'(unless False 1)"] False] [["7"] True]])))

(defn test-the-list-of-hyrules-macros-is-true []
  "The names by which hyrule is recognised are the macros that it exports."
  (assert (= (sorted namespace.hyrule-macros) (sorted (map hy.unmangle hyrule._hy-macros)))))

(setv USES [
  ["(-> 3 (+ 4) str)" "7"] ["(defn f [x] (unless x \"no\")) (f 0)" "no"] ["(defmacro m [x] `(unless ~x 5)) (m False)" 5]
  ["(loop [[n 3] [acc 1]] (if (= n 0) acc (recur (- n 1) (* acc n))))" 6]
  ["(case 2 1 \"a\" 2 \"b\")" "b"] ["(lfor x [1] (doto [x] (.append 2)))" [[1 2]]]
  ["(defn unless [x] (* x 2)) (unless 4)" 8]])

(defn [(pytest.mark.parametrize "source,expected" USES)] test-hyrules-macros-work [source expected]
  "hyrule's macros work at the prompt, in functions, in macros' expansions, and give way to the user's definitions."
  (assert (= (lib.value source) expected)))

(defn test-a-users-function-takes-over-from-a-lent-macro []
  "After hyrule's macro was used, a function of that name that the user defines is what is called."
  (assert (= (lib.value "(unless False 1)") 1))
  (assert (= (lib.value "(defn unless [a b] [a b]) (unless False 1)") [False 1])))

(defn test-a-misplaced-recur-is-an-error []
  "A recur that would silently end the loop, because it is not in tail position, is refused with the reason."
  (for [body ["(when (< i 3) (recur (+ i 1)) \"early\")" "(try (recur (+ i 1)) (except [E] 1))" "(+ 1 (recur (+ i 1)))"
              "(with [f (open \"x\")] (recur i))"
              "[(recur i)]" "(if (recur i) 1 2)"]]
    (setv condition (lib.condition f"(loop [[i 0]] {body})"))
    (assert (in "recur" (get condition "message"))))
  (assert (= (lib.value "(loop [[i 0]] (cond (< i 3) (recur (+ i 1)) True (loop [[j i]] (if (< j 9) (recur (+ j 1)) j))))") 9))
  (assert (= (lib.value "(loop [[i 0]] (if (< i 3) (do 1 (recur (+ i 1))) (let [k i] (+ k 1))))") 4)))

(defn test-offers-are-lazy []
  "An offered name's thunk runs at the first look-up only; a binding of the user's hides it until it is deleted."
  (setv runs [])
  (namespace.offer "lazy-thing" (fn [] (.append runs 1) ["value"]))
  (assert (= runs []))
  (assert (= (lib.value "[lazy-thing (is lazy-thing lazy-thing)]") [["value"] True]))
  (assert (= runs [1]))
  (assert (= (lib.value "(setv lazy-thing 3) lazy-thing") 3))
  (assert (= (lib.value "(del lazy-thing) lazy-thing") ["value"]))
  (namespace.offer "lazy-thing" (fn [] "newer"))
  (assert (= (lib.value "lazy-thing") "newer"))
  (namespace.withdraw "lazy-thing")
  (assert (= (get (lib.condition "lazy-thing") "type") "NameError")))

(defn test-an-offer-may-hide-a-builtin []
  "An offered name may be one of Python's builtins; withdrawn, the builtin is back."
  (namespace.offer "help" (fn [] "ours"))
  (assert (= (lib.value "help") "ours"))
  (namespace.withdraw "help")
  (assert (is (lib.value "help") help)))

(defn test-an-offer-that-fails []
  "A thunk that raises shows its own error, and is tried again at the next look-up."
  (setv runs [])
  (defn thunk [] (.append runs 1) (if (= (len runs) 1) (raise (ImportError "not there")) 7))
  (namespace.offer "shaky" thunk)
  (assert (= (get (lib.condition "shaky") "type") "ImportError"))
  (assert (= (lib.value "shaky") 7)))

(defn test-names-that-collide-are-refused []
  "Two spellings of one name, core macros, and what is no name cannot be offered; the error names what was first."
  (namespace.offer "tool-a" (fn [] 1))
  (with [e (pytest.raises namespace.NameTaken)] (namespace.offer "tool_a" (fn [] 2)))
  (assert (in "tool-a" (str e.value)))
  (for [name ["get" "defn" "" "(" "a b" "a.b" "for" "let"]]
    (with [(pytest.raises namespace.NameTaken)] (namespace.offer name (fn [] 2))))
  (namespace.offer "tool-a" (fn [] 3))
  (assert (= (lib.value "tool-a") 3))
  (namespace.offer "ready?" (fn [] 4))
  (assert (= (lib.value "ready?") 4)))

(defn test-finders-come-after-offers []
  "A finder is asked for names that nobody offered, once a name; what it does not know signals."
  (setv asked [])
  (.append namespace.finders (fn [name] (.append asked name) #((= name "found-thing") 42)))
  (assert (= (lib.value "[found-thing found-thing]") [42 42]))
  (assert (= asked ["found-thing"]))
  (assert (= (get (lib.condition "never-found") "type") "NameError")))

(defn test-offered-macros []
  "A macro that is offered is required from its module when a form first uses it."
  (assert (= (lib.value "(defonce kept-thing [1]) (defonce kept-thing [2]) (defparameter a-policy 3 \"P\") [kept-thing a-policy]")
             [[1] 3]))
  (assert (= (lib.value "(handler-bind [AutolithError (fn [c] (invoke-restart \"skip\"))]
                           (restart-case (signal (AutolithError \"x\")) (skip [] \"skipped\")))")
             "skipped")))

(defn test-names-list-what-can-be-typed []
  "The list of names has the user's own, what is offered, and macros, in Hy's spelling."
  (namespace.offer "an-offer" (fn [] 1))
  (lib.value "(setv my-own? 1) (defmacro my-macro [] 1)")
  (assert (<= #{"an-offer" "my-own?" "my-macro" "redefine" "advise" "in-module"} (set (namespace.names)))))

(defn test-the-users-module-is-real []
  "autolith.user can be imported, and what it defines can be pickled and found by name."
  (import pickle)
  (lib.value "(defclass Thing [] (setv x 1)) (setv thing (Thing))")
  (import autolith.user)
  (assert (is autolith.user (namespace.user)))
  (assert (isinstance (pickle.loads (pickle.dumps autolith.user.thing)) autolith.user.Thing)))

(defn test-builtins-work-as-ever []
  "Classes, imports, comprehensions, super and globals behave as in any module."
  (assert (= (lib.value "(defclass A [] (defn m [self] 1)) (defclass B [A] (defn m [self] (+ 1 (.m (super))))) (.m (B))") 2))
  (assert (= (lib.value "(sum (lfor x (range 3) (do (setv y x) (* y 2))))") 6))
  (assert (= (lib.value "(in \"range\" (globals))") False))
  (assert (= (lib.value "(try (eval \"no_such + 1\") (except [e NameError] \"name\"))") "name")))

(defn test-entering-a-module-that-fails-to-load [tree]
  "A module that raises while it loads shows its own error; the prompt stays where it was."
  (lib.write-module tree "zoo.broken" "(/ 1 0)")
  (assert (= (get (lib.condition "(in-module \"zoo.broken\")") "type") "ZeroDivisionError"))
  (assert (is (namespace.current) (namespace.user))))

(defn test-wake-stops-at-the-first-definition [tree]
  "Waking a module runs its compile-time forms once, not its definitions."
  (setv module (lib.load tree "zoo.woken" "(eval-when-compile (setv counted (+ 1 (.get (globals) \"counted\" 0))))
(setv loads [])\n(defn f [] 1)\n(eval-when-compile (setv late 1))"))
  (setv before (.get (vars module) "counted" 0))
  (namespace.wake module)
  (namespace.wake module)
  (assert (= (- module.counted before) 1)))
