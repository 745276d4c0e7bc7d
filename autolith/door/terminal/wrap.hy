"Greedy wrapping by display width. A row that is complete never changes when more text comes.

`Wrapper` takes text piece by piece; `rows` are complete, `peek` shows also what is still open. How the text was cut into
pieces makes no difference to the rows."

(import
  re
  autolith.door.terminal [cells])

(setv NONBLANK (re.compile r"[^ ]")
      TOKENS (re.compile r"[ \t]+|[^ \t]+")
      WIDE (re.compile "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\U00020000-\U0003fffd]"))

(defclass Wrapper []
  "Words set in rows of WIDTH cells, the first row after the fragments FIRST, the others after REST.

With `lean` set, blanks before the first word are dropped; otherwise they are its indentation."

  (defn __init__ [self width [first #()] [rest #()]]
    (setv self.width (max 1 width)
          self.rest (cells.fit-row rest (- self.width 1))
          self.rows []
          self.row (cells.fit-row first (- self.width 1))
          self.used (cells.row-width self.row)
          self.bare self.used
          self.gap []
          self.word []
          self.length 0
          self.lean False))

  (defn add [self text [style ""]]
    "Set TEXT in STYLE after what is there."
    (if (and (> (len text) 64) (.isascii text) (not-in "\t" text))
      (.add-long self text style)
      (.add-tokens self text style)))

  (defn add-long [self text style]
    "Set TEXT, long and ASCII, a row at a time; the rows are those that word by word would give."
    (setv at (.find text " ") end (.rfind text " "))
    (when (< -1 at end)
      (.add-tokens self (cut text at) style)
      (.place self)
      (setv text (cut text (.add-rows self text at end style) None)))
    (.add-tokens self text style))

  (defn add-rows [self text at end style]
    "Set the words of TEXT between the blanks AT and END; return the place of the blank where it stopped."
    (while (and (< at end) (not self.gap) (> self.used self.bare))
      (setv room (- self.width self.used)
            edge (if (<= (- end at) room) end (.rfind text " " at (+ at room 1)))
            piece (.rstrip (cut text at edge) " ")
            at (+ at (len piece)))
      (when piece
        (.append self.row #(style piece))
        (+= self.used (len piece)))
      (setv hit (.search NONBLANK text at end))
      (when (or (= edge end) (is hit None)) (break))
      (.turn self)
      (setv begin (.start hit) at (.find text " " begin))
      (.add-part self (cut text begin at) style)
      (.place self))
    at)

  (defn add-tokens [self text style]
    "Set TEXT word by word."
    (for [token (.findall TOKENS text)]
      (cond
        (in (get token 0) " \t") (do (.place self) (.append self.gap #(style token)))
        (and (not (.isascii token)) (.search WIDE token)) (.add-wide self token style)
        True (.add-part self token style))))

  (defn add-wide [self token style]
    "Set TOKEN, in which a row may be broken beside each wide character."
    (for [cluster (cells.clusters token)]
      (if (.match WIDE cluster)
        (do (.place self) (.add-part self cluster style) (.place self))
        (.add-part self cluster style))))

  (defn add-part [self text style]
    "Append TEXT to the word that is being collected."
    (.append self.word #(style text))
    (+= self.length (cells.width text)))

  (defn glue [self text [style ""]]
    "Append TEXT, blanks and all, to the word that is being collected: it is broken only if it is wider than a row."
    (.add-part self text style))

  (defn place [self]
    "Move the collected word into the row, or into a new one."
    (when (not self.word) (return))
    (setv gap (cells.row-width self.gap))
    (when (and (> (+ self.used gap self.length) self.width) (> self.used self.bare))
      (.turn self)
      (setv gap 0))
    (when (or (>= (+ self.used gap) self.width) (and self.lean (= self.used self.bare))) (setv self.gap [] gap 0))
    (when self.gap
      (.extend self.row self.gap)
      (+= self.used gap))
    (if (> (+ self.used self.length) self.width)
      (.split self)
      (do (.extend self.row self.word) (+= self.used self.length)))
    (setv self.word [] self.length 0 self.gap []))

  (defn split [self]
    "Set a word that is wider than a row, broken between graphemes."
    (for [[style text] (merged self.word)]
      (setv part "")
      (for [cluster (cells.clusters text)]
        (setv size (cells.width cluster))
        (when (and (> (+ self.used size) self.width) (or part (> self.used self.bare)))
          (.append self.row #(style part))
          (setv part "")
          (.turn self))
        (+= part (if (and (> (+ self.used size) self.width) (> size 1)) "?" cluster))
        (+= self.used size))
      (.append self.row #(style part))))

  (defn turn [self]
    "Complete the row and begin the next; blanks at the break are dropped."
    (.append self.rows self.row)
    (setv self.row (list self.rest)
          self.used (cells.row-width self.row)
          self.bare self.used
          self.gap []))

  (defn narrow [self width]
    "Go on with rows of WIDTH cells; a row that is already wider is complete."
    (setv self.width (max 1 width)
          self.rest (cells.fit-row self.rest (- self.width 1)))
    (when (>= self.used self.width) (.turn self)))

  (defn take [self]
    "Return the complete rows and forget them."
    (setv rows self.rows self.rows [])
    rows)

  (defn end [self]
    "Complete the last row; return all rows not yet taken."
    (.place self)
    (.append self.rows self.row)
    (setv self.row [] self.gap [])
    (.take self))

  (defn peek [self [more ""] [style ""]]
    "Return the rows as they would stand if MORE in STYLE came now and nothing after it."
    (setv copy (Wrapper self.width [] self.rest))
    (setv copy.rows [] copy.row (list self.row) copy.used self.used copy.bare self.bare
          copy.gap (list self.gap) copy.word (list self.word) copy.length self.length)
    (.add copy more style)
    (.end copy)))

(defn merged [fragments]
  "Return FRAGMENTS with neighbours of one style joined."
  (setv out [])
  (for [[style text] fragments]
    (if (and out (= (get out -1 0) style))
      (setv (get out -1) #(style (+ (get out -1 1) text)))
      (.append out #(style text))))
  out)

(defn rows-of [fragments width [first #()] [rest #()]]
  "Return FRAGMENTS, without line ends, as rows of WIDTH cells after FIRST or REST."
  (setv wrapper (Wrapper width first rest))
  (for [[style text] fragments]
    (.add wrapper text style))
  (.end wrapper))

(defn soft [text width [first #()] [rest #()] [style ""]]
  "Return the lines of TEXT as rows, their blanks kept, broken between words, what goes on standing under its line's beginning."
  (setv rows [] lead (list first))
  (for [line (.split text "\n")]
    (setv indent (min (- (len line) (len (.lstrip line " "))) (max 0 (- (// width 2) 2)))
          wrapper (Wrapper width lead (+ (list rest) [#("" (* " " indent))])))
    (.add wrapper line style)
    (.extend rows (.end wrapper))
    (setv lead (list rest)))
  rows)

(defn hard [line width [first #()] [rest #()] [style ""]]
  "Return LINE as rows broken at the edge alone."
  (setv wrapper (Wrapper width first rest))
  (when line (.glue wrapper line style))
  (.end wrapper))
