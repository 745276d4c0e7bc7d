"Compaction: when it happens, what survives it, and that whatever goes wrong leaves the conversation as it was."

(import
  asyncio
  json
  subprocess
  sys
  time
  pytest
  hypothesis [given settings :as examples strategies :as st]
  autolith.agent [compaction handoff retry tokens usage]
  autolith.provider [client errors]
  autolith.state [conversation output segment settings]
  tests.agent [lib]
  tests.doubles [scripted wires])

(setv FULL (scripted.usage :input 110000 :output 500)      ; of the 128,000 that an unlisted model is taken to have
      TWO "
import json, sys, hy
from tests.agent import lib
from autolith.state import conversation
lib.Bench(json.loads(sys.argv[2]), sys.argv[3], c=conversation.open_conversation(sys.argv[1])).prompt('two')
"
      HANDOFF "Goal: keep the poem. Done: read it. Open: the last line.")

(defn [(pytest.fixture :autouse True)] clean []
  "Leave no section, native compaction or setting behind."
  (setv before (handoff.snapshot))
  (yield)
  (for [name ["context-window" "compaction-threshold" "retry-limit"]] (settings.put name None))
  (handoff.restore before)
  (.clear compaction.natives))

(defn sent [server n]
  "Return the body of the Nth request as text."
  (json.dumps (get server.requests n "body") :ensure-ascii False))

(defn quoted [text]
  "Return TEXT as it stands inside of a JSON string."
  (cut (json.dumps text :ensure-ascii False) 1 -1))

(defn summary [b]
  "Return the summary record of B's conversation."
  (get (b.records "summary") 0))

