"Speak the Responses wire: requests from neutral items, neutral events from the stream.

`(encode request)` -> {\"path\" \"body\" \"headers\"}; `(Decoder request)` has `.feed name data`, `.finish` and `ended`. Nothing is stored
at the provider: each request holds the whole history, and reasoning goes back encrypted, exactly as it came, or not at all.

Items are keyed by output_index, or by item id where a server leaves the index out; what `output_item.done` says wins over the
deltas. All items are given out at the end, when it is known whether the response is whole."

(import
  autolith.provider [errors events history images items json-text models])


;; * Requests

(defn encode [request]
  "Return the path, body and headers that ask for REQUEST."
  (setv form (get request "provider")
        quirks (.get form "quirks" {})
        effort (models.effort (get request "model") (.get request "effort") (get request "provider"))
        thinks (bool (get (models.find (get request "model")) "efforts"))
        tools (lfor t (sorted (or (.get request "tools") []) :key (fn [t] (get t "name"))) (tool t)))
  {"path" "/responses"
   "headers" {}
   "body" {"model" (get request "model")
           #** (if (.get request "system") {"instructions" (get request "system")} {})
           #** (if tools {"tools" tools "tool_choice" "auto" "parallel_tool_calls" True} {})
           #** (if (and (.get quirks "cache_key") (.get request "cache_key"))
                 {"prompt_cache_key" (get request "cache_key")}
                 {})
           #** (if effort {"reasoning" (reasoning effort quirks)} {})
           #** (if (.get request "max_output") {"max_output_tokens" (get request "max_output")} {})
           "store" False
           #** (if thinks {"include" ["reasoning.encrypted_content"]} {})
           "stream" True
           "input" (input-items request)}})

(defn tool [declaration]
  "Return the wire's form of the tool DECLARATION."
  {"type" "function" "name" (get declaration "name") "description" (get declaration "description")
   "parameters" (get declaration "parameters") "strict" False})

