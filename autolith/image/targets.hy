"What a dotted name means: a function in one of our modules, in a library, in a class, or what a name at the prompt stands for.

A place is {\"path\" full dotted path  \"owner\" module, class or object  \"key\" mangled attribute  \"value\" what is there}."

(import
  functools
  importlib
  inspect
  sys
  types
  hy
  autolith.base [conditions]
  autolith.image [install namespace])

(defclass NoTarget [conditions.AutolithError]
  "A dotted name leads nowhere.")

(defn resolve [target]
  "Return the place of TARGET: \"agent.turn.run-call\", \"json.dumps\", \"resource.read\" as at the prompt, or a function."
  (when (not (isinstance target str))
    (return (_place-of-object target)))
  (setv parts (lfor part (.split target ".") (if part (hy.mangle part) "")))
  (when (not (all parts)) (raise (NoTarget f"{target !r} is no dotted name")))
  (or (_in-module ["autolith" #* parts])
      (_in-module parts)
      (_at-prompt parts)
      (_at-prompt (cut parts 1 None))
      (raise-missing target parts)))

(defn _place-of-object [target]
  "Return the place of TARGET, an object: where its names say it is, if it is there."
  (setv f (behind-callable target))
  (when (is f None)
    (raise (NoTarget f"{(hy.repr target)} is no function; name it, as \"room.file.name\"")))
  {"path" (home f) "owner" None "key" None "value" target})

(defn home [f]
  "Return the path that the function F says it has; anything that cannot be walked ends in its name all the same."
  f"{f.__module__}.{f.__qualname__}")

(defn at-home? [f]
  "Tell whether the function F is where it says it is."
  (setv found (_in-module (.split (home f) ".")))
  (and (is-not found None) (is (behind-callable (get found "value")) f)))

(defn _in-module [parts]
  "Return the place that PARTS lead to through the longest module path, or None."
  (for [n (range (- (len parts) 1) 0 -1)]
    (setv module (_module (.join "." (cut parts n))))
    (when module
      (return (_walk module (.join "." (cut parts n)) (cut parts n None))))))

(defn _module [path]
  "Return the module at PATH, imported if need be, or None if there is none."
  (when (in path sys.modules) (return (get sys.modules path)))
  (try
    (importlib.import-module path)
    (except [e ModuleNotFoundError]
      (when (not (or (= e.name path) (.startswith path f"{e.name}."))) (raise)))))

(defn _walk [owner path keys]
  "Return the place of the attribute chain KEYS from OWNER, which is at PATH; None if it breaks off."
  (for [[i key] (enumerate keys)]
    (setv found (_attribute owner key))
    (when (is found None) (return))
    (setv [holder value] found)
    (when (= i (- (len keys) 1))
      (return {"path" (+ path "." (.join "." keys)) "owner" holder "key" key "value" value}))
    (setv owner value)))

(defn _attribute [owner key]
  "Return #(holder value) of the attribute KEY of OWNER, raw where OWNER is a class; or None."
  (if (isinstance owner type)
    (next (gfor c owner.__mro__ :if (in key (vars c)) #(c (get (vars c) key))) None)
    (try
      #(owner (getattr owner key))
      (except [AttributeError] None))))

(defn _at-prompt [parts]
  "Return the place that PARTS mean in the user's module, or None."
  (setv module (namespace.user))
  (when parts
    (setv first (get parts 0)
          value (if (in first (vars module)) (get (vars module) first) (namespace.known first)))
    (cond
      (is value None) None
      (= (len parts) 1) {"path" f"autolith.user.{first}" "owner" module "key" first "value" value}
      True (_walk value f"autolith.user.{first}" (cut parts 1 None)))))

(defn raise-missing [target parts]
  "Raise the error that TARGET, of PARTS, leads nowhere, with what is near."
  (setv module (next (filter None (gfor n (range (len parts) 0 -1)
                                        prefix [["autolith"] []]
                                        (.get sys.modules (.join "." [#* prefix #* (cut parts n)]))))
                     None)
        close (if module (hy.I.difflib.get-close-matches (get parts -1) (list (vars module)) 2) [])
        hint (if close f"; {(hy.unmangle module.__name__)} has {(.join " and " (map hy.unmangle close))}"
                 "; name it as room.file.name, a library's as module.name, a tool as at the prompt"))
  (raise (NoTarget f"{target} leads nowhere{hint}")))

(defn behind-callable [x]
  "Return the function, written in Hy or Python, that calling X ends in, or None."
  (cond
    (isinstance x types.FunctionType) (install.origin x)
    (isinstance x #(types.MethodType classmethod staticmethod)) (behind-callable x.__func__)
    (isinstance x property) (behind-callable x.fget)
    (isinstance x functools.partial) (behind-callable x.func)
    (isinstance x #(type types.ModuleType types.BuiltinFunctionType)) None
    True (next (filter None (gfor name ["__wrapped__" "function"]
                                  :setv inner (getattr x name None)
                                  :if (isinstance inner types.FunctionType)
                                  (install.origin inner)))
               None)))
