"Know the providers: the built-in ones, those of the user, and which one to take.

A provider form is a map:

    name               how it is called; also the first half of an item's origin
    wire               responses, chat-completions, anthropic-messages or tutor
    base_url           where it is; base_url_variable names an environment variable that says otherwise
    key_variable       the environment variable of its key, or None
    headers            more headers, {name value}
    quirks             what differs, see the wire's module; also key_optional and idle_seconds
    models             ids to offer; default_model is one of them, or None
    local              True: a server on this machine, used only when it is asked for
    doc                a sentence for people

Users add theirs by `(defprovider name {...})` (macros.hy), `define`, or forms in the file providers.hy, which is read as data, again
whenever it has changed; `(faults)` says what was wrong in it.
A form with `extends` begins as a copy of the provider of that name."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  os
  re
  autolith.base [conditions paths]
  autolith.image [registries]
  autolith.provider [credentials])

(setv WIRES ["responses" "chat-completions" "anthropic-messages" "tutor"]
      EMPTY {"wire" "chat-completions" "base_url" None "key_variable" None "base_url_variable" None "headers" {} "quirks" {}
             "models" [] "default_model" None "local" False "doc" ""})

(defn _local [name url variable key doc]
  "Return the form of the local server NAME at URL (or where VARIABLE says), whose KEY is a variable too, with DOC."
  {"name" name "wire" "chat-completions" "base_url" url "base_url_variable" variable "key_variable" key
   "quirks" {"key_optional" True "effort_field" "reasoning_effort" "idle_seconds" 1800} "local" True "doc" doc})

(defparameter builtin
  [{"name" "openai" "wire" "responses" "base_url" "https://api.openai.com/v1" "key_variable" "OPENAI_API_KEY"
    "base_url_variable" "OPENAI_BASE_URL" "quirks" {"cache_key" True}
    "models" ["gpt-5.6-sol" "gpt-5.6-terra" "gpt-5.6-luna" "gpt-5.5" "gpt-5.4" "gpt-5.4-mini" "gpt-5.3-codex"] "default_model" "gpt-5.6-sol"
    "doc" "OpenAI, by its Responses API."}
   {"name" "anthropic" "wire" "anthropic-messages" "base_url" "https://api.anthropic.com" "key_variable" "ANTHROPIC_API_KEY"
    "base_url_variable" "ANTHROPIC_BASE_URL"
    "models" ["claude-opus-5" "claude-sonnet-5" "claude-haiku-4-5" "claude-opus-4-8"] "default_model" "claude-sonnet-5"
    "doc" "Anthropic, by its Messages API."}
   {"name" "openai-chat" "wire" "chat-completions" "base_url" "https://api.openai.com/v1" "key_variable" "OPENAI_API_KEY"
    "base_url_variable" "OPENAI_BASE_URL"
    "quirks" {"cache_key" True "effort_field" "reasoning_effort" "max_tokens_field" "max_completion_tokens" "context_role" "system"}
    "models" ["gpt-5.6-sol" "gpt-5.6-terra" "gpt-5.6-luna" "gpt-5.5" "gpt-4.1"] "default_model" "gpt-5.6-sol"
    "doc" "OpenAI, or a server like it, by the Chat Completions API."}
   (_local "ollama" "http://127.0.0.1:11434/v1" "OLLAMA_BASE_URL" "OLLAMA_API_KEY" "Ollama on this machine.")
   (_local "lmstudio" "http://127.0.0.1:1234/v1" "LMSTUDIO_BASE_URL" "LMSTUDIO_API_KEY" "LM Studio on this machine.")
   (_local "llama-cpp" "http://127.0.0.1:8080/v1" "LLAMA_CPP_BASE_URL" "LLAMA_API_KEY"
     "llama.cpp's llama-server on this machine.")
   {"name" "tutor" "wire" "tutor" "models" ["tutor"] "default_model" "tutor"
    "doc" "The embedded partner: no model, no key, no network; it teaches the program by doing."}]
  "The built-in providers, in the order in which they are preferred.")

(defonce _own {} "The providers that the user's code has defined, by name.")
(defonce _filed {"stamp" None "providers" {} "faults" []}
  "What the user's file of providers says, and the file's path and time when it was read.")

(defclass BadProvider [conditions.AutolithError]
  "A provider form that cannot be used, or a name that no provider bears.")


;; * Definitions

(defn define [name form]
  "Enter the provider NAME with the map FORM, over one of the same name; return the whole form."
  (setv form (checked name (plain form) (providers)))
  (setv (get _own (get form "name")) form)
  (when (get form "key_variable")
    (credentials.take (get form "key_variable")))
  form)

(defn remove [name]
  "Forget the user's provider NAME."
  (.pop _own name None))

