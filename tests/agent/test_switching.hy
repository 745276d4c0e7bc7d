"A conversation that moves between the wires and models of strict servers, over real sockets, through failures, cancels and crashes."

(import
  asyncio
  itertools
  json
  re
  hypothesis [settings strategies :as st]
  hypothesis.stateful [invariant rule]
  autolith.agent [compaction]
  autolith.provider [errors]
  autolith.state [conversation]
  tests.agent [lib test-machine]
  tests.doubles [scripted])

(setv PARTS ["reasoning" "reasoning" "text" "note" "note" "fail" "peek" "end" "wait" "unknown" "no object"]
      ENDINGS [#* (* ["whole"] 5) "limit" "pause" "refusal" "cut" "clean cut" "fault" "quota" "stall" "529" "401" "page"]
      rounds (st.lists (st.tuples (st.lists (st.sampled-from PARTS) :min-size 1 :max-size 4) (st.sampled-from ENDINGS))
                       :min-size 1 :max-size 4)
      places (st.tuples (st.sampled-from lib.WIRES) (st.sampled-from ["m1" "m2"]))
      serials (itertools.count 1))

(defn part [word origin]
  "Return the part of the script that WORD names; a thought says which ORIGIN it is of."
  (setv n (next serials))
  (match word
    "reasoning" (scripted.reasoning f"thought <{origin}> {n}")
    "text" (scripted.answer f"text {n}")
    "note" (scripted.call "lab_note" {"text" (str n)})
    "fail" (scripted.call "lab_fail" {"text" "no"})
    "peek" (scripted.call "lab_peek" {"text" (str n)})
    "end" (scripted.call "lab_end" {})
    "wait" (scripted.call "lab_wait" {})
    "unknown" (scripted.call "no_such" {})
    "no object" (scripted.call "lab_note" "[1,")))

(defn end-parts [ending wire]
  "Return the parts that end a response over WIRE as ENDING says."
  (match ending
    "limit" [(scripted.limit)]
    "pause" (if (= wire "anthropic-messages") [(scripted.pause)] [])
    "refusal" [(scripted.refusal "I will not.")]
    "cut" [(scripted.answer "half of it") (scripted.cut)]
    "clean cut" [(scripted.answer "half of it") (scripted.cut :clean True)]
    "fault" [(scripted.answer "half of it") (scripted.fault "overloaded_error" "busy")]
    "quota" [(scripted.answer "half of it") (scripted.fault "insufficient_quota" "nothing left")]
    "stall" [(scripted.answer "half of it") (scripted.stall)]
    _ []))

(setv FAILURES {"529" (scripted.error 529) "401" (scripted.error 401) "page" (scripted.page "<html>no</html>" :status 502)})

(defclass Switching [test-machine.History]
  "One conversation that goes through anything, now with this provider and model, now with that."

  (defn __init__ [self]
    (.__init__ (super))
    (setv self.at #("responses" "m1")
          self.seen 0
          self.server (scripted.Server []))
    (.__enter__ self.server)
    None)

  (defn bench [self]
    "Return an agent on the conversation as it is now, with the provider and model of now."
    (lib.reset)
    (setv [wire model] self.at
          b (lib.Bench (self.server.provider wire :name f"over-{wire}") "/" :c self.conversation)
          b.agent.model model)
    b)

  (defn turn-of [self words ending]
    "Return what the server answers to one request: the parts WORDS, then ENDING."
    (fn [body]
      (setv [wire model] self.at)
      (when (= ending "stall")
        (setv self.stalled True))
      (if (in ending FAILURES)
        (get FAILURES ending)
        [#* (lfor w words (part w f"over-{wire}/{model}")) #* (end-parts ending wire)])))

  (defn [(rule :place places)] switch [self place]
    "Choose another provider and model."
    (setv self.at place
          [wire model] place)
    (conversation.append self.conversation {"kind" "configuration" "provider" f"over-{wire}" "model" model "effort" None "directory" "/"})
    None)

  (defn [(rule :rounds rounds :steering (st.booleans) :cut-short (st.sampled-from [0 0 0 1 2 5 10]))]
    prompt [self rounds steering cut-short]
    "Run a turn; cancel it when it waits for ever, or in some of its first steps."
    (setv text f"user {(next serials)}"
          b (self.bench)
          self.stalled False
          self.server.turns (+ (lfor [words ending] rounds (self.turn-of words ending)) (* [(scripted.answer "fine")] 30))
          steps (itertools.count))
    (when steering
      (.append b.steering f"steer {(next serials)}"))
    (setv wanted (list b.steering))
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

  (defn [(rule :ending (st.sampled-from ["whole" "whole" "cut" "401" "refusal"]))] compact [self ending]
    "Have the model of now summarise, which may fail; then nothing has changed."
    (when (not (test-machine.long-enough? self))         ; no precondition: it would depend on the time of a cancel
      (return))
    (setv self.server.turns [(self.turn-of ["text"] ending) #* (* [(scripted.answer "a summary")] 30)]
          before (conversation.items self.conversation))
    (try
      (asyncio.run (compaction.compact (. (self.bench) agent) "asked"))
      (except [[errors.ProviderError compaction.CompactionFailed]]
        (assert (= (conversation.items self.conversation) before)))
      (else
        (setv self.said (cut self.said -1 None)))))

  (defn [(invariant)] nothing-refused [self]
    "The servers had nothing to refuse, and no thought was shown to anyone but the model that had it."
    (assert (= self.server.problems []))
    (for [request (cut self.server.requests self.seen None)]
      (setv origins (set (re.findall "thought <([^>]*)>" (json.dumps (get request "body")))))
      (assert (<= origins #{f"over-{(get request "wire")}/{(get request "body" "model")}"})))
    (setv self.seen (len self.server.requests)))

  (defn [(invariant)] thoughts-stay [self]
    "What the model of now thought before a message or a call is in the next request to it."
    (setv [wire model] self.at
          history (conversation.items self.conversation)
          form (self.server.provider wire :name f"over-{wire}")
          asked {"provider" form "model" model "effort" None "system" "s" "context" None "tools" [] "cache_key" "k" "max_output" None
                 "items" history}
          body (json.dumps (get (. (get lib.MODULES wire) (encode asked)) "body")))
    (when (!= wire "chat-completions")              ; there, thoughts are wanted beside calls only
      (for [[thought after] (zip history (cut history 1 None))
            :if (= (get thought "type") "reasoning")
            :if (= (get thought "origin") f"over-{wire}/{model}")
            :if (in (get after "type") ["function_call" "message"])
            :if (!= (.get after "role") "user")]
        (assert (in (get thought "text") body)))))

  (defn teardown [self]
    "Stop the server too."
    (.teardown (super))
    (.__exit__ self.server ValueError None None)
    None))

(setv TestSwitching Switching.TestCase
      TestSwitching.settings (settings :max-examples 30 :stateful-step-count 12 :deadline None))
