"Speak OAuth for a subscription: PKCE with a redirect to this machine, the device flow (RFC 8628), and refreshing.

A SIGN-IN is the map `signin` of a provider form:

    flow           device or pkce
    client_id      the id under which this program is known there; nothing works without one
    authorize_url  pkce: where the user agrees; redirect is where the browser comes back, http://127.0.0.1:0/callback (0: any free port)
    device_url     device: where a code is asked for
    token_url      where tokens are given and refreshed
    scopes         list of texts
    parameters     more for the authorize page, {name value}
    claims         {field [key ..]}: what to keep of the token's own claims
    headers        {header field}: what a request carries of that
    import         another program's login: {\"path\" p field [key ..]}, see signin.hy

A TOKEN is {\"access_token\" s \"refresh_token\" s or None \"expires_at\" seconds or None} and the fields of claims. Authlib does the
protocol; what goes wrong is a SignInFailed with a `reason`: denied, expired, refused, network, or unset."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  json
  time
  autolith.base [conditions]
  autolith.provider [credentials])

(defparameter request-seconds 20 "How long one request to a sign-in server may take.")
(defparameter patience-seconds 600 "How long to wait for the user to agree, where the server does not say.")

(setv DEVICE-GRANT "urn:ietf:params:oauth:grant-type:device_code"
      STRAY "This is not the page that the sign-in waits for."
      DONE "Signed in; this page can be closed."
      NOT-DONE "The sign-in did not work; the program says why.")

(defclass SignInFailed [conditions.AutolithError]
  "A sign-in, or its renewal, failed for REASON."
  (defn __init__ [self reason message]
    (.__init__ (super) (credentials.redact message))
    (setv self.reason reason)))

;; * Authlib

