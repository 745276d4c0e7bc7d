"Running an input: a turn for prose, an evaluation for a form, and what may happen beside either.

Runs on the loop thread; forms go to the main thread, or to a worker when main is taken. A turn's outcome is what `turn.run`
returns; an evaluation's is what `evaluate.run` returns."

(import
  asyncio
  time
  autolith.agent [agent turn]
  autolith.application [observers session]
  autolith.base [conditions text threads]
  autolith.image [evaluate]
  autolith.state [settings]
  autolith.tool [context fs registry])

(setv RECORD-LIMIT 4000)

(defn start [s coroutine]
  "Run COROUTINE as a task of S; its failure is shown, never lost."
  (setv task (.create-task (threads.start) coroutine))
  (.add s.tasks task)
  (.add-done-callback task (fn [done] (_ended s done)))
  task)

(defn _ended [s task]
  "Forget TASK; tell of an error that nobody took."
  (.discard s.tasks task)
  (when (and (not (.cancelled task)) (.exception task))
    (report-fault s (.exception task))))

;; * Turns

(defn agent-of [s]
  "Return the Agent that runs the turns of S, making it on first use."
  (when (is s.conversation None) (session.begin s))
  (when (is s.agent None)
    (setv s.agent (agent.Agent :conversation s.conversation :provider s.provider :model s.model :effort s.effort
                               :cwd s.cwd :immutable (settings.value "immutable")
                               :publish (fn [event] (session.publish-event s event))
                               :take-steering (fn [] (take-steering s))
                               :before-request (fn [] (adopt-configuration s))
                               :tool-context (fn [] (tool-context s "model"))
                               :on-provider-event (fn [event] (show-raw s event)))))
  s.agent)

(defn show-raw [s event]
  "Hand the provider's EVENT to those who asked for the raw stream."
  (observers.notify "provider-event" event (fn [words] (session.notice s words "error"))))

(defn tool-context [s origin]
  "Return the ToolContext of a call made in S by ORIGIN, user or model."
  (context.ToolContext :cwd s.cwd
                       :conversation (when s.conversation s.conversation.id)
                       :observations s.observations
                       :origin origin
                       :publish (fn [event] (session.publish-event s event))
                       :session s))

(defn take-steering [s]
  "Return the messages that join the running turn now."
  (setv items s.steering s.steering [])
  (when items
    (for [item items]
      (when (get item "handle") (.settle (get item "handle") "joined the running turn" None))))
  (lfor item items (message item)))

(defn adopt-configuration [s]
  "Let a change of provider, model or effort that waits take effect."
  (when s.pending-configuration
    (setv change s.pending-configuration s.pending-configuration None)
    (session.apply-configuration s change)))

(defn message [item]
  "Return ITEM as the message that the turn takes: its text and its images, prepared."
  (setv c (. (session.get-current) conversation))
  {"id" (get item "id") "text" (get item "text")
   "images" (lfor image (get item "images")
                  (if (.get image "type")
                    image
                    (fs.prepare (get image "path") :label (get image "label") :conversation (when c c.id))))})

(defn :async prepared [item]
  "Return ITEM as a message; its images are decoded on another thread."
  (if (get item "images") (await (asyncio.to-thread message item)) (message item)))

