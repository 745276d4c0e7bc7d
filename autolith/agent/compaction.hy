"Replace a conversation that grows out of the model's window by a summary of it.

When: `due?` before each request (an estimate or the last usage reaches the setting compaction-threshold), after an overflow error
(once, then one retry), and by (compact). How: a side request without tools has the model write a handoff from a transcript
(agent/handoff); what must not be lost is added by the program. The result is a `summary` record

    {\"content\" text \"messages\" the user's last, word for word \"files\" \"outputs\" \"spent\" (agent/usage) \"usage\" \"reason\"
     \"tokens\" how many it replaced \"correction\" (agent/tokens) \"provider\" \"model\" \"native\"?}

with which a new segment begins. Until that record is on the disk nothing has changed; a failure or a cancel leaves it so."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  asyncio
  os
  time
  autolith.agent [agent :as agents handoff prompt request retry tokens usage]
  autolith.base [conditions text]
  autolith.provider [compact :as provider-compact errors]
  autolith.state [conversation projection settings])

(defparameter instructions-path (os.path.join (os.path.dirname __file__) "compaction.md") "The file that tells the model how to write a summary.")
(defparameter summary-limit 24000 "How many characters of a model's summary are kept.")
(defparameter attempts 3 "How often a summary is asked for when the transcript overflows the window, each time with half as much.")
(defparameter transcript-share 0.6 "Which share of the window the transcript may take.")
(defonce natives {}
  "Provider name: coroutine function of an Agent that gives the neutral `hosted` items of the provider's own compaction, or None; or
a map {\"items\" \"usage\"}. A provider whose form says that it compacts (provider/compact) needs none.")

(defclass CompactionFailed [conditions.AutolithError]
  "A conversation could not be compacted; it is as it was."
  None)

(defclass NothingToCompact [CompactionFailed]
  "There is nothing in the conversation that a summary could replace."
  None)

;; * When

(defn due? [a]
  "Tell whether the conversation of the Agent A is to be compacted before its next request."
  (setv c a.conversation
        items (conversation.items c)
        needed (tokens.needed a items))
  (and (>= needed (tokens.threshold a.model))
       (grown? c needed (tokens.window a.model))
       (not (any (gfor r c.records (.get r "held"))))       ; what lives for one request only must be seen first
       (compactable? a items)))

(defn compactable? [a [items None]]
  "Tell whether the conversation of A, with the history ITEMS, holds more than a summary and what the user said last."
  (and (!= (.get a.provider "wire") "tutor")
       (any (gfor item (handoff.history a.conversation items) (not (handoff.summary? item))))))

(defn grown? [c needed window]
  "Tell whether C, which NEEDED so many tokens of WINDOW, has grown since it was compacted, so that doing it again gains something."
  (when (not (any (gfor r c.records (= (get r "kind") "summary"))))
    (return True))
  (setv base (next (gfor r c.records
                         :if (= (get r "kind") "usage")
                         :setv count (.get (or (.get r "usage") {}) "input")
                         :if count
                         count)
                   None))
  (and (is-not base None)
       (>= needed (+ base (/ (- window base) 4)))))

(defn :async before-request [turn]
  "Compact the conversation of TURN if it is time; when that fails, say so and let the request go as it is."
  (when (due? turn.agent)
    (await (tried turn "threshold")))
  None)

(defn :async after-overflow [turn]
  "Compact the conversation of TURN after a request overflowed the window; tell whether to send the request again.
A retry that overflows too is the end."
  (when (and turn.overflowed (<= turn.requests (+ turn.overflowed 1)))
    (request.show turn "notice" :level "warning" :text "the request is too long for the model's window even after a compaction")
    (return False))
  (setv turn.overflowed turn.requests)
  (await (tried turn "overflow")))

(defn :async tried [turn reason]
  "Compact the conversation of TURN for REASON; return whether that worked. What it used counts for TURN."
  (try
    (setv entry (await (compact turn.agent reason)))
    (except [e conditions.AutolithError]
      (request.show turn "notice" :level "warning"
                    :text f"the conversation could not be compacted and stays as it was: {e}")
      (return False)))
  (for [[key count] (.items (get entry "usage"))]
    (setv (get turn.usage key) (+ count (.get turn.usage key 0))))
  True)

;; * How

(defn :async compact [a reason [focus None]]
  "Replace the history of the Agent A's conversation by a summary, for REASON; FOCUS, a text, says what matters most.
Return the record. Raise a CompactionFailed, ProviderError or StorageFailed, and leave all as it was, when that is impossible."
  (when (not (compactable? a))
    (raise (NothingToCompact (if (= (.get a.provider "wire") "tutor")
                               "the tutor keeps no window; choose a model with (model ...) first"
                               "there is nothing to compact: a summary would replace nothing but the last message"))))
  (setv before (tokens.needed a)
        started (time.monotonic))
  (a.publish {"type" "compaction-started" "reason" reason "tokens" before "window" (tokens.window a.model)})
  (try
    (setv entry (conversation.append a.conversation (await (made a reason focus before))))
    (except [e BaseException]
      (_done a reason started before None (or (str e) "interrupted"))
      (raise (if (isinstance e #(conditions.AutolithError asyncio.CancelledError KeyboardInterrupt))
               e
               (CompactionFailed f"{(. (type e) __name__)}: {e}"))
             :from e)))
  (setv after (tokens.needed a))
  (_done a reason started before after None)
  (when (>= after (tokens.threshold a.model))
    (a.publish {"type" "notice" "level" "warning"
                "text" (+ f"compacting did not help: {after} tokens of a window of {(tokens.window a.model)} are needed before you say "
                          "a word; choose a model with a larger window, or raise (setting \"context-window\" ...)")}))
  entry)

(defn _done [a reason started before after problem]
  "Publish that the compaction of A for REASON, STARTED at that moment, ended: from BEFORE to AFTER tokens, or with a PROBLEM."
  (a.publish {"type" "compaction-done" "ok" (is problem None) "reason" reason "before" before
              "seconds" (round (- (time.monotonic) started) 3)
              #** (if problem {"text" problem} {"after" after})}))

(defn :async made [a reason focus before]
  "Return the summary record for the conversation of A, which needs BEFORE tokens: the model's handoff and the facts."
  (setv [native cost] (await (native-items a))
        [said used] (await (summarise a focus))
        c a.conversation
        facts (handoff.facts c)
        spent (usage.totals c))
  (for [k usage.COUNTS]
    (+= (get used k) (or (.get cost k) 0)))
  (+= (get used "requests") (if cost 1 0))
  (usage.add spent f"{(.get a.provider "name")}/{a.model}" used (:requests used))
  {"kind" "summary"
   "through_seq" c.seq
   "content" (.join "\n\n" (filter None [said (handoff.render facts)]))
   "messages" (get facts "messages")
   "last_image" (projection.last-image c.records)
   "files" (get facts "files")
   "outputs" (get facts "outputs")
   "reason" reason
   "tokens" before
   "correction" (round (tokens.factor a) 3)
   "usage" (dfor k usage.COUNTS k (get used k))
   "spent" spent
   "provider" (.get a.provider "name")
   "model" a.model
   #** (if native {"native" native} {})})

(defn :async native-items [a]
  "Return #(items usage) of what the provider of A makes of the history by itself: neutral `hosted` items, or none.
The summary does without where that fails, and says so."
  (setv f (or (.get natives (.get a.provider "name"))
              (when (provider-compact.offered? a.provider) at-provider)))
  (try
    (setv found (or (when f (await (f a))) []))
    (except [e Exception]
      (a.publish {"type" "notice" "level" "warning"
                  "text" f"the provider's own compaction failed, the summary alone is used: {(or (str e) (. (type e) __name__))}"})
      (setv found [])))
  (if (isinstance found dict)
    #((list (get found "items")) (or (.get found "usage") {}))
    #((list found) {})))

(defn :async at-provider [a]
  "Return what the provider of the Agent A makes of the history; what an earlier summary was is not in it twice."
  (setv c a.conversation
        found (await (provider-compact.compact
                       {"provider" a.provider "model" a.model "effort" a.effort "context" None "tools" []
                        "system" (when (conversation.preamble c) (prompt.system c))
                        "items" [#* (handoff.native c) #* (handoff.history c)]
                        "cache_key" (get c.header "cache_key") "max_output" None})))
  {#** found "items" (lfor item (get found "items") :if (not (handoff.summary? (get item "raw"))) item)})

(defn :async summarise [a focus]
  "Ask the model of A for a handoff, with less of the transcript where that overflows; return #(text used)."
  (setv room (int (* 3 transcript-share (tokens.window a.model)))
        used (dfor k ["requests" #* usage.COUNTS] k 0))
  (for [left (range attempts 0 -1)]
    (+= (get used "requests") 1)
    (try
      (setv response (await (persistent a (side-request a (handoff.transcript a.conversation room) focus))))
      (break)
      (except [e errors.ProviderError]
        (when (or (!= e.kind "overflow") (= left 1))
          (raise))
        (setv room (// room 2)))))
  (when (= (.get response.done "status") "incomplete")
    (a.publish {"type" "notice" "level" "warning"
                "text" "the summary was cut at the limit of output tokens; (history) has what it left out"}))
  (for [[key count] (.items (or (.get response.done "usage") {})) :if (in key usage.COUNTS)]
    (setv (get used key) (or count 0)))
  #((text-of response) used))

(defn :async persistent [a body]
  "Return the Response to the request BODY of A, sent again as often as the settings allow where a failure deserves that."
  (setv attempt 0
        longest (settings.value "retry-wait-limit"))
  (while True
    (+= attempt 1)
    (try
      (return (await (answered a body)))
      (except [e errors.ProviderError]
        (setv limit (settings.value "retry-limit"))
        (when (or (not e.retryable) (> attempt limit) (> (or e.retry-after 0) longest))
          (raise))
        (setv seconds (retry.wait-before attempt e.retry-after longest))
        (a.publish {"type" "retry" "attempt" attempt "limit" limit "seconds" (round seconds 3) "reason" (str e)
                    "void" False
                    "text" f"{e} Asking for the summary again in {(text.duration seconds)} ({attempt} of {limit})."})
        (await (asyncio.sleep seconds))))))

(defn :async answered [a body]
  "Return the whole Response to the request BODY of A."
  (setv response (agents.Response))
  (defn take [event]
    (match (get event "type")
      "item" (.append response.items (get event "item"))
      "done" (setv response.done event)
      _ None))
  (await (request.receive a body take))
  (when (is response.done None)
    (raise (errors.unfinished body)))
  response)

(defn side-request [a transcript focus]
  "Return the request for a summary of TRANSCRIPT: no tools, no history, nothing but text, which every wire takes."
  (with [f (open instructions-path :encoding "utf-8")]
    (setv instructions (.read f)))
  (when focus
    (+= instructions f"\nThe user asks that this above all is kept: {focus}\n"))
  (setv items [{"type" "message" "role" "user"
                "content" [{"type" "text"
                            "text" f"<transcript>\n{transcript}\n</transcript>\n\nWrite the handoff now."}]}]
        body {"provider" a.provider "model" a.model "effort" a.effort "system" instructions "items" items
              "context" None "tools" [] "cache_key" None "max_output" (or a.max-output (settings.value "max-output"))})
  {#** body "room" (tokens.room a.model (tokens.of-request body))})

(defn text-of [response]
  "Return the handoff that RESPONSE holds, bounded; raise CompactionFailed if there is none."
  (setv said (.strip (request.answer-text response))
        status (get response.done "status"))
  (cond
    (= status "refused") (raise (CompactionFailed "the model refused to write the summary"))
    (not said) (raise (CompactionFailed "the model answered the request for a summary with nothing")))
  (+ (text.bounded said summary-limit)
     (if (= status "incomplete") "\n[the summary stops here, at a limit of the model]" "")))
