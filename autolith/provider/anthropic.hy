"Speak the Anthropic Messages wire: requests from neutral items, neutral events from the stream.

`(encode request)` -> {\"path\" \"body\" \"headers\"}; `(Decoder request)` has `.feed name data`, `.finish` and `ended`. Results come first in the
user's message after their calls, the context last; four cache breakpoints: tools, system, the user's last two messages
(before the context). Thinking goes back only as it came, signed, and to the model it came from. Quirks of the provider:
cache_control False leaves the breakpoints out.

Blocks are keyed by their index. All items are given out at the end, when it is known whether the response is whole."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  autolith.provider [errors events history images items json-text models])

(defparameter thinking-budgets {"low" 4000 "medium" 10000 "high" 24000}
  "How many tokens a model with a thinking budget may think, by effort.")

(defparameter least-answer 4096
  "How many tokens an answer may have even where the estimate leaves less room for it; the server knows better.")

(setv VERSION "2023-06-01"
      BREAKPOINT {"type" "ephemeral"}
      CACHEABLE #{"text" "image" "tool_use" "tool_result"})


;; * Requests

(defn encode [request]
  "Return the path, body and headers that ask for REQUEST."
  (setv quirks (.get (get request "provider") "quirks" {})
        caches (.get quirks "cache_control" True)
        model (models.find (get request "model"))
        limit (answer-limit request model)
        talk (messages request)
        tools (lfor t (sorted (or (.get request "tools") []) :key (fn [t] (get t "name"))) (tool t))
        system (if (.get request "system") [{"type" "text" "text" (json-text.repair (get request "system"))}] []))
  (when caches
    (mark tools)
    (mark system)
    (mark-messages talk))
  (add-context talk (.get request "context"))
  {"path" "/v1/messages"
   "headers" {"anthropic-version" VERSION}
   "body" {"model" (get request "model")
           #** (if tools {"tools" tools "tool_choice" {"type" "auto"}} {})
           #** (if system {"system" system} {})
           "max_tokens" limit
           #** (thinking model (models.effort (get request "model") (.get request "effort") (get request "provider"))
                         limit talk)
           "stream" True
           "messages" talk}})

(defn answer-limit [request model]
  "Return how many tokens the answer to REQUEST from MODEL may have: what is asked for, as far as the window has room beside the prompt."
  (setv limit (or (.get request "max_output") (get model "output"))
        room (.get request "room"))
  (if (is room None)
    limit
    (min limit (max room least-answer))))

(defn tool [declaration]
  "Return the wire's form of the tool DECLARATION."
  {"name" (get declaration "name") "description" (get declaration "description") "input_schema" (get declaration "parameters")})

(defn thinking [model effort limit talk]
  "Return the fields that make MODEL think with EFFORT, within LIMIT tokens, where the messages TALK allow it."
  (match [(and effort (get model "thinking")) effort]
    ["adaptive" _] {"thinking" {"type" "adaptive" "display" "summarized"} "output_config" {"effort" effort}}
    ["budget" _] (do
                   (setv budget (min (.get thinking-budgets effort (get thinking-budgets "high")) (// limit 2)))
                   (if (and (>= budget 1024) (may-think? talk))
                     {"thinking" {"type" "enabled" "budget_tokens" budget}}
                     {}))
    _ {}))

(defn may-think? [talk]
  "Tell whether the messages TALK permit a thinking budget: calls under way must have begun with a thought."
  (setv last (get talk -1))
  (or (not (any (gfor b (get last "content") (= (get b "type") "tool_result"))))
      (in (get (get talk -2 "content" 0) "type") ["thinking" "redacted_thinking"])))


(defn messages [request]
  "Return the messages for REQUEST's history, users and assistant in turn."
  (setv result [])
  (for [[kind #* rest] (history.turns (images.for-model request) (items.origin request))]
    (if (= kind "user")
      (add result "user" (blocks (lfor m (get rest 0) b (get m "content") b)))
      (do
        (when (not result)
          (add result "user" [(text-block history.CONTINUED)]))
        (add result "assistant" (lfor i (get rest 0) b (assistant-blocks i) b))
        (add result "user" (lfor o (get rest 1) (result-block o))))))
  (when (not result)
    (add result "user" [(text-block history.CONTINUED)]))
  (trim (get result -1))
  result)

(defn add [result role content]
  "Append the blocks CONTENT to the last message of RESULT if that is ROLE's, else as a new message."
  (cond
    (not content) None
    (and result (= (get (get result -1) "role") role)) (.extend (get (get result -1) "content") content)
    True (.append result {"role" role "content" (list content)})))

(defn trim [message]
  "Take the blanks off the end of MESSAGE if it is the assistant's: such an end is refused."
  (setv block (get message "content" -1))
  (when (and (= (get message "role") "assistant") (= (get block "type") "text"))
    (setv (get message "content" -1) {#** block "text" (.rstrip (get block "text"))})))

(defn text-block [text]
  "Return the wire's block of TEXT."
  {"type" "text" "text" (json-text.repair text)})

(defn blocks [content]
  "Return the wire's blocks for the blocks CONTENT that are not empty."
  (lfor b (images.expand content)
        :if (or (isinstance b tuple) (.strip (.get b "text" "")))
        (if (isinstance b tuple)
          {"type" "image" "source" {"type" "base64" "media_type" (get (get b 1) "mime") "data" (get b 0)}}
          (text-block (get b "text")))))

(defn assistant-blocks [item]
  "Return the wire's blocks for what the assistant did, ITEM."
  (match (get item "type")
    "message" (if (.get item "raw")
                (lfor b (get item "raw") :if (.strip (get b "text")) (dict b))
                (lfor t (history.said (get item "content")) {"type" "text" "text" t}))
    "function_call" [{"type" "tool_use" "id" (get item "call_id")
                      "name" (get item "name") "input" (get item "arguments")}]
    _ [(dict (get item "raw"))]))

(defn result-block [output]
  "Return the wire's block for the OUTPUT of a call."
  (setv content (blocks (get output "content")))
  {"type" "tool_result" "tool_use_id" (get output "call_id")
   "content" (or content [(text-block history.NOTHING)])
   #** (if (.get output "ok" True) {} {"is_error" True})})

(defn mark [blocks]
  "Set a cache breakpoint on the last of BLOCKS."
  (when blocks
    (setv (get blocks -1 "cache_control") BREAKPOINT)))

(defn mark-messages [talk]
  "Set a cache breakpoint on the last block that can bear one of each of the user's last two messages of TALK."
  (for [message (cut (lfor m talk :if (= (get m "role") "user") m) -2 None)]
    (mark (lfor b (get message "content") :if (in (get b "type") CACHEABLE) b))))

(defn add-context [talk context]
  "Append CONTEXT to the user's last message of TALK. Where the assistant has the word, it goes on without."
  (when (and context (= (get (get talk -1) "role") "user"))
    (.append (get talk -1 "content") (text-block context))))


;; * Streams

(setv REASONS {"end_turn" "stop" "stop_sequence" "stop" "tool_use" "calls" "max_tokens" "length" "refusal" "refusal"
               "pause_turn" "pause" "model_context_window_exceeded" "context-window" "compaction" "pause"}
      BEGINNINGS {"text_delta" "text" "thinking_delta" "thinking"}      ; what a block is whose start never came
      STATUSES {"max_tokens" "incomplete" "model_context_window_exceeded" "incomplete" "refusal" "refused"
                "pause_turn" "continue" "compaction" "continue"})

(defclass Decoder []
  "Turn the events of one stream, which answers REQUEST, into neutral events."

  (defn __init__ [self request]
    (setv self.request request
          self.origin (items.origin request)
          self.ended False)
    (self.begin {})
    None)

  (defn begin [self message]
    "Start with MESSAGE, forgetting what a proxy may have sent of another."
    (setv self.blocks {}       ; index -> the wire's block
          self.pieces {}       ; index -> json-text.Pieces of its text, thinking or arguments
          self.closed #{}
          self.stop None
          self.details None
          self.id (.get message "id")
          self.model (.get message "model")
          self.usage (dict (or (.get message "usage") {})))
    [])

  (defn feed [self name data]
    "Return the events that the event NAME with DATA means."
    (when (or self.ended (= data "[DONE]") (events.silent? name data))
      (return []))
    (setv event (events.parse self.request name data))
    (when (not (isinstance event dict))
      (return []))
    (match (.get event "type" name)
      "content_block_delta" (self.delta (.get event "index" 0) (or (.get event "delta") {}))
      "content_block_start" (self.start (.get event "index" 0) (or (.get event "content_block") {}))
      "content_block_stop" (self.close (.get event "index" 0))
      "message_start" (self.begin (or (.get event "message") {}))
      "message_delta" (self.note event)
      "message_stop" (self.end)
      "error" (raise (errors.from-event self.request event))
      _ []))

  (defn start [self index block]
    "Note the BLOCK that begins at INDEX."
    (setv (get self.blocks index) (dict block)
          (get self.pieces index) (json-text.Pieces))
    (match (.get block "type")
      "tool_use" [{"type" "call-delta" "index" index "name" (.get block "name" "") "text" ""}]
      "text" (self.piece index "text-delta" (or (.get block "text") ""))
      "thinking" (self.piece index "reasoning-delta" (or (.get block "thinking") ""))
      _ []))

  (defn piece [self index kind text]
    "Keep the piece TEXT of the block at INDEX and return its event of KIND in a list, or none if there is nothing to show."
    (setv shown (if text (.add (.setdefault self.pieces index (json-text.Pieces)) text) ""))
    (if shown [{"type" kind "text" shown}] []))

  (defn delta [self index delta]
    "Return the events that DELTA of the block at INDEX means."
    (setv block (.setdefault self.blocks index {}))
    (when (in (.get delta "type") BEGINNINGS)
      (.setdefault block "type" (get BEGINNINGS (.get delta "type"))))
    (match (.get delta "type")
      "text_delta" (self.piece index "text-delta" (or (.get delta "text") ""))
      "thinking_delta" (self.piece index "reasoning-delta" (or (.get delta "thinking") ""))
      "input_json_delta" (self.call-piece index block (json-of (.get delta "partial_json")))
      "signature_delta" (self.grow block "signature" (or (.get delta "signature") ""))
      "citations_delta" (self.grow block "citations" [(.get delta "citation")])
      "compaction_delta" (do (.update block (dfor [k v] (.items delta) :if (!= k "type") k v)) [])
      _ []))

  (defn grow [self block field more]
    "Add MORE to the FIELD of BLOCK; nothing is to be shown."
    (setv old (.get block field)
          (get block field) (if old (+ old more) more))
    [])

  (defn call-piece [self index block text]
    "Keep the piece TEXT of the arguments of the tool block BLOCK at INDEX."
    (setv shown (if text (.add (.setdefault self.pieces index (json-text.Pieces)) text) ""))
    (if (and shown (= (.get block "type") "tool_use"))
      [{"type" "call-delta" "index" index "name" (.get block "name" "") "text" shown}]
      []))

  (defn close [self index]
    "Note that the block at INDEX is whole."
    (.add self.closed index)
    [])

  (defn note [self event]
    "Keep the reason to stop and the usage of EVENT, which replaces what was known."
    (setv delta (or (.get event "delta") {})
          self.stop (or (.get delta "stop_reason") self.stop)
          self.details (or (.get delta "stop_details") self.details))
    (.update self.usage (dfor [k v] (.items (or (.get event "usage") {})) :if (is-not v None) k v))
    [])

  (defn [property] satisfied [self]
    "Tell whether the stream may end here: it gave its reason, and every block is whole."
    (and (is-not self.stop None) (<= (set self.blocks) self.closed)))

  (defn finish [self]
    "Return the last events; the end of the stream before the response is whole is a failure."
    (cond
      self.ended []
      self.satisfied (self.end)
      True (raise (errors.unfinished self.request))))

  (defn end [self]
    "Return the items and the end."
    (when (and (is self.stop None) (not self.blocks))
      (raise (errors.unfinished self.request)))
    (setv self.ended True
          status (.get STATUSES self.stop "completed")
          neutral (gather (lfor i (sorted self.blocks) (self.whole i)) self.origin (= status "incomplete"))
          calls (bool (items.calls neutral)))
    (when (= status "refused")
      (setv neutral (declined neutral self.details)))
    [#* (lfor n neutral {"type" "item" "item" n})
     {"type" "done" "status" status
      "reason" (if (and calls (= status "completed")) "calls" (.get REASONS self.stop (or self.stop "stop")))
      "usage" (usage self.usage)
      "response_id" self.id "model" self.model #** (if self.details {"details" self.details} {})}])

  (defn whole [self index]
    "Return #(block arguments whole) for the block at INDEX as it would have come in one piece."
    (setv block (get self.blocks index)
          text (.text (.get self.pieces index (json-text.Pieces)))
          closed (in index self.closed))
    (match (.get block "type")
      "text" #({#** block "text" text} None closed)
      "thinking" #({#** block "thinking" text} None closed)
      (| "tool_use" "server_tool_use" "mcp_tool_use")
        (do
          (setv fields (if text (json-text.arguments text) {"arguments" (or (.get block "input") {})}))
          #({#** block "input" (.get fields "arguments" {})} fields closed))
      _ #(block None closed))))

(defn json-of [piece]
  "Return PIECE of a call's arguments as text; some servers send the object itself."
  (if (isinstance piece dict) (json-text.dumps piece) (or piece "")))

(defn gather [blocks origin incomplete]
  "Return the neutral items for BLOCKS, #(block arguments whole) each, from ORIGIN; neighbouring texts make one message.
In an INCOMPLETE response no call may be run."
  (setv result [])
  (for [[block fields whole] blocks]
    (setv block (json-text.clean block))
    (match (.get block "type")
      "text" (add-text result block origin)
      (| "thinking" "redacted_thinking")
        (.append result (items.reasoning (.get block "thinking" "") origin (signed block)))
      "tool_use" (.append result (call-item block fields origin (and whole (not incomplete))))
      None None
      _ (.append result (items.hosted origin block))))
  (events.distinct (lfor i result (lighten i))))

(defn signed [block]
  "Return the thinking BLOCK if it can go back to its model, else None."
  (if (or (= (get block "type") "redacted_thinking") (.get block "signature")) block None))

(defn add-text [result block origin]
  "Add the text BLOCK from ORIGIN to the message that RESULT ends in, or as a new one."
  (when (not (get block "text"))
    (return))
  (when (not (and result (= (get (get result -1) "type") "message")))
    (.append result (items.assistant [] :origin origin :raw [])))
  (setv message (get result -1))
  (.append (get message "content") (items.text-block (get block "text")))
  (.append (get message "raw") block))

(defn lighten [item]
  "Return ITEM without the wire's blocks if it is a message whose text says as much."
  (if (and (= (get item "type") "message") (not (any (gfor b (get item "raw") (.get b "citations")))))
    (items.assistant (get item "content"))
    item))

(defn call-item [block fields origin whole]
  "Return the call that the tool BLOCK with the arguments FIELDS from ORIGIN makes; truncated unless WHOLE."
  {"type" "function_call" "call_id" (.get block "id" "") "name" (.get block "name" "")
   #** fields
   #** (if whole {} {"truncated" True})})

(defn declined [neutral details]
  "Return NEUTRAL, the items of a refused response, as one message that refuses; DETAILS may explain."
  (setv said (.join "" (gfor i neutral :if (= (get i "type") "message") (items.text i)))
        why (or (.get (or details {}) "explanation") ""))
  (setv text (.join "\n\n" (filter None [said why])))
  [(items.assistant (items.refusal-block (or text "The model declined to answer.")))])

(defn usage [raw]
  "Return the neutral usage for the wire's RAW, or None. Its input leaves out what was cached; ours counts the whole prompt."
  (when raw
    (setv cached (or (.get raw "cache_read_input_tokens") 0)
          written (or (.get raw "cache_creation_input_tokens") 0))
    {"input" (+ (or (.get raw "input_tokens") 0) cached written) "cached" cached "cache_write" written
     "output" (or (.get raw "output_tokens") 0)
     "reasoning" (or (.get (or (.get raw "output_tokens_details") {}) "thinking_tokens") 0)
     "raw" raw}))
