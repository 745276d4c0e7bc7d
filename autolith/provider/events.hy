"What the decoders of all wires share: reading the data of an event, and telling calls apart.

A decoder is fed the name and the data of server-sent events and returns neutral events: `text-delta`, `reasoning-delta`,
`refusal-delta`, `call-delta`, `item` and, last, `done` (docs/architecture.md). A call whose id is missing or was already used in
the response gets one of its own."

(import
  autolith.provider [errors items json-text])

(defn silent? [name data]
  "Tell whether the event NAME says nothing: it has no DATA, and is no error."
  (not (or data (= name "error"))))

(defn parse [request name data]
  "Return the value of the JSON DATA of the event NAME, which answers REQUEST. An event of name error that is no JSON may still
say what failed in its last line."
  (try
    (json-text.loads data)
    (except [e ValueError]
      (raise (if (= name "error")
               (errors.from-event request (last-value data))
               (errors.garbled request f"an event is not JSON ({e})"))))))

(defn last-value [data]
  "Return the value of the last line of DATA, or DATA itself where that is no JSON."
  (try
    (json-text.loads (get (.splitlines data) -1))
    (except [[ValueError IndexError]]
      (or data "an error event without content"))))

(defn distinct [neutral]
  "Return the items NEUTRAL with a fresh id for each call whose id is missing or was already used among them."
  (setv seen #{})
  (for [[i item] (enumerate neutral) :if (items.call? item)]
    (when (or (not (get item "call_id")) (in (get item "call_id") seen))
      (setv (get item "call_id") f"{(or (get item "call_id") "call")}-{i}"))
    (.add seen (get item "call_id")))
  neutral)
