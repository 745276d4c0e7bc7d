"Files that grow, change or vanish while they are read, and file systems that cannot do everything."

(import
  errno
  os
  pytest
  autolith.resource [change exchange protocol publish snapshot window]
  tests.resource.lib [Place filled replaced texts])

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn meanwhile [monkeypatch module name act * [times 1]]
  "Let ACT run after the function NAME of MODULE, the first TIMES times."
  (setv real (getattr module name) done [])
  (monkeypatch.setattr module name
    (fn [#* a #** k]
      (setv value (real #* a #** k))
      (when (< (len done) times)
        (.append done True)
        (act))
      value)))

(defn appended [path]
  "Return a thunk that appends a line to PATH."
  (fn [] (with [f (open path "ab")] (.write f b"more\n"))))

(defn test-growing-log [place monkeypatch]
  "A log that grows all the while is read as it was, and said to be growing."
  (setv path (.put place "log" (* b"line\n" 1_000_000)))
  (meanwhile monkeypatch snapshot "scan_file" (appended path) :times 100)
  (setv page (.read place "log" :start-line 999_999))
  (assert (= (cut (texts page) 2) ["line" "line"]))
  (assert (in "being written" (get page "text"))))

(defn test-growing-between-scan-and-window [place monkeypatch]
  "When a large file changed between its scan and the reading of the window, it is scanned again."
  (setv path (.put place "f" (* b"0123456\n" 800_000)))
  (defn change []
    (with [f (open path "r+b")] (.write f b"CHANGED")))
  (meanwhile monkeypatch snapshot "scan" change)
  (setv page (.read place "f" :line-count 1))
  (assert (= (texts page) ["CHANGED"])))

(defn test-never-still [place monkeypatch]
  "A large file that is rewritten at every attempt is given up with the reason."
  (setv path (.put place "f" (* b"0123456\n" 800_000)) sizes (iter (range 6_000_000 1_000_000 -8)))
  (meanwhile monkeypatch snapshot "scan_file" (fn [] (os.truncate path (next sizes))) :times 100)
  (with [e (pytest.raises protocol.ResourceError)] (.read place "f"))
  (assert (in "changes while it is read" e.value.message)))

(defn test-vanishes [place monkeypatch]
  "A file that is deleted between the look and the reading gives a failure, not a crash."
  (setv path (.put place "f" b"x\n"))
  (meanwhile monkeypatch snapshot "_known" (fn [] (os.unlink path)))
  (with [(pytest.raises protocol.ResourceError)] (.read place "f")))

;; * What has changed

(defn after-change [place first second]
  "Show FIRST, put SECOND in its place, and return the failure of an edit."
  (.put place "f" first)
  (setv revision (get (.read place "f") "revision"))
  (.put place "f" second)
  (with [e (pytest.raises protocol.ResourceError)]
    (.edit place ["f" revision (replaced 1 1 "x")]))
  (assert (= (.data place "f") second))
  e.value.message)

(defn [(pytest.mark.parametrize "first,second,said"
         [#(b"a\n" b"b\n" "b")
          #(b"a\n" b"\xef\xbb\xbfa\n" "byte-order mark")
          #(b"a\n" b"\0\xff\0" "no text")
          #(b"caf\xe9\n" (.encode "café\n") "utf-8")
          #(b"a\n" (.encode "\ufeffa\n" "utf-16-le") "utf-16")])]
  test-what-changed [place first second said]
  "The failure of an edit says what is different now: lines, encoding, mark, or that it is no text."
  (assert (in said (after-change place first second))))

(defn test-what-changed-is-forgotten [place monkeypatch]
  "When the old content is not kept any more, the failure says that."
  (monkeypatch.setattr protocol "kept_bytes" 0)
  (assert (in "not kept" (after-change place b"a\n" b"b\n"))))

(defn test-became-binary [place]
  "An observed file that is no text any more is not edited."
  (.put place "f" b"")
  (setv revision (get (.read place "f") "revision"))
  (.put place "f" b"\x89PNG\0\xff")
  (with [(pytest.raises protocol.ResourceError)] (.edit place ["f" revision (filled "x")])))

;; * Lesser file systems

(defn unable [#* _ #** k]
  "Fail as a file system without hard links does."
  (raise (OSError errno.EPERM "Operation not permitted")))

(defn test-creating-without-hard-links [place monkeypatch]
  "Where there are no hard links, a new file is renamed into its place, never over another."
  (monkeypatch.setattr publish.os "link" unable)
  (setv revision (get (.read place "new") "revision"))
  (.edit place ["new" revision (filled "x\n")])
  (assert (= (.data place "new") b"x\n"))
  (setv revision (get (.read place "other") "revision") real publish._create)
  (monkeypatch.setattr publish "_create" (fn [s] (.put place "other" b"theirs\n") (real s)))
  (with [(pytest.raises protocol.ResourceError)] (.edit place ["other" revision (filled "ours\n")]))
  (assert (= (.data place "other") b"theirs\n")))

(defn test-creating-with-neither [place monkeypatch]
  "Where a name cannot be taken without replacing, creation is refused, and nothing is left."
  (monkeypatch.setattr publish.os "link" unable)
  (monkeypatch.setattr exchange "move_new" (fn [a b] False))
  (setv revision (get (.read place "d/new") "revision"))
  (with [(pytest.raises protocol.ResourceError)] (.edit place ["d/new" revision (filled "x\n")]))
  (assert (= (os.listdir place.folder) [])))

(defn test-exchange [tmp-path]
  "An exchange swaps two files or says that it cannot, and a rename to a new name never replaces."
  (setv a (/ tmp-path "a") b (/ tmp-path "b"))
  (.write-text a "1")
  (.write-text b "2")
  (if (exchange.swap (str a) (str b))
    (assert (= #((.read-text a) (.read-text b)) #("2" "1")))
    (assert (= #((.read-text a) (.read-text b)) #("1" "2"))))
  (with [(pytest.raises OSError)] (exchange.swap (str a) (str (/ tmp-path "none"))))
  (setv before (.read-text b))
  (try (exchange.move-new (str a) (str b)) (except [FileExistsError] None))
  (assert (= (.read-text b) before)))

(defn test-attribute-that-cannot-be-kept [place monkeypatch]
  "An extended attribute that cannot be copied is named in the outcome."
  (setv path (.put place "f" b"x\n"))
  (os.setxattr path "user.t" b"1")
  (monkeypatch.setattr publish.os "setxattr" unable)
  (setv out (.edit place ["f" (get (.read place "f") "revision") (replaced 1 1 "y")]))
  (assert (in "user.t" (get out "changes" 0 "notes" 0))))

(defn test-no-lock-file [place monkeypatch]
  "Where the lock file cannot be made, edits go on with their comparisons alone."
  (setv blocked (.put place "file" b""))
  (monkeypatch.setenv "XDG_STATE_HOME" (+ blocked "/below"))
  (.put place "f" b"x\n")
  (assert (= (.change place "f" (replaced 1 1 "y")) b"y\n")))
