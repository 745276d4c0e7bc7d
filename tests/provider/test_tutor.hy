"The tutor: it says that it is no model, acts by real calls only, and is the same every time."

(import
  asyncio hashlib os
  pytest
  hypothesis [given settings strategies :as st]
  autolith.provider [items lessons tutor])

(setv NAMES ["fs_view_image" "resource_edit" "resource_read" "search_content" "search_files" "search_glob" "self_eval"])

(defn declared [[names NAMES]]
  "Return declarations of the tools NAMES."
  (lfor n names {"name" n "description" "" "parameters" {"type" "object" "properties" {}}}))

(defn request [history [tools None]]
  "Return the request with HISTORY and TOOLS."
  {"model" "tutor" "effort" None "system" "" "items" history "context" None "provider" {"name" "tutor" "wire" "tutor"}
   "tools" (declared) #** (if (is tools None) {} {"tools" tools})})

(defn events-of [req]
  "Return the events that the tutor streams for the request REQ."
  (defn :async collect []
    (lfor :async e (tutor.stream req) e))
  (asyncio.run (collect)))

(defn step [history [tools None]]
  "Let the tutor answer HISTORY, check the shape of its events, append its items; return its call or None."
  (setv events (events-of (request history tools))
        made (lfor e events :if (= (:type e) "item") (:item e))
        said (.join "" (gfor e events :if (= (:type e) "text-delta") (:text e)))
        calls (lfor i made :if (items.call? i) i))
  (assert (= said (.join "" (gfor i made :if (= (:type i) "message") (items.text i)))))
  (assert (= (:type (get events -1)) "done"))
  (assert (= (:status (get events -1)) "completed"))
  (assert (<= (len calls) 1))
  (.extend history made)
  (when calls (get calls 0)))

(defn run [phrase answer * [tools None] [history None]]
  "Type PHRASE and let the function ANSWER of each call give #(ok text); return #(calls final-text history)."
  (setv history (or history [])  made [])
  (.append history (items.user phrase))
  (while (setx call (step history tools))
    (.append made #((:name call) (:arguments call)))
    (setv [ok text] (answer call))
    (.append history (items.output (:call-id call) text :ok ok))
    (assert (< (len made) 40)))
  #(made (items.text (get history -1)) history))

(defn fine [call]
  "Answer every call with success."
  #(True "done"))


;; * A double of the resource protocol: real files, real revisions

(defn page [path start]
  "Return the page of the file PATH from line START, three lines long, as the resource protocol words it."
  (setv name (os.path.basename path))
  (when (not (os.path.exists path))
    (return f"URI: workspace:{name}\nRevision: missing\nKind: missing\nVisible lines: none of 0\nElided: none\nContent:\n(no such file yet)"))
  (setv lines (.splitlines (with [f (open path)] (.read f)))
        last (min (len lines) (+ start 2))
        revision (cut (.hexdigest (hashlib.sha256 (.encode (.join "\n" lines)))) 8)
        elided (if (< last (len lines)) f"{(+ last 1)}-{(len lines)} (go on with start-line {(+ last 1)})" "none"))
  (.join "\n" [f"URI: workspace:{name}" f"Revision: {revision}" "Kind: text" f"Visible lines: {start}-{last} of {(len lines)}"
               f"Elided: {elided}" "Content:" #* (lfor n (range start (+ last 1)) f"{n :6d}  {(get lines (- n 1))}")]))

(defn files [folder]
  "Return the function that answers reads and edits of the files in FOLDER."
  (defn answer [call]
    (setv given (:arguments call)
          path (os.path.join folder (.removeprefix (:uri given) "workspace:")))
    (if (= (:name call) "resource_read")
      #(True (page path (.get given "start_line" 1)))
      (do (change path given) #(True "edited"))))
  answer)

(defn change [path given]
  "Make the operations GIVEN on the file PATH, checking their revision."
  (setv operations (:operations given))
  (assert (in f"Revision: {(:base-revision given)}\n" (page path 1)))
  (if (= (:op (get operations 0)) "replace-empty")
    (with [f (open path "x")] (.write f (:content (get operations 0))))
    (do
      (setv lines (.splitlines (with [f (open path)] (.read f))))
      (for [o operations]
        (assert (= (:op o) "replace-lines"))
        (setv (get lines (- (:start-line o) 1)) (:content o)))
      (with [f (open path "w")] (.write f (+ (.join "\n" lines) "\n"))))))

(defn [(pytest.mark.parametrize "phrase" ["edit a.txt: replace one with two"
                                          "in a.txt, replace \"one\" with \"two\""
                                          "Please replace one by two in a.txt."])]
  test-an-edit-reads-all-pages-then-changes-what-it-saw [tmp-path phrase]
  "An edit reads the file page by page, names its revision, and changes every line that has the text and no other."
  (setv path (/ tmp-path "a.txt"))
  (.write-text path "one\nb\nc one one\nd\ne\nf\nlast one\n")
  (setv [calls text _] (run phrase (files (str tmp-path))))
  (assert (= (.read-text path) "two\nb\nc two two\nd\ne\nf\nlast two\n"))
  (assert (= (lfor [name _] calls name) ["resource_read" "resource_read" "resource_read" "resource_edit"])))

(defn test-an-edit-of-nothing-changes-nothing [tmp-path]
  "When no line has the text, nothing is edited and the answer says how to find it."
  (setv path (/ tmp-path "a.txt"))
  (.write-text path "b\n")
  (setv [calls text _] (run "edit a.txt: replace one with two" (files (str tmp-path))))
  (assert (= (lfor [name _] calls name) ["resource_read"]))
  (assert (in "search one" text))
  (assert (= (.read-text path) "b\n")))

(defn test-create-makes-only-what-is-missing [tmp-path]
  "A missing file is made, after a read; one that is there is left alone."
  (run "create n.txt: Hello, you." (files (str tmp-path)))
  (assert (= (.read-text (/ tmp-path "n.txt")) "Hello, you.\n"))
  (setv [calls _ _] (run "create n.txt with something else" (files (str tmp-path))))
  (assert (= (len calls) 1))
  (assert (= (.read-text (/ tmp-path "n.txt")) "Hello, you.\n")))


;; * Phrases

(defn [(pytest.mark.parametrize "phrase,expected" [
    #("read README.md" #("resource_read" {"uri" "workspace:README.md"}))
    #("Please read `README.md`." #("resource_read" {"uri" "workspace:README.md"}))
    #("show me @src/a b.py" #("resource_read" {"uri" "workspace:src/a b.py"}))
    #("read lines 10 to 20 of a.py" #("resource_read" {"uri" "workspace:a.py" "start_line" 10 "line_count" 11}))
    #("list" #("resource_read" {"uri" "workspace:."}))
    #("list src" #("resource_read" {"uri" "workspace:src"}))
    #("What files are here?" #("resource_read" {"uri" "workspace:."}))
    #("search import" #("search_content" {"query" "import"}))
    #("search for \"two words\"" #("search_content" {"query" "two words"}))
    #("find lexer" #("search_files" {"query" "lexer"}))
    #("find *.hy" #("search_glob" {"pattern" "*.hy"}))
    #("eval (+ 20 22)" #("self_eval" {"form" "(+ 20 22)"}))
    #("undo" #("self_eval" {"form" "(undo)"}))])]
  test-phrases-make-calls [phrase expected]
  "A phrase makes the call it means, after a word about it, and ends in an answer."
  (setv [calls text history] (run phrase fine))
  (assert (= calls [expected]))
  (assert text)
  (assert (= (lfor i history (:type i)) ["message" "message" "function_call" "function_call_output" "message"])))

(defn test-the-parameter-names-come-from-the-declaration []
  "Where a declaration names a parameter otherwise, or takes several changes at once, the call follows it."
  (setv tools (lfor [n props] [["self_eval" {"forms" {}}] ["search_content" {"query" {} "constraints" {}}] ["resource_read" {"uri" {}}]
                               ["resource_edit" {"changes" {}}]]
                    {"name" n "description" "" "parameters" {"properties" props "required" (list props)}}))
  (assert (= (get (run "eval (f)" fine :tools tools) 0) [#("self_eval" {"forms" "(f)"})]))
  (assert (= (get (run "search x in src" fine :tools tools) 0) [#("search_content" {"query" "x" "constraints"
                                                                                    "src/"})]))
  (defn answer [call] #(True "Revision: r1\nElided: none\nContent:\n     1  x"))
  (assert (= (get (run "edit a: replace x with y" answer :tools tools) 0 1)
             #("resource_edit" {"changes" [{"uri" "workspace:a" "base_revision" "r1"
                                            "operations" [{"op" "replace-lines" "start_line" 1 "end_line" 1 "content" "y"}]}]}))))

(defn test-forms-it-evaluates-are-forms []
  "Every form that a lesson evaluates reads as Hy, and the tool that it defines is called through the tool when that is declared."
  (for [phrase ["define a tool" "redefine" "undo" "eval (+ 1 2)" "tutorial 3" "tutorial 4" "tutorial 5" "tutorial 6"]]
    (setv [calls _ _] (run phrase fine))
    (assert calls)
    (for [[name given] calls]
      (assert (= name "self_eval"))
      (assert (= (len (list (hy.read-many (:form given)))) 1))))
  (setv [calls _ _] (run "define a tool" fine :tools (declared [#* NAMES "tutor_word_count"])))
  (assert (= (lfor [name _] calls name) ["self_eval" "tutor_word_count"])))

(defn test-the-redefined-function-is-the-one-that-greets [monkeypatch]
  "The form of the lesson `redefine` defines a function that exists, and the greeting uses whatever it says."
  (setv [calls _ _] (run "redefine" fine)
        form (hy.read (:form (get calls 0 1)))
        name (get form 1 1))
  (assert (hasattr lessons (hy.mangle name)))
  (monkeypatch.setattr lessons (hy.mangle name) (fn [] "Words of another function."))
  (assert (in "Words of another function." (get (run "hello" fine) 1))))

(defn test-the-tour-goes-to-its-end []
  "Each step of the tour answers and names the next phrase; the numbers outside of it do no harm."
  (for [n (range 1 (+ (len lessons.TOUR) 1))]
    (setv [calls text _] (run f"tutorial {n}" fine))
    (assert calls)
    (when (< n (len lessons.TOUR)) (assert (in f"`tutorial {(+ n 1)}`" text))))
  (for [phrase ["tutorial 0" "tutorial 99"]]
    (assert (= (get (run phrase fine) 0) []))))

(defn test-every-example-starts-its-own-lesson []
  "What the list of phrases shows is understood, and starts the lesson that shows it."
  (for [row (.values lessons.table)]
    (setv phrase (lessons._phrase (:example row))
          first (next (gfor r (.values lessons.table) :if (any (gfor p (:patterns r) (.match p phrase))) r)))
    (assert (= (:name first) (:name row)))))


;; * What it says

(defn [(pytest.mark.parametrize "phrase" ["help" "what can you do?" "are you a model?" "who are you" "fix the bug in my program" "" "¿qué?"])]
  test-it-says-that-it-is-no-model [phrase]
  "Asked what it is or for what it cannot do, it makes no call, says that it is not a model, and how to get one."
  (setv [calls text _] (run phrase fine))
  (assert (= calls []))
  (assert (in "not a model" text))
  (assert (in "OPENAI_API_KEY" text)))

(defn test-an-unknown-phrase-names-a-file-it-could-read []
  "A request that names a file is answered with the phrase that reads it."
  (assert (in "`read tests/test_lexer.py`" (get (run "explain the failing test in @tests/test_lexer.py" fine) 1))))

(defn test-a-missing-tool-is-named []
  "A lesson whose tool is not declared says which one is missing and makes no call."
  (for [[phrase tool] [["read a.txt" "resource.read"] ["search x" "search.content"] ["define a tool" "self.eval"]]]
    (setv [calls text _] (run phrase fine :tools []))
    (assert (= calls []))
    (assert (in tool text))))

(defn test-a-failed-call-is-quoted-and-ends-the-lesson []
  "When a call fails, its text is quoted and nothing further is called."
  (setv [calls text _] (run "edit a.txt: replace one with two" (fn [call] #(False "no such file: a.txt\x1b[2J"))))
  (assert (= (len calls) 1))
  (assert (in "no such file: a.txt" text))
  (assert (not-in "\x1b" text)))

(defn test-undo-with-nothing-to-undo []
  "When there is nothing to undo, the answer quotes that and names the lesson that makes something."
  (setv [calls text _] (run "undo" (fn [call] #(False "nothing was redefined"))))
  (assert (= (len calls) 1))
  (assert (in "nothing was redefined" text))
  (assert (in "`redefine`" text)))

(defn test-reading-what-is-missing [tmp-path]
  "A file that is not there is said not to be there, with the phrases that find one."
  (setv [calls text _] (run "read no.txt" (files (str tmp-path))))
  (assert (= (len calls) 1))
  (assert (in "There is no no.txt" text)))

(defn test-images-alone []
  "A message of images alone is answered in words."
  (setv history [(items.user [(items.image-block "/tmp/x.png" "image/png")])])
  (assert (is (step history) None)))


;; * Determinism and bounds

(defn test-only-the-last-message-counts []
  "Earlier messages, calls and steering do not change the answer to the last message; call ids stay different."
  (setv [_ alone _] (run "read a.txt" fine)
        [_ _ history] (run "search x" fine)
        [_ _ history] (run "define a tool" fine :history history)
        [calls text history] (run "read a.txt" fine :history history))
  (assert (= text alone))
  (assert (= (len calls) 1))
  (setv ids (lfor i history :if (items.call? i) (:call-id i)))
  (assert (= (len ids) (len (set ids)) 4)))

(defn test-steering-in-the-middle-is-the-new-message []
  "A message that arrives between calls is what is answered next."
  (setv history [(items.user "edit a.txt: replace x with y")]
        call (step history))
  (.append history (items.output (:call-id call) "Revision: r\nElided: none\nContent:\n     1  x"))
  (.append history (items.user "list"))
  (assert (= (:arguments (step history)) {"uri" "workspace:."})))

(defn [(given (st.text :max-size 80)) (settings :max-examples 100 :deadline None)]
  test-any-text-is-answered-the-same-way [phrase]
  "Whatever is typed, the events are the same each time and end in one done event."
  (setv history [(items.user phrase)])
  (setv first (list (tutor.events (request history))))
  (assert (= first (list (tutor.events (request history)))))
  (assert (= (lfor e first :if (= (:type e) "done") e) [(get first -1)])))

(defn test-a-long-phrase-ends-soon []
  "A phrase of many words and marks is answered without endless matching."
  (for [phrase [(* "replace a with " 3000) (* "read " 5000) (+ "edit x:" (* " replace" 3000)) (* ". " 20000) (+ "search " (* "in " 5000))]]
    (assert (list (tutor.events (request [(items.user phrase)]))))))
