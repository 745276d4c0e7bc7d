"The delimiter check of Lisp sources: silent where they balance, near the mistake where they do not."

(import
  glob
  os
  random
  pytest
  autolith.resource [delimiters]
  autolith)

(setv SOURCES (sorted (glob.glob (os.path.join (os.path.dirname autolith.__file__) "**" "*.hy") :recursive True)))

(defn source [path]
  "Return the text of PATH."
  (with [f (open path :encoding "utf-8")] (.read f)))

(defn test-our-own-sources []
  "Nothing is found in the sources of this program, which Hy compiles."
  (assert SOURCES)
  (assert (= (lfor path SOURCES :setv p (delimiters.check (source path) "hy") :if p #(path p)) [])))

(defn [(pytest.mark.parametrize "seed" (range 8))] test-missing-closer [seed]
  "A closing parenthesis lost at the end of a definition is reported in that definition."
  (setv r (random.Random seed)
        text (source (get SOURCES (r.randrange (len SOURCES))))
        ends (lfor i (range (len text)) :if (.startswith text ")\n\n(defn" i) i))
  (when ends
    (setv at (r.choice ends)
          problem (delimiters.check (+ (cut text at) (cut text (+ at 1) None)) "hy")
          line (+ 1 (.count text "\n" 0 at)))
    (assert (= (get problem "line") line))))

(defn [(pytest.mark.parametrize "seed" (range 8))] test-extra-closer [seed]
  "A closing parenthesis too many at the end of a definition is reported where it stands."
  (setv r (random.Random seed)
        text (source (get SOURCES (r.randrange (len SOURCES))))
        ends (lfor i (range (len text)) :if (.startswith text ")\n\n(defn" i) i))
  (when ends
    (setv at (r.choice ends)
          problem (delimiters.check (+ (cut text at) ")" (cut text at None)) "hy"))
    (assert (= (get problem "line") (+ 1 (.count text "\n" 0 at))))))

(defn [(pytest.mark.parametrize "dialect,text"
         [#("hy" "(print \"(\" ; )\n '[{}])") #("hy" "#[[ ((( ]] #[END[ ]] ( ]END] (f)")
          #("hy" "f\"{(get d \"(\") !r} {{ ( }}\" (g)") #("hy" "f\"{x :{(w)}}\" (g)") #("hy" "\"\\\"(\" ()") #("hy" "rf\"{(a)}(\"")
          #("hy" "") #("hy" "; (((") #("hy" "(a\n;; )\n)")
          #("lisp" "(a #\\( #\\) |x(y| #| ( #| ( |# |# \"(\" #\\Space)") #("lisp" "(a b\\(c)")
          #("scheme" "(a #\\( #; (b) #| ) |# |(|)") #("scheme" "(a #<<END\n(((\nEND\n)")
          #("elisp" "(a ?\\( ?\\) ?\\\" ?\\; \"(\" ?a)") #("elisp" "(a ?( b?)")
          #("clojure" "(a \\( \\) \\newline #\"(\" {:a [1]} #{1} \\\" ) ; (")])]
  test-balanced [dialect text]
  "Strings, comments, characters and quoted symbols hide their delimiters, in each dialect."
  (assert (is (delimiters.check text dialect) None)))

(defn [(pytest.mark.parametrize "dialect,text,line"
         [#("hy" "(a\n(b)\n" 1) #("hy" "(a [b)\n" 1) #("hy" "a)\n" 1) #("hy" "(a)\n\n(b \"x)\n" 3)
          #("hy" "(defn f []\n  (g)\n\n(defn h [])\n" 2)
          #("hy" "f\"{(a}\"" 1) #("hy" "f\"{a" 1) #("hy" "#[x[ abc" 1)
          #("lisp" "(a)\n#| b" 2) #("clojure" "{:a [1}\n" 1) #("hy" "(a\n  {b\n  )\n" 3)])]
  test-unbalanced [dialect text line]
  "The line where the mistake likely is, is named."
  (setv problem (delimiters.check text dialect))
  (assert (= (get problem "line") line))
  (assert (get problem "message")))

(defn test-note []
  "Only Lisp files are looked at, and a file that was unbalanced before is said to have been."
  (assert (is (delimiters.note "a.py" "(" "") None))
  (assert (is (delimiters.note "a.hy" "()" "(") None))
  (assert (in "line 1" (delimiters.note "a.el" "(" "()")))
  (assert (in "before" (delimiters.note "a.CLJ" "((" "("))))
