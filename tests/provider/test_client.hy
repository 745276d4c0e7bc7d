"The client over real sockets: recordings byte by byte, faults of every kind, limits, cancellation, keys."

(import
  asyncio
  functools [wraps]
  http.server
  json
  os
  socket
  threading
  types
  hypothesis [given settings]
  hypothesis.strategies :as st
  pytest
  autolith.provider [client credentials errors items keyring-store]
  tests.doubles [scripted]
  tests.provider [recorded])

(setv WIRES ["responses" "chat-completions" "anthropic-messages"])

(defn run-async [f]
  "Make the coroutine function F a test; its connections are closed with its loop."
  (defn [(wraps f)] test [#* args #** kwargs]
    (defn :async body []
      (try (await (f #* args #** kwargs)) (finally (await (client.close)))))
    (asyncio.run (body)))
  test)

(defn request [provider * [history None] #** more]
  "Return a request to PROVIDER with HISTORY."
  {"model" "scripted" "effort" None "system" "Be brief." "items" (or history [(items.user "hi")]) "context" None "tools" []
   "cache_key" "k" "max_output" None "provider" provider #** more})

(defn :async ask [provider #** more]
  "Return #(events error) of a request to PROVIDER."
  (setv events [])
  (try
    (for [:async event (client.stream (request provider #** more))]
      (.append events event))
    (except [e errors.ProviderError]
      (return #(events e))))
  #(events None))

(defn [(pytest.fixture :autouse True)] no-keys []
  "Hold no key before or after a test."
  (credentials.forget)
  (yield)
  (credentials.forget))


;; * Whole answers

(defn :async [(pytest.mark.parametrize "wire" WIRES) run-async] test-round-of-calls [wire]
  "Reasoning, text and calls stream in, and a second request with their results is accepted."
  (with [server (scripted.Server [[(scripted.reasoning "let me see") (scripted.answer "Reading.")
                                   (scripted.calls "add" {"a" 1} "read" {})]
                                  (scripted.answer "Done. 🚀")])]
    (setv form (server.provider wire)
          [events error] (await (ask form))
          sent (recorded.items-of events)
          outputs (lfor c (items.calls sent) (items.output (:call-id c) "result"))
          [more _] (await (ask form :history [(items.user "hi") #* sent #* outputs]))))
  (assert (is error None))
  (assert (= (lfor i sent (:type i)) ["reasoning" "message" "function_call" "function_call"]))
  (assert (= (recorded.streamed "text-delta" events) "Reading."))
  (assert (= (lfor c (items.calls sent) (:arguments c)) [{"a" 1} {}]))
  (assert (= (recorded.streamed "text-delta" more) "Done. 🚀"))
  (assert (= (:type (get more -1)) "done")))

(defn serve-bytes [data size [head "text/event-stream; charset=iso-8859-1"]]
  "Return a server that answers each request with DATA, SIZE bytes at a time, under the content type HEAD."
  (defclass Handler [http.server.BaseHTTPRequestHandler]
    (setv wbufsize 0)
    (defn log-message [self #* _] None)
    (defn do-POST [self]
      (.read self.rfile (int (get self.headers "content-length")))
      (.send-response self 200)
      (.send-header self "content-type" head)
      (.end-headers self)
      (for [i (range 0 (len data) size)]
        (.write self.wfile (cut data i (+ i size))))))
  (setv server (http.server.ThreadingHTTPServer #("127.0.0.1" 0) Handler))
  (.start (threading.Thread :target (fn [] (server.serve-forever 0.02)) :daemon True))
  server)

(defn form-of [server wire]
  "Return a provider form that leads to SERVER by WIRE (a folder's name)."
  {#** (:provider (recorded.request wire)) "base_url" f"http://127.0.0.1:{(get server.server-address 1)}"})

(defn :async read-recording [name size]
  "Assert that the recording NAME, sent SIZE bytes at a time, means over HTTP what it means when it is decoded."
  (setv r (recorded.named name)
        server (serve-bytes (:bytes r) size))
  (try
    (setv [events error] (await (ask (form-of server (:wire r)) :model "m-1"))
          [whole failure] (recorded.decode (:wire r) (:bytes r)))
    (finally (.shutdown server) (.server-close server)))
  (assert (= events whole) name)
  (assert (= (getattr error "kind" None) (getattr failure "kind" None)) name))

(defn :async [run-async] test-all-recordings-over-http []
  "Each recorded stream means over a socket, and under a wrong charset, what it means when it is decoded."
  (for [name (recorded.names)]
    (await (read-recording name 4096))))

(defn :async [(pytest.mark.parametrize "name" ["responses/llamacpp-tool" "chat/text-nonascii" "anthropic/text-emoji-astral"]) run-async]
  test-byte-by-byte-over-http [name]
  "A stream sent in single bytes means the same."
  (await (read-recording name 1)))

(defn :async [run-async] test-connection-is-used-again [monkeypatch]
  "A second request goes over the connection of the first, which was read to its end."
  (monkeypatch.setattr client "drain_seconds" 10)
  (setv seen [])
  (with [server (scripted.Server [(scripted.answer "a") (scripted.answer "b")])]
    (setv take server.listener.get-request)
    (setv server.listener.get-request (fn [] (setv pair (take)) (.append seen (get pair 1)) pair))
    (for [_ (range 2)]
      (await (ask (server.provider "responses")))))
  (assert (= (len seen) 1)))


;; * Broken answers

(defn :async [(pytest.mark.parametrize "wire" WIRES) (pytest.mark.parametrize "clean" [True False]) run-async] test-cut [wire clean]
  "A stream that breaks in the middle of text or of a call is a failure, and no item of it is given out."
  (for [part [(scripted.answer "half of it") (scripted.call "add" {"a" 1 "b" 22222})]]
    (with [server (scripted.Server [[(scripted.answer "Well.") part (scripted.cut :clean clean)]])]
      (setv [events error] (await (ask (server.provider wire)))))
    (assert (in error.kind ["network" "protocol"]))
    (assert error.retryable)
    (assert (not (recorded.items-of events)))
    (assert (recorded.streamed "text-delta" events))))

(defn :async [(pytest.mark.parametrize "wire" WIRES) run-async] test-limit [wire]
  "A response that ends at its token limit says so, and the call in its middle is not to be run."
  (with [server (scripted.Server [[(scripted.answer "Well.") (scripted.call "add" {"a" 1 "b" 22222}) (scripted.limit)]])]
    (setv [events error] (await (ask (server.provider wire)))
          done (get events -1)))
  (assert (is error None))
  (assert (= #((:status done) (:reason done)) #("incomplete" "length")))
  (assert (not (items.calls (recorded.items-of events)))))

(defn :async [(pytest.mark.parametrize "wire" WIRES)
              (pytest.mark.parametrize "kind,expected" [#("overloaded_error" "overloaded") #("rate_limit_exceeded" "rate-limit")
                                                        #("insufficient_quota" "quota") #("context_length_exceeded" "overflow")])
              run-async] test-fault-in-the-stream [wire kind expected]
  "An error event is raised as its kind, after what came before it; as the first event too."
  (for [before [[] [(scripted.answer "Partial")]]]
    (with [server (scripted.Server [[#* before (scripted.fault kind "something happened")]])]
      (setv [events error] (await (ask (server.provider wire)))))
    (assert (= error.kind expected))
    (assert (in "something happened" error.text))
    (assert (not (recorded.of "done" events)))
    (assert (= (bool before) (bool (recorded.of "text-delta" events))))))

(defn :async [(pytest.mark.parametrize "wire" WIRES) run-async] test-refusal [wire]
  "A refusal ends as refused and is an item."
  (with [server (scripted.Server [(scripted.refusal "I will not.")])]
    (setv [events error] (await (ask (server.provider wire)))))
  (assert (= (:status (get events -1)) "refused"))
  (assert (any (map items.refused? (recorded.items-of events)))))

(setv STATUSES [#(400 "invalid-request") #(401 "auth") #(402 "quota") #(403 "auth") #(404 "invalid-request") #(413 "overflow")
                #(429 "rate-limit") #(500 "overloaded") #(503 "overloaded") #(529 "overloaded")])

(defn :async [(pytest.mark.parametrize "wire" WIRES)
              (pytest.mark.parametrize "status,kind" STATUSES)
              run-async] test-statuses [wire status kind]
  "An HTTP error is raised as its kind, with its status and the provider's words."
  (with [server (scripted.Server [(scripted.error status {"error" {"message" "because of this"}} {"retry-after" "3"})])]
    (setv [_ error] (await (ask (server.provider wire)))))
  (assert (= #(error.kind error.status error.retry-after) #(kind status 3.0)))
  (assert (in "because of this" (str error))))

(defn :async [(pytest.mark.parametrize "name" (sorted (gfor p (.glob (/ recorded.FOLDER "errors") "*.json") p.stem))) run-async]
  test-recorded-errors [name]
  "A recorded error body is read, its words are shown, and its class is the one that its status and code mean."
  (setv recording (json.loads (.read-text (/ recorded.FOLDER "errors" f"{name}.json")))
        wire (get {"r" "responses" "c" "chat-completions" "a" "anthropic-messages"} (get name 0)))
  (with [server (scripted.Server [(scripted.error (:status recording) (:body recording) (:headers recording))])]
    (setv [_ error] (await (ask (server.provider wire)))))
  (setv message (get recording "body" "error" "message"))
  (assert (in (cut message 60) error.text))
  (assert (= error.status (:status recording)))
  (assert (= error.kind (cond (in "429" name) "rate-limit" (in "tool-" name) error.kind True "invalid-request"))))

(defn :async [run-async] test-not-a-stream []
  "A web page, JSON that is no stream, and a redirection are told apart from an answer, and the base URL is asked about."
  (for [part [(scripted.page "<html><title>Welcome to nginx</title></html>") (scripted.page "<html></html>" :status 404)
              (scripted.error 200 {"choices" []}) (scripted.error 302 "" {"location" "https://example.org/"})]]
    (with [server (scripted.Server [part])]
      (setv form (server.provider "responses" :base-url-variable "OPENAI_BASE_URL")
            [events error] (await (ask form))))
    (assert (not events))
    (assert (in error.kind ["protocol" "invalid-request"]))
    (assert (not error.retryable))
    (assert (in server.base-url (str error)))
    (assert (in "OPENAI_BASE_URL" (str error)))))

(defn :async [run-async] test-error-object-with-status-200 []
  "An error object that comes with status 200 and no stream is that error."
  (with [server (scripted.Server [(scripted.error 200 {"error" {"message" "busy" "code" 429 "type" "rate_limit"}})])]
    (setv [_ error] (await (ask (server.provider "chat-completions")))))
  (assert (= error.kind "rate-limit")))

(defn :async [run-async] test-huge-error-body []
  "An error body of any size is read only in part."
  (with [server (scripted.Server [(scripted.error 500 (* "x" 5000000))])]
    (setv [_ error] (await (ask (server.provider "responses")))))
  (assert (= error.kind "overloaded"))
  (assert (< (len (str error)) 2000)))

(setv GARBAGE [#(b"data: {\"a\": \n\n" "protocol")
               #(b"event: error\n\n" "protocol")
               #(b"data: {\"choices\":[{\"delta\":{\"content\":\"Par\"}}]}\n\nevent: error\n\n" "protocol")
               #(b"data: {\"choices\":[\nevent: error\ndata: {\"error\":{\"message\":\"x\",\"type\":\"overloaded_error\"}}\n\n" "overloaded")
               #(b"data: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n" "rate-limit")
               #(b"" "protocol") #(b"\n\n" "protocol") #(b": nothing but comments\n\n" "protocol") #(b"data: 7\n\n" "protocol")])

(defn :async [(pytest.mark.parametrize "data,kind" GARBAGE) run-async] test-garbage [data kind]
  "A stream that makes no sense, or ends with an error in whatever shape, is a failure and never an empty success."
  (setv server (serve-bytes data 3))
  (try
    (for [wire ["chat" "responses" "anthropic"]]
      (setv [events error] (await (ask (form-of server wire))))
      (assert error wire)
      (assert (not (recorded.of "done" events)))
      (when (= wire "chat")
        (assert (= error.kind kind))))
    (finally (.shutdown server) (.server-close server))))

(defn :async [run-async] test-byte-order-mark-and-line-ends []
  "A byte-order mark, CRLF and data without a blank after the colon are read."
  (setv data (.encode (+ "\ufeffdata:{\"choices\":[{\"delta\":{\"content\":\"a\u2028b\"}}]}\r\n\r\n"
                         "data:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\ndata:[DONE]"))
        server (serve-bytes data 1))
  (try
    (setv [events error] (await (ask (form-of server "chat"))))
    (finally (.shutdown server) (.server-close server)))
  (assert (is error None))
  (assert (= (recorded.streamed "text-delta" events) "a\u2028b")))


(setv json-values (st.recursive (| (st.none) (st.booleans) (st.integers) (st.text :max-size 5))
                                (fn [x] (| (st.lists x :max-size 3) (st.dictionaries (st.text :max-size 5) x :max-size 3)))
                                :max-leaves 5)
      fields ["type" "delta" "item" "response" "index" "output_index" "choices" "content" "tool_calls" "function" "arguments" "usage"
              "error" "content_block" "message" "output" "summary" "reasoning_details" "finish_reason" "partial_json"])

(defn mangled [value chance]
  "Return the JSON VALUE with each value under a key replaced by what CHANCE, a function of both, gives."
  (cond
    (isinstance value dict) (dfor [k v] (.items value) k (chance k (mangled v chance)))
    (isinstance value list) (lfor v value (mangled v chance))
    True value))

(defn [(settings :max-examples 150 :deadline None) (given (st.data))] test-events-of-any-shape [data]
  "Events of whatever shape lead to events of ours or to a failure of a provider, and never to another exception."
  (setv name (data.draw (st.sampled-from ["responses/phase-commentary-then-tool" "chat/openrouter-glm-parallel" "chat/mistral-typed-content"
                                          "anthropic/thinking-then-tool" "anthropic/web-search"]))
        r (recorded.named name)
        key (data.draw (st.sampled-from fields))
        other (data.draw json-values)
        decoder ((. (get recorded.MODULES (:wire r)) Decoder) (recorded.request (:wire r))))
  (try
    (for [event (recorded.sse (:bytes r))]
      (when (.startswith event.data "{")
        (setv value (mangled (json.loads event.data) (fn [k v] (if (= k key) other v)))
              event (types.SimpleNamespace :event event.event :data (json.dumps value))))
      (client.sensible decoder.request decoder.feed event.event event.data))
    (client.sensible decoder.request decoder.finish)
    (except [errors.ProviderError] None))
  None)


;; * Unreachable, silent, cancelled

(defn :async [run-async] test-unreachable []
  "A closed port and an unknown host are network failures that name the address."
  (setv s (socket.socket))
  (.bind s #("127.0.0.1" 0))
  (setv port (get (.getsockname s) 1))
  (.close s)
  (for [url [f"http://127.0.0.1:{port}" "http://no-such-host.invalid"]]
    (setv form {#** (:provider (recorded.request "responses")) "base_url" url}
          [_ error] (await (ask form)))
    (assert (= error.kind "network"))
    (assert (in url (str error)))))

(defn :async [(pytest.mark.parametrize "url" ["" "ftp://x" "localhost:8080" "http://" "http://a b/"]) run-async] test-bad-urls [url]
  "A base URL that is none is refused before anything is sent."
  (setv [_ error] (await (ask {#** (:provider (recorded.request "responses")) "base_url" url})))
  (assert (in error.kind ["invalid-request" "network"])))

(defn :async [run-async] test-silence []
  "A stream without a real event for as long as the limit says is given up: silence, no answer at all, comments, pings."
  (setv quirks {"idle_seconds" 0.3})
  (with [server (scripted.Server [[(scripted.answer "a") (scripted.stall)]])]
    (setv [events error] (await (ask (server.provider "anthropic-messages" :quirks quirks)))))
  (assert (= error.kind "network"))
  (assert error.retryable)
  (assert (recorded.of "text-delta" events))
  (for [noise [": ping\n\n" "event: ping\ndata: {\"type\": \"ping\"}\n\n" None]]
    (with [peer (noisy noise)]
      (setv form {#** (:provider (recorded.request "anthropic")) "base_url" peer.url "quirks" quirks}
            [_ error] (await (ask form))))
    (assert (= error.kind "network") noise)))

(defclass noisy []
  "A server that accepts, and then sends nothing but NOISE (None: not even an answer) again and again."
  (defn __init__ [self noise]
    (setv self.noise noise
          self.listener (socket.create-server #("127.0.0.1" 0))
          self.url f"http://127.0.0.1:{(get (.getsockname self.listener) 1)}"
          self.over (threading.Event)))
  (defn __enter__ [self]
    (.start (threading.Thread :target self.serve :daemon True))
    self)
  (defn __exit__ [self #* _]
    (.set self.over)
    (.close self.listener))
  (defn serve [self]
    (setv [peer _] (.accept self.listener))
    (when self.noise
      (.sendall peer b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"))
    (try
      (while (not (.wait self.over 0.05))
        (when self.noise
          (.sendall peer (.encode self.noise))))
      (except [OSError] None))
    (.close peer)))

(defn :async [run-async] test-slow-stream-lives []
  "A stream slower than the limit in all, but never silent for as long, is not cut."
  (with [server (scripted.Server [[(scripted.slow 0.15) (scripted.answer "one two three four five six")]])]
    (setv [events error] (await (ask (server.provider "chat-completions" :quirks {"idle_seconds" 1.0})))))
  (assert (is error None))
  (assert (= (recorded.streamed "text-delta" events) "one two three four five six")))

(defn :async settle [condition]
  "Wait until CONDITION holds; fail if it does not soon."
  (with [:async _ (asyncio.timeout 5)]
    (while (not (condition))
      (await (asyncio.sleep 0.01)))))

(defn :async [(pytest.mark.parametrize "wire" WIRES) run-async] test-closing-the-generator [wire]
  "Closing the generator in the middle closes the connection."
  (with [server (scripted.Server [[(scripted.answer "a b c") (scripted.stall)]])]
    (setv stream (client.stream (request (server.provider wire))))
    (for [:async event stream]
      (when (= (:type event) "text-delta")
        (break)))
    (await (.aclose stream))
    (await (settle (fn [] (= server.disconnects 1))))))

(defn :async [run-async] test-cancelling-the-task []
  "Cancelling the task that reads closes the connection and raises the cancellation, no failure of ours."
  (with [server (scripted.Server [[(scripted.answer "a") (scripted.stall)]])]
    (setv task (asyncio.create-task (ask (server.provider "responses"))))
    (await (settle (fn [] server.requests)))
    (await (asyncio.sleep 0.05))
    (.cancel task)
    (with [_ (pytest.raises asyncio.CancelledError)]
      (await task))
    (await (settle (fn [] (= server.disconnects 1))))))

(defn :async [run-async] test-streams-side-by-side []
  "Many streams at once do not mix."
  (with [server (scripted.Server (* [(fn [body] [(scripted.slow 0.002) (scripted.answer (get body "messages" -1 "content"))])] 12))]
    (setv form (server.provider "chat-completions")
          results (await (asyncio.gather #* (lfor i (range 12) (ask form :history [(items.user f"number {i} of these")]))))))
  (assert (= (lfor [events _] results (recorded.streamed "text-delta" events)) (lfor i (range 12) f"number {i} of these"))))


;; * Keys and addresses

(defn :async [run-async] test-keys-travel-in-their-header [monkeypatch]
  "Each wire carries the key in its own header; without a key a local server is asked without one, another not at all."
  (monkeypatch.setenv "ACME_KEY" "secret-key-of-acme")
  (with [server (scripted.Server (lfor _ (range 4) (scripted.answer "ok")))]
    (for [wire WIRES]
      (await (ask (server.provider wire :key-variable "ACME_KEY"))))
    (await (ask (server.provider "chat-completions" :key-variable "NO_SUCH_KEY" :quirks {"key_optional" True})))
    (setv [_ error] (await (ask (server.provider "responses" :key-variable "NO_SUCH_KEY"))))
    (setv headers (lfor r server.requests (:headers r))))
  (assert (= (lfor h headers #((.get h "authorization") (.get h "x-api-key")))
             [#("Bearer secret-key-of-acme" None) #("Bearer secret-key-of-acme" None) #(None "secret-key-of-acme") #(None None)]))
  (assert (= error.kind "auth"))
  (assert (in "NO_SUCH_KEY" (str error)))
  (assert (not-in "ACME_KEY" os.environ)))

(defn :async [run-async] test-key-never-shows [monkeypatch]
  "A key that a provider's error repeats is not in the failure."
  (monkeypatch.setenv "ACME_KEY" "secret-key-of-acme")
  (with [server (scripted.Server [(scripted.error 401 {"error" {"message" "Incorrect API key provided: secret-key-of-acme."}})])]
    (setv [_ error] (await (ask (server.provider "responses" :key-variable "ACME_KEY")))))
  (assert (not-in "secret-key-of-acme" (+ (str error) error.text)))
  (assert (in "ACME_KEY" (str error))))

(defn :async [(pytest.mark.parametrize "wire" WIRES) run-async] test-key-is-not-sent-to-the-model [wire monkeypatch]
  "A key that found its way into history or context does not go out in a request's body."
  (monkeypatch.setenv "ACME_KEY" "secret-key-of-acme")
  (with [server (scripted.Server [(scripted.answer "ok")])]
    (await (ask (server.provider wire :key-variable "ACME_KEY") :context "ACME_KEY=secret-key-of-acme"
                :history [(items.user "what is secret-key-of-acme?")]))
    (assert (not-in "secret-key-of-acme" (json.dumps (get server.requests 0 "body"))))
    (assert (in "secret-key-of-acme" (json.dumps (get server.requests 0 "headers"))))))

(defn :async [run-async] test-what-to-do-about-a-refused-key []
  "The way out names where the key came from: its variable, or (auth ...) where it was kept or there is none."
  (with [server (scripted.Server (* [(scripted.error 401)] 3))]
    (setv form (server.provider "responses" :name "acme" :key-variable "ACME_KEY")
          [_ none] (await (ask (server.provider "responses" :name "acme")))
          _ (keyring-store.keep "ACME_KEY" "key" "kept-key-of-acme-1234")
          [_ kept] (await (ask form)))
    (credentials.remember "ACME_KEY" "secret-key-of-acme")
    (setv [_ variable] (await (ask form)))
    (keyring-store.drop "ACME_KEY"))
  (for [error [none kept]]
    (assert (in "(auth \"acme\")" (str error))))
  (assert (in "ACME_KEY" (str variable)))
  (assert (not-in "(auth" (str variable))))

(defn :async [run-async] test-key-with-strange-characters []
  "A key that no header can carry is refused with the name of its variable."
  (credentials.remember "ACME_KEY" "schlüssel–")
  (setv [_ error] (await (ask {#** (:provider (recorded.request "responses")) "key_variable" "ACME_KEY"})))
  (assert (= error.kind "auth"))
  (assert (in "ACME_KEY" (str error))))

(defn :async [run-async] test-base-url-of-the-environment [monkeypatch]
  "The variable of a base URL is honoured, with or without a slash or the version at its end."
  (with [server (scripted.Server (lfor _ (range 4) (scripted.answer "ok")))]
    (for [[wire end] [#("responses" "/v1/") #("anthropic-messages" "") #("anthropic-messages" "/v1") #("chat-completions" "/v1")]]
      (monkeypatch.setenv "ACME_URL" (+ server.base-url end))
      (await (ask (server.provider wire :base-url "http://127.0.0.1:9" :base-url-variable "ACME_URL"))))
    (setv paths (lfor r server.requests (:path r))))
  (assert (= paths ["/v1/responses" "/v1/messages" "/v1/messages" "/v1/chat/completions"])))

(defn :async [run-async] test-no-model []
  "A provider without a model asks for one."
  (setv [_ error] (await (ask (:provider (recorded.request "chat")) :model None)))
  (assert (= error.kind "invalid-request")))

(defn :async [run-async] test-tutor-needs-nothing []
  "The tutor answers through the same door without key or network."
  (setv [events error] (await (ask {"name" "tutor" "wire" "tutor"} :model "tutor")))
  (assert (is error None))
  (assert (= (:type (get events -1)) "done")))
