"Estimate tokens before they are sent, and know how full a model's window is.

An estimate is cheap: characters and bytes are counted, nothing is tokenized. Where a response of the conversation has
reported its usage, that is the base: what was reported, and an estimate of the records since, corrected by how far
the estimate of the reported part was off. A summary carries that correction over, until something is reported again."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  json
  autolith.agent [prompt]
  autolith.provider [models]
  autolith.state [conversation settings]
  autolith.tool [registry])

(defparameter characters-per-token 3.6 "How many plain characters a token has, on average.")
(defparameter image-tokens 1600 "What one image is taken to cost.")
(defparameter correction [0.5 2.5] "The least and the most that the estimate is corrected by.")

;; * Estimates

(defn of-text [text]
  "Return how many tokens TEXT is taken to have: characters beyond ASCII cost by their bytes."
  (setv extra (if (.isascii text) 0 (- (len (.encode text "utf-8" "surrogatepass")) (len text))))
  (int (+ (/ (len text) characters-per-token) (/ extra 3) 0.99)))

(defn of-data [value]
  "Return how many tokens VALUE, plain data, is taken to have as JSON."
  (of-text (json.dumps value :ensure-ascii False :default str)))

(defn of-blocks [content]
  "Return how many tokens the blocks CONTENT, or a string, are taken to have."
  (if (isinstance content str)
    (of-text content)
    (sum (gfor block (or content [])
               (if (= (.get block "type") "image") image-tokens (of-text (.get block "text" "")))))))

(defn of-item [item]
  "Return how many tokens the neutral ITEM is taken to have, with what a wire puts around it."
  (+ 6 (match (.get item "type")
         "function_call" (+ (of-text (.get item "name" ""))
                            (of-data (.get item "arguments" (.get item "arguments_text" ""))))
         (| "reasoning" "hosted") (if (.get item "raw") (of-data (get item "raw")) 0)
         _ (of-blocks (.get item "content")))))

(defn of-items [items]
  "Return how many tokens the neutral ITEMS are taken to have."
  (sum (map of-item items)))

(defn of-request [request]
  "Return how many tokens the neutral REQUEST is taken to have."
  (+ (of-text (or (.get request "system") ""))
     (of-text (or (.get request "context") ""))
     (if (.get request "tools") (of-data (get request "tools")) 0)
     (of-items (get request "items"))))

(defn of-record [record]
  "Return how many tokens the RECORD of a conversation will add to the next request."
  (match (.get record "kind")
    "message" (+ 6 (of-blocks (.get record "content")) (of-blocks (.get record "images")))
    "result" (+ 6 (of-text (or (.get record "text") "")) (of-blocks (.get record "content")))
    "item" (of-item (or (.get record "item") {}))
    _ 0))

;; * Windows

(defn window [model]
  "Return how many tokens a request to MODEL may have: the setting context-window, else what is known of the model."
  (or (settings.value "context-window") (get (models.find model) "window")))

(defn threshold [model]
  "Return at how many tokens a conversation with MODEL is compacted."
  (// (* (window model) (settings.value "compaction-threshold")) 100))

(defn room [model prompt]
  "Return how many tokens an answer of MODEL may have after a PROMPT of so many."
  (max 0 (- (max (window model) (get (models.find model) "window")) prompt)))

;; * The next request

(defn reported [records]
  "Return #(tokens since) of the newest usage among RECORDS: what it reported, in and out, and the records after it.
TOKENS is None where nothing was reported since the history began."
  (for [[i record] (enumerate (reversed records))]
    (when (= (.get record "kind") "summary")
      (break))
    (setv usage (.get record "usage"))
    (when (and (= (.get record "kind") "usage") usage (.get usage "input"))
      (return #((+ (get usage "input") (or (.get usage "output") 0))
                (if i (cut records (- i) None) [])))))
  #(None records))

(defn needed [a [items None]]
  "Return how many tokens the next request of the Agent A is taken to need, as its conversation is now; ITEMS is its history.
Asked again before anything was recorded, it answers from memory."
  (setv now #(a.conversation.id a.conversation.seq (len a.conversation.records) a.model))
  (when (!= (get a.estimated 0) now)
    (setv a.estimated #(now (_needed a items))))
  (get a.estimated 1))

(defn _needed [a items]
  "What `needed` returns, computed."
  (setv c a.conversation
        whole (+ (overhead a) (of-items (if (is items None) (conversation.items c) items)))
        [known since] (reported c.records))
  (if (is known None)
    (int (* whole (carried c.records)))
    (do (setv added (sum (map of-record since)))
        (max (int (+ known (* added (off-by known (- whole added))))) (// whole 4)))))

(defn factor [a]
  "Return by which factor estimates of the Agent A's conversation are to be corrected."
  (setv [known since] (reported a.conversation.records))
  (if (is known None)
    (carried a.conversation.records)
    (off-by known (- (+ (overhead a) (of-items (conversation.items a.conversation))) (sum (map of-record since))))))

(defn carried [records]
  "Return the correction that a summary among RECORDS carries, or 1."
  (next (gfor r records :if (= (get r "kind") "summary") (or (.get r "correction") 1)) 1))

(defn off-by [known estimated]
  "Return the factor, within bounds, between the tokens KNOWN and what was ESTIMATED of the same."
  (setv [least most] correction)
  (min most (max least (/ known (max 1 estimated)))))

(defn overhead [a]
  "Return how many tokens the system prompt and the tools of the Agent A are taken to have; looked at anew once a turn."
  (setv now #(a.conversation.id a.conversation.turns (len registry.tools)))
  (when (!= (get a.overhead 0) now)
    (setv a.overhead #(now (_overhead a))))
  (get a.overhead 1))

(defn _overhead [a]
  "What `overhead` returns, computed."
  (+ (if (conversation.preamble a.conversation) (of-text (prompt.system a.conversation)) 0)
     (of-data (if a.tools (a.tools) (registry.declarations)))))
