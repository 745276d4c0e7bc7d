"Write the three wires as a provider would: events for answers, reasoning, calls, refusals, faults and ends.

A writer is made for one response and has the methods `begin`, `text`, `reasoning`, `refusal`, `call`, `fault` and `end`;
each yields frames, the text of one server-sent event. A method given WHOLE False leaves its item unfinished, as a connection
does that is cut in the middle. A signature (`signature text`) is a hash of what it signs, so that a strict server can tell an
altered replay."

(import hashlib json)


(defn signature [text]
  "Return the signature that this double gives to the reasoning TEXT."
  (+ "signed-" (cut (.hexdigest (hashlib.sha256 (.encode text "utf-8" "surrogatepass"))) 24)))


(defn frame [event data]
  "Return the server-sent event EVENT (None: no event line) with DATA as JSON."
  (setv text (json.dumps data :ensure-ascii False))
  (if event
      f"event: {event}\ndata: {text}\n\n"
      f"data: {text}\n\n"))


(defn compaction [body number]
  "Return what /responses/compact answers to BODY, the NUMBERth request: the user's messages and one item, signed by its id."
  (setv asked (if (isinstance (:input body) str) [{"type" "message" "role" "user" "content" (:input body)}] (:input body))
        id f"cmp_{number}")
  {"id" f"resp_{number}" "object" "response.compaction" "created_at" 1700000000
   "output" [#* (lfor item asked :if (= (.get item "role") "user") (user-message item number))
             {"id" id "type" "compaction" "encrypted_content" (signature id)}]
   "usage" {"input_tokens" 1000 "input_tokens_details" {"cached_tokens" 10 "cache_write_tokens" 0} "output_tokens" 50
            "output_tokens_details" {"reasoning_tokens" 0} "total_tokens" 1050}})


(defn user-message [item number]
  "Return ITEM, a message of the user's, as the NUMBERth answer gives it back."
  (setv content (:content item))
  {"id" f"msg_{number}" "type" "message" "role" "user" "status" "completed"
   "content" (if (isinstance content str) [{"type" "input_text" "text" content}] content)})


;; * Responses

