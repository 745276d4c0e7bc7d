"Bytes become lines and back."

(import
  pytest
  hypothesis [given settings strategies :as st]
  autolith.resource [lines])

(setv TEXT (st.text :alphabet (+ "ab é€\n\r\x0b\x0c\x1c\x85\u2028" "中") :max-size 30))

(defn [(pytest.mark.parametrize "data,name"
         [#(b"" "utf-8")
          #(b"abc\n" "utf-8")
          #((.encode "\ufeffx" "utf-8") "utf-8 with byte-order mark")
          #((.encode "\ufeffx" "utf-16-le") "utf-16-le with byte-order mark")
          #((.encode "\ufeffx" "utf-16-be") "utf-16-be with byte-order mark")
          #((.encode "\ufeffx" "utf-32-le") "utf-32-le with byte-order mark")
          #((.encode "hello\nyou" "utf-16-le") "utf-16-le without mark")
          #((.encode "hello\nyou" "utf-16-be") "utf-16-be without mark")
          #(b"caf\xe9\n" "latin-1")
          #(b"\x93caf\xe9\x94\n" "windows-1252")
          #(b"caf\xe9\x81\n" "latin-1")
          #(b"a single NUL \0 in a text" "utf-8")])]
  test-encodings [data name]
  "Each decodable text is recognised by its bytes."
  (assert (= (get (lines.encoding-of data) "name") name)))

(defn [(pytest.mark.parametrize "data" [b"\x89PNG\r\n\0\0\xff" b"\0\0\0\0" b"\xff\xfe\0" b"ELF\0\xfe\xfe"])]
  test-binary [data]
  "What has NULs and is in no text encoding has no encoding."
  (assert (is (lines.encoding-of data) None)))

(defn [(settings :max-examples 200 :deadline None)
       (given TEXT (st.sampled-from ["utf-8" "utf-8-sig" "utf-16" "utf-16-be" "cp1252" "latin-1"]))]
  test-decoding-is-exact [text codec]
  "Decoding a text that has an encoding and encoding it again gives the same bytes."
  (setv data (.encode text codec "ignore")
        encoding (lines.encoding-of data))
  (when encoding
    (assert (= (lines.encode (lines.decode data encoding) encoding) data))))

(defn [(settings :max-examples 200 :deadline None) (given (st.binary :max-size 60))] test-guess-in-pieces [d]
  "The encoding of bytes that come in pieces is that of the whole."
  (setv guess (lines.Guess (cut d 4096))
        pieces (lfor i (range 0 (len d) 7) (cut d i (+ i 7))))
  (for [piece pieces] (.feed guess piece))
  (setv whole (lines.encoding-of d) found (.result guess))
  (assert (= (if (is found lines.UNSURE) (lines.surveyed pieces (cut d 3)) found) whole)))

(defn [(settings :max-examples 200 :deadline None) (given TEXT)] test-split-joins-again [text]
  "Lines with their ends make up the text, as many as there are newlines, and one more for an open end."
  (setv rows (lines.split text))
  (assert (= (.join "" rows) text))
  (assert (= (len rows) (+ (.count text "\n") (int (bool (and text (not (.endswith text "\n"))))))))
  (assert (= (.join "" (gfor r rows (+ (lines.bare r) (lines.end-of r)))) text)))

(defn test-only-newline-ends-a-line []
  "Form feed, vertical tab, separators, NEL, U+2028 and a lone CR are content."
  (assert (= (lines.split "a\x0c\x0b\x1c\x85\u2028\rb\r\nc") ["a\x0c\x0b\x1c\x85\u2028\rb\r\n" "c"]))
  (assert (= (lines.bare "x\r\r\n") "x\r")))

(defn test-content []
  "A newline at the end of content begins no further line, and CRLF in it counts as a newline."
  (assert (= (lines.of-content "") []))
  (assert (= (lines.of-content "\n") [""]))
  (assert (= (lines.of-content "a\r\nb\n") ["a" "b"])))
