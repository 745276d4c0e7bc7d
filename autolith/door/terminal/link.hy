"What the terminal asks of the session, in one place. Everything here runs on the loop thread.

The session's events come to `observe`; all else that the terminal knows of the application is below."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  autolith.application [commands help inputs questions session transcript waiting]
  autolith.base [threads]
  autolith.state [settings]
  autolith.tool [registry])

(defonce reading (set) "The ids of the open questions by which a form reads its input.")
(setv END "end of input")

(defn observe [s f]
  "Call F with every event of S; return the undo."
  (session.observe s f))

(defn submit [s text [images None]]
  "Give TEXT to S; return {\"accepted\" \"kind\" \"notice\"}."
  (inputs.submit s text images))

(defn follow-up [s text]
  "Queue TEXT after everything that runs or waits."
  (inputs.follow-up s text))

(defn cancel [s hold]
  "Stop what S does; with HOLD what waits is kept back."
  (inputs.cancel s hold))

(defn stop-turn [s]
  "Stop the turn of S, if one runs, and keep back what waits; what main runs has had its interrupt."
  (when s.turn
    (setv s.held (bool (or s.queue s.steering)))
    (.cancel (get s.turn "task"))))

(defn busy [s]
  "Return what S does, {\"phase\" \"since\" \"what\"}, or None."
  (session.busy s))

(defn queue [s]
  "Return what waits in S, {\"id\" \"kind\" \"text\"} each."
  (inputs.queue s))

(defn recall [s]
  "Take back the newest waiting text of S, or return None."
  (inputs.recall s))

(defn release [s]
  "Let what S holds back go on; return whether there was anything."
  (get (inputs.submit s "") "accepted"))

(defn status-line [s]
  "Return what the status row shows."
  (session.status-line s))

(defn history [s]
  "Return what was typed before, oldest first."
  (transcript.inputs s.conversation))

(defn events [s count]
  "Return the last COUNT events of the conversation of S, for redrawing it."
  (transcript.last-events s.conversation count))

(defn answer [s choice values]
  "Answer the newest question of S by CHOICE with VALUES."
  (questions.settle s choice values))

(defn ask-line [s text]
  "Return the line that the user of S types for TEXT, or None for the end of the input. Called by forms, off the loop."
  (setv question (questions.open-question s text [] :own (is-not s.form None)) id (get question "id"))
  (.add reading id)
  (try
    (setv [line values] (questions.await-answer s question))
    (finally (.discard reading id)))
  (when (not-in END values) line))

(defn end-input [s]
  "Answer the newest question of S, by which a form reads its input, that the input is at its end."
  (questions.settle s END [END]))

(defn output [s text]
  "Publish TEXT, what a child or C code wrote, as output of the form that S runs, if any."
  (when (and s.form (< (sum (map len (get s.form "written"))) 20000)) (.append (get s.form "written") text))
  (session.publish s "output" :text text :id (when s.form (get s.form "id"))))

(defn setting [name]
  "Return the value of the setting NAME."
  (settings.value name))

(defn report [s]
  "Say in S what everything waits for."
  (session.notice s (waiting.report s)))

(defn interruptible []
  "Tell whether the main thread runs a form."
  (bool (threads.main-busy)))

(defn effect [tool]
  "Return read, write or execute: what the tool named TOOL does."
  (setv found (registry.find tool))
  (if found (.get found.traits "effect" "execute") "execute"))

(defn names []
  "Return the operations that may be typed, as {\"name\" \"kind\" \"signature\" \"doc\"} each."
  (lfor e (help.entries)
        {"name" (get e "name") "signature" (get e "signature") "doc" (get e "doc")
         "kind" (match (get e "group") "Commands" "command" "Tools" "tool" _ "function")}))
