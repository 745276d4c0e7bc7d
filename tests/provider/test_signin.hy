"Signing in to subscriptions: PKCE, the device flow, renewing, siblings, imports; against a strict OAuth server on a real socket."

(import
  asyncio
  json
  os
  subprocess
  sys
  threading
  time
  urllib.request
  pytest
  autolith.base [paths]
  autolith.provider [client credentials errors keyring-store oauth registry signin]
  tests.doubles [oauth :as double scripted])

(defn [(pytest.fixture :autouse True)] clean []
  "Begin and end without providers and keys of a user's."
  (setv saved (registry.snapshot))
  (registry.restore {})
  (credentials.forget)
  (.clear credentials._secrets)
  (yield)
  (registry.restore saved)
  (credentials.forget)
  (.clear credentials._secrets))

(defn provider [server flow #** more]
  "Define and return a provider that signs in at SERVER by FLOW; MORE goes into its `signin`."
  (registry.define "acme" {"base_url" "http://127.0.0.1:9/v1" "models" ["a-1"] "signin" (.signin server flow #** more)}))

(defn browser [told]
  "Open the page that the user is TOLD of, as a browser does, on another thread."
  (.start (threading.Thread :target (fn [] (.read (urllib.request.urlopen (get told "url") :timeout 10))) :daemon True)))

(defn waits []
  "Return #(waits pause): PAUSE notes in WAITS how long it was asked to wait, and does not."
  (setv seen [])
  #(seen seen.append))

(defn test-pkce []
  "The browser comes back to this machine, the server verifies the proof, and the token is the provider's key, redacted, on disk private."
  (with [server (double.Server)]
    (setv form (provider server "pkce"))
    (assert (not (registry.ready? form)))
    (signin.sign-in form browser))
  (setv access (get server.issued 0 "access_token"))
  (assert (= (credentials.key form) access))
  (assert (= (credentials.source form) "sign-in"))
  (assert (registry.ready? form))
  (assert (= (credentials.redact f"x {access} {(get server.issued 0 "refresh_token")}") "x [redacted] [redacted]"))
  (assert (= (& (. (os.stat (keyring-store.path)) st-mode) 0o777) 0o600)))

(defn test-pkce-denied []
  "A user who refuses on the page is told so, and nothing is kept."
  (with [server (double.Server :deny True)]
    (setv form (provider server "pkce"))
    (with [e (pytest.raises oauth.SignInFailed)]
      (signin.sign-in form browser)))
  (assert (= e.value.reason "denied"))
  (assert (is (credentials.source form) None)))

(defn test-pkce-ignores-strangers []
  "Requests to the waiting port without the right state are turned away, and the sign-in goes on."
  (defn stranger [told]
    (for [tail ["/callback?code=evil&state=guess" "/favicon.ico" "/callback"]]
      (with [e (pytest.raises urllib.error.HTTPError)]
        (urllib.request.urlopen f"http://127.0.0.1:{(get told "port")}{tail}" :timeout 10))
      (assert (= e.value.code 404)))
    (.read (urllib.request.urlopen (get told "url") :timeout 10)))
  (setv faults [])
  (defn go [told]
    (defn work [] (try (stranger told) (except [e BaseException] (.append faults e))))
    (.start (threading.Thread :target work :daemon True)))
  (with [server (double.Server)]
    (signin.sign-in (provider server "pkce") go))
  (assert (not faults))
  (assert (= (len server.issued) 1)))

(defn test-device []
  "The device flow shows the code, waits while it is pending, waits longer when told to slow down, survives a bad answer, and ends."
  (setv told [] [seen pause] (waits))
  (with [server (double.Server :device ["authorization_pending" "slow_down" "authorization_pending" "ok"] :interval 2)]
    (setv form (provider server "device"))
    (signin.sign-in form told.append pause))
  (assert (= (get told 0 "code") "WXYZ-1234"))
  (assert (= seen [2 2 7 7]))
  (assert (= (credentials.key form) (get server.issued 0 "access_token"))))

(defn test-device-survives-an-outage []
  "A poll that the server cannot answer now is repeated, after a longer wait."
  (setv [seen pause] (waits))
  (with [server (double.Server :interval 1)]
    (setv form (provider server "device"))
    (defn tell [_] (setv server.broken 2))
    (signin.sign-in form tell pause))
  (assert (= seen [1 2 4])))

(defn [(pytest.mark.parametrize "answers,reason" [#(["access_denied"] "denied") #(["authorization_pending" "expired_token"] "expired")
                                                  #(["invalid_grant"] "refused")])] test-device-ends [answers reason]
  "A refusal, an expired code and a fault of the server each end the sign-in with their reason, and nothing is kept."
  (with [server (double.Server :device answers)]
    (setv form (provider server "device"))
    (with [e (pytest.raises oauth.SignInFailed)]
      (signin.sign-in form (fn [_] None) (fn [_] None))))
  (assert (= e.value.reason reason))
  (assert (is (credentials.source form) None)))

(defn test-device-gives-up-by-itself []
  "A code that nobody uses is given up when it has expired, even if the server goes on saying that it is pending."
  (with [server (double.Server :device ["authorization_pending"] :expires-in 0.05)]
    (with [e (pytest.raises oauth.SignInFailed)]
      (signin.sign-in (provider server "device") (fn [_] None) (fn [_] (time.sleep 0.02)))))
  (assert (= e.value.reason "expired")))

(defn test-without-a-client-id []
  "Without a client id sign-in says what is missing and what to write where; writing that mends it."
  (with [server (double.Server)]
    (setv form (provider server "device" :client-id None))
    (with [e (pytest.raises oauth.SignInFailed)]
      (signin.sign-in form (fn [_] None)))
    (assert (= e.value.reason "unset"))
    (assert (in "client-id" (str e.value)))
    (assert (in "providers.hy" (str e.value)))
    (setv whole (registry.define "acme" {"extends" "acme" "signin" {"client_id" double.CLIENT}}))
    (assert (is (signin.lacks whole) None))))

(defn [(pytest.mark.parametrize "name" ["chatgpt" "grok"])] test-built-in-subscriptions [name]
  "The built-in subscriptions have their endpoints and say that they need an id."
  (setv form (registry.find name))
  (assert (in "client-id" (signin.lacks form)))
  (for [field (get signin.NEEDS (get form "signin" "flow"))]
    (assert (.startswith (get form "signin" field) "https://"))))

;; * Renewing

(defn signed-in [server #** more]
  "Return a provider that has signed in at SERVER."
  (setv form (provider server "device" #** more))
  (signin.sign-in form (fn [_] None) (fn [_] None))
  form)

(defn test-expired-token-is-renewed []
  "A token that is about to expire is renewed before a request; one that holds is left alone."
  (with [server (double.Server :life 5)]
    (setv form (signed-in server))
    (asyncio.run (signin.fresh form))
    (assert (= (credentials.key form) (get server.issued 1 "access_token")))
    (setv server.life 3600)
    (asyncio.run (signin.fresh form))
    (asyncio.run (signin.fresh form))
    (assert (= (len server.issued) 3))))

(setv CHILD "import asyncio, hy, sys, json
from autolith.provider import credentials, registry, signin
form = registry.define('acme', json.loads(sys.argv[1]))
asyncio.run(signin.fresh(form))
print(credentials.key(form))")

(defn test-two-processes-renew-once []
  "Two processes whose token expires at once ask for one new token between them, and both have it."
  (with [server (double.Server :life 5 :slow 0.3)]
    (setv form (signed-in server)
          server.life 3600
          command [(getattr hy "sys_executable" sys.executable) "-c" CHILD (json.dumps form)]
          children (lfor _ (range 2) (subprocess.Popen command :stdout subprocess.PIPE :text True))
          said (lfor c children (.strip (get (.communicate c :timeout 60) 0)))
          refreshed (lfor [_ f] server.requests :if (= (.get f "grant_type") "refresh_token") f)))
  (assert (= (len refreshed) 1))
  (assert (= said (* 2 [(get server.issued 1 "access_token")])))
  (assert (= (credentials.key form) (get said 0))))

(defn test-used-refresh-token []
  "A refresh token that somebody else has used up is an auth failure that says to sign in again."
  (with [server (double.Server :life 5)]
    (setv form (signed-in server))
    (.clear server.refresh-tokens)
    (with [e (pytest.raises errors.ProviderError)]
      (asyncio.run (signin.fresh form))))
  (assert (= e.value.kind "auth"))
  (assert (in "(auth \"acme\")" (str e.value))))

(defn test-unreachable-server [monkeypatch]
  "When the sign-in server is down a token that still holds is used; one that has run out is a network failure."
  (with [server (double.Server :life 5)]
    (setv form (signed-in server)))
  (asyncio.run (signin.fresh form))
  (assert (= (credentials.key form) (get server.issued 0 "access_token")))
  (keyring-store.keep (credentials.sign-in-slot form) "sign-in" {#** (credentials.token form) "expires_at" 1000})
  (with [e (pytest.raises errors.ProviderError)]
    (asyncio.run (signin.fresh form)))
  (assert (= e.value.kind "network")))

(defn login-file [path pair]
  "Write the login of another program with the tokens PAIR to PATH."
  (.write-text path (json.dumps {"tokens" {"access_token" (get pair "access_token") "refresh_token" (get pair "refresh_token")}})))

(setv PLACES {"access_token" ["tokens" "access_token"] "refresh_token" ["tokens" "refresh_token"]})

(defn test-import-and-sibling-rotation [tmp-path]
  "A login is imported once, with what its claims say; when its owner has since renewed it, ours follows instead of failing."
  (setv file (/ tmp-path "auth.json"))
  (with [server (double.Server :claims {"exp" 1000 "client_id" double.CLIENT "org" {"id" "account-7"}})]
    (setv form (provider server "pkce" :client-id None :import {"path" (str file) #** PLACES}
                         :claims {"account_id" ["org" "id"]} :headers {"x-account" "account_id"}))
    (assert (is (signin.importable form) None))
    (login-file file (.token server))
    (signin.import-login form)
    (assert (= (credentials.headers form) {"x-account" "account-7"}))
    (assert (signin.stale? (credentials.token form)))
    (setv theirs (.token server))                        ; the other program renews: our refresh token is used up
    (server.refresh-tokens.discard (get server.issued 0 "refresh_token"))
    (login-file file theirs)
    (asyncio.run (signin.fresh form))
    (assert (= (credentials.key form) (get server.issued 2 "access_token")))))

(defn [(pytest.mark.parametrize "content" ["" "{" "[]" "{\"tokens\": 7}" "{\"tokens\": {\"access_token\": 5}}" "\0"])]
  test-bad-import [tmp-path content]
  "A file that holds no login is refused by name."
  (setv file (/ tmp-path "auth.json"))
  (.write-text file content)
  (with [server (double.Server)]
    (setv form (provider server "pkce" :import {"path" (str file) #** PLACES}))
    (with [e (pytest.raises oauth.SignInFailed)]
      (signin.import-login form)))
  (assert (in "auth.json" (str e.value))))

(defn test-refused-request-renews-once []
  "A request that is answered 401 is repeated with a renewed token, once; the account's header goes with it."
  (with [server (double.Server)
         models (scripted.Server [(scripted.error 401) (scripted.answer "Hello.") (scripted.error 401) (scripted.error 401)])]
    (setv form (registry.define "acme" {"base_url" models.base-url "wire" "responses" "models" ["a-1"] "signin" (.signin server "device")}))
    (signin.sign-in form (fn [_] None) (fn [_] None))
    (setv request {"model" "a-1" "effort" None "system" "s" "context" None "tools" [] "cache_key" "k" "max_output" None "provider" form
                   "items" [{"type" "message" "role" "user" "content" [{"type" "text" "text" "hi"}]}]})
    (defn :async ask []
      (lfor :async e (client.stream request) (get e "type")))
    (assert (= (get (asyncio.run (ask)) -1) "done"))
    (setv sent (lfor r models.requests (get r "headers" "authorization")))
    (assert (= sent (lfor pair server.issued f"Bearer {(get pair "access_token")}")))
    (with [e (pytest.raises errors.ProviderError)]
      (asyncio.run (ask)))
    (assert (= e.value.kind "auth"))
    (assert (= (len models.requests) 4))))
