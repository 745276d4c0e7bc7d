"Render what a read found as a page: the header fields, then numbered lines. Pure, but for the observation it notes.

A page is as protocol has it; its text is bounded by `page-room` and says which lines it leaves out and how to read them."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  autolith.resource [lines protocol ranges survey :as surveys])

(defparameter body-room 7000 "How many characters of numbered lines one page shows.")

(defn numbered [rows]
  "Return ROWS as text, each behind its number."
  (.join "\n" (gfor row rows f"{(get row "number") :6d}  {(get row "text")}{(_part-note row)}")))

(defn _part-note [row]
  "Return what to say about ROW if it shows only part of its line."
  (when (not-in "columns" row) (return ""))
  (setv [a b] (get row "columns") length (get row "length") n (get row "number"))
  (+ f"\n        [line {n} has {length} characters; columns {a}-{b} are shown"
     (if (< b length) f"; go on with start-line {n}, start-column {(+ b 1)}" "")
     "]"))

(defn observe [context entry window]
  "Note in CONTEXT that the rows of WINDOW were shown of the observation ENTRY."
  (setv seen context.observations)
  (for [row (get window "rows")]
    (if (in "columns" row)
      (.show-columns seen entry (get row "number") (get row "columns") (get row "length"))
      (.show seen entry (get row "number") (get row "number")))))

(defn build [entry window * [header []] [empty "(empty)"] [notes []] [found False]]
  "Return the page of the observation ENTRY that shows WINDOW; HEADER are further fields, EMPTY what stands for no lines.
FOUND says that the rows are finds from here and there, of which ranges would say little."
  (setv rows (get window "rows")
        total (get entry "total")
        visible (get entry "visible")
        elided (ranges.missing visible 1 total)
        fields [f"URI: {(get entry "uri")}"
                f"Revision: {(get entry "alias")}"
                f"Kind: {(get entry "kind")}"
                #* header
                #* (if found
                     [f"Lines: {total}"]
                     [f"Visible lines: {(ranges.text visible)} of {total}"
                      f"Elided: {(_elided elided rows)}"])
                "Content:"
                (if rows (numbered rows) empty)
                #* notes])
  {"uri" (get entry "uri") "revision" (get entry "alias") "kind" (get entry "kind")
   "visible" visible "elided" elided "lines" rows "total" total "text" (.join "\n" fields)})

(defn _elided [elided rows]
  "Return the ELIDED ranges for people, with the way to go on after ROWS."
  (when (not elided) (return "none"))
  (setv last (if rows (get rows -1 "number") 0)
        partly (and rows (in "columns" (get rows -1)))
        rest (next (gfor [a b] elided :if (> b last) (max a (+ last 1))) None))
  (+ (ranges.text elided)
     (cond
       (and partly rest) f" (line {last} is not whole; lines after it: start-line {rest})"
       partly f" (line {last} is not whole)"
       rest f" (go on with start-line {rest})"
       True "")))

(defn encoding-header [snapshot]
  "Return the header fields that say how SNAPSHOT is encoded and how its lines end, where that is not the usual."
  (setv ends (lines.ends-text (get snapshot "crlf") (get snapshot "lf")))
  (+ (encoding-field (get snapshot "encoding"))
     (if ends [f"Line ends: {ends} (kept by edits)"] [])
     (if (and (get snapshot "total") (not (get snapshot "final_newline"))) ["Final newline: none"] [])))

(defn encoding-field [encoding]
  "Return the header field about ENCODING, in a list; nothing for plain UTF-8 and for no text."
  (cond
    (or (is encoding None) (= (get encoding "name") "utf-8")) []
    (get encoding "bad") [f"Encoding: {(get encoding "name")}, {(_bad-lines encoding)} ({(_bad-note encoding)})"]
    (get encoding "guess") [(+ f"Encoding: {(get encoding "name")}, which is a guess: the bytes are not UTF-8 and could mean other"
                               " characters than are shown (kept by edits, and so are the bytes of all other lines)")]
    True [f"Encoding: {(get encoding "name")} (kept by edits)"]))

(defn _bad-lines [encoding]
  "Return which lines of a text in ENCODING hold undecodable bytes, the first of them by number."
  (setv all (get encoding "bad_lines") named (cut all surveys.named-lines))
  (+ (if (= (len all) 1) "on line " "on lines ")
     (.join ", " (map str named))
     (if (> (len all) (len named)) " and more" "")))

(defn _bad-note [encoding]
  "Return what a reader has to know of the undecodable bytes of a text in ENCODING."
  (+ f"each is shown as {(lines.mark "NN" encoding)}, NN its value in hexadecimal, and nothing else here looks like that; edits write"
     " UTF-8 and keep these bytes; a line that holds one can be replaced by text or deleted, but not written again with the mark"))
