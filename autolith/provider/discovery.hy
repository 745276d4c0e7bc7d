"Ask providers which models they serve, keep the last good list, and find the local servers that answer.

Nothing here is asked at a start. A list is kept in the cache root, models/NAME.hy: {\"version\" 1 \"time\" seconds \"url\" u \"models\"
[{\"id\" s \"window\" n \"output\" n \"images\" b \"tools\" b} ..]}, of which only the id is always there."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  json
  os
  time
  autolith.base [paths snapshot]
  autolith.provider [credentials errors])

(defparameter request-seconds 8 "How long asking one provider for its models may take.")
(defparameter probe-seconds 0.2 "How long a local server has to answer that it is there.")
(defparameter fresh-seconds 86400 "How old a list may be before `(models)` asks again.")
(defparameter longest-body (* 16 1024 1024) "How many bytes a list of models may have.")

(setv PATHS {"responses" "/models" "chat-completions" "/models" "anthropic-messages" "/v1/models?limit=1000"})

(defonce _lists {} "The lists read from the cache, by provider; None where there is none.")

;; * What is kept

(defn _file [name]
  "Return the path of the list of the provider NAME."
  (paths.cache "models" f"{name}.hy"))

(defn cached [name]
  "Return what is kept of the provider NAME, or None."
  (when (not-in name _lists)
    (setv found (snapshot.read (_file name) None :faults []))
    (setv (get _lists name)
          (when (and (isinstance found dict) (= (.get found "version") 1) (isinstance (.get found "models") list))
            found)))
  (get _lists name))

(defn ids [name]
  "Return the ids of the models that the provider NAME listed when it was asked last."
  (lfor m (get (or (cached name) {"models" []}) "models") (get m "id")))

(defn old? [name]
  "Is there no list of the provider NAME, or an old one?"
  (setv found (cached name))
  (or (is found None) (> (abs (- (time.time) (get found "time"))) fresh-seconds)))

(defn facts [id]
  "Return what the lists say about the model ID; {} if nothing."
  (try
    (setv names (lfor n (sorted (os.listdir (paths.cache "models"))) :if (.endswith n ".hy") (cut n -3)))
    (except [OSError] (setv names [])))
  (for [name (sorted (| (set names) (set _lists)))]
    (for [m (get (or (cached name) {"models" []}) "models")]
      (when (and (= (get m "id") id) (.get m "window"))
        (return m))))
  {})

(defn forget []
  "Read the lists anew when they are next needed."
  (.clear _lists))

;; * Asking

(defn endpoint [form]
  "Return the URL at which FORM lists its models, or None."
  (setv path (.get form "models_path")
        base (credentials.base-url form)
        path (if (is path None) (.get PATHS (get form "wire")) path))
  (when (and path base)
    (when (and (.endswith base "/v1") (.startswith path "/v1/"))
      (setv path (cut path 3 None)))
    (if (.startswith path #("http://" "https://")) path (+ base path))))

(defn askable? [form]
  "Can FORM be asked: has it a list of models, and what it needs for an answer?"
  (and (!= (get form "wire") "tutor")
       (bool (endpoint form))
       (bool (or (credentials.source form)
                 (not (.get form "key_variable"))
                 (.get (.get form "quirks" {}) "key_optional")))))

(defn headers [form]
  "Return the headers with which FORM is asked."
  (setv key (credentials.key form))
  {"accept" "application/json" "user-agent" "autolith"
   #** (cond
         (not key) {}
         (= (get form "wire") "anthropic-messages") {"x-api-key" key "anthropic-version" "2023-06-01"}
         True {"authorization" f"Bearer {key}"})
   #** (credentials.headers form)
   #** (.get form "headers" {})})

(defn :async fetch [form]
  "Return the models that FORM's server lists now; what goes wrong is a ProviderError."
  (import asyncio httpx)
  (setv url (endpoint form)
        request {"provider" form "model" ""})
  (when (is url None)
    (raise (errors.unusable request "it lists no models; name one, as PROVIDER/MODEL")))
  (try
    (with [:async _ (asyncio.timeout request-seconds)]
      (setv [status heads text] (await (get-text url (headers form)))))
    (except [TimeoutError]
      (raise (errors.ProviderError "network" f"{(get form "name")}: {url} did not answer within {request-seconds} seconds"
                                   :provider (get form "name"))))
    (except [e [httpx.InvalidURL httpx.HTTPError UnicodeError]]
      (raise (errors.ProviderError "network" (+ f"{(get form "name")} cannot be reached at {url}: "
                                                (or (str e) (. (type e) __name__)))
                                   :provider (get form "name")) :from e)))
  (when (!= status 200)
    (raise (errors.from-response request status heads text url)))
  (setv found (parse text))
  (when (is found None)
    (setv words f"{(get form "name")}: {url} did not answer with a list of models.{(errors.where-url request)}")
    (raise (errors.ProviderError "protocol" words :provider (get form "name"))))
  found)

(defn :async get-text [url headers [seconds request-seconds]]
  "Return #(status headers text) of what URL answers to HEADERS within SECONDS a step."
  (import httpx autolith.provider [oauth])
  (with [:async client (httpx.AsyncClient :trust-env (not (oauth.local? url)) :timeout seconds)
         :async response (.stream client "GET" url :headers headers)]
    (setv data b"")
    (for [:async part (.aiter-bytes response)]
      (+= data part)
      (when (> (len data) longest-body)
        (break)))
    #(response.status-code response.headers (.decode data "utf-8" "replace"))))

(defn parse [text]
  "Return the models in TEXT, the body of an answer, in the order of their ids; or None if it lists none."
  (try
    (setv value (json.loads text))
    (except [[ValueError RecursionError]] (return None)))
  (setv rows (if (isinstance value dict) (or (.get value "data") (.get value "models")) value))
  (when (and (is rows None) (isinstance value dict) (in "data" value))
    (setv rows []))                                      ; ollama without a model: {"data": null}
  (when (not (isinstance rows list))
    (return None))
  (setv found {})
  (for [row rows]
    (setv model (one row))
    (when model
      (setv (get found (get model "id")) model)))
  (lfor id (sorted found) (get found id)))

(setv WINDOWS ["context_length" "context_window" "max_context_length" "max_input_tokens" "max_model_len" "loaded_context_length"]
      OUTPUTS ["max_output_tokens" "max_completion_tokens" "max_tokens"])

(defn one [row]
  "Return the model that ROW, of some server's list, describes, or None."
  (setv row (if (isinstance row str) {"id" row} row)
        id (when (isinstance row dict) (or (.get row "id") (.get row "name"))))
  (when (or (not (isinstance id str)) (not (.strip id)) (> (len id) 300))
    (return None))
  (setv inner (lfor part [row (.get row "top_provider") (.get row "meta")] :if (isinstance part dict) part)
        seen (.get (or (as-map (.get row "architecture")) row) "input_modalities")
        takes (.get row "supported_parameters")
        window (number inner [#* WINDOWS "n_ctx_train"])
        output (number inner OUTPUTS))
  {"id" (.strip id)
   #** (if window {"window" window} {})
   #** (if output {"output" (min output (or window output))} {})
   #** (cond
         (isinstance seen list) {"images" (in "image" seen)}
         (isinstance (.get row "supports_image_in") bool) {"images" (get row "supports_image_in")}
         (isinstance (.get row "supports_image_input") bool) {"images" (get row "supports_image_input")}
         True {})
   #** (cond
         (isinstance takes list) {"tools" (in "tools" takes)}
         (isinstance (.get row "supports_tools") bool) {"tools" (get row "supports_tools")}
         True {})})

(defn as-map [value]
  "Return VALUE if it is a map, else None."
  (when (isinstance value dict) value))

(defn number [maps names]
  "Return the first sensible count of tokens that MAPS have under one of NAMES, or None."
  (next (gfor m maps name names
              :setv value (.get m name)
              :if (and (isinstance value int) (not (isinstance value bool)) (< 0 value 1000000000))
              value)
        None))

(defn :async refresh [forms]
  "Ask FORMS, all at once, for their models and keep the answers; return sentences on those that did not answer well."
  (import asyncio)
  (defn :async ask [form]
    (try
      (setv found (await (fetch form)))
      (when (not found)
        (return f"{(get form "name")} lists no models"))
      (keep (get form "name") (endpoint form) found)
      None
      (except [e Exception]
        (setv kept (cached (get form "name")))
        (+ (str e) (if kept f" The list of {(day (get kept "time"))} is shown." "")))))
  (lfor note (await (asyncio.gather #* (lfor f forms (ask f)))) :if note note))

(defn day [seconds]
  "Return the date of SECONDS since 1970."
  (time.strftime "%Y-%m-%d" (time.localtime seconds)))

(defn keep [name url models]
  "Keep MODELS as the list of the provider NAME at URL."
  (setv whole {"version" 1 "time" (int (time.time)) "url" (credentials.redact url) "models" models}
        (get _lists name) whole)
  (try
    (paths.ensure-folder (paths.cache "models"))
    (snapshot.write (_file name) whole)
    (except [Exception] None))                           ; a cache that cannot be written is no failure
  whole)

;; * Servers on this machine

(defn :async answers? [form]
  "Does the local server of FORM answer, and as the one that it should be?"
  (import asyncio httpx urllib.parse)
  (setv base (or (credentials.base-url form) "")
        probe (.get form "probe"))
  (try
    (setv parts (urllib.parse.urlsplit base))
    (when (not (and probe (in parts.hostname ["localhost" "127.0.0.1" "::1"])))
      (return False))
    (with [:async _ (asyncio.timeout probe-seconds)]
      (setv [status _ text] (await (get-text f"{parts.scheme}://{parts.netloc}{(get probe "path")}" {} probe-seconds))))
    (setv value (json.loads text))
    (and (= status 200) (isinstance value dict) (in (get probe "key") value))
    (except [[httpx.HTTPError httpx.InvalidURL OSError ValueError TimeoutError RecursionError]] False)))

(defn :async servers [forms]
  "Return those of FORMS that are local servers and answer; all are asked at once, for a fifth of a second."
  (import asyncio)
  (import httpx)                                         ; outside of the time that they have
  (setv local (lfor f forms :if (.get f "local") f)
        found (await (asyncio.gather #* (map answers? local))))
  (lfor [form yes] (zip local found) :if yes form))