(defn plain [value]
  "Return VALUE with keywords, as keys and as values, turned into strings."
  (cond
    (isinstance value hy.models.Keyword) value.name
    (isinstance value dict)
      (dfor [k v] (.items value) (if (isinstance k hy.models.Keyword) (hy.mangle k.name) k) (plain v))
    (isinstance value #(list tuple)) (lfor v value (plain v))
    True value))

(defn checked [name form known]
  "Return the provider NAME of FORM with everything filled in, or raise BadProvider; KNOWN are those that it may extend."
  (setv name (or name (.get form "name"))
        base (.pop form "extends" None)
        unknown (lfor k form :if (not-in k EMPTY) :if (!= k "name") (hy.unmangle k)))
  (when (not (and (isinstance name str) (re.fullmatch r"[A-Za-z0-9][A-Za-z0-9._-]*" name)))
    (raise (BadProvider f"a provider needs a name of letters, digits, - . _; not {name !r}")))
  (when unknown
    (raise (BadProvider f"provider {name}: unknown field {(get unknown 0)}; there are {(.join ", " (map hy.unmangle EMPTY))}, extends")))
  (when (and base (not-in base known))
    (raise (BadProvider f"provider {name} extends {base}, which is none; there are {(.join ", " known)}")))
  (setv ground (if base (get known base) EMPTY)
        whole {#** ground #** form "name" name
               "quirks" {#** (get ground "quirks") #** (.get form "quirks" {})}
               "headers" {#** (get ground "headers") #** (dfor [k v] (.items (.get form "headers" {})) k (str v))}})
  (when (not-in (get whole "wire") WIRES)
    (raise (BadProvider f"provider {name}: unknown wire {(get whole "wire")}; there are {(.join ", " WIRES)}")))
  (when (not (or (= (get whole "wire") "tutor") (get whole "base_url") (get whole "base_url_variable")))
    (raise (BadProvider f"provider {name}: a :base-url is missing")))
  (when (and (get whole "base_url") (not (.startswith (get whole "base_url") #("http://" "https://"))))
    (raise (BadProvider f"provider {name}: the base URL {(get whole "base_url")} does not begin with http:// or https://")))
  (when (and (get whole "models") (not (get whole "default_model")))
    (setv (get whole "default_model") (get whole "models" 0)))
  whole)

(defn read-file [path]
  "Return #(providers faults) of the data file PATH: forms by name, and sentences about what was wrong."
  (import autolith.base.forms :as forms)
  (try
    (with [f (open path :encoding "utf-8")]
      (setv values (forms.read-all (.read f))))
    (except [e [OSError ValueError]]
      (return #({} [f"{path}: {e}"]))))
  (setv table (dfor form builtin (get form "name") {#** EMPTY #** form})
        own {}
        wrong [])
  (for [value values]
    (try
      (when (not (isinstance value dict))
        (raise (BadProvider f"a provider is a map, not {value !r}")))
      (setv form (checked None (plain value) {#** table #** own})
            (get own (get form "name")) form)
      (except [e [BadProvider TypeError AttributeError ValueError]]
        (.append wrong f"{path}: {e}"))))
  #(own wrong))

(defn filed []
  "Return the providers of the user's file, read again if it has changed."
  (setv path (paths.config "providers.hy"))
  (try
    (setv stat (os.stat path)
          stamp #(path stat.st-mtime-ns stat.st-size))
    (except [OSError]
      (setv stamp #(path None None))))
  (when (!= stamp (get _filed "stamp"))
    (setv [own wrong] (if (is (get stamp 1) None) #({} []) (read-file path)))
    (.update _filed {"stamp" stamp "providers" own "faults" wrong})
    (for [form (.values own) :if (get form "key_variable")]
      (credentials.take (get form "key_variable"))))
  (get _filed "providers"))

(defn faults []
  "Return what is wrong in the user's file of providers, as sentences."
  (filed)
  (list (get _filed "faults")))


;; * Looking up

(defn providers []
  "Return all providers by name: the built-in ones, then the user's; the user's of a built-in name stands in its place."
  {#** (dfor form builtin (get form "name") {#** EMPTY #** form}) #** (filed) #** _own})

(defn names []
  "Return the names of all providers."
  (list (providers)))

(defn find [name]
  "Return the provider NAME, or raise BadProvider."
  (setv table (providers))
  (when (not-in name table)
    (raise (BadProvider (.join " " [f"there is no provider {name}; there are {(.join ", " table)}." #* (faults)]))))
  (get table name))

(defn ready? [form]
  "Tell whether the provider FORM has what it needs and was not only offered: a key, or a place of the user's choosing."
  (cond
    (= (get form "wire") "tutor") True
    (credentials.key form) True
    (get form "local") False
    True (and (own? form) (or (not (get form "key_variable")) (bool (.get (get form "quirks") "key_optional"))))))

(defn own? [form]
  "Tell whether the provider FORM is one of the user's."
  (or (in (get form "name") _own) (in (get form "name") (filed))))

(defn choose [[name None]]
  "Return the provider NAME if one is given; else the first that has its key (the user's first); else the tutor."
  (when name
    (return (find name)))
  (setv table (providers)
        order (sorted (.values table) :key (fn [form] (not (own? form)))))
  (or (next (gfor form order :if (!= (get form "wire") "tutor") :if (ready? form) form) None)
      (get table "tutor")))


;; * Layers

(defn snapshot []
  "Return the user's providers, for `restore`."
  (dict _own))

(defn restore [saved]
  "Make the user's providers those of SAVED."
  (.clear _own)
  (.update _own saved))

(registries.register "providers" snapshot restore)
