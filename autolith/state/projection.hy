"Turn a conversation's records into the neutral items that a provider is sent.

A response's items, which end at the first other record, stay together; directly after them comes one output for each of
its calls, in the order of the calls. The first result of a call counts; a call without one gets `UNKNOWN`; a result without
a call, a repeated call and reasoning that nothing follows are left out. Records of other kinds never enter history."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  re)

(setv UNKNOWN (+ "The outcome of this call is unknown: it was interrupted before its result was recorded. It may have had all, "
                 "some or none of its effects. Inspect the state it would have changed before you retry."))

(defparameter summary-bridge
  (+ "The conversation so far was replaced by this summary of it; go on from here. What it calls done, cancelled or dropped is "
     "not to be taken up again. A permission or choice that was asked for and is not stated as given counts as not given: ask again.\n\n")
  "What introduces a summary to the model.")

(setv LAST-WORDS "The user's last message, word for word:")

(defn items [records]
  "Return the neutral items that RECORDS come to."
  (setv results (first-results records)
        out []
        group []
        seen (set))
  (for [record records]
    (match (.get record "kind")
      "item" (_take-item group record seen)
      (| "message" "summary") (do (_flush out group results)
                                  (.extend out (_messages record)))
      (| "usage" "result") (_flush out group results)
      _ None))
  (_flush out group results)
  out)

(defn first-results [records]
  "Return the map from call id to the first result record among RECORDS."
  (setv results {})
  (for [record records]
    (when (= (.get record "kind") "result")
      (.setdefault results (.get record "call_id") record)))
  results)

(defn unanswered [records]
  "Return the function_call items among RECORDS that have no result, each once."
  (setv results (first-results records)
        calls {})
  (for [record records]
    (setv item (.get record "item"))
    (when (and (_call? item) (not-in (get item "call_id") results))
      (.setdefault calls (get item "call_id") item)))
  (list (.values calls)))

(defn _call? [item]
  "Tell whether ITEM is a function call."
  (and (isinstance item dict) (= (.get item "type") "function_call") (in "call_id" item)))

(defn _take-item [group record seen]
  "Add the item of RECORD to GROUP unless it is empty or a call whose id is among those SEEN."
  (setv item (.get record "item"))
  (cond
    (not (isinstance item dict)) None
    (_call? item) (when (not-in (get item "call_id") seen)
                    (.add seen (get item "call_id"))
                    (.append group item))
    (= (.get item "type") "function_call_output") None
    (_empty-message? item) None
    True (.append group item)))

(defn _empty-message? [item]
  "Tell whether ITEM is a message with nothing in it."
  (and (= (.get item "type") "message")
       (not (any (gfor block (.get item "content" [])
                       (or (.strip (.get block "text" "")) (= (.get block "type") "image")))))))

(defn _flush [out group results]
  "Move GROUP, the items of one response, to OUT with the outputs of its calls, from RESULTS."
  (while (and group (= (.get (get group -1) "type") "reasoning"))
    (.pop group))
  (.extend out group)
  (.extend out (gfor item group
                     :if (_call? item)
                     (output (get item "call_id") (.get results (get item "call_id")))))
  (.clear group))

(defn output [call-id record]
  "Return the output item that answers CALL-ID with the result RECORD; None means that the outcome is unknown."
  (if (is record None)
    {"type" "function_call_output" "call_id" call-id "ok" False "content" [(text-block UNKNOWN)]}
    {"type" "function_call_output" "call_id" call-id "ok" (bool (.get record "ok"))
     "content" [(text-block (or (.get record "text") "(no output)")) #* (or (.get record "content") [])]}))

(defn text-block [text]
  "Return TEXT as a block."
  {"type" "text" "text" text})

(defn _messages [record]
  "Return the items that the message or summary RECORD comes to: one message or none, before a summary what is native."
  (setv content (.get record "content" "")
        blocks (if (isinstance content str)
                 (if (.strip content) [(text-block content)] [])
                 (list content)))
  (when (= (get record "kind") "summary")
    (setv blocks [(text-block summary-bridge) #* blocks #* (_last-words (or (.get record "messages") []))]))
  (setv blocks [#* blocks #* (or (.get record "images") [])])
  [#* (or (.get record "native") [])
   #* (if blocks
        [{"type" "message" "role" (.get record "role" "user") "content" blocks}]
        [])])

(defn _last-words [messages]
  "Return the blocks that repeat MESSAGES, the user's last that a summary keeps."
  (setv blocks (lfor m messages
                     item (_messages {"kind" "message" #** m})
                     block (get item "content")
                     block))
  (if blocks [(text-block LAST-WORDS) #* blocks] []))

;; * Images

(defn image-number [image]
  "Return the number in the label of IMAGE, a map, as [Image #3]; 0 where it has none."
  (setv found (re.fullmatch r"\[Image #(\d+)\]" (or (.get image "label") "")))
  (if found (int (get found 1)) 0))

(defn image-blocks [record]
  "Return the image blocks in the content of RECORD, a list of blocks or a text."
  (setv content (.get record "content"))
  (if (isinstance content list)
    (lfor block content :if (and (isinstance block dict) (= (.get block "type") "image")) block)
    []))

(defn last-image [records]
  "Return the highest number that an image has among RECORDS, or had before what a summary replaced; 0 without one."
  (max (gfor record records
             n [(or (.get record "last_image") 0)
                #* (map image-number (or (.get record "images") []))
                #* (map image-number (image-blocks record))
                #* (lfor m (or (.get record "messages") []) image (or (.get m "images") []) (image-number image))]
             n)
       :default 0))
