"Bytes to lines and back, without loss. Pure.

An encoding is {\"name\" for people, \"codec\" Python's name, \"bom\" the mark's bytes, \"unit\" bytes of a code unit}. Decoding
is strict, so that encoding gives the same bytes again. A line is its text with its own line end, \"\\n\" or \"\\r\\n\", which the
last may lack. Only \\n ends a line, as for ripgrep: a lone \\r, NEL, form feed or U+2028 is content like any other."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import codecs)

(defparameter nul-share 0.3 "The part of NUL bytes from which a text is not taken for UTF-8 any more.")

(defn _encoding [name codec [bom b""] [unit 1]]
  "Return the encoding NAME, Python's CODEC after the mark BOM, in code units of UNIT bytes."
  {"name" name "codec" codec "bom" bom "unit" unit})

(setv UTF-8 (_encoding "utf-8" "utf-8")
      CP1252 (_encoding "windows-1252" "cp1252")
      LATIN-1 (_encoding "latin-1" "latin-1")
      MARKED [(_encoding "utf-8 with byte-order mark" "utf-8" codecs.BOM-UTF8)
              (_encoding "utf-32-le with byte-order mark" "utf-32-le" codecs.BOM-UTF32-LE 4)
              (_encoding "utf-32-be with byte-order mark" "utf-32-be" codecs.BOM-UTF32-BE 4)
              (_encoding "utf-16-le with byte-order mark" "utf-16-le" codecs.BOM-UTF16-LE 2)
              (_encoding "utf-16-be with byte-order mark" "utf-16-be" codecs.BOM-UTF16-BE 2)]
      CP1252-HOLES #{0x81 0x8d 0x8f 0x90 0x9d}
      NOT-C1 (bytes (gfor b (range 256) :if (not (<= 0x80 b 0x9f)) b)))

;; * Which encoding

(defn candidates [head]
  "Return the encodings that bytes beginning with HEAD may have, the likeliest first; single bytes are not among them."
  (setv marked (lfor e MARKED :if (.startswith head (get e "bom")) e))
  (+ marked (_unmarked-wide head) [UTF-8]))

(defn _unmarked-wide [head]
  "Return UTF-16 without a mark, where the NULs of HEAD are on one side of nearly every pair; else nothing."
  (setv pairs (// (len head) 2)
        even (.count (cut head 0 None 2) b"\0")
        odd (.count (cut head 1 None 2) b"\0"))
  (cond
    (< pairs 2) []
    (and (>= odd (* pairs 0.6)) (<= even (* pairs 0.05))) [(_encoding "utf-16-le without mark" "utf-16-le" b"" 2)]
    (and (>= even (* pairs 0.6)) (<= odd (* pairs 0.05))) [(_encoding "utf-16-be without mark" "utf-16-be" b"" 2)]
    True []))

(defclass Guess []
  "Finds the encoding of bytes that come in pieces: feed each piece, then ask for the `result`."

  (defn __init__ [self head]
    (setv self.nuls 0  self.size 0  self.first True  self.c1 (set)
          self.left (lfor e (candidates head)
                          #(e ((codecs.getincrementaldecoder (get e "codec")) "strict")))))

  (defn feed [self piece]
    "Take the next PIECE."
    (+= self.size (len piece))
    (when (in b"\0" piece) (+= self.nuls (.count piece b"\0")))
    (when (not (.isascii piece))
      (.update self.c1 (.translate piece None NOT-C1)))
    (setv self.left (lfor [e decoder] self.left
                          :if (_decodes? decoder (if self.first (cut piece (len (get e "bom")) None) piece))
                          #(e decoder))
          self.first False))

  (defn result [self]
    "Return the encoding, or None when nothing decodes the bytes."
    (setv dense (> self.nuls (* nul-share self.size)))
    (for [[e decoder] self.left]
      (when (and (_decodes? decoder b"" True) (or (> (get e "unit") 1) (not dense)))
        (return e)))
    (cond
      self.nuls None
      (and self.c1 (not (& self.c1 CP1252-HOLES))) CP1252
      True LATIN-1)))

(defn _decodes? [decoder piece [final False]]
  "Tell whether DECODER takes PIECE."
  (try
    (.decode decoder piece final)
    True
    (except [UnicodeDecodeError] False)))

(defn encoding-of [data]
  "Return the encoding of the bytes DATA, or None when they are no text."
  (setv guess (Guess (cut data 4096)))
  (.feed guess data)
  (.result guess))

;; * Text and lines

(defn decode [data encoding]
  "Return the text of the bytes DATA in ENCODING, without its mark."
  (.decode (cut data (len (get encoding "bom")) None) (get encoding "codec")))

(defn encode [text encoding]
  "Return the bytes of TEXT in ENCODING, its mark first; UnicodeEncodeError if a character has none."
  (+ (get encoding "bom") (.encode text (get encoding "codec"))))

(defn split [text]
  "Return the lines of TEXT, each with its end."
  (setv parts (.split text "\n")
        rows (lfor part (cut parts -1) (+ part "\n")))
  (when (get parts -1)
    (.append rows (get parts -1)))
  rows)

(defn end-of [line]
  "Return the end of LINE: \"\\r\\n\", \"\\n\" or \"\"."
  (cond
    (.endswith line "\r\n") "\r\n"
    (.endswith line "\n") "\n"
    True ""))

(defn bare [line]
  "Return LINE without its end."
  (cut line (- (len line) (len (end-of line)))))

(defn of-content [content]
  "Return the bare lines that CONTENT, as somebody typed it, means: a newline at its end begins no further line."
  (lfor line (split content) (bare line)))

(defn ends-text [crlf lf]
  "Return how lines end in a text with CRLF and LF line ends of each kind, or None where there is nothing to say."
  (cond
    (not crlf) None
    lf f"mixed (CRLF {crlf}, LF {lf})"
    True "CRLF"))
