"The turn, over real sockets with real tools: order, results, steering, limits and failures."

(import
  asyncio
  json
  os
  pytest
  autolith.agent [calls turn]
  autolith.base [threads]
  autolith.state [conversation settings]
  tests.agent [lib]
  tests.doubles [scripted])

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-a-whole-turn [tmp-path wire]
  "A turn with reasoning, a real tool and an answer leaves records in wire order and publishes its events, over every wire."
  (.write-text (/ tmp-path "poem.txt") "roses\n")
  (with [server (scripted.Server [[(scripted.reasoning "let me look") (scripted.calls "resource_read" {"uri" "workspace:poem.txt"})]
                                  (scripted.answer "It says roses.")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (b.prompt "what does the poem say?")))
  (assert (= #((get outcome "status") (get outcome "text")) #("done" "It says roses.")))
  (assert (= #((get outcome "requests") (get outcome "calls")) #(2 1)))
  (assert (> (get outcome "usage" "input") 0))
  (assert (= (lfor r (b.records) :if (not-in (get r "kind") ["preamble"]) (get r "kind"))
             ["message" "item" "item" "usage" "result" "item" "usage"]))
  (assert (in "roses" (get (b.records "result") 0 "text")))
  (setv kinds (list (dict.fromkeys (b.kinds))))
  (for [[earlier later] [["request-started" "reasoning-delta"] ["reasoning-delta" "call-started"] ["call-started" "call-result"]
                         ["call-result" "text-delta"] ["text-delta" "answer"]]]
    (assert (< (.index kinds earlier) (.index kinds later))))
  (assert (= (get (b.of-kind "call-started") 0 "form") "(resource.read :uri \"workspace:poem.txt\")"))
  (assert (= (.join "" (lfor e (b.of-kind "text-delta") (get e "text"))) "It says roses."))
  (setv id b.agent.conversation.id)
  (conversation.close b.agent.conversation)
  (setv c (conversation.open-conversation id))
  (assert (= (lib.history-complaints c wire) []))
  (conversation.close c))

(defn test-message-is-durable-before-the-request [tmp-path]
  "When the provider gets the request, the user's message is in the file."
  (setv seen [])
  (defn look [body]
    (with [f (open b.agent.conversation.path)] (.append seen (.read f)))
    (scripted.answer "ok"))
  (with [server (scripted.Server [look])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt {"text" "keep this" "id" 7}))
  (assert (in "keep this" (get seen 0)))
  (assert (= (get (b.records "message") 0 "input_id") 7)))

(defn test-results-are-durable-before-the-next-request [tmp-path]
  "When the provider gets the next request, every result of the round is in the file."
  (setv seen [])
  (defn look [body]
    (with [f (open b.agent.conversation.path)] (.append seen (.read f)))
    (scripted.answer "ok"))
  (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "a"} "lab_fail" {"text" "b"})] look])]
    (setv b (lib.Bench (server.provider "chat-completions") tmp-path))
    (b.prompt "go"))
  (assert (in "noted a" (get seen 0)))
  (assert (in "lab.fail" (get seen 0))))

;; * Calls

