"Make the neutral request of a turn, send it, and gather the response.

A request is the map of docs/architecture.md; its prefix (tools, system, items) does not change its bytes from one request of a
conversation to the next. Events become published events and a Response."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  autolith.agent [agent context prompt tokens]
  autolith.provider [client errors models]
  autolith.state [conversation settings]
  autolith.tool [registry])

(defparameter close-patience 0.2 "Seconds that closing a stream may take before it is left to itself.")

(defn :async build [turn]
  "Return the request that TURN sends next."
  (setv a turn.agent
        items (conversation.items turn.conversation)
        said (await (context.collect turn)))
  {"provider" a.provider
   "model" a.model
   "effort" a.effort
   "system" (prompt.system turn.conversation)
   "items" items
   "context" said
   "tools" (offered a)
   "cache_key" (get turn.conversation.header "cache_key")
   "max_output" (answer-limit a)
   "room" (tokens.room a.model (+ (tokens.needed a items) (tokens.of-text (or said ""))))})

(defn offered [a]
  "Return the declarations of the tools that the model of the Agent A is told of: none if it is known not to take any."
  (cond
    (is (.get (models.find a.model) "tools") False) []
    a.tools (a.tools)
    True (registry.declarations)))

(defn answer-limit [a]
  "Return the most tokens that an answer to the Agent A may have, at most what its model is known to give; None if nobody said."
  (setv wanted (or a.max-output (settings.value "max-output")) known (models.find a.model))
  (if (and wanted (not (.get known "assumed")) (.get known "output"))
    (min wanted (get known "output"))
    wanted))

(defn :async send [turn request]
  "Send REQUEST and return the whole Response; raise a ProviderError when it ends before its end."
  (setv turn.response (agent.Response))
  (await (receive turn.agent request (fn [event] (take-event turn event))))
  (when (is turn.response.done None)
    (raise (errors.unfinished request)))
  turn.response)

(defn :async receive [a request take]
  "Hand each event of the stream that the Agent A opens for REQUEST to TAKE; close the stream, whatever happens."
  (setv stream ((or a.stream client.stream) request))
  (try
    (for [:async event stream]
      (when a.on-provider-event
        (a.on-provider-event event))
      (take event))
    (finally
      (await (close stream)))))

(defn :async close [stream]
  "Close STREAM, waiting no longer than `close-patience`. Its failures are no news: what mattered was read before."
  (try
    (with [:async _ (asyncio.timeout close-patience)]
      (await (stream.aclose)))
    (except [Exception]))
  None)

;; * Events

(defn take-event [turn event]
  "Let EVENT of the provider change the response of TURN and be seen."
  (setv response turn.response
        kind (get event "type")
        text (.get event "text" ""))
  (cond
    (= kind "text-delta") (do (.append response.text text)
                              (show turn "text-delta" :text text))
    (= kind "reasoning-delta") (show turn "reasoning-delta" :text text)
    (= kind "refusal-delta") (do (.append response.refusal text)
                                 (show turn "text-delta" :text text))
    (= kind "call-delta") (_take-call-delta turn event)
    (= kind "item") (.append response.items (get event "item"))
    (= kind "done") (setv response.done event))
  None)

(defn _take-call-delta [turn event]
  "Note that a call is being written, and how much of it there is."
  (setv call (.setdefault turn.response.calls (.get event "index" 0) {"name" "" "bytes" 0}))
  (when (.get event "name")
    (setv (get call "name") (get event "name")))
  (+= (get call "bytes") (len (.get event "text" "")))
  (show turn "call-delta" :name (get call "name") :bytes (get call "bytes")))

(defn show [turn kind / #** fields]
  "Publish the event KIND with those FIELDS that are not None to whoever watches TURN."
  (turn.agent.publish {"type" kind #** (dfor [k v] (.items fields) :if (is-not v None) k v)})
  None)

;; * What a response says

(defn text-of [item]
  "Return the text of the message ITEM."
  (.join "" (gfor block (.get item "content" [])
                  :if (in (.get block "type") ["text" "refusal"])
                  (.get block "text" ""))))

(defn answer-text [response]
  "Return the text of the messages of RESPONSE; those marked as its final answer only, if any are."
  (setv messages (lfor item response.items :if (= (.get item "type") "message") item)
        final (lfor m messages :if (in (.get m "phase") ["final" "final_answer"]) m))
  (.join "\n\n" (filter None (map text-of (or final messages)))))
