"Inputs: forms, prose, commands, steering, the queue, what runs beside what, and what the model comes to know of it."

(import
  asyncio
  json
  os
  pytest
  autolith.application [inputs primitives session transcript]
  autolith.state [conversation pending]
  tests.application [lib]
  tests.doubles [scripted])

(defn values [s]
  "The values that S has shown."
  (lfor e (lib.events s "value") (get e "text")))

(defn test-form-is-evaluated-shown-and-recorded [tmp-path]
  "A form's output and value are published, and the operation is in the conversation's records."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (lib.play s (fn [s] (lib.say s "(print \"hello\") (+ 20 22)"))))
  (assert (= (values s) ["42"]))
  (assert (= (.join "" (gfor e (lib.events s "output") (get e "text"))) "hello\n"))
  (setv record (get s.conversation.records -1))
  (assert (= [(get record "kind") (get record "status")] ["user-operation" "ok"]))
  (assert (in "42" (get record "result"))))

(defn test-model-sees-operations-as-evidence-only [tmp-path]
  "What the user evaluated reaches the next request as marked evidence, and never becomes history."
  (with [server (scripted.Server [(scripted.answer "Fine.") (scripted.answer "Fine again.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (await (lib.say s "(+ 1000 337)"))
      (await (lib.say s "hello"))
      (await (lib.say s "more")))
    (lib.play s steps))
  (setv first (json.dumps (get server.requests 0 "body")))
  (assert (in "1337" first))
  (assert (not (any (gfor item (conversation.items s.conversation) (in "1337" (json.dumps item)))))))

(defn test-prose-is-answered [tmp-path]
  "Prose runs a turn whose deltas, answer and end are published."
  (with [server (scripted.Server [(scripted.answer "Forty two.")])]
    (setv s (lib.make-session (server.provider "anthropic-messages") :cwd tmp-path))
    (lib.play s (fn [s] (lib.say s "what is it?"))))
  (assert (= (.join "" (gfor e (lib.events s "text-delta") (get e "text"))) "Forty two."))
  (assert (= (lfor e (lib.events s "turn-done") (get e "status")) ["done"]))
  (assert (= (get (lib.events s "turn-started" "turn-done") 0 "type") "turn-started")))

(defn test-call-is-shown-as-its-form [tmp-path]
  "A model's call is published as the Hy form that makes the same call."
  (.write-text (/ tmp-path "a.txt") "one\n")
  (with [server (scripted.Server [(scripted.calls "resource_read" {"uri" "workspace:a.txt"}) (scripted.answer "Read.")])]
    (setv s (lib.make-session (server.provider "chat-completions") :cwd tmp-path))
    (lib.play s (fn [s] (lib.say s "read a.txt"))))
  (setv [call] (lib.events s "call-started") [result] (lib.events s "call-result"))
  (assert (= (get call "form") "(resource.read :uri \"workspace:a.txt\")"))
  (assert (and (get result "ok") (in "one" (get result "text")))))

(defn test-steering-joins-the-running-turn [tmp-path]
  "Prose during a turn reaches the model at the next request of that turn, after the results."
  (with [server (scripted.Server [[(scripted.slow 0.02) (scripted.calls "resource_read" {"uri" "workspace:."})]
                                  (scripted.answer "Done.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "start")
      (await (lib.until s (fn [e] (= (get e "type") "request-started"))))
      (setv said (inputs.submit s "also look at mul"))
      (await (lib.idle s))
      said)
    (setv said (lib.play s steps)))
  (assert (= (get said "kind") "steering"))
  (assert (= (lfor e (lib.events s "steering-applied") (get e "texts")) [["also look at mul"]]))
  (assert (in "also look at mul" (json.dumps (get server.requests 1 "body"))))
  (assert (= (len (lib.events s "turn-done")) 1)))

(defn test-follow-up-runs-after-the-turn [tmp-path]
  "A queued follow-up is a turn of its own, after the one that runs."
  (with [server (scripted.Server [[(scripted.slow 0.02) (scripted.answer "First answer.")] (scripted.answer "Second.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "first")
      (await (lib.until s (fn [e] (= (get e "type") "text-delta"))))
      (inputs.follow-up s "second")
      (setv waiting (inputs.queue s))
      (await (lib.idle s))
      waiting)
    (setv waiting (lib.play s steps)))
  (assert (= (lfor w waiting (get w "text")) ["second"]))
  (assert (= (lfor e (lib.events s "turn-done") (get e "status")) ["done" "done"])))

(defn test-cancel-and-hold [tmp-path]
  "Cancelling with hold stops the turn, keeps the half answer as interrupted, and holds the queue until the next input."
  (with [server (scripted.Server [[(scripted.answer "Half of it") (scripted.stall)] (scripted.answer "Later.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "first")
      (await (lib.until s (fn [e] (= (get e "type") "text-delta"))))
      (inputs.follow-up s "second")
      (inputs.cancel s True)
      (await (lib.until s (fn [e] (= (get e "type") "turn-done"))))
      (await (asyncio.sleep 0.05))
      (setv held #(s.held (len s.queue)))
      (inputs.submit s "")
      (await (lib.idle s))
      held)
    (setv held (lib.play s steps)))
  (assert (= held #(True 1)))
  (assert (= (lfor e (lib.events s "turn-done") (get e "status")) ["cancelled" "done"]))
  (assert (any (gfor r s.conversation.records (and (= (get r "kind") "failure") (.get r "partial"))))))

(defn test-form-waits-and-literal-call-runs-beside [tmp-path]
  "During a turn a computed form waits and says so, while a call with literal arguments and eval-now run at once."
  (.write-text (/ tmp-path "b.txt") "beside\n")
  (with [server (scripted.Server [[(scripted.answer "Slow answer.") (scripted.stall)]])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "go")
      (await (lib.until s (fn [e] (= (get e "type") "text-delta"))))
      (setv waits (inputs.submit s "(+ 1 (len \"ab\"))")
            beside (inputs.submit s "(resource.read :uri \"workspace:b.txt\")")
            now (inputs.submit s "(eval-now (* 6 7))"))
      (await (lib.until s (fn [e] (and (= (get e "type") "value") (= (get e "text") "42")))))
      (await (lib.until s (fn [e] (and (= (get e "type") "value") (in "beside" (get e "text"))))))
      (setv turn-ran (bool s.turn))
      (inputs.cancel s)
      (await (lib.idle s))
      [(get waits "kind") (get beside "kind") (get now "kind") turn-ran])
    (assert (= (lib.play s steps) ["follow-up" "beside" "beside" True])))
  (assert (in "3" (values s)))
  (assert (any (gfor e (lib.events s "notice") (in "eval-now" (get e "text"))))))

(defn test-eval-now-beside-the-models-own-evaluation [tmp-path]
  "eval-now runs while the main thread is taken by the model's self.eval; the model itself may not call it."
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" "(do (import time) (for [_ (range 400)] (time.sleep 0.01)) 1)"})
                                  (scripted.calls "self_eval" {"form" "(eval-now 1)"})
                                  (scripted.answer "Done.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "go")
      (await (lib.until s (fn [e] (= (get e "type") "call-started"))))
      (await (asyncio.sleep 0.1))
      (inputs.submit s "(eval-now (+ 40 2))")
      (await (lib.until s (fn [e] (= (get e "type") "value"))))
      (setv running (bool (get (or (cut (lib.events s "call-result") 1) [None]) 0)))
      (await (lib.idle s))
      running)
    (assert (is (lib.play s steps) False)))
  (setv results (lib.events s "call-result"))
  (assert (= (values s) ["42"]))
  (assert (= (lfor r results (get r "ok")) [True False])))

(defn test-form-waits-for-a-turn-that-evaluates [tmp-path]
  "A form that waits for a turn whose model calls self.eval does not wait for itself."
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" "(+ 1 1)"}) (scripted.answer "Two.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (lib.play s (fn [s] (lib.say s "(.wait (prompt \"add\"))"))))
  (assert (= (values s) ["\"Two.\""])))

(defn test-slash-is-sugar [tmp-path]
  "/word is the command's form, // escapes, and an unknown word is refused at once with its neighbours."
  (with [server (scripted.Server [(scripted.answer "Seen.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (await (lib.say s "/cwd"))
      (setv unknown (await (lib.say s "/helpp")))
      (await (lib.say s "//etc is a folder"))
      unknown)
    (setv unknown (lib.play s steps)))
  (assert (= (values s) [(os.path.abspath tmp-path)]))
  (assert (not (get unknown "accepted")))
  (assert (in "/help" (get unknown "notice")))
  (assert (in "/etc is a folder" (json.dumps (get server.requests 0 "body"))))
  (assert (not-in "//etc" (json.dumps (get server.requests 0 "body")))))

(defn test-waiting-inputs-survive [tmp-path]
  "What was accepted and has not run is on the disk, and waits, held, when the conversation is resumed."
  (with [server (scripted.Server [[(scripted.answer "x") (scripted.stall)]])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "first")
      (await (lib.until s (fn [e] (= (get e "type") "text-delta"))))
      (inputs.follow-up s "second")
      (setv kept (pending.load s.conversation.id))
      (inputs.cancel s True)
      (await (lib.idle s))
      kept)
    (setv kept (lib.play s steps) id s.conversation.id)
    (conversation.close s.conversation)
    (assert (= (lfor k kept (get k "text")) ["second"]))
    (setv again (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async resume [s]
      (session.resume s id)
      (inputs.restore s)
      #(s.held (lfor w (inputs.queue s) (get w "text"))))
    (setv again.conversation None)
    (import autolith.base [threads])
    (assert (= (threads.on-loop (resume again)) #(True ["second"])))))

(defn test-condition-is-asked-about-while-live [tmp-path]
  "An unknown name asks for a restart at the point of the look-up; the answer goes on with nothing unwound."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "(do (setv n 1) (+= n 1) (+ n 20 missing-name))")
      (setv question (await (lib.until s (fn [e] (= (get e "type") "question")))))
      (import autolith.application [questions])
      (questions.settle s "use-value" [20])
      (await (lib.idle s))
      question)
    (setv question (lib.play s steps)))
  (assert (get question "own"))
  (assert (in "use-value" (lfor c (get question "choices") (get c "name"))))
  (assert (= (values s) ["42"])))

(defn test-ask-and-answer [tmp-path]
  "A form may ask the user; (answer N) answers it beside."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "(ask \"which one?\" [\"red\" \"green\"])")
      (await (lib.until s (fn [e] (= (get e "type") "question"))))
      (inputs.submit s "(answer 2)")
      (await (lib.idle s)))
    (lib.play s steps))
  (assert (in "\"green\"" (values s))))

(defn test-model-cannot-leave-or-speak-as-the-user [tmp-path]
  "Code that the model had evaluated may neither end the session, nor prompt, nor answer, nor start another conversation."
  (setv forms ["(quit)" "(prompt \"x\")" "(answer 1)" "(ask \"x\")" "(new)"])
  (with [server (scripted.Server [#* (lfor f forms (scripted.calls "self_eval" {"form" f})) (scripted.answer "So be it.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path)
          s.on-end (fn [] (setv s.ended True)))
    (lib.play s (fn [s] (lib.say s "go"))))
  (assert (= (lfor e (lib.events s "call-result") (get e "ok")) (* [False] (len forms))))
  (assert (not s.ended)))

(defn test-slash-word-means-the-command [tmp-path]
  "A name that the user bound does not take the slash command away."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (await (lib.say s "(setv cwd 5)"))
      (await (lib.say s "/cwd"))
      (await (lib.say s "(del cwd)")))
    (lib.play s steps))
  (assert (= (values s) [(os.path.abspath tmp-path)])))

(defn test-failing-command-asks-nothing [tmp-path]
  "A command that fails is reported; no list of restarts opens that could not help."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (lib.play s (fn [s] (lib.say s "/cwd /no/such/folder"))))
  (assert (= (lib.events s "question") []))
  (assert (= (get (get (lib.events s "evaluation") 0) "status") "error")))

(defn test-lost-form-is-recorded [tmp-path]
  "A form that was running when the process ended is recorded as of unknown outcome when the conversation is resumed."
  (with [server (scripted.Server [])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "(do (import time) (time.sleep 0.3))")
      (setv kept (pending.load s.conversation.id))
      (await (lib.idle s))
      kept)
    (setv kept (lib.play s steps) id s.conversation.id)
    (assert (= (lfor k kept (get k "running")) [True]))
    (assert (= (pending.load id) []))
    (pending.save id kept)
    (defn :async restore [s] (inputs.restore s))
    (lib.play s restore))
  (setv record (get s.conversation.records -1))
  (assert (= [(get record "kind") (get record "status")] ["user-operation" "unknown"])))

(defn test-prose-during-a-form-keeps-its-order [tmp-path]
  "Prose typed while a form runs is sent after it, in the order in which it was typed."
  (with [server (scripted.Server [(scripted.answer "One.") (scripted.answer "Two.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (inputs.submit s "(do (import time) (time.sleep 0.2))")
      (inputs.submit s "first AAA")
      (inputs.submit s "second BBB")
      (await (lib.idle s)))
    (lib.play s steps)
    (setv sent (lfor r server.requests (json.dumps (get r "body")))))
  (assert (and (in "first AAA" (get sent 0)) (not-in "second BBB" (get sent 0)) (in "second BBB" (get sent 1)))))

(defn test-thought-with-a-key-is-not-sent-altered [tmp-path]
  "A thought that holds a key is kept redacted and no longer sent back, so that the provider never sees it altered."
  (import autolith.provider [credentials])
  (credentials.protect "sk-canary-thought-123456")
  (with [server (scripted.Server [[(scripted.reasoning "the key is sk-canary-thought-123456")
                                   (scripted.calls "resource_read" {"uri" "workspace:."})]
                                  (scripted.answer "Done.")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (lib.play s (fn [s] (lib.say s "go")))
    (setv sent (lfor r server.requests (json.dumps (get r "body")))))
  (assert (= (lfor e (lib.events s "turn-done") (get e "status")) ["done"]))
  (assert (not-in "canary-thought" (.join "" sent))))
