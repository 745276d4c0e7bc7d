"Advice reaches every holder, is kept by key and in order, stays through redefinitions, and goes without a trace."

(import
  asyncio
  inspect
  pytest
  hypothesis [settings strategies :as st]
  hypothesis.stateful [RuleBasedStateMachine initialize precondition rule invariant]
  autolith.image [advice definitions install targets]
  tests.image [lib]
  tests.image.lib [tree])

(setv TEXT "(defn f [x] (+ x 1))
(defn :async later [x] (+ x 1))
(defn numbers [n] (for [i (range n)] (yield i)) \"end\")
(defn :async stream [n] (for [i (range n)] (yield i)))
(defclass Box [] (defn m [self x] [\"m\" x])
  (defn [staticmethod] s [x] [\"s\" x]) (defn [classmethod] c [cls x] [\"c\" x]) (defn [property] p [self] \"p\"))
(import functools [lru-cache])
(defn [(lru-cache)] cached [x] (+ x 1))
(defn calls-f [x] (f x))")

(defn [pytest.fixture] zoo [tree]
  "A module with functions of each kind."
  (lib.load tree "zoo.advised" TEXT))

(defn wrap [left right]
  "Return around-advice that puts the value between LEFT and RIGHT."
  (fn [f #* args #** kwargs] f"{left}{(f #* args #** kwargs)}{right}"))

(defn test-each-way [zoo]
  "Around, before, after and both filters do what they say, for aliases, tables and callers alike."
  (setv alias zoo.f  seen [])
  (for [[how function expected]
        [["around" (fn [f x] [(f (* 2 x))]) [7]]
         ["before" (fn [x] (.append seen ["before" x])) 4]
         ["after" (fn [value x] (.append seen ["after" value x])) 4]
         ["filter_arguments" (fn [x] #([(- x)] {})) -2]
         ["filter_result" (fn [value] (str value)) "4"]]]
    (advice.advise "zoo.advised.f" function #** {how "k"})
    (assert (= [(zoo.f 3) (alias 3) (zoo.calls-f 3)] [expected expected expected]) how)
    (advice.unadvise "zoo.advised.f" "k"))
  (assert (= [(zoo.f 3) (cut seen 2) (get seen 3)] [4 [["before" 3] ["before" 3]] ["after" 4 3]])))

(defn test-order-and-keys [zoo]
  "The newest is outermost, the same key replaces in its place, and the list says so."
  (for [key ["a" "b" "c"]]
    (advice.advise "zoo.advised.f" (wrap key key) :around key))
  (assert (= (zoo.f 1) "cba2abc"))
  (advice.advise "zoo.advised.f" (wrap "B" "B") :around "b")
  (assert (= (zoo.f 1) "cBa2aBc"))
  (assert (= (lfor r (advice.advice "zoo.advised.f") (get r "key")) ["c" "b" "a"]))
  (advice.unadvise "zoo.advised.f" "c")
  (assert (= (zoo.f 1) "Ba2aB"))
  (assert (in "zoo.advised.f" (.__autolith_text__ (advice.advice)))))

(defn test-removal-is-exact [zoo]
  "After the last advice is gone, code, defaults, attributes and signature are the very ones from before."
  (setv f zoo.f  f.mark "kept"
        before [f.__code__ f.__defaults__ f.__kwdefaults__ f.__doc__ (dict (vars f)) (str (inspect.signature f))])
  (advice.advise f (wrap "" "") :around "k")
  (assert (= (str (inspect.signature f)) (get before -1)))
  (advice.unadvise f "k")
  (assert (= [f.__code__ f.__defaults__ f.__kwdefaults__ f.__doc__ (dict (vars f)) (str (inspect.signature f))] before))
  (assert (not-in f install.behind))
  (assert (= (list (advice.advice)) [])))

(defn test-redefinition-in-either-order [zoo]
  "Advice stays when what it wraps is redefined, applies when it comes after, and undo and removal commute."
  (setv alias zoo.f)
  (advice.advise "zoo.advised.f" (wrap "<" ">") :around "k")
  (definitions.redefine "(defn f [x] (* x 100))" :where "zoo.advised")
  (assert (= (alias 2) "<200>"))
  (definitions.undo)
  (assert (= (alias 2) "<3>"))
  (definitions.redefine "(defn f [x [y 5]] (* x y))" :where "zoo.advised")
  (advice.unadvise "zoo.advised.f" "k")
  (assert (= (alias 2) 10))
  (advice.advise "zoo.advised.f" (wrap "[" "]") :around "k")
  (definitions.undo)
  (assert (= (alias 2) "[3]"))
  (advice.unadvise "zoo.advised.f" "k")
  (assert (= (alias 2) 3)))

(defn test-redefined-as-something-else [zoo]
  "When the target becomes a class, which can only be bound anew, the advice is carried over; undo carries it back."
  (setv old zoo.f)
  (advice.advise "zoo.advised.f" (wrap "<" ">") :around "k")
  (definitions.redefine "(defclass f [] (defn __init__ [self x] (setv self.x x)) (defn __str__ [self] (str self.x)))" :where "zoo.advised")
  (assert (= (zoo.f 5) "<5>"))
  (definitions.undo)
  (assert (is zoo.f old))
  (assert (= (zoo.f 5) "<6>"))
  (advice.unadvise "zoo.advised.f" "k")
  (assert (= (zoo.f 5) 6)))

(defn test-decorated-redefinition-of-the-advised [zoo]
  "A definition with other free variables is advised too, and what registered it calls the advised one."
  (setv alias zoo.f  zoo.table {})
  (defn register [f] (setv (get zoo.table 1) f) (fn [x] (f x)))
  (setv zoo.register register)
  (advice.advise "zoo.advised.f" (wrap "<" ">") :around "k")
  (definitions.redefine "(defn [register] f [x] (* x 7))" :where "zoo.advised")
  (assert (= [(alias 2) (zoo.f 2)] ["<14>" "<14>"]))
  (definitions.redefine "(defn f [x] (* x 8))" :where "zoo.advised")
  (assert (= [(alias 2) (zoo.f 2)] ["<16>" "<16>"]))
  (definitions.undo)
  (definitions.undo)
  (assert (= [(alias 2) (zoo.f 2)] ["<3>" "<3>"])))

(defn test-coroutines [zoo]
  "A coroutine function stays one; its advice may be a coroutine function or a plain one."
  (setv order [])
  (defn :async slowly [f #* args] (await (asyncio.sleep 0)) (.append order "around") (* 10 (await (f #* args))))
  (defn plainly [#* args] (.append order "before"))
  (defn :async after [value #* args] (.append order value))
  (advice.advise "zoo.advised.later" slowly :around "a")
  (advice.advise "zoo.advised.later" plainly :before "b")
  (advice.advise "zoo.advised.later" after :after "c")
  (advice.advise "zoo.advised.later" (fn [v] (- v)) :filter-result "d")
  (assert (inspect.iscoroutinefunction zoo.later))
  (assert (= (asyncio.run (zoo.later 1)) -20))
  (assert (= order ["before" "around" 20])))

(defn test-coroutine-advice-on-a-plain-function-is-refused [zoo]
  "Nobody would await it; the refusal says so, and nothing is changed."
  (defn :async g [f x] x)
  (with [(pytest.raises advice.CannotAdvise)] (advice.advise "zoo.advised.f" g :around "k"))
  (assert (= [(zoo.f 1) (list (advice.advice))] [2 []])))

(defn test-generators [zoo]
  "Around a generator the value is what it will yield from; sends and the return value pass through; streams alike."
  (defn more [f n] (yield "first") (setv r (yield :from (f n))) (yield r))
  (defn :async more-later [f n] (yield "first") (for [:async x (f n)] (yield x)))
  (setv ended [])
  (advice.advise "zoo.advised.numbers" more :around "a")
  (advice.advise "zoo.advised.numbers" (fn [value n] (.append ended n)) :after "z")
  (advice.advise "zoo.advised.stream" more-later :around "a")
  (defn :async all [xs] (lfor :async x xs x))
  (assert (= (list (zoo.numbers 2)) ["first" 0 1 "end"]))
  (assert (= ended [2]))
  (assert (= (asyncio.run (all (zoo.stream 2))) ["first" 0 1]))
  (assert (and (inspect.isgeneratorfunction zoo.numbers) (inspect.isasyncgenfunction zoo.stream))))

(defn test-methods-and-caches [zoo]
  "Methods, static and class methods, properties and cached functions are advised in place, for instances that live."
  (setv box (zoo.Box))
  (zoo.cached 1)
  (for [name ["Box.m" "Box.s" "Box.c" "Box.p" "cached"]]
    (advice.advise f"zoo.advised.{name}" (wrap "<" ">") :around "k"))
  (assert (= [(.m box 1) (.s box 1) (zoo.Box.c 1) box.p (zoo.cached 1)]
             ["<['m', 1]>" "<['s', 1]>" "<['c', 1]>" "<p>" "<2>"]))
  (for [name ["Box.m" "Box.s" "Box.c" "Box.p" "cached"]]
    (advice.unadvise f"zoo.advised.{name}" "k"))
  (assert (= [(.m box 1) (.s box 1) (zoo.Box.c 1) box.p (zoo.cached 1)] [["m" 1] ["s" 1] ["c" 1] "p" 2])))

(defn test-libraries-and-builtins [zoo]
  "Library functions are advised in place; one in C is bound anew where it is named, and put back."
  (import textwrap os)
  (setv dedent textwrap.dedent  cwd os.getcwd)
  (advice.advise "textwrap.dedent" (fn [x] "dedented") :filter-result "k")
  (advice.advise "os.getcwd" (fn [x] "here") :filter-result "k")
  (assert (= [(dedent "  x") (os.getcwd)] ["dedented" "here"]))
  (advice.unadvise "textwrap.dedent" "k")
  (advice.unadvise "os.getcwd" "k")
  (assert (= (dedent "  x") "x"))
  (assert (is os.getcwd cwd)))

(defn test-broken-advice-names-its-key [zoo]
  "An error of the advice's own carries its key; one of the function's own does not."
  (advice.advise "zoo.advised.f" (fn [f x] (if (= x 0) (/ 1 0) (f x))) :around "risky")
  (with [e (pytest.raises ZeroDivisionError)] (zoo.f 0))
  (assert (in "risky" (.join " " e.value.__notes__)))
  (with [e (pytest.raises TypeError)] (zoo.f "x"))
  (assert (not (getattr e.value "__notes__" None))))

(defn test-observers-cannot-break [zoo capsys]
  "A broken observer is reported and left out, in every way and around every kind; the function runs exactly once."
  (setv runs [])
  (definitions.redefine "(defn f [x] (.append runs x) (+ x 1))" :where "zoo.advised")
  (setv zoo.runs runs)
  (defn broken [#* args #** kwargs] (raise (ValueError "broken")))
  (defn late [f x] (f x) (raise (ValueError "late")))
  (for [how ["before" "after" "filter_arguments" "filter_result" "around"]]
    (advice.advise "zoo.advised.f" broken #** {how "k" "observer" True})
    (advice.advise "zoo.advised.later" broken #** {how "k" "observer" True})
    (advice.advise "zoo.advised.numbers" broken #** {how "k" "observer" True})
    (assert (= [(zoo.f 1) (asyncio.run (zoo.later 1)) (list (zoo.numbers 2))] [2 2 [0 1]]) how))
  (advice.advise "zoo.advised.f" late :around "k" :observer True)
  (assert (= (zoo.f 1) 2))
  (assert (= runs [1 1 1 1 1 1]))
  (assert (in "'k'" (. (.readouterr capsys) err))))

(defn test-an-observer-does-not-hide-an-error [zoo]
  "When the function itself fails, its error comes out, whatever the observer does with it."
  (defn swallows [f x] (try (f x) (except [TypeError] (raise (ValueError "mine")))))
  (advice.advise "zoo.advised.f" swallows :around "k" :observer True)
  (with [(pytest.raises TypeError)] (zoo.f "x")))

(defn test-wrong-calls [zoo]
  "No way or two ways, no function, no such target and no such key are each refused, naming the way out."
  (for [call [(fn [] (advice.advise "zoo.advised.f" print))
              (fn [] (advice.advise "zoo.advised.f" print :around "a" :before "b"))
              (fn [] (advice.advise "zoo.advised.f" 3 :around "a"))
              (fn [] (advice.unadvise "zoo.advised.f" "none"))]]
    (with [(pytest.raises advice.CannotAdvise)] (call)))
  (for [name ["zoo.advised.ff" "nowhere.at.all" "a..b" ""]]
    (with [(pytest.raises targets.NoTarget)] (advice.advise name print :around "a")))
  (with [e (pytest.raises targets.NoTarget)] (advice.advise "zoo.advised.calls" print :around "a"))
  (assert (in "calls-f" (str e.value))))

(defn test-one-function-by-two-names [zoo tree]
  "A function advised by the name of a module that imported it is the same target."
  (lib.load tree "zoo.importer" "(import autolith.zoo.advised [f])")
  (advice.advise "zoo.advised.f" (wrap "<" ">") :around "a")
  (advice.advise "zoo.importer.f" (wrap "[" "]") :around "b")
  (assert (= (zoo.f 1) "[<2>]"))
  (advice.unadvise "zoo.importer.f" "a")
  (assert (= (zoo.f 1) "[2]")))

(defn test-what-the-user-defines-anew-stays-advised [tree]
  "A function of the user's own, defined again at the prompt, keeps its advice; who holds the old one gets the new one."
  (lib.value "(defn greet [] \"hi\") (setv held [greet]) (advise \"user.greet\" :filter-result \"k\" (fn [x] (+ x \"!\")))")
  (assert (= (lib.value "(defn greet [] \"ho\") [(greet) ((get held 0))]") ["ho!" "ho!"])))

(defn test-tools-stay-advised [tree]
  "A tool is advised by its name at the prompt, for every way of calling it, and stays so when deftool defines it anew."
  (import autolith.tool [registry] autolith.application [surface])
  (surface.install)
  (try
    (lib.value "(deftool zoo.feed [] \"Feed.\" {\"effect\" \"read\"} \"one\") (advise \"zoo.feed\" :filter-result \"k\" (fn [r] (+ \"advised \" r)))")
    (assert (= (lib.value "(. (zoo.feed) text)") "advised one"))
    (lib.value "(deftool zoo.feed [] \"Feed.\" {\"effect\" \"read\"} \"two\")")
    (assert (= (lib.value "(. (zoo.feed) text)") "advised two"))
    (lib.value "(unadvise \"zoo.feed\" \"k\")")
    (assert (= (lib.value "(. (zoo.feed) text)") "two"))
    (finally (registry.forget "zoo.feed"))))

(defn test-threads-and-advice [zoo]
  "While threads call a function that is advised and unadvised, each call gives a whole answer."
  (import threading)
  (setv alias zoo.f  wrong []  going [True])
  (defn hammer []
    (while (get going 0)
      (try
        (setv x (alias 1))
        (when (not-in x [2 "<2>"]) (.append wrong x))
        (except [e Exception] (.append wrong (repr e))))))
  (setv threads (lfor _ (range 3) (threading.Thread :target hammer)))
  (for [t threads] (.start t))
  (try
    (for [_ (range 40)]
      (advice.advise "zoo.advised.f" (wrap "<" ">") :around "k")
      (advice.unadvise "zoo.advised.f" "k"))
    (finally
      (setv (get going 0) False)
      (for [t threads] (.join t 10))))
  (assert (= wrong [])))


;; * Any order of advice, removal, redefinition and undo

(defn redefined? [machine] (> (len machine.bodies) 1))
(defn advised? [machine] (bool machine.rows))

(defclass Interleavings [RuleBasedStateMachine]
  "A model of one function: a stack of definitions, and keyed advice; the function always behaves as the model says."
  (defn __init__ [self]
    (.__init__ (super))
    (import types)
    (setv self.module (types.ModuleType "autolith.machine")
          (get hy.I.sys.modules "autolith.machine") self.module
          self.bodies [0]
          self.rows [])
    (hy.eval (hy.read-many "(defn f [x] [0 x])") :module self.module)
    (setv self.f self.module.f
          self.held [self.module.f]))

  (defn [(rule :form (st.sampled-from ["(defn f [x] [{} x])" "(defn f [x [y {}]] [y x])"
                                       "(setv f (do (setv n {}) (defn make [m] (defn f [x] [m x]) f) (make n)))"]))]
    redefine [self form]
    "Redefine the function; keep what was made."
    (setv n (+ 1 (max self.bodies)))
    (definitions.redefine (.format form n) :where self.module)
    (.append self.held self.module.f)
    (.append self.bodies n))

  (defn [(precondition redefined?)  (rule)] undo [self]
    "Take the newest definition back."
    (definitions.undo)
    (.pop self.bodies)
    None)

  (defn [(rule :key (st.sampled-from "abc") :n (st.integers 0 99))] advise [self key n]
    "Advise under KEY, anew or in its place."
    (advice.advise self.f (fn [f x] [key n (f x)]) :around key)
    (setv row #(key n))
    (if (in key (lfor r self.rows (get r 0)))
      (setv self.rows (lfor r self.rows (if (= (get r 0) key) row r)))
      (.insert self.rows 0 row)))

  (defn [(precondition advised?)  (rule :i (st.integers 0 2))] unadvise [self i]
    "Remove some advice."
    (setv row (get self.rows (% i (len self.rows))))
    (advice.unadvise self.f (get row 0))
    (.remove self.rows row))

  (defn [(invariant)] behaves [self]
    "The function and everything made like it give what the model says."
    (setv expected [(get self.bodies -1) "x"])
    (for [[key n] (reversed self.rows)]
      (setv expected [key n expected]))
    (for [f [self.module.f #* self.held]]
      (assert (= (f "x") expected))))

  (defn teardown [self]
    "Remove what is left."
    (for [[key _] self.rows] (advice.unadvise self.f key))
    (while (> (len self.bodies) 1) (.undo self))
    (assert (= (self.f "x") [0 "x"]))
    (.pop hy.I.sys.modules "autolith.machine")))

(setv Interleavings.TestCase.settings (settings :max-examples 40 :stateful-step-count 15 :deadline None)
      TestInterleavings Interleavings.TestCase)
