"Say what a strict provider would refuse about a request: order, ids, orphans, alternation, empty text, altered signatures.

`(check wire headers body)` returns a list of complaints, empty if all is well."

(import
  json
  re
  tests.doubles [wires])


(defn check [wire headers body]
  "Return the complaints about BODY, sent with HEADERS over WIRE."
  (setv complaints [])
  (when (not-in "application/json" (.get headers "content-type" ""))
    (.append complaints "content-type is not application/json"))
  (when (not (and (isinstance (.get body "model") str) (:model body)))
    (.append complaints "model is missing"))
  (when (and (!= wire "compact") (is-not (.get body "stream") True))
    (.append complaints "stream is not true"))
  (.extend complaints (surrogates body))
  (try
    (.extend complaints ((get CHECKERS wire) headers body))
    (except [e [KeyError TypeError AttributeError IndexError]]
      (.append complaints f"malformed request: {e !r}")))
  complaints)

(defn surrogates [value]
  "Return a complaint if VALUE holds a lone surrogate."
  (if (re.search "[\ud800-\udfff]" (json.dumps value :ensure-ascii False))
      ["lone surrogate in the body"]
      []))

(defn tool-complaints [names schemas]
  "Return the complaints about the NAMES and SCHEMAS of tools."
  (+ (lfor n names :if (not (re.fullmatch "[a-zA-Z0-9_-]{1,64}" n)) f"bad tool name {n}")
     (if (= names (sorted (set names))) [] ["tools are not sorted or not unique"])
     (lfor s schemas :if (!= (.get s "type") "object") "a tool's parameters are no object schema")))

(defn arguments-complaint [text]
  "Return a list with a complaint unless TEXT is a JSON object."
  (try
    (if (isinstance (json.loads text) dict) [] [f"arguments are no object: {text}"])
    (except [[ValueError TypeError]]
      [f"arguments are no JSON: {text !r}"])))

(defn empty-text [text where]
  "Return a list with a complaint if TEXT is not a string with something in it."
  (if (and (isinstance text str) (.strip text)) [] [f"empty text in {where}"]))


;; * Responses

(setv OUTPUT-TYPES #{"message" "function_call" "web_search_call" "code_interpreter_call" "file_search_call" "image_generation_call"
                     "mcp_call" "custom_tool_call" "local_shell_call" "shell_call" "compaction"}
      COMPACT-FIELDS #{"model" "input" "instructions" "prompt_cache_key"}
      PREFIXES {"compaction" "cmp_" "reasoning" "rs_" "message" "msg_" "function_call" "fc_"})

(defn responses [_headers body]
  "Return the complaints about the Responses BODY."
  (setv items (if (isinstance (:input body) str) [{"role" "user" "content" (:input body)}] (:input body))
        tools (.get body "tools" []))
  (+ (if (is (.get body "store") False) [] ["store is not false"])
     (if (in "reasoning.encrypted_content" (.get body "include" [])) [] ["encrypted reasoning is not asked for"])
     (if items [] ["input is empty"])
     (tool-complaints (lfor t tools (:name t)) (lfor t tools (:parameters t)))
     (lfor t tools :if (is-not (.get t "strict") False) f"tool {(:name t)} does not say strict false")
     (input-complaints items)))

