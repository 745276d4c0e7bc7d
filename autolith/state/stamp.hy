"What a durable record gets before it is written: a time, and only such values as can be written."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  datetime
  hy.models [Keyword Object]
  autolith.base [forms text])

(defonce secrets {"redact" None} "Under redact: the function of a text that takes secrets out, once there are any.")

(setv DEEPEST 150)

(defn now []
  "Return the time, UTC, ISO 8601 with milliseconds."
  (setv text (.isoformat (datetime.datetime.now datetime.timezone.utc) :timespec "milliseconds"))
  (.replace text "+00:00" "Z"))

(defn scrub [value [depth 0]]
  "Return VALUE, DEPTH brackets deep, as a log can hold it: lone surrogates in strings replaced, Hy's models made
plain, and what is no data or too deep given by its printed form."
  (setv inner (+ depth 1))
  (cond
    (is (type value) str) (_clean value)
    (or (is value None) (in (type value) #(int float bool bytes Keyword))) value
    (> depth DEEPEST) (text.repair (repr value))
    (is (type value) dict) (_scrub-map value inner)
    (is (type value) list) (lfor v value (scrub v inner))
    (is (type value) tuple) (tuple (gfor v value (scrub v inner)))
    (is (type value) set) (sfor v value (scrub v inner))
    (isinstance value Object) (_scrub-model value inner)
    (isinstance value str) (text.repair (str value))
    True (text.repair (repr value))))

(defn _scrub-map [value depth]
  "Return the map VALUE scrubbed. A thought or a provider's own item that had to be changed cannot be sent back: it loses its raw form."
  (setv result (dfor [k v] (.items value) (scrub k depth) (scrub v depth)))
  (when (and (in (.get result "type") #("reasoning" "hosted")) (!= (.get result "raw") (.get value "raw")))
    (.pop result "raw"))
  result)

(defn _clean [value]
  "Return the text VALUE without lone surrogates and without secrets."
  (setv redact (get secrets "redact"))
  (text.repair (if redact (redact value) value)))

(defn _scrub-model [model depth]
  "Return Hy's MODEL as plain data, or as text where that is impossible."
  (setv value (forms.plain model))
  (if (isinstance value Object)
    (text.repair (hy.repr model))
    (scrub value depth)))
