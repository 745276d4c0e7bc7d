"Hold keys and base URLs of providers in memory only, and keep them out of whatever is shown, stored or sent.

`(take)` moves the standard variables from the environment of the process into this module, so that no child inherits them.
`(redact text)` replaces each held secret in TEXT. A provider form names its variables: key_variable, base_url_variable."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  os
  urllib.parse
  autolith.state [stamp])

(defparameter standard
  ["OPENAI_API_KEY" "ANTHROPIC_API_KEY" "ANTHROPIC_AUTH_TOKEN" "OPENROUTER_API_KEY" "FIREWORKS_API_KEY" "XAI_API_KEY"
   "OPENCODE_API_KEY" "OLLAMA_API_KEY" "LMSTUDIO_API_KEY" "LLAMA_API_KEY"]
  "The variables of keys that leave the environment at the start.")

(defparameter secret-lengths #(8 16)
  "A value is redacted if it has this many characters and a digit, or the second number of them: others, such as the key
\"ollama\" that a local server is given for want of one, would garble ordinary words.")

(defonce _held {} "The values taken, by variable.")
(defonce _secrets #{} "The values to be redacted.")

(defn take [#* variables]
  "Move VARIABLES (none named: the standard ones) from the environment into memory."
  (for [name (or variables standard)]
    (value name :secret True)))

(defn value [variable * [secret False]]
  "Return the value of VARIABLE, taken out of the environment if it is there, or None; a SECRET one is redacted from now on."
  (setv fresh (.strip (os.environ.pop variable "")))
  (when fresh
    (setv (get _held variable) fresh))
  (setv held (.get _held variable))
  (when (and held secret)
    (protect held))
  held)

(defn remember [variable text]
  "Hold TEXT as the secret value of VARIABLE, as if it had come from the environment."
  (setv (get _held variable) (.strip text))
  (protect (get _held variable)))

(defn protect [secret]
  "Redact SECRET from now on, if it is long enough to be one."
  (setv [with-digit without] secret-lengths
        digit (any (gfor c secret (.isdigit c))))
  (when (>= (len secret) (if digit with-digit without))
    (.add _secrets secret)
    (setv (get stamp.secrets "redact") redact)))

(defn forget [#* variables]
  "Drop the values of VARIABLES (none named: of all)."
  (for [name (or variables (list _held))]
    (.discard _secrets (.pop _held name None))))

(defn key [provider]
  "Return the key for the form PROVIDER, or None."
  (when (setx name (.get provider "key_variable"))
    (value name :secret True)))

(defn base-url [provider]
  "Return the base URL for the form PROVIDER, from its variable if that is set, without a slash at the end; or None."
  (setv name (.get provider "base_url_variable")
        url (or (and name (value name)) (.get provider "base_url")))
  (when url
    (setv url (.rstrip (.strip url) "/")))
  url)

(defn redact [text]
  "Return TEXT with every secret replaced, also where it is quoted for a URL."
  (for [secret (sorted _secrets :key len :reverse True)]
    (setv text (.replace text secret "[redacted]")
          quoted (urllib.parse.quote secret :safe ""))
    (when (!= quoted secret)
      (setv text (.replace text quoted "[redacted]"))))
  text)

(defn redact-data [value]
  "Return VALUE, plain data, with every secret in its strings replaced; VALUE itself where no secret is held."
  (cond
    (not _secrets) value
    (isinstance value str) (redact value)
    (isinstance value dict) (dfor [k v] (.items value) k (redact-data v))
    (isinstance value list) (lfor v value (redact-data v))
    True value))
