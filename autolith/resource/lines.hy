"Bytes to lines and back, without loss. Pure.

An encoding is {\"name\" for people, \"codec\" Python's name, \"bom\" the mark's bytes, \"unit\" bytes of a code unit, \"errors\" Python's
word for what to do with bytes that do not decode, \"guess\" True if other encodings fit as well, \"bad\" how many bytes do not decode,
\"bad_lines\" the first lines that hold one, \"brackets\" of the mark that stands for one}. Decoding is strict, or gives a
surrogate U+DCxx for the undecodable byte xx, so that encoding gives the same bytes again. A line is its text with its own line
end, \"\\n\" or \"\\r\\n\", which the last may lack. Only \\n ends a line, as for ripgrep: a lone \\r, NEL, form feed or U+2028 is
content like any other."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  codecs
  re
  autolith.resource [survey :as surveys])

(defparameter nul-share 0.3 "The part of NUL bytes from which a text is not taken for UTF-8 any more.")
(defparameter bad-share 0.01 "The part of undecodable bytes up to which text with fewer, but some, UTF-8 sequences is UTF-8 all the same.")
(defparameter strange-share 0.2 "The part of unlikely bytes from which a reading as single bytes is called a guess.")

(defn _encoding [name codec [bom b""] [unit 1] #** more]
  "Return the encoding NAME, Python's CODEC after the mark BOM, in code units of UNIT bytes; MORE are its other fields."
  {"name" name "codec" codec "bom" bom "unit" unit "errors" "strict" "guess" False
   "bad" 0 "bad_lines" [] "brackets" 0 #** more})

(setv UTF-8 (_encoding "utf-8" "utf-8")
      CP1252 (_encoding "windows-1252" "cp1252")
      LATIN-1 (_encoding "latin-1" "latin-1")
      MARKED [(_encoding "utf-8 with byte-order mark" "utf-8" codecs.BOM-UTF8)
              (_encoding "utf-32-le with byte-order mark" "utf-32-le" codecs.BOM-UTF32-LE 4)
              (_encoding "utf-32-be with byte-order mark" "utf-32-be" codecs.BOM-UTF32-BE 4)
              (_encoding "utf-16-le with byte-order mark" "utf-16-le" codecs.BOM-UTF16-LE 2)
              (_encoding "utf-16-be with byte-order mark" "utf-16-be" codecs.BOM-UTF16-BE 2)]
      UNSURE (_encoding "unsure" "latin-1")   ; what a Guess says of bytes that only a survey can tell
      CP1252-HOLES #{0x81 0x8d 0x8f 0x90 0x9d}
      PIECE 1048576)

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
  "Finds the encoding of bytes that come in pieces, if they are in none but Unicode's: feed each piece, then ask for the `result`."

  (defn __init__ [self head]
    (setv self.nuls 0  self.size 0  self.first True
          self.left (lfor e (candidates head)
                          #(e ((codecs.getincrementaldecoder (get e "codec")) "strict")))))

  (defn feed [self piece]
    "Take the next PIECE."
    (+= self.size (len piece))
    (when (in b"\0" piece) (+= self.nuls (.count piece b"\0")))
    (setv self.left (lfor [e decoder] self.left
                          :if (_decodes? decoder (if self.first (cut piece (len (get e "bom")) None) piece))
                          #(e decoder))
          self.first False))

  (defn result [self]
    "Return the encoding, None when nothing decodes the bytes, or UNSURE when it takes a survey of all of them to tell."
    (setv dense (> self.nuls (* nul-share self.size)))
    (for [[e decoder] self.left]
      (when (and (_decodes? decoder b"" True) (or (> (get e "unit") 1) (not dense)))
        (return e)))
    (if self.nuls None UNSURE)))

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
  (setv found (.result guess))
  (if (is found UNSURE)
    (surveyed (gfor i (range 0 (len data) PIECE) (cut data i (+ i PIECE))) (cut data 3))
    found))

(defn surveyed [pieces head]
  "Return the encoding of bytes, PIECES that begin with HEAD, that are in none of Unicode's without fault.
UTF-8 with a few undecodable bytes, else what an East Asian codec reads as likely text, else single bytes; the latter two may be guesses."
  (setv s (surveys.Survey))
  (for [piece pieces] (.feed s piece))
  (.finish s)
  (cond
    (<= s.bad s.valid) (_mended s head)
    (.legacy s) (_encoding (.legacy s) (.legacy s) :guess True)
    (and (<= s.bad (* 4 s.valid)) (<= s.bad (* bad-share s.size))) (_mended s head)
    True {#** (if (and s.c1 (not (& s.c1 CP1252-HOLES))) CP1252 LATIN-1) "guess" (_strange? s)}))

(defn _mended [s head]
  "Return UTF-8 with the undecodable bytes of the survey S of bytes that begin with HEAD."
  (setv bom (if (.startswith head codecs.BOM-UTF8) codecs.BOM-UTF8 b"")
        count (if (= s.bad 1) "1 undecodable byte" f"{s.bad} undecodable bytes"))
  (_encoding (if bom f"utf-8 with byte-order mark and {count}" f"utf-8 with {count}") "utf-8" bom
             :errors "surrogateescape" :bad s.bad :bad-lines s.bad-lines :brackets (+ s.brackets 1)))

(defn _strange? [s]
  "Tell whether the bytes of the survey S are hardly those of a Latin-1 or windows-1252 text."
  (setv most (* strange-share s.weighed))
  (or (>= s.triples most) (>= s.odd most) (> (* 10 s.valid) s.bad)))

;; * Undecodable bytes

(defn mark [byte encoding]
  "Return the text that stands for the undecodable BYTE, a number or \"NN\", in what is shown of a text in ENCODING."
  (setv n (get encoding "brackets"))
  (+ (* "⟦" n) "\\x" (if (isinstance byte str) byte f"{byte :02x}") (* "⟧" n)))

(defn undecodable [text]
  "Return how many undecodable bytes the decoded TEXT holds."
  (if (.isascii text) 0 (sum (gfor _ (.finditer surveys.BAD text) 1))))

(defn shown [text encoding]
  "Return TEXT, decoded from ENCODING, for people: with marks for its undecodable bytes."
  (if (get encoding "bad")
    (.sub surveys.BAD (fn [m] (mark (- (ord (.group m)) 0xdc00) encoding)) text)
    text))

(defn marks-in [text encoding]
  "Return the first mark of an undecodable byte that TEXT, as somebody typed it for a file in ENCODING, holds; or None."
  (setv n (get encoding "brackets")
        found (when n (re.search f"⟦{{{n}}}\\\\x[0-9a-fA-F]{{2}}" text)))
  (when found (+ (.group found) (* "⟧" n))))

;; * Text and lines

(defn decode [data encoding]
  "Return the text of the bytes DATA in ENCODING, without its mark."
  (.decode (cut data (len (get encoding "bom")) None) (get encoding "codec") (get encoding "errors")))

(defn encode [text encoding]
  "Return the bytes of TEXT in ENCODING, its mark first; UnicodeEncodeError if a character has none."
  (+ (get encoding "bom") (.encode text (get encoding "codec") (get encoding "errors"))))

(defn foreign [text encoding]
  "Return the first character of TEXT that ENCODING cannot hold, so that it would come back as it is; or None."
  (setv codec (get encoding "codec"))
  (defn holds? [part]
    (try
      (= (.decode (.encode part codec) codec) part)
      (except [UnicodeError] False)))
  (when (not (holds? text))
    (next (gfor c text :if (not (holds? c)) c) None)))

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
