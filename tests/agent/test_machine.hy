"Any sequence of prompts, steering, cancels, failures, crashes and resumes leaves a history that every provider accepts."

(import
  asyncio
  collections [Counter]
  itertools
  json
  os
  hypothesis [settings strategies :as st]
  hypothesis.stateful [RuleBasedStateMachine invariant precondition rule]
  autolith.agent [calls compaction handoff retry turn]
  autolith.provider [errors]
  autolith.state [conversation segment]
  tests.agent [lib]
  tests.doubles [wires])

(setv PROVIDER {"name" "scripted" "wire" "responses" "base_url" "http://x" "key_variable" None "headers" {} "quirks" {}}
      serials (itertools.count 1))

(defn item [kind #** fields]
  {"type" "item" "item" {"type" kind #** fields}})

(defn call [name arguments #** more]
  "Return the event of a call of NAME."
  (setv n (next serials))
  (item "function_call" :call-id (if (% n 2) f"call_{n}" "call_again") :name name
        #** (if (isinstance arguments str) {"arguments_text" arguments} {"arguments" arguments}) #** more))

(defn events [part]
  "Return the provider's events for PART, a word."
  (setv n (next serials))
  (match part
    "reasoning" [(item "reasoning" :text "hm" :origin "scripted/scripted"
                       :raw {"type" "reasoning" "id" f"rs_{n}" "summary" [{"type" "summary_text" "text" "hm"}]
                             "encrypted_content" (wires.signature "hm")})]
    "text" [{"type" "text-delta" "text" f"text {n}"} (item "message" :role "assistant" :content [{"type" "text" "text" f"text {n}"}])]
    "empty" [(item "message" :role "assistant" :content [])]
    "half" [{"type" "text-delta" "text" f"half {n}"}]
    "note" [(call "lab_note" {"text" (str n)})]
    "fail" [(call "lab_fail" {"text" "no"})]
    "peek" [(call "lab_peek" {"text" (str n)})]
    "end" [(call "lab_end" {})]
    "wait" [(call "lab_wait" {})]
    "unknown" [(call "no_such" {})]
    "no object" [(call "lab_note" "[1,")]
    "truncated" [(call "lab_note" {"text" "cut"} :truncated True)]))

(setv PARTS ["reasoning" "text" "empty" "note" "note" "note" "fail" "peek" "end" "wait" "unknown" "no object" "truncated"]
      responses (st.lists (st.sampled-from PARTS) :min-size 1 :max-size 5)
      endings (st.sampled-from ["completed" "completed" "completed" "error" "cut" "stall" "continue" "refused" "incomplete"]))

(defn done [status]
  {"type" "done" "status" status "reason" status "usage" {"input" 1 "output" 1} "response_id" "r" "model" "scripted"})

(defn long-enough? [history]
  (> (len history.said) 2))

(defclass History [RuleBasedStateMachine]
  "One conversation that goes through anything."

  (defn __init__ [self]
    (.__init__ (super))
    (setv self.first-wait retry.first-wait
          retry.first-wait 0
          self.said []
          self.script []
          self.stalled False
          self.partial (set)
          self.complaints []
          self.conversation (conversation.create "/" :provider "scripted" :model "scripted" :effort None)))

  (defn bench [self]
    "Return an agent on the conversation as it is now."
    (lib.reset)
    (lib.Bench PROVIDER "/" :c self.conversation :stream self.stream))

  (defn :async stream [self request]
    "Check REQUEST as strict providers would, then answer from the script."
    (.extend self.complaints (lib.complaints request))
    (setv [parts ending] (if self.script (.pop self.script 0) #(["text"] "completed")))
    (for [part parts]
      (for [event (events part)] (yield event)))
    (match ending
      "error" (raise (errors.ProviderError "overloaded" "try later" :provider "scripted"))
      "cut" None
      "stall" (do (for [event (events "half")] (yield event))
                  (setv self.stalled True)
                  (await (asyncio.sleep 3600)))
      _ (yield (done ending))))

  (defn [(rule :rounds (st.lists (st.tuples responses endings) :min-size 1 :max-size 4) :steering (st.booleans)
               :cut-short (st.sampled-from [0 0 0 1 2 5 10]))]
    prompt [self rounds steering cut-short]
    "Run a turn; cancel it when it waits for ever, or in some of its first steps."
    (setv text f"user {(next serials)}"
          b (self.bench)
          self.stalled False
          self.script (list rounds))
    (when steering
      (.append b.steering f"steer {(next serials)}"))
    (setv wanted (list b.steering)
          steps (itertools.count))
    (defn stop []
      (or self.stalled (in "waiting" lib.done) (and cut-short (> (next steps) cut-short))))
    (setv outcome (asyncio.run (b.cancelled-when stop text)))
    (assert (in (get outcome "status") ["done" "failed" "cancelled"]))
    (assert (not-in "Traceback" (or (get outcome "reason") "")) (get outcome "reason"))
    (setv history (str (conversation.items self.conversation)))
    (for [noted lib.done :if (.isdigit noted)]
      (assert (in f"'noted {noted}'" history)))
    (.append self.said text)
    (when (and steering (not b.steering))
      (.extend self.said wanted)))

  (defn [(rule :text (st.sampled-from ["(f)" "(g)"]))] operate [self text]
    "Record a form of the user's."
    (conversation.append self.conversation {"kind" "user-operation" "operation" "form" "source" text "status" "ok" "result" "1"})
    None)

  (defn [(rule :ending (st.sampled-from ["completed" "completed" "error" "cut" "refused"])) (precondition long-enough?)]
    compact [self ending]
    "Have the model summarise, which may fail; then nothing has changed."
    (setv self.script [#(["text"] ending)]
          before (conversation.items self.conversation))
    (try
      (asyncio.run (compaction.compact (. (self.bench) agent) "asked"))
      (except [[errors.ProviderError compaction.CompactionFailed]]
        (assert (= (conversation.items self.conversation) before)))
      (else
        (assert (!= ending "refused"))               ; other failures are survived by a retry
        (setv self.said (cut self.said -1 None))))
    (setv self.script []))

  (defn [(rule :torn (st.sampled-from [b"" b"{:kind \"item\" :seq" b"\0\0\0\0"]) :lost (st.integers 0 3))] crash [self torn lost]
    "Die in the middle of things: the last LOST results are gone, TORN is what was being written; then resume."
    (setv c self.conversation)
    (when c.path
      (hy.I.os.close c.lease.lock.descriptor)
      (when c.log (.close c.log))
      (with [f (open c.path "rb")] (setv lines (.readlines f)))
      (while (and lost (in b":kind \"result\"" (get lines -1)))
        (.pop lines)
        (-= lost 1))
      (with [f (open c.path "wb")] (.write f (+ (.join b"" lines) torn)))
      (setv self.conversation (conversation.open-conversation c.id))))

  (defn [(rule)] resume [self]
    "Close and open again."
    (when self.conversation.path
      (setv id self.conversation.id
            before (conversation.items self.conversation))
      (conversation.close self.conversation)
      (setv self.conversation (conversation.open-conversation id))
      (assert (= (conversation.items self.conversation) before))))

  (defn [(invariant)] acceptable [self]
    "No request so far, and none that could be sent now, would be refused."
    (assert (= self.complaints []))
    (assert (= (lib.history-complaints self.conversation) [])))

  (defn [(invariant)] true-to-what-was-said [self]
    "Every accepted message of the user is in history, in order; each call has one output; half answers are not there."
    (setv items (conversation.items self.conversation)
          texts (lfor i items :if (= (.get i "role") "user") (get i "content" -1 "text"))
          calls (Counter (gfor i items :if (= (get i "type") "function_call") (get i "call_id")))
          outputs (Counter (gfor i items :if (= (get i "type") "function_call_output") (get i "call_id"))))
    (assert (= texts self.said))
    (assert (= calls outputs))
    (assert (all (gfor n (.values calls) (= n 1))))
    (assert (not-in "half" (str (lfor i items :if (not (handoff.summary? i)) i)))))

  (defn teardown [self]
    "Leave no file open."
    (setv retry.first-wait self.first-wait)
    (conversation.close self.conversation)))

(setv TestHistory History.TestCase
      TestHistory.settings (settings :max-examples 40 :stateful-step-count 12 :deadline None))
