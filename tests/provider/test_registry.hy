"Providers, keys and models: which is taken, what users add, what leaves the environment, what is assumed."

(import
  os
  pathlib
  subprocess
  sys
  pytest
  autolith.base [paths]
  autolith.provider [credentials errors models registry])

(defn [(pytest.fixture :autouse True)] clean []
  "Begin and end without providers and keys of a user's."
  (setv saved (registry.snapshot))
  (registry.restore {})
  (credentials.forget)
  (yield)
  (registry.restore saved)
  (credentials.forget))

(defn test-builtin []
  "The built-in providers are there, each complete."
  (assert (<= #{"openai" "openai-chat" "anthropic" "ollama" "lmstudio" "llama-cpp" "tutor"} (set (registry.names))))
  (for [form (.values (registry.providers))]
    (assert (<= (set registry.EMPTY) (set form)))
    (assert (or (= (:wire form) "tutor") (:base-url form)))))

(defn test-choice [monkeypatch]
  "Without credentials the tutor is taken; with a key the first that has it; a name given wins; local servers wait to be asked for."
  (assert (= (:name (registry.choose)) "tutor"))
  (monkeypatch.setenv "ANTHROPIC_API_KEY" "anthropic-secret")
  (assert (= (:name (registry.choose)) "anthropic"))
  (monkeypatch.setenv "OPENAI_API_KEY" "openai-secret")
  (assert (= (:name (registry.choose)) "openai"))
  (monkeypatch.setenv "OLLAMA_BASE_URL" "http://127.0.0.1:9/v1")
  (assert (= (:name (registry.choose)) "openai"))
  (assert (= (:name (registry.choose "ollama")) "ollama")))

(defn test-blank-key-is-no-key [monkeypatch]
  "A key that is empty or blank does not count, one with a newline at its end does, without it."
  (monkeypatch.setenv "OPENAI_API_KEY" "  ")
  (assert (= (:name (registry.choose)) "tutor"))
  (monkeypatch.setenv "OPENAI_API_KEY" "openai-secret\n")
  (assert (= (credentials.key (registry.find "openai")) "openai-secret")))

(defn test-defprovider []
  "A user's provider is defined by one form, extends another, is preferred when it has its key, and can be put back."
  (setv before (registry.snapshot))
  (hy.eval (hy.read "(do (require autolith.provider.macros [defprovider])
                         (defprovider acme {:wire :responses :base-url \"https://acme.invalid/v1\" :key-variable \"ACME_KEY\"
                                            :models [\"a-1\"] :quirks {:cache-key True}}))")
           :module "tests.provider")
  (setv form (registry.find "acme"))
  (assert (= #((:wire form) (:default-model form) (:quirks form)) #("responses" "a-1" {"cache_key" True})))
  (assert (= (:name (registry.choose)) "tutor"))
  (credentials.remember "ACME_KEY" "acme-secret")
  (assert (= (:name (registry.choose)) "acme"))
  (setv mine (registry.define "mine" {"extends" "acme" "headers" {"x-team" 7} "quirks" {"reasoning_summary" "auto"}}))
  (assert (= #((:base-url mine) (:headers mine) (:quirks mine))
             #("https://acme.invalid/v1" {"x-team" "7"} {"cache_key" True "reasoning_summary" "auto"})))
  (registry.restore before)
  (assert (not-in "acme" (registry.names))))

(defn [(pytest.mark.parametrize "form" [{"wire" "smoke-signals" "base_url" "http://x"} {"wire" "responses"} {"base_url" "localhost:1"}
                                        {"base_url" "http://x" "colour" "red"} {"extends" "nobody"}])] test-bad-forms [form]
  "A form that cannot work is refused with a reason."
  (with [_ (pytest.raises registry.BadProvider)]
    (registry.define "bad" form)))

(defn [(pytest.mark.parametrize "form,word" [#({"base_ulr" "http://x"} "base-url")
                                             #({"base_url" "http://x" "quirks" {"idle_second" 3}} "idle-seconds")
                                             #({"base_url" "http://x" "signin" {"flow" "pkce" "client_di" "x"}} "client-id")
                                             #({"base_url" "http://x" "wire" "response"} "responses")
                                             #({"base_url" "http://x" "models" [{"id" "m" "windwo" 5}]} "window")])] test-misspelt [form word]
  "A misspelt field is named together with the one that was meant."
  (with [e (pytest.raises registry.BadProvider)]
    (registry.define "bad" form))
  (assert (in word (str e.value))))

(defn [(pytest.mark.parametrize "form" [{"quirks" []} {"headers" "x"} {"models" "m"} {"models" [7]} {"models" [{"window" 5}]} {"key_variable" 7}
                                        {"models" [{"id" "m" "window" "big"}]} {"signin" {"flow" "magic"}} {"base_url" 5}])] test-wrong-kinds [form]
  "A field with another kind of value is refused in a sentence."
  (with [_ (pytest.raises registry.BadProvider)]
    (registry.define "bad" {"base_url" "http://x" #** form})))

(defn test-models-of-a-form [monkeypatch]
  "A provider form may say what is known of its models."
  (monkeypatch.setattr models "_table" (dict (models.table)))
  (setv form (registry.define "acme" {"base_url" "http://x" "models" ["a" {"id" "acme-b" "window" 9000 "efforts" ["low"] "images" False}]}))
  (assert (= (get form "models") ["a" "acme-b"]))
  (assert (= (lfor k ["window" "efforts" "images" "tools" "assumed"] (get (models.find "acme-b") k)) [9000 ["low"] False True None]))
  (assert (<= (get (models.find "acme-b") "output") 9000)))

(defn test-unknown-name []
  "An unknown provider is refused and the known ones are named."
  (with [e (pytest.raises registry.BadProvider)]
    (registry.choose "nobody"))
  (assert (in "anthropic" (str e.value))))

(defn test-providers-file []
  "The file of providers is data, read again when it changes: each good form counts, each bad one is reported with the file."
  (setv path (pathlib.Path (paths.config "providers.hy")))
  (.mkdir path.parent :parents True)
  (assert (= (registry.faults) []))
  (.write-text path (.join "\n" ["{:name \"one\" :base-url \"http://one.invalid/v1\" :models [\"m\"]}"
                                "7"
                                "{:name \"two\" :extends \"zero\"}"
                                "{:name \"three\" :extends \"one\"}"]))
  (setv faults (registry.faults))
  (assert (= (len faults) 2))
  (assert (all (gfor f faults (in "providers.hy" f))))
  (assert (= (:base-url (registry.find "three")) "http://one.invalid/v1"))
  (assert (in "extends" (str (get faults 1))))
  (.write-text path "{:name (exit)}")
  (assert (registry.faults))
  (assert (not-in "one" (registry.names)))
  (.write-text path "{:name \"torn")
  (assert (registry.faults))
  (with [e (pytest.raises registry.BadProvider)]
    (registry.find "one"))
  (assert (in "providers.hy" (str e.value)))
  (.unlink path)
  (assert (= (registry.faults) [])))


;; * Credentials

(defn test-keys-leave-the-environment [monkeypatch]
  "After `take` no child sees a key, and the key is still known here."
  (monkeypatch.setenv "OPENAI_API_KEY" "openai-secret")
  (credentials.take)
  (setv seen (subprocess.run [sys.executable "-c" "import os; print(os.environ.get('OPENAI_API_KEY'))"] :capture-output True :text True))
  (assert (= (.strip seen.stdout) "None"))
  (assert (= (credentials.key (registry.find "openai")) "openai-secret")))

(defn test-redaction []
  "Every known secret is redacted wherever it stands, the longer first, also when quoted; short ones would garble words."
  (credentials.remember "A" "secret-1")
  (credentials.remember "B" "secret-1-and/more")
  (credentials.remember "C" "a")
  (credentials.remember "D" "lm-studio")
  (setv text (credentials.redact "x secret-1-and/more y secret-1 z secret-1-and%2Fmore lm-studio a"))
  (assert (not-in "secret" text))
  (assert (.endswith text " lm-studio a"))
  (credentials.forget)
  (assert (= (credentials.redact "secret-1") "secret-1")))


;; * Models

(defn test-models-table []
  "Each model of the table is complete, and the built-in providers' models are in it."
  (for [model (.values (models.table))]
    (assert (= (- (set model) #{"price"}) #{"id" "window" "output" "efforts" "thinking" "images" "tools"}))
    (assert (models.price? (.get model "price")))
    (assert (< 0 (:output model) (:window model))))
  (for [form registry.builtin id (.get form "models" [])]
    (assert (in id (models.table)))))

(defn [(pytest.mark.parametrize "id,known" [#("gpt-5-2025-08-07" True) #("openai/gpt-5" True) #("claude-haiku-4-5-20251001" True)
                                            #("claude-9" False) #("llama3.3:70b" False) #("gpt-4-turbo" False) #("" False)])]
  test-any-model-works [id known]
  "A dated or prefixed id counts as the model it varies; an unlisted one works and says what is assumed."
  (setv model (models.find id))
  (assert (= (is (:assumed model) None) known))
  (assert (= (:id model) id))
  (assert (< 0 (:output model) (:window model)))
  (assert (or known (in f"{(:window model) :,}" (:assumed model)))))

(defn test-efforts []
  "An effort that a model lacks becomes the nearest that it has."
  (assert (= (models.effort "gpt-5" "max") "high"))
  (assert (= (models.effort "gpt-5" "none") "minimal"))
  (assert (is (models.effort "gpt-4o" "high") None))
  (assert (is (models.effort "gpt-5" None) None)))

(defn [(pytest.mark.parametrize "price" [{} {"input" 1} {"input" 1 "output" "2"} {"input" 1 "output" -2} 7
                                        {"input" 1 "output" 2 "cache" 3}])]
  test-strange-prices [price monkeypatch]
  "A price that could not be counted with is refused, and nothing of the model is entered."
  (monkeypatch.setattr models "_table" (dict (models.table)))
  (with [_ (pytest.raises ValueError)]
    (models.define {"id" "acme-2" "price" price}))
  (assert (not-in "acme-2" (models.table))))

(defn test-efforts-of-a-provider []
  "A provider may take fewer efforts than the model knows, and call them otherwise."
  (setv fewer {"quirks" {"efforts" ["low" "high"]}} words {"quirks" {"effort_words" {"xhigh" "extra"}}})
  (assert (= (models.effort "gpt-5.5" "xhigh" fewer) "high"))
  (assert (= (models.effort "gpt-5.5" "ultra") "xhigh"))
  (assert (= (models.effort "gpt-5.6-sol" "ultra") "max"))
  (assert (= (models.effort "gpt-5.5" "xhigh" words) "extra"))
  (assert (is (models.effort "gpt-4o" "high" fewer) None)))

(defn test-defined-model [monkeypatch]
  "A user can add a model."
  (monkeypatch.setattr models "_table" (dict (models.table)))
  (models.define {"id" "acme-1" "window" 5000})
  (assert (= #((:window (models.find "acme-1")) (:assumed (models.find "acme-1"))) #(5000 None))))


;; * Start

(defn test-start-imports-nothing-heavy []
  "What a start needs of this room imports neither HTTP nor the event loop."
  (setv script (+ "import hy, sys\n"
                  "import autolith.provider.registry, autolith.provider.credentials, autolith.provider.errors, autolith.provider.client\n"
                  "import autolith.provider.models\n"
                  "print([m for m in ('httpx', 'httpx_sse', 'asyncio', 'hyrule', 'ssl') if m in sys.modules])")
        seen (subprocess.run [sys.executable "-c" script] :capture-output True :text True))
  (assert (= (.strip seen.stdout) "[]")))
