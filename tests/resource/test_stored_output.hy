"The `output:` scheme: windows and searches of stored outputs."

(import
  asyncio
  pytest
  autolith.resource [output :as scheme protocol]
  autolith.state [output]
  tests.resource.lib [Place texts])

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn test-window [place]
  "A stored output is read by window, like a file."
  (setv uri (output.store (.join "\n" (gfor i (range 1 5001) f"line {i}"))))
  (setv page (.read place uri :start-line 4999))
  (assert (= (texts page) ["line 4999" "line 5000"]))
  (assert (= (get page "kind") "output"))
  (assert (= (get page "uri") uri)))

(defn test-query [place]
  "A query finds lines with their numbers, says when there are more, and goes on from there."
  (setv uri (output.store (.join "\n" (gfor i (range 1 1001) f"Line {i} {(if (% i 10) "" "Needle")}"))))
  (setv page (.read place uri :query "needle" :max-results 3))
  (assert (= (lfor r (get page "lines") (get r "number")) [10 20 30]))
  (assert (in "start-line 31" (get page "text")))
  (assert (= (lfor r (get (.read place uri :query "needle" :max-results 3 :start-line 31) "lines") (get r "number")) [40 50 60]))
  (assert (= (get (.read place uri :query "NEEDLE") "lines") []))
  (assert (= (len (get (.read place uri :query "Needle" :max-results 1000) "lines")) 100)))

(defn test-query-is-plain-text [place]
  "A query means itself, also where it would be a regular expression."
  (setv uri (output.store "a.c\nabc\n(x\n"))
  (assert (= (texts (.read place uri :query "a.c")) ["a.c"]))
  (assert (= (texts (.read place uri :query "(x")) ["(x"])))

(defn test-query-in-long-lines [place]
  "Of a long line the part around the find is shown, and a page of them stays bounded."
  (setv long (+ (* "x" 50_000) "needle" (* "y" 50_000)) uri (output.store (.join "\n" (* [long] 40))))
  (setv page (.read place uri :query "needle"))
  (assert (in "needle" (get page "lines" 0 "text")))
  (assert (< (len (get page "text")) 8200))
  (assert (= (get page "lines" 0 "length") 100_006)))

(defn test-unknown [place]
  "An unknown or malformed digest is refused in words, a path as well; stored outputs are not edited."
  (for [identifier ["000000000000000000000000" "xyz" "../../etc/passwd" "%2e%2e"]]
    (with [e (pytest.raises protocol.ResourceError)] (.read place (+ "output:" identifier)))
    (assert e.value.message))
  (setv uri (output.store "x\n") page (.read place uri))
  (with [(pytest.raises protocol.ResourceError)]
    (.edit place [uri (get page "revision") {"op" "delete-lines" "start_line" 1 "end_line" 1}])))

(defn test-damaged-output-is-still-searched [place]
  "A stored output with a byte that is no UTF-8 is read and searched all the same, and the page says what is amiss."
  (setv uri (output.store "é one\ntwo needle\n"))
  (with [f (open (output.path (.removeprefix uri "output:")) "ab")] (.write f b"three \xff needle\n"))
  (assert (= (lfor r (get (.read place uri :query "needle") "lines") (get r "number")) [2 3]))
  (assert (in "1 undecodable byte" (get (.read place uri) "text"))))
