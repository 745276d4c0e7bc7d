"Know the keys of providers, and keep them out of whatever is shown, stored or sent.

`(take)` moves the standard variables from the environment of the process into this module, so that no child inherits them.
`(redact text)` replaces each held secret in TEXT. A provider form names its variables: key_variable, base_url_variable.
A key comes from its variable; else from what `autolith auth` has kept (keyring_store.hy); else it is the access token of a sign-in."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  os
  urllib.parse
  autolith.base [paths]
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
    (value name :secret True))
  (when (and (not variables) (os.path.lexists (paths.state "credentials.hy")))
    (protect-kept)))

(defn protect-kept []
  "Redact from now on what is kept in the file of credentials; what is in a keyring is redacted once it is fetched."
  (import autolith.provider [keyring-store])
  (for [value (keyring-store.values)]
    (protect-value value)))

(defn value [variable * [secret False]]
  "Return the value of VARIABLE, taken out of the environment if it is there, or None; a SECRET one is redacted from now on."
  (setv raw (os.environ.pop variable "")
        fresh (.strip raw))
  (when fresh
    (when secret (blank raw))
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

(defn protect-value [value]
  "Redact the secrets in VALUE, a key or a token map, from now on."
  (if (isinstance value dict)
    (for [name ["access_token" "refresh_token" "id_token"]]
      (when (.get value name) (protect (get value name))))
    (when (isinstance value str) (protect value))))

(defn forget [#* variables]
  "Drop the values of VARIABLES (none named: of all)."
  (for [name (or variables (list _held))]
    (.discard _secrets (.pop _held name None))))

(defn blank [text]
  "Overwrite TEXT where the process was given its environment, which /proc shows to every process of the user."
  (try
    (with [f (open "/proc/self/stat" "rb")]
      (setv fields (.split (get (.rpartition (.read f) b")") 2))
            start (int (get fields 47))
            end (int (get fields 48))
            wanted (os.fsencode text)))
    (with [memory (open "/proc/self/mem" "r+b" :buffering 0)]
      (.seek memory start)
      (setv block (.read memory (- end start))
            at (.find block wanted))
      (while (>= at 0)
        (.seek memory (+ start at))
        (.write memory (* b"x" (len wanted)))
        (setv at (.find block wanted (+ at (len wanted))))))
    (except [[OSError ValueError IndexError OverflowError]] None)))

;; * Keys of providers

(defn slot [provider]
  "Return the name under which the key of the form PROVIDER is kept: that of its variable, which providers may share."
  (or (.get provider "key_variable") (get provider "name")))

(defn sign-in-slot [provider]
  "Return the name under which the sign-in of the form PROVIDER is kept."
  f"sign-in {(get provider "name")}")

(defn key [provider]
  "Return the key for the form PROVIDER: its variable's value, else the kept one, else the access token of its sign-in; or None."
  (setv variable (.get provider "key_variable"))
  (or (and variable (value variable :secret True))
      (kept (slot provider))
      (.get (or (token provider) {}) "access_token")))

(defn kept [slot]
  "Return the value kept in SLOT, redacted from now on, or None."
  (import autolith.provider [keyring-store])
  (setv value (keyring-store.fetch slot))
  (protect-value value)
  value)

(defn token [provider]
  "Return the token map of the sign-in of the form PROVIDER, or None."
  (when (.get provider "signin")
    (kept (sign-in-slot provider))))

(defn source [provider]
  "Return where the key of the form PROVIDER comes from: variable, kept, sign-in or None; asks no keyring."
  (setv variable (.get provider "key_variable"))
  (when (and variable (value variable :secret True))
    (return "variable"))
  (import autolith.provider [keyring-store])
  (cond
    (keyring-store.kind (slot provider)) "kept"
    (and (.get provider "signin") (keyring-store.kind (sign-in-slot provider))) "sign-in"
    True None))

(defn headers [provider]
  "Return the headers that a request to PROVIDER carries beside its key: what its sign-in says about the account."
  (setv wanted (.get (or (.get provider "signin") {}) "headers"))
  (if (and wanted (= (source provider) "sign-in"))
    (do (setv known (or (token provider) {}))
        (dfor [header field] (.items wanted) :if (.get known field) header (get known field)))
    {}))

(defn way-in [provider]
  "Return what a user can do to give the form PROVIDER a key, as words."
  (setv name (get provider "name")
        variable (.get provider "key_variable"))
  (if variable
    f"set {variable}, or (auth \"{name}\")"
    f"(auth \"{name}\")"))

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