(defn reasoning [effort quirks]
  "Return the wire's wish for EFFORT; the provider's QUIRKS say whether summaries are to be had."
  {"effort" effort #** (if (.get quirks "reasoning_summary") {"summary" (get quirks "reasoning_summary")} {})})

(defn input-items [request]
  "Return the items of REQUEST's history, then its context as a developer's message."
  (setv result [])
  (for [[kind #* rest] (history.turns (images.for-model request) (items.origin request))]
    (if (= kind "user")
      (.extend result (lfor m (get rest 0) part (user-message m) part))
      (.extend result (+ (lfor i (get rest 0) (assistant-item i)) (lfor o (get rest 1) (output-item o))))))
  (when (.get request "context")
    (.append result {"type" "message" "role" "developer" "content" [(input-text (get request "context"))]}))
  (or result [{"type" "message" "role" "user" "content" [(input-text history.CONTINUED)]}]))

(defn input-text [text]
  "Return the part of the user's TEXT."
  {"type" "input_text" "text" (json-text.repair text)})

(defn parts [content]
  "Return the parts for the blocks CONTENT that are not empty."
  (lfor b (images.expand content)
        part [(if (isinstance b tuple)
                {"type" "input_image" "image_url" (images.data-url (get b 1) (get b 0)) "detail" "high"}
                (input-text (.get b "text" "")))]
        :if (or (= (get part "type") "input_image") (.strip (get part "text")))
        part))

(defn user-message [item]
  "Return a list with the message of the user's ITEM, or none if it is empty."
  (setv content (parts (get item "content")))
  (if content [{"type" "message" "role" "user" "content" content}] []))

(defn assistant-item [item]
  "Return the wire's form of what the assistant did, ITEM."
  (match (get item "type")
    "message" {"type" "message" "role" "assistant"
               "content" (lfor t (history.said (get item "content")) {"type" "output_text" "text" t "annotations" []})
               #** (if (.get item "phase") {"phase" (get item "phase")} {})}
    "function_call" {"type" "function_call" "call_id" (get item "call_id") "name" (get item "name")
                     "arguments" (json-text.dumps (get item "arguments"))}
    _ (get item "raw")))

(defn output-item [item]
  "Return the wire's form of the output ITEM; with images it is a list of parts."
  (setv pictures (any (gfor b (get item "content") (= (get b "type") "image"))))
  {"type" "function_call_output" "call_id" (get item "call_id")
   "output" (if pictures (parts (get item "content")) (history.output-text item))})


;; * Streams

(setv TEXT-DELTAS {"response.output_text.delta" "text-delta"
                   "response.refusal.delta" "refusal-delta"
                   "response.reasoning_summary_text.delta" "reasoning-delta"
                   "response.reasoning_text.delta" "reasoning-delta"}
      CALL-DELTAS #{"response.function_call_arguments.delta" "response.custom_tool_call_input.delta"}
      CALLS #{"function_call" "custom_tool_call"})

(defclass Decoder []
  "Turn the events of one stream, which answers REQUEST, into neutral events."

  (defn __init__ [self request]
    (setv self.request request
          self.origin (items.origin request)
          self.ended False
          self.items {}        ; key -> the wire's item, once whole
          self.open {}         ; key -> the wire's item as it began
          self.names {}        ; key -> name of the call under way
          self.pieces {}       ; key -> json-text.Pieces of the text under way
          self.parts {}))      ; key -> summary index of the reasoning under way

  (defn feed [self name data]
    "Return the events that the event NAME with DATA means."
    (when (or self.ended (= data "[DONE]") (events.silent? name data))
      (return []))
    (setv event (events.parse self.request name data))
    (if (isinstance event dict)
      (self.take event (.get event "type" name))
      []))

  (defn take [self event kind]
    "Return what EVENT of KIND means."
    (cond
      (in kind TEXT-DELTAS) (self.delta event kind)
      (in kind CALL-DELTAS) (self.call-delta event)
      (= kind "response.output_item.added") (self.added event)
      (= kind "response.output_item.done") (self.keep event)
      (in kind ["response.completed" "response.incomplete"]) (self.end event kind)
      (in kind ["error" "response.failed"]) (raise (errors.from-event self.request event))
      (= kind "response.cancelled") (raise (errors.from-event self.request "the response was cancelled"))
      True []))

  (defn key [self event]
    "Return what tells the item of EVENT from others."
    (setv index (.get event "output_index"))
    (cond
      (is-not index None) index
      (.get event "item_id") (get event "item_id")
      True (.get (or (.get event "item") {}) "id" (len self.items))))

  (defn delta [self event kind]
    "Return the event for a piece of text, with a blank line between parts of a summary."
    (setv key (self.key event)
          part (.get event "summary_index" 0)
          text (self.piece key (or (.get event "delta") "")))
    (when (not text)
      (return []))
    (when (and (= kind "response.reasoning_summary_text.delta") (!= part (.setdefault self.parts key part)))
      (setv (get self.parts key) part
            text (+ "\n\n" text)))
    [{"type" (get TEXT-DELTAS kind) "text" text}])

  (defn piece [self key text]
    "Keep the piece TEXT of the item KEY and return what of it may be shown."
    (.add (.setdefault self.pieces key (json-text.Pieces)) text))

  (defn call-delta [self event]
    "Return the event for a piece of a call's arguments."
    (setv key (self.key event)
          text (self.piece key (or (.get event "delta") "")))
    [{"type" "call-delta" "index" (if (isinstance key int) key (.index (list self.pieces) key))
      "name" (.get self.names key "") "text" text}])

  (defn added [self event]
    "Note the name of a call that begins."
    (setv item (or (.get event "item") {}))
    (when (.get item "type")
      (setv (get self.open (self.key event)) item))
    (when (in (.get item "type") CALLS)
      (setv (get self.names (self.key event)) (.get item "name" ""))
      (return (self.call-delta {#** event "delta" ""})))
    [])

  (defn keep [self event]
    "Keep the whole item of EVENT."
    (setv item (.get event "item")
          key (self.key event))
    (when (isinstance item dict)
      (setv (get self.items key) (self.filled key item)))
    [])

  (defn filled [self key item]
    "Return ITEM with what came in pieces under KEY where a server left it out of the whole."
    (setv text (.text (.get self.pieces key (json-text.Pieces)))
          arguments (.get item "arguments"))
    (json-text.clean
      (match (.get item "type")
        "function_call"
          {#** item "arguments" (if (isinstance arguments dict) (json-text.dumps arguments) (or arguments text))}
        "custom_tool_call" {#** item "input" (or (.get item "input") text)}
        "message" {#** item "content" (or (.get item "content") (if text [{"type" "output_text" "text" text}] []))}
        _ item)))

  (defn kept [self]
    "Return the whole items, by their index where all have one."
    (setv pairs (list (.items self.items)))
    (when (all (gfor [k _] pairs (isinstance k int)))
      (.sort pairs :key (fn [p] (get p 0))))
    (lfor [_ item] pairs item))

  (defn end [self event kind]
    "Return the items and the end that EVENT, the last, means."
    (setv response (or (.get event "response") {})
          status (.get response "status" "")
          done (self.kept)
          rest (or (.get response "output") [])
          self.ended True)
    (when (> (len rest) (len done))
      (setv done (json-text.clean rest)))
    (setv whole (and (= kind "response.completed") (!= status "incomplete")))
    (when (and whole (not done))         ; a server that ends no item, only the response
      (setv self.items (dfor [key item] (.items self.open) key (self.filled key item))
            done (self.kept)))
    (setv neutral (lfor i done n (neutral-items i self.origin whole) n))
    [#* (lfor n (events.distinct neutral) {"type" "item" "item" n})
     (ending response whole neutral)])

  (defn finish [self]
    "Return the last events; the end of the stream without the wire's own is a failure."
    (when (not self.ended)
      (raise (errors.unfinished self.request)))
    []))

(defn neutral-items [item origin whole]
  "Return the neutral items for the wire's ITEM from ORIGIN; a call in a response that is not WHOLE is truncated."
  (setv kind (.get item "type"))
  (match kind
    "message" (message-items item)
    "reasoning" [(items.reasoning (reasoning-text item) origin (if (.get item "encrypted_content") item None))]
    (| "function_call" "custom_tool_call") [(call-item item (and whole (!= (.get item "status") "incomplete")))]
    None []
    _ [(items.hosted origin item)]))

(defn message-items [item]
  "Return a list with the message ITEM, or none if it says nothing."
  (setv content (lfor part (or (.get item "content") [])
                      block (match (.get part "type")
                              "output_text" [(items.text-block (or (.get part "text") ""))]
                              "refusal" [(items.refusal-block (or (.get part "refusal") ""))]
                              _ [])
                      :if (get block "text")
                      block))
  (if content
    [(items.assistant content #** (if (.get item "phase") {"phase" (get item "phase")} {}))]
    []))

(defn reasoning-text [item]
  "Return what the reasoning ITEM shows: its summary, else its text."
  (setv shown (lfor part (or (.get item "summary") (.get item "content") []) (or (.get part "text") "")))
  (.join "\n\n" shown))

(defn call-item [item whole]
  "Return the call ITEM; truncated unless WHOLE."
  (setv custom (= (get item "type") "custom_tool_call")
        fields (if custom
                 {"arguments_text" (or (.get item "input") "")}
                 (json-text.arguments (.get item "arguments"))))
  {"type" "function_call" "call_id" (or (.get item "call_id") "") "name" (or (.get item "name") "")
   #** fields
   #** (if whole {} {"truncated" True})})

(setv REASONS {"max_output_tokens" "length" "content_filter" "content-filter" "max_tokens" "length"})

(defn ending [response whole neutral]
  "Return the `done` event for RESPONSE, WHOLE or not, that held the items NEUTRAL."
  (setv refused (any (map items.refused? neutral))
        calls (any (map items.call? neutral))
        why (.get (or (.get response "incomplete_details") {}) "reason" "length"))
  {"type" "done"
   "status" (cond (not whole) "incomplete" refused "refused" True "completed")
   "reason" (cond (not whole) (.get REASONS why why) refused "refusal" calls "calls" True "stop")
   "usage" (usage (.get response "usage"))
   "response_id" (.get response "id")
   "model" (.get response "model")})

(defn usage [raw]
  "Return the neutral usage for the wire's RAW, or None."
  (when (isinstance raw dict)
    (setv inputs (or (.get raw "input_tokens_details") {})
          outputs (or (.get raw "output_tokens_details") {}))
    {"input" (or (.get raw "input_tokens") 0) "cached" (or (.get inputs "cached_tokens") 0)
     "cache_write" (or (.get inputs "cache_write_tokens") 0) "output" (or (.get raw "output_tokens") 0)
     "reasoning" (or (.get outputs "reasoning_tokens") 0) "raw" raw}))
