"Windows of files of every kind and size, directories, and what is not there."

(import
  asyncio
  os
  shutil
  socket
  subprocess
  sys
  tracemalloc
  pytest
  hypothesis [given settings strategies :as st]
  autolith.resource [page protocol snapshot window]
  tests.resource.lib [Place texts])

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn numbers [n]
  "Return the bytes of N lines, each its number."
  (.encode (.join "" (gfor i (range 1 (+ n 1)) f"{i}\n"))))

(defn test-window [place]
  "A window has the lines asked for, under the ranges that are visible, and names what is left out."
  (.put place "f" (numbers 1000))
  (setv p (.read place "f" :start-line 11 :line-count 20))
  (assert (= (texts p) (lfor i (range 11 31) (str i))))
  (assert (= (get p "visible") [[11 30]]))
  (assert (= (get p "elided") [[1 10] [31 1000]]))
  (assert (= (get p "total") 1000))
  (assert (= (get p "kind") "file"))
  (for [field ["URI: workspace:f" f"Revision: {(get p "revision")}" "Kind: file" "Visible lines: 11-30 of 1000" "    11  11"]]
    (assert (in field (get p "text")))))

(defn test-ranges-merge [place]
  "Reading more of the same content extends what is visible under the same revision."
  (.put place "f" (numbers 100))
  (setv a (.read place "f" :start-line 1 :line-count 10) b (.read place "f" :start-line 11 :line-count 10))
  (assert (= (get a "revision") (get b "revision")))
  (assert (= (get b "visible") [[1 20]])))

