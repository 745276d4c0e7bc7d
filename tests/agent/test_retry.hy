"Requests that are sent again, over real sockets: which, after how long, how often, in plain sight, and nothing half counts."

(import
  asyncio
  email.utils
  json
  socket
  time
  hypothesis [given settings :as examples strategies :as st]
  pytest
  autolith.agent [retry turn]
  tests.agent [lib]
  tests.doubles [scripted])

(defn [(pytest.fixture :autouse True)] quick [monkeypatch]
  "Let the first wait be short."
  (monkeypatch.setattr retry "first_wait" 0.001))

(defn bodies [server]
  "Return the bodies that SERVER was asked with, as text."
  (lfor r server.requests (json.dumps (get r "body") :sort-keys True)))

(setv PASSING {"overloaded" [(scripted.error 529)]
               "server" [(scripted.error 500)]
               "gateway's page" [(scripted.page "<html><title>502 Bad Gateway</title></html>" :status 502)]
               "rate limit" [(scripted.error 429)]
               "conflict" [(scripted.error 409)]
               "timeout" [(scripted.error 408)]
               "the server says so" [(scripted.error 400 None {"x-should-retry" "true"})]
               "tool use failed" [(scripted.error 400 {"error" {"code" "tool_use_failed" "type" "invalid_request_error" "message" "no"}})]
               "event at once" [(scripted.fault "overloaded_error" "busy")]
               "event in the middle" [(scripted.answer "half ") (scripted.fault "server_error" "broken")]
               "cut in text" [(scripted.answer "half ") (scripted.cut)]
               "ended in text" [(scripted.answer "half ") (scripted.cut :clean True)]
               "cut in a call" [(scripted.calls "lab_note" {"text" "never"}) (scripted.cut)]
               "no event" [(scripted.cut :clean True)]})

