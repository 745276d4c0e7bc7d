"Differences between two lists of lines, as rows for code and as text for people. Pure.

A block #(a b c d) says that the old lines a to b (b not included, counted from 0) became the new lines c to d. A row is
{\"kind\" context, added, removed or gap \"old\" number or None \"new\" number or None \"text\"}. Lines have their ends; rows do not,
and say so where a last line has none."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  difflib
  autolith.resource [lines])

(defparameter fine-limit 2000 "How many changed lines are compared one by one; more count as replaced.")

(defn blocks [old new]
  "Return the blocks by which the lines OLD became NEW."
  (refine [#(0 (len old) 0 (len new))] old new))

(defn refine [coarse old new]
  "Return the blocks COARSE between OLD and NEW with what is equal in them left out."
  (lfor block coarse fine (_refined #* block old new) fine))

(defn _refined [a b c d old new]
  "Return the blocks inside #(A B C D), without the equal lines at its ends and, in a small one, in its middle."
  (while (and (< a b) (< c d) (= (get old a) (get new c)))
    (+= a 1)
    (+= c 1))
  (while (and (< a b) (< c d) (= (get old (- b 1)) (get new (- d 1))))
    (-= b 1)
    (-= d 1))
  (cond
    (and (= a b) (= c d)) []
    (or (= a b) (= c d) (> (+ (- b a) (- d c)) fine-limit)) [#(a b c d)]
    True (lfor [tag i j k l] (.get-opcodes (difflib.SequenceMatcher None (cut old a b) (cut new c d) False))
               :if (!= tag "equal")
               #((+ a i) (+ a j) (+ c k) (+ c l)))))

(defn counts [changes]
  "Return #(added removed) lines of the blocks CHANGES."
  #((sum (gfor [_ _ c d] changes (- d c))) (sum (gfor [a b _ _] changes (- b a)))))

(defn rows [changes old new * [context 3]]
  "Return the rows that show the blocks CHANGES between OLD and NEW, with CONTEXT lines around each."
  (setv out [] at 0 shift 0)
  (for [[i [a b c d]] (enumerate changes)]
    (setv following (if (< (+ i 1) (len changes)) (get changes (+ i 1) 0) (len old))
          lead (max at (- a context)))
    (when (and (> lead at) out) (.append out {"kind" "gap" "old" None "new" None "text" ""}))
    (.extend out (_context old lead a shift))
    (.extend out (lfor n (range a b) (_row "removed" (+ n 1) None (get old n))))
    (.extend out (lfor n (range c d) (_row "added" None (+ n 1) (get new n))))
    (setv shift (- d b)
          at (min following (+ b context)))
    (.extend out (_context old b at shift)))
  out)

(defn _context [old first end shift]
  "Return the unchanged rows of OLD from FIRST up to END, whose new numbers are SHIFT higher."
  (lfor n (range first end) (_row "context" (+ n 1) (+ n 1 shift) (get old n))))

(defn _row [kind old new line]
  "Return the row of KIND for LINE, of the numbers OLD and NEW."
  {"kind" kind "old" old "new" new
   "text" (+ (lines.bare line) (if (lines.end-of line) "" " [no newline at the end]"))})

(setv MARKS {"context" " " "added" "+" "removed" "-"})

(defn text [rows [room 3000]]
  "Return ROWS as text of at most about ROOM characters; what is left out is said."
  (setv out [] used 0)
  (for [[i row] (enumerate rows)]
    (setv line (_line row room))
    (+= used (len line) 1)
    (when (> used room)
      (.append out f"  [... {(- (len rows) i)} more rows of the difference left out]")
      (break))
    (.append out line))
  (.join "\n" out))

(defn _line [row room]
  "Return ROW as one line of at most about ROOM characters."
  (when (= (get row "kind") "gap")
    (return "   ..."))
  (setv line (+ (get MARKS (get row "kind")) (_number (get row "old")) (_number (get row "new")) "  " (get row "text"))
        most (max 200 (// room 4)))
  (if (> (len line) most)
    (+ (cut line most) f" [... {(- (len line) most)} characters left out]")
    line))

(defn _number [n]
  "Return the line number N in its column, blank for None."
  (if (is n None) "      " f"{n :6d}"))
