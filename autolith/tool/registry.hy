"The tools that exist, by their names; defining, finding, declaring and calling them.

`tools` maps the dotted name to the Tool, `wire` the provider's name (`resource_read`) to the dotted one, `spaces` a
namespace's name to its Namespace. `sources` names the module that defines a packaged namespace; it is imported when
the namespace is first wanted. `packaged` keeps {dotted name: attributes} as those modules defined them."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  builtins
  importlib
  re
  threading
  time
  autolith.image [registries]
  autolith.tool [dispatch result schema tool :as kinds])

(defonce tools {} "Dotted name: Tool.")
(defonce wire {} "Name on the wire: dotted name.")
(defonce spaces {} "Namespace name: Namespace.")
(defonce sources {"resource" "autolith.tool.resource"
                  "search" "autolith.tool.search"
                  "fs" "autolith.tool.fs"
                  "self" "autolith.tool.self"}
  "Namespace name: the module of ours that defines its tools.")
(defonce packaged {} "Dotted name: the attributes that the module in `sources` gave the tool.")
(defonce broken {} "Namespace name: the exception with which its module last failed to load.")
(defonce callers {} "Namespace name: the function that calling the namespace calls.")
(defonce _loaded (set) "The packaged namespaces whose module is imported.")
(defonce _lock (threading.RLock) "Held while the tables change.")
(defonce _offer {} "How a new namespace is made known: {\"function\" f}.")

(setv NAME (re.compile r"[a-z][a-z0-9]*(-[a-z0-9]+)*\.[a-z][a-z0-9]*(-[a-z0-9]+)*")
      RESERVED #{"hy" "hyrule" "autolith"}
      LONGEST 64)

;; * Namespaces

