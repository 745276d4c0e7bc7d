"Have a provider that speaks Responses compact a history by itself, where its quirk `compaction` says that it can.

`(encode request)` -> {\"path\" \"body\" \"headers\"} and `(decode request value)` -> {\"items\" \"usage\"} are pure; `(await (compact
request))` asks. The answer is the user's messages and one item that only the provider can read; all of them become `hosted` items,
sent back to the same origin as they came and to nobody else."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  autolith.provider [client errors items json-text responses])

(defparameter patience 300 "How many seconds a compaction may take; nothing is streamed meanwhile.")

(setv PATH "/responses/compact"
      LEFT-OUT "[an image that was here is left out]")

(defn offered? [form]
  "Tell whether the provider FORM says that it compacts histories."
  (and (= (.get form "wire") "responses")
       (bool (.get (.get form "quirks" {}) "compaction"))))

(defn encode [request]
  "Return the path, body and headers that ask for a compaction of REQUEST's history."
  (setv quirks (.get (get request "provider") "quirks" {}))
  {"path" PATH
   "headers" {"accept" "application/json"}
   "body" {"model" (get request "model")
           #** (if (.get request "system") {"instructions" (get request "system")} {})
           #** (if (and (.get quirks "cache_key") (.get request "cache_key"))
                 {"prompt_cache_key" (get request "cache_key")}
                 {})
           "input" (responses.input-items {#** request "context" None})}})

(defn decode [request value]
  "Return the hosted items and the usage in VALUE, the answer to REQUEST; raise a ProviderError where it holds no compaction."
  (setv output (.get value "output")
        output (if (isinstance output list) (lfor raw output :if (isinstance raw dict) (json-text.clean raw)) []))
  (when (not (any (map compaction? output)))
    (raise (errors.garbled request "the answer to a request for a compaction has no compaction in it")))
  {"items" (lfor raw output (items.hosted (items.origin request) (slim raw)))
   "usage" (responses.usage (.get value "usage"))})

(defn compaction? [raw]
  "Tell whether the wire's item RAW is what a history was compacted to."
  (and (= (.get raw "type") "compaction")
       (bool (.get raw "encrypted_content"))))

(defn slim [raw]
  "Return the wire's item RAW; of a message without the data of its images, which would fill the record."
  (if (and (= (.get raw "type") "message") (isinstance (.get raw "content") list))
    {#** raw "content" (list (map slim-part (get raw "content")))}
    raw))

(defn slim-part [part]
  "Return PART of a message, or a word in place of an image."
  (if (and (isinstance part dict) (= (.get part "type") "input_image"))
    {"type" "input_text" "text" LEFT-OUT}
    part))

(defn :async compact [request]
  "Return what the provider of REQUEST makes of its history, as `decode` gives it; raise a ProviderError where it cannot."
  (import autolith.provider.compact :as own)
  (setv value (await (client.fetch request own patience)))
  (client.sensible request (fn [value] (decode request value)) value))
