"Definitions of the running program: who defines a name, installing another, the list of changes and their undo.

A change is a map {\"id\" n \"module\" path \"name\" first name \"names\" [name ...] \"source\" text \"time\" ISO 8601 \"how\" text
\"origin\" who \"undo\" thunk \"undone\" bool \"callers\" [modules that hold a macro's old expansion] \"holders\" [who keeps an
old value]}. `journal` holds all of them, oldest first. `installed-hooks` are called with each new change before anybody can
interrupt (one that raises makes the change undone), `undone-hooks` with each that was taken back, `rebound-hooks` with
module, name, old and new value, and the log, when a value could not be changed in place."

(eval-when-compile (require autolith.base.macros [defonce restart-case]))

(import
  datetime
  itertools
  hy
  hy.models [Expression List Symbol]
  autolith.base [conditions]
  autolith.image [definers evaluate install macros namespace registries])

(defonce journal [] "All changes, oldest first.")
(defonce installed-hooks [] "Functions of a new change, called between the change and anything else.")
(defonce undone-hooks [] "Functions of a change that was taken back.")
(defonce rebound-hooks [] "Functions of module, name, old and new value and log, called when a name was bound anew.")
(defonce _ids (itertools.count 1) "Numbers the changes.")

(setv UNSEEN #{"hy" "__annotations__"}
      DOCS ["__parameters__" "__kept__"])

(defclass Ambiguous [conditions.AutolithError]
  "Several modules define the name.")

(defclass Unknown [conditions.AutolithError]
  "There is no such definition, or no such change.")

(defclass Covered [conditions.AutolithError]
  "A later change of the same name stands on this one.")

(defclass Change [dict]
  "One change; it prints as a sentence."
  (defn __autolith_text__ [self]
    "Return what was done and how to take it back."
    (setv names (.join ", " (get self "names"))
          lines [(+ f"{(short (get self "module"))}: {names} {(get self "how")}"
                    (if (get self "undone") f" (change {(get self "id")}, taken back)"
                        f" (change {(get self "id")}; (undo {(get self "id")}) takes it back)"))])
    (when (get self "callers")
      (.append lines (+ "compiled callers keep the old expansion: "
                        (.join " " (gfor m (get self "callers") f"(recompile \"{m}\")")))))
    (when (get self "holders")
      (.append lines f"the old value is still held by: {(.join ", " (get self "holders"))}"))
    (.join "\n" lines)))

(defn short [path]
  "Return the module PATH as people write it."
  (hy.unmangle (.removeprefix path "autolith.")))


;; * What is a definition

