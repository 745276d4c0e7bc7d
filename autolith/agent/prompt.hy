"The system prompt: prompt.md filled with what was true when the conversation began, so that its bytes never change.

What changes from conversation to conversation is fixed once, in a record of the kind `preamble`
{\"date\" \"directory\" \"environment\" {name text or None} \"instructions\" [{\"path\" \"text\"} ...] \"instructions_digest\"
\"flags\" [name ...]}; the prompt is a pure function of that and of prompt.md. What changed since is said by the
contributors of request-local context.

In prompt.md a section begins with a heading; a line `when: FLAG` or `when: not FLAG` below it makes it conditional."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  datetime
  getpass
  json
  os
  platform
  re
  autolith
  autolith.agent [instructions]
  autolith.state [conversation])

(defparameter template-path (os.path.join (os.path.dirname __file__) "prompt.md") "The file that holds the prompt.")
(defparameter override None "Text that stands for the whole prompt, or a function of the preamble that gives it; None: prompt.md.")
(defparameter fact-limit 256 "How many characters of one fact about the environment the prompt takes.")
(defonce _templates {} "Path and time of a template: its text.")
(defonce _rendered {} "The prompt that was rendered last, with what it was rendered from.")

;; * What is fixed at the beginning

(defn fix [a]
  "Record what the system prompt of the Agent A's conversation is made of, unless that has been done; does not wait for the disk."
  (when (is (conversation.preamble a.conversation) None)
    (conversation.append a.conversation (preamble a) :sync False))
  None)

(defn preamble [a]
  "Return the record that fixes the system prompt for the Agent A as things are now."
  (setv found (instructions.collect a.cwd))
  {"kind" "preamble"
   "date" (today)
   "directory" a.cwd
   "environment" (environment a.cwd)
   "instructions" found
   "instructions_digest" (instructions.digest found)
   "flags" (flags a found)})

(defn today []
  "Return the local day, as 2026-11-30."
  (.isoformat (datetime.date.today)))

(defn flags [a found]
  "Return the names of what is the case for the Agent A, with the instructions FOUND, that sections depend on."
  (lfor [name yes] [["immutable" a.immutable]
                    ["instructions" (bool found)]]
        :if yes
        name))

(defn environment [cwd]
  "Return the facts about where the program runs, in the directory CWD."
  {"user" (_user)
   "system" f"{(platform.system)} {(platform.release)}"
   "machine" (platform.machine)
   "shell" (.get os.environ "SHELL")
   "terminal" (.get os.environ "TERM")
   "language" (or (.get os.environ "LC_ALL") (.get os.environ "LANG"))
   "python" (platform.python-version)
   "hy" hy.__version__
   "autolith" autolith.__version__
   "program_source" (os.path.dirname (os.path.abspath autolith.__file__))
   "working_directory" cwd
   "project_root" (instructions.project-root cwd)})

(defn _user []
  "Return the name of the user, or None where the system knows none."
  (try
    (getpass.getuser)
    (except [[OSError KeyError ImportError]] None)))

;; * The text

(defn system [c]
  "Return the system prompt of the conversation C: the same bytes for each of its requests."
  (setv fixed (or (conversation.preamble c) {}))
  (cond
    (callable override) (override fixed)
    override override
    True (rendered (template) fixed)))

(defn rendered [text fixed]
  "Return what `render` gives for TEXT and FIXED, kept from one request to the next."
  (setv [old-text old-fixed old] (.get _rendered "last" #(None None None)))
  (when (or (is-not text old-text) (is-not fixed old-fixed))
    (setv old (render text fixed)
          (get _rendered "last") #(text fixed old)))
  old)

(defn template []
  "Return the text of prompt.md, read again when the file changed."
  (setv key #(template-path (. (os.stat template-path) st-mtime-ns)))
  (when (not-in key _templates)
    (.clear _templates)
    (with [f (open template-path :encoding "utf-8")]
      (setv (get _templates key) (.read f))))
  (get _templates key))

(defn render [text fixed]
  "Return the template TEXT filled with the preamble FIXED."
  (setv names (set (.get fixed "flags" []))
        kept (lfor section (sections text) :if (applies? section names) (get section "text")))
  (fill (.join "\n\n" kept) {"environment" (facts (.get fixed "environment" {}))
                             "date" (.get fixed "date" "unknown")
                             "instructions" (instructions.render (.get fixed "instructions" []))}))

(defn fill [text values]
  "Return TEXT with each @name@ replaced by the value of that name in VALUES, in one pass: values are not searched."
  (re.sub r"@([a-z]+)@" (fn [m] (.get values (.group m 1) (.group m 0))) text))

(defn sections [text]
  "Return the sections of the template TEXT, {\"condition\" words or None \"text\"}."
  (setv out [])
  (for [part (re.split r"(?m)^(?=# )" text)]
    (setv found (re.match r"(# .*\n)\s*when: *(.*)\n" part)
          whole (if found (+ (.group found 1) (cut part (.end found) None)) part))
    (when (.strip whole)
      (.append out {"condition" (when found (.strip (.group found 2))) "text" (.strip whole)})))
  out)

(defn applies? [section names]
  "Tell whether SECTION is part of the prompt when the flags NAMES are set."
  (setv condition (get section "condition"))
  (cond
    (is condition None) True
    (.startswith condition "not ") (not-in (.removeprefix condition "not ") names)
    True (in condition names)))

(defn facts [environment]
  "Return ENVIRONMENT as lines, each value a JSON literal."
  (.join "\n" (gfor [name value] (.items environment)
                    f"- {(.replace name "_" " ")}: {(_literal value)}")))

(defn _literal [value]
  "Return VALUE as a JSON literal of bounded length; null where it is unknown."
  (when (and (isinstance value str) (> (len value) fact-limit))
    (setv value (+ (cut value fact-limit) " [cut]")))
  (json.dumps (or value None) :ensure-ascii False))