(defclass Namespace []
  "What `resource` is at the prompt: its tools are attributes. Callable where a command has the same name."
  (defn __init__ [self name]
    (setv self.__name__ name
          self.__doc__ ""))

  (defn __getattr__ [self key]
    "Explain that there is no tool KEY."
    (setv short (hy.unmangle key)
          names (lfor t (members self.__name__) (kinds.short-name t.name)))
    (raise (AttributeError (+ f"{self.__name__} has no tool {short}"
                              (or (schema.nearest short names) f"; it has {(or (.join ", " names) "none")}"))
                           :name key :obj self)))

  (defn __dir__ [self]
    "Return the names of the attributes that are tools."
    (lfor t (members self.__name__) (hy.mangle (kinds.short-name t.name))))

  (defn __call__ [self #* positional #** named]
    "Call the command of the same name."
    (setv function (.get callers self.__name__))
    (when (is function None)
      (raise (TypeError (+ f"{self.__name__} is a namespace of tools; call one of "
                           (.join ", " (gfor t (members self.__name__) f"({t.name} ...)"))))))
    (function #* positional #** named))

  (defn __repr__ [self]
    "Return what it is for, and one line for each tool."
    (.join "\n" [(.rstrip f"<namespace {self.__name__}> {self.__doc__}")
                 #* (lfor t (members self.__name__) f"  {t.name}: {t.summary}")])))

(defn members [space]
  "Return the tools of the namespace SPACE, sorted by name."
  (lfor name (sorted tools) :if (.startswith name (+ space ".")) (get tools name)))

(defn namespace-names []
  "Return the names of all namespaces that have tools, loaded or not, sorted."
  (sorted (| (set sources) (sfor name tools (get (.partition name ".") 0)))))

(defn namespace [name]
  "Return the Namespace NAME with its tools, or None if there are no tools in one of that name."
  (load name)
  (when (or (in name sources) (members name))
    (_space name)))

(defn namespaces []
  "Return {name: Namespace} of all namespaces, all loaded."
  (load-all)
  (dfor name (namespace-names) name (_space name)))

(defn _space [name]
  "Return the Namespace NAME, made and offered if it is new."
  (when (not-in name spaces)
    (setv (get spaces name) (Namespace name))
    (when (in "function" _offer)
      ((get _offer "function") name (fn [] (namespace name)))))
  (get spaces name))

(defn offer-all [offer]
  "Make every namespace known by calling OFFER with its name and a thunk that loads it, now and as new ones appear."
  (setv (get _offer "function") offer)
  (for [name (namespace-names)]
    (offer name (fn [[name name]] (namespace name))))
  None)

(defn document [name doc]
  "Say of the namespace NAME that it is for DOC, a sentence."
  (setv (. (_space name) __doc__) doc)
  None)

(defn describe-namespace [name]
  "Return what help says of the namespace NAME, {\"name\" \"doc\" \"tools\" [#(signature first-paragraph) ..]}, or None."
  (setv space (namespace name))
  (when space
    {"name" name "doc" space.__doc__ "tools" (lfor t (members name) #((kinds.signature t) t.summary))}))

(defn callable-as [name function]
  "Make calling the namespace NAME call FUNCTION, as when a command bears the same name; None ends that."
  (if (is function None)
    (.pop callers name None)
    (setv (get callers name) function))
  None)

(defn load [space]
  "Import the module that defines the packaged namespace SPACE, unless that has happened."
  (when (and (in space sources) (not-in space _loaded))
    (setv module (importlib.import-module (get sources space)))    ; waits for a thread that imports it already
    (setv (. (_space space) __doc__) (schema.description module.__doc__))
    (.add _loaded space))
  None)

(defn load-if-sound [space]
  "Load the namespace SPACE; where its module fails, note that in `broken`, so that one bad module stops nothing else."
  (try
    (load space)
    (.pop broken space None)
    (except [e Exception]
      (setv (get broken space) e)))
  None)

(defn load-all []
  "Import every packaged namespace that loads."
  (for [space (list sources)] (load-if-sound space))
  None)

;; * Defining

(defn enter [name function [traits None]]
  "Make or change the tool NAME, as \"resource.read\", from the coroutine FUNCTION and TRAITS; return the Tool."
  (_check-name name)
  (setv space (get (.partition name ".") 0)
        on-wire (kinds.wire-name name)
        ours (= function.__module__ (.get sources space)))
  (when (not ours) (load space))           ; or a later load would replace this definition
  (with [_lock]
    (setv holder (.get wire on-wire name))
    (when (!= holder name)
      (raise (ValueError (+ f"{name} cannot be defined: {holder} was first, and both are {on-wire} to a provider;"
                            " choose another name"))))
    (setv tool (.get tools name (kinds.Tool name)))
    (.install tool function traits)
    (_place tool)
    (when ours
      (setv (get packaged name) (dict tool.__dict__))))
  tool)

(defn _place [tool]
  "Enter TOOL in every table under its name."
  (setv [space _ short] (.partition tool.name ".")
        (get tools tool.name) tool
        (get wire (kinds.wire-name tool.name)) tool.name)
  (setattr (_space space) (hy.mangle short) tool))

(defn _check-name [name]
  "Refuse NAME unless it is a plain kebab-case NAMESPACE.TOOL that hides nothing."
  (when (not (.fullmatch NAME name))
    (raise (ValueError (+ f"not a tool name: {name}; write namespace.tool in lower-case letters,"
                          " digits and single hyphens"))))
  (setv space (get (.partition name ".") 0))
  (when (or (in space RESERVED) (hasattr builtins space))
    (raise (ValueError (+ f"{space} cannot be a namespace of tools: it already means something in Hy;"
                          " choose another name"))))
  (when (> (len name) LONGEST)
    (raise (ValueError f"{name} is longer than the {LONGEST} characters that providers accept"))))

(defn forget [name]
  "Remove the tool NAME and return it. Whoever holds the object can still call it."
  (with [_lock]
    (setv tool (.pop tools name None)
          [space _ short] (.partition name "."))
    (.pop wire (kinds.wire-name name) None)
    (when (in space spaces)
      (.pop (. (get spaces space) __dict__) (hy.mangle short) None)))
  tool)

;; * Looking up

(defn find [name]
  "Return the Tool called NAME, dotted or as on the wire, or None."
  (when (not (and (isinstance name str) name))
    (return None))
  (setv key (kinds.wire-name name))
  (for [space (list sources)]
    (when (.startswith key (+ (kinds.wire-name space) "_"))
      (load-if-sound space)))
  (.get tools (.get wire key)))

(defn candidates [short]
  "Return the tools whose name without the namespace is SHORT."
  (setv key (kinds.wire-name short))
  (lfor t (all-tools) :if (= (kinds.wire-name (kinds.short-name t.name)) key) t))

(defn all-tools []
  "Return every Tool, sorted by name."
  (load-all)
  (lfor name (sorted tools) (get tools name)))

(defn names []
  "Return the dotted name of every tool, sorted."
  (lfor tool (all-tools) tool.name))

(defn declarations []
  "Return what a provider is told of the tools, sorted by wire name and the same bytes each time."
  (sorted (lfor t (all-tools) :if (not (get t.traits "hidden")) (kinds.declaration t))
          :key (fn [d] (get d "name"))))

(defn describe [name]
  "Return what help says of the tool NAME, {\"name\" \"signature\" \"doc\" \"effect\" \"restarts\" \"file\" \"line\"}, or None."
  (setv tool (find name))
  (when tool (kinds.description tool)))

;; * Calling

(defn :async call [name arguments context]
  "Run the tool NAME with ARGUMENTS, a map with JSON keys, in CONTEXT; return exactly one ToolResult.
ARGUMENTS that are text, because they are no JSON object, make a failed result. Being cancelled is raised."
  (setv started (time.perf-counter)
        tool (or (find name) (unique name)))
  (if tool
    (await (dispatch.run tool arguments context))
    (dispatch.finish (str name) (_unknown name) started)))

(defn unique [name]
  "Return the one tool whose name without the namespace is NAME, if there is exactly one."
  (when (and (isinstance name str) name)
    (setv found (candidates name))
    (when (= (len found) 1) (get found 0))))

(defn _unknown [name]
  "Return the failed result of a call of NAME, which is no one tool."
  (when (not (and (isinstance name str) name))
    (return (result.failed "tool call" "it names no tool; name one of those declared")))
  (setv found (lfor t (candidates name) t.name)
        names (lfor t (all-tools) t.name)
        dotted (.replace name "_" "." 1)
        faults (lfor [space e] (.items broken) :if (.startswith (kinds.wire-name name) (+ (kinds.wire-name space) "_"))
                     f"its namespace {space} does not load: {(dispatch.message e)}; mend {(.get sources space)}"))
  (result.failed name
    (cond
      found f"the name fits several tools: {(.join ", " found)}; use a whole name"
      faults (get faults 0)
      True (+ "there is no such tool" (or (schema.nearest dotted names) f"; there are {(.join ", " names)}")))))

;; * Reload

(defn snapshot []
  "Return the state of all tools, {dotted name: #(Tool attributes)}, for `restore`."
  (with [_lock]
    (dfor [name tool] (.items tools) name #(tool (dict tool.__dict__)))))

(defn restore [before]
  "Bring back the tools of the snapshot BEFORE. Packaged ones that it does not know return to what their module defined."
  (with [_lock]
    (for [name (list tools)]
      (cond
        (in name before) None
        (in name packaged) (_reset (get tools name) (get packaged name))
        True (forget name)))
    (for [[tool attributes] (.values before)]
      (_reset tool attributes)))
  None)

(defn _reset [tool attributes]
  "Give TOOL its ATTRIBUTES back and its place in every table."
  (.clear tool.__dict__)
  (.update tool.__dict__ attributes)
  (_place tool))

(registries.register "tools" snapshot restore)

(registries.register "tools" snapshot restore)
