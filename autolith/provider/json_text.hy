"Write and read the JSON of the wires: always the same bytes for the same value, never anything that is not JSON.

Lone surrogates (halves of characters, undecodable bytes of file names) become U+FFFD, a pair of halves the character they
stand for; infinities and NaN become null. Arguments of calls are read into {\"arguments\" map}, or {\"arguments_text\" text}
where the text is no JSON object."

(import
  json
  math
  re)

(setv _LONE (re.compile "[\ud800-\udfff]")
      _NO-FINITE #(math.inf (- math.inf)))


(defn repair [text]
  "Return TEXT without lone surrogates."
  (if (and (not (.isascii text)) (.search _LONE text))
    (.decode (.encode text "utf-16-le" "surrogatepass") "utf-16-le" "replace")
    text))

(defn clean [value]
  "Return VALUE, made of JSON's types, with every string repaired and no number that JSON lacks."
  (cond
    (isinstance value str) (repair value)
    (isinstance value dict) (dfor [k v] (.items value) (repair (str k)) (clean v))
    (isinstance value #(list tuple)) (lfor v value (clean v))
    (isinstance value float) (if (or (in value _NO-FINITE) (!= value value)) None value)
    True value))

(defn dumps [value]
  "Return VALUE as compact JSON text, keys in the order of the maps."
  (try
    (setv text (json.dumps value :ensure-ascii False :allow-nan False :separators #("," ":")))
    (except [ValueError]
      (return (dumps (clean value)))))
  (repair text))

(defn body [value]
  "Return VALUE as the bytes of a request's body."
  (.encode (dumps value) "utf-8"))

(defn _refuse [name]
  "Refuse the constant NAME, which Python reads and JSON lacks."
  (raise (ValueError f"{name} is not JSON")))

(setv _DECODER (json.JSONDecoder :parse-constant _refuse))

(defn loads [text]
  "Return the value of the JSON TEXT; ValueError if it is none."
  (try
    (.decode _DECODER text)
    (except [RecursionError]
      (raise (ValueError "nested too deeply")))))

(defn arguments [text]
  "Return the fields of a call whose arguments came as TEXT: none at all, or nothing but blanks, means {}."
  (setv text (or text ""))
  (when (not (.strip text))
    (return {"arguments" {}}))
  (try
    (setv value (loads text))
    (except [ValueError]
      (return {"arguments_text" (repair text)})))
  (if (isinstance value dict)
    {"arguments" (clean value)}
    {"arguments_text" (repair text)}))

(defn whole? [text]
  "Tell whether TEXT is a whole JSON object, an empty one written out included."
  (try
    (isinstance (loads text) dict)
    (except [ValueError] False)))


(defclass Pieces []
  "Gather the pieces of a streamed text; half a character waits for its other half."

  (defn __init__ [self]
    (setv self.parts []
          self.half ""))

  (defn add [self piece]
    "Keep PIECE and return what of it may be shown now."
    (when self.half
      (setv piece (+ self.half piece)
            self.half ""))
    (when (and piece (<= "\ud800" (get piece -1) "\udbff"))
      (setv self.half (get piece -1)
            piece (cut piece -1)))
    (setv piece (repair piece))
    (.append self.parts piece)
    piece)

  (defn text [self]
    "Return the text so far."
    (+ (.join "" self.parts) (repair self.half))))
