"Sum up what a conversation used, and what that cost.

Totals are {\"provider/model\" {\"requests\" \"input\" \"cached\" \"cache_write\" \"output\" \"reasoning\"}}. A summary record carries, as
`spent`, the totals of all before it, so that the newest segment tells everything. Prices are what models.forms says,
:price {:input :cached :cache-write :output}, US dollars for a million tokens; a part that is missing costs as input does."

(import
  autolith.provider [models])

(setv COUNTS ["input" "cached" "cache_write" "output" "reasoning"])

(defn totals [c]
  "Return what the conversation C has used since it began, by provider and model."
  (setv found {})
  (for [record c.records]
    (match (.get record "kind")
      "usage" (add found (origin record) (.get record "usage"))
      "summary" (for [[name counts] (.items (or (.get record "spent") {}))]
                  (add found name counts (.get counts "requests" 1)))
      _ None))
  found)

(defn origin [record]
  "Return which provider and model the usage RECORD is of, as provider/model."
  f"{(or (.get record "provider") "unknown")}/{(or (.get record "model") "unknown")}")

(defn add [found name counts [requests 1]]
  "Add COUNTS, tokens of so many REQUESTS (None: not reported), to what FOUND says of NAME."
  (setv row (.setdefault found name {"requests" 0 #** (dfor k COUNTS k 0)}))
  (+= (get row "requests") requests)
  (for [key COUNTS]
    (setv count (.get (or counts {}) key))
    (when (isinstance count #(int float))
      (+= (get row key) count))))

(defn cost [model counts]
  "Return what COUNTS of tokens of MODEL cost in US dollars, or None where its price is not known."
  (setv price (.get (models.find model) "price"))
  (when price
    (setv plain (max 0 (- (get counts "input") (get counts "cached") (get counts "cache_write"))))
    (/ (+ (* plain (get price "input"))
          (* (get counts "cached") (.get price "cached" (get price "input")))
          (* (get counts "cache_write") (.get price "cache_write" (get price "input")))
          (* (get counts "output") (get price "output")))
       1_000_000)))

(defn share [counts]
  "Return which share of the input of COUNTS came from the provider's cache, in percent, or None without any input."
  (when (get counts "input")
    (round (/ (* 100 (get counts "cached")) (get counts "input")))))
