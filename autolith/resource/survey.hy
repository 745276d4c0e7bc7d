"What can be told of bytes that are not UTF-8: are they UTF-8 but for a few, an East Asian encoding, or something of single bytes? Pure.

A Survey takes the bytes in pieces and counts: `size`; `valid` UTF-8 sequences, `bad` bytes in none, `bad-lines` the first lines
that hold one; `weighed` bytes from 0x80 up, among them `triples` in a row and `odd` C1 bytes that windows-1252 text hardly has, or
not there; `c1` all of those found; `brackets` how many ⟦ stand before what looks like the mark of a byte. `(.legacy s)` is the
codec that decodes all, encodes it to the same bytes again, and gives text of frequent characters; or None."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  codecs
  re)

(defparameter named-lines 10 "How many lines with undecodable bytes are named at most.")
(defparameter frequent-share 0.2 "The part of the letters that must be frequent ones in a text taken for an East Asian encoding.")

(defparameter sample-size 200_000 "How many bytes from 0x80 up, or letters, are enough to tell how likely a text is.")

(setv HIGH (bytes (range 0x80 0x100))
      LOW (bytes (range 0x80))
      NOT-C1 (bytes (gfor b (range 256) :if (not (<= 0x80 b 0x9f)) b))
      USUAL-C1 b"\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99"   ; the euro sign, dots, quotes, dashes, the trade mark
      NOT-ODD (bytes (gfor b (range 256) :if (or (not (<= 0x80 b 0x9f)) (in b USUAL-C1)) b))
      RUN (re.compile b"[\x80-\xff]{3,}")
      C1-BEFORE-HIGH (re.compile b"[\x80-\x9f][\xa0-\xff]")
      BAD (re.compile "[\udc80-\udcff]")
      LIKE-MARK (re.compile r"(⟦{1,8})\\x[89a-f][0-9a-f]")
      MARK-TAIL 12
      SIGNS (re.compile "[\u0080-\u00bf\u2010-\u203b\u3000-\u303f\uff00-\uff60\uffe0-\uffef]"))

