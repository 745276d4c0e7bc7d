"What the terminal sends, sorted before any key is looked up: keys, and pastes whether they are marked or not. Pure.

`Sieve.feed` and `Sieve.idle` return pieces [KIND TEXT], KIND keys or paste. Everything is linear in the input and bounded: a paste that
is never closed is released, an escape sequence without an end is dropped, and a burst of characters with a carriage return
in it is one edit, never a submission."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  re)

(defparameter paste-limit 1000000 "How many characters one paste may have; the rest is dropped, and said to be.")
(defparameter burst-gap 0.008 "Seconds between two characters, below which no person typed them.")

(setv START "\x1b[200~" END "\x1b[201~"
      BULK 16                           ; so many characters at once are no typing either
      CSI-LIMIT 64
      OVERLONG (re.compile r"\x1b\[[0-9;:<=>?]{64,}[@-~]?")
      UNFINISHED (re.compile r"\x1b(\[[0-9;:<=>?]*)?\Z")
      PARAMETERS (re.compile r"[0-9;:<=>?]*")
      CSI-U (re.compile r"\x1b\[(\d{1,6})(?:;(\d{1,3}))?(?::\d)?u")
      OTHER-KEYS (re.compile r"\x1b\[27;(\d{1,3});(\d{1,6})~")
      LONE (re.compile "[\ud800-\udfff]"))

(defclass Sieve []
  "Sorts what arrives; times are given by the caller, in seconds."

  (defn __init__ [self]
    (setv self.paste None
          self.size 0
          self.dropped 0
          self.tail ""
          self.swallow False
          self.bulk []
          self.before 0
          self.burst 0
          self.last 0.0))

  (defn feed [self data now]
    "Take DATA, which arrived NOW; return what it certainly means."
    (setv out [] data (+ self.tail data) self.tail "")
    (while data
      (setv data (if (is self.paste None) (.plain self data now out) (.pasted self data out))))
    (setv self.last now)
    out)

  (defn idle [self]
    "Nothing came for a while: return what was held."
    (setv out [] tail self.tail)
    (when (is self.paste None)
      (setv self.tail "")
      (.flush-bulk self out)
      (when tail (.append out ["keys" tail])))
    (setv self.burst 0)
    out)

  (defn release [self]
    "Return a marked paste that is still open as it is; it counts as closed."
    (setv out [])
    (when (is-not self.paste None)
      (.append self.paste self.tail)
      (setv self.tail "")
      (.close-paste self out))
    out)

  ;; * Marked pastes

  (defn pasted [self data out]
    "Take DATA inside a marked paste; return what stands after its end."
    (setv at (.find data END))
    (when (>= at 0)
      (.keep self (cut data at))
      (.close-paste self out)
      (return (cut data (+ at (len END)) None)))
    (setv edge (next (gfor n (range (min (len data) (- (len END) 1)) 0 -1) :if (.endswith data (cut END n)) n) 0)
          self.tail (cut data (- (len data) edge) None))
    (.keep self (cut data (- (len data) edge)))
    "")

  (defn keep [self text]
    "Add TEXT to the open paste, as far as it may grow."
    (setv room (- paste-limit self.size) part (cut text (max 0 room)))
    (+= self.size (len part))
    (+= self.dropped (- (len text) (len part)))
    (when part (.append self.paste part)))

  (defn close-paste [self out]
    "Put the open paste into OUT."
    (.append out ["paste" (lines (.join "" self.paste))])
    (setv self.paste None self.size 0))

  ;; * Everything else

  (defn plain [self data now out]
    "Take DATA outside a marked paste up to the beginning of one; return what stands after that."
    (when self.swallow (setv data (.swallowed self data)))
    (setv at (.find data START))
    (when (>= at 0)
      (.segment self (cut data at) now out)
      (.flush-bulk self out)
      (setv self.paste [])
      (return (cut data (+ at (len START)) None)))
    (setv hit (.search UNFINISHED data))
    (when hit
      (if (> (- (len data) (.start hit)) CSI-LIMIT)
        (setv self.swallow True)
        (setv self.tail (get hit 0)))
      (setv data (cut data (.start hit))))
    (.segment self data now out)
    "")

  (defn swallowed [self data]
    "Return DATA without the rest of an escape sequence that was too long."
    (setv end (.end (.match PARAMETERS data)))
    (when (< end (len data)) (setv self.swallow False))
    (cut data (+ end 1) None))

  (defn segment [self text now out]
    "Sort TEXT, in which no paste begins, into OUT."
    (setv text (decoded text))
    (cond
      (not text) None
      (in "\x1b" text) (do (.flush-bulk self out) (.append out ["keys" (safe text)]) (setv self.burst 0))
      (.typed? self text now) (do
                                (.append out ["keys" text])
                                (setv self.burst (+ (.run self now) (len text)) self.last now))
      True (.add-bulk self text now out)))

  (defn run [self now]
    "Return how many characters of a burst came just before NOW."
    (if (< (- now self.last) burst-gap) self.burst 0))

  (defn typed? [self text now]
    "Can TEXT have been typed?"
    (cond
      self.bulk False
      (= text "\r") (= (.run self now) 0)
      True (and (not-in "\r" text) (< (len text) BULK))))

  (defn add-bulk [self text now out]
    "Hold TEXT, part of a burst, until nothing follows."
    (when (not self.bulk) (setv self.before (.run self now)))
    (.append self.bulk text)
    (when (> (sum (map len self.bulk)) paste-limit) (.flush-bulk self out)))

  (defn flush-bulk [self out]
    "Put what is held into OUT: as a paste, or as the few keys that it is."
    (when self.bulk
      (setv text (.join "" self.bulk) self.bulk [])
      (.append out (if (or (>= (len text) BULK) (and (in "\r" text) (>= (+ self.before (len text)) 3)))
                     ["paste" (lines text)]
                     ["keys" text])))))

(defn lines [text]
  "Return TEXT with line feeds for line ends and no lone surrogates."
  (.sub LONE "\ufffd" (.replace (.replace text "\r\n" "\n") "\r" "\n")))

(defn safe [text]
  "Return TEXT, keys with escape sequences among them, so that a carriage return within does not submit."
  (if (> (len text) 2) (.replace text "\r" "\n") text))

(defn decoded [text]
  "Return TEXT with modified keys, however the terminal writes them, as the keys that mean the same."
  (when (in "\x1b" text)
    (setv text (.sub OVERLONG "" text)
          text (.sub CSI-U (fn [m] (key (int (get m 1)) (int (or (get m 2) 1)))) text)
          text (.sub OTHER-KEYS (fn [m] (key (int (get m 2)) (int (get m 1)))) text)
          text (.replace text "\x1b\r" "\n")))
  (.sub LONE "\ufffd" text))

(defn key [code modifiers]
  "Return the character CODE pressed with MODIFIERS, as reported, in the spelling of plain terminals."
  (setv bits (- (max 1 modifiers) 1) alt (if (& bits 2) "\x1b" ""))
  (cond
    (= code 13) (if bits "\n" "\r")
    (and (= code 9) (& bits 1)) "\x1b[Z"
    (> code 0x10ffff) ""
    (and (& bits 4) (<= 64 code 127)) (+ alt (chr (& code 31)))
    (<= 57344 code 63743) ""
    True (+ alt (chr code))))
