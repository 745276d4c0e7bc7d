"The modules that forms are evaluated in, and how the names in them come to be known.

`(user)` is the module `autolith.user`. Its `__builtins__` are a Missing: looking up a name that nobody bound first tries what was
offered lazily, then signals, so that a restart can supply the value where it is needed, with nothing unwound.

`offers` is {mangled name #(name thunk)}; `offered-macros` is {mangled name module path}. hyrule's macros are imported when
a form first uses one."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  builtins
  importlib
  sys
  types
  hy
  hy.models [Expression Sequence Symbol]
  autolith.base [conditions])

(defonce offers {} "What is known lazily: mangled name -> #(name thunk).")
(defonce offered-macros {} "Macros known lazily: mangled name -> path of the module that defines each.")
(defonce finders [] "Functions that find a name nobody offered: of the name in Hy's spelling, each gives #(found value).")
(defonce state {"current" None "woken" (set)} "The module that the prompt evaluates in, and the modules whose macros are awake.")

(defparameter hyrule-macros
  #("->" "->>" "ameth" "ap-dotimes" "ap-each" "ap-each-while" "ap-filter" "ap-first" "ap-if" "ap-last" "ap-map"
    "ap-map-when" "ap-reduce" "ap-reject" "ap-when" "ap-with" "as->" "block" "branch" "case" "cfor" "comment" "def-gensyms"
    "defmacro!" "defmacro-kwargs" "defmain" "defn+" "defseq" "dict=:" "do-n" "doto" "ebranch" "ecase" "fn+" "let+" "lif"
    "list-n" "loop" "meth" "ncut" "of" "pun" "seq" "setv+" "smacrolet" "some->" "sqlexec" "unless")
  "hyrule's macros by name, so that hyrule is imported only for one of them.")

(setv OWN {"advise" "autolith.image.advice"  "unadvise" "autolith.image.advice"  "advice" "autolith.image.advice"
           "undo" "autolith.image.definitions"  "changes" "autolith.image.definitions"
           "recompile" "autolith.image.definitions"
           "in-module" "autolith.image.namespace"  "reload" "autolith.image.layers"
           "signal" "autolith.base.conditions"  "invoke-restart" "autolith.base.conditions"
           "AutolithError" "autolith.base.conditions"}
      OWN-MACROS {"redefine" "autolith.image.macros"
                  "restart-case" "autolith.base.macros"  "handler-bind" "autolith.base.macros"
                  "defonce" "autolith.base.macros"  "defparameter" "autolith.base.macros"}
      HISTORY ["*1" "*2" "*3" "*e"])

(defclass NoModule [conditions.AutolithError]
  "There is no module of that name.")

(defclass NameTaken [conditions.AutolithError]
  "A name cannot be offered, because it is another's.")


;; * The user's module

(defclass Missing [dict]
  "The `__builtins__` of the user's module: the look-up of an unknown name is the point of the signal."
  (defn __init__ [self module]
    (.__init__ (super) (vars builtins))
    (setv self.module module
          self.declined None
          self.found (set)))

  (defn __missing__ [self key]
    "Return the value of KEY, offered lazily or supplied by a restart."
    (cond
      (in key offers) (_resolve self key)
      (in (hy.unmangle key) OWN) (_own (hy.unmangle key))
      (and (= key "recur") (in "hyrule" sys.modules)) (. (_hyrule) recur)
      True (_find self key))))

(defn _find [known key]
  "Return what a finder gives for KEY, kept in KNOWN; else ask for its value."
  (setv [found value] (_found key))
  (if found
    (do (.add known.found key)
        (setv (get known key) value)
        value)
    (_ask-for known key)))

(defn forget-found []
  "Ask the finders again for what they found, as after tables have changed."
  (setv table (. (user) __builtins__))
  (for [key table.found] (.pop table key None))
  (.clear table.found))

