"Make text fit to show, send and store: clean, bounded, and with numbers in words.

`visible` shows control characters as symbols, so that nothing but our own renderer moves the terminal; `repair` makes any
string encodable; `bounded` keeps head and tail and says what lies between; `duration`, `size` and `count` are the words."

(import re)

(setv LIMIT 8000)                                        ; characters of text for a model

(setv _PAIR (re.compile "[\ud800-\udbff][\udc00-\udfff]")
      _LONE (re.compile "[\ud800-\udfff]")
      ;; C0 but tab and newline, DEL, C1, what turns the writing direction, line and paragraph separators
      _HIDDEN (re.compile "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"))


;; * Clean

(defn repair [text]
  "Return TEXT with its surrogate halves joined, and lone ones replaced by U+FFFD, so that UTF-8 can hold it."
  (if (or (.isascii text) (not (.search _LONE text)))
    text
    (.sub _LONE "\ufffd" (.sub _PAIR _joined text))))

(defn _joined [m]
  "Return the character that the two surrogates of the match M make."
  (.decode (.encode (.group m) "utf-16" "surrogatepass") "utf-16"))

(defn _symbol [m]
  "Return how the hidden character of the match M is shown."
  (setv code (ord (.group m)))
  (cond
    (< code 0x20) (chr (+ 0x2400 code))
    (= code 0x7f) "\u2421"
    (< code 0xa0) (.format "<{:02x}>" code)
    True (.format "<U+{:04X}>" code)))

(defn visible [text]
  "Return TEXT with control characters and direction marks shown as symbols, its line ends plain, its surrogates repaired.
Tabs and newlines stay."
  (.sub _HIDDEN _symbol (.replace (repair text) "\r\n" "\n")))

(defn one-line [text [limit 200]]
  "Return TEXT on one line of at most LIMIT characters, visible, its white space single, cut with an ellipsis."
  (setv line (.join " " (.split (visible (cut text (* 8 limit))))))
  (if (> (len line) limit)
    (+ (.rstrip (cut line (- limit 1))) "…")
    line))

(defn decode [data]
  "Return the bytes DATA as text: UTF-8, what is not replaced by U+FFFD, line ends as they are."
  (.decode data "utf-8" "replace"))


;; * Bounded

(defn _left-out [text hint]
  "Return the sentence about the piece TEXT that was left out; HINT says how to read it."
  (+ f"[{(count (len text) "character")}, {(count (.count text "\n") "line end")} left out"
     (if hint f"; {hint}" "") "]"))

(defn bounded [text [limit LIMIT] [hint ""]]
  "Return TEXT in at most LIMIT characters: whole, or its head and its tail around a line that says what was left out.
HINT, a sentence in that line, says how to read the rest. Cuts fall at line ends where one is near."
  (when (<= (len text) limit)
    (return text))
  (setv room (- limit (len (_left-out text hint)) 22)    ; 22: the longer numbers, two newlines
        head (_to-line-end (cut text (max 0 (// (* room 2) 3))) True)
        tail (_to-line-end (cut text (- (len text) (max 0 (// room 3))) None) False)
        middle (cut text (len head) (- (len text) (len tail)))
        note (_left-out middle hint))
  (cut (+ head (if (or (not head) (.endswith head "\n")) "" "\n") note "\n" (.removeprefix tail "\n")) limit))

(defn _to-line-end [piece head]
  "Return PIECE, the HEAD of a text or else its tail, shortened to whole lines if that costs at most a fifth of it."
  (setv at (if head (+ 1 (.rfind piece "\n")) (+ 1 (.find piece "\n")))
        lost (if head (- (len piece) at) at))
  (cond
    (or (= at 0) (> lost (/ (len piece) 5))) piece
    head (cut piece at)
    True (cut piece at None)))


;; * Words

(defn count [number word [many None]]
  "Return NUMBER with WORD, or with MANY (else WORD and s) unless it is one: `1 line`, `2 lines`."
  f"{number} {(if (= number 1) word (or many (+ word "s")))}")

(defn duration [seconds]
  "Return SECONDS in words: `3 ms`, `1.2 s`, `41 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`."
  (cond
    (< seconds 0.9995) f"{(round (* 1000 (max 0 seconds)))} ms"
    (< seconds 9.95) f"{seconds :.1f} s"
    (< seconds 59.5) f"{(round seconds)} s"
    (< seconds 3599.5) (_two (round seconds) 60 "min" "s")
    (< seconds 86370) (_two (round (/ seconds 60)) 60 "h" "min")
    True (_two (round (/ seconds 3600)) 24 "d" "h")))

(defn _two [number per large small]
  "Return NUMBER of the unit SMALL, PER of which make a LARGE, in both units; a zero of SMALL is left out."
  (setv [whole rest] (divmod number per))
  (if rest f"{whole} {large} {rest} {small}" f"{whole} {large}"))

(defn _scaled [number units]
  "Return NUMBER with one of UNITS, each 1000 times the one before; one decimal below 100, none above."
  (setv value (float number)  i 0)
  (while (and (>= value 999.5) (< i (- (len units) 1)))
    (setv value (/ value 1000)  i (+ i 1)))
  (setv digits (if (= i 0) (str number) (if (< value 99.95) f"{value :.1f}" f"{value :.0f}")))
  (+ (.removesuffix digits ".0") (get units i)))

(defn size [number]
  "Return NUMBER of bytes in words: `412 B`, `1.1 kB`, `18 kB`, `2.5 MB`."
  (_scaled number [" B" " kB" " MB" " GB" " TB"]))

(defn tokens [number]
  "Return NUMBER of tokens in words: `812`, `12.3k`, `1.2M`."
  (_scaled number ["" "k" "M" "G"]))
