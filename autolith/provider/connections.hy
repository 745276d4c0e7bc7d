"Say why no connection came about: no such host, nobody there, a certificate, a proxy. What lies at the root decides, whatever the
layers above it made of it."

(import
  re
  autolith.provider [errors])

(defn failed [request url cause]
  "Return the error for a connection to URL, for REQUEST, that failed because of CAUSE."
  (setv name (get (get request "provider") "name")
        [why lasting] (explanation request url (root cause)))
  (errors.ProviderError "network" f"{name} cannot be reached at {url}: {why}{(errors.where-url request)}"
                        :provider name :text (str cause) :retryable (if lasting False None)))

(defn root [cause]
  "Return the error that CAUSE ends in, below all that were raised from it."
  (setv seen [])
  (while (not (any (gfor s seen (is s cause))))
    (.append seen cause)
    (setv inner (getattr cause "exceptions" [])
          cause (or (if inner (get inner -1) None) cause.__cause__ cause.__context__ cause)))
  (next (gfor s (reversed seen) :if (isinstance s OSError) s) (get seen 0)))

(defn explanation [request url cause]
  "Return #(sentences lasting) on the connection for REQUEST to URL that failed by CAUSE; LASTING if trying again is no use."
  (import httpx socket ssl)
  (setv host (. (httpx.URL url) host)
        words (or (str cause) (. (type cause) __name__)))
  (cond
    (isinstance cause ssl.SSLCertVerificationError) #((certificate host cause) True)
    (and (isinstance cause ssl.SSLError) (re.search r"WRONG_VERSION_NUMBER|RECORD_LAYER|UNKNOWN_PROTOCOL" words))
      #(f"{host} does not speak TLS there; does the URL begin with http://?" True)
    (isinstance cause httpx.ProxyError) #(f"the proxy says {(errors.sentence words)} HTTPS_PROXY names it, NO_PROXY what goes past it." True)
    (isinstance cause socket.gaierror)
      (if (= cause.errno socket.EAI-AGAIN)
        #(f"the name {host} cannot be looked up just now. Is the network up?" False)
        #(f"there is no host {host} ({(errors.short words)})." True))
    (isinstance cause ConnectionRefusedError)
      #((+ "nobody answers there (connection refused)." (if (local? url) " Is a server running?" "")) False)
    (isinstance cause #(httpx.ConnectTimeout TimeoutError))
      #("no connection was made in time. Is the network up?" False)
    True #(f"{(errors.sentence words)}{(if (local? url) " Is a server running there?" " Is the network up?")}" False)))

(defn certificate [host cause]
  "Return the sentences about the certificate of HOST, which CAUSE says is not trusted."
  (+ f"its certificate is not trusted ({(getattr cause "verify_message" "")}). Where a proxy signs with a certificate of its own, "
     "name the file of that in SSL_CERT_FILE."))

(defn local? [url]
  "Tell whether URL leads to this machine."
  (bool (re.match r"https?://(localhost|127\.|\[::1\]|0\.0\.0\.0)" url)))

(defn misset [request cause]
  "Return the error for an HTTP client that could not be made for REQUEST because of CAUSE: proxy or certificates of the environment."
  (errors.unusable request (if (isinstance cause OSError)
                             f"the certificates cannot be read ({cause}); SSL_CERT_FILE or SSL_CERT_DIR names them."
                             f"the proxy cannot be used ({(errors.sentence (str cause))}); HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names it.")))
