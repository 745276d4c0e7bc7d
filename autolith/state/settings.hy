"What a user can set: declared once, resolved in one order, saved in preferences.hy below the state root.

A value comes from the first of: what this process was told (`put`, an option), the environment variable, the saved
preference, the default. A setting is a map {\"name\" \"type\" \"default\" \"scope\" \"variable\" \"doc\" \"unsaved\"}; its type is
[\"boolean\"], [\"integer\" least most], [\"string\"], [\"choice\" name ...] or [\"path\"]; None stands for unset everywhere. The scope is
durable or process; a process setting is never saved. Preferences that nobody here declared survive a rewrite.

init.hy may declare more: (defsetting note-limit (integer 1 50) 10 durable \"AUTOLITH_NOTE_LIMIT\" \"How many notes are sent.\")."

(eval-when-compile (require autolith.base.macros [defonce]))

(import
  os
  autolith.base [conditions disk paths snapshot])

(defonce table {}
  "The declared settings by name.")

(defonce explicit {}
  "What this process was told, by name.")

(defonce _file {"stamp" None  "saved" {}  "faults" []}
  "The preferences as last read, and what identified the file then.")

(setv _TRUE #{"1" "true" "yes" "on"}
      _FALSE #{"0" "false" "no" "off"})

(defclass SettingError [conditions.AutolithError]
  "A setting that does not exist, or a value that it cannot take.")


;; * Declaring

(defmacro defsetting [name kind default scope variable doc #* options]
  "Declare the setting NAME. KIND is boolean, integer, (integer LEAST MOST), string, (choice NAME ...) or path; SCOPE is durable or
process; VARIABLE is an environment variable or None. `:unsaved [VALUE ...]` names values that are never saved."
  (setv parts (if (isinstance kind hy.models.Expression) (list kind) [kind]))
  `(hy.I.autolith/state/settings.declare
     ~(str name)
     [~@(lfor p parts (if (isinstance p hy.models.Symbol) (str p) p))]
     ~default ~(str scope) ~variable ~doc ~@options))

(defn declare [name kind default scope variable doc * [unsaved #()]]
  "Enter the setting NAME, as `defsetting` describes; a second declaration replaces the first. Return its name."
  (setv setting {"name" name  "type" kind  "default" None  "scope" scope  "variable" variable  "doc" doc
                 "unsaved" (list unsaved)})
  (when (not (and (in (get kind 0) _CONVERTERS) (in scope #("durable" "process"))))
    (raise (SettingError f"{name}: a setting is boolean, integer, string, choice or path, and durable or process")))
  (when (is-not default None)
    (setv (get setting "default") (convert setting default)))
  (setv (get table name) setting)
  name)

(defn find [name]
  "Return the setting NAME, which may be spelled with hyphens or underscores; raise SettingError if there is none."
  (setv plain (.replace (str name) "_" "-"))
  (when (not-in plain table)
    (import difflib)
    (setv near (difflib.get-close-matches plain table 3))
    (raise (SettingError (+ f"there is no setting {plain}"
                            (if near f"; there is {(.join ", " near)}" "; (settings) lists them")))))
  (get table plain))


;; * Types

(defn describe [kind]
  "Return in words what values the type KIND takes."
  (match kind
    ["boolean"] "true or false"
    ["integer" least most] f"a whole number from {least} to {most}"
    ["integer" #* _rest] "a whole number"
    ["choice" #* names] f"one of {(.join ", " names)}"
    ["path"] "a path"
    _ "text"))

(defn _boolean [kind value]
  "Return the truth value that VALUE, also as text, means; None if it means none."
  (setv word (.lower (str value)))
  (cond
    (in word _TRUE) True
    (in word _FALSE) False))

(defn _integer [kind value]
  "Return the integer that VALUE, also as text, means, if it lies within KIND; else None."
  (when (not (isinstance value #(int str)))
    (return None))
  (setv number (int value)
        [least most] (or (cut kind 1 3) [number number]))
  (when (and (not (isinstance value bool)) (<= least number most))
    number))

(defn _text [kind value]
  "Return VALUE as plain text, if it is text and not empty; else None."
  (when (isinstance value str)
    (or (.strip (str value)) None)))

(defn _choice [kind value]
  "Return the choice of KIND that VALUE names; None if it names none."
  (setv word (.lstrip (str value) ":"))
  (when (in word (cut kind 1 None))
    word))

(defn _path [kind value]
  "Return VALUE as an absolute path; None if it is not a path."
  (when (and (isinstance value #(str os.PathLike)) (str value))
    (os.path.abspath (os.path.expanduser (str value)))))

(setv _CONVERTERS {"boolean" _boolean  "integer" _integer  "string" _text  "choice" _choice  "path" _path})

(defn convert [setting value]
  "Return VALUE, which may be text, as the type of SETTING has it; raise SettingError if it does not fit."
  (setv kind (get setting "type"))
  (try
    (setv found ((get _CONVERTERS (get kind 0)) kind value))
    (except [ValueError]
      (setv found None)))
  (when (is found None)
    (raise (SettingError f"{(get setting "name")} is {(describe kind)}, not {(_quoted value)}")))
  found)

(defn _quoted [value]
  "Return VALUE as it is quoted in a message."
  (cut (hy.repr (if (isinstance value str) (str value) value)) 80))


;; * The saved preferences

(defn path []
  "Return the path of the saved preferences."
  (paths.state "preferences.hy"))

(defn _stamp [name]
  "Return what changes when the file NAME does; None where there is none."
  (try
    (setv status (os.stat name))
    #(name status.st-ino status.st-mtime-ns status.st-size)
    (except [OSError] None)))

(defn _saved []
  "Return the saved preferences, {key value}, read anew when the file has changed."
  (setv stamp (_stamp (path)))
  (when (!= stamp (get _file "stamp"))
    (setv faults []
          found (if stamp (snapshot.read (path) {} :faults faults) {}))
    (when (not (isinstance found dict))
      (setv found (_no-map (path) faults)))
    (.update _file {"stamp" stamp  "saved" found  "faults" faults}))
  (if stamp (get _file "saved") {}))

(defn _no-map [path faults]
  "Note in FAULTS that the file PATH holds no map; return an empty one."
  (.append faults f"{path}: preferences are a map; using what is set without it")
  {})

(defn _key [setting]
  "Return the key of SETTING in the saved preferences."
  (hy.mangle (get setting "name")))

(defn _rewrite [key value]
  "Save VALUE under KEY, or with None nothing, keeping every other preference."
  (defn change [old]
    (setv rest (if (isinstance old dict) (dict old) {}))
    (.pop rest key None)
    (if (is value None) rest {#** {"version" 1} #** rest #** {key value}}))
  (paths.ensure-folder (os.path.dirname (path)))
  (snapshot.update (path) {} change :faults []))


;; * Resolving

(defn _candidates [setting]
  "Yield #(source value label) of what might decide SETTING, the strongest first."
  (setv name (get setting "name")  variable (get setting "variable"))
  (when (in name explicit)
    (yield #("explicit" (get explicit name) name)))
  (when (and variable (.get os.environ variable))
    (yield #("variable" (get os.environ variable) variable)))
  (when (= (get setting "scope") "durable")
    (setv saved (.get (_saved) (_key setting)))
    (when (is-not saved None)
      (yield #("saved" saved (path))))))

(defn resolve [setting]
  "Return #(value source problems) of SETTING; PROBLEMS are sentences about stronger sources that did not fit."
  (setv problems [])
  (for [[source value label] (_candidates setting)]
    (try
      (return #((convert setting value) source problems))
      (except [e SettingError]
        (.append problems f"{label}: {e}; it is passed over"))))
  #((get setting "default") "default" problems))

(defn value [name]
  "Return the value of the setting NAME; None means unset."
  (get (resolve (find name)) 0))

(defn source [name]
  "Return where the value of the setting NAME comes from: explicit, variable, saved or default."
  (get (resolve (find name)) 1))

(defn problems []
  "Return sentences about what was passed over: variables and preferences that do not fit, a damaged file."
  (_saved)
  (+ (list (get _file "faults"))
     (lfor setting (.values table)  problem (get (resolve setting) 2)  problem)))

(defn rows []
  "Return one map a setting, sorted by name: {\"name\" \"type\" \"value\" \"default\" \"source\" \"scope\" \"variable\" \"doc\"}."
  (lfor name (sorted table)
        :setv setting (get table name)
        :setv [value source _problems] (resolve setting)
        {#** setting  "value" value  "source" source}))


;; * Setting

(defn put [name value]
  "Set the setting NAME to VALUE for this process; None takes back what was put. Return the value that now holds."
  (setv setting (find name)  name (get setting "name"))
  (if (is value None)
    (.pop explicit name None)
    (setv (get explicit name) (convert setting value)))
  (get (resolve setting) 0))

(defn save [name value]
  "Set the setting NAME to VALUE, for this process and for those to come; None forgets it. Return the value that now holds."
  (setv setting (find name))
  (when (!= (get setting "scope") "durable")
    (raise (SettingError f"{(get setting "name")} is for one process and is not saved; set it with `put`, or by {(get setting "variable")}")))
  (setv kept (if (is value None) None (convert setting value)))
  (when (in kept (get setting "unsaved"))
    (raise (SettingError f"{(get setting "name")} {kept} is never saved; it holds for one process")))
  (_rewrite (_key setting) kept)
  (put name kept))


;; * The settings

(defsetting provider string None durable "AUTOLITH_PROVIDER"
  "The provider that answers; unset: the first one with credentials, else the tutor.")
(defsetting model string None durable "AUTOLITH_MODEL"
  "The model that answers; unset: the provider's own choice.")
(defsetting effort string None durable "AUTOLITH_EFFORT"
  "How hard the model thinks, as none, low, medium, high; unset: the model's own choice.")
(defsetting max-output (integer 1 1_000_000) None durable "AUTOLITH_MAX_OUTPUT"
  "The most tokens of one answer; unset: the model's own limit.")
(defsetting context-window (integer 1_000 100_000_000) None durable "AUTOLITH_CONTEXT_WINDOW"
  "The tokens that a request may have; unset: what is known of the model.")
(defsetting compaction-threshold (integer 10 100) 80 durable "AUTOLITH_COMPACTION_THRESHOLD"
  "At how many percent of the window a conversation is replaced by a summary of it.")
(defsetting idle-timeout (integer 1 86_400) 300 durable "AUTOLITH_IDLE_TIMEOUT"
  "The seconds without a word from the provider after which a request has failed.")
(defsetting retry-limit (integer 0 100) 5 durable "AUTOLITH_RETRY_LIMIT"
  "How often in a row a request that failed is sent again.")
(defsetting retry-wait-limit (integer 1 86_400) 120 durable "AUTOLITH_RETRY_WAIT_LIMIT"
  "The most seconds that a turn waits before it sends a request again; a provider that asks for more ends it.")
(defsetting request-limit (integer 1 10_000) 100 durable "AUTOLITH_REQUEST_LIMIT"
  "The most requests of one turn.")
(defsetting identical-failure-limit (integer 1 100) 3 durable "AUTOLITH_IDENTICAL_FAILURE_LIMIT"
  "How often in a row the same call may fail in the same way before the turn stops.")
(defsetting output-retention-days (integer 0 36_500) 30 durable "AUTOLITH_OUTPUT_RETENTION_DAYS"
  "For how many days stored outputs are kept.")
(defsetting output-retention-bytes (integer 0 1_000_000_000_000) 1_000_000_000 durable "AUTOLITH_OUTPUT_RETENTION_BYTES"
  "How many bytes stored outputs may take together; the oldest go first.")
(defsetting permission-mode (choice ask auto sandbox full plan) "ask" durable "AUTOLITH_PERMISSIONS"
  "What a model may do without asking; sandbox, full and plan hold for one process."
  :unsaved ["sandbox" "full" "plan"])
(defsetting immutable boolean False process "AUTOLITH_IMMUTABLE"
  "Whether the model is kept from changing the running program.")
(defsetting trace boolean False durable "AUTOLITH_TRACE"
  "Whether the model's reasoning is shown.")
(defsetting plain boolean False durable "AUTOLITH_PLAIN"
  "Whether the terminal is a plain one: words instead of marks, no redrawing.")
(defsetting edit-mode (choice emacs vi) "emacs" durable "AUTOLITH_EDIT_MODE"
  "The keys of the prompt.")
(defsetting editor string None durable "AUTOLITH_EDITOR"
  "The command that edits a draft; unset: VISUAL, else EDITOR.")
(defsetting site path None process "AUTOLITH_SITE"
  "A folder with configuration for all users of this machine, between the packaged layer and the user's.")