(defn test-revision-follows-content [place]
  "Other content of the same size and time has another revision; the old content again has the old one."
  (setv path (.put place "f" b"one\n") a (.read place "f") info (os.stat path))
  (.put place "f" b"two\n")
  (os.utime path :ns #(info.st-atime-ns info.st-mtime-ns))
  (setv b (.read place "f"))
  (.put place "f" b"one\n")
  (assert (!= (get a "revision") (get b "revision")))
  (assert (= (get (.read place "f") "revision") (get a "revision"))))

(defn test-body-is-bounded [place]
  "A window holds no more whole lines than fit, says where to go on, and going on shows everything."
  (.put place "f" (.join b"" (gfor i (range 1000) (+ (* b"x" 90) b"\n"))))
  (setv at 1 seen 0)
  (while (<= at 1000)
    (setv p (.read place "f" :start-line at :line-count 1000))
    (assert (< (len (get p "text")) 8000))
    (+= seen (len (get p "lines")))
    (setv at (+ (get p "lines" -1 "number") 1)))
  (assert (= seen 1000))
  (assert (= (get p "visible") [[1 1000]])))

(defn test-start-beyond-the-end [place]
  "To begin beyond the end is an error that names the length; an empty file is read all the same."
  (.put place "f" b"a\nb")
  (.put place "empty" b"")
  (with [e (pytest.raises protocol.ResourceError)] (.read place "f" :start-line 3))
  (assert (in "2" e.value.message))
  (assert (= (get (.read place "empty") "total") 0)))

(defn test-long-line [place]
  "A line that does not fit is shown in part with its length, read on by column, and visible once read to its end."
  (setv line (.join "" (gfor i (range 4000) f"{i :04d}")))
  (.put place "f" (.encode (+ "short\n" line "é\r\nlast\n")))
  (setv first (.read place "f"))
  (assert (= (texts first) ["short"]))
  (assert (in "start-line 2" (get first "text")))
  (setv column 1 got "")
  (while (<= column 16001)
    (setv p (.read place "f" :start-line 2 :start-column column) row (get p "lines" 0))
    (assert (< (len (get p "text")) 8000))
    (assert (= (get row "length") 16001))
    (+= got (get row "text"))
    (when (< (get row "columns" 1) 16001) (assert (= (get p "visible") [[1 1]])))
    (setv column (+ (get row "columns" 1) 1)))
  (assert (= got (+ line "é")))
  (assert (= (get p "visible") [[1 2]]))
  (with [(pytest.raises protocol.ResourceError)] (.read place "f" :start-line 2 :start-column 16002)))

(defn [(pytest.mark.parametrize "codec" ["utf-8" "utf-8-sig" "utf-16" "utf-16-be" "latin-1" "cp1252"])]
  test-encodings-are-read [place codec]
  "Text in any usual encoding is shown as text, the odd ones marked, the byte-order mark never as a character."
  (.put place "f" (.encode "“é”\nzwei\n" codec "ignore"))
  (setv p (.read place "f"))
  (assert (= (texts p) [(.decode (.encode "“é”" codec "ignore") codec) "zwei"]))
  (assert (= (in "Encoding:" (get p "text")) (!= codec "utf-8"))))

(defn [(pytest.mark.parametrize "data,expected"
         [#(b"\xfe\xff\n\x01\x01" ["þÿ" "\x01\x01"]) #(b"\xef\xbb\xbfcaf\xe9\xe9\xe8\xe8\xe8\n" ["ï»¿cafééèèè"]) #(b"\xff\xfea" ["ÿþa"])])]
  test-false-marks [place data expected]
  "What begins like a byte-order mark and is no such text is read as the single bytes that it is."
  (.put place "f" data)
  (assert (= (texts (.read place "f")) expected)))

(defn test-utf-16-without-mark [place]
  "UTF-16 that lost its mark is still text."
  (.put place "f" (.encode "one\ntwo\nthree\n" "utf-16-le"))
  (assert (= (texts (.read place "f")) ["one" "two" "three"])))

(defn [(pytest.mark.parametrize "mark" ["\x0c" "\x0b" "\x1c" "\x1d" "\x1e" "\x85" "\u2028" "\u2029" "\r"])]
  test-lines-as-in-ripgrep [place mark]
  "Only a newline ends a line, whatever else Python would split at."
  (.put place "f" (.encode f"line0\n{mark}line1\nline2\n"))
  (assert (= (texts (.read place "f")) ["line0" (+ mark "line1") "line2"]))
  (setv rg (shutil.which "rg" :path (+ sys.prefix "/bin:" os.defpath))
        out (subprocess.run [rg "-n" "line2" "f"] :cwd place.folder :capture-output True :text True))
  (assert (.startswith out.stdout "3:")))

(defn test-binary-is-refused [place]
  "What is no text is refused with its size and a way to look at it."
  (.put place "f" (+ b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" (bytes (range 256))))
  (with [e (pytest.raises protocol.ResourceError)] (.read place "f"))
  (assert (in "no text" e.value.message)))

;; * Special files

(defn test-special-files [place]
  "A pipe, a socket and a device are refused without being opened: nothing waits, no writer is woken."
  (os.mkfifo (.path place "pipe"))
  (setv s (socket.socket socket.AF-UNIX))
  (.bind s (.path place "sock"))
  (os.symlink "/dev/zero" (.path place "zero"))
  (for [name ["pipe" "sock" "zero" "/dev/tty"]]
    (with [(pytest.raises protocol.ResourceError)] (.read place name)))
  (with [(pytest.raises OSError)]                        ; no reader has the pipe open
    (os.open (.path place "pipe") (| os.O-WRONLY os.O-NONBLOCK)))
  (.close s))

(defn test-special-at-the-last-moment [place monkeypatch]
  "A file that becomes a pipe between the look and the opening does not hang the reader."
  (os.mkfifo (.path place "pipe"))
  (setv real os.stat regular (os.stat __file__))
  (monkeypatch.setattr snapshot.os "stat" (fn [path #** k] (if (.endswith (str path) "pipe") regular (real path #** k))))
  (with [(pytest.raises protocol.ResourceError)] (.read place "pipe")))

(defn test-proc [place]
  "Files that claim to be empty, as those of /proc, are read to their end."
  (when (os.path.exists "/proc/self/status")
    (assert (in "Name:" (get (.read place "/proc/self/status") "text")))))

;; * Large files

(defn test-window-of-a-large-file [place]
  "Any window of a file beyond what is kept is read in bounded memory, from the nearest index point."
  (with [f (open (.path place "big") "wb")]
    (for [i (range 200)]
      (.write f (.join b"" (gfor j (range 2000) (% b"%08d %s\n" #((+ (* i 2000) j 1) (* b"x" 90))))))))
  (tracemalloc.start)
  (setv p (.read place "big" :start-line 399_990 :line-count 5)
        q (.read place "big" :start-line 123_456 :line-count 1)
        [_ peak] (tracemalloc.get-traced-memory))
  (tracemalloc.stop)
  (assert (= (get p "total") 400_000))
  (assert (= (lfor t (texts p) (int (cut t 8))) [399_990 399_991 399_992 399_993 399_994]))
  (assert (.startswith (get q "lines" 0 "text") "00123456 "))
  (assert (= (get p "revision") (get q "revision")))
  (assert (< peak 12_000_000)))

(defn [(settings :max-examples 100 :deadline None)
       (given (st.lists (st.text :alphabet "aé中\r" :max-size 9) :min-size 1 :max-size 40)
              (st.sampled-from ["utf-8" "utf-8-sig" "utf-16" "utf-16-be" "utf-32"])
              (st.integers 1 40) (st.integers 1 10) (st.sampled-from [4 8 64]))]
  test-pieces-do-not-matter [rows codec start count piece]
  "However small the pieces a file is read in, its index leads to the same lines, total and ends."
  (setv text (.join "\n" rows) data (.encode (+ (if (= codec "utf-16-be") "\ufeff" "") text) codec)
        whole (snapshot.scan-bytes data) kept snapshot.piece-size)
  (try
    (setv snapshot.piece-size piece
          seen (snapshot.scan-bytes data))
    (finally (setv snapshot.piece-size kept)))
  (for [key ["digest" "total" "crlf" "lf" "final_newline"]]
    (assert (= (get seen key) (get whole key))))
  (assert (= (get seen "encoding") (get whole "encoding")))
  (setv shown (window.read seen start count 7000))
  (for [row (get shown "rows")]
    (setv raw (get (.split text "\n") (- (get row "number") 1))
          last (= (get row "number") (len (.split text "\n"))))
    (assert (= (get row "text") (if last raw (.removesuffix raw "\r")))))
  (assert (= (len (get shown "rows")) (max 0 (min count (- (+ (get seen "total") 1) start))))))

(defn test-one-giant-line [place]
  "A file that is one line of many megabytes is read by column, at its end too."
  (.put place "f" (+ (* b"abcdefghij" 1_000_000) b"END"))
  (setv p (.read place "f" :start-column 10_000_001))
  (assert (= (texts p) ["END"]))
  (assert (= (get p "lines" 0 "length") 10_000_003)))

(defn test-cancelled-reading-stops [place]
  "When the reader of a huge file is cancelled, its thread stops reading soon."
  (with [f (open (.path place "huge") "wb")] (.truncate f 1_000_000_000_000))
  (defn :async attempt []
    (setv task (asyncio.ensure-future (protocol.read place.context "workspace:huge")))
    (await (asyncio.sleep 0.05))
    (.cancel task)
    (with [(pytest.raises asyncio.CancelledError)] (await task))
    (await (asyncio.wait-for (.shutdown-default-executor (asyncio.get-running-loop)) 10)))
  (assert (is (asyncio.run (attempt)) None)))

(defn test-changed-large-file [place]
  "A remembered scan of a large file is not used once the file changed, even with its old size and time."
  (setv path (.put place "f" (* b"0123456\n" 800_000)))
  (os.utime path #(1_000_000 1_000_000))
  (setv a (.read place "f" :start-line 700_000 :line-count 1))
  (with [f (open path "r+b")] (.seek f (* 8 699_999)) (.write f b"CHANGED"))
  (os.utime path #(1_000_000 1_000_000))
  (setv b (.read place "f" :start-line 700_000 :line-count 1))
  (assert (= (texts b) ["CHANGED"]))
  (assert (!= (get a "revision") (get b "revision"))))

;; * Directories and nothing

(defn test-directory [place]
  "A directory lists directories first, then the other names in order, with type and size."
  (for [d ["zdir" "adir"]] (os.mkdir (.path place d)))
  (.put place "b.txt" b"12345")
  (.put place ".hidden" b"")
  (os.symlink "b.txt" (.path place "link"))
  (os.mkfifo (.path place "pipe"))
  (setv p (.read place "."))
  (assert (= (get p "kind") "directory"))
  (assert (= (lfor r (get p "lines") #((get r "type") (get r "name")))
             [#("d" "adir") #("d" "zdir") #("f" ".hidden") #("f" "b.txt") #("l" "link") #("o" "pipe")]))
  (assert (in "adir/" (get p "text")))
  (assert (in " 5 b.txt" (get p "text"))))

(defn test-large-directory [place]
  "Of a directory with more names than fit, the listing says how to go on, and going on shows all."
  (for [i (range 700)] (.put place f"file-{i :04d}" b""))
  (setv at 1 got [])
  (while (<= at 700)
    (setv p (.read place "." :start-line at))
    (.extend got (gfor r (get p "lines") (get r "name")))
    (setv at (+ (get p "lines" -1 "number") 1)))
  (assert (= got (lfor i (range 700) f"file-{i :04d}")))
  (with [(pytest.raises protocol.ResourceError)] (.read place "." :start-line 701)))

(defn test-missing [place]
  "A name that nothing has is a page with a revision, not an error."
  (setv p (.read place "no/such/file.txt"))
  (assert (= (get p "kind") "missing"))
  (assert (= (get p "total") 0))
  (assert (.startswith (get p "revision") "R")))

(defn test-dangling-link [place]
  "A link to nothing is missing, and says where it leads."
  (os.symlink "nowhere" (.path place "link"))
  (setv p (.read place "link"))
  (assert (= (get p "kind") "missing"))
  (assert (in "nowhere" (get p "text"))))

(defn test-query-needs-a-collection [place]
  "A query on a file names the tool that searches files."
  (.put place "f" b"x\n")
  (with [e (pytest.raises protocol.ResourceError)] (.read place "f" :query "x"))
  (assert (in "search.content" e.value.message)))
