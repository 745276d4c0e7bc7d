"A redefinition reaches whoever holds the old definition, is undone exactly, and is refused before it would do harm."

(import
  asyncio
  enum
  functools
  re
  threading
  time
  pytest
  autolith.image [definitions install]
  tests.image [lib]
  tests.image.lib [tree])

(defn collect [thunk]
  "Return what THUNK gives, run to its end whatever it is, or the error it raises."
  (try
    (_run (thunk))
    (except [e Exception] [(. (type e) __name__) (str e)])))

(defn _run [x]
  "Return X awaited, or its items, or itself."
  (cond
    (asyncio.iscoroutine x) (asyncio.run (_await x))
    (hasattr x "__aiter__") (asyncio.run (_items x))
    (hasattr x "__next__") (list x)
    True x))

(defn :async _await [x] (await x))
(defn :async _items [x] (lfor :async i x i))

(setv CLOSURE "(import functools [wraps lru-cache partial] contextlib [contextmanager])
(defn times [n] (fn [f] (defn [(wraps f)] g [#* a] (* n (f #* a))) g))
(defn counter [start] (setv n start) (defn tick [x] (nonlocal n) (+= n x) n) tick)
(defn base [x] (+ x 1))
")

;; name, old, new, how the new one is installed
(setv ROWS [
  ["plain to plain" "(defn f [x] (+ x 1))" "(defn f [x] (* x 10))" "changed in place"]
  ["other parameters" "(defn f [x] (+ x 1))" "(defn f [x [y 5] * [z 2]] (+ x y z))" "changed in place"]
  ["plain to generator" "(defn f [x] (+ x 1))" "(defn f [x] (yield x) (yield (+ x 1)))" "changed in place"]
  ["plain to async" "(defn f [x] (+ x 1))" "(defn :async f [x] (* x 3))" "changed in place"]
  ["plain to async generator" "(defn f [x] (+ x 1))" "(defn :async f [x] (yield x))" "changed in place"]
  ["generator to plain" "(defn f [x] (yield x))" "(defn f [x] [x])" "changed in place"]
  ["async to async" "(defn :async f [x] x)" "(defn :async f [x] (- x))" "changed in place"]
  ["async to plain" "(defn :async f [x] x)" "(defn f [x] (- x))" "changed in place"]
  ["async generator to generator" "(defn :async f [x] (yield x))" "(defn f [x] (yield (- x)))" "changed in place"]
  ["decorated, other argument" "(defn [(times 2)] f [x] (+ x 1))" "(defn [(times 5)] f [x] (+ x 2))" "changed in place"]
  ["plain to decorated" "(defn f [x] (+ x 1))" "(defn [(times 5)] f [x] (+ x 2))" "changed in place"]
  ["decorated to plain" "(defn [(times 2)] f [x] (+ x 1))" "(defn f [x] (- x))" "changed in place"]
  ["decorated to async" "(defn [(times 2)] f [x] (+ x 1))" "(defn :async f [x] (- x))" "changed in place"]
  ["decorated to generator" "(defn [(times 2)] f [x] (+ x 1))" "(defn f [x] (yield (- x)))" "changed in place"]
  ["closure state" "(setv f (counter 10))" "(setv f (counter 100))" "changed in place"]
  ["cached" "(defn [(lru-cache 4)] f [x] (+ x 1))" "(defn [(lru-cache 4)] f [x] (+ x 7))" "changed in place"]
  ["cached, other size" "(defn [(lru-cache 4)] f [x] (+ x 1))" "(defn [(lru-cache 9)] f [x] (+ x 7))" "rebound"]
  ["partial" "(setv f (partial max 3))" "(setv f (partial min 4))" "changed in place"]
  ["function to class" "(defn f [x] (+ x 1))"
   "(defclass f [] (defn __init__ [self x] None) (defn __str__ [self] \"i\") (defn __eq__ [self o] True))" "rebound"]
  ["constant function" "(defn f [x] 1)" "(defn f [x] 2)" "changed in place"]])

(defn [(pytest.mark.parametrize "name,old,new,how" ROWS)] test-functions [tree name old new how]
  "Each kind of function becomes each other: aliases and tables follow, and an undo gives back the old behaviour, twice."
  (setv module (lib.load tree "zoo.rows" (+ CLOSURE old))
        alias module.f
        held {"f" module.f})
  (for [round ["one" "two"]]
    (setv fresh (lib.load tree f"zoo.fresh_{round}" (+ CLOSURE new))
          was (collect (fn [] (alias 4)))
          change (definitions.redefine new :where "zoo.rows"))
    (assert (= (get change "how") how))
    (setv expected (collect (fn [] (fresh.f 4))))
    (assert (= (collect (fn [] (module.f 4))) expected))
    (when (= how "changed in place")
      (assert (is module.f alias))
      (assert (= (collect (fn [] ((get held "f") 4))) (collect (fn [] (fresh.f 4))))
              "the table's function is the new one"))
    (definitions.undo)
    (assert (is module.f alias))
    (when (!= name "closure state")
      (assert (= (collect (fn [] (alias 4))) was)))))

(defn test-documentation-and-signature-follow [tree]
  "Docstring, annotations and signature are the new ones, and the old ones again after undo."
  (import inspect)
  (setv module (lib.load tree "zoo.doc" "(defn f [#^ int x] \"Old.\" x)")
        alias module.f)
  (definitions.redefine "(defn f [#^ str y * [z 1]] \"New.\" y)")
  (assert (= [alias.__doc__ (str (inspect.signature alias)) alias.__annotations__] ["New." "(y: str, *, z=1)" {"y" str}]))
  (definitions.undo)
  (assert (= [alias.__doc__ (str (inspect.signature alias))] ["Old." "(x: int)"])))

(defn test-twins-follow [tree]
  "What a registering decorator stored from the second definition changes with the third, and is taken back with it."
  (setv text "(setv table {})\n(defn register [f] (setv (get table \"f\") f) f)\n(defn [register] f [] 1)"
        module (lib.load tree "zoo.twins" text)
        seen [(get module.table "f")])
  (defn all-say [] (lfor f [module.f #* seen (get module.table "f")] (f)))
  (definitions.redefine "(defn [register] f [] 2)")
  (.append seen (get module.table "f"))
  (assert (= (set (all-say)) #{2}))
  (definitions.redefine "(defn [register] f [] 3)")
  (.append seen (get module.table "f"))
  (assert (= (set (all-say)) #{3}))
  (definitions.undo)
  (assert (= (set (all-say)) #{2}))
  (definitions.undo)
  (assert (= (set (all-say)) #{1})))

(setv ANIMAL "(import abc)
(defclass Base [] (defn kind [self] \"base\"))
(defclass Animal [Base]
  \"An animal.\"
  (setv legs 4)
  (defn __init__ [self name] (setv self.name name))
  (defn say [self] (+ self.name \"!\"))
  (defn kind [self] (+ \"animal of \" (.kind (super))))
  (defn [classmethod] make [cls] (cls \"made\"))
  (defn [staticmethod] help [] \"old help\")
  (defn [property] loud [self] (.upper self.name))
  (defn gone [self] 1))
(defclass Dog [Animal] (defn say [self] (+ \"woof \" (.say (super)))))
")

(setv NEW-ANIMAL "(defclass Animal [Base]
  \"A new animal.\"
  (setv legs 6  eyes 2)
  (defn __init__ [self name] (setv self.name (+ name \"2\")))
  (defn say [self] (+ self.name \"?\"))
  (defn kind [self] (+ \"new animal of \" (.kind (super))))
  (defn [classmethod] make [cls] (cls \"remade\"))
  (defn [staticmethod] help [] \"new help\")
  (defn [property] loud [self] (.lower self.name))
  (defn fresh [self] __class__))")

(defn test-classes-change-in-place [tree]
  "Live instances, subclasses, bound methods and class attributes follow a class; removed members go; undo brings all back."
  (setv module (lib.load tree "zoo.animals" ANIMAL)
        Animal module.Animal
        cat (Animal "cat")
        dog (module.Dog "rex")
        say cat.say
        make Animal.make)
  (defn state []
    [(say) (.say dog) (.kind cat) (.kind dog) (. (make) name) (Animal.help) cat.loud cat.legs (hasattr cat "eyes")
     (hasattr cat "gone") (hasattr cat "fresh") Animal.__doc__ (isinstance dog Animal) (is (type cat) module.Animal)])
  (setv before (state))
  (for [_ (range 2)]
    (assert (= (get (definitions.redefine NEW-ANIMAL) "how") "changed in place"))
    (assert (= (state) ["cat?" "woof rex?" "new animal of base" "new animal of base" "remade2" "new help" "cat" 6 True
                        False True "A new animal." True True]))
    (assert (is (.fresh cat) Animal))
    (definitions.undo)
    (assert (= (state) before))))

(defn test-except-clauses-and-dataclasses-follow [tree]
  "An exception class redefined is still caught by old clauses; a dataclass may gain a field with a default."
  (setv module (lib.load tree "zoo.errors" "(import dataclasses [dataclass])
(defclass Oops [Exception] (defn __str__ [self] \"old\"))
(defclass [dataclass] Point [] #^ int x)")
        Oops module.Oops  Point module.Point
        point (Point 1))
  (defn caught [] (try (raise (module.Oops)) (except [e Oops] (str e))))
  (definitions.redefine "(defclass Oops [Exception] (defn __str__ [self] \"new\"))")
  (definitions.redefine "(defclass [dataclass] Point [] #^ int x (setv #^ int y 7))")
  (assert (= [(caught) point.y (Point 1 2) (= (Point 1) (module.Point 1))] ["new" 7 (Point 1 2) True]))
  (definitions.undo)
  (definitions.undo)
  (assert (= [(caught) (repr (Point 1)) (hasattr Point "y")] ["old" "Point(x=1)" False])))

(defn test-bases-change-where-python-allows [tree]
  "A class that starts from one of ours may get another base, live; undo gives the old one back."
  (setv module (lib.load tree "zoo.bases" "(defclass A [] (defn m [self] \"a\"))\n(defclass B [] (defn m [self] \"b\"))\n(defclass C [A])")
        c (module.C))
  (definitions.redefine "(defclass C [B])")
  (assert (= [(.m c) (isinstance c module.B)] ["b" True]))
  (definitions.undo)
  (assert (= [(.m c) (isinstance c module.B)] ["a" False])))

(setv REFUSED [
  ["(defclass S [] (setv __slots__ [\"a\"]))" "(defclass S [] (setv __slots__ [\"a\" \"b\"]))"]
  ["(defclass S [])" "(defclass S [] (setv __slots__ [\"a\"]))"]
  ["(defclass S [])" "(defclass S [Exception])"]
  ["(defclass B [] (defn m [self] 1))\n(defclass S [])" "(defclass S [B])"]
  ["(import abc)\n(defclass S [])" "(defclass S [:metaclass abc.ABCMeta])"]
  ["(defclass S [] (defclass T [] (setv __slots__ [\"a\"])))" "(defclass S [] (setv n 1) (defclass T [] (setv __slots__ [\"b\"])))"]])

(defn [(pytest.mark.parametrize "old,new" REFUSED)] test-refusals-change-nothing [tree old new]
  "What live instances could not follow is refused with a reason, and the class is exactly what it was."
  (setv module (lib.load tree "zoo.refused" old)
        before (dict (vars module.S))
        count (len definitions.journal))
  (with [e (pytest.raises install.Refused)]
    (definitions.redefine new :where "zoo.refused"))
  (assert (re.match "[ST]: " (str e.value)))
  (assert (= (dict (vars module.S)) before))
  (assert (= (len definitions.journal) count)))

(defn test-a-wrapper-of-itself-is-refused-or-rebound [tree]
  "A new definition that calls the old one, by another name or its closure, is not made to call itself."
  (setv module (lib.load tree "zoo.circle" "(defn f [] 1)\n(setv saved f)\n(defn twice [g] (fn [] (* 2 (g))))"))
  (with [(pytest.raises install.Refused)] (definitions.redefine "(defn f [] (+ 1 (saved)))" :where "zoo.circle"))
  (assert (= (module.f) 1))
  (setv change (definitions.redefine "(setv f (twice f))" :where "zoo.circle"))
  (assert (= [(get change "how") (module.f) (module.saved)] ["rebound" 2 1]))
  (definitions.undo)
  (assert (= (module.f) 1)))

(defn test-enums-and-values-are-rebound [tree]
  "An enum or a plain value is bound anew in its module, and in ours that hold it by the same name; small constants elsewhere stay."
  (setv module (lib.load tree "zoo.values" "(import enum [Enum])\n(defclass Color [Enum] (setv RED 1))\n(setv table {\"a\" 1} LIMIT 16)")
        user (lib.load tree "zoo.users" "(import autolith.zoo.values [Color table])\n(setv LIMIT 16)"))
  (assert (= (get (definitions.redefine "(defclass Color [Enum] (setv BLUE 2))") "how") "rebound"))
  (definitions.redefine "(setv table {\"b\" 2})" :where "zoo.values")
  (definitions.redefine "(setv LIMIT 20)" :where "zoo.values")
  (assert (= [module.Color user.Color user.table module.LIMIT user.LIMIT] [user.Color module.Color {"b" 2} 20 16]))
  (for [_ (range 3)] (definitions.undo))
  (assert (= [module.Color.RED.value user.table module.LIMIT] [1 {"a" 1} 16])))

(defn test-who-holds-an-old-value-is-said [tree]
  "When a value can only be bound anew, the change names containers that keep the old one."
  (setv module (lib.load tree "zoo.held" "(import functools [lru-cache])\n(defn f [] 1)\n(setv keep [f])")
        change (definitions.redefine "(defclass f [])"))
  (assert (= (get change "how") "rebound"))
  (assert (any (gfor h (get change "holders") (in "list" h)))))

(defn test-a-failing-definition-changes-nothing [tree]
  "A definition whose decorator raises, or that does not compile, leaves module, macros and journal as they were."
  (setv module (lib.load tree "zoo.fails" "(defn f [] 1)\n(defn bad [f] (raise (ValueError \"no\")))")
        before (dict (vars module))
        count (len definitions.journal))
  (for [[source error] [["(defn [bad] f [] 2)" ValueError]
                        ["(defn f [] (setv 3 4))" Exception]
                        ["(defn f [] (eval-and-compile (defn helper [] 1)) (raise-nothing" Exception]
                        ["(do (defn f [] 2))" definitions.Unknown]]]
    (with [(pytest.raises error)] (definitions.redefine source :where "zoo.fails")))
  (setv after (dict (vars module)))
  (for [table [before after]] (.pop table "_hy_macros" None) (.pop table "_lent_macros" None))
  (assert (= after before))
  (assert (= (len definitions.journal) count)))

(defn test-running-frames-see-new-steps [tree]
  "A loop that is running calls the new step; its own frame goes on with the old body."
  (setv module (lib.load tree "zoo.loops" "(setv going [True] seen (set))
(defn step [] 1)
(defn run [] (while (get going 0) (.add seen (step))) \"old\")")
        result []
        thread (threading.Thread :target (fn [] (.append result (module.run)))))
  (.start thread)
  (definitions.redefine "(defn step [] 2)" :where "zoo.loops")
  (definitions.redefine "(defn run [] \"new\")" :where "zoo.loops")
  (setv end (+ (time.monotonic) 10))
  (while (and (not-in 2 module.seen) (< (time.monotonic) end)) (time.sleep 0.001))
  (setv (get module.going 0) False)
  (.join thread 10)
  (assert (in 2 module.seen))
  (assert (= [result (module.run)] [["old"] "new"])))

(defn test-threads-never-see-a-mixture [tree]
  "While four threads call a function that is redefined and undone, each call gives one whole definition's answer."
  (setv module (lib.load tree "zoo.hammer" "(defn f [a [b 1] * [c 2]] [\"one\" a b c])")
        alias module.f  wrong []  going [True])
  (defn hammer []
    (while (get going 0)
      (try
        (setv x (alias 0))
        (when (not-in x [["one" 0 1 2] ["two" 0 10 20 30]]) (.append wrong x))
        (except [e Exception] (.append wrong (repr e))))))
  (setv threads (lfor _ (range 4) (threading.Thread :target hammer)))
  (for [t threads] (.start t))
  (try
    (for [_ (range 40)]
      (definitions.redefine "(defn f [a [b 10] * [c 20] [d 30]] [\"two\" a b c d])" :where "zoo.hammer")
      (definitions.undo))
    (finally
      (setv (get going 0) False)
      (for [t threads] (.join t 10))))
  (assert (= wrong [])))

(defn test-many-live-instances-do-not-matter [tree]
  "Redefining a class does not visit its instances: with two hundred thousand of them it is as it is with none."
  (setv module (lib.load tree "zoo.many" "(defclass Cell [] (defn say [self] 1))")
        cells (lfor _ (range 200000) (module.Cell)))
  (definitions.redefine "(defclass Cell [] (defn say [self] 2))")
  (assert (= (sum (gfor c cells (.say c))) 400000)))

(defn test-an-interrupt-waits-for-the-journal [tree]
  "Ctrl-C in the middle of an install arrives after the journal has it, so nothing is installed unrecorded."
  (import os signal)
  (setv module (lib.load tree "zoo.interrupt" "(defn f [] 1)"))
  (defn hook [entry] (os.kill (os.getpid) signal.SIGINT) (time.sleep 0.01))
  (.append definitions.installed-hooks hook)
  (try
    (with [(pytest.raises KeyboardInterrupt)]
      (definitions.redefine "(defn f [] 2)" :where "zoo.interrupt"))
    (finally (.remove definitions.installed-hooks hook)))
  (setv recorded (bool (definitions.changes)))
  (assert (= recorded (= (module.f) 2))))

(defn test-a-journal-that-cannot-be-written-undoes [tree]
  "A hook that fails, as on a full disk, leaves the old definition in force and nothing in the journal."
  (setv module (lib.load tree "zoo.full" "(defn f [] 1)"))
  (defn hook [entry] (raise (OSError "no space")))
  (.append definitions.installed-hooks hook)
  (try
    (with [(pytest.raises OSError)] (definitions.redefine "(defn f [] 2)" :where "zoo.full"))
    (finally (.remove definitions.installed-hooks hook)))
  (assert (= [(module.f) (list (definitions.changes))] [1 []])))
