"How a value looks at the prompt: as `hy.repr`, bounded, whatever its own printing does."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import hy)

(defparameter shown-characters 100000
  "How many characters of one value's text are shown.")

(defparameter shown-members 5000
  "How many members of one collection are shown.")

(defn text-of [value]
  "Return VALUE as the prompt shows it; None when it shows nothing."
  (cond
    (is value None) None
    (hasattr (type value) "__autolith_text__") (_guarded value _own-text)
    True (_guarded value _repr)))

(defn _own-text [value]
  "Return the text that VALUE defines for the prompt."
  (setv text (getattr value "__autolith_text__"))
  (str (if (callable text) (text) text)))

(defn _repr [value]
  "Return VALUE as Hy writes it; of a big collection the beginning."
  (setv whole (_size value))
  (if (and whole (> whole (_members value)))
    (+ (hy.repr (_beginning value)) f"  ; the first {(_members value)} of {whole}")
    (hy.repr value)))

(defn _members [value]
  "Return how many members of VALUE are shown."
  (if (isinstance value #(str bytes bytearray)) shown-characters shown-members))

(defn _size [value]
  "Return the number of members of VALUE if it is of a plain built-in type."
  (when (in (type value) #(list tuple dict set frozenset str bytes bytearray range))
    (len value)))

(defn _beginning [value]
  "Return the first members of VALUE, in a collection of its type."
  (setv n (_members value))
  (cond
    (isinstance value dict) (dfor [i k] (zip (range n) value) k (get value k))
    (isinstance value #(set frozenset)) ((type value) (gfor [i x] (zip (range n) value) x))
    True (cut value n)))

(defn _guarded [value write]
  "Return the bounded text that WRITE gives of VALUE, or a stand-in that says why there is none."
  (try
    (_bounded (write value))
    (except [KeyboardInterrupt] (_stand-in value "its printing was interrupted"))
    (except [e BaseException]
      (_stand-in value f"its printing raised {(. (type e) __name__)}: {(safe-str e)}"))))

(defn _bounded [text]
  "Return TEXT, or its beginning with a note of what is left out."
  (setv limit shown-characters)
  (if (<= (len text) limit)
    text
    (+ (cut text limit) f"\n... ({(- (len text) limit)} more characters)")))

(defn _stand-in [value reason]
  "Return a text that stands for VALUE, which cannot be shown for REASON."
  f"<{(. (type value) __name__)} object at {(hex (id value))}; {reason}>")

(defn safe-str [x]
  "Return X as text, also when its `__str__` raises."
  (try
    (setv text (str x))
    (if (> (len text) shown-characters) (_bounded text) text)
    (except [KeyboardInterrupt] "<text interrupted>")
    (except [e BaseException]
      f"<{(. (type x) __name__)}; its text raised {(. (type e) __name__)}>")))
