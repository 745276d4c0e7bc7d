"What events look like, and in what order they come to stand: rows from data, no terminal needed."

(import
  pytest
  hypothesis [given settings strategies :as st]
  autolith.application [events]
  autolith.base [threads]
  autolith.door.terminal [activity cells render scroll]
  autolith.resource [diff protocol]
  autolith.tool [context registry result :as toolresult])

(defn drawn [event [width 80]]
  "Return the lines of EVENT."
  (lfor row (render.draw event {"width" width "effect" (fn [tool] (if (= tool "a.read") "read" "execute"))}) (cells.row-text row)))

(defn make-scroll [[width 80] [now (fn [] 0)]]
  "Return a Scroll of WIDTH."
  (scroll.Scroll (fn [] width) (fn [tool] "read") now))

(defn shown [s]
  "Return the lines that the Scroll S has given out."
  (lfor row (.drain s) :if (not (cells.only-marks? row)) (cells.row-text row)))

(defn result [ok text * [tool "a.run"] [data None]]
  "Return the event of a call's result."
  {"type" "call-result" "call_id" "1" "tool" tool "ok" ok "text" text "seconds" 0.002 "data" data})

(defn test-results []
  "A success that only read is one line; one that ran shows its text, bounded; a failure is shown whole."
  (setv long (.join "\n" (gfor i (range 100) f"line {i}")))
  (assert (= (len (drawn (result True long :tool "a.read"))) 1))
  (assert (<= (len (drawn (result True long))) (+ render.body-limit 1)))
  (setv failure (.join "\n" (gfor i (range 20) f"line {i}")))
  (assert (= (len (drawn (result False failure))) 20))
  (assert (.startswith (get (drawn (result False failure)) 0) "✗ "))
  (assert (.startswith (get (drawn (result True long)) 0) "✓ ")))

(defn test-a-retry-ends-the-half-answer []
  "What came of an answer before a retry ends there, the retry follows, and the answer that comes then begins anew."
  (setv s (make-scroll))
  (for [event [{"type" "text-delta" "text" "half"} {"type" "retry" "text" "busy; again in 1 s" "void" True "attempt" 1 "limit" 5}
               {"type" "text-delta" "text" "whole"} {"type" "answer" "text" "whole"}]]
    (.take s event))
  (setv lines (shown s))
  (assert (= (len lines) 3))
  (for [[line words] (zip lines ["half" "again in 1 s" "whole"])]
    (assert (in words line)))
  (assert (not s.half)))

