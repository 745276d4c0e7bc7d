"Every recorded stream means what its expected file says: whole, byte by byte, and never more than that when it is cut."

(import
  json
  random
  pytest
  autolith.base [forms]
  autolith.provider [items json-text]
  tests.doubles [strict]
  tests.provider [recorded])

(setv NAMES (recorded.names))

(defn texts [kind events]
  "Return the text of all blocks of KIND in the items of EVENTS."
  (.join "" (gfor i (recorded.items-of events) :if (= (:type i) "message") b (:content i) :if (= (:type b) kind) (:text b))))

(defn thoughts [events]
  "Return the reasoning in the items of EVENTS without blank lines."
  (.replace (.join "" (gfor i (recorded.items-of events) :if (= (:type i) "reasoning") (:text i))) "\n\n" ""))

(defn calls [events]
  "Return #(name id arguments) of each call in EVENTS."
  (lfor i (recorded.items-of events) :if (items.call? i)
        #((:name i) (:call-id i) (.get i "arguments" (.get i "arguments_text")))))

(defn expected-calls [expected]
  "Return #(name id arguments) of each call that EXPECTED lists."
  (lfor c (:tool-calls expected)
        #((:name c) (.get c "call_id" (.get c "id")) (arguments-of c))))

(defn arguments-of [call]
  "Return the arguments of the expected CALL."
  (cond
    (in "input" call) (:input call)
    (and (isinstance (:arguments call) dict) (in "__unparsed__" (:arguments call))) (get call "arguments" "__unparsed__")
    True (:arguments call)))

(defn kinds [events]
  "Return the types of the items in EVENTS."
  (lfor i (recorded.items-of events) (:type i)))

(defn neutral-kind [kind]
  "Return the neutral type of the wire's item KIND."
  (cond
    (in kind ["message" "reasoning"]) kind
    (in kind ["text"]) "message"
    (in kind ["thinking" "redacted_thinking"]) "reasoning"
    (in kind ["function_call" "custom_tool_call" "tool_use"]) "function_call"
    True "hosted"))

(defn check-error [expected error]
  "Assert that ERROR is the failure that EXPECTED holds."
  (assert error)
  (assert (in (:message (:error expected)) error.text)))

(defn check-responses [events error expected]
  "Assert that EVENTS and ERROR are what EXPECTED says of a Responses stream."
  (when (:error expected)
    (return (check-error expected error)))
  (assert (is error None))
  (setv done (get events -1)
        usage (:usage expected))
  (assert (= (texts "text" events) (:text expected)))
  (assert (= (texts "refusal" events) (:refusal expected)))
  (when (not (.get expected "text_from_deltas_differs"))
    (assert (= (recorded.streamed "text-delta" events) (:text expected))))
  (assert (= (thoughts events) (.replace (or (:reasoning-summary expected) (:reasoning-text expected)) "\n\n" "")))
  (assert (= (calls events) (expected-calls expected)))
  (assert (= (lfor k (kinds events) :if (!= k "message") k)
             (lfor k (map neutral-kind (:items expected)) :if (!= k "message") k)))
  (assert (= (sum (gfor i (recorded.items-of events) :if (.get (or (.get i "raw") {}) "encrypted_content") 1))
             (:encrypted-reasoning-items expected)))
  (assert (= (lfor i (recorded.items-of events) :if (= (:type i) "hosted") (:type (:raw i)))
             (lfor h (:hosted-items expected) (:type h))))
  (assert (= (:status done) (if (= (:status expected) "incomplete") "incomplete" "completed")))
  (assert (= #((:response-id done) (:model done)) #((:id expected) (:model expected))))
  (assert (= #((:input (:usage done)) (:output (:usage done))) #((:input-tokens usage) (:output-tokens usage))))
  (assert (= (:cached (:usage done)) (.get (.get usage "input_tokens_details" {}) "cached_tokens" 0)))
  (assert (= (:raw (:usage done)) usage)))

(defn check-chat [events error expected]
  "Assert that EVENTS and ERROR are what EXPECTED says of a Chat Completions stream."
  (when (:error expected)
    (assert (= (recorded.streamed "reasoning-delta" events) (:reasoning expected)))
    (return (check-error expected error)))
  (assert (is error None))
  (setv done (get events -1)
        usage (:usage expected))
  (assert (= (texts "text" events) (recorded.streamed "text-delta" events) (:text expected)))
  (assert (= (texts "refusal" events) (recorded.streamed "refusal-delta" events) (:refusal expected)))
  (assert (= (calls events) (expected-calls expected)))
  (assert (= (:status done) (if (:refusal expected) "refused" "completed")))
  (assert (= (:model done) (:model expected)))
  (if usage
    (do (assert (= (:raw (:usage done)) usage))
        (assert (= (:input (:usage done)) (:prompt-tokens usage))))
    (assert (is (:usage done) None)))
  (when (:reasoning expected)
    (assert (= (thoughts events) (.replace (:reasoning expected) "\n\n" "")))))

(defn check-anthropic [events error expected]
  "Assert that EVENTS and ERROR are what EXPECTED says of a Messages stream."
  (when (:error expected)
    (return (check-error expected error)))
  (assert (is error None))
  (setv done (get events -1)
        usage (:usage expected))
  (assert (in (:text expected) (recorded.streamed "text-delta" events)))
  (assert (= (:status done) (.get {"refusal" "refused" "max_tokens" "incomplete" "pause_turn" "continue"} (:stop-reason expected) "completed")))
  (assert (= (:raw (:usage done)) usage))
  (assert (= (:input (:usage done)) (+ (:input-tokens usage) (or (.get usage "cache_read_input_tokens") 0)
                                       (or (.get usage "cache_creation_input_tokens") 0))))
  (assert (= #((:response-id done) (:model done)) #((:id expected) (:model expected))))
  (when (= (:stop-reason expected) "refusal")
    (assert (= (kinds events) ["message"]))
    (assert (in (:text expected) (texts "refusal" events)))
    (return))
  (assert (= (texts "text" events) (:text expected)))
  (assert (= (thoughts events) (.replace (:thinking expected) "\n\n" "")))
  (assert (= (calls events) (expected-calls expected)))
  (assert (= (sum (gfor i (recorded.items-of events) :if (and (= (:type i) "reasoning") (:raw i) (.get (:raw i) "signature")) 1))
             (:signatures expected)))
  (assert (= (lfor i (recorded.items-of events) :if (= (:type i) "hosted") (:type (:raw i)))
             (lfor b (:blocks expected) :if (= (neutral-kind b) "hosted") b)))
  (assert (= (sum (gfor i (recorded.items-of events) b (or (.get i "raw") []) :if (isinstance b dict) (len (.get b "citations" []))))
             (:citations expected))))

(setv CHECKS {"responses" check-responses "chat" check-chat "anthropic" check-anthropic})

(defn [(pytest.mark.parametrize "name" NAMES)] test-whole [name]
  "A recorded stream decodes to what its expected file says, and its items can be kept as forms."
  (setv r (recorded.named name)
        [events error] (recorded.decode (:wire r) (:bytes r)))
  ((get CHECKS (:wire r)) events error (:expected r))
  (for [item (recorded.items-of events)]
    (assert (= (forms.read-one (forms.write item)) item))))

(defn test-all-are-here []
  "All the recordings are read."
  (assert (= (len NAMES) 101)))

(defn [(pytest.mark.parametrize "size" [1 7])] test-in-small-pieces [size]
  "A stream means the same one byte, or a few bytes, at a time, and with other line ends and a byte-order mark."
  (for [name NAMES]
    (setv r (recorded.named name)
          whole (recorded.decode (:wire r) (:bytes r))
          [events error] (recorded.decode (:wire r) (:bytes r) size))
    (assert (= events (get whole 0)) name)
    (assert (= (str error) (str (get whole 1))) name)))

(defn [(pytest.mark.parametrize "end" [b"\r\n" b"\r"])] test-line-ends [end]
  "A stream with other line ends, read byte by byte, means the same."
  (for [name ["responses/tool-single" "chat/tool-parallel" "anthropic/thinking-then-tool"]]
    (setv r (recorded.named name)
          data (.replace (:bytes r) b"\n" end))
    (assert (= (recorded.decode (:wire r) data 1) (recorded.decode (:wire r) (:bytes r))) name)))

(defn honest [name count events error whole]
  "Assert that a stream NAME, cut after COUNT events, claims no more than its EVENTS or ERROR allow; WHOLE is all of its events."
  (setv done (recorded.of "done" events)
        place f"{name} after {count}")
  (when error
    (assert (in error.kind ["protocol" "network"]) place)
    (assert (not done) place)
    (assert (not (recorded.items-of events)) place)
    (return))
  (assert (= (len done) 1) place)
  (setv running (items.calls (recorded.items-of events)))
  (for [call running]
    (assert (in #((:name call) (:call-id call) (.get call "arguments" (.get call "arguments_text"))) (calls whole)) place))
  (when (= (:status (get done 0)) "completed")
    (assert (or running (= (texts "text" events) (texts "text" whole))) place)))

(defn [(pytest.mark.parametrize "wire" ["responses" "chat" "anthropic"])] test-cut-after-any-event [wire]
  "A stream cut after any of its events fails, or tells truly that it is whole; never a silent success."
  (for [name (recorded.names wire)]
    (setv r (recorded.named name)
          [whole failure] (recorded.decode wire (:bytes r)))
    (when (not failure)
      (for [[count events error] (recorded.prefixes wire (:bytes r))]
        (honest name count events error whole)))))

(defn test-cut-at-any-byte []
  "A stream cut at any byte, in the middle of a character too, behaves as one cut after an event."
  (setv chance (random.Random 7))
  (for [name NAMES]
    (setv r (recorded.named name)
          [whole failure] (recorded.decode (:wire r) (:bytes r)))
    (when (not failure)
      (for [_ (range 6)]
        (setv at (.randrange chance (len (:bytes r)))
              [events error] (recorded.decode (:wire r) (cut (:bytes r) at)))
        (honest name at events error whole)))))

(defn [(pytest.mark.parametrize "name" ["responses/text-short" "chat/tool-single" "anthropic/tool-single"])] test-cut-at-every-byte [name]
  "A short stream is cut at each of its bytes."
  (setv r (recorded.named name)
        [whole _] (recorded.decode (:wire r) (:bytes r)))
  (for [at (range (len (:bytes r)))]
    (setv [events error] (recorded.decode (:wire r) (cut (:bytes r) at)))
    (honest name at events error whole)))


;; * What was decoded goes back

(setv SIGNED #("reasoning was altered" "Invalid `signature` in `thinking` block"))

(defn [(pytest.mark.parametrize "wire" ["responses" "chat" "anthropic"])] test-recorded-answers-go-back [wire]
  "Each recorded answer, its calls answered, makes a request that every wire accepts; elsewhere without what is its origin's own."
  (for [name NAMES]
    (setv r (recorded.named name)
          [events error] (recorded.decode (get r "wire") (get r "bytes"))
          answer (recorded.items-of events)
          outputs (lfor c (items.calls answer) (items.output (get c "call_id") "fine"))
          talk [(items.user "go") #* answer #* outputs (items.user "and now?")]
          same (= wire (get r "wire"))
          request (recorded.request wire :items talk :name (if same "acme" "other"))
          body ((. (get recorded.MODULES wire) encode) request)
          found (strict.check (get recorded.WIRES wire) {"content-type" "application/json" "anthropic-version" "1"}
                              (json.loads (json-text.body (get body "body")))))
    (when (not error)
      (assert (= (lfor c found :if (not (and same (in c SIGNED))) c) []) name))))