(defn compacted [b #** more]
  "Compact B's conversation by hand; return the record."
  (defn :async run []
    (try
      (await (compaction.compact b.agent "asked" #** more))
      (finally (await (client.close)))))
  (asyncio.run (run)))

(defn resumed [b provider]
  "Return a new bench on B's conversation, closed and opened again."
  (conversation.close b.agent.conversation)
  (lib.Bench provider b.directory :c (conversation.open-conversation b.agent.conversation.id)))

;; * When

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-last-usage-reaches-the-threshold [tmp-path wire]
  "When the last request filled the window, the next one is preceded by a side request without tools, and begins with its summary."
  (with [server (scripted.Server [[FULL (scripted.answer "roses")] (scripted.answer HANDOFF) (scripted.answer "and violets")])]
    (setv form (server.provider wire)
          b (lib.Bench form tmp-path))
    (b.prompt "what is the first line?")
    (setv outcome (b.prompt "and the \"second\"\n  line?"))
    (assert (= (get outcome "status") "done"))
    (assert (not-in "tools" (get server.requests 1 "body")))
    (assert (in "first line" (sent server 1)))
    (assert (in HANDOFF (sent server 2)))
    (assert (in (quoted "and the \"second\"\n  line?") (sent server 2)))
    (assert (not-in "what is the first line?" (sent server 2)))
    (assert (in "lab_note" (sent server 2)))
    (setv [started done] [(get (b.of-kind "compaction-started") 0) (get (b.of-kind "compaction-done") 0)])
    (assert (= #((get started "reason") (get done "ok")) #("threshold" True)))
    (assert (< (get done "after") (get done "before")))
    (assert (> (get outcome "usage" "input") 100))
    (.add server (scripted.answer "resumed"))
    (setv again (resumed b form))
    (again.prompt "go on")
    (assert (in HANDOFF (sent server 3)))
    (assert (= (lib.history-complaints again.agent.conversation wire) []))
    (assert (= (len (segment.starts again.agent.conversation.id)) 2))
    (conversation.close again.agent.conversation)))

(defn test-below-the-threshold [tmp-path]
  "Below the threshold nothing is compacted; the settings move it."
  (with [server (scripted.Server [[(scripted.usage :input 90000) (scripted.answer "a")] (scripted.answer "b")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one")
    (b.prompt "two")
    (assert (= (b.of-kind "compaction-started") []))
    (settings.put "compaction-threshold" 60)
    (.add server [(scripted.usage :input 90000) (scripted.answer "c")] (scripted.answer HANDOFF) (scripted.answer "d"))
    (b.prompt "three")
    (b.prompt "four")
    (assert (= (len (b.records "summary")) 1))))

(defn test-a-large-paste-is-estimated [tmp-path]
  "A message too large for what is left of the window is preceded by a compaction, and kept word for word itself."
  (settings.put "context-window" 40000)
  (setv paste (.join "\n" (gfor n (range 4000) f"line {n} of the paste")))
  (with [server (scripted.Server [[(scripted.usage :input 20000) (scripted.answer "a")] (scripted.answer HANDOFF) (scripted.answer "b")])]
    (setv b (lib.Bench (server.provider "chat-completions") tmp-path))
    (b.prompt "one")
    (b.prompt paste)
    (assert (not-in "line 2000 of" (sent server 1)))
    (assert (in (quoted paste) (sent server 2)))))

(defn test-within-a-turn [tmp-path]
  "In the middle of a turn the results that the model has not seen are in the summary, and the turn goes on."
  (with [server (scripted.Server [[FULL (scripted.calls "lab_note" {"text" "x1"} "lab_fail" {"text" "no luck"})]
                                  (scripted.answer HANDOFF) (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path)
          outcome (b.prompt "note x1"))
    (assert (= #((get outcome "status") (get outcome "text")) #("done" "ok")))
    (for [words ["noted x1" "no luck" "note x1" HANDOFF]]
      (assert (in words (sent server 2))))))

(defn test-no-compaction-after-compaction [tmp-path]
  "Where a compaction gains nothing, because what is left fills the window, it is not done again and again."
  (with [server (scripted.Server [[FULL (scripted.answer "a")] (scripted.answer HANDOFF) #* (* [[FULL (scripted.answer "b")]] 4)])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (for [n (range 5)]
      (b.prompt f"message {n}"))
    (assert (= (len (b.of-kind "compaction-started")) 1))
    (assert (= (len server.requests) 6))))

(defn test-what-lives-for-one-request-is-seen-first [tmp-path]
  "A result for the next response only is sent before anything is compacted."
  (with [server (scripted.Server [[FULL (scripted.calls "lab_peek" {"text" "picture"})] [FULL (scripted.answer "seen")]
                                  (scripted.answer HANDOFF) (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "look")
    (assert (in "only once: picture" (sent server 1)))
    (b.prompt "again")
    (assert (= (len (b.records "summary")) 1))))

;; * Overflow

(defn overflow [wire message]
  "Return the part that answers as a provider of WIRE does when the window overflows, in the words MESSAGE."
  (scripted.error 400 (scripted.error-body wire 400 message)))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-overflow-is-answered-once [tmp-path wire]
  "An overflow error leads to one compaction and one retry of the request."
  (with [server (scripted.Server [(scripted.answer "first") (overflow wire "prompt is too long: 210000 tokens > 200000 maximum")
                                  (scripted.answer HANDOFF) (scripted.answer "fits")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "one")
    (setv outcome (b.prompt "two"))
    (assert (= #((get outcome "status") (get outcome "text")) #("done" "fits")))
    (assert (= (get (summary b) "reason") "overflow"))
    (assert (= (lib.history-complaints b.agent.conversation wire) []))))

(defn test-overflow-after-compaction-ends-the-turn [tmp-path]
  "A request that overflows even after the compaction fails, once; the next turn may compact again."
  (setv wire "responses"
        full (overflow wire "Your input exceeds the context window of this model."))
  (with [server (scripted.Server [(scripted.answer "first") full (scripted.answer HANDOFF) full])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "one")
    (setv outcome (b.prompt "two"))
    (assert (= (get outcome "status") "failed"))
    (assert (= (len server.requests) 4))
    (assert (= (len (b.records "summary")) 1))
    (assert (= (get (b.of-kind "failure") -1 "kind") "overflow"))
    (.add server (scripted.answer "ok"))
    (assert (= (get (b.prompt "three") "status") "done"))))

(defn test-first-message-overflows [tmp-path]
  "Where there is nothing to compact, the overflow is the turn's failure."
  (with [server (scripted.Server [(overflow "responses" "maximum context length is 10 tokens")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (assert (= (get (b.prompt "one") "status") "failed"))
    (assert (= (len server.requests) 1))))

(defn test-transcript-that-overflows [tmp-path]
  "A summary whose own request overflows is asked for again with less of the transcript."
  (setv wire "chat-completions"
        long (* "many words " 3000))
  (settings.put "context-window" 20000)
  (with [server (scripted.Server [(scripted.answer long) (scripted.answer long) (overflow wire "reduce the length of the messages")
                                  (overflow wire "reduce the length of the messages") (scripted.answer HANDOFF)])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (settings.put "compaction-threshold" 100)
    (b.prompt "one")
    (b.prompt "two")
    (compacted b)
    (setv sizes (lfor r (cut server.requests 2 None) (len (json.dumps (get r "body")))))
    (assert (> (get sizes 0) (get sizes 1) (get sizes 2)))))

;; * What a summary carries

(defn test-what-must-not-be-lost [tmp-path]
  "Changed files, stored outputs that are still there, unknown outcomes and registered sections are named by the program, whatever
the model writes, and again after the next compaction."
  (.write-text (/ tmp-path "poem.txt") "roses\n")
  (setv stored (output.store (* "long output " 2000))
        gone (+ "output:" (* "0" 24))
        state {"goal" "goal C: rhyme it"})
  (handoff.carry "Plans" (fn [c] "plan A: done\nplan B: cancelled by the user"))
  (handoff.carry "Goal" (fn [c] (get state "goal")))
  (handoff.carry "Jobs" (fn [c] (/ 1 0)))
  (with [server (scripted.Server [(scripted.calls "lab_note" {"text" f"see {stored} and {gone}"})
                                  (scripted.calls "resource_read" {"uri" "workspace:new.txt"})
                                  (fn [body] (scripted.calls "resource_edit" {"uri" "workspace:new.txt"
                                                                             "base_revision" (missing-revision b)
                                                                             "operations" [{"op" "replace-empty" "content" "violets\n"}]}))
                                  (scripted.answer "done")
                                  (scripted.answer "short.") (scripted.answer "x") (scripted.answer "shorter.") (scripted.answer "y")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "write it")
    (assert (= (.read-text (/ tmp-path "new.txt")) "violets\n"))
    (compacted b)
    (b.prompt "next")
    (compacted b)
    (b.prompt "last")
    (for [n [5 7]]
      (setv body (sent server n))
      (for [words ["workspace:new.txt" stored "plan A: done" "plan B: cancelled by the user" "goal C: rhyme it" "ZeroDivisionError"]]
        (assert (in words body)))
      (assert (not-in gone body)))
    (assert (in "short." (sent server 6)))                  ; the second summary is made from the first
    (assert (not-in "\"write it\"" (sent server 7)))))

(defn missing-revision [b]
  "Return the revision that the last read of B's conversation gave."
  (.group (hy.I.re.search r"Revision: (\w+)" (get (b.records "result") -1 "text")) 1))

(defn test-steering-and-images-are-kept [tmp-path]
  "The last message keeps its images, and what steered the turn since stands beside it, word for word."
  (import PIL.Image)
  (.save (PIL.Image.new "RGB" #(8 8)) (str (/ tmp-path "a.png")))
  (setv block {"type" "image" "mime" "image/png" "path" (str (/ tmp-path "a.png")) "label" "[Image #1]"})
  (defn steer [body]
    (.append b.steering "rather in blue")
    [FULL (scripted.calls "lab_note" {"text" "x"})])
  (with [server (scripted.Server [steer (scripted.answer HANDOFF) (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path))
    (b.prompt {"text" "like this" "images" [block]})
    (for [words ["like this" "rather in blue" "image/png" "[Image #1]"]]
      (assert (in words (sent server 2))))
    (assert (= (lfor m (conversation.user-messages b.agent.conversation) (get m "content")) ["like this" "rather in blue"]))))

(defn test-unanswered-messages-are-not-lost [tmp-path]
  "A message whose answer failed is told to the model that summarises; the newest one is kept word for word."
  (with [server (scripted.Server [(scripted.answer "a") (scripted.error 401) (scripted.answer HANDOFF)])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one")
    (b.prompt "never answered")
    (conversation.append b.agent.conversation {"kind" "message" "role" "user" "content" "the newest"})
    (compacted b)
    (assert (in "never answered" (sent server 2)))
    (assert (not-in "the newest" (sent server 2)))
    (assert (= (lfor m (conversation.user-messages b.agent.conversation) (get m "content")) ["the newest"]))))

(defn test-interrupted-answer-is-carried [tmp-path]
  "How far an interrupted answer came is still known after a compaction."
  (with [server (scripted.Server [[FULL (scripted.answer "a")] [(scripted.answer "half of it") (scripted.stall)]
                                  (scripted.answer HANDOFF) (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (settings.put "compaction-threshold" 100)
    (b.prompt "one")
    (asyncio.run (b.cancelled-when (fn [] (> (len (b.of-kind "text-delta")) 2)) "two"))
    (settings.put "compaction-threshold" None)
    (.clear b.events)
    (b.prompt "go on")
    (assert (in (get (b.records "summary") 0 "reason") "threshold"))
    (assert (in "half" (sent server 3)))))

(defn test-native-items-go-home [tmp-path]
  "What a provider's own compaction gave is sent back to it before the summary, and to nobody else."
  (setv raw {"type" "compaction" "id" "cmp_1" "encrypted_content" (wires.signature "cmp_1")})
  (defn :async native [a] [{"type" "hosted" "origin" "scripted/scripted" "raw" raw}])
  (setv (get compaction.natives "scripted") native)
  (with [server (scripted.Server [(scripted.answer "a") (scripted.answer HANDOFF) (scripted.answer "b")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one")
    (compacted b)
    (b.prompt "two")
    (assert (= (get server.requests 2 "body" "input" 0) raw)))
  (for [wire lib.WIRES]
    (setv form {"name" "other" "wire" wire "base_url" "http://x" "quirks" {} "headers" {} "key_variable" None}
          body (get (.encode (get lib.MODULES wire)
                             {"provider" form "model" "m" "effort" None "system" "s" "context" None "tools" [] "cache_key" None
                              "max_output" None "items" (conversation.items b.agent.conversation)}) "body"))
    (assert (not-in (wires.signature "cmp_1") (json.dumps body)))))

;; * What goes wrong

(defn state-of [b]
  "Return all that a failed compaction must leave alone."
  #((conversation.items b.agent.conversation) (list b.agent.conversation.records) (segment.starts b.agent.conversation.id)))

(defn [(pytest.mark.parametrize "part" [(scripted.error 500) (scripted.answer " ") (scripted.refusal "no") (scripted.cut)
                                        (scripted.error 401) (scripted.page "<html>proxy</html>")])]
    test-failure-leaves-everything [tmp-path part]
  "A compaction that fails, in whatever way, changes nothing, says so, and lets the request go."
  (settings.put "retry-limit" 0)
  (with [server (scripted.Server [[FULL (scripted.answer "a")] part (scripted.answer "b") part])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one")
    (setv outcome (b.prompt "two"))
    (assert (= #((get outcome "status") (get outcome "text")) #("done" "b")))
    (assert (in "\"one\"" (sent server 2)))
    (assert (= (b.records "summary") []))
    (assert (any (gfor e (b.of-kind "notice") (in "compacted" (get e "text")))))
    (assert (not (get (b.of-kind "compaction-done") 0 "ok")))
    (setv before (state-of b))
    (with [e (pytest.raises Exception)] (compacted b))
    (assert (isinstance e.value #(errors.ProviderError compaction.CompactionFailed)))
    (assert (= (state-of b) before))))

(defn test-a-failure-that-passes [tmp-path monkeypatch]
  "An overloaded provider is asked for the summary again, in sight."
  (monkeypatch.setattr retry "first_wait" 0.01)
  (with [server (scripted.Server [[FULL (scripted.answer "a")] (scripted.error 529) (scripted.cut) (scripted.answer HANDOFF) (scripted.answer "b")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one")
    (b.prompt "two")
    (assert (= (lfor e (b.of-kind "retry") (get e "attempt")) [1 2]))
    (assert (in HANDOFF (sent server 4)))))

(defn test-cancelled [tmp-path]
  "A turn that is cancelled while it compacts keeps its message and everything before."
  (with [server (scripted.Server [[FULL (scripted.answer "a")] [(scripted.answer "half") (scripted.stall)]])]
    (setv b (lib.Bench (server.provider "chat-completions") tmp-path))
    (b.prompt "one")
    (setv outcome (asyncio.run (b.cancelled-when (fn [] (= (len server.requests) 2)) "two")))
    (assert (= (get outcome "status") "cancelled"))
    (assert (= (lfor r (b.records "message") (get r "content")) ["one" "two"]))
    (assert (= (b.records "summary") []))
    (assert (not (get (b.of-kind "compaction-done") 0 "ok")))
    (assert (= (lib.history-complaints b.agent.conversation) []))))

(defn test-killed-while-compacting [tmp-path]
  "A process that is killed while it compacts has lost nothing: the message that led to it is there, and so is all before."
  (with [server (scripted.Server [[FULL (scripted.answer "a")] [(scripted.answer "half a summary") (scripted.stall)]
                                  (scripted.answer HANDOFF) (scripted.answer "b")])]
    (setv form (server.provider "anthropic-messages")
          b (lib.Bench form tmp-path))
    (b.prompt "one")
    (conversation.close b.agent.conversation)
    (setv child (subprocess.Popen [sys.executable "-c" TWO b.agent.conversation.id (json.dumps form) (str tmp-path)]))
    (while (< (len server.requests) 2)
      (assert (is (.poll child) None))
      (time.sleep 0.01))
    (.kill child)
    (.wait child)
    (setv again (lib.Bench form tmp-path :c (conversation.open-conversation b.agent.conversation.id)))
    (assert (= (lfor r (again.records "message") (get r "content")) ["one" "two"]))
    (assert (= (again.records "summary") []))
    (assert (= (get (again.prompt "three") "status") "done"))
    (assert (in "[user]\\ntwo" (sent server 2)))
    (conversation.close again.agent.conversation)))

(defn test-disk-refuses-the-summary [tmp-path monkeypatch]
  "When the new segment cannot be written, history is what it was, in memory and after a resume."
  (with [server (scripted.Server [(scripted.answer "a") (scripted.answer HANDOFF)])]
    (setv form (server.provider "responses")
          b (lib.Bench form tmp-path))
    (b.prompt "one")
    (setv before (state-of b)
          publish segment.publish)
    (defn refuse [path header records]
      (raise (conversation.StorageFailed path "no space left on device")))
    (monkeypatch.setattr segment "publish" refuse)
    (with [_ (pytest.raises conversation.StorageFailed)] (compacted b))
    (monkeypatch.setattr segment "publish" publish)
    (assert (= (state-of b) before))
    (setv again (resumed b form))
    (assert (= (conversation.items again.agent.conversation) (get before 0)))
    (conversation.close again.agent.conversation)))

(defn test-nothing-to-compact [tmp-path]
  "A conversation that is a summary already, or a message alone, is not compacted."
  (with [server (scripted.Server [(scripted.answer "a") (scripted.answer HANDOFF)])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (with [_ (pytest.raises compaction.NothingToCompact)] (compacted b))
    (b.prompt "one")
    (compacted b)
    (with [_ (pytest.raises compaction.NothingToCompact)] (compacted b))))

;; * Transcript and estimates

(defn [(examples :max-examples 60 :deadline None) (given (st.lists (st.text :max-size 600) :max-size 30) (st.integers 100 4000))]
    test-transcripts-are-bounded [paragraphs room]
  "A transcript keeps what there is room for: the beginning and the end."
  (setv out (handoff.fit paragraphs room))
  (if (<= (sum (map len paragraphs)) room)
    (assert (= out paragraphs))
    (assert (<= (sum (map len out)) (+ room 100)))))

(defn [(examples :max-examples 100 :deadline None) (given (st.text) (st.text))] test-estimates-grow [a b]
  "More text is never fewer tokens, and no text of one character is free."
  (assert (<= (tokens.of-text a) (tokens.of-text (+ a b))))
  (assert (= (bool a) (> (tokens.of-text a) 0))))

(defn test-estimates-are-near [tmp-path]
  "Prose, code, Chinese and emoji are estimated within the range in which tokenizers put them."
  (for [[text least most] [[(* "The quick brown fox jumps over the lazy dog. " 100) 900 1400]
                           [(* "(defn f [x]\n  (+ x 1))\n" 100) 600 1200]
                           [(* "\u5929\u5730\u7384\u9ec4" 100) 300 600]
                           [(* "\U0001f600" 100) 100 300]]]
    (assert (<= least (tokens.of-text text) most))))

(defn test-the-last-usage-corrects-the-estimate [tmp-path]
  "What follows a reported usage is added to it, corrected by how far off the estimate was."
  (with [server (scripted.Server [[(scripted.usage :input 30000 :output 10) (scripted.answer "a")]])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one"))
  (setv before (tokens.needed b.agent)
        paste (* "word " 4000))
  (assert (= before 30010))
  (conversation.append b.agent.conversation {"kind" "message" "role" "user" "content" paste})
  (setv added (- (tokens.needed b.agent) before))
  (assert (> added (tokens.of-text paste)))
  (assert (<= added (* 2.6 (+ 10 (tokens.of-text paste))))))

(defn test-the-correction-outlives-a-compaction [tmp-path]
  "After a compaction the estimate of the new history is corrected as the old one was."
  (with [server (scripted.Server [[(scripted.usage :input 60000) (scripted.answer "a")] (scripted.answer HANDOFF)])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "one")
    (setv factor (tokens.factor b.agent))
    (compacted b))
  (assert (= factor 2.5))                               ; far off, and so at its bound
  (assert (= (tokens.factor b.agent) factor))
  (assert (> (tokens.needed b.agent) (tokens.overhead b.agent))))

(defn test-spending-outlives-segments [tmp-path]
  "What was used before a compaction, and by it, is in the totals after it, and after a resume."
  (with [server (scripted.Server [[(scripted.usage :input 1000 :cached 400 :output 10) (scripted.answer "a")]
                                  [(scripted.usage :input 500 :output 20) (scripted.answer HANDOFF)]
                                  [(scripted.usage :input 300 :cached 100 :output 5) (scripted.answer "b")]])]
    (setv form (server.provider "responses")
          b (lib.Bench form tmp-path))
    (b.prompt "one")
    (compacted b)
    (b.prompt "two")
    (setv again (resumed b form)
          counts (get (usage.totals again.agent.conversation) "scripted/scripted"))
    (assert (= (dfor k ["requests" "input" "cached" "output"] k (get counts k))
               {"requests" 3 "input" 1800 "cached" 500 "output" 35}))
    (conversation.close again.agent.conversation)))

(defn test-the-answer-fits-the-window [tmp-path]
  "On Anthropic's wire a conversation that nearly fills the window asks for an answer that fits beside it."
  (settings.put "compaction-threshold" 100)
  (with [server (scripted.Server [[(scripted.usage :input 119000 :output 1000) (scripted.answer "a")] (scripted.answer "b")])]
    (setv b (lib.Bench (server.provider "anthropic-messages") tmp-path))
    (b.prompt "one")
    (b.prompt "two")
    (setv [before after] (lfor r server.requests (get r "body" "max_tokens")))
    (assert (= before 16000))
    (assert (<= (+ 120000 after) 128000))
    (assert (> after 7000))))
