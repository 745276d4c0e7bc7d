"Leave a truthful history when a turn does not end by itself.

The half answer of a response that broke off becomes a `failure` record, never part of history; every call without a result gets
a durable one that says its outcome is unknown; what lived only in memory is dropped."

(import
  autolith.agent [request]
  autolith.state [conversation])

(defn interrupted [turn]
  "Record that TURN was cancelled, and what had arrived by then."
  (note-failure turn "interrupted" "the user interrupted this turn"))

(defn note-failure [turn cause text #** more]
  "Record that the request of TURN failed for CAUSE, as TEXT says, with the half answer and the fields MORE; a disk that refuses
makes a notice."
  (setv partial (if (and turn.response (is turn.response.done None)) (.partial turn.response) ""))
  (setv turn.response None)
  (try
    (conversation.append turn.conversation
      {"kind" "failure" "cause" cause "text" text "partial" partial
       "provider" (.get turn.agent.provider "name") "model" turn.agent.model #** more}
      :sync False)
    (except [e conversation.StorageFailed]
      (request.show turn "notice" :level "error" :text (str e))))
  None)

(defn settle [turn]
  "Give every call of TURN that has no result one, drop what was in memory only, and wait for the disk."
  (setv c turn.conversation)
  (conversation.release c)
  (conversation.repair c)
  (try
    (conversation.sync c)
    (except [e conversation.StorageFailed]
      (request.show turn "notice" :level "error" :text (str e))))
  (tell-warnings turn))

(defn tell-warnings [turn]
  "Show what happened to the file of the conversation meanwhile."
  (for [warning (conversation.take-warnings turn.conversation)]
    (request.show turn "notice" :level "warning" :text warning)))
