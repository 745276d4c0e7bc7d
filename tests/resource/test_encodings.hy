"Files that are not wholly in one encoding, or in one that can only be guessed: shown honestly, edited without harm."

(import
  os
  shutil
  subprocess
  sys
  pytest
  hypothesis [HealthCheck given settings strategies :as st]
  autolith.resource [lines protocol snapshot]
  tests.resource.lib [Place after before deleted final-newline replaced texts])

(setv MIXED (+ (.encode "één\ntwee é\n") b"bad \xff byte\r\n" (.encode "vier ü\n") b"\xe9nd"))

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn refused [place name #* operations]
  "Return the failure of OPERATIONS on NAME, having seen that its bytes stay."
  (setv data (.data place name))
  (with [e (pytest.raises protocol.ResourceError)] (.change place name #* operations))
  (assert (= (.data place name) data))
  e.value)

(defn header [page]
  "Return the header field of PAGE about the encoding, None if there is none."
  (next (gfor line (.splitlines (get page "text")) :if (.startswith line "Encoding:") line) None))

;; * UTF-8 with undecodable bytes

(defn test-mixed-is-read-as-utf-8 [place]
  "A file that is UTF-8 but for a few bytes reads as that: these marked in their lines, counted and located in the header."
  (.put place "f" MIXED)
  (setv p (.read place "f"))
  (assert (= (texts p) ["één" "twee é" r"bad ⟦\xff⟧ byte" "vier ü" r"⟦\xe9⟧nd"]))
  (assert (in "utf-8 with 2 undecodable bytes" (header p)))
  (assert (in "3, 5" (header p)))
  (assert (= (lfor row (get p "lines") (.get row "undecodable" 0)) [0 0 1 0 1])))

(defn test-edits-of-other-lines-write-utf-8 [place]
  "Beside an undecodable byte new text is written in UTF-8, and every other byte stays."
  (.put place "f" MIXED)
  (setv raw (.splitlines MIXED True))
  (assert (= (.change place "f" (replaced 2 2 "é中") (after 4 "ß"))
             (+ (get raw 0) (.encode "é中\n") (get raw 2) (get raw 3) (.encode "ß\n") (get raw 4)))))

(defn test-only-the-newline-of-a-damaged-line [place]
  "The final newline of a line with an undecodable byte is given without touching the byte."
  (.put place "f" MIXED)
  (assert (= (.change place "f" (final-newline True)) (+ MIXED b"\n"))))

(defn test-damaged-line-replaced-whole [place]
  "Text in the place of a line with an undecodable byte is plain UTF-8, and the outcome says that the byte is gone."
  (.put place "f" MIXED)
  (setv out (.edit place ["f" (get (.read place "f") "revision") (replaced 3 3 "goed é")]))
  (assert (= (get (.split (.data place "f") b"\n") 2) (.encode "goed é\r")))
  (assert (any (gfor note (get out "changes" 0 "notes") (in "undecodable" note))))
  (assert (in r"⟦\xff⟧" (get out "text")))
  (assert (= (get out "text") (.decode (.encode (get out "text") "utf-8") "utf-8")))
  (assert (in "1 undecodable byte," (header (.read place "f")))))

(defn [(pytest.mark.parametrize "content" [r"bad ⟦\xff⟧ word" r"bad ⟦\xFF⟧ word" r"⟦\x80⟧"])]
  test-mark-is-not-written [place content]
  "The mark of a byte is not written as text, be it in the place of its line or elsewhere; the failure names ways out."
  (.put place "f" MIXED)
  (for [operation [(replaced 3 3 content) (replaced 1 1 content) (before 1 content)]]
    (setv e (refused place "f" operation))
    (assert (in "without the mark" e.message))
    (assert (in "command" e.message))))

(defn test-escapes-in-text-are-text [place]
  "What is written like an escape in the file, or like a mark, is never taken for one: marks then have one bracket more."
  (.put place "f" (+ (.encode "é \\xff ⟦\\xfe⟧\n") b"\xff\n"))
  (assert (= (texts (.read place "f")) [r"é \xff ⟦\xfe⟧" r"⟦⟦\xff⟧⟧"]))
  (assert (= (.change place "f" (replaced 1 1 r"\xff ⟦\xfe⟧ é"))
             (+ (.encode "\\xff ⟦\\xfe⟧ é\n") b"\xff\n")))
  (.put place "f" (+ (.encode "é \\xff ⟦\\xfe⟧\n") b"\xff\n"))
  (assert (in "mark" (. (refused place "f" (replaced 1 1 r"⟦⟦\xfe⟧⟧")) message))))

(defn test-surrogates-are-no-way-in [place]
  "Half of a surrogate pair in the content does not become an undecodable byte."
  (.put place "f" MIXED)
  (assert (in "U+DCE9" (. (refused place "f" (replaced 1 1 "\udce9")) message))))

(defn test-mixed-with-mark-of-order [place]
  "A byte-order mark stays, also where the text behind it has an undecodable byte."
  (.put place "f" b"\xef\xbb\xbfcaf\xe9\nx\n")
  (assert (in "byte-order mark and 1 undecodable byte" (header (.read place "f"))))
  (assert (= (.change place "f" (replaced 2 2 "é")) b"\xef\xbb\xbfcaf\xe9\n\xc3\xa9\n")))

(defn test-change-by-others-is-shown [place]
  "What somebody else changed in such a file is shown with marks."
  (.put place "f" MIXED)
  (setv revision (get (.read place "f") "revision"))
  (.put place "f" (.replace MIXED b"bad" b"worse"))
  (with [e (pytest.raises protocol.ResourceError)] (.edit place ["f" revision (replaced 1 1 "x")]))
  (assert (in r"worse ⟦\xff⟧ byte" e.value.message))
  (assert (in r"bad ⟦\xff⟧ byte" e.value.message)))

(defn test-long-damaged-line [place]
  "A long line with many undecodable bytes is read by column, a byte being one, and each page keeps its bound."
  (.put place "f" (+ (* (.encode "é") 6000) (* b"\xff" 6000) b"\n"))
  (setv column 1 got "")
  (while (<= column 12000)
    (setv p (.read place "f" :start-column column) row (get p "lines" 0))
    (assert (< (len (get p "text")) 8000))
    (+= got (get row "text"))
    (setv column (+ (get row "columns" 1) 1)))
  (assert (= got (+ (* "é" 6000) (* r"⟦\xff⟧" 6000))))
  (assert (= (get p "visible") [[1 1]])))

(defn test-large-mixed-file [place]
  "In a file beyond what is kept, a late undecodable byte is located, and windows near it are right."
  (.put place "f" (+ (* (.encode "zéér lang\n") 500_000) b"x\xffy\n" (.encode "na é\n")))
  (setv p (.read place "f" :start-line 500_000))
  (assert (= (texts p) ["zéér lang" r"x⟦\xff⟧y" "na é"]))
  (assert (in "on line 500001 " (header p))))

(defn test-line-numbers-as-in-ripgrep [place]
  "Whatever bytes lie between, lines have ripgrep's numbers, and the visible ranges count the same lines."
  (setv shift-jis (.encode "表示ソース\n能力\nこれはテスト\n" "shift_jis"))
  (for [data [(+ MIXED b"\nneedle\n") (+ shift-jis b"needle\n") (+ b"caf\xe9\x85\n\x0b\x0c\n" b"needle\n")]]
    (.put place "f" data)
    (setv rg (shutil.which "rg" :path (+ sys.prefix "/bin:" os.defpath))
          out (subprocess.run [rg "-na" "needle" "f"] :cwd place.folder :capture-output True :text True)
          n (int (get (.split out.stdout ":") 0))
          p (.read place "f" :start-line n :line-count 1))
    (assert (= (texts p) ["needle"]))
    (assert (= (get p "visible") [[n n]]))
    (assert (= (.change place "f" (replaced n n "found")) (.replace data b"needle" b"found")))))

;; * Guesses

(setv SAMPLES {"shift_jis" "設定ファイルを読み込む。\nテスト\n"  "euc_jp" "これは文字コードの試験です。\n"
               "gb18030" "你好,世界\n// 这是一个测试文件\n"  "big5" "這是一個測試文件,請看\n你好世界\n"
               "euc_kr" "안녕하세요 세계\n이것은 시험입니다\n"})

(defn [(pytest.mark.parametrize "codec" (list SAMPLES))] test-east-asian [place codec]
  "Likely text in an East Asian encoding is shown as such, called a guess, and edited in it."
  (setv data (.encode (+ (get SAMPLES codec) "last\n") codec)
        n (.count data b"\n"))
  (.put place "f" data)
  (setv p (.read place "f"))
  (assert (= (texts p) (.splitlines (+ (get SAMPLES codec) "last"))))
  (assert (in codec (header p)))
  (assert (in "guess" (header p)))
  (setv word (get SAMPLES codec 0))
  (assert (= (.change place "f" (replaced n n word)) (.replace data b"last" (.encode word codec))))
  (when (!= codec "gb18030")
    (assert (in "U+1F600" (. (refused place "f" (replaced n n "\U0001f600")) message)))))

(defn test-no-character-turns-into-another [place]
  "A character that an encoding would write as another one is refused: a yen sign is no backslash."
  (.put place "f" (.encode (get SAMPLES "shift_jis") "shift_jis"))
  (assert (in "U+00A5" (. (refused place "f" (replaced 1 1 "¥100")) message))))

(defn [(pytest.mark.parametrize "text,codec"
         [#("日本語\n" "shift_jis") #("Привет, мир\n" "cp1251") #("Привет, мир\n" "koi8-r") #("檔案\n" "big5")
          #("Zażółć gęślą jaźń\n" "cp1250") #("Καλημέρα κόσμε\n" "iso8859-7") #("中文\n" "gbk")])]
  test-uncertain-bytes-are-called-a-guess [place text codec]
  "Bytes that are hardly Latin-1 and too few to tell are shown as single bytes, called a guess, and kept."
  (setv data (+ (.encode text codec) b"x\n"))
  (.put place "f" data)
  (assert (in "guess" (header (.read place "f"))))
  (assert (= (.change place "f" (replaced 2 2 "y")) (+ (.encode text codec) b"y\n"))))

(defn [(pytest.mark.parametrize "text,codec"
         [#("« café » déjà créée\nÀ bientôt\n" "latin-1") #("Größe für die Straße, Äpfel, Übermut\n" "latin-1")
          #("¿Qué año? El niño dice ¡sí!\n" "latin-1") #("“Don’t” – he said… it’s 5 €\n" "cp1252") #("Smörgåsbord på ön\n" "latin-1")])]
  test-western-text-is-no-guess [place text codec]
  "Western text of single bytes is shown as such, marked, and not called a guess."
  (.put place "f" (.encode text codec))
  (setv p (.read place "f"))
  (assert (= (texts p) (.splitlines text)))
  (assert (header p))
  (assert (not-in "guess" (header p))))

(defn [(settings :max-examples 100 :deadline None) (given (st.lists (st.sampled-from ["für" "größe" "déjà" "été" "Ñandú" "façade" "ÄÖÜ"
                                                                                       "“æ”" "naïve" "a" "\n" "ørsted"]) :min-size 1))]
  test-western-text-is-not-east-asian [words]
  "No arrangement of Western words reads as an East Asian text."
  (assert (in (get (lines.encoding-of (.encode (.join " " words) "cp1252")) "codec") ["utf-8" "cp1252" "latin-1"])))

;; * Any bytes, any edits

(setv LINE (st.one-of
             (st.binary :max-size 8)
             (st.builds (fn [t] (.encode t)) (st.text :alphabet "aé中😀⟦\\xf" :max-size 6))
             (st.builds (fn [t codec] (.encode t codec "ignore"))
                        (st.text :alphabet "のテスト表漢字这是的一個이다고" :max-size 6)
                        (st.sampled-from ["shift_jis" "gb18030" "big5" "euc_kr" "euc_jp"]))
             (st.sampled-from [b"\xff" b"\xe4\xb8" b"caf\xe9\r" b"\xef\xbb\xbf" b"\x82\xa0\x82\xcc"]))
      CONTENT (st.text :alphabet "aé中の的다\n¥\udcff⟦\\xf9" :max-size 6))

(defn byte-lines [data]
  "Return the lines of the bytes DATA, each with its newline."
  (setv parts (.split data b"\n"))
  (+ (lfor p (cut parts -1) (+ p b"\n")) (if (get parts -1) [(get parts -1)] [])))

(defn [(settings :max-examples 200 :deadline None :suppress-health-check [HealthCheck.function-scoped-fixture])
       (given (st.lists LINE :min-size 1 :max-size 10) (st.booleans) (st.data))]
  test-bytes-elsewhere-stay [place rows final data]
  "Of any bytes, an edit changes those of the addressed lines alone, and what it writes decodes as the header says; else nothing."
  (setv raw (+ (.join b"\n" rows) (if final b"\n" b""))
        encoding (lines.encoding-of raw))
  (.put place "f" raw)
  (when (or (is encoding None) (> (get encoding "unit") 1) (not raw))
    (return))
  (setv bom (get encoding "bom")
        old (byte-lines (.removeprefix raw bom))
        a (.draw data (st.integers 1 (max 1 (len old))))
        b (.draw data (st.integers a (max 1 (min (len old) (+ a 2)))))
        content (.draw data CONTENT)
        operation (.draw data (st.sampled-from [(replaced a b content) (deleted a b) (before a (or content "x")) (after b (or content "x"))]))
        [first last] (match (get operation "op") "insert-before" [a (- a 1)] "insert-after" [(+ b 1) b] _ [a b])
        head (+ bom (.join b"" (cut old (- first 1))))
        tail (.join b"" (cut old last None)))
  (when (not old) (return))
  (try
    (setv new (.change place "f" operation))
    (except [protocol.ResourceError]
      (assert (= (.data place "f") raw))
      (return)))
  (if tail
    (assert (and (.startswith new head) (.endswith new tail)))
    (assert (.startswith new (.rstrip head b"\r\n"))))
  (when tail
    (setv middle (.decode (cut new (len head) (- (len new) (len tail))) (get encoding "codec")))
    (assert (= (lfor line (lines.split middle) (lines.bare line)) (lines.of-content (.get operation "content" ""))))))

(defn [(settings :max-examples 200 :deadline None) (given (st.lists LINE :min-size 1 :max-size 10) (st.sampled-from [4 16 64]))]
  test-surveys-in-pieces [rows piece]
  "What is said of a file does not depend on the pieces it is read in, and shown or encoded again nothing is lost."
  (setv raw (.join b"\n" rows) whole (snapshot.scan-bytes raw) kept snapshot.piece-size)
  (try
    (setv snapshot.piece-size piece
          seen (snapshot.scan-bytes raw))
    (finally (setv snapshot.piece-size kept)))
  (setv encoding (get whole "encoding"))
  (assert (= encoding (lines.encoding-of raw)))
  (when encoding
    (assert (= (lines.encode (lines.decode raw encoding) encoding) raw))
    (.encode (lines.shown (lines.decode raw encoding) encoding) "utf-8"))
  (when (not-in b"\0" raw)
    (assert (= (get seen "encoding") encoding))))
