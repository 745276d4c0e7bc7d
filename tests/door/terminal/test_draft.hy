"The draft as text: where it stands, how it is indented, what completes it, what was typed before. No terminal needed."

(import
  pytest
  hypothesis [given settings strategies :as st]
  autolith.door.terminal [completer editor highlight hint history])

(setv OPERATIONS [{"name" "resource.read" "kind" "tool" "doc" "Read." "signature" "(resource.read :uri URI [:start-line 1] [:line-count 400])"}
                  {"name" "resource.edit" "kind" "tool" "doc" "Edit." "signature" "(resource.edit :changes CHANGES)"}
                  {"name" "model" "kind" "command" "doc" "Choose." "signature" "(model [name None])"}
                  {"name" "read-file" "kind" "function" "doc" "Read it." "signature" "(read-file path * [limit 10])"}])

(defn names [text [directory "."]]
  "Return what completes TEXT."
  (lfor c (completer.candidates text OPERATIONS directory) (get c "text")))

(defn [(pytest.mark.parametrize "text,blanks"
         [#("(defn f [x]" 2) #("(print 1" 7) #("(foo" 2) #("(print (+ 1" 10) #("[1 2" 1) #("(f\n  (g 1" 5) #("(when (> x 1)\n  (f" 4)
          #("{\"a\" 1" 1) #("(f \"(\"" 3) #("(f ; (" 2)])]
      test-indentation [text blanks]
  "A new line in a form goes under the first argument, two cells into a body, or one into a bracket."
  (assert (= (editor.indentation text) blanks)))

(defn [(given (st.text :alphabet "()[]{}\"ab :;\n#\\" :max-size 40)) (settings :max-examples 200 :deadline None)] test-any-draft [text]
  "No draft makes the look at it fail, and no character of it is lost between the tokens."
  (assert (= (.join "" (gfor [_ _ token] (editor.tokens text) token)) text))
  (editor.place text)
  (editor.indentation text)
  (editor.partner text (len text))
  (assert (= (.join "" (gfor [_ part] (highlight.fragments text) part)) text))
  (assert (= (.join "\n" (gfor line (highlight.lines text) (.join "" (gfor [_ part] line part)))) text))
  (hint.rows text OPERATIONS 40)
  (names (+ "(" text))
  None)

(defn test-completion-of-names []
  "Tools, functions and commands complete by their beginning, tools by initials too; a slash takes commands alone."
  (assert (= (names "/mo") ["/model"]))
  (assert (in "resource.read" (names "(r.r")))
  (assert (not-in "resource.edit" (names "(r.r")))
  (assert (in "read-file" (names "(rea")))
  (assert (in "model" (names "(print (mod")))
  (assert (= (names "prose without marks") [])))

(defn test-completion-of-keywords []
  "Keyword arguments of the call at the caret complete, those already given left out, in either spelling of a signature."
  (assert (= (names "(resource.read :") [":uri" ":start-line" ":line-count"]))
  (assert (= (names "(resource.read :uri \"x\" :l") [":line-count"]))
  (assert (= (names "(read-file \"x\" :l") [":limit"]))
  (assert (= (completer.parameters "(f a [b (g 1)] * [c None] #* rest)") ["a" "b" "c" "rest"])))

(defn test-completion-of-files [tmp-path]
  "Files complete after @ and in strings that name them; folders end in a slash; hidden ones want their dot."
  (.mkdir (/ tmp-path "sub"))
  (.write-text (/ tmp-path "alpha.txt") "")
  (.write-text (/ tmp-path ".hidden") "")
  (.write-text (/ tmp-path "sub" "beta.hy") "")
  (setv here (str tmp-path))
  (assert (= (names "look at @" here) ["alpha.txt" "sub/"]))
  (assert (= (names "look at @sub/b" here) ["beta.hy"]))
  (assert (= (names "(resource.read :uri \"workspace:al" here) ["alpha.txt"]))
  (assert (= (names "(f \"./." here) [".hidden"]))
  (assert (= (names "@missing/x" here) [])))

(defn test-looking-runs-nothing []
  "Completing and hinting run no code of the user's objects."
  (import autolith.image [namespace])
  (defclass Trap []
    (defn __getattr__ [self name] (raise (AssertionError "it was asked"))))
  (setv (. (namespace.user) trap) (Trap))
  (try
    (assert (= (names "(trap.x") []))
    (hint.rows "(trap.x " OPERATIONS 80)
    (finally (delattr (namespace.user) "trap")))
  None)

(defn marked [text]
  "Return the argument that the hint marks for TEXT."
  (next (gfor row (hint.rows text OPERATIONS 200) [look part] row :if (= look "class:match") part) None))

(defn test-hint []
  "The hint marks the argument at the caret, by position or by keyword."
  (assert (= (marked "(resource.read :line-count 5") ":line-count"))
  (assert (= (marked "(read-file ") "path"))
  (assert (= (marked "(read-file \"x\" :limit ") "limit"))
  (assert (= (marked "(no-such-thing ") None)))

(defn test-history []
  "Walking keeps to entries that begin as the draft does, comes back to the draft, and skips what shows no difference."
  (setv h (history.History ["(a 1)" "prose" "(a 2)" "(a 2)" "(b)"]))
  (assert (= (.older h "(a") "(a 2)"))
  (assert (= (.older h "(a 2)") "(a 1)"))
  (assert (is (.older h "(a 1)") None))
  (assert (= (.newer h) "(a 2)"))
  (assert (= (.newer h) "(a"))
  (assert (is (.newer h) None))
  (assert (= (.search h "a 2") ["(a 2)"]))
  (.add h "(b)")
  (assert (= (len h.entries) 5)))

(defn test-broken-history []
  "Entries that are no text are left out; a long history is searched and walked."
  (setv h (history.History [None 3 "" "  " #* (gfor i (range 200000) f"entry {i}")]))
  (assert (= (.older h "") "entry 199999"))
  (setv found (.search h "entry 17"))
  (assert (and found (all (gfor e found (in "17" e))))))
