"What happened last in a conversation, one line each, for (history).

Events are those of the transcript. Where the newest segment has fewer than are wanted, older ones are read too; what a summary
repeats of them is then left out."

(import
  autolith.application [transcript]
  autolith.base [text]
  autolith.state [conversation])

(setv PAGE 200)      ; so many records more are read at once

(defn events [c count]
  "Return the last COUNT events of the conversation C, oldest first, from as many segments as that takes."
  (setv records (if (is c None) [] (list c.records))
        found (transcript.events-of records)
        before (first-number records))
  (while (and before (< (len found) count))
    (setv page (conversation.history-page c before PAGE)
          lower (first-number page))
    (when (or (is lower None) (>= lower before))
      (break))
    (setv before lower
          records [#* page #* (map plain records)]
          found (transcript.events-of records)))
  (if (> count 0) (cut found (- count) None) []))

(defn first-number [records]
  "Return the lowest number of RECORDS, or None if none has one."
  (min (gfor r records :if (.get r "seq") (get r "seq")) :default None))

(defn plain [record]
  "Return RECORD as it stands after what it sums up: a summary without the messages that it repeats."
  (if (= (.get record "kind") "summary")
    {#** record "messages" []}
    record))

;; * Lines

(defn line [event]
  "Return EVENT of the transcript as a line that says when and what."
  (text.visible (+ (cut (or (.get event "time") "") 11 16) " " (words event))))

(defn words [event]
  "Return EVENT in words."
  (setv said (or (.get event "text") ""))
  (match (get event "type")
    "input-accepted" (.join " " [(+ "you: " said) #* (lfor i (or (.get event "images") []) (or (.get i "label") "[Image]"))])
    "steering-applied" (+ "you, meanwhile: " (.join "; " (get event "texts")))
    "answer" (+ (if (= (.get event "phase") "partial") "model, cut off: " "model: ") said)
    "reasoning" (+ "reasoning: " said)
    "call-started" (+ "call: " (get event "form"))
    "call-result" (+ (if (get event "ok") "ok: " "failed: ") (get (.partition said "\n") 0))
    "output" (+ "printed: " (text.one-line said))
    "value" (+ "value: " said)
    "evaluation" (evaluation event)
    "question" (+ "asked: " said)
    "answered" f"chosen: {(get event "choice")}"
    "failure" (+ "failed: " said)
    "retry" (+ "sent again: " (text.one-line said))
    "compaction-done" (compaction event)
    "turn-done" (turn event)
    other other))

(defn evaluation [event]
  "Return how the form or command of EVENT ended, in words."
  (setv condition (or (.get event "condition") {}))
  (if (= (get event "status") "ok")
    (+ "evaluated: " (or (.join " " (or (.get event "values") [])) "no value"))
    (.join ": " (filter None [(get event "status") (.get condition "type") (.get condition "message")]))))

(defn compaction [event]
  "Return what became of the compaction of EVENT, in words."
  (if (get event "ok")
    (.format "the conversation so far{} was replaced by a summary of it{}"
             (if (.get event "before") f", {(get event "before") :,} tokens," "")
             (.get {"asked" ", as asked" "threshold" ", to have room in the window" "overflow" ", it was too long"}
                   (.get event "reason") ""))
    (+ "the conversation could not be compacted: " (or (.get event "text") "no reason given"))))

(defn turn [event]
  "Return how the turn of EVENT ended and what it took, in words."
  (setv counts (lfor [key one] [["requests" "request"] ["calls" "call"]]
                     :setv n (.get event key)
                     :if n
                     (text.count n one)))
  (+ (.get {"done" "the turn is done" "cancelled" "the turn was stopped"} (get event "status") "the turn failed")
     (if counts f" after {(.join " and " counts)}" "")
     (if (is (.get event "seconds") None) "" f" in {(text.duration (get event "seconds"))}")))
