"Turn edit operations on observed lines into a new text, touching nothing else. Pure.

An operation is a map with \"op\": replace-lines, delete-lines (start_line end_line), insert-before, insert-after (line content),
replace-empty (content), final-newline (present). Lines are counted from 1 in the original. A span is {\"first\" \"last\" the lines
it replaces, none where last is first - 1; \"anchor\" [a b] the lines it must own; \"content\" bare lines; \"title\" for people}.
A plan is {\"text\" new text, \"lines\" its lines, \"blocks\" (see diff), \"kept\" [#(first last shift) ..] untouched lines, \"titles\"}."

(import
  autolith.base [conditions]
  autolith.resource [lines])

(defclass Refused [conditions.AutolithError]
  "The operations cannot be applied; the message says which, and why.")

(setv FIELDS {"replace-lines" ["start_line" "end_line" "content"]
              "delete-lines" ["start_line" "end_line"]
              "insert-before" ["line" "content"]
              "insert-after" ["line" "content"]
              "replace-empty" ["content"]
              "final-newline" ["present"]})

;; * Checking

(defn checked [operations]
  "Return OPERATIONS, each a map with a known op and exactly its fields, each sound."
  (when (not operations)
    (raise (Refused "there are no operations; give at least one")))
  (lfor [i o] (enumerate operations 1) (_checked-one i o)))

(defn _checked-one [i o]
  "Return the Ith operation O if it is sound."
  (setv op (.get o "op") fields (.get FIELDS op))
  (when (is fields None)
    (raise (Refused f"operation {i}: there is no op {op !r} for files; known: {(.join ", " FIELDS)}")))
  (setv absent (lfor f fields :if (is (.get o f) None) f)
        foreign (lfor k o :if (not-in k ["op" #* fields]) k))
  (when (or absent foreign)
    (raise (Refused (+ f"operation {i}: {op} has the fields {(.join ", " fields)}"
                       (if absent f"; missing: {(.join ", " absent)}" "")
                       (if foreign f"; not among them: {(.join ", " (map str foreign))}" "")))))
  (for [f fields] (_check-field i op f (get o f)))
  (when (and (= op "replace-lines") (> (get o "start_line") (get o "end_line")))
    (raise (Refused f"operation {i}: start_line {(get o "start_line")} is after end_line {(get o "end_line")}")))
  (when (and (= op "delete-lines") (> (get o "start_line") (get o "end_line")))
    (raise (Refused f"operation {i}: start_line {(get o "start_line")} is after end_line {(get o "end_line")}")))
  (when (and (in op #("insert-before" "insert-after")) (not (get o "content")))
    (raise (Refused f"operation {i}: {op} needs content; an empty line is \"\\n\"")))
  o)

(defn _check-field [i op field value]
  "Refuse the VALUE of FIELD in the Ith operation, an OP, if it is of a wrong kind."
  (cond
    (= field "content")
      (when (not (isinstance value str))
        (raise (Refused f"operation {i}: content is a string, not {value !r}")))
    (= field "present")
      (when (not (isinstance value bool))
        (raise (Refused f"operation {i}: present is true or false, not {value !r}")))
    True
      (when (or (isinstance value bool) (not (isinstance value int)) (< value 1))
        (raise (Refused f"operation {i}: {field} of {op} is an integer from 1 up, not {value !r}")))))

;; * Spans

(defn anchors [operations total]
  "Return the lines that OPERATIONS must own of TOTAL, [[a b] ..], in their order."
  (lfor o operations :setv a (_anchor o total) :if a a))

(defn _anchor [o total]
  "Return [first last] of the lines that the operation O addresses, or None."
  (cond
    (in "start_line" o) [(get o "start_line") (get o "end_line")]
    (in "line" o) [(get o "line") (get o "line")]
    (and (in "present" o) total) [total total]
    True None))

(defn moved [o steps total]
  "Return the operation O with its lines as the STEPS of earlier edits moved them, or None if they touched one."
  (setv anchor (_anchor o total))
  (for [kept (if anchor steps [])]
    (setv shift (next (gfor [a b shift] kept :if (<= a (get anchor 0) (get anchor 1) b) shift) None))
    (when (is shift None) (return None))
    (setv anchor [(+ (get anchor 0) shift) (+ (get anchor 1) shift)]))
  (cond
    (in "start_line" o) {#** o "start_line" (get anchor 0) "end_line" (get anchor 1)}
    (in "line" o) {#** o "line" (get anchor 0)}
    (in "content" o) None
    True o))

(defn _span [o total]
  "Return the span of the operation O on TOTAL lines; final-newline and replace-empty have none."
  (setv op (get o "op") content (lines.of-content (.get o "content" ""))
        many (_many content))
  (cond
    (in "start_line" o)
      (do
        (setv [a b] [(get o "start_line") (get o "end_line")]
              where (if (= a b) f"line {a}" f"lines {a}-{b}"))
        {"first" a "last" b "anchor" [a b] "content" content
         "title" (if (= op "delete-lines") f"deleted {where}" f"replaced {where} by {many}")})
    (= op "insert-before")
      (do (setv a (get o "line"))
          {"first" a "last" (- a 1) "anchor" [a a] "content" content "title" f"inserted {many} before line {a}"})
    (= op "insert-after")
      (do (setv a (get o "line"))
          {"first" (+ a 1) "last" a "anchor" [a a] "content" content "title" f"inserted {many} after line {a}"})))

(defn _spans [operations total]
  "Return the spans of OPERATIONS in the order of their lines; refuse what is outside TOTAL lines, overlaps or shares an anchor."
  (setv spans (sorted (lfor o operations :if (!= (get o "op") "final-newline") (_span o total))
                      :key (fn [s] #((get s "anchor") (get s "first")))))
  (for [s spans]
    (when (> (get s "anchor" 1) total)
      (raise (Refused f"line {(get s "anchor" 1)} is beyond the end: there are {total} lines"))))
  (for [[s t] (zip spans (cut spans 1 None))]
    (when (<= (get t "anchor" 0) (get s "anchor" 1))
      (raise (Refused (+ f"two operations address line {(get t "anchor" 0)} ({(get s "title")}; {(get t "title")});"
                         " join them into one replace-lines")))))
  spans)

;; * The new text

(defn make [text operations]
  "Return the plan that applies OPERATIONS, which `checked` gave, to TEXT."
  (setv old (lines.split text) total (len old))
  (when (any (gfor o operations (= (get o "op") "replace-empty")))
    (return (_fill text operations)))
  (setv presence (lfor o operations :if (= (get o "op") "final-newline") (get o "present")))
  (when (> (len presence) 1)
    (raise (Refused "final-newline is given twice")))
  (setv spans (_spans operations total)
        final (if presence (get presence 0) (bool (and old (lines.end-of (get old -1)))))
        usual (_usual text)
        [new blocks kept] (_assemble old spans usual))
  (_finish new final usual)
  {"text" (.join "" new) "lines" new "blocks" (_with-ends blocks old new) "kept" kept
   "titles" (+ (lfor s spans (get s "title"))
               (lfor p presence (if p "gave the last line a newline" "took the last line's newline")))})

(defn _fill [text operations]
  "Return the plan that gives an empty TEXT the content of OPERATIONS, a single replace-empty."
  (when (> (len operations) 1)
    (raise (Refused "replace-empty must be the only operation; put everything into its content")))
  (when text
    (raise (Refused "replace-empty is for an empty or missing file, and this one has content; use replace-lines")))
  (setv content (get operations 0 "content") new (lines.split content))
  {"text" content "lines" new "blocks" (if new [#(0 0 0 (len new))] []) "kept" []
   "titles" [f"wrote {(_many new)}"]})

(defn _many [lines]
  "Return the number of LINES in words."
  (if (= (len lines) 1) "1 line" f"{(len lines)} lines"))

(defn _assemble [old spans usual]
  "Return #(new lines, blocks, kept) of OLD with SPANS replaced; every new line has an end, USUAL where no neighbour tells."
  (setv new [] blocks [] kept [] at 0)
  (for [s spans]
    (setv first (- (get s "first") 1) last (get s "last"))
    (_keep old at first new kept)
    (setv before (len new))
    (.extend new (_ended s old usual))
    (.append blocks #(first last before (len new)))
    (setv at last))
  (_keep old at (len old) new kept)
  #(new blocks kept))

(defn _keep [old first end new kept]
  "Carry the lines of OLD from FIRST up to END over into NEW, and note them in KEPT."
  (when (< first end)
    (.append kept #((+ first 1) end (- (len new) first)))
    (.extend new (cut old first end))))

(defn _ended [span old usual]
  "Return the lines that SPAN brings, each with the end of the line it replaces, else of the nearest old line."
  (setv ends (lfor line (cut old (- (get span "first") 1) (get span "last")) (lines.end-of line))
        near (or (next (gfor e (reversed ends) :if e e) None) (_end-near old span usual)))
  (lfor [i line] (enumerate (get span "content"))
        (+ line (or (if (< i (len ends)) (get ends i) near) near))))

(defn _end-near [old span usual]
  "Return the end of the old line that SPAN is anchored at, else of the one before it, else USUAL."
  (setv at (- (get span "anchor" 0) 1))
  (or (lines.end-of (get old at))
      (and (> at 0) (lines.end-of (get old (- at 1))))
      usual))

(defn _usual [text]
  "Return how the lines of TEXT mostly end."
  (if (> (* 2 (.count text "\r\n")) (.count text "\n")) "\r\n" "\n"))

(defn _finish [new final usual]
  "Make only the last of the lines NEW lack an end, and that one if and only if FINAL is false.
An empty last line keeps its end all the same: without it, it would be no line."
  (for [i (range (- (len new) 1))]
    (when (not (.endswith (get new i) "\n"))
      (setv (get new i) (+ (get new i) (_end-before new i usual)))))
  (when new
    (setv line (get new -1))
    (setv (get new -1)
      (cond
        (not final) (or (lines.bare line) (lines.end-of line))
        (lines.end-of line) line
        True (+ line (_end-before new (- (len new) 1) usual))))))

(defn _end-before [new i usual]
  "Return the end of the line of NEW before the one at I, else USUAL."
  (or (and (> i 0) (lines.end-of (get new (- i 1)))) usual))

(defn _with-ends [blocks old new]
  "Return BLOCKS, and one for the last line where it is the same but for its end."
  (setv last-old (- (len old) 1) last-new (- (len new) 1))
  (if (and old new
           (!= (get old -1) (get new -1))
           (not (any (gfor [a b c d] blocks (and (>= b (len old)) (>= d (len new)) (or (< a b) (< c d)))))))
    (_joined blocks #(last-old (len old) last-new (len new)))
    blocks))

(defn _joined [blocks last]
  "Return BLOCKS with the block LAST after them, one with the block it touches."
  (setv [a b c d] last)
  (if (and blocks (>= (get blocks -1 1) a))
    [#* (cut blocks -1) #((get blocks -1 0) b (get blocks -1 2) d)]
    [#* blocks last]))
