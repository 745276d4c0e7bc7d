"(compact) and (usage) at the prompt of a real session."

(import
  asyncio
  pytest
  autolith.application [inputs session transcript]
  autolith.provider [models]
  autolith.state [conversation settings]
  tests.application [lib]
  tests.doubles [scripted])

(setv HANDOFF "Goal: a poem. Open: its last line.")

(defn [(pytest.fixture :autouse True)] priced [monkeypatch]
  "Let the tests' model have a price, and settings come back."
  (monkeypatch.setattr models "_table" (dict (models.table)))
  (models.define {"id" "test-model" "window" 1000 "output" 500 "price" {"input" 2 "cached" 0.5 "output" 10}})
  (yield)
  (for [name ["context-window" "compaction-threshold"]] (settings.put name None)))

(defn shown [s]
  "Return the values that the prompt of S has shown."
  (lfor e (lib.events s "value") (get e "text")))

(defn statuses [s]
  "Return how the forms and commands of S ended."
  (lfor e (lib.events s "evaluation") (get e "status")))

(defn [(pytest.mark.parametrize "wire" ["responses" "chat-completions" "anthropic-messages"])] test-compact-and-usage [tmp-path wire]
  "/compact replaces the conversation by a summary, the context shrinks, and (usage) says what all of it cost."
  (with [server (scripted.Server [[(scripted.usage :input 700 :cached 600 :output 20) (scripted.answer "roses")]
                                  [(scripted.usage :input 100 :output 50) (scripted.answer HANDOFF)]
                                  [(scripted.usage :input 200 :output 10) (scripted.answer "violets")]])]
    (setv s (lib.make-session (server.provider wire) :cwd tmp-path)
          percents [])
    (settings.put "context-window" 100000)
    (defn :async steps [s]
      (await (lib.say s "/usage"))
      (await (lib.say s "a poem"))
      (.append percents (session.context-percent s))
      (await (lib.say s "/compact keep the title"))
      (.append percents (session.context-percent s))
      (await (lib.say s "and the end?"))
      (await (lib.say s "(usage)")))
    (lib.play s steps)
    (assert (= (statuses s) ["ok" "ok" "ok"]))
    (assert (in "keep the title" (str (get server.requests 1 "body"))))
    (assert (in HANDOFF (str (get server.requests 2 "body")))))
  (setv done (get (lib.events s "compaction-done") 0))
  (assert (= #((get done "ok") (get done "reason")) #(True "asked")))
  (assert (= (get percents 0) 1))
  (assert (= s.compacted None))
  (setv table (get (shown s) -1))
  (for [words ["scripted/test-model" "3" "600 (60%)" "$0.0019"]]       ; 400 plain, 600 cached, 80 out
    (assert (in words table)))
  (setv redrawn (transcript.last-events s.conversation 20))
  (assert (= (get redrawn 0 "type") "compaction-done"))
  (assert (= (lfor e redrawn :if (= (get e "type") "input-accepted") (get e "text")) ["a poem" "/compact keep the title" "and the end?" "(usage)"])))

(defn test-context-after-a-resume [tmp-path]
  "How full the window is, is known after a resume as it was before."
  (with [server (scripted.Server [[(scripted.usage :input 400 :output 100) (scripted.answer "roses")]])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path)
          percents [])
    (defn :async steps [s]
      (.append percents (session.context-percent s))
      (await (lib.say s "a poem"))
      (.append percents (session.context-percent s))
      (setv id s.conversation.id)
      (session.begin s)
      (.append percents (session.context-percent s))
      (session.resume s id)
      (.append percents (session.context-percent s)))
    (lib.play s steps))
  (assert (= percents [None 50 None 50])))

(defn test-nothing-to-compact [tmp-path]
  "Without anything to replace, (compact) fails with a reason and asks nobody."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (setv task (asyncio.create-task (lib.say s "(compact)")))
      (await (lib.until s (fn [e] (in (get e "type") ["question" "evaluation"]))))
      (inputs.cancel s)
      (await task))
    (lib.play s steps))
  (assert (= (lib.events s "compaction-started") [])))

(defn test-not-during-a-turn [tmp-path]
  "Neither the model's code nor the user's can compact the conversation under a turn that runs."
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" "(compact)"}) (scripted.answer "ok")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (settings.put "context-window" 100000)
    (lib.play s (fn [s] (lib.say s "try it"))))
  (assert (in "CompactionFailed" (str (get (lib.events s "call-result") 0))))
  (assert (= (lib.events s "compaction-started") []))
  (assert (= (get (lib.events s "turn-done") 0 "status") "done")))

(defn test-interrupted-compaction [tmp-path]
  "Stopping (compact) leaves the conversation as it was, and the prompt works on."
  (with [server (scripted.Server [(scripted.answer "roses") [(scripted.answer "half a summary") (scripted.stall)] (scripted.answer "on")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (settings.put "context-window" 100000)
    (defn :async steps [s]
      (await (lib.say s "a poem"))
      (setv before (conversation.items s.conversation)
            task (asyncio.create-task (lib.say s "(compact)")))
      (await (lib.until s (fn [e] (= (get e "type") "compaction-started"))))
      (while (< (len server.requests) 2) (await (asyncio.sleep 0.005)))
      (inputs.cancel s)
      (await task)
      (assert (= (conversation.items s.conversation) before))
      (await (lib.say s "go on")))
    (lib.play s steps)
    (assert (in "a poem" (str (get server.requests 2 "body")))))
  (assert (not (get (lib.events s "compaction-done") 0 "ok")))
  (assert (!= (get (statuses s) 0) "ok")))

(defn test-compaction-in-a-turn-of-a-session [tmp-path]
  "A session whose window is nearly full compacts by itself before the next request, and publishes only events of the vocabulary."
  (with [server (scripted.Server [[(scripted.usage :input 900 :output 20) (scripted.answer "roses")]
                                  (scripted.answer HANDOFF) (scripted.answer "violets")])]
    (setv s (lib.make-session (server.provider "anthropic-messages") :cwd tmp-path))
    (defn :async steps [s]
      (await (lib.say s "a poem"))
      (await (lib.say s "go on")))
    (lib.play s steps))
  (assert (= (lfor e (lib.events s "answer") (get e "text")) ["roses" "violets"]))
  (assert (= (get (lib.events s "compaction-started") 0 "reason") "threshold"))
  (assert (= (lfor e (lib.events s "notice") :if (= (get e "level") "error") e) [])))
