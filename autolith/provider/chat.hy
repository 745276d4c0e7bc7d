"Speak the Chat Completions wire: requests from neutral items, neutral events from the stream.

`(encode request)` -> {\"path\" \"body\" \"headers\"}; `(Decoder request)` has `.feed name data`, `.finish`, `ended` and `satisfied`. What servers
disagree on is said by the provider's quirks:

    system_role       the role of the system prompt (system)
    context_role      system or developer: a last message of its own; else it is joined to the user's last message, marked
    max_tokens_field  max_tokens, or max_completion_tokens
    effort_field      the field that takes the effort; none: it is not sent
    cache_key         whether prompt_cache_key is understood
    stream_usage      False where stream_options is refused

Calls are told apart by index and id, as far as a server sends them; presence of calls decides, not the finish reason."

(import
  autolith.provider [errors events history images items json-text models])

(setv CONTEXT "Context of this request, from the program and not from the user:\n\n")


;; * Requests

(defn encode [request]
  "Return the path, body and headers that ask for REQUEST."
  (setv quirks (.get (get request "provider") "quirks" {})
        effort (models.effort (get request "model") (.get request "effort") (get request "provider"))
        tools (lfor t (sorted (or (.get request "tools") []) :key (fn [t] (get t "name"))) (tool t)))
  {"path" "/chat/completions"
   "headers" {}
   "body" {"model" (get request "model")
           #** (optional "tools" tools)
           #** (optional "tool_choice" (and tools "auto"))
           #** (if (.get quirks "cache_key") (optional "prompt_cache_key" (.get request "cache_key")) {})
           #** (if (and effort (.get quirks "effort_field")) {(get quirks "effort_field") effort} {})
           #** (optional (.get quirks "max_tokens_field" "max_tokens") (.get request "max_output"))
           "stream" True
           #** (if (.get quirks "stream_usage" True) {"stream_options" {"include_usage" True}} {})
           "messages" (messages request quirks)}})

(defn optional [name value]
  "Return {NAME VALUE}, or nothing where there is no VALUE."
  (if value {name value} {}))

(defn tool [declaration]
  "Return the wire's form of the tool DECLARATION."
  {"type" "function"
   "function" {"name" (get declaration "name")
               "description" (get declaration "description")
               "parameters" (get declaration "parameters")}})

(defn messages [request quirks]
  "Return the messages of REQUEST: system prompt, history, context, as the QUIRKS want it."
  (setv result [])
  (for [[kind #* rest] (history.turns (images.for-model request) (items.origin request) 40)]
    (when (and (= kind "assistant") (not result))
      (.append result {"role" "user" "content" history.CONTINUED}))
    (if (= kind "user")
      (join result (user-message (parts (lfor m (get rest 0) b (get m "content") b))))
      (do
        (.append result (assistant-message (get rest 0)))
        (.extend result (output-messages (get rest 1))))))
  (setv role (.get quirks "context_role" "user")
        context (.get request "context"))
  (when (and context (= role "user"))
    (join result {"role" "user" "content" (json-text.repair (+ CONTEXT context))}))
  (when (not result)
    (.append result {"role" "user" "content" history.CONTINUED}))
  (when (.get request "system")
    (.insert result 0 {"role" (.get quirks "system_role" "system") "content" (get request "system")}))
  (when (and context (!= role "user"))
    (.append result {"role" role "content" (json-text.repair context)}))
  result)

(defn parts [content]
  "Return the parts for the blocks CONTENT that are not empty."
  (lfor b (images.expand content)
        :if (or (isinstance b tuple) (.strip (.get b "text" "")))
        (if (isinstance b tuple)
          {"type" "image_url" "image_url" {"url" (images.data-url (get b 1) (get b 0))}}
          {"type" "text" "text" (json-text.repair (get b "text"))})))

(defn user-message [parts]
  "Return the user's message of PARTS; text alone is a string, which every server takes."
  {"role" "user" "content" (if (all (gfor p parts (= (get p "type") "text")))
                             (.join "\n\n" (gfor p parts (get p "text")))
                             parts)})

(defn join [result message]
  "Append MESSAGE to RESULT, or its content to the last message if that is the user's too."
  (if (and result (= (get (get result -1) "role") "user"))
    (setv (get result -1) (user-message (+ (as-parts (get result -1)) (as-parts message))))
    (.append result message)))

(defn as-parts [message]
  "Return the content of MESSAGE as a list of parts."
  (setv content (get message "content"))
  (if (isinstance content str) [{"type" "text" "text" content}] content))

(defn assistant-message [members]
  "Return the one message that holds what the assistant did, MEMBERS."
  (setv said (lfor i members :if (= (get i "type") "message") (.join "" (history.said (get i "content"))))
        text (.join "\n\n" said)
        calls (lfor i members :if (items.call? i) (call i))
        thoughts (lfor i members :if (= (get i "type") "reasoning") (get i "raw")))
  {"role" "assistant"
   "content" (or text None)
   #** (thinking thoughts calls)
   #** (if calls {"tool_calls" calls} {})})

(defn thinking [thoughts calls]
  "Return the fields that replay THOUGHTS, raws of reasoning: signed details always, plain text only beside CALLS."
  (setv details (lfor t thoughts d (.get t "reasoning_details" []) d)
        plain (.join "\n\n" (gfor t thoughts :if (in "reasoning_content" t) (get t "reasoning_content"))))
  {#** (if details {"reasoning_details" details} {})
   #** (if (and plain calls) {"reasoning_content" plain} {})})

(defn call [item]
  "Return the wire's form of the call ITEM, with what its server once added to it."
  {"id" (get item "call_id") "type" "function"
   "function" {"name" (get item "name") "arguments" (json-text.dumps (get item "arguments"))}
   #** (.get item "raw" {})})

(defn output-messages [outputs]
  "Return the messages for OUTPUTS; images, which no tool message may hold, follow in one of the user's."
  (setv pictures (lfor o outputs b (get o "content") :if (= (get b "type") "image") b))
  (+ (lfor o outputs {"role" "tool" "tool_call_id" (get o "call_id")
                      "content" (history.output-text {#** o "content" (images.without (get o "content"))})})
     (if pictures [(user-message (parts pictures))] [])))


;; * Streams

(setv THOUGHTS ["reasoning_content" "reasoning" "thinking"]      ; the fields in which servers send reasoning
      REASONS {"stop" "stop" "length" "length" "tool_calls" "calls" "function_call" "calls" "content_filter" "content-filter"})

(defclass Decoder []
  "Turn the chunks of one stream, which answers REQUEST, into neutral events."

  (defn __init__ [self request]
    (setv self.request request
          self.origin (items.origin request)
          self.ended False
          self.text (json-text.Pieces)
          self.refusal (json-text.Pieces)
          self.thought (json-text.Pieces)
          self.field None      ; the field that reasoning came in
          self.details []      ; reasoning_details, merged
          self.calls []        ; maps "slot" "id" "name" "text" (Pieces) "extra"
          self.calling False   ; did a call come last, no text?
          self.reason None
          self.usage None
          self.id None
          self.model None))

  (defn [property] satisfied [self]
    "Tell whether the stream may end here: it gave its reason."
    (bool self.reason))

  (defn feed [self name data]
    "Return the events that the chunk DATA means."
    (when (or self.ended (events.silent? name data))
      (return []))
    (when (= (.strip data) "[DONE]")
      (return (self.end True)))
    (setv chunk (events.parse self.request name data))
    (when (not (isinstance chunk dict))
      (return []))
    (when (or (.get chunk "error") (= name "error"))
      (raise (errors.from-event self.request chunk)))
    (self.take chunk))

  (defn take [self chunk]
    "Return the events that CHUNK means."
    (setv self.id (or self.id (.get chunk "id") None)
          self.model (or self.model (.get chunk "model") None)
          groq (.get chunk "x_groq")
          usage (or (.get chunk "usage") (and (isinstance groq dict) (.get groq "usage"))))
    (when usage
      (setv self.usage usage))
    (setv result [])
    (for [choice (or (.get chunk "choices") []) :if (not (.get choice "index"))]
      (setv self.reason (or (.get choice "finish_reason") self.reason))
      (when (setx delta (or (.get choice "delta") (.get choice "message")))
        (.extend result (self.delta delta))))
    result)

  (defn delta [self delta]
    "Return the events that DELTA means."
    (setv thought (self.thinking delta)
          [text inner] (content (.get delta "content"))
          thought (+ thought inner)
          refusal (or (.get delta "refusal") "")
          result [])
    (when thought
      (.append result {"type" "reasoning-delta" "text" (.add self.thought thought)}))
    (when text
      (.append result {"type" "text-delta" "text" (.add self.text text)}))
    (when refusal
      (.append result {"type" "refusal-delta" "text" (.add self.refusal refusal)}))
    (for [[position piece] (enumerate (or (.get delta "tool_calls") []))]
      (.append result (self.call-piece piece position)))
    (when (.get delta "function_call")
      (.append result (self.call-piece {"index" 0 "function" (get delta "function_call")} 0)))
    (when result
      (setv self.calling (= (get result -1 "type") "call-delta")))
    result)

  (defn thinking [self delta]
    "Return the reasoning text of DELTA; keep what has to go back as it came."
    (setv details (.get delta "reasoning_details")
          field (next (gfor f THOUGHTS :if (.get delta f) f) "reasoning")
          text (.get delta field))
    (for [detail (or details [])]
      (merge-detail self.details detail))
    (when (and text (isinstance text str))
      (setv self.field (or self.field field))
      (return text))
    (if details
      (.join "" (gfor d details (or (.get d "text") (.get d "summary") "")))
      ""))

  (defn call-piece [self piece position]
    "Return the event for PIECE of a call, the one at POSITION in its chunk."
    (setv function (or (.get piece "function") {})
          text (.get function "arguments")
          text (if (isinstance text dict) (json-text.dumps text) (or text ""))
          name (or (.get function "name") "")
          own (.get piece "id")
          call (self.slot (.get piece "index") (if (is own None) "" (str own)) name text position)
          extra (dfor [k v] (.items piece) :if (not-in k ["index" "id" "type" "function"]) k v))
    (when name
      (setv (get call "name") name))
    (.update (get call "extra") extra)
    {"type" "call-delta" "index" (.index (lfor c self.calls (id c)) (id call))
     "name" (get call "name") "text" (if (again? call text) "" (.add (get call "text") text))})

  (defn slot [self index call-id name text position]
    "Return the call that a piece belongs to, by its INDEX, CALL-ID, NAME, TEXT and POSITION as far as they tell."
    (setv call (cond
                 (is-not index None) (next (gfor c (reversed self.calls) :if (= (get c "slot") index) c) None)
                 call-id (next (gfor c self.calls :if (= (get c "id") call-id) c) None)
                 self.calls (get self.calls -1)
                 True None)
          other (and call (or (and call-id (get call "id") (!= call-id (get call "id")))
                              (and (not call-id) name text (json-text.whole? (.text (get call "text")))))))
    (when (or (is call None) other)
      (setv call {"slot" index "id" call-id "name" name "text" (json-text.Pieces) "extra" {}})
      (.append self.calls call))
    (when call-id
      (setv (get call "id") call-id))
    call)

  (defn finish [self]
    "Return the last events. A stream that ends without its mark is whole if it gave its reason or its calls are whole."
    (cond
      self.ended []
      self.reason (self.end True)
      (and self.calling (all (gfor c self.calls (json-text.whole? (.text (get c "text")))))) (self.end False)
      True (raise (errors.unfinished self.request))))

  (defn end [self marked]
    "Return the items and the end; if MARKED, the server itself ended the stream."
    (setv self.ended True
          cut (in self.reason ["length" "content_filter"])
          broken (and (is self.reason None) (any (gfor c self.calls (not (settled? c)))))
          whole (not (or cut broken))
          neutral (self.neutral whole)
          refused (any (map items.refused? neutral)))
    [#* (lfor i neutral {"type" "item" "item" i})
     {"type" "done"
      "status" (cond (not whole) "incomplete" refused "refused" True "completed")
      "reason" (cond
                 refused "refusal"
                 broken "length"
                 (and self.calls whole) "calls"
                 (in self.reason ["tool_calls" "function_call"]) "stop"
                 True (.get REASONS self.reason (or self.reason "stop")))
      "usage" (usage self.usage)
      "response_id" self.id
      "model" self.model}])

  (defn neutral [self whole]
    "Return the neutral items of the response; its calls are truncated unless it is WHOLE."
    (setv text (.text self.text)
          refusal (.text self.refusal)
          thought (.text self.thought)
          content (+ (if text [(items.text-block text)] []) (if refusal [(items.refusal-block refusal)] []))
          raw (cond
                self.details {"reasoning_details" (json-text.clean self.details)}
                (= self.field "reasoning_content") {"reasoning_content" thought}
                True None))
    (events.distinct (+ (if (or thought self.details) [(items.reasoning thought self.origin raw)] [])
                        (if content [(items.assistant content)] [])
                        (lfor c self.calls (self.call-item c whole)))))

  (defn call-item [self call whole]
    "Return the neutral form of CALL; truncated unless WHOLE."
    {"type" "function_call" "call_id" (get call "id") "name" (get call "name")
     #** (json-text.arguments (.text (get call "text")))
     #** (if (get call "extra") {"raw" (json-text.clean (get call "extra")) "origin" self.origin} {})
     #** (if whole {} {"truncated" True})}))

(defn again? [call text]
  "Tell whether TEXT is the whole arguments of CALL once more, as some servers send at the end."
  (and (.startswith text "{") (.endswith text "}")
       (= text (.text (get call "text")))
       (json-text.whole? text)))

(defn settled? [call]
  "Tell whether the arguments of CALL are whole, or were never begun."
  (setv text (.text (get call "text")))
  (or (not (.strip text)) (json-text.whole? text)))

(defn content [value]
  "Return #(text thinking) of the content VALUE: a string, nothing, or a list of typed parts."
  (when (not (isinstance value list))
    (return #((or value "") "")))
  (setv text ""
        thinking "")
  (for [part value :if (isinstance part dict)]
    (match (.get part "type")
      "text" (+= text (or (.get part "text") ""))
      "thinking" (+= thinking (inner (.get part "thinking")))
      _ None))
  #(text thinking))

(defn inner [value]
  "Return the text of the thinking VALUE, a string or a list of text parts."
  (if (isinstance value list)
    (.join "" (gfor p value :if (isinstance p dict) (or (.get p "text") "")))
    (or value "")))

(defn merge-detail [details piece]
  "Add PIECE to the reasoning DETAILS: to the last one if that is of the same index and type."
  (setv last (when details (get details -1))
        same (and last (all (gfor k ["index" "type"] (= (.get last k) (.get piece k))))))
  (when (not same)
    (.append details (dict piece))
    (return))
  (for [[k v] (.items piece) :if (is-not v None)]
    (setv old (.get last k)
          (get last k) (if (and (in k ["text" "summary" "data"]) (isinstance old str)) (+ old v) v))))

(defn usage [raw]
  "Return the neutral usage for the wire's RAW, or None."
  (when (isinstance raw dict)
    (setv inputs (or (.get raw "prompt_tokens_details") {})
          outputs (or (.get raw "completion_tokens_details") {})
          prompt (or (.get raw "prompt_tokens") 0)
          completion (or (.get raw "completion_tokens") 0)
          thought (or (.get outputs "reasoning_tokens") 0)
          apart (and thought (= (.get raw "total_tokens") (+ prompt completion thought))))
    {"input" prompt
     "cached" (or (.get inputs "cached_tokens") 0)
     "cache_write" (or (.get inputs "cache_write_tokens") 0)
     "output" (+ completion (if apart thought 0)) "reasoning" thought "raw" raw}))
