"Write plain data as a Hy literal on one line, so that evaluating the text gives equal data.

Data is what JSON can say: None, booleans, numbers, strings, lists, and maps with string keys. A map key that is a plain name is
written as a keyword, `:start-line` for \"start_line\"; tools decode both alike."

(import re)

(setv KEYWORD (re.compile r"[a-z][a-z0-9_]*")
      ESCAPES {"\\" "\\\\"  "\"" "\\\""  "\n" "\\n"  "\r" "\\r"  "\t" "\\t"}
      ELLIPSIS "…")

(defn write [value [longest None] [most None]]
  "Return VALUE as Hy. With LONGEST, strings are cut to that many characters, with MOST, lists and maps to that many
elements; `…` marks each cut, which makes the text no longer evaluable."
  (cond
    (is value None) "None"
    (isinstance value bool) (str value)
    (isinstance value str) (string value longest)
    (isinstance value int) (integer value)
    (isinstance value float) (_float value)
    (isinstance value dict) (_map value longest most)
    (isinstance value #(list tuple)) (_list value longest most)
    True (hy.repr value)))

(defn string [text [longest None]]
  "Return TEXT as a string literal in which nothing is left to the reader's mercy."
  (when (and (is-not longest None) (> (len text) longest))
    (return (+ (string (cut text longest)) " " ELLIPSIS)))
  (setv body (if (and (.isprintable text) (not-in "\\" text) (not-in "\"" text))
               text
               (.join "" (map _escaped text))))
  (+ "\"" body "\""))

(defn _escaped [c]
  "Return the character C as it stands in a string literal."
  (cond
    (in c ESCAPES) (get ESCAPES c)
    (.isprintable c) c
    (< (ord c) 0x10000) f"\\u{(ord c) :04x}"
    True f"\\U{(ord c) :08x}"))

(defn integer [n]
  "Return the integer N in decimal, or in hexadecimal where decimal would be refused for its length."
  (if (< (.bit-length n) 10000) (str n) (hex n)))

(defn _float [x]
  "Return the float X as Hy spells it."
  (cond
    (!= x x) "NaN"
    (= x (float "inf")) "Inf"
    (= x (float "-inf")) "-Inf"
    True (repr x)))

(defn key [name]
  "Return the map key NAME as a keyword if it is a plain name, else as a string."
  (if (.fullmatch KEYWORD name)
    (+ ":" (.replace name "_" "-"))
    (string name)))

(defn _map [value longest most]
  "Return the map VALUE."
  (setv rows (list (.items value))
        cut-off (and (is-not most None) (> (len rows) most))
        words (lfor [k v] (if cut-off (cut rows most) rows)
                    f"{(if (isinstance k str) (key k) (write k))} {(write v longest most)}"))
  (+ "{" (.join " " (if cut-off [#* words ELLIPSIS] words)) "}"))

(defn _list [value longest most]
  "Return the list VALUE."
  (setv cut-off (and (is-not most None) (> (len value) most))
        words (lfor v (if cut-off (cut value most) value) (write v longest most)))
  (+ "[" (.join " " (if cut-off [#* words ELLIPSIS] words)) "]"))