(defn test-diffs []
  "An edit shows what it changed, bounded."
  (setv old (lfor i (range 12) f"line {i}\n") new [#* (cut old 9) "new\n" "more\n" #* (cut old 10 None)]
        rows (diff.rows (diff.refine [#(0 12 0 13)] old new) old new)
        change {"uri" "workspace:a.py" "added" 2 "removed" 1 "diff" rows}
        lines (drawn (result True "done" :data {"changes" [change]})))
  (assert (in "a.py" (get lines 0)))
  (assert (in "    10    - line 9" lines))
  (assert (in "       10 + new" lines))
  (assert (in "       11 + more" lines))
  (assert (in "    11 12   line 10" lines))
  (setv many (lfor n (range 500) {"kind" "added" "old" None "new" n "text" "\x1b[2J"}))
  (assert (<= (len (drawn (result True "" :data {"changes" [{#** change "diff" many}]}))) (+ 2 render.body-limit))))

(defn test-recorded-results [tmp-path]
  "A result of a record, which has no data, looks as it did when it was live: a read, a read in part, a folder, an edit."
  (.write-text (/ tmp-path "a.txt") (.join "" (gfor i (range 40) f"line {i}\n")))
  (setv here (context.ToolContext :cwd (str tmp-path) :observations (protocol.Observations)))
  (defn call [name #** arguments] (threads.on-loop (registry.call name arguments here)))
  (setv whole (call "resource.read" :uri "workspace:a.txt")
        results [whole
                 (call "resource.read" :uri "workspace:a.txt" :start-line 3 :line-count 4)
                 (call "resource.read" :uri "workspace:.")
                 (call "resource.edit" :uri "workspace:a.txt" :base-revision (get whole.data "revision")
                       :operations [{"op" "replace-lines" "start_line" 2 "end_line" 2 "content" "two\n2\n"}
                                    {"op" "delete-lines" "start_line" 30 "end_line" 31}])])
  (for [r results]
    (assert r.ok r.text)
    (setv live (drawn (toolresult.event r "1")))
    (assert (.startswith (get live 0) (if (= r.tool "resource.edit") "✓ edit a.txt" "✓ read ")))
    (assert (= live (drawn {#** (toolresult.event r "1") "data" None})))))

(defn test-failing-turn-says-why-once []
  "A turn that failed for a reason that was shown ends without it; another reason is shown at its end."
  (for [[event count] [[{"type" "failure" "text" "no key" "kind" "auth"} 1] [None 1]]]
    (setv s (make-scroll))
    (for [e (filter None [{"type" "turn-started" "id" 1} event
                          {"type" "turn-done" "status" "failed" "reason" "no key" "seconds" 1 "requests" 1 "calls" 0}])]
      (.take s e))
    (setv lines (shown s))
    (assert (= (.count (.join "\n" lines) "no key") count))
    (assert (.startswith (get lines -1) "; failed"))))

(defn test-reasoning []
  "Reasoning is shown when that is wanted, once, before the answer, whether it streamed or comes from a record; else never."
  (setv streamed [{"type" "turn-started" "id" 1} {"type" "request-started" "number" 1}
                  {"type" "reasoning-delta" "text" "I "} {"type" "reasoning-delta" "text" "think"}
                  {"type" "text-delta" "text" "So."} {"type" "answer" "text" "So."} {"type" "reasoning" "text" "I think"}]
        recorded [{"type" "reasoning" "text" "I think"} {"type" "answer" "text" "So."}])
  (for [events [streamed recorded]]
    (for [wanted [True False]]
      (setv s (scroll.Scroll (fn [] 80) (fn [tool] "read") (fn [] 0) :trace (fn [] wanted)))
      (for [e events] (.take s e))
      (assert (= (shown s) (if wanted ["~ I think" "  So."] ["  So."]))))))

(defn test-beside []
  "That a form ran beside a turn is said only when a turn runs; a restart taken by a value says nothing of its own."
  (setv form "(eval-now (restart \"use-value\" 1))"
        ended {"type" "evaluation" "id" 5 "source" "(f)" "status" "ok" "values" ["1"] "beside" True "seconds" 0.002})
  (setv s (make-scroll))
  (.take s ended)
  (assert (not (in "beside" (.join "" (shown s)))))
  (.take s {"type" "turn-started" "id" 1})
  (.take s ended)
  (assert (in "beside" (.join "" (shown s))))
  (setv s (make-scroll))
  (for [e [{"type" "input-accepted" "id" None "text" form "kind" "form"}
           {"type" "evaluation" "id" None "source" form "status" "ok" "values" [] "beside" False}]]
    (.take s e))
  (assert (= (shown s) [])))

(defn test-detail-of-a-question []
  "What a question is about stands under it, bounded, its last lines if it is long."
  (setv detail (.join "\n" (gfor i (range 100) f"  frame {i}"))
        lines (drawn {"type" "question" "id" 1 "text" "NameError: foo" "own" True "detail" detail
                      "choices" [{"name" "abort" "doc" "" "values" 0}]}))
  (assert (= (get lines 0) "! NameError: foo"))
  (assert (in "frame 99" (get lines -1)))
  (assert (<= (len lines) (+ 1 render.traceback-limit))))

(defn test-errors []
  "A condition shows message, traceback and restarts; an interruption is told apart."
  (setv condition {"message" "boom" "type" "ValueError" "traceback" "  1 | (f)" "restarts" [#("retry" "again") "abort"]}
        lines (drawn {"type" "evaluation" "status" "error" "condition" condition "source" "(f)" "values" []}))
  (assert (.startswith (get lines 0) "! boom"))
  (assert (any (gfor l lines (in "1 | (f)" l))))
  (assert (any (gfor l lines (and (in "retry" l) (in "abort" l)))))
  (assert (.startswith (get (drawn {"type" "evaluation" "status" "aborted" "condition" None "source" "(f)" "seconds" 2}) 0) "! ")))

(setv TEXTS (st.text :alphabet "ab \n\t\x1b\x07\x9b❯=你\u202e\r" :max-size 30)
      FIELDS (st.one-of TEXTS (st.none) (st.integers 0 99) (st.booleans) (st.lists TEXTS :max-size 3)
                        (st.dictionaries (st.sampled-from ["name" "uri" "changes" "input" "message" "doc"]) TEXTS :max-size 3)))

(defn [(given (st.sampled-from (sorted events.kinds)) (st.data) (st.sampled-from [1 2 7 20 80])) (settings :max-examples 200 :deadline None)]
      test-anything-is-drawn [kind data width]
  "Whatever an event holds, drawing it raises nothing, keeps to the screen, and lets no control character through."
  (setv event {"type" kind #** (dfor f (get events.kinds kind "fields") f (.draw data FIELDS))})
  (for [row (render.draw event {"width" width "effect" (fn [tool] "execute")})]
    (assert (<= (cells.row-width row) width))
    (for [c (cells.row-text row)]
      (assert (and (>= (ord c) 32) (not (<= 127 (ord c) 159)) (!= c "\u202e"))))))

(defn test-broken-drawing []
  "A drawing function that raises costs one line, and the event is drawn plainly."
  (setv lines (drawn {"type" "turn-done"}))
  (assert (in "turn-done" (get lines 0)))
  (assert (= (get lines -1) "; turn-done")))

(defn test-order []
  "What was said stands before its answer; a call ends the block of text before it; the turn's end comes last."
  (setv s (make-scroll))
  (for [e [{"type" "input-accepted" "id" 1 "text" "go" "kind" "prompt"}
           {"type" "turn-started" "id" 1}
           {"type" "text-delta" "text" "I will"} {"type" "text-delta" "text" " look."}
           {"type" "call-started" "call_id" "1" "tool" "a.read" "form" "(a.read)" "shortened" False}
           (result True "text" :tool "a.read")
           {"type" "text-delta" "text" "Done"} {"type" "answer" "text" "Done"}
           {"type" "turn-done" "status" "done" "seconds" 1 "requests" 2 "calls" 1}]]
    (.take s e))
  (setv lines (shown s))
  (assert (= (cut lines 5) ["❯ go" "  I will look." "▸ (a.read)" "✓ a.read ∙ text ∙ 2 ms" "  Done"]))
  (assert (.startswith (get lines 5) "; done")))

(defn test-waiting-inputs []
  "Steering is shown where it joined, a queued input when its turn begins, one that was taken back never."
  (setv s (make-scroll))
  (for [e [{"type" "input-accepted" "id" 1 "text" "steer" "kind" "steering"}
           {"type" "input-accepted" "id" 2 "text" "later" "kind" "follow-up"}
           {"type" "input-accepted" "id" 3 "text" "gone" "kind" "follow-up"}]]
    (.take s e))
  (assert (= (shown s) []))
  (.take s {"type" "input-removed" "id" 3 "text" "gone"})
  (.take s {"type" "steering-applied" "texts" ["steer"]})
  (.take s {"type" "turn-started" "id" 2})
  (.take s {"type" "turn-started" "id" 3})
  (assert (= (shown s) ["» steer" "❯ later"])))

(defn local [s id]
  "Let S take a form and its value."
  (for [e [{"type" "evaluation-started" "id" id "source" "(f)" "operation" "form" "beside" True}
           {"type" "value" "text" "2" "id" id}
           {"type" "evaluation" "id" id "source" "(f)" "status" "ok" "values" ["2"] "condition" None "beside" True "seconds" 0.004}]]
    (.take s e)))

(defn test-local-output-waits-for-the-line []
  "A form beside a streaming answer stands between its lines; after a second it splits a line that will not end, and says so."
  (setv time [0] s (make-scroll 80 (fn [] (get time 0))))
  (.take s {"type" "text-delta" "text" "one "})
  (local s 1)
  (.take s {"type" "text-delta" "text" "line\ntwo"})
  (setv lines (shown s))
  (assert (= (cut lines 3) ["  one line" "* (f)" "= 2"]))
  (local s 2)
  (assert (= (shown s) []))
  (setv (get time 0) 1.5)
  (.tick s)
  (assert (= (cut (shown s) 3) ["  two" "* (f)" "= 2"]))
  (.take s {"type" "text-delta" "text" " three"})
  (.take s {"type" "answer" "text" "x"})
  (assert (= (shown s) ["  three"])))

(defn test-output-lines []
  "Output is shown by lines; a carriage return overwrites; an open line is shown before the value."
  (setv s (make-scroll))
  (for [text ["10%\r" "20%\r" "done\nnext" " and"]]
    (.take s {"type" "output" "text" text "id" 1}))
  (assert (= (shown s) ["  done"]))
  (assert (= (lfor r (.live s) (cells.row-text r)) ["  next and"]))
  (.take s {"type" "value" "text" "7" "id" 1})
  (assert (= (shown s) ["  next and" "= 7"])))

(defn test-replay-equals-live []
  "An answer from the record gives the rows that its deltas gave."
  (setv text "# T\n\n- one **two**\n\n```\ncode\n```\nend" live (make-scroll 30) again (make-scroll 30))
  (for [c text] (.take live {"type" "text-delta" "text" c}))
  (.take live {"type" "answer" "text" text})
  (.take again {"type" "answer" "text" text})
  (assert (= (shown live) (shown again))))

(defn test-compaction []
  "A compaction is seen while it runs and noted when it is done; one that was asked for, or failed, says so elsewhere."
  (defn done [#** more]
    {"type" "compaction-done" "ok" True "reason" "threshold" "before" 110000 "after" 2000 "seconds" 1 #** more})
  (assert (in "110k" (.join " " (drawn (done)))))
  (for [quiet [(done :ok False) (done :reason "asked") {"type" "compaction-started" "reason" "overflow" "tokens" 9 "window" 10}]]
    (assert (= (drawn quiet) [])))
  (setv state (activity.start)
        started {"type" "compaction-started" "reason" "threshold" "tokens" 9 "window" 10})
  (activity.note state started 0)
  (assert (= (activity.parts state 1) []))
  (activity.note state {"type" "turn-started" "id" 1} 2)
  (setv before (activity.parts state 3))
  (activity.note state started 3)
  (assert (!= (get (activity.parts state 3) 1) (get before 1)))
  (activity.note state (done) 4)
  (activity.note state {"type" "turn-done" "status" "done"} 5)
  (assert (= (activity.parts state 6) [])))

(defn test-activity []
  "The row says what is awaited, from whom and since when, and is gone when nothing runs."
  (setv state (activity.start))
  (assert (= (activity.parts state 0) []))
  (for [[at e] [[0 {"type" "turn-started" "id" 1}] [1 {"type" "request-started" "number" 1 "model" "m1"}]
                [2 {"type" "text-delta" "text" "abc"}] [3 {"type" "text-delta" "text" "def"}]]]
    (activity.note state e at))
  (setv parts (activity.parts state 12))
  (assert (in "m1" (get parts 1)))
  (assert (in "6 B" parts))
  (assert (any (gfor p parts (in "nothing for" p))))
  (activity.note state {"type" "call-started" "call_id" "1" "form" "(a)"} 13)
  (assert (in "(a)" (activity.parts state 14)))
  (activity.note state {"type" "turn-done" "status" "done"} 15)
  (assert (= (activity.parts state 16) [])))
