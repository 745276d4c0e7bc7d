"Results: bounding, repair, and each way to show one."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  json
  pytest
  hypothesis [given settings strategies :as st]
  autolith.tool [registry result]
  tests.tool.lib [call tools])

(defn test-prints-as-its-text []
  "hy.repr, str and the prompt all show a result as its text."
  (setv r (result.ToolResult :text "two\nlines"))
  (assert (= (hy.repr r) (str r) (.__autolith-text__ r) "two\nlines")))

(defn test-long-text-is-stored-whole [tools]
  "Text over the limit is cut to it, and the URI that it names gives back every character."
  (import autolith.state [output] pathlib [Path])
  (setv whole (.join "\n" (gfor i (range 5000) f"line {i}")))
  (deftool demo.long [] "Long." whole)
  (setv r (call "demo.long"))
  (assert (<= (len r.text) result.text-limit))
  (assert (in r.stored r.text))
  (assert (and (.startswith r.text "line 0\n") (.endswith r.text "line 4999")))
  (assert (.startswith r.stored "output:"))
  (assert (= (.read-text (Path (output.path (.removeprefix r.stored "output:")))) whole)))

(defn test-failures-are-bounded-too [tools]
  "A failure with a very long message is cut like any other text."
  (deftool demo.shout [] "Shout." (raise (ValueError (* "x" 50000))))
  (assert (<= (len (. (call "demo.shout") text)) result.text-limit)))

(defn test-unstorable-text-says-so [tools monkeypatch tmp-path]
  "When the whole text cannot be stored the cut text says that, and the call is a result all the same."
  (setv file (/ tmp-path "file"))
  (.write-text file "in the way")
  (.setenv monkeypatch "XDG_DATA_HOME" (str file))
  (setv r (result.bound (result.ToolResult :text (* "y" 20000))))
  (assert (is r.stored None))
  (assert (<= (len r.text) result.text-limit))
  (assert (not-in "output:" r.text)))

(defn [(settings :max-examples 60 :deadline None)
       (given (st.text (st.characters :codec None) :max-size 50))]
  test-text-is-always-encodable [text]
  "Whatever a tool returns, its text can be encoded, and clean text is not changed."
  (setv r (result.bound (result.ToolResult :text text)))
  (.encode r.text "utf-8")
  (try
    (.encode text "utf-8")
    (assert (= r.text text))
    (except [UnicodeEncodeError])))

(defn test-surrogates []
  "A surrogate pair is joined; a lone half is replaced."
  (assert (= (. (result.bound (result.ToolResult :text "\ud83d\ude00 \ud800")) text) "😀 \ufffd")))

(defn test-projections-agree []
  "The item, the record, the event and the editor's update tell of the same outcome, as plain data."
  (setv r (result.ToolResult :ok False :text "t" :tool "a.b" :seconds 0.5 :data {"n" 1}
                             :content [{"type" "image" "mime" "image/png" "path" "/p" "label" "L"}])
        views [(result.item r "c") (result.record r "c") (result.event r "c") (result.client-update r "c")])
  (json.dumps views)
  (assert (= (get views 0) {"type" "function_call_output" "call_id" "c" "ok" False
                            "content" [{"type" "text" "text" "t"} #* r.content]}))
  (assert (= (get views 1) {"kind" "result" "call_id" "c" "tool" "a.b" "ok" False "text" "t" "content" r.content "seconds" 0.5}))
  (assert (= (get views 2 "data") {"n" 1}))
  (assert (= (get views 3 "status") "failed")))

(defclass Rude []
  "Cannot be printed."
  (defn __repr__ [self] (/ 1 0)))

(setv ODD [(object) {1 2} #{1} #(1 [2 {"a" (object)}]) (Rude) [(Rude)] "\ud800" {"\ud800" b"x"} (range 3) 1j])

(defn [(pytest.mark.parametrize "value" ODD)]
  test-any-data-can-be-told [tools value]
  "Whatever data a tool gives, code gets it as it is, and records and events can be written."
  (import autolith.base [forms])
  (deftool demo.odd [] "Odd." (result.ToolResult :text "t" :data value))
  (deftool demo.bare [] "Bare." value)
  (setv r (call "demo.odd"))
  (assert (is r.data value))
  (assert (. (call "demo.bare") ok))
  (for [view [(result.event r "c") (result.record r "c") (result.event (call "demo.bare") "c")]]
    (forms.read-one (forms.write view))))

(defn test-deep-and-circular-data [tools]
  "Data that is very deep, or holds itself, is told to a depth."
  (import autolith.base [forms])
  (setv deep [] at deep)
  (for [_ (range 150)] (.append at []) (setv at (get at 0)))
  (setv circular [1]) (.append circular circular)
  (for [value [deep circular]]
    (forms.write (result.event (result.ToolResult :data value) "c"))))

(defn test-terminal-lines-are-bounded []
  "The terminal gets at most so many lines, and the last says how many there are more."
  (setv r (result.ToolResult :text (.join "\n" (map str (range 100)))) lines (result.terminal-lines r 10))
  (assert (= (len lines) 10))
  (assert (= (cut lines 9) (list (map str (range 9)))))
  (assert (in "91" (get lines -1))))
