"The recorded streams, and ways to read them: whole, byte by byte, cut.

A recording is {\"name\" \"wire\" \"bytes\" \"expected\"}; `expected` is the map of its NAME.expected.json."

(import
  codecs
  copy
  json
  pathlib
  httpx-sse
  autolith.provider [anthropic chat errors responses])

(setv FOLDER (/ (. (pathlib.Path __file__) parent) "streams")
      MODULES {"responses" responses "chat" chat "anthropic" anthropic}
      WIRES {"responses" "responses" "chat" "chat-completions" "anthropic" "anthropic-messages"})

(defn recording [folder stem]
  "Return the recording STEM of FOLDER."
  {"name" f"{folder}/{stem}" "wire" folder
   "bytes" (.read-bytes (/ FOLDER folder f"{stem}.sse"))
   "expected" (json.loads (.read-text (/ FOLDER folder f"{stem}.expected.json") :encoding "utf-8"))})

(defn names [[folder "*"]]
  "Return the names, FOLDER/STEM, of the recordings."
  (sorted (gfor p (.glob FOLDER f"{folder}/*.sse") f"{p.parent.name}/{p.stem}")))

(defn named [name]
  "Return the recording NAME, as FOLDER/STEM."
  (recording #* (.split name "/")))

(defn request [wire * [name "acme"] [model "m-1"] [items #()] #** more]
  "Return a request for WIRE (a folder's name) with ITEMS and the fields MORE."
  {"model" model "effort" None "system" "Be brief." "items" (list items) "context" None "tools" [] "cache_key" "key" "max_output" None
   "provider" {"name" name "wire" (get WIRES wire) "base_url" "http://127.0.0.1:9" "key_variable" None "base_url_variable" None
               "headers" {} "quirks" {} "models" [] "default_model" model}
   #** more})

(defclass Texts []
  "A response whose body is DATA, given out SIZE bytes at a time."
  (defn __init__ [self data [size None]]
    (setv self.data data
          self.size (or size (max 1 (len data)))
          self.headers {"content-type" "text/event-stream"}))
  (defn iter-text [self]
    "Yield the text of the body in pieces, and end the last event as the client does."
    (setv decoder ((codecs.getincrementaldecoder "utf-8") "replace"))
    (for [i (range 0 (len self.data) self.size)]
      (when (setx text (.decode decoder (cut self.data i (+ i self.size))))
        (yield text)))
    (yield "\n\n")))

(defn sse [data [size None]]
  "Return the server-sent events in the bytes DATA, read SIZE bytes at a time."
  (list (.iter-sse (httpx-sse.EventSource (Texts data size)))))

(defn decode [wire data [size None]]
  "Return #(events error) of the stream DATA of WIRE, read SIZE bytes at a time."
  (setv decoder ((. (get MODULES wire) Decoder) (request wire))
        events [])
  (try
    (for [event (sse data size)]
      (.extend events (decoder.feed event.event event.data)))
    (.extend events (decoder.finish))
    (except [e errors.ProviderError]
      (return #(events e))))
  #(events None))

(defn prefixes [wire data]
  "Yield #(count events error) for the stream DATA of WIRE as if it had ended after COUNT of its events, for each count."
  (setv decoder ((. (get MODULES wire) Decoder) (request wire))
        events [])
  (for [[count event] (enumerate (sse data))]
    (setv at-end (copy.deepcopy decoder))
    (try
      (yield #(count (+ events (at-end.finish)) None))
      (except [e errors.ProviderError]
        (yield #(count events e))))
    (try
      (.extend events (decoder.feed event.event event.data))
      (except [e errors.ProviderError]
        (return)))))

(defn of [kind events]
  "Return those of EVENTS that are of KIND."
  (lfor e events :if (= (:type e) kind) e))

(defn items-of [events]
  "Return the neutral items in EVENTS."
  (lfor e (of "item" events) (:item e)))

(defn streamed [kind events]
  "Return the text of the deltas of KIND in EVENTS."
  (.join "" (gfor e (of kind events) (:text e))))
