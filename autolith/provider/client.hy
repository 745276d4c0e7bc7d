"Send a request and give its answer event by event, whatever the provider.

`(stream request)` is an async generator of neutral events, the last of them `done`; closing it closes the connection.
`(await (fetch request module patience))` gives the one JSON object that answers what MODULE encodes. What goes wrong is raised
as errors.ProviderError. The wire's module encodes and decodes; here are only connection, limits and faults."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  contextlib [contextmanager]
  autolith.provider [connections credentials errors json-text]
  autolith.state [settings])

(defparameter connect-seconds 30
  "How long a connection may take to be made.")

(defparameter drain-seconds 0.25
  "How long to wait after the last event for the end of the body, so that the connection can be used again.")

(defparameter longest-body 65536
  "How many bytes of an error's body are read.")

(defparameter longest-event (* 64 1024 1024)
  "How many characters one event may have.")

(defonce _clients {} "The HTTP clients in use, by (loop, whether the environment's proxies count).")

(setv WIRES {"responses" "responses" "chat-completions" "chat" "anthropic-messages" "anthropic" "tutor" "tutor"}
      PINGS #{"ping" "keepalive" "response.keepalive"})


(defn wire [form]
  "Return the module that speaks the wire of the provider FORM."
  (import importlib)
  (setv name (.get WIRES (.get form "wire")))
  (when (is name None)
    (raise (errors.unusable {"provider" form} f"unknown wire {(.get form "wire")}; there are {(.join ", " WIRES)}")))
  (importlib.import-module f"autolith.provider.{name}"))

(defn stream [request]
  "Return an async generator of the events of the answer to REQUEST."
  (if (= (.get (get request "provider") "wire") "tutor")
    (.stream (wire (get request "provider")) request)
    (over-http request)))

(defn :async over-http [request]
  "Yield the events of the answer to REQUEST, over HTTP; a sign-in that is refused is renewed, once."
  (import autolith.provider [signin])
  (setv form (get request "provider"))
  (await (signin.fresh form))
  (for [last [(not (.get form "signin")) True]]
    (setv events (once request))
    (try
      (for [:async event events]
        (yield event))
      (return)
      (except [e errors.ProviderError]
        (when (or last (!= e.status 401) (not (await (signin.renew form))))
          (raise)))
      (finally
        (await (.aclose events))))))

(defn :async once [request]
  "Yield the events of the answer to REQUEST, asked once."
  (setv module (wire (get request "provider"))
        parts (prepare request module)
        url (get parts "url")
        decoder (module.Decoder request))
  (with [_ (faults-named request url (idle-of request))
         :async response (.stream (client request url) "POST" url :timeout (limits request)
                                  :content (get parts "content") :headers (get parts "headers"))]
    (await (check request response url))
    (setv results (decoded decoder (Body response request)))
    (try
      (for [:async event results]
        (yield event))
      (finally
        (await (.aclose results))))))

(defn [contextmanager] faults-named [request url seconds]
  "Raise what goes wrong inside, with a connection to URL for REQUEST that may be silent for SECONDS, as the ProviderError it means."
  (import httpx)
  (try
    (yield)
    (except [e httpx.ReadTimeout]
      (raise (errors.idle request seconds) :from e))
    (except [e [httpx.InvalidURL httpx.UnsupportedProtocol httpx.LocalProtocolError]]
      (raise (errors.unusable request f"{url} cannot be asked: {e}.{(errors.where-url request)}") :from e))
    (except [e httpx.DecodingError]
      (raise (errors.garbled request f"{url} sent what cannot be unpacked ({e}).") :from e))
    (except [e httpx.HTTPError]
      (raise (connections.failed request url e) :from e))))

(defn :async fetch [request module patience]
  "Return the JSON object that answers what MODULE encodes of REQUEST, waiting PATIENCE seconds at the most; a sign-in that is refused
is renewed, once."
  (import autolith.provider [signin])
  (setv form (get request "provider"))
  (await (signin.fresh form))
  (try
    (return (await (fetch-once request module patience)))
    (except [e errors.ProviderError]
      (when (not (and (.get form "signin") (= e.status 401) (await (signin.renew form))))
        (raise))))
  (await (fetch-once request module patience)))

(defn :async fetch-once [request module patience]
  "Return the JSON object that answers what MODULE encodes of REQUEST, asked once, in PATIENCE seconds at the most."
  (import asyncio)
  (setv parts (prepare request module)
        url (get parts "url"))
  (try
    (with [:async _ (asyncio.timeout patience)
           _ (faults-named request url patience)
           :async response (.stream (client request url) "POST" url :timeout (limits request patience)
                                    :content (get parts "content") :headers (get parts "headers"))]
      (when (!= response.status-code 200)
        (raise (errors.from-response request response.status-code response.headers (await (beginning response)) url)))
      (setv content (.decode (await (read-body response longest-event)) "utf-8" "replace"))
      (return (errors.object-of request response.headers content url)))
    (except [e TimeoutError]
      (raise (errors.idle request patience) :from e))))

(defn sensible [request step #* args]
  "Return what STEP of a decoder makes of ARGS; where that stumbles over a shape that no wire knows, REQUEST's answer is garbled."
  (try
    (step #* args)
    (except [e [AttributeError IndexError KeyError TypeError ValueError]]
      (raise (errors.garbled request f"a strange shape ({e !r}) at {(errors.short (cut (str args) 200))}") :from e))))

(defn :async decoded [decoder body]
  "Yield what DECODER makes of the server-sent events in BODY."
  (import httpx httpx-sse)
  (setv source (.aiter-sse (httpx-sse.EventSource body))
        seen 0)
  (try
    (for [:async event source]
      (when (not-in event.event PINGS)
        (setv body.lively True)
        (+= seen 1)
        (for [result (sensible body.request decoder.feed event.event event.data)]
          (yield result))
        (when decoder.ended
          (await (drain source))
          (return))))
    (except [e [httpx.RemoteProtocolError httpx.ReadError]]
      (when (not (getattr decoder "satisfied" False))
        (raise (errors.cut-off body.request seen e) :from e)))
    (finally
      (await (.aclose source))))
  (for [result (sensible body.request decoder.finish)]
    (yield result)))


;; * Asking

(defn prepare [request module]
  "Return the url, headers and content with which MODULE sends REQUEST; no key that is held here is in the content."
  (setv form (get request "provider"))
  (when (not (.get request "model"))
    (raise (errors.unusable request "no model is chosen and the provider has no default; choose one with (model \"...\")")))
  (setv keys (authorization request form)                ; first: what is a key is known from here on
        wanted (module.encode request))
  {"url" (join-url request (get wanted "path"))
   "content" (.encode (credentials.redact (json-text.dumps (get wanted "body"))) "utf-8")
   "headers" {"content-type" "application/json" "accept" "text/event-stream" "cache-control" "no-store" "user-agent" "autolith"
              #** (get wanted "headers")
              #** keys
              #** (credentials.headers form)
              #** (.get form "headers" {})}})

(defn join-url [request path]
  "Return the URL of PATH below the base URL of REQUEST's provider; a version that both name counts once."
  (setv form (get request "provider")
        base (credentials.base-url form))
  (when (not base)
    (setv variable (.get form "base_url_variable"))
    (raise (errors.unusable request (+ "there is no base URL" (if variable f"; set {variable}" "")))))
  (when (not (.startswith base #("http://" "https://")))
    (raise (errors.unusable request (+ f"the base URL {base} does not begin with http:// or https://."
                                       (errors.who-sets-url form)))))
  (when (and (.endswith base "/v1") (.startswith path "/v1/"))
    (setv path (cut path 3 None)))
  (+ base path))

(defn authorization [request form]
  "Return the headers that bear the key of FORM; none without a key, which a local server does not need."
  (setv key (credentials.key form))
  (cond
    (not key) (if (and (.get form "key_variable") (not (.get (.get form "quirks" {}) "key_optional")))
                (raise (errors.ProviderError "auth" (+ f"{(get form "name")} needs a key: {(credentials.way-in form)},"
                                                       " or choose another provider.")
                                             :provider (get form "name")))
                {})
    (not (and (.isascii key) (.isprintable key)))
      (raise (errors.ProviderError "auth" (+ f"the key of {(get form "name")} has characters that no header can carry; "
                                              f"for another one, {(credentials.way-in form)}.")
                                   :provider (get form "name")))
    (= (get form "wire") "anthropic-messages") {"x-api-key" key}
    True {"authorization" f"Bearer {key}"}))

(defn idle-of [request]
  "Return how many seconds the stream for REQUEST may go without a real event; pings are none."
  (or (.get (.get (get request "provider") "quirks" {}) "idle_seconds") (settings.value "idle-timeout")))

(defn limits [request [idle None]]
  "Return the time limits of REQUEST for httpx; no byte may come for IDLE seconds, where that is not as for a stream."
  (import httpx)
  (httpx.Timeout (or idle (idle-of request)) :connect connect-seconds :write 60 :pool connect-seconds))

(defn client [request url]
  "Return the HTTP client of this loop for URL, which REQUEST goes to, made when first needed; this machine is never asked through a
proxy."
  (import asyncio)
  (setv loop (asyncio.get-running-loop)
        remote (not (connections.local? url))
        key #(loop remote))
  (for [old (lfor k _clients :if (.is-closed (get k 0)) k)]
    (.pop _clients old))
  (when (not-in key _clients)
    (setv (get _clients key) (make-client request remote)))
  (get _clients key))

(defn make-client [request remote]
  "Return a new HTTP client for REQUEST; a REMOTE one heeds the environment's proxies. The certificates count for both."
  (import httpx)
  (try
    (httpx.AsyncClient :trust-env remote :verify (httpx.create-ssl-context) :follow-redirects False
                       :limits (httpx.Limits :keepalive-expiry 30))
    (except [e [ImportError OSError ValueError httpx.InvalidURL]]
      (raise (connections.misset request e) :from e))))

(defn :async close []
  "Close the connections of this loop."
  (import asyncio)
  (setv loop (asyncio.get-running-loop))
  (for [key (lfor k _clients :if (is (get k 0) loop) k)]
    (await (.aclose (.pop _clients key)))))


;; * Reading

(defn :async check [request response url]
  "Raise what an answer from URL that is no stream means; RESPONSE has its head only."
  (setv kind (.lower (get (.partition (.get response.headers "content-type" "") ";") 0)))
  (when (and (= response.status-code 200)
             (or (in (.strip kind) ["" "text/event-stream" "application/octet-stream" "text/plain"])))
    (setv response.encoding "utf-8")
    (return))
  (setv content (await (beginning response)))
  (raise (if (= response.status-code 200)
           (errors.not-a-stream request response.headers content url)
           (errors.from-response request response.status-code response.headers content url))))

(defn :async beginning [response]
  "Return the beginning of the body of RESPONSE as text."
  (import asyncio httpx)
  (setv data (bytearray))
  (try
    (with [:async _ (asyncio.timeout connect-seconds)]
      (await (read-body response longest-body data)))
    (except [[httpx.HTTPError TimeoutError]] None))
  (.decode (cut data longest-body) "utf-8" "replace"))

(defn :async read-body [response longest [data None]]
  "Return the body of RESPONSE, little more than LONGEST bytes of it; it comes into the bytearray DATA as it is read."
  (setv data (if (is data None) (bytearray) data))
  (for [:async part (.aiter-bytes response)]
    (.extend data part)
    (when (> (len data) longest)
      (break)))
  data)

(defclass Body []
  "What httpx-sse reads of RESPONSE, which answers REQUEST: its text without a byte-order mark, events of a bounded length, the
last one ended. Who finds a real event in it sets `lively`; if nobody does for as long as the limit says, the request is given up,
however many pings come. (That no byte comes for as long is noticed by httpx.)"

  (defn __init__ [self response request]
    (setv self.response response
          self.request request
          self.lively True
          self.headers {"content-type" "text/event-stream"}))

  (defn :async aiter-text [self]
    "Yield the text as it comes."
    (import time)
    (setv first True
          pending 0
          limit (idle-of self.request)
          now (time.monotonic)
          since now)
    (for [:async text (.aiter-text self.response)]
      (setv now (time.monotonic))
      (cond
        self.lively (setv self.lively False  since now)
        (> (- now since) limit) (raise (errors.idle self.request limit)))
      (when first
        (setv text (.removeprefix text "\ufeff")
              first False))
      (setv end (.rfind text "\n")
            pending (if (< end 0) (+ pending (len text)) (- (len text) end)))
      (when (> pending longest-event)
        (raise (errors.garbled self.request "an event without an end")))
      (when text
        (yield text)))
    (yield "\n\n")))

(defn :async drain [source]
  "Read what SOURCE still gives, as long as that takes no time, so that its connection can be used again."
  (import asyncio httpx)
  (try
    (with [:async _ (asyncio.timeout drain-seconds)]
      (for [:async _ source] None))
    (except [[httpx.HTTPError errors.ProviderError TimeoutError]] None)))
