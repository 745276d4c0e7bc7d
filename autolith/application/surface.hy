"The names that forms see in autolith.user: primitives, commands, tools. Each is found when it is first looked up.

`locals` is the table of what is neither command nor tool: name -> {\"module\" \"attribute\" \"kind\" function or macro}. The order of
search: locals, tool namespaces, commands. A namespace that is a command as well is callable."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  importlib
  inspect
  autolith.image [namespace])

(defonce locals {} "Name -> where the function or macro for local evaluation is defined.")

(defn offer [module kind #* names]
  "Offer NAMES of MODULE, as functions or macros by KIND; a name may be #(offered attribute)."
  (for [name names]
    (setv [name attribute] (if (isinstance name tuple) name #(name name)))
    (setv (get locals name) {"module" module "attribute" (hy.mangle attribute) "kind" kind})))

(offer "autolith.application.primitives" "function"
  "prompt" "read-file" "say" "complete" "ask" "call-tool" #("session" "current-session")
  "transcript")
(offer "autolith.application.observers" "function" "on-event" "on-provider-event")
(offer "autolith.application.macros" "macro" "eval-now" "defcommand")
(offer "autolith.tool.macros" "macro" "deftool")
(offer "autolith.agent.macros" "macro" "defcontext")
(for [[name path] (.items namespace.OWN)]
  (when (!= name "reload") (offer path "function" name)))
(for [[name path] (.items namespace.OWN-MACROS)]
  (offer path "macro" name))
(offer "autolith.state.settings" "macro" "defsetting")
(offer "autolith.provider.macros" "macro" "defprovider")

(setv PYTHONS ["help" "quit" "exit"])       ; commands that Python's own builtins would hide

(defn install []
  "Make every name known in autolith.user, at no cost before it is used."
  (for [[name row] (.items locals)]
    (when (= (get row "kind") "macro")
      (namespace.offer-macro name (get row "module"))))
  (for [name PYTHONS]
    (namespace.offer name (fn [[name name]] (get (find name) 1))))
  (when (not-in find namespace.finders)
    (.append namespace.finders find))
  None)

(defn find [name]
  "Return #(True value) for NAME, unmangled, or #(False None)."
  (cond
    (and (in name locals) (= (get locals name "kind") "function")) #(True (resolve name))
    (= name "autolith") #(True (importlib.import-module "autolith"))
    True (_operation name)))

(defn _operation [name]
  "Find NAME among tool namespaces and commands."
  (import autolith.tool [registry])
  (setv space (registry.namespace name))
  (if (is space None)
    (do (setv command (_command name))
        #((is-not command None) command))
    (do (registry.callable-as name (fn [#* args #** kwargs] (_call-namespace name args kwargs)))
        #(True space))))

(defn _call-namespace [name args kwargs]
  "Call the command that bears the name of the tool namespace NAME."
  (setv command (_command name))
  (when (is command None)
    (import autolith.tool [registry])
    (raise (TypeError (.format "{} is a namespace of tools; call one of {}" name
                               (.join ", " (gfor t (registry.members name) f"({t.name} ...)"))))))
  (command #* args #** kwargs))

(defn _command [name]
  "The command called NAME, or None."
  (import autolith.application [commands])
  (commands.find name))

(defn resolve [name]
  "Return the function or macro that NAME stands for."
  (setv row (get locals name) module (importlib.import-module (get row "module")))
  (if (= (get row "kind") "macro")
    (get module._hy-macros (get row "attribute"))
    (getattr module (get row "attribute"))))

(defn signature [name object]
  "Return how NAME, OBJECT, is called, as text."
  (import autolith.application [commands])
  (try
    (commands.lambda-list name (_without-compiler (inspect.signature object)))
    (except [[TypeError ValueError]] f"({name} ...)")))

(defn _without-compiler [signature]
  "SIGNATURE without the first parameter that Hy gives to macros."
  (setv parameters (list (.values signature.parameters)))
  (if (and parameters (= (. (get parameters 0) name) "_hy_compiler"))
    (.replace signature :parameters (cut parameters 1 None))
    signature))

(defn documentation [name object]
  "Return the docstring of NAME, OBJECT."
  (or (inspect.getdoc object) ""))

(defn names []
  "Return every name that can be completed at the head of a form."
  (import autolith.application [commands] autolith.tool [registry])
  (sorted (| (set locals) (set (gfor c (commands.all-commands) c.name)) (set (gfor t (registry.all-tools) t.name)))))
