"One classification of failures: a row each for what the providers of all wires say, by HTTP and inside a stream."

(import
  datetime
  email.utils
  json
  time
  pytest
  autolith.provider [classes errors waits]
  tests.provider [recorded])

;; kind, HTTP status, body
(setv ANSWERS
  [#("quota" 429
     {"error" {"type" "insufficient_quota" "code" "insufficient_quota"
               "message" "You exceeded your current quota, please check your plan and billing details."}})
   #("quota" 402 {"error" {"message" "Insufficient credits. Add more using the settings." "code" 402}})
   #("quota" 400
     {"type" "error" "error" {"type" "invalid_request_error"
                              "message" "Your credit balance is too low to access the API."}})
   #("quota" 429
     {"error" {"type" "usage_limit_reached" "message" "The usage limit has been reached" "resets_in_seconds" 7200}})
   #("quota" 402 {"error" {"message" "Insufficient Balance" "type" "unknown_error" "code" "invalid_request_error"}})
   #("rate-limit" 429
     {"error" {"type" "tokens" "code" "rate_limit_exceeded"
               "message" "Rate limit reached. Please try again in 2.5s. Visit the billing page to add a payment method."}})
   #("rate-limit" 429
     {"type" "error" "error" {"type" "rate_limit_error"
                              "message" "This request would exceed your organization's limit of 30,000 input tokens per minute."}})
   #("rate-limit" 429
     {"error" {"code" 429 "status" "RESOURCE_EXHAUSTED"
               "message" "You exceeded your current quota, please check your plan and billing details."}})
   #("rate-limit" 429 {"message" "Too many tokens, please wait before trying again."})
   #("rate-limit" 429 "")
   #("overloaded" 529 {"type" "error" "error" {"type" "overloaded_error" "message" "Overloaded"}})
   #("overloaded" 429
     {"error" {"type" "engine_overloaded_error"
               "message" "The engine is currently overloaded, please try again later"}})
   #("overloaded" 503 {"error" {"message" "The server is overloaded or not ready yet." "type" "server_error"}})
   #("overloaded" 500
     {"error" {"type" "server_error" "message" "The server had an error while processing your request."}})
   #("overloaded" 502 "upstream connect error")
   #("overloaded" 409 {"error" {"message" "conflict"}})
   #("overloaded" 400
     {"error" {"type" "invalid_request_error" "code" "tool_use_failed"
               "message" "Failed to call a function." "failed_generation" "<f>"}})
   #("network" 408 {"error" {"message" "Request timeout"}})
   #("overflow" 422 {"error" "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"})
   #("overflow" 429 {"error" {"message" "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000."}})
   #("overflow" 400 {"error" {"message" "prompt token count of 90000 exceeds the limit of 64000"}})
   #("overflow" 400
     {"error" {"type" "invalid_request_error" "code" "context_length_exceeded"
               "message" "Your input exceeds the context window of this model."}})
   #("overflow" 400
     {"type" "error" "error" {"type" "invalid_request_error"
                              "message" "prompt is too long: 210000 tokens > 200000 maximum"}})
   #("overflow" 400
     {"type" "error" "error" {"type" "invalid_request_error"
                              "message" "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"}})
   #("overflow" 413
     {"type" "error" "error" {"type" "request_too_large" "message" "Request exceeds the maximum size"}})
   #("overflow" 413
     {"error" {"type" "tokens" "code" "rate_limit_exceeded"
               "message" "Request too large for model, limit 6000, requested 9000"}})
   #("overflow" 400
     {"error" {"code" 400 "type" "exceed_context_size_error"
               "message" "the request exceeds the available context size"}})
   #("overflow" 400
     {"object" "error" "type" "BadRequestError" "code" 400
      "message" "This model's maximum context length is 8192 tokens. Please reduce the length of the messages."})
   #("overflow" 400
     {"error" {"code" 400 "status" "INVALID_ARGUMENT"
               "message" "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}})
   #("overflow" 400
     {"error" "This model's maximum prompt length is 131072 but the request contains 150000 tokens." "code" "Client specified an invalid argument"})
   #("overflow" 400
     {"error" {"type" "invalid_request_error"
               "message" "Invalid request: Your request exceeded model token limit: 131072"}})
   #("overflow" 500 {"error" {"message" "context size exceeded" "type" "server_error"}})
   #("refusal" 400
     {"error" {"code" "content_filter"
               "message" "The response was filtered due to the prompt triggering our content management policy."}})
   #("refusal" 400
     {"error" {"code" "invalid_prompt" "type" "invalid_request_error"
               "message" "Your prompt was flagged as potentially violating our usage policy."}})
   #("refusal" 400
     {"error" {"code" "data_inspection_failed" "message" "Input data may contain inappropriate content."}})
   #("auth" 401
     {"error" {"type" "invalid_request_error" "code" "invalid_api_key"
               "message" "Incorrect API key provided: sk-x."}})
   #("auth" 401 {"type" "error" "error" {"type" "authentication_error" "message" "invalid x-api-key"}})
   #("auth" 400
     [{"error" {"code" 400 "message" "API key not valid. Please pass a valid API key." "status" "INVALID_ARGUMENT"}}])
   #("auth" 403 {"error" {"type" "permission_error" "message" "Your account does not have access."}})
   #("auth" 403 {"detail" "Forbidden"})
   #("invalid-request" 404
     {"error" {"type" "invalid_request_error" "code" "model_not_found"
               "message" "The model `x` does not exist or you do not have access to it."}})
   #("invalid-request" 404 {"type" "error" "error" {"type" "not_found_error" "message" "model: claude-x"}})
   #("invalid-request" 404 {"error" "model 'x' not found"})
   #("invalid-request" 400
     {"error" {"type" "invalid_request_error" "code" "unsupported_value" "message" "Unsupported value: 'developer'"}})
   #("invalid-request" 422 {"detail" [{"loc" ["body"] "msg" "field required"}]})
   #("invalid-request" 418 "")
   #("invalid-request" 400 {"error" {"type" "invalid_request_error" "message" "Invalid schema for function 'billing_payment'"}})
   #("invalid-request" 400 {"error" {"message" "tools.0: authentication_error is no valid name, nor is rate_limit_error"}})
   #("rate-limit" 400 {"error" "rate_limit_exceeded"})
   #("cancelled" 499 {"error" {"message" "client closed request"}})])

