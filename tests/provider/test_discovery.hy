"Which models there are: asked for within bounds, kept when a provider falls silent, and local servers that answer as one."

(import
  asyncio
  json
  os
  pathlib [Path]
  time
  pytest
  hypothesis [given settings strategies :as st]
  autolith.base [paths]
  autolith.provider [credentials discovery errors models registry]
  tests.doubles [models_server :as double])

(setv KEY "sk-discovery-0123456789")

(defn [(pytest.fixture :autouse True)] clean []
  "Begin and end without providers, keys and lists."
  (setv saved (registry.snapshot))
  (registry.restore {})
  (credentials.forget)
  (discovery.forget)
  (yield)
  (registry.restore saved)
  (credentials.forget)
  (discovery.forget))

(defn provider [url #** more]
  "Define a provider at URL with a key."
  (credentials.remember "ACME_KEY" KEY)
  (registry.define "acme" {"base_url" url "key_variable" "ACME_KEY" #** more}))

(defn refresh [#* forms]
  "Ask FORMS; return the notes."
  (asyncio.run (discovery.refresh forms)))

(defn [(pytest.mark.parametrize "wire,header" [#("responses" "authorization") #("chat-completions" "authorization")
                                               #("anthropic-messages" "x-api-key")])] test-each-wire [wire header]
  "Each wire's list is asked for with the key in its header, sorted, and kept for other processes."
  (with [server (double.Server KEY ["b-2" "a-1" "b-2"])]
    (setv form (provider (if (= wire "anthropic-messages") server.root server.url) :wire wire))
    (assert (= (refresh form) []))
    (assert (in KEY (get (dfor [k v] (.items (get server.headers 0)) (.lower k) v) header))))
  (discovery.forget)
  (assert (= (discovery.ids "acme") ["a-1" "b-2"]))
  (assert (not (discovery.old? "acme"))))

(defn test-facts-of-models []
  "What a list says of windows, answers, images and tools counts for a model that the table lacks, not for one that it has."
  (with [server (double.Server None [{"id" "vendor/zeta" "context_length" 40000 "top_provider" {"max_completion_tokens" 5000}
                                      "architecture" {"input_modalities" ["text"]} "supported_parameters" ["temperature"]}
                                     {"id" "gpt-5" "context_length" 7} {"id" "odd" "context_length" "many"}])]
    (refresh (provider server.url)))
  (setv zeta (models.find "vendor/zeta"))
  (assert (= (lfor k ["window" "output" "images" "tools" "assumed"] (get zeta k)) [40000 5000 False False None]))
  (assert (= (get (models.find "gpt-5") "window") 272000))
  (assert (get (models.find "odd") "assumed")))

(defn test-the-last-good-list-stays []
  "When a provider refuses, answers nonsense or is gone, the note says so and the last good list stays."
  (with [server (double.Server KEY ["a-1"])]
    (setv form (provider server.url))
    (refresh form)
    (setv server.key "another")
    (setv [note] (refresh form))
    (assert (in "acme" note))
    (assert (not-in KEY note))
    (for [answer [b"<html>hello" b"{\"data\": 7}" b"" b"[" {"object" "list"} [] {"data" []}]]
      (setv server.pages {"/v1/models" answer})
      (assert (= (len (refresh form)) 1) answer)
      (assert (= (discovery.ids "acme") ["a-1"]))))
  (assert (= (len (refresh form)) 1))
  (assert (= (discovery.ids "acme") ["a-1"])))

(defn test-bounded-time [monkeypatch]
  "A provider that does not answer is given up, and the others are not held up by it."
  (monkeypatch.setattr discovery "request_seconds" 0.3)
  (with [slow (double.Server None ["s"] :delay 3) quick (double.Server None ["q"])]
    (setv forms [(registry.define "slow" {"base_url" slow.url}) (registry.define "quick" {"base_url" quick.url})]
          began (time.monotonic)
          notes (refresh #* forms))
    (assert (< (- (time.monotonic) began) 2.5)))
  (assert (= (len notes) 1))
  (assert (= (discovery.ids "quick") ["q"])))

(defn [(pytest.mark.parametrize "content" ["" "{:version 1" "7" "{:version 9 :models []}" "{:version 1 :models 3}"])] test-damaged-cache [content]
  "A damaged cache is no list, and no failure."
  (paths.ensure-folder (paths.cache "models"))
  (.write-text (Path (paths.cache "models" "acme.hy")) content)
  (assert (= (discovery.ids "acme") []))
  (assert (get (models.find "nobody-knows") "assumed")))

(defn test-a-cache-that-cannot-be-written [monkeypatch tmp-path]
  "When the cache cannot be written the list still counts in this process."
  (.write-text (/ tmp-path "file") "")
  (monkeypatch.setenv "XDG_CACHE_HOME" (str (/ tmp-path "file")))
  (with [server (double.Server None ["a-1"])]
    (refresh (provider server.url)))
  (assert (= (discovery.ids "acme") ["a-1"])))

(setv JSON (st.recursive (st.one-of (st.none) (st.booleans) (st.integers) (st.text :max-size 5))
                         (fn [c] (| (st.lists c :max-size 3)
                                    (st.dictionaries (st.sampled-from ["id" "data" "models" "context_length" "architecture" "top_provider"]) c
                                                     :max-size 4)))
                         :max-leaves 8))

(defn [(settings :max-examples 150 :deadline None) (given JSON)] test-any-json [value]
  "Whatever JSON a server answers, it is a list of models with ids, or none."
  (setv found (discovery.parse (json.dumps value)))
  (assert (or (is found None) (all (gfor m found (and (isinstance (get m "id") str) (get m "id")))))))

;; * Local servers

(defn test-local-servers [monkeypatch]
  "A local server counts if it answers as the one it should be; another program on the port, or a slow one, does not."
  (with [ours (double.Server None [] :pages {"/api/version" {"version" "0.9"}})
         other (double.Server None [] :pages {"/api/v0/models" {"hello" 1}})
         slow (double.Server None [] :pages {"/props" {"default_generation_settings" {}}} :delay 1)]
    (for [[name server] [#("OLLAMA" ours) #("LMSTUDIO" other) #("LLAMA_CPP" slow)]]
      (monkeypatch.setenv f"{name}_BASE_URL" server.url))
    (setv began (time.monotonic)
          found (asyncio.run (discovery.servers (.values (registry.providers)))))
    (assert (= (lfor f found (get f "name")) ["ollama"]))
    (assert (= (get (registry.choose) "name") "tutor"))))

(defn test-a-server-elsewhere-is-not-probed [monkeypatch]
  "Only this machine is looked at."
  (monkeypatch.setenv "OLLAMA_BASE_URL" "http://192.0.2.1:11434/v1")
  (assert (= (asyncio.run (discovery.servers [(registry.find "ollama")])) [])))
