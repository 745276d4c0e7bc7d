"The commands for keys, sign-ins and models: (auth ...) and (models ...).

A key is typed where nobody sees it: in the terminal, or as a line on standard input. Nothing here shows one."

(eval-when-compile (require autolith.application.macros [defcommand]))
(import
  sys
  autolith.application [choice commands primitives session]
  autolith.base [conditions paths text threads]
  autolith.provider [credentials discovery errors keyring-store models :as table oauth registry signin])

(setv WAYS ["key" "sign-in" "import" "forget"]
      MOST-SHOWN 12)

(defclass AuthRefused [conditions.AutolithError]
  "A key or a sign-in could not be had or kept.")

;; * Keys and sign-ins

(defcommand auth [[provider None] [how None] * [probe True]]
  "List where keys come from, or give PROVIDER a key or sign in there; HOW is key, sign-in, import or forget.

A key is asked for unseen, tried with one request (not if PROBE is False), and kept for the next start. No value is ever shown."
  {"beside" "idle" "slash" "first"}
  (when (is provider None)
    (return (commands.Text (auth-text))))
  (primitives.only-user "auth")
  (setv form (registry.find (str provider))
        how (if (is how None) (usual-way form) (str how)))
  (when (not-in how WAYS)
    (raise (AuthRefused f"(auth \"{provider}\" ...) takes {(.join ", " WAYS)}; not {how}")))
  (commands.Text
    (match how
      "key" (add-key form probe)
      "sign-in" f"signed in to {(get form "name")}; the token is kept {(signin.sign-in form tell)}."
      "import" f"the login to {(get form "name")} was imported; it is kept {(signin.import-login form)}."
      _ (forget form))))

(defn usual-way [form]
  "Return how one gets into FORM, where the user did not say."
  (cond
    (get form "key_variable") "key"
    (not (get form "signin")) "key"
    (signin.importable form) "import"
    True "sign-in"))

(defn auth-text []
  "Return where the keys of all providers come from, as text."
  (align
    (+ (lfor form (.values (registry.providers))
             :if (!= (get form "wire") "tutor")
             [(get form "name") (source-words form)])
       (lfor fault (keyring-store.faults) ["fault" fault]))))

(defn source-words [form]
  "Return where the key of FORM comes from, in words."
  (setv variable (get form "key_variable"))
  (match (credentials.source form)
    "variable" f"key from {variable}"
    "kept" f"key kept {(keyring-store.where (credentials.slot form))}"
    "sign-in" (+ "signed in, token kept " (keyring-store.where (credentials.sign-in-slot form)) (holds form))
    _ (cond
        (get form "local") "local, needs no key"
        (and (not variable) (not (get form "signin"))) "needs no key"
        (and (not variable) (signin.importable form)) f"nothing yet: (auth \"{(get form "name")}\") imports {(signin.importable form)}"
        True f"nothing yet: {(credentials.way-in form)}")))

