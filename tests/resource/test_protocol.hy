"URIs, schemes and what was shown to whom."

(import
  asyncio
  pytest
  hypothesis [given settings strategies :as st]
  autolith.resource [output protocol ranges workspace])

(defn [pytest.fixture] kept []
  "Put back the schemes afterwards."
  (setv before (protocol.snapshot))
  (yield)
  (protocol.restore before))

(defn [(pytest.mark.parametrize "uri"
         ["" "notes.txt" "workspace:" "workspace:  " "workspace:a\nb" "workspace:a\0b" "nowhere:x" "Workspace:x" ":x" "1a:x" None 7 "workspace"])]
  test-malformed [uri]
  "What is no URI of a known scheme is refused in words."
  (with [e (pytest.raises protocol.ResourceError)]
    (protocol.parse uri))
  (assert e.value.message))

(defn test-way-out []
  "A bare path is answered with the URI that was meant, an unknown scheme with the known ones."
  (with [e (pytest.raises protocol.ResourceError)] (protocol.parse "src/a.py"))
  (assert (in "workspace:src/a.py" e.value.message))
  (with [e (pytest.raises protocol.ResourceError)] (protocol.parse "file:x"))
  (assert (in "workspace:" e.value.message)))

(defn test-register [kept]
  "A registered scheme is read by its name and described, a second of its name replaces it, and restore forgets it."
  (defn :async read-it [context identifier window] {"text" (+ "first " identifier)})
  (defn :async read-other [context identifier window] {"text" (+ "second " (str (get window "line_count")))})
  (setv before (protocol.snapshot) context (protocol.Context "/"))
  (protocol.register {"name" "demo" "description" "demo:X shows X." "read" read-it "edit" None})
  (assert (= (get (asyncio.run (protocol.read context "demo:x")) "text") "first x"))
  (assert (in "demo:X shows X." (protocol.describe)))
  (assert (not-in "demo:X" (protocol.describe "edit")))
  (protocol.register {"name" "demo" "description" "" "read" read-other "edit" None})
  (assert (= (get (asyncio.run (protocol.read context "demo:x" {"line_count" 5000})) "text") "second 1000"))
  (with [(pytest.raises protocol.ResourceError)]
    (asyncio.run (protocol.edit context [{"uri" "demo:x" "base_revision" "R" "operations" []}])))
  (protocol.restore before)
  (with [(pytest.raises protocol.ResourceError)] (protocol.parse "demo:x")))

(defn [(pytest.mark.parametrize "window"
         [{"start_line" 0} {"start_line" -1} {"line_count" 0} {"start_line" "1"} {"start_line" True} {"start_column" 0} {"line_count" 1.5}])]
  test-bad-window [window tmp-path]
  "A window that makes no sense is refused."
  (with [(pytest.raises protocol.ResourceError)]
    (asyncio.run (protocol.read (protocol.Context (str tmp-path)) "workspace:." window))))

(defn test-one-scheme []
  "One edit changes resources of one scheme, of one that can be edited, and of at least one."
  (setv context (protocol.Context "/"))
  (for [uris [["workspace:a" "output:b"] ["output:b"] []]]
    (with [(pytest.raises protocol.ResourceError)]
      (asyncio.run (protocol.edit context (lfor u uris {"uri" u "base_revision" "R" "operations" []}))))))

(defn note [seen key digest [data None]]
  "Note in SEEN an observation of KEY with DIGEST."
  (.note seen key :uri key :kind "file" :digest digest :total 100 :data data))

(defn test-alias-for-content []
  "The same content of the same resource has one alias, with the ranges of all reads; other content or another resource has another."
  (setv seen (protocol.Observations) a (note seen "k" "d1"))
  (.show seen a 1 10)
  (setv again (note seen "k" "d1"))
  (.show seen again 11 20)
  (assert (= (get again "alias") (get a "alias")))
  (assert (= (get (.find seen (get a "alias")) "visible") [[1 20]]))
  (assert (!= (get (note seen "k" "d2") "alias") (get a "alias")))
  (assert (!= (get (note seen "l" "d1") "alias") (get a "alias"))))

(defn test-alias-of-another-reader []
  "A revision that one reader was shown is unknown to another."
  (setv a (note (protocol.Observations) "k" "d"))
  (assert (is (.find (protocol.Observations) (get a "alias")) None)))

(defn test-bounded [monkeypatch]
  "The oldest observations go when there are too many, and the oldest contents when they are too large."
  (monkeypatch.setattr protocol "kept_observations" 3)
  (monkeypatch.setattr protocol "kept_bytes" 10)
  (setv seen (protocol.Observations)
        entries (lfor i (range 5) (note seen f"k{i}" "d" (* b"x" 6))))
  (assert (= (lfor e entries (bool (.find seen (get e "alias")))) [False False True True True]))
  (assert (= (lfor e (cut entries 2 None) (is (get e "data") None)) [True True False])))

(defn test-columns []
  "A line shown column by column to its end counts as shown."
  (setv seen (protocol.Observations) a (note seen "k" "d"))
  (.show-columns seen a 3 [1 50] 100)
  (assert (= (get a "visible") []))
  (.show-columns seen a 3 [51 100] 100)
  (assert (= (get a "visible") [[3 3]])))

(defn test-steps []
  "Own edits lead from one content to the next; a change by somebody else breaks the path, and a circle ends."
  (setv seen (protocol.Observations))
  (.step seen "k" "a" "b" [#(1 2 0)])
  (.step seen "k" "b" "c" [#(1 1 3)])
  (assert (= (.path seen "k" "a" "c") [[#(1 2 0)] [#(1 1 3)]]))
  (assert (= (.path seen "k" "a" "a") []))
  (assert (is (.path seen "k" "a" "x") None))
  (.step seen "k" "c" "a" [])
  (assert (is (.path seen "k" "a" "x") None)))

(setv PAIRS (st.lists (st.tuples (st.integers 1 30) (st.integers 0 6)) :max-size 12))

(defn [(settings :max-examples 150 :deadline None) (given PAIRS)] test-ranges [pairs]
  "Ranges are the set that was put in: disjoint, sorted, and complete with what they miss."
  (setv merged [] members (set))
  (for [[a n] pairs]
    (setv merged (ranges.merge merged a (+ a n)))
    (.update members (range a (+ a n 1))))
  (setv held (sfor [a b] merged n (range a (+ b 1)) n)
        gaps (sfor [a b] (ranges.missing merged 1 40) n (range a (+ b 1)) n))
  (assert (= held members))
  (assert (= gaps (- (set (range 1 41)) members)))
  (assert (all (gfor [[_ b] [c _]] (zip merged (cut merged 1 None)) (< (+ b 1) c)))))
