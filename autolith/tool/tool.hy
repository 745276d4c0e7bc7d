"What a tool is: a documented coroutine function, its traits, and what is derived from both.

Traits are a map {\"effect\" \"read\"|\"write\"|\"execute\"  \"barrier\" bool  \"persistence\" \"durable\"|\"next-response\"
\"child_safe\" bool  \"beside\" bool  \"restarts\" {name sentence}  \"description\" text or function  \"hidden\" bool}.
A parameter is as in tool/schema."

(import
  inspect
  re
  autolith.tool [dispatch literal schema])

(setv DEFAULTS {"effect" "execute" "barrier" False "persistence" "durable" "child_safe" False "beside" False
                "restarts" {} "description" "" "hidden" False}
      EFFECTS #("read" "write" "execute")
      PERSISTENCES #("durable" "next-response"))

(defclass Tool []
  "A tool, the same object for good: call it as a function, or let `registry.call` run it for the model."
  (defn __init__ [self name]
    (setv self.name name))

  (defn install [self function traits]
    "Make FUNCTION with TRAITS what this tool does; return the exact undo."
    (setv before (dict self.__dict__)
          fresh (derived self.name function traits))
    (.update self.__dict__ fresh)
    (fn []
      (.clear self.__dict__)
      (.update self.__dict__ before)))

  (defn __call__ [self / #* positional #** named]
    "Run the tool and return its ToolResult; a failure is signalled. On the loop thread: a coroutine of the same."
    (dispatch.direct self positional named))

  (defn arguments [self positional named]
    "Return POSITIONAL and NAMED arguments, as code gives them, as one map."
    (dispatch.as-map self positional named))

  (defn __repr__ [self]
    "Return what the prompt shows of the tool itself."
    f"<tool {self.name}: {(getattr self "summary" "")}>"))

(defn wire-name [name]
  "Return the dotted NAME as providers accept it."
  (re.sub r"[.-]" "_" name))

(defn short-name [name]
  "Return the part of the dotted NAME after the dot."
  (get (.partition name ".") 2))

;; * What follows from a function

(defn derived [name function traits]
  "Return the attributes of the tool NAME that follow from FUNCTION and TRAITS."
  (when (not (inspect.iscoroutinefunction function))
    (raise (TypeError f"{name} must be a coroutine function that does not yield; define it with deftool or (defn :async ...)")))
  (setv traits (checked-traits name traits)
        parameters (schema.parameters function)
        code function.__code__)
  {"name" name "function" function "traits" traits "parameters" parameters
   "schema" (_with-restarts (schema.closed parameters) (get traits "restarts") parameters)
   "summary" (schema.description function.__doc__)
   "file" code.co-filename "line" code.co-firstlineno
   "__doc__" function.__doc__ "__name__" name "__module__" function.__module__
   "__signature__" (inspect.signature function)})

(defn checked-traits [name traits]
  "Return TRAITS of the tool NAME whole, with string keys; refuse what is not known."
  (setv given (dfor [k v] (.items (or traits {}))
                    (schema.key-of k) (if (isinstance v hy.models.Keyword) v.name v))
        unknown (sorted (- (set given) (set DEFAULTS)))
        whole {#** DEFAULTS #** given})
  (when unknown
    (raise (ValueError f"{name}: unknown trait {(.join ", " unknown)}; known: {(.join ", " (sorted DEFAULTS))}")))
  (for [[key allowed] [#("effect" EFFECTS) #("persistence" PERSISTENCES)]]
    (when (not-in (get whole key) allowed)
      (raise (ValueError f"{name}: {key} must be one of {(.join ", " allowed)}, not {(get whole key)}"))))
  (setv (get whole "restarts") (dfor [k v] (.items (get whole "restarts"))
                                     (.replace (schema.key-of k) "_" "-") v))
  whole)

(defn _with-restarts [closed restarts parameters]
  "Return the schema CLOSED with arguments that name one of RESTARTS, unless PARAMETERS have their own."
  (when (and restarts (not (own-restart? parameters)))
    (setv ways (.join " " (gfor [name sentence] (.items restarts) f"{name}: {sentence}")))
    (.update (get closed "properties")
      {"restart" {"type" "string" "enum" (list restarts)
                  "description" f"After a failure that offered it: how to go on. {ways}"}
       "restart_value" {"description" "The value for the restart, where it takes one."
                        #** (schema.of-type schema.Any)}}))
  closed)

(defn own-restart? [parameters]
  "Do PARAMETERS themselves name a restart?"
  (any (gfor p parameters (= (get p "name") "restart"))))

;; * What is said of it

(defn full-description [tool]
  "Return the text that tells the model what TOOL does, with what its trait `description` adds."
  (.strip (.join "\n\n" (filter None [tool.summary (_more tool)]))))

(defn _more [tool]
  "Return what the trait `description` of TOOL adds; a function that fails adds its failure, and breaks no request."
  (setv more (get tool.traits "description"))
  (try
    (str (if (callable more) (more) more))
    (except [e Exception]
      f"(More about it could not be said: {(. (type e) __name__)} in {(getattr more "__name__" "its description")}.)")))

(defn declaration [tool]
  "Return what a provider is told of TOOL, {\"name\" \"description\" \"parameters\"}."
  {"name" (wire-name tool.name) "description" (full-description tool) "parameters" tool.schema})

(defn signature [tool]
  "Return the form that calls TOOL as text, optional arguments in brackets with their defaults."
  (setv words (lfor p tool.parameters
                    :setv key (.replace (get p "name") "_" "-")
                    (if (get p "required")
                      f":{key} {(.upper key)}"
                      f"[:{key} {(literal.write (get p "default"))}]")))
  f"({(.join " " [tool.name #* words])})")

(defn description [tool]
  "Return what help says of TOOL, {\"name\" \"signature\" \"doc\" \"effect\" \"restarts\" \"file\" \"line\"}."
  {"name" tool.name "signature" (signature tool) "doc" (inspect.cleandoc (or tool.__doc__ ""))
   "effect" (get tool.traits "effect") "restarts" (get tool.traits "restarts")
   "file" tool.file "line" tool.line})
