"Shape history for a wire: every call with exactly one output, in the order that all providers accept.

`(turns history origin limit)` returns a list of #(\"user\" items) and #(\"assistant\" items outputs), never two users in a row. In an
assistant's turn ITEMS are its messages, reasoning, calls and hosted items in wire order; OUTPUTS has one output for each of
its calls, in their order, with the same call id. What ORIGIN did not send of reasoning and hosted items is left out, so is
reasoning that nothing follows; ids that a provider might refuse are replaced, the same way every time."

(import
  hashlib
  re
  autolith.provider [items json-text])

(setv UNKNOWN "The outcome of this call is unknown: it was interrupted. Inspect what it may have done before you try again."
      CUT "This call was not run: the response ended before its arguments were whole."
      DECLINED "[The assistant declined to answer this.]"
      NOTHING "(no output)"
      CONTINUED "(The conversation goes on here.)")


;; * Pairing

(defn turns [history origin [limit 64]]
  "Return the turns of HISTORY as ORIGIN may see them; ids of calls have at most LIMIT characters."
  (setv groups (group history)
        taken #{})
  (for [[kind members outputs] groups :if (= kind "assistant")]
    (rename members outputs taken limit))
  (merged (filter None (gfor [kind members outputs] groups
                             (if (= kind "user")
                               #("user" members)
                               (assistant-turn members outputs origin))))))

(defn group [history]
  "Return HISTORY as lists [kind items outputs], neighbours of a kind together, each output beside its call's group.
An output ends its group: what the assistant did after it belongs to the next."
  (setv groups []
        waiting {})
  (for [item history :if (something? item)]
    (if (= (get item "type") "function_call_output")
      (settle item waiting)
      (do
        (setv kind (if (items.assistant? item) "assistant" "user"))
        (when (or (not groups) (!= (get groups -1 0) kind) (get groups -1 2))
          (.append groups [kind [] []]))
        (.append (get groups -1 1) (dict item))
        (when (items.call? item)
          (setv (get waiting (get item "call_id")) #((get groups -1) (get groups -1 1 -1)))))))
  groups)

(defn something? [item]
  "Tell whether ITEM is more than a message of the user that says and shows nothing."
  (or (!= (get item "type") "message")
      (= (get item "role") "assistant")
      (any (gfor b (get item "content") (or (= (get b "type") "image") (.strip (.get b "text" "")))))))

(defn merged [turns]
  "Return the list TURNS with neighbours of a kind made one, where no output stands between them."
  (setv result [])
  (for [turn turns]
    (if (and result (= (get result -1 0) (get turn 0)) (not (cut (get result -1) 2 None)))
      (.extend (get result -1 1) (get turn 1))
      (if (and result (= (get turn 0) "assistant") (= (get result -1 0) "assistant") (not (get result -1 2)))
        (setv (get result -1) #("assistant" (+ (get result -1 1) (get turn 1)) (get turn 2)))
        (.append result turn))))
  result)

(defn settle [output waiting]
  "Put OUTPUT beside the newest call of its id that is WAITING; an orphan or a second one is dropped."
  (when (in (get output "call_id") waiting)
    (setv [own call] (.pop waiting (get output "call_id")))
    (.append (get own 2) #(call (dict output)))))

(defn rename [members outputs taken limit]
  "Give each call of MEMBERS, and its output among OUTPUTS, an id not TAKEN, made of plain characters, LIMIT of them at most."
  (for [item members :if (items.call? item)]
    (setv own (get item "call_id")
          count 0
          id own)
    (while (or (in id taken) (not (re.fullmatch r"[a-zA-Z0-9_-]+" id)) (> (len id) limit))
      (setv id (+ "call_" (cut (.hexdigest (hashlib.sha256 (.encode f"{count}:{own}" "utf-8" "surrogatepass"))) 24)))
      (+= count 1))
    (.add taken id)
    (setv (get item "call_id") id)
    (for [[call output] outputs :if (is call item)]
      (setv (get output "call_id") id))))


;; * One turn of the assistant

(defn assistant-turn [members outputs origin]
  "Return the turn of MEMBERS with their OUTPUTS, or None if nothing of it is left for ORIGIN."
  (setv kept (lfor i members :if (fit? i origin) (plain i origin))
        kept (calls-last (followed kept))
        answers (lfor i kept :if (items.call? i) (answer i outputs)))
  (when kept
    #("assistant" kept answers)))

(defn fit? [item origin]
  "Tell whether ITEM may be sent to ORIGIN at all."
  (match (get item "type")
    (| "reasoning" "hosted") (and (= (.get item "origin") origin) (bool (.get item "raw")))
    "message" (or (items.refused? item) (bool (.strip (items.text item))))
    _ True))

(defn plain [item origin]
  "Return ITEM for ORIGIN: a refusal becomes a note, so that it is not taken up again, a call's arguments a map; what another
origin added is left out."
  (setv item (if (and (.get item "raw") (!= (.get item "origin") origin))
               (dfor [k v] (.items item) :if (!= k "raw") k v)
               item))
  (cond
    (items.refused? item)
      (items.assistant DECLINED)
    (and (items.call? item) (not (isinstance (.get item "arguments") dict)))
      {#** item "arguments" {"unparsed" (.get item "arguments_text" "")}}
    True item))

(defn followed [members]
  "Return MEMBERS without reasoning that no message, call or hosted item directly follows."
  (setv result [])
  (for [item (reversed members)]
    (when (not (and (= (get item "type") "reasoning")
                    (or (not result) (= (get (get result -1) "type") "reasoning"))))
      (.append result item)))
  (list (reversed result)))

(defn calls-last [members]
  "Return MEMBERS with the calls after all else, each item together with the reasoning before it: the results follow directly."
  (setv units []
        unit [])
  (for [item members]
    (.append unit item)
    (when (!= (get item "type") "reasoning")
      (.append units unit)
      (setv unit [])))
  (lfor u (sorted units :key (fn [u] (items.call? (get u -1)))) item u item))

(defn answer [call outputs]
  "Return the output of CALL among OUTPUTS, or one that says that it is unknown."
  (for [[owner output] outputs]
    (when (= (get owner "call_id") (get call "call_id"))
      (return output)))
  (items.output (get call "call_id") (if (.get call "truncated") CUT UNKNOWN) :ok False))


;; * Text for a wire

(defn said [content]
  "Return the text blocks' text of CONTENT that is not blank, repaired, as a list."
  (lfor b content :if (= (get b "type") "text") :if (.strip (get b "text")) (json-text.repair (get b "text"))))

(defn output-text [output]
  "Return the text of OUTPUT; never an empty one."
  (or (.join "\n" (said (get output "content"))) NOTHING))
