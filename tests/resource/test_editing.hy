"Edits through the protocol: what changes, what stays, what is refused and how it goes on from there."

(eval-when-compile (require autolith.base.macros [handler-bind]))
(import
  asyncio
  os
  random
  pytest
  hypothesis [HealthCheck assume given settings :as with-settings strategies :as st]
  autolith.base [conditions]
  autolith.resource [lines protocol]
  tests.resource.lib :as lib
  tests.resource.lib [Place deleted filled replaced texts])

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn refused [place #* changes]
  "Apply CHANGES, which must fail, and return the failure."
  (with [e (pytest.raises protocol.ResourceError)]
    (.edit place #* changes))
  e.value)

(defn names-of [error]
  "Return the names of the restarts of ERROR."
  (lfor [name #* _] error.restarts name))

;; * Bytes that were not addressed

(defn test-mixed-line-ends [place]
  "In a file of mixed line ends only the addressed lines change, and new lines take the ends of those they replace."
  (.put place "f" b"alpha\nbeta\r\ngamma\n")
  (assert (= (.change place "f" (replaced 3 3 "GAMMA")) b"alpha\nbeta\r\nGAMMA\n"))
  (assert (= (.change place "f" (replaced 1 2 "A\nB")) b"A\nB\r\nGAMMA\n"))
  (.put place "g" b"a\r\nb\nc\r\n")
  (assert (= (.change place "g" (replaced 1 1 "A")) b"A\r\nb\nc\r\n")))

(defn test-byte-order-mark [place]
  "A byte-order mark is no character of line 1, and stays."
  (.put place "f" b"\xef\xbb\xbfconst value = 1;\n")
  (assert (= (texts (.read place "f")) ["const value = 1;"]))
  (assert (= (.change place "f" (replaced 1 1 "const value = 2;")) b"\xef\xbb\xbfconst value = 2;\n"))
  (assert (= (.change place "f" (deleted 1 1)) b"\xef\xbb\xbf"))
  (assert (= (.change place "f" (filled "x\n")) b"\xef\xbb\xbfx\n")))

(defn test-final-newline [place]
  "No final newline is added or removed unless asked for."
  (.put place "f" b"{\n  \"a\": 1\n}")
  (assert (= (.change place "f" (replaced 2 2 "  \"a\": 2")) b"{\n  \"a\": 2\n}"))
  (assert (= (.change place "f" (replaced 3 3 "};\n")) b"{\n  \"a\": 2\n};"))
  (assert (= (.change place "f" (lib.after 3 "end")) b"{\n  \"a\": 2\n};\nend"))
  (assert (= (.change place "f" (lib.final-newline True)) b"{\n  \"a\": 2\n};\nend\n"))
  (assert (= (.change place "f" (lib.final-newline False)) b"{\n  \"a\": 2\n};\nend")))

(defn test-odd-characters-elsewhere [place]
  "Curly quotes, trailing blanks and ligatures on other lines keep their bytes."
  (setv other (.encode "say “hi”  \nﬁ ① ｱ\n"))
  (.put place "f" (+ other b"x = 'a'\n"))
  (assert (= (.change place "f" (replaced 3 3 "x = 'b'")) (+ other b"x = 'b'\n"))))

(defn [(pytest.mark.parametrize "mark" ["\x0c" "\x0b" "\x1c" "\x85" "\u2028" "\r"])]
  test-line-numbers-agree [place mark]
  "The line that a read numbers is the line that an edit changes, whatever characters stand before it."
  (.put place "f" (.encode f"line0\n{mark}line1\nline2\n"))
  (assert (= (.change place "f" (replaced 3 3 "LINE2")) (.encode f"line0\n{mark}line1\nLINE2\n"))))

(defn [(pytest.mark.parametrize "codec" ["latin-1" "cp1252" "utf-16" "utf-16-be" "utf-32" "utf-8-sig"])]
  test-encodings-are-kept [place codec]
  "A file in another encoding is edited as text and stays in it."
  (setv mark (if (= codec "utf-16-be") "\ufeff" "")
        text (if (= codec "cp1252") "“é”\r\nzwei\n" "é\r\nzwei\n"))
  (.put place "f" (.encode (+ mark text) codec))
  (assert (= (.change place "f" (replaced 2 2 "zwölf")) (.encode (+ mark (.replace text "zwei" "zwölf")) codec))))

(defn test-character-without-code [place]
  "A character that the file's encoding lacks is refused by name, and nothing is written."
  (.put place "f" b"caf\xe9\nx\n")
  (setv e (refused place ["f" (get (.read place "f") "revision") (replaced 2 2 "中")]))
  (assert (in "U+4E2D" e.message))
  (assert (= (.data place "f") b"caf\xe9\nx\n"))
  (.put place "g" b"x\n")
  (setv e (refused place ["g" (get (.read place "g") "revision") (replaced 1 1 "\ud800")]))
  (assert (in "U+D800" e.message)))

(defn [(with-settings :max-examples 150 :deadline None :suppress-health-check [HealthCheck.function-scoped-fixture])
       (given (st.lists (st.one-of (st.binary :max-size 6) (st.sampled-from [b"\xef\xbb\xbf" b"\xff\xfe" b"\xe9t\xe9\r" b"a\0"]))
                        :min-size 1 :max-size 8)
              (st.integers 0 7) (st.sampled-from ["" "x" "x\ny" "caf"]))]
  test-any-bytes [place pieces at content]
  "Whatever bytes a text consists of, those outside the replaced line come out as they were."
  (setv data (.join b"\n" pieces) encoding (lines.encoding-of data))
  (assume encoding)
  (setv rows (lines.split (lines.decode data encoding)))
  (assume (< at (len rows)))
  (.put place "f" data)
  (setv new (.change place "f" (replaced (+ at 1) (+ at 1) content))
        head (lines.encode (.join "" (cut rows at)) encoding)
        tail (.encode (.join "" (cut rows (+ at 1) None)) (get encoding "codec") (get encoding "errors")))
  (if (< (+ at 1) (len rows))
    (assert (and (.startswith new head) (.endswith new tail)))
    (assert (.startswith new (cut head (- (len head) (* 2 (get encoding "unit"))))))))

(defn test-random-bytes-elsewhere [place]
  "Lines of random Latin-1 bytes around the edited one come out as they were."
  (setv r (random.Random 7)
        noise (fn [] (+ (bytes (gfor _ (range 40) :setv b (r.randrange 1 256) :if (!= b 10) b)) b"\n"))
        head (+ b"\xe9\n" (noise) (noise)) tail (+ (noise) b"open end\r"))
  (.put place "f" (+ head b"old\n" tail))
  (assert (= (.change place "f" (replaced 4 4 "new")) (+ head b"new\n" tail))))

;; * New and empty files

(defn test-create [place]
  "A missing file is created with exactly its content, its folders too; a second creation does not overwrite it."
  (setv revision (get (.read place "a/b/new.txt") "revision"))
  (setv out (.edit place ["a/b/new.txt" revision (filled "x\r\ny")]))
  (assert (= (.data place "a/b/new.txt") b"x\r\ny"))
  (assert (= (get out "changes" 0 "added") 2))
  (setv e (refused place ["a/b/new.txt" revision (filled "other")]))
  (assert (= (names-of e) ["reread"]))
  (assert (= (.data place "a/b/new.txt") b"x\r\ny")))

(defn test-create-empty-and-fill [place]
  "A file can be created empty, and an empty one filled."
  (.edit place ["f" (get (.read place "f") "revision") (filled "")])
  (assert (= (.data place "f") b""))
  (assert (= (.change place "f" (filled "now\n")) b"now\n")))

(defn test-line-edit-of-missing [place]
  "A missing file has no lines to replace, a file with lines is not filled, and a directory is not edited."
  (refused place ["f" (get (.read place "f") "revision") (replaced 1 1 "x")])
  (.put place "g" b"x\n")
  (refused place ["g" (get (.read place "g") "revision") (filled "y")])
  (refused place ["." (get (.read place ".") "revision") (filled "y")])
  (assert (= (.data place "g") b"x\n")))

(defn test-create-through-a-link [place]
  "Creating through a dangling link makes what it points to, and the link stays."
  (os.symlink "target.txt" (.path place "link"))
  (.edit place ["link" (get (.read place "link") "revision") (filled "x\n")])
  (assert (os.path.islink (.path place "link")))
  (assert (= (.data place "target.txt") b"x\n")))

;; * Only what was shown

(defn test-only-shown-lines [place]
  "Lines that were not shown under the revision are not edited; the failure says how to see them."
  (.put place "f" (.encode (.join "" (gfor i (range 1 101) f"{i}\n"))))
  (setv revision (get (.read place "f" :start-line 1 :line-count 10) "revision"))
  (for [o [(replaced 10 11 "x") (deleted 50 50) (lib.after 11 "x") (lib.before 11 "x") (lib.final-newline False)]]
    (setv e (refused place ["f" revision o]))
    (assert (in "start-line" e.message)))
  (.read place "f" :start-line 11 :line-count 1)
  (.edit place ["f" revision (replaced 10 11 "x")])
  (assert (.startswith (.data place "f") b"1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n12\n")))

(defn test-cut-line [place]
  "A line that was shown in part is not edited by line, and is once it was read to its end."
  (.put place "f" (+ b"a\n" (* b"x" 9000) b"\nb\n"))
  (setv revision (get (.read place "f" :start-line 2) "revision"))
  (refused place ["f" revision (replaced 2 2 "short")])
  (.read place "f" :start-line 2 :start-column 6000)
  (.edit place ["f" revision (replaced 2 2 "short")])
  (assert (= (.data place "f") b"a\nshort\nb\n")))

(defn test-foreign-revision [place]
  "A revision of another file, of another reader, or none at all, is refused with the way on."
  (.put place "f" b"x\n")
  (.put place "g" b"y\n")
  (setv revision (get (.read place "f") "revision")
        other (Place place.folder))
  (for [e [(refused place ["g" revision (replaced 1 1 "z")])
           (refused other ["f" revision (replaced 1 1 "z")])
           (refused place ["f" "R0" (replaced 1 1 "z")])]]
    (assert (= (names-of e) ["reread"])))
  (assert (= (.data place "f") b"x\n")))

;; * Somebody else

(defn test-changed-underneath [place]
  "A file that somebody changed, even with its old size and time, is not written, and the failure shows the change."
  (setv path (.put place "f" b"one\ntwo\nthree\n") revision (get (.read place "f") "revision") info (os.stat path))
  (.put place "f" b"one\nTWO\nthree\n")
  (os.utime path :ns #(info.st-atime-ns info.st-mtime-ns))
  (setv e (refused place ["f" revision (replaced 3 3 "THREE")]))
  (assert (= (names-of e) ["reread"]))
  (assert (in "TWO" e.message))
  (assert (= (.data place "f") b"one\nTWO\nthree\n")))

(defn test-own-edits-are-followed [place]
  "Two edits under one revision are both made, the second where its lines are now; of touched lines it is a conflict."
  (.put place "f" (.encode (.join "" (gfor i (range 1 101) f"{i}\n"))))
  (setv revision (get (.read place "f") "revision"))
  (.edit place ["f" revision (replaced 50 50 "FIFTY\nAND\nMORE")])
  (.edit place ["f" revision (replaced 75 75 "SEVENTY-FIVE")])
  (.edit place ["f" revision (deleted 10 10)])
  (setv rows (.split (.decode (.data place "f")) "\n"))
  (assert (= (cut rows 48 52) ["FIFTY" "AND" "MORE" "51"]))
  (assert (in "SEVENTY-FIVE" rows))
  (assert (not-in "75" rows))
  (assert (not-in "10" rows))
  (assert (= (len rows) 102))
  (for [o [(replaced 49 51 "x") (lib.after 50 "x") (deleted 75 75)]]
    (assert (= (names-of (refused place ["f" revision o])) ["reread"]))))

(defn test-edits-at-the-same-time [place]
  "Edits of one file that are started together are all made, none lost."
  (.put place "f" (.encode (.join "" (gfor i (range 1 101) f"{i}\n"))))
  (setv revision (get (.read place "f") "revision"))
  (defn :async together []
    (await (asyncio.gather #* (lfor i (range 10 100 10)
      (protocol.edit place.context [{"uri" "workspace:f" "base_revision" revision "operations" [(replaced i i f"line {i}")]}])))))
  (asyncio.run (together))
  (assert (= (.data place "f")
             (.encode (.join "" (gfor i (range 1 101) (if (and (= (% i 10) 0) (< i 100)) f"line {i}\n" f"{i}\n")))))))

(defn test-somebody-between-own-edits [place]
  "When somebody else wrote after an own edit, the next under the old revision is refused."
  (setv path (.put place "f" b"1\n2\n3\n") revision (get (.read place "f") "revision"))
  (.edit place ["f" revision (replaced 1 1 "one")])
  (with [f (open path "ab")] (.write f b"4\n"))
  (refused place ["f" revision (replaced 3 3 "three")])
  (assert (= (.data place "f") b"one\n2\n3\n4\n")))

;; * Restarts

(defn choosing [name f]
  "Call F with a handler that takes the restart NAME."
  (handler-bind [protocol.ResourceError (fn [c] (conditions.invoke-restart name))]
    (f)))

(defn test-reread [place]
  "The restart reread gives the present page around the edit instead, with its revision, and changes nothing."
  (.put place "f" b"one\ntwo\n")
  (setv revision (get (.read place "f") "revision"))
  (.put place "f" b"one\nTWO\n")
  (setv page (choosing "reread" (fn [] (.edit place ["f" revision (replaced 2 2 "x")]))))
  (assert (= (texts page) ["one" "TWO"]))
  (assert (= (.data place "f") b"one\nTWO\n"))
  (.edit place ["f" (get page "revision") (replaced 2 2 "x")])
  (assert (= (.data place "f") b"one\nx\n")))

(defn test-create-restart [place]
  "The restart create makes a file that was never seen to be missing, and writes a deleted one again with the edit in it."
  (choosing "create" (fn [] (.edit place ["new" "R0" (filled "x\n")])))
  (assert (= (.data place "new") b"x\n"))
  (setv path (.put place "f" b"one\ntwo\n") revision (get (.read place "f") "revision"))
  (os.unlink path)
  (assert (= (names-of (refused place ["f" revision (replaced 2 2 "x")])) ["reread" "create"]))
  (choosing "create" (fn [] (.edit place ["f" revision (replaced 2 2 "x")])))
  (assert (= (.data place "f") b"one\nx\n")))

(defn test-reread-of-a-shorter-file [place]
  "Rereading where the file is shorter than the edit thought shows its beginning."
  (.put place "f" (* b"x\n" 100))
  (setv revision (get (.read place "f") "revision"))
  (.put place "f" b"one\n")
  (setv page (choosing "reread" (fn [] (.edit place ["f" revision (replaced 90 90 "x")]))))
  (assert (= (texts page) ["one"])))

;; * Several files

(defn test-several-files [place]
  "Several files change in one call."
  (.put place "a" b"1\n")
  (.put place "b" b"2\n")
  (setv out (.edit place ["a" (get (.read place "a") "revision") (replaced 1 1 "one")]
                         ["b" (get (.read place "b") "revision") (replaced 1 1 "two")]
                         ["c" (get (.read place "c") "revision") (filled "three\n")]))
  (assert (= (lfor c (get out "changes") (get c "uri")) ["workspace:a" "workspace:b" "workspace:c"]))
  (assert (= (lfor n "abc" (.data place n)) [b"one\n" b"two\n" b"three\n"])))

(defn test-several-files-none [place]
  "When one of several changes cannot be made, none is, and no folder stays behind."
  (.put place "a" b"1\n")
  (.put place "b" b"2\n")
  (setv a (get (.read place "a") "revision") b (get (.read place "b") "revision") c (get (.read place "d/c") "revision"))
  (.put place "b" b"changed\n")
  (refused place ["a" a (replaced 1 1 "one")] ["d/c" c (filled "three\n")] ["b" b (replaced 1 1 "two")])
  (assert (= (sorted (os.listdir place.folder)) ["a" "b"]))
  (assert (= (.data place "a") b"1\n")))

(defn test-same-file-twice [place]
  "One file under two names in one call, by link or hard link, is refused."
  (.put place "a" b"1\n")
  (os.symlink "a" (.path place "soft"))
  (os.link (.path place "a") (.path place "hard"))
  (setv revisions (dfor n ["a" "soft" "hard"] n (get (.read place n) "revision")))
  (for [other ["a" "soft" "hard"]]
    (refused place ["a" (get revisions "a") (replaced 1 1 "x")] [other (get revisions other) (replaced 1 1 "y")]))
  (assert (= (.data place "a") b"1\n")))

;; * The outcome

(defn test-outcome [place]
  "The outcome has what was done, the difference, and a window from two lines before to three after under a new revision."
  (.put place "f" (.encode (.join "" (gfor i (range 1 101) f"{i}\n"))))
  (setv revision (get (.read place "f") "revision")
        out (.edit place ["f" revision (replaced 50 51 "x") (lib.after 52 "y")])
        c (get out "changes" 0))
  (assert (!= (get c "revision") revision))
  (assert (= #((get c "added") (get c "removed")) #(2 2)))
  (assert (= (get c "visible") [[48 55]]))
  (assert (= (len (get c "operations")) 2))
  (assert (= (lfor r (get c "diff") :if (!= (get r "kind") "context") [(get r "kind") (get r "old") (get r "new") (get r "text")])
             [["removed" 50 None "50"] ["removed" 51 None "51"] ["added" None 50 "x"] ["added" None 52 "y"]]))
  (.edit place ["f" (get c "revision") (replaced 50 50 "z")])
  (assert (= (get (.split (.decode (.data place "f")) "\n") 49) "z"))
  (assert (= (names-of (refused place ["f" (get c "revision") (replaced 1 1 "unseen")])) ["reread"])))

(defn test-outcome-beside-a-giant-line [place]
  "A giant line before the edit does not keep the edited line out of sight."
  (.put place "f" (+ (* b"x" 100_000) b"\nshort\nnext\n"))
  (setv revision (get (.read place "f" :start-line 2) "revision")
        out (.edit place ["f" revision (replaced 2 2 "SHORT")]))
  (assert (= (texts (get out "changes" 0)) ["SHORT" "next"])))

(defn test-outcome-is-bounded [place]
  "The text of a large edit stays within what a model is shown."
  (.put place "f" (* b"old line of some length\n" 3000))
  (.read place "f" :line-count 1000)
  (setv revision (get (.read place "f" :line-count 200) "revision")
        out (.edit place ["f" revision (replaced 1 200 (* "a new line that is rather longer than the old one\n" 400))]))
  (assert (< (len (get out "text")) 8000)))

(defn test-nothing-to-do [place]
  "An edit that changes nothing succeeds, says so, and does not touch the file."
  (setv path (.put place "f" b"x\n"))
  (os.utime path #(1000 1000))
  (setv out (.edit place ["f" (get (.read place "f") "revision") (replaced 1 1 "x")]))
  (assert (get out "changes" 0 "notes"))
  (assert (= (. (os.stat path) st-mtime) 1000)))

(defn test-delimiters-are-noted [place]
  "An edit that leaves Lisp source unbalanced is made, with a note that names the line."
  (.put place "f.hy" b"(defn f [x]\n  (+ x 1))\n\n(defn g [])\n")
  (setv out (.edit place ["f.hy" (get (.read place "f.hy") "revision") (replaced 2 2 "  (+ x 1)")]))
  (assert (in "line 2" (get out "changes" 0 "notes" 0)))
  (assert (in "Note:" (get out "text")))
  (.put place "f.txt" b"(\n")
  (setv out (.edit place ["f.txt" (get (.read place "f.txt") "revision") (replaced 1 1 "((")]))
  (assert (= (get out "changes" 0 "notes") [])))

(defn test-too-large-to-edit [place monkeypatch]
  "A file beyond the size for edits by line is read by window, and its edit refused with the reason."
  (import autolith.resource [snapshot])
  (monkeypatch.setattr snapshot "edit_size" 1000)
  (.put place "f" (* b"x\n" 600))
  (setv e (refused place ["f" (get (.read place "f") "revision") (replaced 1 1 "y")]))
  (assert (in "too large" e.message)))