(defn answer [status body [headers None]]
  "Return the error that the HTTP STATUS, BODY (data, or the text itself) and HEADERS mean."
  (errors.from-response (recorded.request "chat") status (or headers {}) (if (isinstance body str) body (json.dumps body)) "http://x/v1"))

(defn [(pytest.mark.parametrize "kind,status,body" ANSWERS)] test-answers [kind status body]
  "Each HTTP error has its class, and is sent again if and only if its class says so; its message names the provider."
  (setv error (answer status body))
  (assert (= error.kind kind))
  (assert (= error.retryable (in kind ["rate-limit" "overloaded" "network" "protocol"])))
  (assert (in f"HTTP {status}" (str error)))
  (assert (not-in "\n" (str error))))

;; kind, wire, event name, data
(setv EVENTS
  [#("overloaded" "anthropic" "error" {"type" "error" "error" {"type" "overloaded_error" "message" "Overloaded"}})
   #("overloaded" "anthropic" "error" {"type" "error" "error" {"type" "api_error" "message" "Internal server error"}})
   #("rate-limit" "anthropic" "error" {"type" "error" "error" {"type" "rate_limit_error" "message" "slow"}})
   #("invalid-request" "anthropic" "error"
     {"type" "error" "error" {"type" "invalid_request_error" "message" "tools.0: no"}})
   #("auth" "anthropic" "error" {"type" "error" "error" {"type" "authentication_error" "message" "no"}})
   #("overflow" "anthropic" "error"
     {"type" "error" "error" {"type" "invalid_request_error" "message" "prompt is too long"}})
   #("rate-limit" "responses" "response.failed"
     {"type" "response.failed" "response" {"status" "failed" "error" {"code" "rate_limit_exceeded" "message" "Please try again in 11.054s."}}})
   #("overloaded" "responses" "response.failed"
     {"type" "response.failed" "response" {"error" {"code" "server_error" "message" "oops"}}})
   #("overloaded" "responses" "response.failed"
     {"type" "response.failed" "response" {"error" {"code" "server_is_overloaded" "message" ""}}})
   #("overloaded" "responses" "error"
     {"type" "error" "error" {"type" "service_unavailable_error" "code" "slow_down" "message" "Slow down"}})
   #("quota" "responses" "error"
     {"type" "error" "code" "insufficient_quota" "message" "You exceeded your current quota" "param" None})
   #("overflow" "responses" "response.failed"
     {"type" "response.failed" "response" {"error" {"code" "context_length_exceeded" "message" "too long"}}})
   #("refusal" "responses" "response.failed"
     {"type" "response.failed" "response" {"error" {"code" "invalid_prompt" "message" "flagged"}}})
   #("protocol" "responses" "response.failed" {"type" "response.failed" "response" {"error" None}})
   #("cancelled" "responses" "response.cancelled" {"type" "response.cancelled" "response" {"status" "cancelled"}})
   #("rate-limit" "chat" "message" {"error" {"code" 429 "message" "x"}})
   #("rate-limit" "chat" "message" {"error" {"code" "429" "message" "x"}})
   #("overloaded" "chat" "message"
     {"error" {"code" 502 "message" "Provider disconnected"} "choices" [{"delta" {} "finish_reason" "error"}]})
   #("overloaded" "chat" "error"
     {"error" {"message" "Tool call validation failed" "type" "invalid_request_error" "code" "tool_use_failed" "status_code" 400}})
   #("quota" "chat" "message" {"error" {"code" 402 "message" "no"}})
   #("invalid-request" "chat" "message" {"error" {"type" "invalid_request_error" "message" "no"}})
   #("protocol" "chat" "message" {"error" "something"})])