(defn _library []
  "Return Authlib's module of HTTP clients, and the HTTP library it chose."
  (import warnings)
  (with [_ (warnings.catch-warnings)]
    (warnings.simplefilter "ignore")
    (import authlib.integrations.httpx-client.oauth2-client :as library))
  #(library (or (getattr library "httpx2" None) (getattr library "httpx" None))))

(defn local? [url]
  "Is URL on this machine, which is never asked through a proxy?"
  (import urllib.parse)
  (in (. (urllib.parse.urlsplit url) hostname) ["localhost" "127.0.0.1" "::1"]))

(defn client [signin #** more]
  "Return Authlib's client for SIGNIN, with MORE arguments."
  (setv [library _] (_library))
  (library.OAuth2Client :client-id (get signin "client_id") :token-endpoint-auth-method "none"
                        :scope (or (.join " " (.get signin "scopes" [])) None)
                        :timeout request-seconds :trust-env (not (local? (get signin "token_url")))
                        #** more))

(defn asked [signin url f]
  "Return what the thunk F, which asks URL, gives; failures become SignInFailed."
  (_library)
  (import authlib.common.errors [AuthlibBaseError])
  (setv [_ http] (_library))
  (try
    (f)
    (except [e AuthlibBaseError]
      (setv words (.join " " (gfor w [e.error e.description] :if w (str w))))
      (raise (SignInFailed (.get {"access_denied" "denied" "expired_token" "expired"} e.error "refused")
                           f"{url} answered: {words}") :from e))
    (except [e http.HTTPStatusError]
      (raise (SignInFailed "network" f"{url} answered HTTP {e.response.status-code}; try again later") :from e))
    (except [e http.HTTPError]
      (setv why (or (str e) (. (type e) __name__)))
      (raise (SignInFailed "network" f"{url} cannot be reached: {why}; check the network") :from e))
    (except [e ValueError]
      (raise (SignInFailed "refused" f"{url} did not answer as a sign-in server does: {e}") :from e))))

(defn token [signin answer [before None]]
  "Return the TOKEN that ANSWER of the server to SIGNIN means; what it does not say anew is as BEFORE."
  (setv access (.get answer "access_token"))
  (when (not (and (isinstance access str) access))
    (raise (SignInFailed "refused" f"{(get signin "token_url")} gave no access token")))
  (setv result {#** (or before {})
                "access_token" access
                "refresh_token" (or (.get answer "refresh_token") (.get (or before {}) "refresh_token"))
                "expires_at" (expiry answer access)
                #** (claimed signin [(.get answer "id_token") access])})
  (credentials.protect-value result)
  result)

(defn expiry [answer access]
  "Return when the token ACCESS of ANSWER expires, in seconds since 1970, or None: after expires_in, else as its claims say."
  (setv seconds (.get answer "expires_in")
        claim (.get (claims access) "exp"))
  (cond
    (isinstance seconds #(int float)) (int (+ (time.time) seconds))
    (and (isinstance seconds str) (.isdecimal seconds)) (int (+ (time.time) (int seconds)))
    (isinstance claim #(int float)) (int claim)
    True None))

(defn claims [text]
  "Return the claims of the JSON Web Token TEXT, unverified (it comes from where we asked); {} if it is none."
  (import base64)
  (try
    (setv middle (get (.split text ".") 1)
          found (json.loads (base64.urlsafe-b64decode (+ middle (* "=" (% (- (len middle)) 4))))))
    (if (isinstance found dict) found {})
    (except [[AttributeError IndexError ValueError RecursionError]] {})))

(defn claimed [signin tokens]
  "Return what SIGNIN wants to keep of the claims of TOKENS, by field."
  (setv result {})
  (for [[field keys] (.items (.get signin "claims" {}))
        text tokens]
    (setv value (dig (claims text) keys))
    (when (and (isinstance value str) (not-in field result))
      (setv (get result field) value)))
  result)

(defn dig [value keys]
  "Return what stands in VALUE, nested maps, under KEYS; or None."
  (for [k keys]
    (setv value (if (isinstance value dict) (.get value k) None)))
  value)

;; * Refreshing

(defn refresh [signin old]
  "Return the TOKEN that SIGNIN's server gives for the refresh token of OLD."
  (setv url (get signin "token_url"))
  (with [c (client signin)]
    (token signin (asked signin url (fn [] (c.refresh-token url :refresh-token (get old "refresh_token")))) old)))

;; * The device flow

(defn device [signin tell [pause time.sleep]]
  "Sign in by a code that the user enters elsewhere, which TELL is called with, and return the TOKEN; PAUSE waits."
  (_library)
  (import authlib.common.security [generate-token]
          authlib.oauth2.rfc7636 [create-s256-code-challenge])
  (setv url (get signin "device_url")
        verifier (generate-token 64))
  (with [c (client signin)]
    (setv started (asked signin url (fn [] (_start-device c signin url (create-s256-code-challenge verifier)))))
    (tell {"url" (get started "verification_uri") "code" (get started "user_code")
           "direct" (.get started "verification_uri_complete")})
    (poll c signin started verifier pause)))

(defn _start-device [c signin url challenge]
  "Ask URL with the client C for a code; CHALLENGE is for servers that want a proof with the device flow too."
  (setv answer (.request c "POST" url :withhold-token True :headers {"accept" "application/json"}
                         :data {"client_id" (get signin "client_id")
                                #** (if (.get signin "scopes") {"scope" (.join " " (get signin "scopes"))} {})
                                "code_challenge" challenge "code_challenge_method" "S256"})
        found (if (>= answer.status-code 500) (.raise-for-status answer) (.json answer)))
  (when (not (and (isinstance found dict) (all (gfor k ["device_code" "user_code" "verification_uri"] (.get found k)))))
    (setv error (if (isinstance found dict) (or (.get found "error_description") (.get found "error") found) found))
    (raise (SignInFailed "refused" f"{url} gave no code (HTTP {answer.status-code}): {(cut (str error) 200)}")))
  found)

(defn poll [c signin started verifier pause]
  "Ask with the client C until the user has agreed to what was STARTED; return the TOKEN."
  (setv url (get signin "token_url")
        wait (_seconds started "interval" 5)
        end (+ (time.monotonic) (_seconds started "expires_in" patience-seconds)))
  (while True
    (pause wait)
    (when (> (time.monotonic) end)
      (raise (SignInFailed "expired" "nobody agreed in time; begin again")))
    (try
      (defn ask []
        (c.fetch-token url :grant-type DEVICE-GRANT :client-id (get signin "client_id")
                       :device-code (get started "device_code") :code-verifier verifier))
      (return (token signin (asked signin url ask)))
      (except [e SignInFailed]
        (setv error (getattr e.__cause__ "error" None))
        (cond
          (= error "authorization_pending") None
          (= error "slow_down") (+= wait 5)
          (= e.reason "network") (setv wait (min 60 (* 2 (max 1 wait))))
          (= e.reason "denied") (raise (SignInFailed "denied" "the sign-in was refused there"))
          (= e.reason "expired") (raise (SignInFailed "expired" "the code has expired; begin again"))
          True (raise))))))

(defn _seconds [started name default]
  "Return the number under NAME in STARTED, or DEFAULT."
  (setv value (.get started name))
  (if (and (isinstance value #(int float)) (>= value 0)) value default))

;; * PKCE

(defn pkce [signin tell]
  "Sign in by a page that sends the browser back to this machine, whose URL TELL is called with; return the TOKEN."
  (_library)
  (import authlib.common.security [generate-token]
          urllib.parse)
  (setv wanted (urllib.parse.urlsplit (.get signin "redirect" "http://127.0.0.1:0/callback"))
        verifier (generate-token 64)
        url (get signin "token_url"))
  (with [server (_listen wanted)
         c (client signin :code-challenge-method "S256")]
    (setv back f"http://{wanted.hostname}:{(get server.server-address 1)}{wanted.path}"
          c.redirect-uri back
          [page state] (.create-authorization-url c (get signin "authorize_url") :code-verifier verifier
                                                  #** (.get signin "parameters" {})))
    (setv server.expected {"path" wanted.path "state" state})
    (tell {"url" page "port" (get server.server-address 1)})
    (setv found (returned server))
    (defn ask []
      (c.fetch-token url :grant-type "authorization_code" :code (get found "code") :code-verifier verifier
                     :redirect-uri back))
    (token signin (asked signin url ask))))

(defn _listen [wanted]
  "Return a server on this machine only, for the redirect URL WANTED."
  (import http.server [HTTPServer BaseHTTPRequestHandler] urllib.parse)
  (when (not (in wanted.hostname ["localhost" "127.0.0.1"]))
    (raise (SignInFailed "unset" f"the redirect {(.geturl wanted)} is not on this machine; give one on 127.0.0.1")))
  (defclass Handler [BaseHTTPRequestHandler]
    (setv timeout 10)
    (defn do-GET [self] (answer self (urllib.parse.urlsplit self.path)))
    (defn log-message [self #* _] None))
  (try
    (setv server (HTTPServer #("127.0.0.1" (or wanted.port 0)) Handler))
    (except [e OSError]
      (raise (SignInFailed "unset" (+ f"port {wanted.port} of this machine, to which the sign-in comes back, "
                                      f"cannot be had: {e.strerror}; end what uses it")) :from e)))
  (setv server.found None
        server.expected {"path" wanted.path "state" None})
  server)

(defn answer [handler target]
  "Answer the request of HANDLER for TARGET, a split URL; what it brings goes to the server's `found` if it is what is waited for."
  (import urllib.parse)
  (setv query (dict (urllib.parse.parse-qsl target.query))
        expected handler.server.expected
        ours (and (= target.path (get expected "path"))
                  (get expected "state")
                  (= (.get query "state") (get expected "state"))
                  (or (in "code" query) (in "error" query)))
        words (.encode (cond (not ours) STRAY (in "code" query) DONE True NOT-DONE)))
  (.send-response handler (if ours 200 404))
  (for [[k v] [["Content-Type" "text/plain; charset=utf-8"] ["Content-Length" (str (len words))]
               ["Connection" "close"]]]
    (.send-header handler k v))
  (.end-headers handler)
  (.write handler.wfile words)
  (when (and ours (is handler.server.found None))
    (setv handler.server.found query))
  None)

(defn returned [server]
  "Wait for the browser to come back to SERVER; return the query it brought."
  (setv end (+ (time.monotonic) patience-seconds)
        server.timeout 1)
  (while (is server.found None)
    (when (> (time.monotonic) end)
      (raise (SignInFailed "expired" "the browser did not come back in time; begin again")))
    (.handle-request server))
  (setv found server.found)
  (when (in "error" found)
    (setv denied (= (get found "error") "access_denied"))
    (setv words f"{(get found "error")} {(.get found "error_description" "")}")
    (raise (if denied
             (SignInFailed "denied" "the sign-in was refused there")
             (SignInFailed "refused" f"the sign-in page answered: {words}"))))
  found)