(defn align [rows]
  "Return ROWS, lists of texts of one length, as aligned lines."
  (setv widths (lfor column (zip #* rows) (max (map len column))))
  (.join "\n" (lfor row rows (.rstrip (.join "  " (lfor [cell width] (zip row widths) (.ljust cell width)))))))

(defn holds [form]
  "Return how long the token of FORM holds, in words with a comma before them; nothing where that needs a keyring."
  (setv entry (.get (keyring-store.entries) (credentials.sign-in-slot form) {})
        value (.get entry "value"))
  (cond
    (not (and (isinstance value dict) (.get value "expires_at"))) ""
    (signin.stale? value) ", to be renewed"
    True ""))

(defn add-key [form probe]
  "Ask for the key of FORM, try it if PROBE, keep it; return what happened."
  (setv name (get form "name")
        key (.strip (read-secret f"Key for {name}: ")))
  (when (not key)
    (raise (AuthRefused f"no key was given for {name}; nothing has changed")))
  (when (not (and (.isascii key) (.isprintable key) (not-in " " key)))
    (raise (AuthRefused "that has characters that no key has (blanks, accents); copy it again")))
  (credentials.protect key)
  (setv said (if probe (tried form key) "")
        where (keyring-store.keep (credentials.slot form) "key" key)
        variable (get form "key_variable"))
  (.strip (+ f"the key for {name} is kept {where}. {said}"
             (if (= (credentials.source form) "variable") f" {variable} is set too and goes first." ""))))

(defn tried [form key]
  "Return what FORM's server says to KEY, in words; raise AuthRefused where it refuses it."
  (setv trial {#** form "key_variable" "AUTOLITH_TRIAL" "signin" None})
  (when (is (discovery.endpoint form) None)
    (return ""))
  (credentials.remember "AUTOLITH_TRIAL" key)
  (try
    (setv found (threads.on-loop (discovery.fetch trial)))
    (discovery.keep (get form "name") (discovery.endpoint form) found)
    f"{(get form "name")} took it and lists {(len found)} models."
    (except [e errors.ProviderError]
      (when (= e.kind "auth")
        (raise (AuthRefused f"{(get form "name")} refused the key ({(or e.text e)}); it is not kept") :from e))
      f"It could not be tried: {(errors.sentence (str e))}")
    (finally
      (credentials.forget "AUTOLITH_TRIAL")
      (credentials.protect key))))

(defn forget [form]
  "Forget what is kept of FORM; return what happened."
  (setv gone (lfor slot [(credentials.slot form) (credentials.sign-in-slot form)] (keyring-store.drop slot)))
  (+ (if (any gone) f"what was kept of {(get form "name")} is forgotten." f"nothing was kept of {(get form "name")}.")
     (if (= (credentials.source form) "variable") f" {(get form "key_variable")} still gives a key." "")))

(defn read-secret [question]
  "Return the line that the user gives to QUESTION without its being seen."
  (setv s (get session.current "session")
        ask (getattr s "ask_secret" None))
  (cond
    ask (ask question)
    (and s s.interactive)
      (raise (AuthRefused "a key cannot be typed unseen here; leave, or use another terminal: autolith auth NAME"))
    (.isatty sys.stdin) (do (import getpass) (getpass.getpass question))
    True (.readline sys.stdin)))

(defn tell [told]
  "Say what the user has to do to sign in, TOLD by oauth.hy, and open the page where there is a browser."
  (import os webbrowser)
  (print (if (.get told "code")
           f"Open {(get told "url")} and enter the code {(get told "code")}"
           f"Open this page and agree there:\n{(get told "url")}")
         :flush True)
  (when (and (.get told "port") (or (.get os.environ "SSH_CONNECTION") (.get os.environ "SSH_TTY")))
    (print f"(from another machine, first: ssh -L {(get told "port")}:127.0.0.1:{(get told "port")} ...)" :flush True))
  (when (and (or (.get os.environ "DISPLAY") (.get os.environ "WAYLAND_DISPLAY") (= sys.platform "darwin"))
             (not (.get os.environ "SSH_CONNECTION")))
    (try (webbrowser.open (or (.get told "direct") (get told "url"))) (except [Exception])))
  None)

;; * Models

(defcommand models [[provider None] * [refresh False]]
  "List the models of all providers, or all those of PROVIDER; with REFRESH the providers are asked anew.

A list is asked for at most once a day; the last good one is kept."
  {"beside" "always" "slash" "first"}
  (commands.Text (models-text provider refresh)))

(defn models-text [[provider None] [refresh False]]
  "Return the models of PROVIDER, or of all, as text; providers are asked where their list is old, or all if REFRESH."
  (setv forms (if provider [(registry.find (str provider))] (list (.values (registry.providers))))
        [servers notes] (threads.on-loop (asked forms refresh))
        s (get session.current "session")
        rows [])
  (for [form forms]
    (setv ids (names-of form)
          shown (if provider ids (cut ids MOST-SHOWN)))
    (for [id (or shown [None])]
      (.append rows (row form id (in form servers) s)))
    (when (> (len ids) (len shown))
      (.append rows ["" f"... {(- (len ids) (len shown))} more: (models \"{(get form "name")}\")" "" "" "" ""])))
  (.join "\n" [(align rows) #* notes]))

(defn :async asked [forms refresh]
  "Ask FORMS for their models where that is due, or all of them if REFRESH; return #(local servers that answer, sentences)."
  (setv servers (await (discovery.servers forms))
        due (lfor f forms
                  :if (if (get f "local") (in f servers) (discovery.askable? f))
                  :if (or refresh (get f "local") (discovery.old? (get f "name")))
                  f))
  #(servers (await (discovery.refresh due))))

(defn names-of [form]
  "Return the ids of the models of FORM: those of its form, then those that its server listed."
  (setv own (get form "models"))
  (+ own (lfor id (discovery.ids (get form "name")) :if (not-in id own) id)))

(defn row [form id answers s]
  "Return the cells for the model ID (or None) of FORM; ANSWERS says that it is a local server that does; S is the session."
  (setv name (get form "name")
        known (when (and id (!= id "tutor")) (table.find id)))
  [(if (and s (= name (get s.provider "name")) (= id s.model)) "*" " ")
   f"{name}/{(text.visible (or id "MODEL"))}"
   (if known f"{(// (get known "window") 1000)}k{(if (get known "assumed") "?" "")}" "")
   (if known (.join "," (lfor e (get known "efforts") :if (= (table.effort id e form) e) e)) "")
   (if known (.join " " (gfor [flag word] [["images" "images"] ["tools" "tools"]] :if (get known flag) word)) "")
   (cond
     answers "local server, answers; used when named"
     (get form "local") "local server, does not answer"
     True (choice.missing form))])