(defn [(pytest.mark.parametrize "wire" lib.WIRES) (pytest.mark.parametrize "name" (list PASSING))] test-failures-that-pass [tmp-path wire name]
  "A failure that may pass is answered by the same request again; the turn ends as if nothing had been, and each retry is shown."
  (with [server (scripted.Server [(get PASSING name) (get PASSING name) (scripted.answer "whole")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (b.prompt "go")))
  (assert (= #((get outcome "status") (get outcome "text") (get outcome "requests")) #("done" "whole" 3)))
  (assert (= (len (set (bodies server))) 1))
  (setv shown (b.of-kind "retry"))
  (assert (= (lfor e shown #((get e "attempt") (get e "limit"))) [#(1 5) #(2 5)]))
  (assert (all (gfor e shown (and (get e "reason") (get e "text") (>= (get e "seconds") 0)))))
  (assert (not-in "failure" (b.kinds)))
  (assert (= lib.done [])))

(setv LASTING {"key" [(scripted.error 401)]
               "forbidden" [(scripted.error 403)]
               "bad request" [(scripted.error 400)]
               "no model" [(scripted.error 404)]
               "quota" [(scripted.error 429 {"error" {"code" "insufficient_quota" "message" "You exceeded your current quota"}})]
               "quota inside" [(scripted.answer "half") (scripted.fault "insufficient_quota" "nothing left")]
               "page" [(scripted.page "<html><title>Log in</title></html>")]
               "firewall" [(scripted.page "<html><title>Blocked</title></html>" :status 403)]
               "the server says so" [(scripted.error 503 None {"x-should-retry" "false"})]})

(defn [(pytest.mark.parametrize "wire" lib.WIRES) (pytest.mark.parametrize "name" (list LASTING))] test-failures-that-last [tmp-path wire name]
  "A failure that would come again ends the turn at once."
  (with [server (scripted.Server [(get LASTING name) (scripted.answer "never")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (b.prompt "go")))
  (assert (= #((get outcome "status") (len server.requests)) #("failed" 1)))
  (assert (not-in "retry" (b.kinds)))
  (assert (in "scripted" (get outcome "reason"))))

(defn test-limit [tmp-path monkeypatch]
  "After so many retries the turn ends and says how often it was tried; a later failure begins to count anew."
  (monkeypatch.setenv "AUTOLITH_RETRY_LIMIT" "2")
  (setv bad (scripted.error 529))
  (with [server (scripted.Server [bad bad [(scripted.calls "lab_note" {"text" "a"})] bad bad bad])]
    (setv b (lib.Bench (server.provider "responses") tmp-path)
          outcome (b.prompt "go")))
  (assert (= #((get outcome "status") (len server.requests)) #("failed" 6)))
  (assert (= (lfor e (b.of-kind "retry") (get e "attempt")) [1 2 1 2]))
  (assert (in "3 times" (get outcome "reason")))
  (assert (= lib.done ["a"])))

(defn test-request-limit-bounds-retries [tmp-path monkeypatch]
  "Retries count among the requests that a turn may send."
  (monkeypatch.setenv "AUTOLITH_REQUEST_LIMIT" "3")
  (monkeypatch.setenv "AUTOLITH_RETRY_LIMIT" "100")
  (with [server (scripted.Server (* [(scripted.error 529)] 3))]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "status") "failed"))))

(setv ASKED {"milliseconds" (scripted.error 429 None {"retry-after-ms" "150"})
             "seconds" (scripted.error 429 None {"retry-after" "0.15"})
             "words" (scripted.error 429 {"error" {"message" "Please try again in 150ms."}})
             "event" (scripted.fault "rate_limit_exceeded" "Please try again in 0.15s.")})

(defn [(pytest.mark.parametrize "name" (list ASKED))] test-waits-as-long-as-asked [tmp-path name]
  "The next request does not come before the time that the provider asked for, in whatever form."
  (with [server (scripted.Server [(get ASKED name) (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "status") "done"))
    (setv [first second] (lfor r server.requests (get r "time"))))
  (assert (>= (- second first) 0.15))
  (assert (>= (get (b.of-kind "retry") 0 "seconds") 0.15)))

(defn later []
  "Return the date that is somewhat more than two hours away, as a header has it."
  (email.utils.formatdate (+ (time.time) 7250) :usegmt True))

(defn [(pytest.mark.parametrize "name,value" [#("retry-after" (fn [] "7200")) #("retry-after-ms" (fn [] "7200000"))
                                              #("retry-after" later)])]
  test-longer-than-allowed [tmp-path name value]
  "A longer wait than the setting allows ends the turn, says when to come back, and leaves the session usable."
  (setv headers {name (value)})
  (with [server (scripted.Server [(scripted.error 429 None headers) (scripted.answer "later")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path)
          outcome (b.prompt "go"))
    (assert (= #((get outcome "status") (len server.requests)) #("failed" 1)))
    (for [words ["2 h" "retry-wait-limit"]]
      (assert (in words (get outcome "reason"))))
    (assert (= (get (b.prompt "again") "text") "later"))))

(defn [(examples :max-examples 100) (given (st.integers 1 100) (st.one-of (st.none) (st.floats 0 1000)) (st.integers 1 86400))]
  test-waits-grow-within-bounds [attempt asked longest]
  "A wait is never shorter than asked nor longer than the limit, and without a wish it at most doubles each time."
  (setv seconds (retry.wait-before attempt asked longest))
  (if (is asked None)
    (assert (<= (* 0.5 (min longest (* retry.first-wait (** 2 (- attempt 1))))) seconds longest))
    (assert (<= (max asked retry.first-wait) seconds (+ (max asked retry.first-wait) retry.first-wait)))))

;; * Nothing half counts

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-half-answers-are-void [tmp-path wire]
  "What came before a retry is kept as a void failure record, is said to be void, and reaches neither history nor the model."
  (with [server (scripted.Server [[(scripted.reasoning "hm") (scripted.answer "half an ans")
                                   (scripted.calls "lab_note" {"text" "never"}) (scripted.cut)]
                                  (scripted.answer "whole")
                                  (scripted.answer "next")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "go")
    (b.prompt "on"))
  (setv [failure] (b.records "failure")
        [shown] (b.of-kind "retry"))
  (assert (in "half an ans" (get failure "partial")))
  (assert (get failure "void"))
  (assert (get shown "void"))
  (assert (not-in "half an" (+ #* (bodies server))))
  (assert (= (lfor r (b.records "item") :if (= (get r "item" "type") "message") (get r "item" "content" 0 "text")) ["whole" "next"]))
  (assert (= (lib.history-complaints b.agent.conversation wire) []))
  (assert (= lib.done [])))

(defn test-calls-run-once [tmp-path]
  "A failure after calls were run sends only the request again: the calls are not run twice."
  (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "once"})] (scripted.error 500) [(scripted.answer "h") (scripted.cut)]
                                  (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider "chat-completions") tmp-path))
    (assert (= (get (b.prompt "go") "text") "done")))
  (assert (= lib.done ["once"]))
  (assert (= (len (b.records "result")) 1)))

(defn test-seen-once-is-in-the-repeated-request [tmp-path]
  "A result that lives through one response is in every try of that request, and in none after it."
  (with [server (scripted.Server [[(scripted.calls "lab_peek" {"text" "P1"})] (scripted.error 500) [(scripted.calls "lab_note" {"text" "n"})]
                                  (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "go"))
  (assert (= (lfor body (bodies server) (in "only once: P1" body)) [False True True False])))

(defn test-change-of-model-while-it-waits [tmp-path]
  "A change of provider and model that comes while a turn waits holds for the next try, over another wire too."
  (with [server (scripted.Server [[(scripted.reasoning "hm") (scripted.calls "lab_note" {"text" "a"})]
                                  (scripted.error 529) (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (setv b.agent.before-request
      (fn [] (when (in "retry" (b.kinds))
               (setv b.agent.provider (server.provider "anthropic-messages" :name "other")
                     b.agent.model "another"))))
    (assert (= (get (b.prompt "go") "text") "done")))
  (assert (= (lfor r server.requests (get r "wire")) ["responses" "responses" "anthropic-messages"])))

;; * Stopping

(defn [(pytest.mark.parametrize "fault" [[(scripted.error 429 None {"retry-after" "100"})] [(scripted.answer "half ") (scripted.cut)]])]
  test-cancel-while-it-waits [tmp-path fault monkeypatch]
  "A turn that waits to try again is cancelled at once; no request follows, and the next turn works."
  (monkeypatch.setattr retry "first_wait" 100)
  (with [server (scripted.Server [fault (scripted.answer "here again")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path)
          outcome (asyncio.run (asyncio.wait-for (b.cancelled-when (fn [] (in "retry" (b.kinds))) "go") 30)))
    (assert (= #((get outcome "status") (len server.requests)) #("cancelled" 1)))
    (assert (= (get (b.prompt "there?") "text") "here again")))
  (assert (= (lib.history-complaints b.agent.conversation) [])))

(defn test-host-comes-up-later [tmp-path]
  "A request to a port on which nobody listens yet is answered when somebody does."
  (with [holder (socket.socket)]
    (.bind holder #("127.0.0.1" 0))
    (setv port (get (.getsockname holder) 1)))
  (with [server (scripted.Server [(scripted.answer "here now")])]
    (setv b (lib.Bench (| (server.provider "responses") {"base_url" f"http://127.0.0.1:{port}"}) tmp-path))
    (setv b.agent.before-request
      (fn [] (when (= (len (b.of-kind "retry")) 2)
               (setv b.agent.provider (server.provider "responses")))))
    (assert (= (get (b.prompt "go") "text") "here now")))
  (assert (= (len (b.of-kind "retry")) 2)))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-silence-is-tried-again [tmp-path wire]
  "A stream that falls silent is given up at the setting's limit and tried again."
  (with [server (scripted.Server [[(scripted.answer "half ") (scripted.stall)] (scripted.answer "whole")])]
    (setv b (lib.Bench (server.provider wire :quirks {"idle_seconds" 0.3}) tmp-path))
    (assert (= (get (b.prompt "go") "text") "whole"))
    (assert (= (len (b.of-kind "retry")) 1))))

(defn test-endless-continuing-is-bounded [tmp-path]
  "A provider that says continue without calls is asked to go on, so often and no more, failures between not counting as progress."
  (setv pause [(scripted.answer "more") (scripted.pause)])
  (with [server (scripted.Server [pause (scripted.error 529) #* (* [pause] turn.continue-limit)])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path))
    (assert (= (get (b.prompt "go") "status") "failed"))
    (assert (= (len server.requests) (+ turn.continue-limit 2)))))