(defn :async run-prompt [s item]
  "Run the turn for ITEM; return its outcome."
  (setv handle (get item "handle") id (get item "id"))
  (setv s.turn {"id" id "since" (time.monotonic) "what" (get item "text") "task" (asyncio.current-task)})
  (when handle (setv handle.status "running"))
  (session.publish s "turn-started" :id id)
  (setv outcome (await (_turn-outcome s item)))
  (setv s.turn None)
  (adopt-configuration s)
  (session.publish s "turn-done" :id id
    #** (dfor k ["status" "reason" "requests" "calls" "seconds" "usage"] k (.get outcome k)))
  (when handle (.settle handle (get outcome "status") outcome))
  outcome)

(defn :async _turn-outcome [s item]
  "The outcome of the turn for ITEM, whatever goes wrong in it."
  (try
    (await (turn.run (agent-of s) (await (prepared item))))
    (except [asyncio.CancelledError]
      {"status" "cancelled" "text" "" "reason" "stopped before it began"})
    (except [e [OSError conditions.AutolithError]]
      (session.publish s "failure" :kind "storage" :text (str e))
      {"status" "failed" "text" "" "reason" (str e)})
    (except [e Exception]
      (report-fault s e)
      {"status" "failed" "text" "" "reason" (repr e)})))

(defn report-fault [s error]
  "Show ERROR, a fault of the program's own, with its traceback."
  (import traceback)
  (session.notice s (.format "a fault of the program: {}" (.join "" (traceback.format-exception error))) "error"))

(defn :async wait-for [s handle]
  "Wait until the prompt of HANDLE has run; when it still waits in the queue, run it now. Return its outcome."
  (setv item (next (gfor i s.queue :if (is (get i "handle") handle) i) None))
  (when (and item (not s.turn))
    (.remove s.queue item)
    (return (await (run-prompt s item))))
  (await (asyncio.wrap-future handle.finished)))

;; * Forms

(defn :async run-form [s item]
  "Evaluate the form or command ITEM on the main thread; show it, then record it."
  (setv s.form {"id" (get item "id") "kind" (get item "kind") "since" (time.monotonic) "what" (get item "text")
                "task" (asyncio.current-task) "written" [] "asked" []})
  (try
    (await (_evaluate s item False))
    (finally (setv s.form None))))

(defn :async run-beside [s item how]
  "Run ITEM beside what runs now, in the way HOW says."
  (if (= (get how "how") "tool")
    (await (_call-beside s item how))
    (await (_evaluate s item True))))

(defn :async _evaluate [s item beside]
  "Evaluate ITEM; BESIDE, in a worker thread when main is taken."
  (setv started (time.monotonic) id (get item "id"))
  (session.publish s "evaluation-started" :id id :source (get item "text") :operation (get item "kind") :beside beside)
  (defn work []
    (evaluate.run (get item "source")
      :output (fn [text] (session.publish s "output" :text text :id id))
      :on-value (fn [shown] (session.publish s "value" :text shown :id id))))
  (setv outcome (try
                  (await (if (and beside (threads.main-busy))
                           (threads.in-worker work 3600)
                           (threads.on-main work :label (get item "text"))))
                  (except [threads.Interrupted] {"status" "aborted" "values" [] "condition" None "printed" ""})))
  (_finish s item outcome beside (- (time.monotonic) started)))

(defn _finish [s item outcome beside seconds]
  "Publish the OUTCOME of ITEM, then record it as an operation of the user's."
  (session.publish s "evaluation" :id (get item "id") :source (get item "text") :operation (get item "kind")
                   :status (get outcome "status") :values (get outcome "values")
                   :condition (.get outcome "condition") :beside beside :seconds seconds)
  (setv form (if (and s.form (not beside)) s.form {"written" [] "asked" []})
        printed (+ (.get outcome "printed" "") (.join "" (get form "written"))))
  (record-operation s (get item "kind") (get item "text") {#** outcome "printed" printed} seconds (get form "asked")))

(defn record-operation [s operation source outcome [seconds None] [asked []]]
  "Record that the user did SOURCE, a form or command, with OUTCOME, in SECONDS; ASKED are the
questions that it put. The model sees it as evidence."
  (setv condition (.get outcome "condition")
        result (if condition (get condition "message") (.join "\n" (get outcome "values"))))
  (try
    (session.record s {"kind" "user-operation" "operation" operation
                       "source" (text.bounded source RECORD-LIMIT)
                       "status" (get outcome "status")
                       "printed" (text.bounded (.get outcome "printed" "") RECORD-LIMIT)
                       "result" (text.bounded result RECORD-LIMIT)
                       "values" (if (> (len (get outcome "values")) 1)
                                  (lfor v (get outcome "values") (text.bounded v RECORD-LIMIT))
                                  [])
                       "asked" (cut asked 5)
                       "seconds" (when (is-not seconds None) (round seconds 6))
                       "condition" (when condition (.get condition "type"))})
    (except [e [OSError conditions.AutolithError]]
      (session.notice s f"it ran, but could not be recorded: {e}" "error")))
  None)

(defn record-lost [s item]
  "Record that ITEM, a form or command, was running when its process ended, and say so."
  (record-operation s (get item "kind") (get item "text")
    {"status" "unknown"
     "values" ["the process ended while this ran; outcome unknown, inspect before running it again"]})
  (session.notice s (.format "the process ended while this ran: {}; its outcome is unknown"
                             (text.one-line (get item "text") 80)) "warning"))

(defn :async _call-beside [s item how]
  "Make the literal tool call ITEM on the loop, where no form is in its way."
  (setv started (time.monotonic))
  (session.publish s "evaluation-started" :id (get item "id") :source (get item "text") :operation "form" :beside True)
  (setv result (await (registry.call (get how "tool") (get how "arguments") (tool-context s "user"))))
  (when result.ok (session.publish s "value" :text result.text :id (get item "id")))
  (_finish s item
    {"status" (if result.ok "ok" "error")
     "values" (if result.ok [result.text] [])
     "condition" (when (not result.ok)
                   {"type" "ToolFailed" "message" result.text "traceback" ""
                    "restarts" (list (or result.restarts []))})}
    True (- (time.monotonic) started)))