(setv JAPANESE "[ぁ-んァ-ヶー]"
      SIMPLIFIED (+ "[的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法"
                    "所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好应开它合还因由其些然前外天政"
                    "四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向道命此变条只没结解问意建月公无系军很情者最"
                    "立代想已通并提直题程展五果文件世界字码编测试行请输入]")
      TRADITIONAL (+ "[的一是在不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說產種面而方後多定行學法"
                     "所民得經十三之進著等部度家電力裡如水化高自二理起小物現實加量都兩體制機當使點從業本去把性好應開它合還因由其些然前外天政"
                     "四日那社義事平形相全表間樣與關各重新線內數正心反你明看原又麼利比或但質氣第向道命此變條只沒結解問意建月公無系軍很情者最"
                     "立代想已通並提直題程展五果文件世界字碼編測試請輸入]")
      KOREAN (+ "[이다는의에을가고지로하은한를기사도리자서시인어나대정들부라일전아으제수스그보해장상여주구만과안세요습니있것등게적우동"
                "원조국계위관공성연유신말글영경비모생내면지방분소진실문거오마없음러무저입각용려을때야와까임당]")
      CODECS [#("shift_jis" JAPANESE) #("cp932" JAPANESE) #("euc_jp" JAPANESE)
              #("gb18030" SIMPLIFIED) #("big5" TRADITIONAL)
              #("euc_kr" KOREAN) #("cp949" KOREAN)])

(defn _count [pattern text]
  "Return how often PATTERN is found in TEXT, in little memory."
  (sum (gfor _ (.finditer pattern text) 1)))

(defclass Trial []
  "Tries to read bytes in CODEC; FREQUENT are the characters, as a pattern, that such a text has many of."

  (defn __init__ [self codec frequent]
    (setv self.codec codec
          self.frequent (re.compile frequent)
          self.decoder ((codecs.getincrementaldecoder codec) "strict")
          self.tail b""
          self.letters 0 self.hits 0 self.kinds (set)))

  (defn feed [self piece [final False]]
    "Take PIECE; tell whether all so far decodes, and encodes to the same bytes again."
    (setv bytes-due (+ self.tail piece))
    (try
      (setv text (.decode self.decoder piece final)
            back (.encode text self.codec))
      (except [UnicodeError] (return False)))
    (setv self.tail (cut bytes-due (len back) None))
    (when (or (not (.startswith bytes-due back)) (> (len self.tail) 4) (and final self.tail))
      (return False))
    (.weigh self text)
    True)

  (defn weigh [self text]
    "Count the letters of TEXT, and the frequent ones."
    (when (or (.isascii text) (> self.letters sample-size)) (return))
    (+= self.letters (- (len text) (len (.translate (.encode text "ascii" "ignore") None HIGH)) (_count SIGNS text)))
    (for [m (.finditer self.frequent text)]
      (+= self.hits 1)
      (when (< (len self.kinds) 2) (.add self.kinds (.group m)))))

  (defn score [self]
    "Return the part of the letters that are frequent ones; 0 where that is no evidence."
    (if (and self.letters (> (len self.kinds) 1)) (/ self.hits self.letters) 0)))

(defclass Survey []
  "Counts what the module's docstring says, of bytes that come in pieces: feed each piece, then `finish`."

  (defn __init__ [self]
    (setv self.size 0 self.weighed 0 self.valid 0 self.bad 0 self.bad-lines []
          self.triples 0 self.odd 0 self.c1 (set) self.brackets 0
          self.newlines 0 self.last-two b"" self.last-text ""
          self.decoder ((codecs.getincrementaldecoder "utf-8") "surrogateescape")
          self.trials (lfor [codec frequent] CODECS (Trial codec frequent))))

  (defn feed [self piece]
    "Take the next PIECE."
    (setv high (len (.translate piece None LOW)))
    (+= self.size (len piece))
    (when high
      (.update self.c1 (.translate piece None NOT-C1))
      (when (< self.weighed sample-size)
        (+= self.weighed high)
        (.weigh self piece)))
    (setv self.last-two (cut (+ self.last-two piece) -2 None)
          self.trials (lfor t self.trials :if (.feed t piece) t))
    (.take self (.decode self.decoder piece)))

  (defn weigh [self piece]
    "Count what is unlikely for single bytes in PIECE."
    (setv near (+ self.last-two piece))
    (+= self.odd
        (len (.translate piece None NOT-ODD))
        (_count C1-BEFORE-HIGH (cut near (max 0 (- (len self.last-two) 1)) None)))
    (+= self.triples (sum (gfor m (.finditer RUN near) (- (.end m) (.start m) 2)))))

  (defn finish [self]
    "Say that there is no further piece; return the survey."
    (setv self.trials (lfor t self.trials :if (.feed t b"" True) t))
    (.take self (.decode self.decoder b"" True))
    self)

  (defn take [self text]
    "Count the sequences and the undecodable bytes of TEXT, decoded with surrogates for the latter."
    (when (not (.isascii text))
      (setv bad (- (len (.encode text "utf-8" "surrogateescape")) (len (.encode text "utf-8" "ignore"))))
      (+= self.bad bad)
      (+= self.valid (- (len text) (len (.encode text "ascii" "ignore")) bad))
      (when bad (.note-lines self text)))
    (setv near (+ self.last-text text)
          self.last-text (cut near (- MARK-TAIL) None))
    (when (in "⟦" near)
      (setv self.brackets (max self.brackets #* (gfor m (.finditer LIKE-MARK near) (len (.group m 1))) 0)))
    (+= self.newlines (.count text "\n")))

  (defn note-lines [self text]
    "Note the first lines of TEXT with undecodable bytes, one more than are named."
    (setv at 0 line (+ self.newlines 1))
    (for [m (.finditer BAD text)]
      (when (> (len self.bad-lines) named-lines) (break))
      (+= line (.count text "\n" at (.start m)))
      (setv at (.start m))
      (when (not-in line self.bad-lines) (.append self.bad-lines line))))

  (defn legacy [self]
    "Return the East Asian codec that fits the bytes exactly and gives likely text, or None."
    (setv best (max self.trials :key (fn [t] (.score t)) :default None))
    (when (and best (>= (.score best) frequent-share)) best.codec)))
