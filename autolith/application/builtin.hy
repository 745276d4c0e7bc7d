"The commands that come with the program.

A command returns what the prompt shows: `commands.Text` is printed as it is. Commands may be called from the main thread or
from a worker, so what touches the session goes through `_do`."

(eval-when-compile (require autolith.application.macros [defcommand]))
(import
  os
  time
  autolith
  autolith.agent [context :as request-context]
  autolith.application [choice commands help :as manual inputs primitives questions recent session]
  autolith.base [conditions ids paths text threads]
  autolith.image [layers]
  autolith.provider [models]
  autolith.state [conversation settings :as store])

(defclass Refused [conditions.AutolithError]
  "A command was given something that it cannot take."
  None)

(defn _only-idle [name]
  "Raise Refused when a turn runs, in the middle of which the command NAME would pull the ground away."
  (setv s (session.get-current))
  (when s.turn
    (raise (Refused f"({name} ...) waits until the turn has ended; (cancel) or Esc stops it"))))

(defn _do [f #* args #** kwargs]
  "Call F with the session and ARGS on the loop thread, and wait."
  (setv s (session.get-current))
  (defn :async call [] (f s #* args #** kwargs))
  (threads.on-loop (call)))

(defn _table [rows]
  "ROWS, lists of texts, as aligned lines; the last column is not padded."
  (setv rows (lfor row rows (list (map str row))))
  (when (not rows) (return ""))
  (setv widths (lfor column (zip #* rows) (max (map len column))))
  (.join "\n" (gfor row rows
    (.rstrip (+ (.join "  " (gfor [cell width] (zip (cut row -1) widths) (.ljust cell width)))
                (if (> (len row) 1) "  " "") (get row -1))))))

;; * Help

(defcommand help [[name None]]
  "List all operations, or say everything about one: (help), (help resource.read), (help \"model\")."
  {"beside" "always" "slash" "remainder"}
  (commands.Text (if (is name None) (manual.overview) (manual.about name))))

;; * Conversations

(defcommand new []
  "Start a new conversation; the old one is kept."
  {"beside" "idle"}
  (_only-idle "new")
  (_do session.begin)
  None)

(defcommand resume [[id None]]
  "Resume the conversation ID, or the newest of this directory."
  {"beside" "idle" "slash" "first"}
  (_only-idle "resume")
  (setv s (session.get-current)
        wanted (if id (conversation.find (str id)) (session.newest s)))
  (when (is wanted None)
    (raise (Refused f"there is no conversation of {s.cwd}; (conversations) lists them all")))
  (when (and s.conversation (= wanted s.conversation.id))
    (return (commands.Text "this is that conversation")))
  (_do session.resume wanted)
  (_do inputs.restore)
  None)

(defcommand conversations [[directory None]]
  "List the conversations, newest first; of DIRECTORY only, where one is given."
  {"beside" "always" "slash" "remainder"}
  (setv found (conversation.survey (when directory (os.path.abspath (os.path.expanduser directory)))))
  (commands.Text
    (if (get found "rows")
      (.join "\n" [(_table (map conversation-row (get found "rows"))) #* (get found "notes")])
      "no conversation yet")))

(defn conversation-row [row]
  "Return ROW of the listing as cells."
  [(ids.show-id (get row "id")) (get row "time") f"{(get row "turns")} turns" (get row "directory")
   (+ (if (get row "in_use") "(open) " "") (text.visible (or (get row "preview") "")))])

(defcommand history [[count 20]]
  "Show the last COUNT things that happened in this conversation."
  {"beside" "always" "slash" "first"}
  (setv s (session.get-current))
  (commands.Text (.join "\n" (map recent.line (recent.events s.conversation (int count))))))

;; * What the session runs with

(defcommand model [[name None] [effort None]]
  "Show the model and those that are known, or go on with NAME, as gpt-5.4 or provider/model, and EFFORT."
  {"beside" "safe-point" "slash" "first"}
  (when (is name None) (return (commands.Text (models-text))))
  (setv s (session.get-current) [provider model] (choice.resolve name s.provider))
  (_do session.configure :provider provider :model model :effort effort)
  (store.save "model" model)
  (store.save "provider" (get provider "name"))
  (when effort (store.save "effort" effort))
  (commands.Text (.strip f"{(get provider "name")}/{model}. {(choice.assumption model)} {(choice.unready provider)}")))

(defn models-text []
  "Return the providers and their models as text; the one in use is marked."
  (setv s (session.get-current))
  (_table (lfor [form model] (choice.rows)
    [(if (and (= (get form "name") (get s.provider "name")) (= model s.model)) "*" " ")
     f"{(get form "name")}/{(or model "MODEL")}"
     (if (and model (!= model "tutor")) (choice.about model) "")
     (choice.missing form)])))

(defcommand effort [[level None]]
  "Show or set the reasoning effort: none, low, medium, high or what the model takes."
  {"beside" "safe-point" "slash" "first"}
  (setv s (session.get-current))
  (when (is level None) (return (commands.Text (or s.effort "the model's own"))))
  (setv taken (models.effort s.model (str level)))
  (_do session.configure :effort (str level))
  (store.save "effort" (str level))
  (cond
    (is taken None) (commands.Text f"{s.model} takes no effort; it will be used with a model that does")
    (!= taken (str level)) (commands.Text f"{s.model} takes {taken} for {level}; it knows {(.join ", " (get (models.find s.model) "efforts"))}")
    True None))

(defcommand cwd [[path None]]
  "Show the working directory, or work in PATH from now on."
  {"beside" "idle" "slash" "remainder"}
  (when path
    (_only-idle "cwd")
    (try
      (_do session.change-directory path)
      (except [e OSError]
        (raise (Refused f"cannot work in {path}: {e.strerror}")))))
  (commands.Text (. (session.get-current) cwd)))

(defcommand info []
  "Show what the session runs with."
  {"beside" "always"}
  (setv s (session.get-current))
  (commands.Text (_table [["provider" (get s.provider "name")] ["model" s.model] ["effort" (or s.effort "the model's own")]
                          ["permissions" (store.value "permission-mode")] ["reasoning shown" (store.value "trace")]
                          ["directory" s.cwd]])))

(defcommand status []
  "Show the conversation, the workspace, the tokens used and what runs or waits."
  {"beside" "always"}
  (setv s (session.get-current) active (session.busy s) percent (session.context-percent s))
  (commands.Text (_table [["autolith" autolith.__version__]
                          ["conversation" (if s.conversation (ids.show-id s.conversation.id) "none yet")]
                          ["file" (if s.conversation (str s.conversation.path) "-")]
                          ["directory" s.cwd] ["branch" (or (session.branch s.cwd) "-")]
                          ["model" f"{(get s.provider "name")}/{s.model}"]
                          ["context" (if (is percent None) "unknown" f"{percent}%")]
                          ["tokens" (usage-words s.usage)]
                          ["running" (if active (active-words active) "nothing")]
                          ["waiting" f"{(len (inputs.queue s))} inputs"]])))

(defn active-words [active]
  "Return ACTIVE, what runs, in words."
  (.format "{}, {}" (get active "phase") (text.duration (- (time.monotonic) (get active "since")))))

(defn usage-words [usage]
  "Return USAGE, a list of token counts, summed up in words."
  (defn total [key] (sum (gfor u usage (or (.get u key) 0))))
  (.format "in {} ({} cached), out {}"
           (text.tokens (total "input")) (text.tokens (total "cached")) (text.tokens (total "output"))))

(defcommand context []
  "Show what was put into the last request beside the conversation, and what was left out."
  {"beside" "always"}
  (setv s (session.get-current))
  (commands.Text (context-words (request-context.report (when s.conversation s.conversation.id)))))

(defn context-words [report]
  "Return REPORT, of what the last request carried, as text."
  (setv rows (+ (lfor c (get report "carried") ["carried" #* (contribution-cells c)])
                (lfor c (get report "omitted") ["left out" #* (contribution-cells c)])
                (lfor f (get report "failures") ["failed" f "" ""])))
  (if rows (_table rows) "the last request carried nothing beside the conversation"))

(defn contribution-cells [c]
  "Return the contribution C, as the report has it, as cells."
  [(.get c "id" "") (.get c "class" "") f"{(.get c "tokens" 0)} tokens"])

(defcommand settings []
  "Show every setting with its value and where it comes from; (setting NAME VALUE) changes one."
  {"beside" "always"}
  (commands.Text (_table (lfor row (store.rows)
    [(get row "name") (hy.repr (get row "value")) f"({(get row "source")})" (get row "doc")]))))

(defcommand setting [name [value None]]
  "Show the setting NAME, or make it VALUE and save it."
  {"beside" "safe-point" "slash" "first"}
  (if (is value None)
    (store.value name)
    (do (store.save name value) (store.value name))))

(defcommand reload []
  "Load the init files again, all of them or none."
  {"beside" "idle"}
  (_only-idle "reload")
  (commands.Text (layers.report (layers.reload))))

;; * Questions

(defcommand answer [choice #* values]
  "Answer the open question by CHOICE, its number or name, with VALUES if it takes any."
  {"beside" "always" "slash" "first"}
  (primitives.only-user "answer")
  (questions.settle (session.get-current) choice (list values))
  None)

(defcommand restart [choice #* values]
  "Take the restart CHOICE, its number or name, of the form that waits for a decision, with VALUES if it takes any."
  {"beside" "always" "slash" "first"}
  (primitives.only-user "restart")
  (questions.settle (session.get-current) choice (list values))
  None)

;; * What runs

(defcommand queue []
  "Show what waits."
  {"beside" "always"}
  (setv rows (inputs.queue (session.get-current)))
  (commands.Text (if rows (_table (lfor row rows [(get row "id") (get row "kind") (text.visible (get row "text"))])) "nothing waits")))

(defcommand cancel []
  "Stop the turn that runs; what waits goes on."
  {"beside" "always"}
  (_do inputs.cancel)
  None)

(defcommand stuck []
  "Say in words what each task, thread and form waits for, and for how long."
  {"beside" "always"}
  (import autolith.application [waiting])
  (commands.Text (waiting.report (session.get-current))))

(defcommand quit []
  "Leave; the conversation can be resumed."
  {"beside" "always" "aliases" ["exit"]}
  (primitives.only-user "quit")
  (setv s (session.get-current))
  (when s.on-end (s.on-end))
  None)