(defn test-neighbouring-reads-run-together [tmp-path]
  "Reads that stand side by side run at once; a call that writes waits for them and runs alone, in its place."
  (with [server (scripted.Server [[(scripted.calls "lab_meet" {"count" 2} "lab_meet" {"count" 2} "lab_note" {"text" "x"} "lab_note" {"text" "y"})]
                                  (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path))
    (assert (= (get (b.prompt "go") "status") "done")))
  (assert (= lib.done ["met 2" "met 2" "x" "y"]))
  (assert (= (lfor r (b.records "result") (get r "call_id")) (lfor e (b.of-kind "call-started") (get e "call_id")))))

(defn test-groups []
  "Only neighbours that read are grouped, and nothing joins a barrier."
  (setv call (fn [effect [barrier False]] {"effect" effect "barrier" barrier}))
  (assert (= (lfor g (calls.groups [(call "read") (call "read") (call "write") (call "write") (call "read") (call "read" True) (call "read")])
                   (len g))
             [2 1 1 2 1])))

(defn test-a-failing-call-leaves-its-neighbours-alone [tmp-path]
  "One failing call among five costs only its own result; five results come in the order of the calls."
  (with [server (scripted.Server [[(scripted.calls "lab_fail" {"text" "a"} "lab_note" {"text" "b"} "lab_meet" {"count" 1}
                                                   "lab_note" {"text" "d"} "lab_note" {"text" "e"})]
                                  (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "go"))
  (assert (= (lfor r (b.records "result") (get r "ok")) [False True True True True]))
  (assert (= lib.done ["b" "met 1" "d" "e"])))

(defn test-two-edits-of-one-file [tmp-path]
  "Two edits of one file in one response are both there, or the second reports a conflict; nothing is lost in silence."
  (setv path (/ tmp-path "f"))
  (.write-text path (.join "" (gfor n (range 1 101) f"{n}\n")))
  (defn edits [body]
    (setv revision (get (b.of-kind "call-result") 0 "data" "revision"))
    (lfor [line text] [[50 "FIFTY"] [75 "SEVENTY-FIVE"]]
          (scripted.call "resource_edit"
            {"uri" "workspace:f" "base_revision" revision
             "operations" [{"op" "replace-lines" "start_line" line "end_line" line "content" text}]})))
  (with [server (scripted.Server [[(scripted.calls "resource_read" {"uri" "workspace:f"})] edits (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "go"))
  (setv lines (.splitlines (.read-text path))
        outcomes (lfor r (cut (b.records "result") 1 None) (get r "ok")))
  (assert (= (len lines) 100))
  (assert (get outcomes 0) (get (b.records "result") 1 "text"))
  (assert (= [(get lines 49) (get lines 74)] ["FIFTY" (if (get outcomes 1) "SEVENTY-FIVE" "75")])))

(defn test-nothing-runs-after-a-barrier [tmp-path]
  "Calls after a barrier do not run, and their results say so."
  (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "a"} "lab_end" {} "lab_note" {"text" "b"} "nope" {})]
                                  (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path))
    (assert (= (get (b.prompt "go") "calls") 4)))
  (assert (= lib.done ["a" "ended"]))
  (assert (= (lfor r (b.records "result") (get r "ok")) [True True False False])))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-next-response-only [tmp-path wire]
  "A call that lives through the next response is in the next request, in no later one, and never on disk."
  (with [server (scripted.Server [[(scripted.reasoning "look") (scripted.calls "lab_peek" {"text" "P1"})]
                                  [(scripted.calls "lab_note" {"text" "n"})]
                                  (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "go")
    (setv bodies (lfor r server.requests (json.dumps (get r "body")))))
  (assert (= (lfor body bodies (in "only once: P1" body)) [False True False]))
  (with [f (open b.agent.conversation.path)]
    (assert (not-in "P1" (.read f)))))

(defn test-calls-that-cannot-run [tmp-path]
  "An unknown tool, arguments that are no object, and a tool that cancels itself give failed results, and the turn goes on."
  (with [server (scripted.Server [[(scripted.calls "nope" {} "lab_note" "[1, 2" "lab_note" "[1]" "lab_quit" {} "lab_note" {"text" "ok"})]
                                  (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "status") "done")))
  (assert (= (lfor r (b.records "result") (get r "ok")) [False False False False True]))
  (assert (= lib.done ["ok"])))

(defn test-repeated-call-ids [tmp-path]
  "Call ids that a provider repeats, within a response or in a later one, still give each call its own result."
  (with [server (scripted.Server [[(scripted.call "lab_note" {"text" "a"} :id "same")]
                                  [(scripted.call "lab_note" {"text" "b"} :id "same")]
                                  (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider "chat-completions") tmp-path))
    (b.prompt "go"))
  (assert (= lib.done ["a" "b"]))
  (assert (= (len (set (lfor r (b.records "result") (get r "call_id")))) 2))
  (assert (= (sorted (.values (lib.results b))) ["noted a" "noted b"]))
  (assert (= (lib.history-complaints b.agent.conversation "chat-completions") [])))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-truncated-call-never-runs [tmp-path wire]
  "A call that the output limit cut is not run; where the provider sends it at all, its result says why."
  (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "a long text that is cut"}) (scripted.limit)]
                                  (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (assert (= (get (b.prompt "go") "status") "done")))
  (assert (= lib.done []))
  (assert (= (lfor r (b.records "result") (get r "ok")) (if (= wire "responses") [] [False]))))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-truncated-answer-says-so [tmp-path wire]
  "An answer that stops at the limit is kept, and a notice and the outcome tell why it is not whole and how to get the rest."
  (with [server (scripted.Server [[(scripted.answer "the beginning of") (scripted.limit)] (scripted.answer "the end")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (b.prompt "go"))
    (assert (= (get outcome "text") "the beginning of"))
    (assert (= (get outcome "status") "done"))
    (assert (in "continue" (get outcome "reason")))
    (assert (in "max-output" (get outcome "reason")))
    (assert (= (lfor e (b.of-kind "notice") [(get e "level") (get e "text")]) [["warning" (get outcome "reason")]]))
    (assert (= (get (b.prompt "continue") "text") "the end")))
  (assert (= (len (b.of-kind "notice")) 1)))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)
       (pytest.mark.parametrize "parts" [[] [(scripted.answer "")] [(scripted.answer " \n")] [(scripted.reasoning "hm")]
                                         [(scripted.reasoning "hm") (scripted.limit)]])]
  test-nothing-is-said [tmp-path wire parts]
  "A response without a word or a call says so in a notice and in the outcome, and the next turn works."
  (with [server (scripted.Server [[#* parts] (scripted.answer "here")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (b.prompt "go"))
    (assert (= #((get outcome "status") (.strip (get outcome "text"))) #("done" "")))
    (assert (= (lfor e (b.of-kind "notice") (get e "text")) [(get outcome "reason")]))
    (assert (in "continue" (get outcome "reason")))
    (assert (= (get (b.prompt "continue") "text") "here"))))

;; * Steering

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-steering-at-the-boundary [tmp-path wire]
  "A message that comes during a turn joins behind the results of the round, durably, and the next request has it."
  (defn steer [body]
    (.append b.steering {"text" "rather blue" "id" 3})
    (scripted.calls "lab_note" {"text" "red"}))
  (with [server (scripted.Server [steer (scripted.answer "blue then")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "paint")
    (assert (in "rather blue" (json.dumps (get server.requests 1 "body")))))
  (assert (= (lfor r (b.records) :if (in (get r "kind") ["message" "result"]) (get r "kind")) ["message" "result" "message"]))
  (assert (= (lfor e (b.of-kind "steering-applied") (get e "texts")) [["rather blue"]]))
  (assert (= b.agent.conversation.turns 1)))

(defn test-steering-waits-when-the-turn-ends [tmp-path]
  "A message that comes while the last answer is written is left to the session."
  (defn steer [body]
    (.append b.steering {"text" "late"})
    (scripted.answer "done"))
  (with [server (scripted.Server [steer])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "go"))
  (assert (= (len b.steering) 1)))

;; * Ends

(defn test-a-pause-goes-on [tmp-path]
  "A provider that pauses is asked to go on, and not for ever."
  (with [server (scripted.Server [[(scripted.answer "part one") (scripted.pause)] (scripted.answer "part two")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path)
          outcome (b.prompt "go")))
  (assert (= #((get outcome "status") (get outcome "requests") (get outcome "text")) #("done" 2 "part two")))
  (with [server (scripted.Server (* [[(scripted.answer "again") (scripted.pause)]] (+ turn.continue-limit 1)))]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path)
          outcome (b.prompt "go")))
  (assert (= (get outcome "status") "failed")))

(defn test-identical-failures-stop-the-turn [tmp-path]
  "The same call that fails in the same way again and again ends the turn with the reason, on a history that is whole."
  (settings.put "identical-failure-limit" 3)
  (with [server (scripted.Server (* [[(scripted.calls "lab_meet" {"count" 1} "lab_fail" {"text" "same"})]] 3))]
    (setv b (lib.Bench (server.provider "responses") tmp-path)
          outcome (b.prompt "go")))
  (assert (= #((get outcome "status") (get outcome "requests")) #("failed" 3)))
  (assert (in "lab.fail" (get outcome "reason")))
  (assert (= (lib.history-complaints b.agent.conversation) [])))

(defn test-the-same-failure-of-a-form-stops-the-turn [tmp-path]
  "A form that fails again and again in the same way ends the turn, though each evaluation has a number and objects an address."
  (settings.put "identical-failure-limit" 3)
  (try
    (with [server (scripted.Server (* [(scripted.calls "self_eval" {"form" "(print (object)) (defn f [] (/ 1 0)) (f)"})] 3))]
      (setv b (lib.Bench (server.provider "responses") tmp-path)
            outcome (threads.on-loop (b.turn "go"))))      ; forms need a main thread that serves them
    (finally (settings.put "identical-failure-limit" None)))
  (assert (> (len (set (lfor r (b.records "result") (get r "text")))) 1))
  (assert (= #((get outcome "status") (get outcome "requests")) #("failed" 3)))
  (assert (in "self.eval" (get outcome "reason"))))

(setv ALIKE [["File \"<self.eval 65>.hy\", line 2" "File \"<self.eval 7>.hy\", line 2"]
             ["<object object at 0x7fe7d8538590>" "<object object at 0x55d0aa>"]
             ["timed out after 1.25 s" "timed out after 980 ms"]
             ["took 3 seconds, at 11:02:44" "took 12 seconds, at 11:02:57.120"]
             ["2026-11-30T12:10:58.151Z: lost" "2026-12-01T00:00:00.000Z: lost"]
             ["has changed since revision R0a1b2c3d4e5f6789" "has changed since revision R9876543210abcdef"]
             ["see output:0123456789abcdef01234567" "see output:76543210fedcba9876543210"]
             ["no such file: /tmp/tmpab12cd34/x" "no such file: /tmp/tmpzz99yy_8/x"]
             ["process 4711 ended" "process 4712 ended"]]
      UNLIKE [["line 2 is too long" "line 3 is too long"]
              ["division by zero" "no such name: x"]
              ["3 tests failed" "2 tests failed"]
              ["no file called a.hy" "no file called b.hy"]
              ["exit status 1" "exit status 2"]])

(defn [(pytest.mark.parametrize "pair" [#* ALIKE #* UNLIKE])] test-failures-that-are-the-same [pair]
  "Two failures are the same when they differ in counters, addresses, times and ids only, not when they say something else."
  (setv [one two] (map calls.alike pair))
  (assert (= (= one two) (in pair ALIKE))))

(defn test-failures-with-progress-between-do-not-stop-it [tmp-path]
  "The same failure with a successful change between does not count as repeated."
  (with [server (scripted.Server [#* (sum (lfor n (range 4) [[(scripted.calls "lab_fail" {"text" "same"} "lab_note" {"text" (str n)})]]) [])
                                  (scripted.answer "done")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "status") "done"))))

(defn test-request-limit [tmp-path]
  "A turn stops at the setting's number of requests, and the next one goes on."
  (settings.put "request-limit" 2)
  (try
    (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "1"})] [(scripted.calls "lab_note" {"text" "2"})]
                                    (scripted.answer "done")])]
      (setv b (lib.Bench (server.provider "chat-completions") tmp-path)
            outcome (b.prompt "go"))
      (assert (= #((get outcome "status") (get outcome "requests")) #("failed" 2)))
      (assert (= (get (b.prompt "continue") "status") "done")))
    (finally (settings.put "request-limit" None))))

(setv FAULTS {"auth" (scripted.error 401)
              "invalid-request" (scripted.error 400)
              "overloaded" (scripted.error 529)
              "page" (scripted.page "<html><title>Log in</title>")
              "cut in text" [(scripted.answer "half an answer") (scripted.cut)]
              "cut in a call" [(scripted.answer "I will") (scripted.calls "lab_note" {"text" "never"}) (scripted.cut)]
              "error event" [(scripted.answer "half an answer") (scripted.fault "server_error" "broken")]})

(defn [(pytest.mark.parametrize "wire" lib.WIRES)
       (pytest.mark.parametrize "name" (list FAULTS))]
  test-provider-failures [tmp-path monkeypatch wire name]
  "A failing provider ends the turn with a reason; half an answer counts as nothing, and the next turn works."
  (monkeypatch.setenv "AUTOLITH_RETRY_LIMIT" "0")
  (with [server (scripted.Server [(get FAULTS name) (scripted.answer "fine again")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (b.prompt "go"))
    (assert (= (get outcome "status") "failed"))
    (assert (get outcome "reason"))
    (assert (= (lfor e (b.of-kind "failure") (get e "text")) [(get outcome "reason")]))
    (assert (= (b.records "item") []))
    (setv [failure] (b.records "failure"))
    (assert (= (in "half" (get failure "partial")) (in name ["cut in text" "error event"])))
    (assert (= (get (b.prompt "again") "text") "fine again")))
  (assert (= lib.done [])))

(defn test-unreachable-host [tmp-path monkeypatch]
  "A host that nobody answers at ends the turn with a reason."
  (monkeypatch.setenv "AUTOLITH_RETRY_LIMIT" "0")
  (with [server (scripted.Server [])]
    (setv provider (server.provider "responses")))
  (setv b (lib.Bench provider tmp-path)
        outcome (b.prompt "go"))
  (assert (= (get outcome "status") "failed"))
  (assert (= (get (b.records "failure") 0 "cause") "network")))

(defn test-refusal [tmp-path]
  "A refusal ends the turn as failed with the model's words, runs no call, and leaves an acceptable history."
  (with [server (scripted.Server [[(scripted.refusal "I will not.")] (scripted.answer "that I can")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path)
          outcome (b.prompt "go"))
    (assert (= #((get outcome "status") (get outcome "text")) #("failed" "I will not.")))
    (assert (= (get (b.prompt "then this") "status") "done"))))

(defn test-on-failure-may-retry [tmp-path monkeypatch]
  "The seam for retries sends the same request again when it says so."
  (defn :async again [t error]
    (when (< t.requests 3) "retry"))
  (monkeypatch.setattr turn "on_failure" again)
  (with [server (scripted.Server [(scripted.error 529) (scripted.error 529) (scripted.answer "at last")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "text") "at last"))
    (assert (= 1 (len (set (lfor r server.requests (json.dumps (get r "body"))))))))
  (assert (= (b.records "failure") [])))

(defn test-redefinition-reaches-a-running-turn [tmp-path monkeypatch]
  "A step that is redefined while a turn runs is used by that turn; one that raises ends the turn, not the session."
  (defn redefine [body]
    (monkeypatch.setattr turn "after_answer" (fn [t response] #("done" "by the new definition")))
    (scripted.calls "lab_note" {"text" "x"}))
  (defn spoil [body]
    (monkeypatch.setattr turn "after_answer" (fn [t response] (/ 1 0)))
    (scripted.answer "x"))
  (with [server (scripted.Server [redefine (scripted.answer "ok") spoil])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "reason") "by the new definition"))
    (setv outcome (b.prompt "go on"))
    (assert (= (get outcome "status") "failed"))
    (assert (in "ZeroDivisionError" (get outcome "reason")))))

;; * What happens around it

(defn test-conversation-deleted-during-a-turn [tmp-path]
  "A conversation that is deleted in the middle of a turn is whole again at its end, and the user is told at once."
  (defn remove [body]
    (os.unlink b.agent.conversation.path)
    (scripted.calls "lab_note" {"text" "x"}))
  (with [server (scripted.Server [remove (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "go") "status") "done")))
  (assert (< (.index (b.kinds) "notice") (.index (b.kinds) "call-started")))
  (setv c b.agent.conversation)
  (conversation.close c)
  (setv again (conversation.open-conversation c.id))
  (assert (= (lfor r again.records (get r "kind")) (lfor r c.records (get r "kind"))))
  (conversation.close again))

(defn test-directory-moved-during-a-turn [tmp-path]
  "A working directory that is moved away in the middle of a turn costs the calls that need it, not the turn."
  (setv here (/ tmp-path "here"))
  (.mkdir here)
  (.write-text (/ here "AGENTS.md") "be brief")
  (defn move [body]
    (.rename here (/ tmp-path "there"))
    (scripted.calls "search_files" {"query" "x"} "resource_read" {"uri" "workspace:."} "lab_note" {"text" "x"}))
  (with [server (scripted.Server [move (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") here))
    (assert (= (get (b.prompt "go") "status") "done")))
  (assert (= (len (b.records "result")) 3))
  (assert (= lib.done ["x"])))

;; * Beside

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-a-side-request [tmp-path wire]
  "A side request sends its text alone, without tools or history, and leaves no record."
  (with [server (scripted.Server [(scripted.answer "first") (scripted.answer "blue")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "the main question")
    (setv count b.agent.conversation.seq)
    (assert (= (asyncio.run (turn.complete b.agent "which colour?")) "blue"))
    (setv body (json.dumps (get server.requests 1 "body"))))
  (assert (in "which colour?" body))
  (assert (not-in "main question" body))
  (assert (not-in "lab_note" body))
  (assert (= b.agent.conversation.seq count)))
