"Text in terminal cells: how wide it is, where it may be cut, and what must not reach the terminal.

A fragment is #(STYLE TEXT), a row a list of fragments. Width is counted on the safe side: what terminals dispute
counts as the widest of their answers, so that a row never runs over."

(import
  wcwidth
  autolith.base [text :as prose])

(setv DISPUTED #{"\u3164" "\u115f" "\u1160" "\uffa0"})

(defn clean [text]
  "Return TEXT with line feeds kept, tabs as blanks, and every other control character as a visible sign."
  (if (and (.isascii text) (.isprintable text))
    text
    (.expandtabs (prose.visible text) 4)))

(defn clean-line [text]
  "Return TEXT as one line, line feeds visible too."
  (.replace (clean text) "\n" "\u240a"))

(defn width [text]
  "Return how many cells TEXT takes, on the safe side. It is the sum of its characters' cells."
  (if (.isascii text)
    (len text)
    (sum (map char-width text))))

(defn char-width [c]
  "Return the cells of the character C; a variation selector may widen what stands before it."
  (cond
    (in c DISPUTED) 2
    (= c "\ufe0f") 1
    True (max 0 (wcwidth.wcwidth c))))

(defn clusters [text]
  "Return the graphemes of TEXT as a list of strings."
  (if (.isascii text) (list text) (list (wcwidth.iter-graphemes text))))

(defn fit [text room]
  "Return TEXT, or as much of it as ROOM cells take with `⋯` at its end."
  (cond
    (<= (width text) room) text
    (<= room 0) ""
    True (+ (take text (- room 1)) "⋯")))

(defn take [text room]
  "Return the longest beginning of TEXT, in whole graphemes, that ROOM cells take."
  (setv used 0 parts [])
  (for [cluster (clusters text)]
    (+= used (width cluster))
    (when (> used room) (break))
    (.append parts cluster))
  (.join "" parts))

(defn row-width [row]
  "Return the cells of ROW, a list of fragments."
  (sum (gfor [_ text] row (width text))))

(defn row-text [row]
  "Return the text of ROW without its styles."
  (.join "" (gfor [_ text] row text)))

(defn fit-row [row room]
  "Return ROW cut to ROOM cells."
  (setv out [])
  (for [[style text] row]
    (setv part (if (<= (width text) room) text (take text room))
          room (- room (width part)))
    (when part (.append out #(style part)))
    (when (!= part text) (break)))
  out)

(defn margin [width]
  "Return the width of the margin on a screen of WIDTH columns: 2, below 8 columns 1, on one column 0."
  (cond (>= width 8) 2 (> width 1) 1 True 0))

(defn only-marks? [row]
  "Is ROW nothing but marks for the terminal, and no line?"
  (and (bool row) (all (gfor [style _] row (.startswith style "mark:")))))
