"Which provider and model a name means, and what is said of them.

A choice is written as MODEL, as PROVIDER, or as PROVIDER/MODEL."

(import
  autolith.base [conditions]
  autolith.provider [credentials models registry])

(defn resolve [name [current None]]
  "Return #(provider-form model) for NAME; a model that nobody lists goes to CURRENT, the provider in use."
  (when (not (isinstance name str))
    (raise (registry.BadProvider f"a model is named by a text, as (model \"gpt-5.4\"); got {(hy.repr name)}")))
  (setv table (registry.providers) [head slash rest] (.partition name "/"))
  (cond
    (and slash (in head table)) #((get table head) (or rest (default-model (get table head))))
    (in name table) #((get table name) (default-model (get table name)))
    True #((provider-of name current table) name)))

(defn provider-of [model current table]
  "The provider for MODEL: CURRENT if it lists it, else a ready one that does, else one that does, else CURRENT."
  (setv listing (lfor form (.values table) :if (in model (get form "models")) form))
  (cond
    (in current listing) current
    listing (next (gfor form listing :if (registry.ready? form) form) (get listing 0))
    (or (is current None) (= (get current "wire") "tutor")) (get table (_vendor model table))
    True current))

(defn _vendor [model table]
  "The provider whose models are called like MODEL."
  (cond
    (.startswith model "claude") "anthropic"
    True "openai"))

(defn default-model [form]
  "Return the model that FORM, a provider, is used with when none is named; raise where it has none."
  (setv model (or (get form "default_model") (get (or (cut (get form "models") 1) [None]) 0)))
  (when (is model None)
    (raise (registry.BadProvider f"{(get form "name")} lists no model; name one, as {(get form "name")}/MODEL")))
  model)

(defn start [provider model]
  "Return #(provider-form model) for the names PROVIDER and MODEL, each None where it was not chosen."
  (cond
    (and provider model) (do (setv form (registry.find provider)) #(form (.removeprefix model f"{provider}/")))
    provider (do (setv form (registry.find provider)) #(form (default-model form)))
    model (resolve model (registry.choose))
    True (do (setv form (registry.choose)) #(form (default-model form)))))

(defn missing [form]
  "Return what the provider FORM lacks, as words, or \"ready\"."
  (cond
    (registry.ready? form) "ready"
    (.get form "local") f"local server, used when named: (model \"{(get form "name")}/MODEL\")"
    True (credentials.way-in form)))

(defn odd-effort [model effort]
  "Return a sentence about EFFORT, a word that MODEL is not known to take and that is sent as it is; or the empty text."
  (setv known (get (models.find model) "efforts"))
  (if (and effort known (not-in effort known) (= (models.effort model effort) effort))
    f"{model} is not known to take the effort {effort}, which is sent as it is; known are {(.join ", " known)}."
    ""))

(defn unready [form]
  "Return a sentence about what the provider FORM still needs before it can answer, or the empty text."
  (if (or (registry.ready? form) (.get form "local"))
    ""
    f"It has no key yet: set {(get form "key_variable")} before the start; (model \"tutor\") goes back."))

(defn about [model]
  "Return what is known or assumed of MODEL in a few words."
  (setv known (models.find model))
  (.format "{}k window{}" (// (get known "window") 1000) (if (get known "assumed") ", assumed" "")))

(defn assumption [model]
  "Return the sentence about what is assumed of MODEL, or the empty text."
  (setv head (get (.partition model "/") 0))
  (cond
    (= model "tutor") ""
    (not (get (models.find model) "assumed")) ""
    (!= head model) (+ f"No provider is called {head}, so this is a model's name. " (get (models.find model) "assumed"))
    True (get (models.find model) "assumed")))

(defn rows []
  "Return the providers with their models, as #(form model) pairs; model None where a provider lists none."
  (lfor form (.values (registry.providers))
        model (or (get form "models") [None])
        #(form model)))
