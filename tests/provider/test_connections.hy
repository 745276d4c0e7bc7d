"Connections that do not come about, over real sockets: one line that names provider, URL, what happened, and what to do."

(import
  re
  asyncio
  http.server
  shutil
  socket
  ssl
  subprocess
  threading
  pytest
  autolith.provider [client connections credentials errors]
  autolith.state [settings]
  tests.doubles [scripted]
  tests.provider [recorded])

(defn failure [url #** more]
  "Return the error of a request to URL by a provider form with the fields MORE."
  (setv form {#** (:provider (recorded.request "responses")) "name" "acme" "base_url" url "quirks" {} #** more})
  (defn :async ask []
    (try
      (for [:async _ (client.stream {#** (recorded.request "responses") "provider" form})] None)
      (except [e errors.ProviderError] e)
      (finally (await (client.close)))))
  (asyncio.run (ask)))

(defn told [error url #* words]
  "Assert that ERROR is one line that names the provider, URL and WORDS."
  (for [word ["acme" url #* words]]
    (assert (in word (str error)) (str error)))
  (assert (not-in "\n" (str error))))

(defn whole-request [p]
  "Read the request that comes on the socket P to its end, so that closing does not break the connection."
  (setv data b"")
  (while (not-in b"\r\n\r\n" data)
    (setv piece (.recv p 65536))
    (when (not piece) (return))
    (+= data piece))
  (setv [head _ body] (.partition data b"\r\n\r\n")
        m (re.search rb"(?i)content-length: *(\d+)" head)
        due (if m (int (.group m 1)) 0))
  (while (< (len body) due)
    (setv piece (.recv p 65536))
    (when (not piece) (return))
    (+= body piece)))

(defclass answering []
  "A server that answers whatever comes with DATA; under TLS if there is a CONTEXT."
  (defn __init__ [self data [context None]]
    (setv self.data data
          self.context context
          self.listener (socket.create-server #("127.0.0.1" 0))
          self.host f"127.0.0.1:{(get (.getsockname self.listener) 1)}"))
  (defn __enter__ [self]
    (.start (threading.Thread :target self.serve :daemon True))
    self)
  (defn __exit__ [self #* _]
    (.close self.listener))
  (defn serve [self]
    (while True
      (try
        (setv [peer _] (.accept self.listener))
        (except [OSError] (return)))
      (try
        (with [p (if self.context (.wrap-socket self.context peer :server-side True) peer)]
          (if self.context (whole-request p) (.recv p 65536))
          (.sendall p self.data))
        (except [OSError] None)))))

(defn [(pytest.fixture)] certificate [tmp-path]
  "Return the file of a fresh certificate for this machine, with its key."
  (when (not (shutil.which "openssl"))
    (pytest.skip "there is no openssl"))
  (setv file (/ tmp-path "own.pem"))
  (subprocess.run ["openssl" "req" "-x509" "-newkey" "ec" "-pkeyopt" "ec_paramgen_curve:prime256v1" "-nodes" "-days" "2" "-subj" "/CN=acme"
                   "-addext" "subjectAltName=IP:127.0.0.1" "-keyout" (str file) "-out" (str (/ tmp-path "public.pem"))]
                  :check True :capture-output True)
  (with [f (open file "a")]
    (.write f (.read-text (/ tmp-path "public.pem"))))
  file)

(setv ANSWER (+ b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
                b"data: {\"type\": \"response.completed\", \"response\": {\"status\": \"completed\", \"output\": []}}\n\n"))

(defn test-certificate [certificate monkeypatch]
  "A certificate that nobody vouches for is told as such, with what to do, and not tried again; named as trusted it is accepted."
  (setv context (ssl.SSLContext ssl.PROTOCOL-TLS-SERVER))
  (.load-cert-chain context certificate)
  (with [server (answering ANSWER context)]
    (setv error (failure f"https://{server.host}"))
    (told error f"https://{server.host}" "certificate" "self-signed" "SSL_CERT_FILE")
    (assert (= #(error.kind error.retryable) #("network" False)))
    (monkeypatch.setenv "SSL_CERT_FILE" (str (.with-name certificate "public.pem")))
    (assert (is (failure f"https://{server.host}") None))))

(defn test-no-tls-there []
  "A server that does not speak TLS is told apart from one whose certificate is bad."
  (with [server (answering ANSWER)]
    (setv error (failure f"https://{server.host}")))
  (told error f"https://{server.host}" "TLS" "http://")
  (assert (not error.retryable)))

(defn test-nobody-listens []
  "A refused connection says so, and is tried again."
  (with [s (socket.socket)]
    (.bind s #("127.0.0.1" 0))
    (setv url f"http://127.0.0.1:{(get (.getsockname s) 1)}"
          error (failure url :base-url-variable "ACME_URL")))
  (told error url "refused" "ACME_URL")
  (assert error.retryable))

(defn test-closed-without-a-word []
  "A server that closes the connection before it answers is a network failure that is tried again."
  (with [server (answering b"")]
    (setv error (failure f"http://{server.host}")))
  (told error server.host)
  (assert (= #(error.kind error.retryable) #("network" True))))

(defn test-unknown-host []
  "A host that does not exist is named."
  (setv error (failure "http://no-such-host.invalid"))
  (told error "http://no-such-host.invalid")
  (assert (= error.kind "network")))

(defn [(pytest.mark.parametrize "number,retried" [#(socket.EAI-AGAIN True) #(socket.EAI-NONAME False)])]
  test-names-that-cannot-be-found [number retried]
  "A name that cannot be looked up just now is tried again; one that does not exist is not. The cause is found below what wraps it."
  (setv outer (OSError "All connection attempts failed")
        outer.__cause__ (ExceptionGroup "many" [(socket.gaierror number "lookup failed")])
        request (recorded.request "chat" :provider {"name" "acme" "base_url" "http://llm.example"})
        error (connections.failed request "http://llm.example" outer))
  (told error "http://llm.example" "llm.example")
  (assert (= error.retryable retried)))

(defn test-proxy-that-answers-with-a-page [monkeypatch]
  "A proxy of the environment that answers with a web page is told as such; it is not asked about this machine."
  (with [proxy (scripted.Server [(scripted.page "<html><title>Acme: blocked</title></html>" :status 403)] :strict False)
         server (scripted.Server [(scripted.answer "ok")])]
    (monkeypatch.setenv "HTTP_PROXY" proxy.base-url)
    (monkeypatch.setenv "http_proxy" proxy.base-url)
    (setv error (failure "http://llm.example/v1"))
    (assert (is (failure server.base-url) None)))
  (told error "http://llm.example/v1/responses" "Acme: blocked" "web page")
  (assert (not error.retryable)))

(defn test-proxy-that-refuses [monkeypatch]
  "A proxy that refuses the tunnel is named."
  (with [proxy (answering b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")]
    (monkeypatch.setenv "HTTPS_PROXY" f"http://{proxy.host}")
    (setv error (failure "https://llm.example")))
  (told error "https://llm.example" "407" "HTTPS_PROXY"))

(defn [(pytest.mark.parametrize "variable,value"
         [#("HTTPS_PROXY" "gopher://x") #("ALL_PROXY" "socks5://127.0.0.1:1") #("HTTP_PROXY" "http://here:port")
          #("SSL_CERT_FILE" "/no/such/file.pem")])]
  test-misset-variables [variable value monkeypatch]
  "A variable of the environment that cannot be used is named, and is no fault of the program."
  (monkeypatch.setenv variable value)
  (setv error (failure "https://llm.example"))
  (assert (= error.kind "invalid-request") (str error))
  (assert (in variable (str error)))
  (assert (not error.retryable)))

(defn test-garbled-compression []
  "An answer that cannot be unpacked is a failure of the provider's."
  (with [server (answering (+ b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n\r\n" b"no gzip at all"))]
    (assert (= (. (failure f"http://{server.host}") kind) "protocol"))))


;; * The idle limit

(defn test-idle-limit-is-the-setting []
  "The setting idle-timeout holds; a provider's own limit goes before it."
  (settings.put "idle-timeout" 7)
  (try
    (assert (= (client.idle-of (recorded.request "chat")) 7))
    (assert (= (client.idle-of (recorded.request "chat" :provider {"quirks" {"idle_seconds" 1800}})) 1800))
    (finally (settings.put "idle-timeout" None)))
  (assert (= (client.idle-of (recorded.request "chat")) 300)))

(defn test-silent-server-by-the-setting []
  "A server that sends nothing real is given up when the setting says so, however many pings come."
  (settings.put "idle-timeout" 1)
  (try
    (with [server (scripted.Server [[(scripted.answer "half ") (scripted.stall)]])]
      (setv error (failure server.base-url)))
    (finally (settings.put "idle-timeout" None)))
  (assert (= #(error.kind error.retryable) #("network" True))))