(defn definition? [form]
  "Tell whether FORM, at the top level of a module, defines something."
  (and (isinstance form Expression) (> (len form) 2) (isinstance (get form 0) Symbol)
       (or (and (.startswith (str (get form 0)) "def") (not-in (str (get form 0)) ["del" "deftype"]))
           (and (= (get form 0) 'setv) (all (gfor target (cut form 1 None 2) (isinstance target Symbol)))))
       (is-not (name-of form) None)))

(defn installable? [form]
  "Tell whether FORM is a definition, or a `do` of nothing but definitions."
  (or (definition? form)
      (and (isinstance form Expression) (> (len form) 1) (= (get form 0) 'do)
           (all (map installable? (cut form 1 None))))))

(defn name-of [form]
  "Return the name that the definition FORM, or the first of a `do`, defines, or None."
  (when (= (get form 0) 'do) (return (name-of (get form 1))))
  (for [part (cut form 1 None)]
    (cond
      (isinstance part Symbol) (return (str part))
      (isinstance part List) None
      (isinstance part Expression) (return (_named part))))
  None)

(defn _named [part]
  "Return the name in PART: an annotated one, or a dotted one."
  (cond
    (not (and part (isinstance (get part 0) Symbol))) None
    (= (get part 0) 'annotate) (str (get part 1))
    (= (get part 0) '.) (.join "." (map str (cut part 1 None)))))


;; * Installing

(defn redefine [source * [where None]]
  "Install the one definition that the text SOURCE is: in the module WHERE, else in the one of ours that defines the name."
  (setv file (evaluate.keep-source source "definition")
        forms (evaluate.read-forms source file (namespace.user)))
  (when (not (and (= (len forms) 1) (definition? (get forms 0))))
    (raise (Unknown "redefine takes one definition: (redefine (defn name ...))")))
  (setv module (_place (name-of (get forms 0)) where))
  (install-form (get forms 0) module source :file file))

(defn _place [name where]
  "Return the module WHERE, or the one that defines NAME; which, is asked if several do."
  (when (is-not where None) (return (namespace.find-module where)))
  (setv found (definers.find name))
  (cond
    (= (len found) 1) (namespace.find-module (get found 0))
    found
      (restart-case
        (conditions.signal
          (Ambiguous (+ f"{name} is defined in {(.join ", " (map short found))}; say which: "
                        f"(redefine :in \"{(short (get found 0))}\" (... {name} ...))")
                     [#("use-value" "Name the module, as \"agent.turn\".")]))
        (use-value [module] "Name the module, as \"agent.turn\"." (namespace.find-module module)))
    True (raise (Unknown (+ f"no module of ours defines {name}{(definers.suggestion name)}; "
                            "(redefine :in \"room.file\" ...) makes a new definition")))))

(defn install-form [form module source * [file None]]
  "Install the definition FORM, read from SOURCE in FILE, in MODULE; return the Change, or what FORM gave if it changed nothing."
  (namespace.wake module)
  (setv file (or file (evaluate.keep-source source "definition")))
  (defn run [names]
    (evaluate.execute (evaluate.compiled form module file source) module names))
  (change module (name-of form) [run] (macros.written form source)))

(defclass Overlay [namespace.Scope]
  "The names of MODULE, where new bindings are only collected, in `fresh`."
  (defn __init__ [self module]
    (.__init__ (super) module)
    (setv self.fresh {}))

  (defn __getitem__ [self key]
    "Return the newest value of KEY."
    (if (in key self.fresh) (get self.fresh key) (.__getitem__ (super) key)))

  (defn __setitem__ [self key value]
    "Collect the binding of KEY to VALUE."
    (setv (get self.fresh key) value))

  (defn __delitem__ [self key]
    "Forget a binding that was collected."
    (if (in key self.fresh) (del (get self.fresh key)) (.__delitem__ (super) key))))

(defn change [module name runs source [removed #()]]
  "Evaluate each of RUNS, functions of a mapping of names, and install in MODULE what it binds; all, or nothing.
NAME and SOURCE say what it was; the names REMOVED are unbound in the end. Returns the Change, or the last value if nothing changed."
  (with [_ install.lock]
    (setv log []  hows {}  changed-macros []  value None  before (registries.take))
    (try
      (for [run runs]
        (setv value (_install-run module run log hows changed-macros)))
      (except [BaseException]
        (with [_ (install.deferring)] (install.take-back log))
        (raise)))
    (with [_ (install.deferring)]
      (try
        (for [key removed] (_remove module key log hows))
        (if (or (_note-registries before log) hows)
          (_enter (_entry module name source hows changed-macros log))
          value)
        (except [BaseException]
          (install.take-back log)
          (raise))))))

(defn _note-registries [before log]
  "Append to LOG how to take back what registries got since they were in the state BEFORE; tell whether they got anything."
  (setv difference (registries.difference before (registries.take)))
  (when difference
    (.append log (fn [] (registries.take-back difference))))
  (bool difference))

(defn _install-run [module run log hows changed-macros]
  "Evaluate RUN over the names of MODULE and install what it binds, noting in HOWS, by name, and CHANGED-MACROS."
  (setv [value fresh fresh-macros] (_collected module run log))
  (for [[key new] (.items fresh)]
    (setv old (.get (vars module) key install.ABSENT)
          reason (or (install.refusal old new) (install.circle key old new (vars module))))
    (when reason (raise (install.Refused reason))))
  (with [_ (install.deferring)]
    (for [[key new] (.items fresh)]
      (_settle module key new log hows))
    (for [[key new] (.items fresh-macros)]
      (_settle-macro module key new log hows)
      (.append changed-macros key)))
  value)

(defn _collected [module run log]
  "Evaluate RUN with an overlay of MODULE; return its value, the new bindings and the new macros, none of them made yet."
  (setv overlay (Overlay module)
        before (dict (vars module))
        own-macros (.setdefault (vars module) "_hy_macros" {})
        macros-before (dict own-macros)
        module.hy hy)
  (_keep-docs module log)
  (try
    (setv value (run overlay))
    (finally
      (setv direct (_put-back (vars module) before)
            lent (.get (vars module) "_lent_macros" #())
            new-macros (_put-back own-macros macros-before lent))))
  [value
   (dfor [k v] (.items (| direct overlay.fresh)) :if (not (or (in k UNSEEN) (.startswith k "_hy_"))) k v)
   new-macros])

(defn _put-back [table before [kept #()]]
  "Return the entries of TABLE that are not as in BEFORE, and make it so again; the entries KEPT stay."
  (setv changed (dfor [k v] (list (.items table))
                      :if (is-not (.get before k install.ABSENT) v)
                      :if (not-in k kept)
                      :if (not-in k ["_hy_macros" "_lent_macros" "hy"])
                      k v))
  (for [k changed]
    (if (in k before) (setv (get table k) (get before k)) (del (get table k))))
  changed)

(defn _keep-docs [module log]
  "Append to LOG how the documentation of parameters in MODULE becomes what it is now."
  (for [table DOCS]
    (setv notes (.get (vars module) table))
    (when (isinstance notes dict)
      (.append log (fn [[notes notes] [kept (dict notes)]] (.clear notes) (.update notes kept))))))

(defn _settle [module key new log hows]
  "Make the global KEY of MODULE what NEW is, in place where that can be; note in HOWS how."
  (setv old (.get (vars module) key install.ABSENT)
        name (hy.unmangle key))
  (cond
    (or (is old new) (and (install.shared? new) (is (type old) (type new)) (registries.same? old new))) None
    (is old install.ABSENT)
      (do (install.rebind module key old new log)
          (setv (get hows name) "new"))
    (install.update old new log) (setv (get hows name) "changed in place")
    True
      (do (install.rebind module key old new log)
          (setv (get hows name) "rebound")
          (for [hook (list rebound-hooks)] (hook module key old new log)))))

(defn _settle-macro [module key new log hows]
  "Make the macro KEY of MODULE what NEW is, also for the modules that required it."
  (setv table module._hy-macros
        old (.get table key))
  (when (not (and old (install.update old new log)))
    (.append log (fn [] (if old (setv (get table key) old) (.pop table key None))))
    (setv (get table key) new))
  (setv (get hows (hy.unmangle key)) (if old "changed, a macro" "new, a macro")))

(defn _remove [module key log hows]
  "Unbind KEY in MODULE."
  (install.rebind module key (get (vars module) key) install.ABSENT log)
  (setv (get hows (hy.unmangle key)) "removed"))

(defn _entry [module name source hows changed-macros log]
  "Return the Change that tells what was done."
  (setv kinds (list (dict.fromkeys (.values hows))))
  (Change {"id" (next _ids)  "module" module.__name__  "name" name  "names" (or (list hows) [name])
           "source" source  "time" (_now)  "origin" (.get registries.origin)
           "how" (cond (not kinds) "entered" (= (len kinds) 1) (get kinds 0) True (.join "; " kinds))
           "undo" (fn [] (install.take-back log))  "undone" False
           "callers" (sorted #{#* (gfor key changed-macros m (definers.mentioning key module) m)})
           "holders" (if (in "rebound" kinds) (definers.holders log) [])}))

(defn _now []
  "Return the time, UTC, as ISO 8601."
  (.isoformat (datetime.datetime.now datetime.timezone.utc) :timespec "seconds"))

(defn _enter [entry]
  "Put ENTRY in the journal and call the hooks; on their failure it is not there."
  (.append journal entry)
  (try
    (for [hook (list installed-hooks)] (hook entry))
    (except [BaseException]
      (.remove journal entry)
      (raise)))
  entry)


;; * Changes and their undo

(defn changes [[all False]]
  "Return the changes in force, oldest first; with ALL, also those taken back."
  (Changes (lfor entry journal :if (or all (not (get entry "undone"))) entry)))

(defclass Changes [list]
  "A list of changes that prints one a line."
  (defn __autolith_text__ [self]
    "Return a line for each change."
    (if self
      (.join "\n" (gfor entry self (.__autolith_text__ entry)))
      "nothing was redefined")))

(defn undo [[id None]]
  "Take back the change ID, else the newest in force; return it. What stands on it has to be taken back first."
  (with [_ install.lock]
    (setv entry (_entry-of id)
          above (_above entry))
    (when above
      (setv ids (.join ", " (gfor e above (str (get e "id")))))
      (restart-case
        (conditions.signal (Covered f"change {ids} came later and changes the same; take that back first"
                                    [#("undo-later" f"Take back {ids} too, newest first.")]))
        (undo-later [] f"Take back the later ones too, newest first."
          (for [e (reversed above)] (_take-back e)))))
    (_take-back entry)))

(defn _entry-of [id]
  "Return the change ID in force, or the newest."
  (setv live (changes))
  (when (not live) (raise (Unknown "nothing was redefined")))
  (if (is id None)
    (get live -1)
    (or (next (gfor e live :if (= (get e "id") id) e) None)
        (raise-unknown id live))))

(defn raise-unknown [id live]
  "Raise the error that no change ID is in force, naming those LIVE."
  (setv ids (.join ", " (gfor e live (str (get e "id")))))
  (raise (Unknown f"no change {id} is in force; in force: {ids}")))

(defn _above [entry]
  "Return the changes in force, oldest first, that came after ENTRY and change something that it changed."
  (lfor e (changes)
        :if (and (> (get e "id") (get entry "id"))
                 (= (get e "module") (get entry "module"))
                 (& (set (get e "names")) (set (get entry "names"))))
        e))

(defn _take-back [entry]
  "Undo ENTRY; return it."
  (with [_ (install.deferring)]
    ((get entry "undo"))
    (setv (get entry "undone") True)
    (for [hook (list undone-hooks)] (hook entry)))
  entry)


;; * A module from its source

(defn recompile [name]
  "Load the module NAME anew from its source, whatever bytecode there is: every definition is installed, or none; returns the Change."
  (setv module (namespace.find-module name)
        path (getattr module "__file__" None))
  (when (not path) (raise (Unknown f"{name} has no source file")))
  (hy.I.linecache.checkcache path)
  (setv source (.decode (.get-data module.__loader__ path))
        runs (if (.endswith path ".hy") (_runs-of module path source) (_run-of-python module path source)))
  (change module (short module.__name__) runs source :removed (definers.vanished module path source)))

(defn _runs-of [module path source]
  "Return, for each form of SOURCE, all compiled before, a function that evaluates it over names."
  (setv all-codes (lfor form (evaluate.read-forms source path module)
                        (evaluate.compiled form module path source)))
  (lfor codes all-codes
        (fn [names [codes codes]] (evaluate.execute codes module names))))

(defn _run-of-python [module path source]
  "Return the list of the one function that evaluates SOURCE, Python, over names."
  (setv code (compile source path "exec" :dont-inherit True))
  [(fn [names] (exec code (vars module) names) None)])


;; * As a registry, for (reload)

(defn _active []
  "Return {id #(module name source origin)} of the changes in force."
  (dfor e (changes) (get e "id") (tuple (gfor k ["module" "name" "source" "origin"] (get e k)))))

(defn _restore [wanted]
  "Make the changes WANTED, as `_active` gives them, those in force: take back others, newest first, and install missing ones again."
  (with [_ install.lock]
    (setv live (_active))
    (for [e (reversed (changes))]
      (when (not-in (get e "id") wanted) (_take-back e)))
    (for [[id row] (sorted (.items wanted))]
      (when (not-in id live) (_again id #* row)))))

(defn _again [id path name source whose]
  "Install SOURCE, which defined NAME in the module PATH as change ID for WHOSE, again, under the same ID."
  (setv token (.set registries.origin whose)
        module (namespace.find-module path))
  (try
    (setv entry (change module name (_runs-of module (evaluate.keep-source source "again") source) source))
    (finally (.reset registries.origin token)))
  (for [old (lfor e journal :if (= (get e "id") id) e)]
    (.remove journal old))
  (when (isinstance entry Change) (setv (get entry "id") id)))

(registries.register "definitions" _active _restore)
