"Run one turn: the user's message, then requests and calls until a response has no calls.

    begin -> (before-request -> ask -> record-response -> calls -> steering)* -> finish

Each step is a function of this room that the loop looks up when it gets there, so a redefinition reaches a turn that runs.
A step that ends the turn gives an ending, #(status reason), status done, cancelled or failed; the others give None."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  time
  autolith.agent [agent :as agents calls compaction context prompt repair request retry]
  autolith.base [conditions]
  autolith.provider [errors]
  autolith.state [conversation settings])

(defparameter continue-limit 8 "How often in a row a provider may pause its answer and be asked to go on.")
(defparameter incomplete-reasons
  {"length" "the limit of output tokens (the setting max-output)"
   "context-window" "the end of the model's context window"
   "content-filter" "the provider's content filter"}
  "What the reasons of an incomplete response are called.")
(defparameter side-instructions
  "You are asked one question by a program. Answer it briefly and plainly, with nothing before or after the answer."
  "The system text of a side request.")

(defn :async run [agent message]
  "Run one turn of AGENT for MESSAGE, a string or {\"text\" \"images\" \"id\"}; return its outcome, also when it is cancelled:
{\"status\" \"text\" \"reason\" \"requests\" \"calls\" \"seconds\" \"usage\"}. Raise StorageFailed when MESSAGE could not be kept."
  (setv turn (agents.Turn agent))
  (begin turn message)
  (try
    (setv ending (await (rounds turn)))
    (except [asyncio.CancelledError]
      (while (.cancelling (asyncio.current-task))
        (.uncancel (asyncio.current-task)))
      (setv ending (cancelled turn)))
    (except [e Exception]
      (setv ending (failed turn e))))
  (finish turn #* ending))

(defn :async rounds [turn]
  "Run rounds of TURN until one gives an ending; return that."
  (while True
    (setv ending (await (round-of turn)))
    (when ending
      (return ending))))

(defn :async round-of [turn]
  "Send one request of TURN, record the response and run its calls; return the ending if there is one."
  (when (setx ending (limit-reached turn))
    (return ending))
  (await (before-request turn))
  (setv response (await (ask turn)))
  (when (is response None) (return None))
  (setv planned (recorded-calls turn response))
  (if (and planned (!= (get response.done "status") "refused"))
    (await (after-calls turn planned))
    (after-answer turn response)))

(defn recorded-calls [turn response]
  "Record RESPONSE and return its calls. When the disk refuses, none of them runs, and their results say so."
  (try
    (record-response turn response)
    (except [e conversation.StorageFailed]
      (calls.refuse-rest turn (calls.plan response) (.format calls.UNRECORDED e))
      (raise)))
  (calls.plan response))

;; * The steps

(defn begin [turn message]
  "Make MESSAGE durable as the user's, before anything acts on it."
  (conversation.append turn.conversation (message-record message))
  (repair.tell-warnings turn))

(defn message-record [message * [steering False]]
  "Return MESSAGE, a string or a map, as a record; STEERING tells that it joined a running turn."
  (setv message (if (isinstance message str) {"text" message} message)
        record {"kind" "message" "role" "user" "content" (.get message "text" (.get message "content" ""))})
  (when (.get message "images")
    (setv (get record "images") (list (get message "images"))))
  (when (is-not (.get message "id") None)
    (setv (get record "input_id") (get message "id")))
  (when steering
    (setv (get record "steering") True))
  record)

(defn limit-reached [turn]
  "Return the ending of TURN when it has sent as many requests as it may."
  (when (>= turn.requests (settings.value "request-limit"))
    #("failed" (+ f"the turn reached its limit of {turn.requests} requests; say continue to go on, "
                  "or raise the setting request-limit"))))

(defn :async before-request [turn]
  "Do what comes before each request of TURN: the session's changes, and compaction when it is time."
  (turn.agent.before-request)
  (await (compaction.before-request turn)))

(defn :async ask [turn]
  "Send the next request of TURN; return the Response, or None when `on-failure` wants another round."
  (prompt.fix turn.agent)
  (setv body (await (request.build turn)))
  (+= turn.requests 1)
  (request.show turn "request-started" :number turn.requests
                :provider (.get turn.agent.provider "name") :model turn.agent.model)
  (try
    (await (request.send turn body))
    (except [e errors.ProviderError]
      (when (!= (await (on-failure turn e)) "retry")
        (raise))
      None)))

(defn :async on-failure [turn error]
  "Decide about ERROR, a ProviderError of TURN: give \"retry\" to send the request again, after a compaction or a wait, else None."
  (if (= error.kind "overflow")
    (when (await (compaction.after-overflow turn))
      "retry")
    (await (retry.decide turn error))))

(defn record-response [turn response]
  "Record the items of RESPONSE in wire order, and its usage, with one sync; show its messages."
  (conversation.release turn.conversation)
  (setv response.items (calls.name-uniquely turn.conversation (kept-items response)))
  (setv records (item-records turn response)
        used (usage-record turn response)
        turn.response None)
  (conversation.append-all turn.conversation [#* records used])
  (context.delivered turn)
  (show-response turn response used)
  (repair.tell-warnings turn))

(defn kept-items [response]
  "Return the items of RESPONSE that history keeps: all, but no calls of one that was refused."
  (if (= (get response.done "status") "refused")
    (lfor item response.items :if (= (.get item "type") "message") item)
    response.items))

(defn item-records [turn response]
  "Return the records of the items of RESPONSE; a call that lives through the next response only is held, and so is the
reasoning that leads to it."
  (setv records []
        held False)
  (for [item (reversed response.items)]
    (when (!= (.get item "type") "reasoning")
      (setv held (and (= (.get item "type") "function_call") (calls.ephemeral? item))))
    (setv record {"kind" "item" "item" item "provider" (.get turn.agent.provider "name") "model" turn.agent.model})
    (.append records (if held (| record {"held" True}) record)))
  (list (reversed records)))

(defn usage-record [turn response]
  "Return the record of what RESPONSE used, and add that to TURN's sum."
  (setv used (dict (or (.get response.done "usage") {})))
  (.pop used "raw" None)
  (for [[key count] (.items used)]
    (when (isinstance count #(int float))
      (setv (get turn.usage key) (+ count (.get turn.usage key 0)))))
  {"kind" "usage" "number" turn.requests "provider" (.get turn.agent.provider "name")
   "model" (or (.get response.done "model") turn.agent.model)
   "usage" (or used None) "response_id" (.get response.done "response_id")})

(defn show-response [turn response used]
  "Publish the whole messages and reasoning of RESPONSE and what it USED."
  (setv turn.text (request.answer-text response))
  (for [item response.items]
    (match (.get item "type")
      "message" (when (setx text (request.text-of item))
                  (request.show turn "answer" :text text :phase (.get item "phase")))
      "reasoning" (when (.get item "text")
                    (request.show turn "reasoning" :text (get item "text")))
      _ None))
  (when (get used "usage")
    (request.show turn "usage" :usage (get used "usage") :number turn.requests)))

(defn :async after-calls [turn planned]
  "Run the PLANNED calls of TURN, then let steering in; return an ending if TURN is stuck."
  (setv turn.continued 0)
  (await (calls.run turn planned))
  (repair.tell-warnings turn)
  (setv reason (calls.stuck turn))
  (if reason
    #("failed" reason)
    (apply-steering turn)))

(defn apply-steering [turn]
  "Append the messages that wait to join TURN, durably, and show that they did."
  (setv messages (list (turn.agent.take-steering)))
  (when messages
    (setv records (lfor m messages (message-record m :steering True)))
    (conversation.append-all turn.conversation records)
    (request.show turn "steering-applied" :texts (lfor r records (get r "content"))))
  None)

(defn after-answer [turn response]
  "Return the ending of TURN after RESPONSE, which has no calls to run, or None to go on."
  (setv status (get response.done "status")
        reason (.get response.done "reason"))
  (match status
    "continue" (go-on turn)
    "refused" #("failed" f"the model refused{(if reason f" ({reason})" "")}; put it differently, or choose another model with (model ...)")
    "incomplete" (done-with turn (cut-short response))
    _ (if (silent? response)
        (done-with turn (+ f"the model sent nothing, neither text nor a call{(if reason f" ({reason})" "")}; "
                           "say continue to ask it again, or put it differently"))
        #("done" (or reason "completed")))))

(defn done-with [turn reason]
  "Return the ending of TURN for REASON, which the user has to know; show it."
  (request.show turn "notice" :level "warning" :text reason)
  #("done" reason))

(defn cut-short [response]
  "Return the sentence that says why RESPONSE is not whole, and how to go on."
  (setv reason (.get response.done "reason")
        why (.get incomplete-reasons reason f"a limit ({(or reason "unknown")})"))
  (if (silent? response)
    (+ f"the response stopped at {why} before it said anything; say continue to ask again"
       (if (= reason "length") ", raise the setting max-output, or lower the effort" ""))
    f"the answer is not whole: it stops at {why}; say continue to get the rest"))

(defn silent? [response]
  "Tell whether RESPONSE has neither a word nor a call."
  (not (any (gfor item response.items
                  (match (.get item "type")
                    "message" (.strip (request.text-of item))
                    "reasoning" False
                    _ True)))))

(defn go-on [turn]
  "Let TURN ask again after a pause of the provider's, so often; return an ending after that."
  (+= turn.continued 1)
  (if (> turn.continued continue-limit)
    #("failed" f"the provider paused {turn.continued} times without an end; say continue to try again")
    (apply-steering turn)))

;; * The ends

(defn cancelled [turn]
  "Leave a truthful history after TURN was cancelled; return the ending."
  (repair.interrupted turn)
  #("cancelled" "interrupted"))

(defn failed [turn error]
  "Record why ERROR ended TURN, show it, and return the ending."
  (setv [cause text status] (explain error))
  (repair.note-failure turn cause text)
  (request.show turn "failure" :kind cause :text text :status status)
  #("failed" text))

(defn explain [error]
  "Return the cause of ERROR, what to say about it, and the HTTP status or None."
  (cond
    (isinstance error errors.ProviderError)
      #(error.kind (str error) (getattr error "status" None))
    (isinstance error conversation.StorageFailed)
      #("storage" f"the conversation could not be written: {error}. What was said since is in memory and is written when that works again" None)
    (isinstance error conditions.AutolithError) #("error" (str error) None)
    True #("internal" (traceback-text error) None)))

(defn traceback-text [error]
  "Return what a fault of the program's own, ERROR, says and where it arose."
  (import traceback)
  (setv lines (traceback.format-exception error))
  (+ "a fault in the program or in a redefinition of it, not in your input:\n" (cut (.join "" lines) -4000 None)))

(defn finish [turn status reason]
  "Settle the history of TURN and return its outcome, which ended with STATUS for REASON."
  (repair.settle turn)
  (context.end-turn turn)
  {"status" status
   "text" turn.text
   "reason" reason
   "requests" turn.requests
   "calls" turn.calls
   "seconds" (round (- (time.monotonic) turn.started) 3)
   "usage" turn.usage})

;; * Beside the conversation

(defn :async complete [agent text * [system None]]
  "Ask AGENT's model TEXT by itself, without history, tools or records, under SYSTEM; return the answer's text."
  (setv response (agents.Response)
        body {"provider" agent.provider "model" agent.model "effort" agent.effort
              "system" (or system side-instructions)
              "items" [{"type" "message" "role" "user" "content" [{"type" "text" "text" text}]}]
              "context" None "tools" [] "cache_key" None "max_output" agent.max-output})
  (defn take [event]
    (match (get event "type")
      "item" (.append response.items (get event "item"))
      "done" (setv response.done event)
      _ None))
  (await (request.receive agent body take))
  (when (is response.done None)
    (raise (errors.unfinished body)))
  (request.answer-text response))
