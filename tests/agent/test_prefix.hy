"Requests that a provider's cache can use: each begins with the bytes of the one before, whatever happened between them.

`stable` is the part of a request that the next one must begin with: everything up to the end of its history, without what is said for
this request only and, on Anthropic, without the marks of the cache, which no cache counts as content."

(import
  asyncio
  hashlib
  json
  re
  subprocess
  sys
  pytest
  autolith.agent [context prompt usage]
  autolith.provider [chat]
  autolith.state [conversation]
  tests.agent [lib]
  tests.doubles [scripted])

(setv MARK (re.compile rb",\s*\"cache_control\":\s*\{\"type\":\s*\"ephemeral\"\}")
      ENVELOPES {"chat-completions" b"{\"role\":\"user\""
                 "responses" b"{\"type\":\"message\",\"role\":\"developer\""
                 "anthropic-messages" b"{\"type\":\"text\",\"text\":\""}
      RESUME "
import json, sys, hy
from tests.agent import lib
from autolith.agent import context
from autolith.state import conversation
lib.install()
lib.said = 0
def notes(request):
    lib.said += 1
    return {'instruction': f'CONTEXT of the other process {lib.said}', 'class': 'mandatory'}
context.register('notes', notes)
form = json.loads(sys.argv[2])
b = lib.Bench(form, sys.argv[3], c=conversation.open_conversation(sys.argv[1]))
print(b.prompt('what was said?')['status'])
conversation.close(b.agent.conversation)
")

(defn [(pytest.fixture :autouse True)] clean []
  "Leave no contributor behind."
  (setv before (context.snapshot))
  (yield)
  (context.restore before))

(defn stable [wire data]
  "Return the bytes of the request DATA that the next request must begin with; it has a context."
  (setv data (.sub MARK b"" data)
        said (.index data b"CONTEXT of"))
  (when (= wire "chat-completions")
    (setv said (.rindex data (cut (.encode (json.dumps chat.CONTEXT)) 1 -1) 0 said))
    (when (.endswith (cut data said) b"\\n\\n")                          ; joined to what the user said
      (return (cut data (- said 4)))))
  (cut data (- (.rindex data (get ENVELOPES wire) 0 said) 1)))          ; without the comma before it

(defn whole [wire data]
  "Return the bytes of the request DATA as a cache sees them."
  (.sub MARK b"" data))

(defn chatty []
  "Register a contributor that says something else in each request, as memories, an agenda or job notes do."
  (setv count [0])
  (defn notes [request]
    (+= (get count 0) 1)
    {"instruction" (+ "CONTEXT of request " (* (str (get count 0)) (get count 0))) "class" "mandatory"})
  (context.register "notes" notes))

(defn eventful [b tmp-path monkeypatch]
  "Yield the steps of an eventful conversation of B, which lead to what `SCRIPT` answers."
  (b.prompt "one \u00e9\u5929")
  (conversation.append b.agent.conversation {"kind" "user-operation" "operation" "form" "source" "(f)" "status" "ok" "result" "1"})
  (monkeypatch.setattr prompt "today" (fn [] "2031-01-02"))
  (monkeypatch.setenv "TERM" "another")
  (.write-text (/ tmp-path "AGENTS.md") "speak plainly")
  (b.prompt "two")
  (setv before (len (b.of-kind "text-delta")))
  (asyncio.run (b.cancelled-when (fn [] (> (len (b.of-kind "text-delta")) (+ before 3))) "three"))
  (b.prompt "four")
  (b.prompt "five"))

(defn script [b-of]
  "Return the turns of the script; B-OF is a list that will hold the bench."
  (defn steer [body]
    (.append (. (get b-of 0) steering) "rather in blue")
    [(scripted.reasoning "hm") (scripted.calls "lab_note" {"text" "a"} "lab_fail" {"text" "b"})])
  [steer [(scripted.reasoning "so") (scripted.answer "first")]
   (scripted.calls "lab_peek" {"text" "once"}) [(scripted.answer "look") (scripted.calls "lab_note" {"text" "c"})] (scripted.answer "second")
   [(scripted.answer "half of the third answer") (scripted.stall)]
   (scripted.error 400 {"error" {"message" "no" "type" "invalid_request_error"}})
   (lfor n (range 25) (scripted.call "lab_note" {"text" (str n)})) [(scripted.reasoning "many") (scripted.answer "fifth")]
   (scripted.calls "lab_note" {"text" "other"}) (scripted.answer "resumed")])

(defn held? [body]
  "Tell whether the request BODY shows what the model may see once only."
  (in "only once" (json.dumps body)))

(defn conversed [wire tmp-path monkeypatch #** more]
  "Return the requests of an eventful conversation over WIRE, the last two from another process."
  (chatty)
  (setv b-of [])
  (with [server (scripted.Server (script b-of))]
    (setv form (server.provider wire #** more)
          b (lib.Bench form tmp-path))
    (.append b-of b)
    (eventful b tmp-path monkeypatch)
    (conversation.close b.agent.conversation)
    (setv out (subprocess.run [sys.executable "-c" RESUME b.agent.conversation.id (json.dumps form) (str tmp-path)]
                              :capture-output True :text True))
    (assert (= (.strip out.stdout) "done") out.stderr)
    (assert (not server.turns))
    server.requests))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-each-request-begins-with-the-one-before [tmp-path monkeypatch wire]
  "Within a turn, across turns, after steering, a cancel, a failure, midnight, changed surroundings, forms of the user's and in
another process: the bytes of a request are those of the one before, up to the end of its history."
  (setv requests (conversed wire tmp-path monkeypatch))
  (assert (= (len requests) 11))
  (for [[a b] (zip requests (cut requests 1 None)) :if (not (held? (get a "body")))]
    (setv kept (stable wire (get a "data")))
    (assert (> (len kept) 5000))                        ; tools, system prompt and history are in it
    (assert (.startswith (whole wire (get b "data")) kept)))
  (setv at (next (gfor [i r] (enumerate requests) :if (held? (get r "body")) i)))
  (assert (.startswith (whole wire (get requests (+ at 1) "data")) (stable wire (get requests (- at 1) "data")))))

;; * Anthropic's cache

(defn blocks [body]
  "Return the blocks of the Messages BODY in the order in which the cache sees them, as #(bytes marked?)."
  (setv parts [#* (lfor t (get body "tools") #("tools" t))
               #* (lfor s (get body "system") #("system" s))
               #* (lfor [i m] (enumerate (get body "messages")) b (get m "content") #(f"{i} {(get m "role")}" b))])
  (lfor [where block] parts
        #((json.dumps [where (dfor [k v] (.items block) :if (!= k "cache_control") k v)]) (in "cache_control" block))))

(defn prefixes [body]
  "Return #(digest marked?) of the prefix of BODY that ends with each of its blocks."
  (setv digest (hashlib.sha256)
        out [])
  (for [[text marked] (blocks body)]
    (.update digest (.encode text))
    (.append out #((.hexdigest digest) marked)))
  out)

(defn reused [body cache]
  "Return how many blocks of BODY are found in CACHE, a set of digests: a mark finds what lies up to twenty blocks before it."
  (setv found 0
        ends (prefixes body))
  (for [[i [_ marked]] (enumerate ends) :if marked]
    (for [j (range i (max -1 (- i 21)) -1)]
      (when (in (get ends j 0) cache)
        (setv found (max found (+ j 1)))
        (break))))
  found)

(defn test-anthropic-marks-are-found-again [tmp-path monkeypatch]
  "At most four marks, and each request finds in the cache all that the one before it had marked, even after a round of 25 calls."
  (setv requests (conversed "anthropic-messages" tmp-path monkeypatch)
        cache (set)
        longest 0)
  (for [r requests]
    (setv body (get r "body")
          ends (prefixes body)
          marked (lfor [i [_ m]] (enumerate ends) :if m i))
    (assert (<= 1 (len marked) 4))
    (when cache
      (assert (>= (reused body cache) longest)))
    (when (not (held? body))
      (setv longest (+ (get marked -1) 1))
      (assert (= longest (- (len ends) 1))))              ; only the context is beyond the last mark
    (.update cache (gfor i marked (get ends i 0)))))

;; * Keys and usage

(defn [(pytest.mark.parametrize "wire" ["responses" "chat-completions"])] test-cache-key-is-the-conversations [tmp-path monkeypatch wire]
  "The cache key is the same in each request of a conversation, in another process too, and another in another conversation."
  (setv requests (conversed wire tmp-path monkeypatch :quirks {"cache_key" True})
        keys (sfor r requests (get r "body" "prompt_cache_key")))
  (assert (= (len keys) 1))
  (with [server (scripted.Server [(scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider wire :quirks {"cache_key" True}) tmp-path))
    (b.prompt "one")
    (assert (not-in (get server.requests 0 "body" "prompt_cache_key") keys))))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-cached-tokens-are-recorded [tmp-path wire]
  "What came from the cache is in the usage record, its event and the totals, as part of the whole input."
  (with [server (scripted.Server [[(scripted.usage :input 1000 :cached 800 :output 5) (scripted.answer "ok")]])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (b.prompt "one"))
  (for [found [(get (b.records "usage") 0 "usage") (get (b.of-kind "usage") 0 "usage")]]
    (assert (= #((get found "input") (get found "cached") (get found "output")) #(1000 800 5))))
  (setv [[name counts]] (.items (usage.totals b.agent.conversation)))
  (assert (= #(name (get counts "cached") (usage.share counts)) #("scripted/scripted" 800 80))))