(defn input-complaints [items]
  "Return the complaints about ITEMS, the input of a request."
  (+ (lfor [i item] (enumerate items) c (responses-item item (cut items (+ i 1) None)) c)
     (pairs (lfor item items :if (in (.get item "type" "message") ["function_call" "function_call_output" "message"])
                  #((.get item "type" "message") (.get item "call_id"))))))

(defn compact [_headers body]
  "Return the complaints about BODY, which asks for a compaction."
  (+ (lfor k body :if (not-in k COMPACT-FIELDS) f"Unknown parameter: '{k}'.")
     (if (isinstance (:input body) str)
       (empty-text (:input body) "the input")
       (+ (if (:input body) [] ["input is empty"]) (input-complaints (:input body))))))

(defn responses-item [item following]
  "Return the complaints about ITEM, which FOLLOWING follow."
  (setv kind (.get item "type" "message")
        prefix (.get PREFIXES kind))
  (+ (if (and prefix (.get item "id") (not (.startswith (:id item) prefix))) [f"id {(:id item)} on a {kind}"] [])
     (match kind
       "message" (responses-message item)
       "reasoning" (responses-reasoning item following)
       "compaction" (if (= item {"id" (:id item) "type" "compaction" "encrypted_content" (wires.signature (:id item))})
                        []
                        ["the compaction was altered"])
       "function_call" (arguments-complaint (:arguments item))
       "function_call_output" (if (isinstance (:output item) str)
                                  (empty-text (:output item) "an output")
                                  (lfor part (:output item) :if (= (:type part) "input_text")
                                        c (empty-text (:text part) "an output") c))
       _ [])))

(defn responses-message [item]
  "Return the complaints about the message ITEM."
  (setv wanted (if (= (:role item) "assistant") ["output_text" "refusal"] ["input_text" "input_image"])
        content (:content item))
  (when (isinstance content str)
    (return (empty-text content "a message")))
  (+ (if content [] ["a message without content"])
     (lfor part content :if (not-in (:type part) wanted) f"a part {(:type part)} in a message of {(:role item)}")
     (lfor part content :if (in "text" part) c (empty-text (:text part) "a message") c)))

(defn responses-reasoning [item following]
  "Return the complaints about the reasoning ITEM, which FOLLOWING follow."
  (setv text (.join "" (lfor part (.get item "summary" []) (:text part)))
        after (when following (get following 0)))
  (+ (if (.get item "encrypted_content") [] ["reasoning without encrypted content"])
     (if (= (.get item "encrypted_content") (wires.signature text)) [] ["reasoning was altered"])
     (if (and after (in (.get after "type" "message") OUTPUT-TYPES) (!= (.get after "role") "user"))
         []
         ["reasoning without its following item"])))

(defn pairs [sequence]
  "Return the complaints about the SEQUENCE of (kind call-id): each call answered once, before any message."
  (setv waiting []
        complaints [])
  (for [[kind id] sequence]
    (cond
      (= kind "function_call")
        (do (when (in id waiting) (.append complaints f"two open calls {id}"))
            (.append waiting id))
      (= kind "function_call_output")
        (if (in id waiting)
            (.remove waiting id)
            (.append complaints f"an output without a call: {id}"))
      waiting
        (do (.append complaints f"No tool output found for function call {(get waiting 0)}.")
            (setv waiting []))))
  (+ complaints (lfor id waiting f"No tool output found for function call {id}.")))


;; * Chat Completions

(defn chat [_headers body]
  "Return the complaints about the Chat Completions BODY."
  (setv messages (:messages body)
        tools (lfor t (.get body "tools" []) (:function t))
        talk (lfor m messages :if (not-in (:role m) ["system" "developer"]) m))
  (+ (if (.get (.get body "stream_options" {}) "include_usage") [] ["usage is not asked for"])
     (if (and talk (= (:role (get talk 0)) "user")) [] ["the first message is not the user's"])
     (tool-complaints (lfor t tools (:name t)) (lfor t tools (:parameters t)))
     (if (= (.get body "tools" True) []) ["tools is an empty list"] [])
     (lfor [i m] (enumerate messages) :if (and (in (:role m) ["system" "developer"]) (< 0 i (- (len messages) 1)))
           "a system message in the middle")
     (lfor [a b] (zip talk (cut talk 1 None)) :if (= (:role a) (:role b)) :if (!= (:role a) "tool") f"two messages of {(:role a)} in a row")
     (lfor m messages c (chat-message m) c)
     (pairs (lfor m talk
                  entry (cond
                          (= (:role m) "tool") [#("function_call_output" (:tool-call-id m))]
                          True [#("message" None) #* (lfor c (.get m "tool_calls" []) #("function_call" (:id c)))])
                  entry))))

(defn chat-message [message]
  "Return the complaints about MESSAGE."
  (setv content (.get message "content")
        calls (.get message "tool_calls" []))
  (+ (if (= (.get message "tool_calls" True) []) ["tool_calls is an empty list"] [])
     (lfor c calls complaint (arguments-complaint (:arguments (:function c))) complaint)
     (cond
       (and (is content None) calls) []
       (isinstance content list) (lfor part content :if (= (:type part) "text") c (empty-text (:text part) "a part") c)
       True (empty-text content f"a message of {(:role message)}"))
     (if (and (= (:role message) "tool") (not (isinstance content str))) ["a tool message that is no text"] [])))


;; * Anthropic Messages

(defn anthropic [headers body]
  "Return the complaints about the Messages BODY, sent with HEADERS."
  (setv messages (:messages body)
        tools (.get body "tools" []))
  (+ (if (in "anthropic-version" headers) [] ["anthropic-version header is missing"])
     (if (isinstance (.get body "max_tokens") int) [] ["max_tokens: Field required"])
     (budget-complaints body)
     (if (and messages (= (:role (get messages 0)) "user")) [] ["the first message is not the user's"])
     (lfor [a b] (zip messages (cut messages 1 None)) :if (= (:role a) (:role b)) f"two messages of {(:role a)} in a row")
     (tool-complaints (lfor t tools (:name t)) (lfor t tools (:input-schema t)))
     (if (> (breakpoints body) 4) ["more than four cache breakpoints"] [])
     (if (isinstance (.get body "system" []) list) (lfor b (.get body "system" []) c (empty-text (:text b) "system") c) [])
     (lfor m messages c (anthropic-message m) c)
     (lfor [i m] (enumerate messages) c (answers m (if (< (+ i 1) (len messages)) (get messages (+ i 1)) None)) c)
     (orphans messages)))

(defn budget-complaints [body]
  "Return the complaints about the thinking budget of BODY."
  (setv budget (.get (.get body "thinking" {}) "budget_tokens"))
  (if (and budget (not (<= 1024 budget (- (:max-tokens body) 1))))
      ["thinking budget is not between 1024 and max_tokens"]
      []))

(defn breakpoints [value]
  "Return how many cache breakpoints VALUE holds."
  (cond
    (isinstance value dict) (+ (if (in "cache_control" value) 1 0) (sum (map breakpoints (.values value))))
    (isinstance value list) (sum (map breakpoints value))
    True 0))

(defn anthropic-message [message]
  "Return the complaints about the blocks of MESSAGE."
  (setv blocks (:content message)
        kinds (lfor b blocks (:type b)))
  (+ (if blocks [] ["a message without content"])
     (lfor b blocks c (block-complaints b) c)
     (if (= kinds (sorted kinds :key (fn [k] (!= k "tool_result")))) [] ["a tool_result after other content"])
     (if (and (in "thinking" kinds) (= (:role message) "user")) ["thinking in a user message"] [])))

(defn block-complaints [block]
  "Return the complaints about BLOCK."
  (match (:type block)
    "text" (empty-text (:text block) "a block")
    "thinking" (if (= (.get block "signature") (wires.signature (:thinking block))) [] ["Invalid `signature` in `thinking` block"])
    "tool_use" (if (isinstance (:input block) dict) [] ["tool_use.input is no object"])
    "tool_result" (if (isinstance (.get block "content" "") list)
                      (lfor b (.get block "content" []) c (block-complaints b) c)
                      [])
    _ []))

(defn answers [message after]
  "Return the complaints unless AFTER begins with one result for each tool_use of MESSAGE."
  (setv uses (lfor b (:content message) :if (= (:type b) "tool_use") (:id b)))
  (when (not uses)
    (return []))
  (setv results (if after (lfor b (:content after) :if (= (:type b) "tool_result") (:tool-use-id b)) []))
  (+ (if (= (len uses) (len (set uses))) [] ["`tool_use` ids must be unique"])
     (if (= (sorted uses) (sorted results)) [] [f"tool_use {uses} answered by {results}"])))

(defn orphans [messages]
  "Return the complaints about results in MESSAGES that no call precedes."
  (lfor [before message] (zip [{"content" []} #* messages] messages)
        block (:content message)
        :if (= (:type block) "tool_result")
        :if (not-in (:tool-use-id block) (lfor b (:content before) :if (= (:type b) "tool_use") (:id b)))
        f"unexpected tool_use_id {(:tool-use-id block)}"))


(setv CHECKERS {"responses" responses "compact" compact "chat-completions" chat "anthropic-messages" anthropic})
