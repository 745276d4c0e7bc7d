"Sign in to a provider, import another program's login, and keep tokens fresh, whoever else uses them.

A sign-in is kept in the slot of its provider (credentials.sign-in-slot): a TOKEN of oauth.hy, with \"client_id\" where that is not the
form's and \"imported\" True where another program has the same login. Refreshing holds a lock across processes and first looks whether
somebody else has done it; a refresh token that a sibling has used up is looked for anew where it was imported from."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  json
  os
  time
  autolith.base [disk paths]
  autolith.provider [credentials errors keyring-store oauth])

(defparameter margin-seconds 60 "How long before it expires a token is renewed.")
(defparameter lock-seconds 45 "How long to wait for another process that renews the same token.")

(setv NEEDS {"device" ["device_url" "token_url"]  "pkce" ["authorize_url" "token_url"]})

(defn lacks [form]
  "Return the sentence on why nobody can sign in to FORM, or None."
  (setv signin (.get form "signin")
        name (get form "name"))
  (when (not signin)
    (return f"{name} has no sign-in; {(credentials.way-in form)}"))
  (setv missing (lfor field ["client_id" #* (get NEEDS (get signin "flow"))] :if (not (.get signin field)) field))
  (when missing
    (setv fields (.join " " (gfor field missing f":{(hy.unmangle field)} \"...\"")))
    (+ f"the sign-in of {name} lacks {(.join ", " (map hy.unmangle missing))}; put what the provider gave your program "
       f"into {(paths.short (paths.config "providers.hy"))}: "
       f"{{:name \"{name}\" :extends \"{name}\" :signin {{{fields}}}}}")))

(defn sign-in [form tell [pause time.sleep]]
  "Sign in to FORM and keep the token; TELL is called with what the user has to do. Return where the token is kept, in words."
  (setv problem (lacks form))
  (when problem
    (raise (oauth.SignInFailed "unset" problem)))
  (setv signin (get form "signin")
        token (if (= (get signin "flow") "device") (oauth.device signin tell pause) (oauth.pkce signin tell)))
  (keyring-store.keep (credentials.sign-in-slot form) "sign-in" token))

;; * Another program's login

(defn importable [form]
  "Return the path of the file from which a login to FORM can be imported, or None."
  (setv source (.get (or (.get form "signin") {}) "import"))
  (when source
    (setv path (os.path.expanduser (get source "path")))
    (when (os.path.isfile path) path)))

(defn foreign [form]
  "Return the TOKEN in the file that FORM's login can be imported from; raise SignInFailed if there is none."
  (setv path (importable form)
        source (.get (or (.get form "signin") {}) "import"))
  (when (is path None)
    (raise (oauth.SignInFailed "unset" (if source f"there is no login to import: {(get source "path")} is not there"
                                           f"{(get form "name")} names no file to import a login from"))))
  (try
    (with [f (open path :encoding "utf-8")]
      (setv whole (json.load f)))
    (except [e [OSError ValueError RecursionError]]
      (raise (oauth.SignInFailed "refused" f"{path} cannot be imported: {e}") :from e)))
  (setv found (dfor [field keys] (.items source)
                    :if (!= field "path")
                    :setv value (oauth.dig whole keys)
                    :if (isinstance value str)
                    field value)
        id (.get (oauth.claims (.get found "access_token")) "client_id"))
  (when (not (.get found "access_token"))
    (raise (oauth.SignInFailed "refused" f"{path} holds no login; sign in with the program that writes it")))
  (oauth.token (get form "signin") found
               {#** found "imported" True #** (if (isinstance id str) {"client_id" id} {})}))

(defn import-login [form]
  "Keep the login to FORM that another program has, once; return where, in words."
  (keyring-store.keep (credentials.sign-in-slot form) "sign-in" (foreign form)))

;; * Keeping it fresh

(defn stale? [token]
  "Has TOKEN expired, or is it about to?"
  (setv end (.get token "expires_at"))
  (and (is-not end None) (<= end (+ (time.time) margin-seconds))))

(defn :async fresh [form]
  "See to it that a request to FORM has a token that holds: renew the kept one if it expires; fetch what is in a keyring."
  (when (!= (credentials.source form) "sign-in")
    (when (and (= (credentials.source form) "kept") (.get form "key_variable"))
      (import asyncio)
      (await (asyncio.to-thread quietly credentials.key form)))
    (return))
  (import asyncio)
  (setv token (await (asyncio.to-thread quietly credentials.token form)))
  (when (and token (stale? token))
    (await (asyncio.to-thread renewed form token)))
  None)

(defn quietly [f form]
  "Return (F FORM); a keyring that does not answer is a failure of the provider FORM."
  (try
    (f form)
    (except [e keyring-store.NotKept]
      (raise (errors.ProviderError "auth" f"{(get form "name")}: {e}" :provider (get form "name")) :from e))))

(defn :async renew [form]
  "Renew the token of FORM, which the server has refused; return whether there is another now."
  (import asyncio)
  (when (!= (credentials.source form) "sign-in")
    (return False))
  (setv token (credentials.token form))
  (!= (get (await (asyncio.to-thread renewed form token)) "access_token") (get token "access_token")))

(defn renewed [form token]
  "Return a token of FORM to be used instead of TOKEN, kept; raise ProviderError if there is none to be had."
  (setv slot (credentials.sign-in-slot form)
        folder (paths.ensure-folder (paths.state)))
  (try
    (with [_ (disk.lock (os.path.join folder f"{(.replace slot " " "-")}.lock") lock-seconds)]
      (setv now (or (credentials.kept slot) token))
      (if (!= (get now "access_token") (get token "access_token"))
        now                                              ; a sibling was quicker
        (_keep slot (_another form now))))
    (except [e oauth.SignInFailed]
      (when (and (= e.reason "network") (> (or (.get token "expires_at") 0) (time.time)))
        (return token))                                  ; it still holds
      (raise (_failure form e) :from e))
    (except [e [disk.StorageError keyring-store.NotKept]]
      (raise (errors.ProviderError "auth" f"{(get form "name")}: {e}" :provider (get form "name")) :from e))))

(defn _keep [slot token]
  "Keep TOKEN in SLOT and return it."
  (credentials.protect-value token)
  (keyring-store.keep slot "sign-in" token)
  token)

(defn _another [form token]
  "Return the token that follows TOKEN of FORM: by its refresh token, else by the one that a sibling has since got."
  (try
    (_refreshed form token)
    (except [e oauth.SignInFailed]
      (when (!= e.reason "refused")
        (raise))
      (setv other (_sibling form token))
      (cond
        (is other None) (raise)
        (stale? other) (_refreshed form other)
        True other))))

(defn _refreshed [form token]
  "Return the token that the server of FORM gives for the refresh token of TOKEN."
  (setv signin {#** (get form "signin") #** (if (.get token "client_id") {"client_id" (get token "client_id")} {})})
  (when (not (and (.get token "refresh_token") (.get signin "client_id")))
    (raise (oauth.SignInFailed "refused" "the sign-in has run out and cannot be renewed")))
  (oauth.refresh signin token))

(defn _sibling [form token]
  "Return the token that the program from which TOKEN of FORM was imported has got since, or None."
  (when (.get token "imported")
    (try
      (setv other (foreign form))
      (except [oauth.SignInFailed] (return None)))
    (when (!= (get other "access_token") (get token "access_token"))
      other)))

(defn _failure [form error]
  "Return the ProviderError that ERROR, of renewing the sign-in of FORM, means."
  (setv name (get form "name"))
  (if (= error.reason "network")
    (errors.ProviderError "network" f"{name}: the sign-in could not be renewed: {error}" :provider name)
    (errors.ProviderError "auth" f"{name}: {error}. Sign in again: (auth \"{name}\")" :provider name)))