(defclass Responses []
  "Write one response of the Responses API."

  (defn __init__ [self model number]
    (setv self.model model
          self.id f"resp_{number}"
          self.number number
          self.items []
          self.sequence 0))

  (defn event [self kind #** fields]
    "Return the frame of the event KIND with FIELDS and the next sequence number."
    (setv data {"type" kind "sequence_number" self.sequence #** fields})
    (+= self.sequence 1)
    (frame kind data))

  (defn response [self status usage #** more]
    "Return the response object in STATUS."
    {"id" self.id "object" "response" "created_at" 1700000000 "status" status "model" self.model "output" (list self.items)
     "error" None "incomplete_details" None "instructions" None "metadata" {} "parallel_tool_calls" True "temperature" 1.0
     "top_p" 1.0 "tool_choice" "auto" "tools" [] "usage" usage #** more})

  (defn begin [self usage]
    "Yield what precedes the first item."
    (yield (self.event "response.created" :response (self.response "in_progress" None)))
    (yield (self.event "response.in_progress" :response (self.response "in_progress" None))))

  (defn finish-item [self item]
    "Yield the end of ITEM and keep it for the end of the response."
    (setv index (len self.items))
    (.append self.items item)
    (yield (self.event "response.output_item.done" :output-index index :item item)))

  (defn _content [self part-type key pieces whole phase]
    "Yield a message with one part of PART-TYPE that streams PIECES."
    (setv index (len self.items)
          id f"msg_{self.number}_{index}"
          base {"id" id "type" "message" "role" "assistant" #** (if phase {"phase" phase} {})}
          extra (if (= key "text") {"annotations" []} {})
          event (if (= key "text") "response.output_text" "response.refusal")
          place {"item_id" id "output_index" index "content_index" 0})
    (yield (self.event "response.output_item.added" :output-index index :item {#** base "status" "in_progress" "content" []}))
    (yield (self.event "response.content_part.added" #** place :part {"type" part-type key "" #** extra}))
    (for [piece pieces]
      (yield (self.event (+ event ".delta") #** place :delta piece #** (if (= key "text") {"logprobs" []} {}))))
    (when (not whole)
      (return))
    (setv text (.join "" pieces)
          part {"type" part-type key text #** extra})
    (yield (self.event (+ event ".done") #** place #** {key text} #** (if (= key "text") {"logprobs" []} {})))
    (yield (self.event "response.content_part.done" #** place :part part))
    (yield :from (self.finish-item {#** base "status" "completed" "content" [part]})))

  (defn text [self pieces whole phase]
    "Yield a message that streams PIECES."
    (yield :from (self._content "output_text" "text" pieces whole phase)))

  (defn refusal [self pieces whole]
    "Yield a message that refuses in PIECES."
    (yield :from (self._content "refusal" "refusal" pieces whole None)))

  (defn reasoning [self pieces whole signed]
    "Yield a reasoning item whose summary streams PIECES; it has encrypted content if SIGNED."
    (setv index (len self.items)
          id f"rs_{self.number}_{index}"
          text (.join "" pieces)
          place {"item_id" id "output_index" index "summary_index" 0})
    (yield (self.event "response.output_item.added" :output-index index :item {"id" id "type" "reasoning" "summary" []}))
    (yield (self.event "response.reasoning_summary_part.added" #** place :part {"type" "summary_text" "text" ""}))
    (for [piece pieces]
      (yield (self.event "response.reasoning_summary_text.delta" #** place :delta piece)))
    (when (not whole)
      (return))
    (yield (self.event "response.reasoning_summary_text.done" #** place :text text))
    (yield (self.event "response.reasoning_summary_part.done" #** place :part {"type" "summary_text" "text" text}))
    (yield :from (self.finish-item {"id" id "type" "reasoning" "summary" [{"type" "summary_text" "text" text}]
                                    #** (if signed {"encrypted_content" (signature text)} {})})))

  (defn call [self id name pieces whole]
    "Yield a call of NAME whose arguments stream PIECES."
    (setv index (len self.items)
          item-id f"fc_{self.number}_{index}"
          base {"id" item-id "type" "function_call" "call_id" id "name" name}
          place {"item_id" item-id "output_index" index})
    (yield (self.event "response.output_item.added" :output-index index :item {#** base "arguments" "" "status" "in_progress"}))
    (for [piece pieces]
      (yield (self.event "response.function_call_arguments.delta" #** place :delta piece)))
    (when (not whole)
      (return))
    (setv arguments (.join "" pieces))
    (yield (self.event "response.function_call_arguments.done" #** place :arguments arguments :name name))
    (yield :from (self.finish-item {#** base "arguments" arguments "status" "completed"})))

  (defn fault [self kind message]
    "Yield an error of KIND inside the stream."
    (yield (self.event "error" :error {"type" kind "code" kind "message" message "param" None}))
    (yield (self.event "response.failed" :response (self.response "failed" None :error {"code" kind "message" message}))))

  (defn end [self reason usage]
    "Yield the end of the response because of REASON."
    (setv counts {"input_tokens" (:input usage) "input_tokens_details" {"cached_tokens" (:cached usage)}
                  "output_tokens" (:output usage) "output_tokens_details" {"reasoning_tokens" (:reasoning usage)}
                  "total_tokens" (+ (:input usage) (:output usage))})
    (yield (if (= reason "limit")
               (self.event "response.incomplete"
                           :response (self.response "incomplete" counts :incomplete-details {"reason" "max_output_tokens"}))
               (self.event "response.completed" :response (self.response "completed" counts))))))


;; * Chat Completions

(defclass Chat []
  "Write one response of the Chat Completions API."

  (defn __init__ [self model number]
    (setv self.model model
          self.id f"chatcmpl-{number}"
          self.calls 0
          self.refused False))

  (defn chunk [self delta [finish None] #** more]
    "Return the frame of a chunk with DELTA."
    (frame None {"id" self.id "object" "chat.completion.chunk" "created" 1700000000 "model" self.model
                 "choices" [{"index" 0 "delta" delta "logprobs" None "finish_reason" finish}] #** more}))

  (defn begin [self usage]
    "Yield the chunk that names the role."
    (yield (self.chunk {"role" "assistant" "content" ""})))

  (defn text [self pieces whole phase]
    "Yield PIECES as content."
    (for [piece pieces]
      (yield (self.chunk {"content" piece}))))

  (defn refusal [self pieces whole]
    "Yield PIECES as a refusal."
    (for [piece pieces]
      (yield (self.chunk {"refusal" piece}))))

  (defn reasoning [self pieces whole signed]
    "Yield PIECES as reasoning content."
    (for [piece pieces]
      (yield (self.chunk {"reasoning_content" piece}))))

  (defn call [self id name pieces whole]
    "Yield a call of NAME whose arguments stream PIECES."
    (setv index self.calls)
    (+= self.calls 1)
    (yield (self.chunk {"tool_calls" [{"index" index "id" id "type" "function" "function" {"name" name "arguments" ""}}]}))
    (for [piece pieces]
      (yield (self.chunk {"tool_calls" [{"index" index "function" {"arguments" piece}}]}))))

  (defn fault [self kind message]
    "Yield an error of KIND inside the stream."
    (yield (frame None {"error" {"message" message "type" kind "code" kind}})))

  (defn end [self reason usage]
    "Yield the finish reason, the usage and the end mark."
    (yield (self.chunk {} :finish (cond (= reason "limit") "length" self.calls "tool_calls" True "stop")))
    (yield (frame None {"id" self.id "object" "chat.completion.chunk" "created" 1700000000 "model" self.model "choices" []
                        "usage" {"prompt_tokens" (:input usage) "completion_tokens" (:output usage)
                                 "total_tokens" (+ (:input usage) (:output usage))
                                 "prompt_tokens_details" {"cached_tokens" (:cached usage)}
                                 "completion_tokens_details" {"reasoning_tokens" (:reasoning usage)}}}))
    (yield "data: [DONE]\n\n")))


;; * Anthropic Messages

(defclass Anthropic []
  "Write one response of the Messages API."

  (defn __init__ [self model number]
    (setv self.model model
          self.id f"msg_{number}"
          self.index 0
          self.calls 0
          self.refused False))

  (defn event [self kind #** fields]
    "Return the frame of the event KIND with FIELDS."
    (frame kind {"type" kind #** fields}))

  (defn begin [self usage]
    "Yield the start of the message and a ping."
    (yield (self.event "message_start"
                       :message {"id" self.id "type" "message" "role" "assistant" "content" [] "model" self.model
                                 "stop_reason" None "stop_sequence" None
                                 "usage" {"input_tokens" (- (:input usage) (:cached usage)) "cache_creation_input_tokens" 0
                                          "cache_read_input_tokens" (:cached usage) "output_tokens" 1}}))
    (yield (self.event "ping")))

  (defn block [self start deltas whole]
    "Yield a content block that begins as START and streams DELTAS."
    (setv index self.index)
    (+= self.index 1)
    (yield (self.event "content_block_start" :index index :content-block start))
    (for [delta deltas]
      (yield (self.event "content_block_delta" :index index :delta delta)))
    (when whole
      (yield (self.event "content_block_stop" :index index))))

  (defn text [self pieces whole phase]
    "Yield a text block that streams PIECES."
    (yield :from (self.block {"type" "text" "text" ""} (lfor p pieces {"type" "text_delta" "text" p}) whole)))

  (defn refusal [self pieces whole]
    "Yield PIECES as text and note that the message ends as a refusal."
    (setv self.refused True)
    (yield :from (self.text pieces whole None)))

  (defn reasoning [self pieces whole signed]
    "Yield a thinking block that streams PIECES, with a signature if SIGNED."
    (setv deltas (lfor p pieces {"type" "thinking_delta" "thinking" p}))
    (when (and whole signed)
      (.append deltas {"type" "signature_delta" "signature" (signature (.join "" pieces))}))
    (yield :from (self.block {"type" "thinking" "thinking" "" "signature" ""} deltas whole)))

  (defn call [self id name pieces whole]
    "Yield a call of NAME whose arguments stream PIECES."
    (+= self.calls 1)
    (yield :from (self.block {"type" "tool_use" "id" id "name" name "input" {}}
                             (lfor p ["" #* pieces] {"type" "input_json_delta" "partial_json" p})
                             whole)))

  (defn fault [self kind message]
    "Yield an error of KIND inside the stream."
    (yield (self.event "error" :error {"type" kind "message" message})))

  (defn end [self reason usage]
    "Yield the stop reason, the usage and the end of the message."
    (setv stop (cond
                 (= reason "limit") "max_tokens"
                 (= reason "pause") "pause_turn"
                 self.refused "refusal"
                 self.calls "tool_use"
                 True "end_turn"))
    (yield (self.event "message_delta" :delta {"stop_reason" stop "stop_sequence" None}
                       :usage {"output_tokens" (:output usage)}))
    (yield (self.event "message_stop"))))


(setv WRITERS {"responses" Responses "chat-completions" Chat "anthropic-messages" Anthropic})
