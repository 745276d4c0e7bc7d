"Know the providers: the built-in ones, those of the user, and which one to take.

A provider form is a map:

    name               how it is called; also the first half of an item's origin
    wire               responses, chat-completions, anthropic-messages or tutor
    base_url           where it is; base_url_variable names an environment variable that says otherwise
    key_variable       the environment variable of its key, or None
    headers            more headers, {name value}
    quirks             what differs, see the wire's module; also key_optional and idle_seconds
    models             ids to offer, or maps of what is known of a model (models.hy); default_model is an id, or None
    models_path        where, below base_url, the server lists its models; None: where its wire does, False: nowhere
    signin             how to sign in with a subscription, a map (oauth.hy), or None
    probe              for a local server: {\"path\" \"key\"}, what answers there and only there
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
             "models" [] "default_model" None "models_path" None "signin" None "probe" None "local" False "doc" ""}
      SIGNIN ["flow" "client_id" "authorize_url" "token_url" "device_url" "redirect" "scopes" "parameters" "claims" "headers"
              "import"]
      QUIRKS ["key_optional" "idle_seconds" "cache_key" "reasoning_summary" "system_role" "context_role" "max_tokens_field"
              "effort_field" "stream_usage" "cache_control" "efforts" "effort_words" "compaction"])

(defn _local [name url variable key probe doc]
  "Return the form of the local server NAME at URL (or where VARIABLE says), whose KEY is a variable too, with PROBE and DOC."
  {"name" name "wire" "chat-completions" "base_url" url "base_url_variable" variable "key_variable" key
   "quirks" {"key_optional" True "effort_field" "reasoning_effort" "idle_seconds" 1800} "local" True
   "probe" {"path" (get probe 0) "key" (get probe 1)} "doc" doc})

