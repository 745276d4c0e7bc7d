"The scripted provider is one that the official clients accept, and refuses what a provider would refuse."

(import
  anthropic
  openai
  pytest
  tests.doubles [scripted strict])


(setv TURN [(scripted.reasoning "let me see") (scripted.answer "Reading – it 🚀.")
            (scripted.calls "add" {"a" 1} "read" {})
            (scripted.usage :input 30 :cached 10 :output 7)])

(defn tools [make]
  "Return two tools in the form that MAKE gives them."
  (lfor name ["add" "read"] (make name {"type" "object" "properties" {}})))

(defn test-openai-sdk-reads-responses []
  "The official client reads a Responses stream with all kinds of items."
  (with [server (scripted.Server [TURN])]
    (setv client (openai.OpenAI :api-key "k" :base-url server.base-url :max-retries 0))
    (with [stream (client.responses.stream :model "m" :input "hi" :store False :include ["reasoning.encrypted_content"])]
      (for [_ stream] None)
      (setv final (.get-final-response stream))))
  (assert (= (lfor i final.output i.type) ["reasoning" "message" "function_call" "function_call"]))
  (assert (= final.output-text "Reading – it 🚀."))
  (assert (= (. final output [2] arguments) "{\"a\": 1}"))
  (assert (= final.usage.input-tokens-details.cached-tokens 10)))

(defn test-openai-sdk-reads-chat []
  "The official client reads a Chat Completions stream."
  (with [server (scripted.Server [TURN])]
    (setv client (openai.OpenAI :api-key "k" :base-url server.base-url :max-retries 0))
    (with [stream (client.chat.completions.stream :model "m" :messages [{"role" "user" "content" "hi"}]
                                                  :stream-options {"include_usage" True})]
      (for [_ stream] None)
      (setv final (.get-final-completion stream))))
  (setv message (. final choices [0] message))
  (assert (= message.content "Reading – it 🚀."))
  (assert (= (lfor c message.tool-calls c.function.name) ["add" "read"]))
  (assert (= final.usage.completion-tokens 7)))

(defn test-anthropic-sdk-reads-messages []
  "The official client reads a Messages stream."
  (with [server (scripted.Server [TURN])]
    (setv client (anthropic.Anthropic :api-key "k" :base-url server.base-url :max-retries 0))
    (with [stream (client.messages.stream :model "m" :max-tokens 100 :messages [{"role" "user" "content" [{"type" "text" "text" "hi"}]}])]
      (for [_ stream] None)
      (setv final (.get-final-message stream))))
  (assert (= (lfor b final.content b.type) ["thinking" "text" "tool_use" "tool_use"]))
  (assert (= (. final content [2] input) {"a" 1}))
  (assert (= final.stop-reason "tool_use"))
  (assert (= final.usage.cache-read-input-tokens 10)))

(defn test-errors-reach-the-sdk []
  "An HTTP error has the shape that each client turns into its own exception."
  (with [server (scripted.Server [(scripted.error 429) (scripted.error 401) (scripted.error 529)])]
    (setv client (openai.OpenAI :api-key "k" :base-url server.base-url :max-retries 0)
          other (anthropic.Anthropic :api-key "k" :base-url server.base-url :max-retries 0)
          ask {"model" "m" "max_tokens" 9 "stream" True "messages" [{"role" "user" "content" [{"type" "text" "text" "hi"}]}]})
    (with [_ (pytest.raises openai.RateLimitError)]
      (client.responses.create :model "m" :input "hi" :stream True :store False :include ["reasoning.encrypted_content"]))
    (with [_ (pytest.raises anthropic.AuthenticationError)]
      (other.messages.create #** ask))
    (with [_ (pytest.raises anthropic.APIStatusError)]
      (other.messages.create #** ask))))

(defn test-problem-fails-the-with []
  "A request that breaks the rules is refused and fails the test that sent it."
  (with [_ (pytest.raises AssertionError)]
    (with [server (scripted.Server [(scripted.answer "never sent")])]
      (setv client (openai.OpenAI :api-key "k" :base-url server.base-url :max-retries 0))
      (with [_ (pytest.raises openai.BadRequestError)]
        (client.chat.completions.create :model "m" :stream True :messages [{"role" "user" "content" ""}])))))

(setv USER {"type" "message" "role" "user" "content" "hi"}
      CALL {"type" "function_call" "call_id" "c" "name" "add" "arguments" "{}"}
      OUTPUT {"type" "function_call_output" "call_id" "c" "output" "1"}
      THOUGHT {"type" "reasoning" "id" "rs_1" "summary" []})

(defn [(pytest.mark.parametrize "items" [[USER CALL] [USER OUTPUT] [USER CALL OUTPUT OUTPUT] [USER CALL USER OUTPUT] [USER THOUGHT CALL OUTPUT]
                                         [USER {#** CALL "arguments" ""} OUTPUT] [{#** USER "content" " "}] []])]
  test-strict-responses [items]
  "Each broken Responses history is refused."
  (setv body {"model" "m" "stream" True "store" False "include" ["reasoning.encrypted_content"] "input" items})
  (assert (strict.check "responses" {"content-type" "application/json"} body)))

(defn text [role words]
  "Return an Anthropic message of ROLE with WORDS."
  {"role" role "content" [{"type" "text" "text" words}]})

(setv USE {"role" "assistant" "content" [{"type" "tool_use" "id" "c" "name" "add" "input" {}}]}
      RESULT {"role" "user" "content" [{"type" "tool_result" "tool_use_id" "c" "content" "1"}]})

(defn [(pytest.mark.parametrize "messages" [[(text "assistant" "hi")] [(text "user" "a") (text "user" "b")] [(text "user" "a") USE]
                                            [(text "user" "a") USE (text "user" "b")] [(text "user" "a") RESULT] [(text "user" " ")]
                                            [(text "user" "a") {"role" "assistant" "content" [{"type" "thinking" "thinking" "x" "signature" "y"}]}]])]
  test-strict-anthropic [messages]
  "Each broken Messages history is refused."
  (setv headers {"content-type" "application/json" "anthropic-version" "2023-06-01"}
        body {"model" "m" "stream" True "max_tokens" 10 "messages" messages})
  (assert (strict.check "anthropic-messages" headers body))
  (assert (not (strict.check "anthropic-messages" headers {#** body "messages" [(text "user" "a") USE RESULT]}))))

(defn test-openai-sdk-compacts []
  "The official client reads a compacted history and can send it back as it came; an altered one is refused."
  (with [server (scripted.Server [(scripted.compacted) (scripted.answer "on")])]
    (setv client (openai.OpenAI :api-key "k" :base-url server.base-url :max-retries 0)
          found (client.responses.compact :model "m" :input [{"role" "user" "content" "one"} {"role" "user" "content" "two"}])
          output (lfor item found.output (item.model-dump :exclude-none True :warnings False))
          ask {"model" "m" "store" False "include" ["reasoning.encrypted_content"]})
    (assert (= (lfor item found.output item.type) ["message" "message" "compaction"]))
    (with [stream (client.responses.stream :input output #** ask)]
      (for [_ stream] None))
    (setv (get output -1 "encrypted_content") "other")
    (with [_ (pytest.raises openai.BadRequestError)]
      (with [stream (client.responses.stream :input output #** ask)]
        (for [_ stream] None)))
    (.clear server.problems)))