(defn _found [key]
  "Return #(True value) of the first finder that knows KEY, or #(False None)."
  (for [finder finders]
    (setv [found value] (finder (hy.unmangle key)))
    (when found (return #(True value))))
  #(False None))

(defn known [key]
  "Return what the mangled name KEY stands for at the prompt without the user's own bindings, or None. Signals nothing."
  (setv table (. (user) __builtins__))
  (cond
    (in key table) (get table key)
    (in key offers) (_resolve table key)
    (in (hy.unmangle key) OWN) (_own (hy.unmangle key))
    True (get (_found key) 1)))

(defn _resolve [known key]
  "Return what the thunk that was offered for KEY gives; keep it in KNOWN."
  (setv (get known key) ((get offers key 1)))
  (get known key))

(defn _own [name]
  "Return NAME as this room defines it now."
  (getattr (importlib.import-module (get OWN name)) (hy.mangle name)))

(defn _ask-for [known key]
  "Signal that KEY is unknown; return what a restart supplies, or raise KeyError, of which the interpreter makes a NameError."
  (setv name (hy.unmangle key)
        frame (conditions.Frame #("use-value" f"Use another value for {name} this once." 1)
                                #("store-value" f"Bind {name} to a value and go on." 1)
                                #("retry" f"Look {name} up again." 0)))
  (.enter frame)
  (try
    (conditions.signal (NameError f"name {name !r} is not defined" :name key))
    (except [unwind conditions.Unwind]
      (when (is-not unwind.frame frame) (raise))
      (.leave frame)
      (cond
        (= unwind.name "retry") (_again known key)
        (= unwind.name "store-value") (do (setattr known.module key (get unwind.args 0)) (get unwind.args 0))
        True (get unwind.args 0)))
    (except [NameError]
      (setv known.declined key)
      (raise (KeyError key)))
    (finally (.leave frame))))

(defn _again [known key]
  "Look KEY up once more: in the module, then in KNOWN."
  (if (in key (vars known.module)) (get (vars known.module) key) (get known key)))

(defn user []
  "Return the module `autolith.user`, in which forms are evaluated unless the prompt was moved."
  (or (.get sys.modules "autolith.user") (_make-user)))

(defn _make-user []
  "Make `autolith.user`, and return it."
  (setv module (types.ModuleType "autolith.user" "What is typed at the prompt, and what init files define."))
  (setv module.__builtins__ (Missing module)
        module.hy hy
        module._hy-macros {}
        module._hy-reader-macros {})
  (for [name HISTORY] (setattr module (hy.mangle name) None))
  (setv package (importlib.import-module "autolith")
        package.user module
        (get sys.modules module.__name__) module)
  (when (not-in "autolith" offers) (offer "autolith" (fn [] package)))
  module)

(defn declined? [error]
  "Tell whether ERROR is a NameError about which everybody was asked when the name was looked up."
  (setv known (getattr (user) "__builtins__"))
  (and (isinstance error NameError) (isinstance known Missing)
       (is-not known.declined None) (= known.declined error.name)))

(defn remember [value]
  "Make VALUE *1; what was *1 and *2 are now *2 and *3."
  (setv module (user)
        [one two three] (lfor name ["*1" "*2" "*3"] (hy.mangle name)))
  (setattr module three (getattr module two None))
  (setattr module two (getattr module one None))
  (setattr module one value))

(defn remember-error [error]
  "Make ERROR *e."
  (setattr (user) (hy.mangle "*e") error))


;; * Lazily known names

(defn offer [name thunk]
  "Make NAME known in the user's module: THUNK gives its value at the first look-up. A later offer of NAME replaces it.
Names that differ only in spelling (`a-b`, `a_b`) are one name; a second spelling is refused, and so is a core macro's name."
  (setv key (_offerable name)
        known (. (user) __builtins__))
  (setv (get offers key) #(name thunk))
  (when (isinstance known Missing) (_forget known key)))

(defn _offerable [name]
  "Return NAME mangled, or raise NameTaken."
  (try
    (hy.models.Symbol name)
    (except [ValueError] (raise (NameTaken f"{name !r} is no name that a form could use"))))
  (setv key (hy.mangle name))
  (when (in key (getattr builtins "_hy_macros" {}))
    (raise (NameTaken f"{name} is a core macro of Hy; choose another name")))
  (setv before (get (.get offers key #(name)) 0))
  (when (!= before name)
    (raise (NameTaken f"{name} is the same name as {before} to Hy, which is there already; choose another name")))
  key)

(defn _forget [known key]
  "Let KEY be looked up anew in KNOWN."
  (.pop known key None))

(defn withdraw [name]
  "Make NAME, once offered, unknown again. Harmless if it is not offered."
  (setv key (hy.mangle name)
        known (. (user) __builtins__))
  (.pop offers key None)
  (.pop known key None)
  (when (hasattr builtins key) (setv (get known key) (getattr builtins key))))

(defn offer-macro [name path]
  "Make the macro NAME, defined in the module at PATH, known to forms; PATH is imported when a form first uses it."
  (setv (get offered-macros (hy.mangle name)) path))

(defn names []
  "Return every name that a form in the user's module may use besides Python's own, sorted, in Hy's spelling."
  (setv module (user)
        bound (gfor key (vars module) :if (not (.startswith key "_")) (hy.unmangle key))
        macros (gfor key [#* module._hy-macros #* offered-macros] (hy.unmangle key)))
  (sorted #{#* (gfor key bound :if (!= key "hy") key) #* macros #* OWN #* OWN-MACROS
           #* (gfor [name _] (.values offers) name)}))


;; * Macros that come when they are used

(defn prepare [form module]
  "Make the macros that FORM uses and that are offered, or hyrule's, known in MODULE."
  (_yield-to-functions module)
  (setv heads (set)  others (set))
  (_sort-symbols form heads others)
  (for [symbol (- heads others)]
    (setv key (hy.mangle symbol)
          path (_macro-path symbol key))
    (when (and path (not (_known? key module)))
      (_take-macro key path module)))
  (when (and (in "recur" heads) (in "loop" (.get (vars module) "_lent_macros" #())))
    (_check-loops form))
  None)

(defn _check-loops [form]
  "Raise a syntax error if a recur in FORM would not jump."
  (import autolith.image [recursion])
  (setv found (recursion.misplaced form))
  (when (is-not found None)
    (raise (SyntaxError (+ f"line {found.start-line}: {(cut (hy.repr found) 1 60)} is not the last thing that its loop does, "
                           "so it would end the loop instead of jumping; use while, or move it")))))

(defn _sort-symbols [form heads others]
  "Put the symbols that stand first in an expression of FORM into HEADS, all others into OTHERS."
  (when (isinstance form Symbol)
    (.add others (str form)))
  (when (and (isinstance form Sequence) (not (_quoted? form)))
    (setv called (and (isinstance form Expression) form (isinstance (get form 0) Symbol)))
    (when called (.add heads (str (get form 0))))
    (for [child (cut form (if called 1 0) None)]
      (_sort-symbols child heads others))))

(defn _quoted? [form]
  "Tell whether FORM is data by a quote."
  (and (isinstance form Expression) form (= (get form 0) 'quote)))

(defn _macro-path [symbol key]
  "Return the path of the module that offers the macro SYMBOL, mangled KEY; or None."
  (or (.get offered-macros key)
      (.get OWN-MACROS symbol)
      (when (in symbol hyrule-macros) "hyrule")))

(defn _known? [key module]
  "Tell whether KEY means something in MODULE already."
  (or (in key (getattr builtins "_hy_macros" {}))
      (in key (getattr module "_hy_macros" {}))
      (in key (vars module))
      (in key offers)
      (hasattr builtins key)))

(defn _take-macro [key path module]
  "Enter the macro KEY of the module at PATH in MODULE."
  (setv source (if (= path "hyrule") (_hyrule) (importlib.import-module path))
        macros (.setdefault (vars module) "_hy_macros" {})
        (get macros key) (get source._hy-macros key))
  (.add (.setdefault (vars module) "_lent_macros" (set)) key)
  (when (and (= key "loop") (= path "hyrule") (not-in "recur" (vars module)))
    (setv module.recur source.recur)))                 ; what the macro's body returns to jump

(defn _hyrule []
  "Return hyrule, imported quickly: Hy looks at the stack for each `require` in it, and need not read source files for that."
  (when (not-in "hyrule" sys.modules)
    (import hy.macros inspect)
    (setv quick {#** (vars inspect) "stack" (fn [] (cut (inspect.stack 0) 1 None))}
          hy.macros.inspect (types.SimpleNamespace #** quick))
    (try
      (importlib.import-module "hyrule")
      (finally (setv hy.macros.inspect inspect))))
  (get sys.modules "hyrule"))

(defn _yield-to-functions [module]
  "Drop each lent macro whose name MODULE has come to define itself."
  (setv lent (.get (vars module) "_lent_macros"))
  (for [key (list (or lent []))]
    (when (in key (vars module))
      (.discard lent key)
      (.pop module._hy-macros key None))))

(defn wake [module]
  "Make the macros that MODULE, one of ours, required at compile time only known in it again; once a module."
  (when (or (in module.__name__ (get state "woken")) (not (getattr module "__file__" None)))
    (return))
  (.add (get state "woken") module.__name__)
  (when (.endswith module.__file__ ".hy")
    (for [form (hy.read-many (.decode (.get-data module.__loader__ module.__file__)) :filename module.__file__)]
      (setv head (if (and (isinstance form Expression) form) (str (get form 0)) ""))
      (when (= head "eval-when-compile")
        (for [f (cut form 1 None)] (hy.eval f :module module)))
      (when (in head #("defn" "defclass")) (break)))))


;; * Where the prompt is

(defn current []
  "Return the module in which the prompt evaluates."
  (or (get state "current") (user)))

(defn in-module [[name None]]
  "Move the prompt into the module NAME, as \"agent.turn\", where a definition redefines; without NAME, back to autolith.user."
  (setv module (if (is name None) (user) (find-module name))
        (get state "current") (when (is-not module (user)) module))
  module)

(defn find-module [name]
  "Return the module that NAME, \"agent.turn\" or a full path or a module, means; import it if need be."
  (when (isinstance name types.ModuleType) (return name))
  (setv path (hy.mangle (str name)))
  (for [full [f"autolith.{path}" path]]
    (setv module (_load full))
    (when module (return module)))
  (raise (NoModule (+ f"there is no module {name}" (_suggestion path)))))

(defn _load [path]
  "Return the module at PATH, imported if need be; None if there is none. A module that fails to load raises."
  (when (not (all (gfor part (.split path ".") (.isidentifier part)))) (return))
  (when (in path sys.modules) (return (get sys.modules path)))
  (importlib.invalidate-caches)                       ; its file may be new
  (try
    (importlib.import-module path)
    (except [e ModuleNotFoundError]
      (when (not (or (= e.name path) (.startswith path f"{e.name}."))) (raise)))))

(defn _suggestion [path]
  "Return a hint at the modules whose names are close to PATH."
  (setv known (lfor name sys.modules :if (.startswith name "autolith.") (.removeprefix name "autolith."))
        close (hy.I.difflib.get-close-matches (.removeprefix path "autolith.") known))
  (if close f"; did you mean {(.join " or " (map hy.unmangle close))}?" "; write it as room.file, for example agent.turn"))

(defn tree-module? [module]
  "Tell whether MODULE is one in which a definition is a redefinition: any but the user's own."
  (is-not module (user)))


;; * How names are looked up in another module than the user's

(defclass Scope []
  "The local names of a form evaluated in MODULE, not the user's: that module's own, then the user's and what is offered."
  (defn __init__ [self module]
    (setv self.module module))

  (defn __getitem__ [self key]
    "Return the value of KEY."
    (setv own (vars self.module)
          users (vars (user)))
    (cond
      (in key own) (get own key)
      (hasattr builtins key) (getattr builtins key)
      (in key users) (get users key)
      True (get (. (user) __builtins__) key)))

  (defn __setitem__ [self key value]
    "Bind KEY to VALUE in the module."
    (setattr self.module key value))

  (defn __delitem__ [self key]
    "Unbind KEY in the module."
    (when (not-in key (vars self.module)) (raise (KeyError key)))
    (delattr self.module key))

  (defn keys [self]
    "Return the names of the module."
    (.keys (vars self.module))))

(defn scope [module]
  "Return the mapping of local names for a form evaluated in MODULE."
  (if (is module (user)) (vars module) (Scope module)))