(defparameter builtin
  [{"name" "openai" "wire" "responses" "base_url" "https://api.openai.com/v1" "key_variable" "OPENAI_API_KEY"
    "base_url_variable" "OPENAI_BASE_URL" "quirks" {"cache_key" True "compaction" True}
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
   {"name" "chatgpt" "wire" "responses" "base_url" "https://chatgpt.com/backend-api/codex" "models_path" False
    "quirks" {"cache_key" True} "models" ["gpt-5.6-sol" "gpt-5.6-luna" "gpt-5.6-terra"] "default_model" "gpt-5.6-sol"
    "signin" {"flow" "pkce" "client_id" None "authorize_url" "https://auth.openai.com/oauth/authorize"
              "token_url" "https://auth.openai.com/oauth/token" "redirect" "http://localhost:1455/auth/callback"
              "scopes" ["openid" "profile" "email" "offline_access"]
              "parameters" {"id_token_add_organizations" "true" "codex_cli_simplified_flow" "true"}
              "claims" {"account_id" ["https://api.openai.com/auth" "chatgpt_account_id"]}
              "headers" {"chatgpt-account-id" "account_id"}
              "import" {"path" "~/.codex/auth.json" "access_token" ["tokens" "access_token"]
                        "refresh_token" ["tokens" "refresh_token"] "id_token" ["tokens" "id_token"]
                        "account_id" ["tokens" "account_id"]}}
    "doc" "OpenAI's models by a ChatGPT subscription."}
   {"name" "openrouter" "wire" "chat-completions" "base_url" "https://openrouter.ai/api/v1" "key_variable" "OPENROUTER_API_KEY"
    "base_url_variable" "OPENROUTER_BASE_URL" "quirks" {"effort_field" "reasoning_effort" "efforts" ["low" "medium" "high"]}
    "models" ["openrouter/auto"] "default_model" "openrouter/auto" "doc" "Models of many vendors, by OpenRouter."}
   {"name" "fireworks" "wire" "responses" "base_url" "https://api.fireworks.ai/inference/v1" "key_variable" "FIREWORKS_API_KEY"
    "base_url_variable" "FIREWORKS_BASE_URL" "quirks" {"cache_key" True "efforts" ["low" "medium" "high"]}
    "models" ["accounts/fireworks/models/kimi-k3" "accounts/fireworks/models/qwen3p7-plus"]
    "default_model" "accounts/fireworks/models/kimi-k3" "doc" "Open models, by Fireworks."}
   {"name" "grok" "wire" "responses" "base_url" "https://api.x.ai/v1" "key_variable" "XAI_API_KEY"
    "base_url_variable" "XAI_BASE_URL"
    "quirks" {"cache_key" True "efforts" ["low" "medium" "high"]} "models" ["grok-4.6" "grok-4.5"] "default_model" "grok-4.6"
    "signin" {"flow" "device" "client_id" None "device_url" "https://auth.x.ai/oauth2/device/code"
              "token_url" "https://auth.x.ai/oauth2/token" "scopes" ["openid" "profile" "email" "offline_access" "api:access"]}
    "doc" "Grok, by a key or a subscription of xAI."}
   {"name" "opencode" "wire" "chat-completions" "base_url" "https://opencode.ai/zen/v1" "key_variable" "OPENCODE_API_KEY"
    "base_url_variable" "OPENCODE_BASE_URL" "doc" "Models for coding, by OpenCode Zen; (models) learns their names."}
   (_local "ollama" "http://127.0.0.1:11434/v1" "OLLAMA_BASE_URL" "OLLAMA_API_KEY" ["/api/version" "version"]
     "Ollama on this machine.")
   (_local "lmstudio" "http://127.0.0.1:1234/v1" "LMSTUDIO_BASE_URL" "LMSTUDIO_API_KEY" ["/api/v0/models" "data"]
     "LM Studio on this machine.")
   (_local "llama-cpp" "http://127.0.0.1:8080/v1" "LLAMA_CPP_BASE_URL" "LLAMA_API_KEY"
     ["/props" "default_generation_settings"] "llama.cpp's llama-server on this machine.")
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
        base (.pop form "extends" None))
  (when (not (and (isinstance name str) (re.fullmatch r"[A-Za-z0-9][A-Za-z0-9._-]*" name)))
    (raise (BadProvider f"a provider needs a name of letters, digits, - . _; not {name !r}")))
  (check-fields name form)
  (when (and base (not-in base known))
    (raise (BadProvider f"provider {name} extends {base}, which is none; there are {(.join ", " known)}")))
  (setv whole (filled name form (if base (get known base) EMPTY)))
  (check-whole name whole)
  (when (and (get whole "models") (not (get whole "default_model")))
    (setv (get whole "default_model") (get whole "models" 0)))
  whole)

(defn check-fields [name form]
  "Refuse fields of FORM, of the provider NAME, that there are not, or that have another kind of value."
  (setv unknown (lfor k form :if (not-in k [#* EMPTY "name"]) k))
  (when unknown
    (raise (BadProvider f"provider {name}: unknown field {(strange (get unknown 0) [#* EMPTY "extends"])}")))
  (for [[kind words fields] [#(dict "a map" ["quirks" "headers" "signin" "probe"]) #(list "a list" ["models"])
                             #(str "a text" ["base_url" "key_variable" "base_url_variable" "default_model"])]
        field fields]
    (when (and (is-not (.get form field) None) (not (isinstance (get form field) kind)))
      (raise (BadProvider f"provider {name}: {(hy.unmangle field)} is {words}, not {(get form field) !r}"))))
  (for [m (.get form "models" [])]
    (when (not (or (isinstance m str) (and (isinstance m dict) (isinstance (.get m "id") str))))
      (raise (BadProvider f"provider {name}: a model is an id, or a map with one; not {m !r}"))))
  (for [quirk (.get form "quirks" {})]
    (when (and (not-in quirk QUIRKS) (nearest quirk QUIRKS 0.8))
      (raise (BadProvider f"provider {name}: unknown quirk {(strange quirk QUIRKS)}"))))
  (for [field (or (.get form "signin") {})]
    (when (not-in field SIGNIN)
      (raise (BadProvider f"provider {name}: unknown field of signin {(strange field SIGNIN)}")))))

(defn nearest [word words likeness]
  "Return the one of WORDS that is most like WORD, or None if none is LIKENESS like it."
  (import difflib)
  (next (iter (difflib.get-close-matches (str word) words 1 likeness)) None))

(defn strange [field fields]
  "Return the words that name FIELD, which is none of FIELDS, with its neighbour, else with all of them."
  (setv near (nearest field fields 0.6))
  (+ (hy.unmangle (str field))
     (if near f"; did you mean {(hy.unmangle near)}?" f"; there are {(.join ", " (map hy.unmangle fields))}")))

(defn filled [name form ground]
  "Return FORM, of the provider NAME, over GROUND; what is known of its models is entered in their table."
  (setv signin (.get form "signin" (get ground "signin")))
  (when (and signin (get ground "signin"))
    (setv signin {#** (get ground "signin") #** signin}))
  (for [m (.get form "models" []) :if (isinstance m dict)]
    (import autolith.provider [models])
    (try
      (models.define m)
      (except [e ValueError]
        (raise (BadProvider f"provider {name}: {e}") :from e))))
  {#** ground #** form "name" name "signin" signin
   "models" (lfor m (.get form "models" (get ground "models")) (if (isinstance m dict) (get m "id") m))
   "quirks" {#** (get ground "quirks") #** (or (.get form "quirks") {})}
   "headers" {#** (get ground "headers") #** (dfor [k v] (.items (or (.get form "headers") {})) k (str v))}})

(defn check-whole [name whole]
  "Refuse WHOLE, the form of the provider NAME, if nobody could ask it."
  (setv url (get whole "base_url") signin (get whole "signin"))
  (when (not-in (get whole "wire") WIRES)
    (raise (BadProvider f"provider {name}: unknown wire {(strange (get whole "wire") WIRES)}")))
  (when (not (or (= (get whole "wire") "tutor") url (get whole "base_url_variable")))
    (raise (BadProvider f"provider {name}: a :base-url is missing")))
  (when (and url (not (.startswith url #("http://" "https://"))))
    (raise (BadProvider f"provider {name}: the base URL {url} does not begin with http:// or https://")))
  (when (and signin (not-in (.get signin "flow") ["device" "pkce"]))
    (raise (BadProvider f"provider {name}: the flow of its signin is device or pkce, not {(.get signin "flow")}"))))

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
    (credentials.source form) True
    (get form "local") False
    True (and (own? form)
              (not (get form "signin"))
              (or (not (get form "key_variable")) (bool (.get (get form "quirks") "key_optional"))))))

(defn own? [form]
  "Tell whether the provider FORM is one of the user's."
  (or (in (get form "name") _own) (in (get form "name") (filed))))

(defn choose [[name None]]
  "Return the provider NAME if one is given; else the first that has its key (the user's first); else the tutor."
  (when name
    (return (find name)))
  (setv table (providers)
        order (sorted (.values table) :key (fn [form] (not (own? form)))))
  (or (next (gfor form order
                  :if (!= (get form "wire") "tutor")
                  :if (or (get form "default_model") (own? form))
                  :if (ready? form)
                  form)
            None)
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
