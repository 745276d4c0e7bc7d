"Changes to the tree: found by name, listed, taken back in any order that makes sense, and whole modules from their source."

(import
  os
  sys
  pytest
  autolith.base [conditions]
  autolith.image [definers definitions install namespace registries]
  tests.image [lib]
  tests.image.lib [tree])

(defn handler [#* decision]
  "Return a handler that takes the restart of DECISION."
  (fn [condition] (conditions.invoke-restart #* decision)))

(defn test-a-name-finds-its-module [tree]
  "redefine finds the one module of ours that defines the name, loaded or not, however the definition is written."
  (lib.write-module tree "zoo.forms" "(import functools [cache lru-cache])
(defn plain-one [] 1)
(defn :async async-one [] 1)
(defn [cache] decorated-one [] 1)
(defn #^ int annotated-one [] 1)
(defn [(lru-cache 3)
       cache] twice-decorated [] 1)
(defclass ClassOne [])
(defmacro macro-one [] 1)
(setv FIRST-VALUE 1
      SECOND-VALUE 2  third-value 3)
(defn user-of [fourth-value] (setv fourth-value 2) plain-one)")
  (for [name ["plain-one" "async-one" "decorated-one" "annotated-one" "twice-decorated" "ClassOne" "macro-one"
              "FIRST-VALUE" "SECOND-VALUE" "third-value"]]
    (assert (= (definers.find name) ["autolith.zoo.forms"]) name))
  (assert (= [(definers.find "fourth-value") (definers.find "plain-on") (definers.find "lain-one")] [[] [] []]))
  (assert (not-in "autolith.zoo.forms" sys.modules))
  (definitions.redefine "(defn plain-one [] 2)")
  (assert (= ((. (get sys.modules "autolith.zoo.forms") plain-one)) 2)))

(defn test-several-modules-are-asked-about [tree]
  "A name that several modules define is a condition that lists them; use-value or :in says which."
  (setv a (lib.load tree "zoo.a" "(defn shared-name [] 1)")
        b (lib.load tree "zoo.b" "(defn shared-name [] 2)"))
  (setv condition (lib.condition "(redefine (defn shared-name [] 3))"))
  (assert (and (in "zoo.a" (get condition "message")) (in "zoo.b" (get condition "message"))))
  (assert (in "use-value" (dict (get condition "restarts"))))
  (lib.value "(handler-bind [AutolithError (fn [c] (invoke-restart \"use-value\" \"zoo.b\"))] (redefine (defn shared-name [] 3)))")
  (assert (= [(a.shared-name) (b.shared-name)] [1 3]))
  (lib.value "(redefine :in \"zoo.a\" (defn shared-name [] 4))")
  (assert (= [(a.shared-name) (b.shared-name)] [4 3])))

(defn test-unknown-names-and-no-definitions [tree]
  "A name nobody defines is refused with what is near; so is what is no definition; :in makes new names."
  (setv module (lib.load tree "zoo.near" "(defn particular-thing [] 1)"))
  (assert (in "particular-thing" (get (lib.condition "(redefine (defn particular-thin [] 2))") "message")))
  (for [source ["(redefine (+ 1 2))" "(redefine)" "(redefine (defn a [] 1) (defn b [] 1))" "(redefine :in \"zoo.near\")" "(redefine 3)"
                "(redefine :in \"zoo.nowhere\" (defn a [] 1))"]]
    (assert (get (lib.condition source) "message")))
  (assert (= (get (lib.value "(redefine :in \"zoo.near\" (defn wholly-new [] 5))") "how") "new"))
  (assert (= (module.wholly-new) 5))
  (lib.value "(undo)")
  (assert (not (hasattr module "wholly_new"))))

(defn test-the-source-is-what-was-written [tree]
  "A change keeps the text as it was typed, comments and layout included, and tracebacks quote it."
  (lib.load tree "zoo.text" "(defn texty [] 1)")
  (setv text "(defn texty []\n    ; why not\n  (/ 1   0))"
        change (lib.value f"(+ 1 1) (redefine {text}) "))
  (assert (= (get change "source") text))
  (setv condition (lib.condition "(import autolith.zoo.text) (autolith.zoo.text.texty)"))
  (assert (in "(/ 1   0)" (get condition "traceback")))
  (import inspect)
  (assert (= (inspect.getsource (. (get sys.modules "autolith.zoo.text") texty)) text)))

(defn test-changes-and-undo-in-order [tree]
  "changes lists what is in force; undo takes the newest or a named one; what stands on it goes first or with it."
  (setv module (lib.load tree "zoo.order" "(defn f [] 1)\n(defn g [] 1)"))
  (setv [one two three] (lfor source ["(defn f [] 2)" "(defn g [] 2)" "(defn f [] 3)"] (definitions.redefine source :where "zoo.order")))
  (defn ids [] (lfor c (definitions.changes) (get c "id")))
  (assert (= (ids) (lfor c [one two three] (get c "id"))))
  (with [(pytest.raises definitions.Covered)] (definitions.undo (get one "id")))
  (definitions.undo (get two "id"))
  (assert (= [(module.f) (module.g)] [3 1]))
  (setv token (conditions.bind-handlers #(definitions.Covered (handler "undo-later"))))
  (try (definitions.undo (get one "id")) (finally (conditions.unbind-handlers token)))
  (assert (= [(module.f) (ids)] [1 []]))
  (for [id [(get one "id") 999999 None]]
    (with [(pytest.raises definitions.Unknown)] (definitions.undo id)))
  (assert (= (len (definitions.changes True)) 3)))

(defn test-hooks-hear-of-changes-and-undos [tree]
  "The journal's seam: hooks get each change while it is made, and each that is taken back."
  (setv module (lib.load tree "zoo.hooks" "(defn f [] 1)")  heard [])
  (defn installed [c] (.append heard #("installed" (get c "name") (get c "module"))))
  (defn undone [c] (.append heard #("undone" (get c "name"))))
  (.append definitions.installed-hooks installed)
  (.append definitions.undone-hooks undone)
  (try
    (definitions.redefine "(defn f [] 2)" :where "zoo.hooks")
    (definitions.undo)
    (finally
      (.remove definitions.installed-hooks installed)
      (.remove definitions.undone-hooks undone)))
  (assert (= heard [#("installed" "f" "autolith.zoo.hooks") #("undone" "f")])))

(defn test-macros-name-their-callers [tree]
  "Redefining a macro names the compiled callers, which keep the old expansion until they are recompiled; undo restores it."
  (setv macros (lib.load tree "zoo.mac" "(defmacro double [x] `(* 2 ~x))")
        user (lib.load tree "zoo.usermac" "(eval-when-compile (require autolith.zoo.mac [double]))\n(defn f [] (double 5))")
        alias user.f
        change (definitions.redefine "(defmacro double [x] `(* 200 ~x))" :where "zoo.mac"))
  (assert (= (get change "callers") ["zoo.usermac"]))
  (assert (in "recompile" (.__autolith_text__ change)))
  (assert (= (alias) 10))
  (definitions.recompile "zoo.usermac")
  (assert (= (alias) 1000))
  (definitions.undo)
  (definitions.undo)
  (assert (= (alias) 10))
  (definitions.recompile "zoo.usermac")
  (assert (= (alias) 10)))

(defn test-recompile-sees-every-edit [tree]
  "A file rewritten within the same second at the same size is loaded anew, for attributes, imported names and tables alike."
  (setv module (lib.load tree "zoo.edited" "(defn t [n] (+ n 1))\n(setv kept [])")
        user (lib.load tree "zoo.holder" "(import autolith.zoo.edited [t])\n(setv table {\"t\" t})")
        file module.__file__
        times (os.stat file))
  (with [f (open file "w")] (.write f "(defn t [n] (+ n 2))\n(setv kept [])"))
  (os.utime file :ns #(times.st-atime-ns times.st-mtime-ns))
  (definitions.recompile "zoo.edited")
  (assert (= [(module.t 0) (user.t 0) ((get user.table "t") 0)] [2 2 2]))
  (definitions.undo)
  (assert (= [(module.t 0) (user.t 0)] [1 1])))

(defn test-a-failing-recompile-changes-nothing [tree]
  "A source that raises half-way, or cannot be read or compiled, leaves the whole module as it was."
  (setv module (lib.load tree "zoo.half" "(setv a 1)\n(defn f [] 1)\n(defclass C [] (defn m [self] 1))\n(setv b 1)")
        c (module.C))
  (for [text ["(setv a 2)\n(defn f [] 2)\n(defclass C [] (defn m [self] 2))\n(raise (ValueError 1))\n(setv b 2)"
              "(setv a 2)\n(defn f [] 2)\n(setv b 2"
              "(setv a 2)\n(defn f [] 2)\n(setv 3 b)"
              "(setv a 2)\n(defn f [] 2)\n(defclass C [] (setv __slots__ [\"x\"]))"]]
    (with [f (open module.__file__ "w")] (.write f text))
    (with [(pytest.raises Exception)] (definitions.recompile "zoo.half"))
    (assert (= [module.a module.b (module.f) (.m c) (list (definitions.changes))] [1 1 1 1 []]))))

(defn test-recompile-keeps-state-and-drops-what-is-gone [tree]
  "defonce state survives; instances, subclasses and except clauses follow; a function that left the source is gone, and back after undo."
  (setv module (lib.load tree "zoo.state" "(eval-when-compile (require autolith.base.macros [defonce]))
(defonce log [] \"L\")
(defclass Base [] (defn kind [self] \"base\"))
(defclass Thing [Base] (defn kind [self] (+ \"thing \" (.kind (super)))))
(defn leaving [] 1)
(defn staying [] 1)")
        thing (module.Thing)
        log module.log)
  (.append log 1)
  (with [f (open module.__file__ "w")]
    (.write f "(eval-when-compile (require autolith.base.macros [defonce]))
(defonce log [] \"L\")
(defclass Base [] (defn kind [self] \"new base\"))
(defclass Thing [Base] (defn kind [self] (+ \"new thing \" (.kind (super)))))
(defn staying [] 2)"))
  (definitions.recompile "zoo.state")
  (assert (is module.log log))
  (assert (= [(.kind thing) (isinstance thing module.Thing) (issubclass module.Thing module.Base) (module.staying) (hasattr module "leaving")]
             ["new thing new base" True True 2 False]))
  (definitions.undo)
  (assert (= [(.kind thing) (module.staying) (module.leaving)] ["thing base" 1 1])))

(defn test-library-functions [tree]
  "A function of a library can be redefined, for everybody who holds it, and taken back."
  (import textwrap)
  (setv alias textwrap.dedent)
  (definitions.redefine "(defn dedent [text] (+ \"<\" text \">\"))" :where "textwrap")
  (assert (= (alias "x") "<x>"))
  (definitions.undo)
  (assert (= (alias "  x") "x")))

(defn test-registries-go-back-with-an-undo [tree]
  "What a definition entered in a registry leaves it when the definition is taken back; later entries stay."
  (setv table {})
  (registries.register "test-table" (fn [] (dict table)) (fn [state] (.clear table) (.update table state)))
  (try
    (setv module (lib.load tree "zoo.entering" "(setv table None)\n(defn enter [f] (setv (get table f.__name__) f) f)")
          module.table table)
    (definitions.redefine "(defn [enter] first-one [] 1)" :where "zoo.entering")
    (setv (get table "other") 5)
    (definitions.undo)
    (assert (= table {"other" 5}))
    (finally
      (.pop registries.registries "test-table")
      (.pop registries.beginnings "test-table"))))

(defn test-parameters-are-redefined-with-their-docs [tree]
  "defparameter takes the new value and documentation; undo gives back both."
  (import autolith.base [macros])
  (setv module (lib.load tree "zoo.params" "(eval-when-compile (require autolith.base.macros [defparameter]))
(defparameter max-things 3 \"How many.\")"))
  (defn row [] (next (gfor r (macros.parameters) :if (= (get r "module") "autolith.zoo.params") [(get r "value") (get r "doc")])))
  (definitions.redefine "(defparameter max-things 9 \"How very many.\")")
  (assert (= (row) [9 "How very many."]))
  (definitions.undo)
  (assert (= (row) [3 "How many."])))

(defn test-what-changes-nothing-is-no-change [tree]
  "A defonce that is bound, and a value that is equal, make no entry."
  (lib.load tree "zoo.same" "(eval-when-compile (require autolith.base.macros [defonce]))\n(defonce kept [1] \"K\")\n(setv LIMIT 5)")
  (definitions.redefine "(defonce kept [2] \"K\")" :where "zoo.same")
  (definitions.redefine "(setv LIMIT 5)" :where "zoo.same")
  (assert (= (list (definitions.changes)) [])))
