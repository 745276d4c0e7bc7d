"Windows of whole lines over a snapshot, read from its nearest index point in bounded memory.

A window is {\"rows\" [{\"number\" \"text\"} ...], \"cut\" True if a row shows only part of its line, \"full\" True if the room was used up}.
A row whose line holds undecodable bytes has them as marks in its text, and \"undecodable\" says how many; each is one column."

(import
  bisect
  codecs
  io
  os
  autolith.resource [lines snapshot :as snapshots])

(setv PREFIX 9)   ; the number, the blanks and the newline around a shown line

(defn of-file [path start count room * [column 1]]
  "Return #(snapshot window) of the regular file PATH; see `read`. START beyond the end gives no rows."
  (for [i (range snapshots.attempts)]
    (setv snapshot (snapshots.scan path))
    (try
      (return #(snapshot (read snapshot start count room :column column)))
      (except [e [Moved UnicodeDecodeError]]
        (snapshots.forget path))))
  (raise (snapshots.Unreadable "it changes while it is read, again and again; read it when its writer has finished")))

(defclass Moved [Exception]
  "The file is no longer as the snapshot has it.")

(defn read [snapshot start count room * [column 1]]
  "Return the window of SNAPSHOT from line START, at most COUNT lines that take ROOM characters when numbered.
A first line that does not fit is shown in part; with COLUMN above 1, the window is that part of line START alone."
  (when (not (and (get snapshot "encoding") (<= start (get snapshot "total"))))
    (return {"rows" [] "cut" False "full" False}))
  (setv data (get snapshot "data"))
  (if (is data None)
    (with [f (snapshots.opened (get snapshot "path"))]
      (setv window (_read f snapshot start count room column))
      (_check-same f snapshot)
      window)
    (_read (io.BytesIO data) snapshot start count room column)))

(defn _check-same [f snapshot]
  "Raise Moved unless the open file F is what SNAPSHOT was made of."
  (setv now (snapshots.stamp (os.fstat (.fileno f)))
        then (get snapshot "stamp"))
  (when (not (if (.get snapshot "growing")
               (and (= (cut now 2) (cut then 2)) (>= (get now 2) (get snapshot "size")))
               (= now then)))
    (raise Moved)))

(defn _read [f snapshot start count room column]
  "Return the window of `read` from the open file F."
  (setv pieces (Pieces f snapshot))
  (.skip-lines pieces (- start (.seek pieces start)))
  (if (= column 1)
    (_rows pieces start count room)
    (_part pieces start column room)))

(defclass Pieces []
  "The decoded text of a snapshot from some line on, in pieces; `text` is what is at hand."

  (defn __init__ [self f snapshot]
    (setv self.f f
          self.snapshot snapshot
          self.left 0
          self.text ""
          self.encoding (get snapshot "encoding")
          self.decoder ((codecs.getincrementaldecoder (get self.encoding "codec")) (get self.encoding "errors"))))

  (defn seek [self line]
    "Go to the index point at or before LINE; return its line."
    (setv index (get self.snapshot "index")
          [at offset] (get index (- (bisect.bisect-right index line :key (fn [point] (get point 0))) 1)))
    (.seek self.f offset)
    (setv self.left (- (get self.snapshot "size") offset))
    at)

  (defn more [self]
    "Add text to what is at hand; tell whether there was more."
    (setv data (.read self.f (min self.left 65536)))
    (-= self.left (len data))
    (+= self.text (.decode self.decoder data (not data)))
    (bool data))

  (defn skip-lines [self n]
    "Drop the next N lines."
    (while n
      (setv found (.count self.text "\n"))
      (if (< found n)
        (do
          (-= n found)
          (setv self.text "")
          (when (not (.more self)) (return)))
        (setv self.text (cut self.text (_after-newlines self.text n) None)
              n 0))))

  (defn skip-columns [self n]
    "Drop the next N characters of the line; return how many it had, fewer than N when the line ended."
    (setv dropped 0)
    (while (< dropped n)
      (setv end (.find self.text "\n")
            step (min (- n dropped) (if (< end 0) (len self.text) end))
            self.text (cut self.text step None))
      (+= dropped step)
      (when (or (and (= step 0) (>= end 0)) (and (not self.text) (not (.more self))))
        (break)))
    dropped)

  (defn rest-of-line [self]
    "Drop the rest of the line; return how many characters it had, its end not counted."
    (setv n 0 last "")
    (while True
      (setv end (.find self.text "\n"))
      (when (>= end 0)
        (setv last (if end (get self.text (- end 1)) last))
        (return (+ n end (if (= last "\r") -1 0))))
      (+= n (len self.text))
      (setv last (if self.text (get self.text -1) last)
            self.text "")
      (when (not (.more self)) (return n))))

  (defn gather [self room count]
    "Have at hand COUNT lines or more than ROOM characters, or all there is."
    (while (and (<= (len self.text) room) (< (.count self.text "\n") count))
      (when (not (.more self)) (break)))))

(defn _after-newlines [text n]
  "Return the position in TEXT behind its Nth newline."
  (setv at 0)
  (for [_ (range n)]
    (setv at (+ (.find text "\n" at) 1)))
  at)

(defn _rows [pieces start count room]
  "Return the window of whole lines of PIECES, which stand at line START; a first line too long is shown in part."
  (.gather pieces (+ room 2) count)
  (setv rows [] used 0 whole (lines.split pieces.text))
  (when (and whole (not (.endswith (get whole -1) "\n")) (> (len pieces.text) (+ room 2)))
    (.pop whole))
  (for [[i line] (enumerate (cut whole count))]
    (setv row (_row (+ start i) (lines.bare line) pieces.encoding))
    (+= used (len (get row "text")) PREFIX)
    (when (> used room) (break))
    (.append rows row))
  (if (or rows (not pieces.text))
    {"rows" rows "cut" False "full" (< (len rows) (min count (len whole)))}
    (_part pieces start 1 room)))

(defn _row [number text encoding]
  "Return the row of line NUMBER, of which TEXT in ENCODING is shown."
  (setv bad (if (get encoding "bad") (lines.undecodable text) 0))
  (if bad
    {"number" number "text" (lines.shown text encoding) "undecodable" bad}
    {"number" number "text" text}))

(defn _fitting [text encoding room]
  "Return as much of the beginning of TEXT in ENCODING as takes ROOM characters when shown, at least one."
  (defn length [n] (len (lines.shown (cut text n) encoding)))
  (if (<= (length (len text)) room)
    text
    (cut text (max 1 (- (bisect.bisect-right (range (+ (len text) 1)) room :key length) 1)))))

(defn _part [pieces start column room]
  "Return the window with the part from COLUMN on of line START, where PIECES stand."
  (setv before (.skip-columns pieces (- column 1))
        room (max 1 (- room PREFIX 120)))
  (.gather pieces room 1)
  (setv end (.find pieces.text "\n")
        shown (_fitting (cut pieces.text (if (< end 0) room (min end room))) pieces.encoding room)
        length (+ before (.rest-of-line pieces))
        shown (cut shown (max 0 (- length before))))
  {"rows" [{#** (_row start shown pieces.encoding) "length" length "columns" [(+ before 1) (+ before (len shown))]}]
   "cut" True "full" True})