(defn [(pytest.mark.parametrize "kind,wire,name,data" EVENTS)] test-events [kind wire name data]
  "Each error event of each wire is raised as its class, after any text that came before it."
  (setv decoder ((. (get recorded.MODULES wire) Decoder) (recorded.request wire)))
  (with [e (pytest.raises errors.ProviderError)]
    (decoder.feed name (json.dumps data)))
  (assert (= e.value.kind kind))
  (assert (= e.value.retryable (in kind ["rate-limit" "overloaded" "network" "protocol"]))))

(defn test-every-class-has-rows []
  "No class of the table is without a row above; those of connections have theirs in test_connections."
  (assert (<= (sfor row classes.table (get row "kind")) (| (sfor r (+ ANSWERS EVENTS) (get r 0)) #{"network" "protocol"}))))

(defn [(pytest.mark.parametrize "word,outcome" [#("true" True) #("false" False) #("perhaps" True)])] test-servers-own-word [word outcome]
  "What a server says about trying again goes before its class."
  (assert (= (. (answer 503 "" {"x-should-retry" word}) retryable) outcome))
  (when (!= word "perhaps")
    (assert (= (. (answer 400 "" {"x-should-retry" word}) retryable) outcome))))

(defn [(pytest.mark.parametrize "status,retried" [#(403 False) #(404 False) #(502 True) #(503 True)])] test-pages [status retried]
  "A web page from a proxy is told as such with the URL; only one of a gateway in trouble is asked again."
  (setv error (answer status "<!DOCTYPE html><title>Blocked by Acme</title>"))
  (assert (= error.retryable retried))
  (for [words ["Blocked by Acme" "http://x/v1" "web page"]]
    (assert (in words (str error))))
  (assert (not-in "key" (str error))))


;; * Waiting

(defn in-future [seconds]
  "Return the HTTP date SECONDS from now."
  (email.utils.formatdate (+ (time.time) seconds) :usegmt True))

(defn [(pytest.mark.parametrize "headers,text,seconds"
                                [#({"retry-after-ms" "1500"} "" 1.5) #({"retry-after-ms" "1500" "retry-after" "9"} "" 1.5)
                                 #({"retry-after" "3"} "" 3) #({"retry-after" "0.5"} "" 0.5) #({"retry-after" "-4"} "" 0)
                                 #({"retry-after" "6m0s"} "" 360) #({"retry-after" "3"} "try again in 8 s" 3)
                                 #({"retry-after" "Wed, 21 Oct 2015 07:28:00 GMT"} "" 0)
                                 #({"retry-after" "Wed, 21 Oct 2015 07:28:00 GMT" "date" "Wed, 21 Oct 2015 07:27:20 GMT"} "" 40)
                                 #({"retry-after" "soon"} "" None) #({"retry-after" "nan"} "" None) #({"retry-after" "inf"} "" None)
                                 #({"retry-after" "1e30"} "" None) #({"retry-after" "Wed, 99 Oct 2015"} "" None) #({} "" None)
                                 #({} "Please try again in 2.5s." 2.5) #({} "try again in 1m30.5s" 90.5) #({} "Try again in 17 s" 17)
                                 #({} "retry after 20 seconds" 20) #({} "try again in 350ms" 0.35) #({} "Please retry in 34.07s." 34.07)
                                 #({} "Try again in 1 hour and 5 minutes." 3900) #({} "Please wait 30 seconds" 30) #({} "try again in 2 days" 172800)
                                 #({} "try again in a while" None) #({} "took 5 s, limit 3 / min" None) #({} "try again in 3 steps" None)])]
  test-retry-after [headers text seconds]
  "When to try again is read from headers in each of their forms, or from words; nonsense is none."
  (setv found (waits.asked headers (waits.in-words text)))
  (assert (= found (if (is seconds None) None (pytest.approx seconds)))))

(defn test-dates-without-a-clock-of-the-server []
  "Without the server's own time an HTTP date is compared with the clock here."
  (assert (< 55 (waits.asked {"retry-after" (in-future 60)}) 61)))

(setv LATER (.isoformat (+ (datetime.datetime.now datetime.timezone.utc) (datetime.timedelta :seconds 90))))

(defn [(pytest.mark.parametrize "headers,seconds"
                                [#({"x-ratelimit-remaining-requests" "0" "x-ratelimit-reset-requests" "1m30s"} 90)
                                 #({"x-ratelimit-remaining-tokens" "0" "x-ratelimit-reset-tokens" "90"} 90)
                                 #({"x-ratelimit-remaining-requests" "7" "x-ratelimit-reset-requests" "6h"} None)
                                 #({"anthropic-ratelimit-input-tokens-remaining" "0" "anthropic-ratelimit-input-tokens-reset" LATER} 90)
                                 #({"x-ratelimit-remaining" "0" "x-ratelimit-reset" (str (+ 90 (int (time.time))))} 90)
                                 #({"x-ratelimit-remaining" "0" "x-ratelimit-reset" (str (* 1000 (+ 90 (int (time.time)))))} 90)
                                 #({"x-ratelimit-remaining" "0" "x-ratelimit-reset" "whenever"} None)
                                 #({"x-ratelimit-remaining" "0"} None)])]
  test-limits-that-are-used-up [headers seconds]
  "A rate limit's reset is read from the limits that are used up, in each form in which providers give it; other failures ignore it."
  (setv error (answer 429 "" headers))
  (assert (= error.retry-after (if (is seconds None) None (pytest.approx seconds :abs 60))))
  (assert (is (. (answer 500 "" headers) retry-after) None)))

(defn [(pytest.mark.parametrize "fields,seconds" [#({"resets_in_seconds" 7200} 7200) #({"retry_after" 4} 4) #({"message" "try again in 5s"} 5)
                                                  #({"details" [{"@type" "x"} {"retryDelay" "34.5s"}]} 34.5) #({"details" "none"} None)
                                                  #({"resets_at" "never"} None)])] test-waits-in-a-body [fields seconds]
  "The wait is read from an error's own fields too, by HTTP and inside a stream."
  (assert (= (. (answer 429 {"error" fields}) retry-after) seconds))
  (assert (= (. (errors.from-event (recorded.request "chat") {"error" fields}) retry-after) seconds)))

(defn test-quota-says-when []
  "A used-up quota is not asked again, and says when it comes back where that is known."
  (setv error (answer 429 {"error" {"type" "usage_limit_reached" "message" "x" "resets_in_seconds" 7200}}))
  (assert (not error.retryable))
  (assert (in "2 h" (str error))))

(defn [(pytest.mark.parametrize "value" [None 7 "" [] {} [[]] {"error" []} {"error" {"error" {"error" 1}}} {"code" True} {"error" {"message" {"a" 1}}}
                                         {"error" {"metadata" 3 "details" [1] "type" 4}} (* [[[]]] 3)])] test-odd-objects [value]
  "An error object of any shape gives an error in words."
  (assert (.strip (str (errors.from-event (recorded.request "chat") value))))
  (assert (.strip (str (answer 400 value)))))
