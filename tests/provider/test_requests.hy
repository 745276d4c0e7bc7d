"Requests that strict providers accept, whatever the history; with a prefix that stays the same from request to request."

(import
  json
  hypothesis [given settings]
  hypothesis.strategies :as st
  PIL [Image]
  pytest
  autolith.provider [history images items json-text models]
  tests.doubles [strict wires]
  tests.provider [recorded])

(setv WIRES ["responses" "chat" "anthropic"]
      HEADERS {"content-type" "application/json" "anthropic-version" "2023-06-01"}
      TOOLS [{"name" "write" "description" "Write." "parameters" {"type" "object" "properties" {"b" {} "a" {}}}}
             {"name" "add" "description" "Add." "parameters" {"type" "object" "properties" {}}}])

(defn encode [wire history #** more]
  "Return the body for HISTORY in WIRE, as it comes out of its bytes."
  (setv encoded ((. (get recorded.MODULES wire) encode) (recorded.request wire :items history #** more)))
  (json.loads (json-text.body (:body encoded))))

(defn complaints [wire history #** more]
  "Return what a strict provider says about the request for HISTORY in WIRE."
  (strict.check (get recorded.WIRES wire) HEADERS (encode wire history #** more)))

(defn thought [wire text * [origin "acme/m-1"]]
  "Return a signed reasoning item of TEXT as ORIGIN gives it in WIRE."
  (setv text (json-text.repair text))
  (items.reasoning text origin
                   (match wire
                     "responses" {"id" "rs_1" "type" "reasoning" "summary" [{"type" "summary_text" "text" text}]
                                  "encrypted_content" (wires.signature text)}
                     "chat" {"reasoning_content" text}
                     "anthropic" {"type" "thinking" "thinking" text "signature" (wires.signature text)})))


;; * Any history at all

(setv words (st.text :alphabet (| (st.characters) (st.sampled-from "\ud83d\ude00 \n")) :max-size 12)
      ids (st.sampled-from ["a" "b" "c" "functions.add:0" "" (* "long" 30)])
      values (st.recursive (| (st.none) (st.booleans) (st.integers) (st.floats) words)
                           (fn [inner] (| (st.lists inner :max-size 3) (st.dictionaries words inner :max-size 3)))
                           :max-leaves 6)
      blocks (st.one-of (st.builds items.text-block words) (st.builds items.refusal-block words)
                        (st.just (items.image-block "/no/such/file.png" "image/png" "[Image #1]"))))

(defn histories [wire]
  "Return a strategy for lists of any items at all in any order."
  (setv kinds [(st.builds items.message (st.sampled-from ["user" "assistant"]) (st.lists blocks :max-size 3))
               (st.builds (fn [text origin] (thought wire text :origin origin)) words (st.sampled-from ["acme/m-1" "other/m-2"]))
               (st.builds (fn [text] (items.reasoning text "acme/m-1" None)) words)
               (st.builds items.call ids (st.sampled-from ["add" "write"]) (| words (st.dictionaries words values :max-size 3)))
               (st.builds (fn [id] (items.call id "add" "{\"a\": " :truncated True)) ids)
               (st.builds (fn [id content ok] (items.output id content :ok ok)) ids (st.lists blocks :max-size 2) (st.booleans))])
  (st.lists (st.one-of #* kinds) :max-size 12))

(defn [(pytest.mark.parametrize "wire" WIRES) (settings :max-examples 150 :deadline None) (given (st.data))] test-any-history [wire data]
  "Whatever the order, the gaps, the orphans and the characters of a history, the request made of it is one that is accepted."
  (setv history (data.draw (histories wire))
        context (data.draw (st.sampled-from [None "now" "\ud800"])))
  (assert (= (complaints wire history :tools TOOLS :context context) [])))

(defn [(pytest.mark.parametrize "wire" WIRES) (settings :max-examples 60 :deadline None) (given (st.data))] test-encoding-changes-nothing [wire data]
  "Encoding leaves the history as it was and gives the same bytes each time."
  (setv history (data.draw (histories wire))
        before (repr history)
        first (encode wire history :tools TOOLS))
  (assert (= first (encode wire history :tools TOOLS)))
  (assert (= (repr history) before)))

(defn ends-turn? [item]
  "Tell whether ITEM may end what is sent: after it the user or a tool has spoken."
  (not (items.assistant? item)))

(defn talk [wire body]
  "Return the pieces of BODY in WIRE that the provider's cache sees, in order, without marks."
  (setv parts (match wire
                "responses" (:input body)
                "chat" (:messages body)
                "anthropic" (lfor m (:messages body) b (:content m) {"role" (:role m) #** b})))
  (lfor p parts (dfor [k v] (.items p) :if (!= k "cache_control") k v)))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-stable-prefix [wire]
  "Each request of a conversation begins with all of the one before, its context set aside; system prompt and tools too."
  (setv steps [(items.user "one") (thought wire "hm") (items.call "c1" "add" {"b" 1 "a" 2}) (items.call "c2" "write" {})
               (items.output "c1" "1") (items.output "c2" "2" :ok False) (items.assistant "Done.")
               (items.user "two") (items.call "c1" "add" {}) (items.output "c1" "3") (items.assistant "Yes.") (items.user "three")]
        before None)
  (for [end [1 6 8 10 12]]
    (setv body (encode wire (cut steps end) :tools (cut TOOLS None None (if (% end 4) 1 -1)))
          now [(.get body "instructions") (.get body "system") (:tools body)]
          sent (talk wire body))
    (when before
      (assert (= (get before 0) now))
      (assert (= (cut sent (len (get before 1))) (get before 1))))
    (setv before #(now sent))))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-context-comes-last [wire]
  "The context of a request stands after the history and leaves what is before it alone."
  (setv history [(items.user "hello")]
        plain (encode wire history)
        body (encode wire history :context "THE CONTEXT"))
  (assert (in "THE CONTEXT" (json.dumps (get (talk wire body) -1))))
  (match wire
    "responses" (do (assert (= (:role (get (:input body) -1)) "developer"))
                    (assert (= (cut (:input body) 1) (:input plain))))
    "chat" (assert (.startswith (:content (get (:messages body) -1)) "hello"))
    "anthropic" (do (assert (= (len (:messages body)) 1))
                    (assert (= (cut (:content (get (:messages body) 0)) 1) (:content (get (:messages plain) 0)))))))


;; * Interrupted, resumed, switched

(setv BROKEN [(items.user "go")
              (items.call "a" "add" {"n" 1}) (items.call "b" "add" {}) (items.call "c" "write" {})
              (items.output "a" "1")
              (items.user "hi")])

(defn outputs [wire body]
  "Return #(id text) of each output in BODY of WIRE."
  (match wire
    "responses" (lfor i (:input body) :if (= (:type i) "function_call_output") #((:call-id i) (:output i)))
    "chat" (lfor m (:messages body) :if (= (:role m) "tool") #((:tool-call-id m) (:content m)))
    "anthropic" (lfor m (:messages body) b (:content m) :if (= (:type b) "tool_result")
                      #((:tool-use-id b) (get b "content" 0 "text")))))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-interrupted-calls [wire]
  "Calls without a result get one that says so, orphans and second results go, and the user's new message follows."
  (setv history [#* (cut BROKEN 5) (items.output "a" "again") (items.output "z" "orphan") (get BROKEN 5)]
        found (outputs wire (encode wire history)))
  (assert (= (complaints wire history) []))
  (assert (= (lfor [id _] found id) ["a" "b" "c"]))
  (assert (= (lfor [_ text] found text) ["1" history-module.UNKNOWN history-module.UNKNOWN])))

(setv history-module history)

(defn [(pytest.mark.parametrize "wire" WIRES)] test-strange-ids [wire]
  "Ids that repeat from response to response, or that a provider would refuse, keep each result beside its call."
  (setv turns [(items.user "go")])
  (for [n (range 3)]
    (.extend turns [(items.call "functions.add:0" "add" {"n" n}) (items.output "functions.add:0" (str n))]))
  (assert (= (complaints wire turns) []))
  (setv found (outputs wire (encode wire turns)))
  (assert (= (lfor [_ text] found text) ["0" "1" "2"]))
  (assert (= (len (set (lfor [id _] found id))) 3)))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-arguments [wire]
  "Empty arguments go back as {}, those that were no object as an object that holds their text, a truncated call as not run."
  (setv body (encode wire [(items.user "go") (items.call "a" "add" {}) (items.call "b" "add" "[1") (items.call "c" "add" "{\"x" :truncated True)
                           (items.output "a" "1") (items.output "b" "2")])
        sent (match wire
               "responses" (lfor i (:input body) :if (= (:type i) "function_call") (json.loads (:arguments i)))
               "chat" (lfor c (:tool-calls (get (:messages body) 2)) (json.loads (:arguments (:function c))))
               "anthropic" (lfor b (:content (get (:messages body) 1)) (:input b))))
  (assert (= sent [{} {"unparsed" "[1"} {"unparsed" "{\"x"}]))
  (assert (= (get (outputs wire body) 2) #("c" history-module.CUT))))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-reasoning-goes-home-only [wire]
  "Reasoning returns byte for byte to the model it came from, and to no other."
  (setv mine (thought wire "mine – 🚀")
        turns [(items.user "go") mine (items.call "a" "add" {}) (items.output "a" "1")]
        foreign [(items.user "go") (thought wire "theirs" :origin "acme/m-2") (items.call "a" "add" {}) (items.output "a" "1")])
  (setv text (json.dumps (encode wire turns) :ensure-ascii False))
  (for [value (.values (:raw mine))]
    (assert (in (json.dumps value :ensure-ascii False) text)))
  (assert (not-in "theirs" (json.dumps (encode wire foreign))))
  (assert (= (complaints wire foreign) [])))

(defn test-hosted-items-go-home-only []
  "A provider's own tool item returns unchanged to its origin, and to no other."
  (setv raw {"id" "ws_1" "type" "web_search_call" "status" "completed" "action" {"type" "search" "query" "x"}}
        turns [(items.user "go") (items.hosted "acme/m-1" raw) (items.assistant "Found.")])
  (assert (in raw (:input (encode "responses" turns))))
  (assert (not-in "web_search_call" (json.dumps (encode "responses" turns :model "m-2")))))

(defn test-citations-go-home-only []
  "Text with citations returns to its origin as it came, and elsewhere as text."
  (setv r (recorded.named "anthropic/web-search")
        [events _] (recorded.decode "anthropic" (:bytes r))
        turns [(items.user "go") #* (recorded.items-of events) (items.user "more")]
        here (encode "anthropic" turns)
        there (encode "anthropic" turns :model "m-2"))
  (setv cited (lfor b (:content (get (:messages here) 1)) :if (.get b "citations") b))
  (assert (= (sum (gfor b cited (len (:citations b)))) 5))
  (assert (= (sfor b (:content (get (:messages there) 1)) (:type b)) #{"text"})))

(defn test-paused-turn-goes-on []
  "A paused response is sent back as it came, its last blanks trimmed, without a user's message after it."
  (setv r (recorded.named "anthropic/pause-turn-web-search")
        [events _] (recorded.decode "anthropic" (:bytes r))
        body (encode "anthropic" [(items.user "go") #* (recorded.items-of events)] :context "now"))
  (assert (= (lfor m (:messages body) (:role m)) ["user" "assistant"]))
  (assert (= (lfor b (:content (get (:messages body) 1)) (:type b))
             (lfor k (:blocks (:expected r)) k))))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-refusals-are-not-repeated [wire]
  "What a model said when it refused is not sent again; that it refused is."
  (setv text (json.dumps (encode wire [(items.user "go") (items.assistant (items.refusal-block "I shall not XYZZY")) (items.user "why")])))
  (assert (not-in "XYZZY" text))
  (assert (in "declined" text)))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-images [wire tmp-path]
  "An image of the user or of a result is sent with its label; one whose file is gone is named."
  (setv path (/ tmp-path "a.png"))
  (.save (Image.new "RGB" #(2 2)) path)
  (setv here (items.image-block path "image/png" "[Image #1]")
        gone (items.image-block (/ tmp-path "b.png") "image/png" "[Image #2]")
        turns [(items.user [(items.text-block "look") here gone])
               (items.call "a" "add" {}) (items.output "a" [(items.text-block "shot") here])
               (items.user "and?")]
        text (json.dumps (encode wire turns)))
  (assert (= (complaints wire turns) []))
  (assert (= (.count text (images.encoded here)) 2))
  (assert (in "[Image #1]" text))
  (assert (in "b.png" text)))

(defn [(pytest.mark.parametrize "wire" WIRES)] test-images-for-the-blind [wire tmp-path]
  "A model without vision gets, in place of each image, a word that names it; one that sees gets the image again."
  (setv path (/ tmp-path "a.png")
        here (items.image-block path "image/png" "[Image #7]")
        turns [(items.user [(items.text-block "look") here])
               (items.call "a" "add" {}) (items.output "a" [(items.text-block "shot") here])])
  (.save (Image.new "RGB" #(2 2)) path)
  (models.define {"id" "blind-1" "images" False})
  (try
    (setv text (json.dumps (encode wire turns :model "blind-1")))
    (assert (= (complaints wire turns :model "blind-1") []))
    (finally (.pop (models.table) "blind-1")))
  (assert (not-in (images.encoded here) text))
  (assert (= (.count text "[Image #7]") 2))
  (assert (= (.count text "a.png") 2))
  (assert (in (images.encoded here) (json.dumps (encode wire turns)))))

(defn test-room-for-the-answer []
  "On Anthropic's wire prompt and answer fit the window together, a thinking budget too; other wires ask for what was wanted."
  (defn limit [#** more] (:max-tokens (encode "anthropic" [] :model "claude-sonnet-4-5" #** more)))
  (assert (= (limit) (limit :room 150000) (get (models.find "claude-sonnet-4-5") "output")))
  (assert (= (limit :room 9000) (limit :room 9000 :max-output 20000) 9000))
  (assert (= (limit :room 9000 :max-output 500) 500))
  (assert (< 0 (limit :room 0) 9000))
  (setv body (encode "anthropic" [] :model "claude-sonnet-4-5" :effort "high" :room 9000))
  (assert (< (:budget-tokens (:thinking body)) (:max-tokens body)))
  (assert (= (:max-output-tokens (encode "responses" [] :room 9 :max-output 500)) 500)))

(defn test-effort []
  "Each wire is told the effort in its own way, as far as the model takes it."
  (assert (= (:reasoning (encode "responses" [] :model "gpt-5" :effort "xhigh")) {"effort" "high"}))
  (assert (not-in "reasoning" (encode "responses" [] :model "gpt-4o" :effort "high")))
  (assert (not-in "include" (encode "responses" [] :model "gpt-4o")))
  (assert (= (:output-config (encode "anthropic" [] :model "claude-opus-5" :effort "max")) {"effort" "max"}))
  (setv budget (encode "anthropic" [] :model "claude-sonnet-4-5" :effort "medium"))
  (assert (< 1024 (:budget-tokens (:thinking budget)) (:max-tokens budget)))
  (assert (not-in "thinking" (encode "anthropic" [] :model "claude-sonnet-4-5"))))

(defn test-no-budget-in-a-foreign-tool-loop []
  "A model with a thinking budget does not think in the middle of calls that were made without a thought."
  (setv turns [(items.user "go") (items.call "a" "add" {}) (items.output "a" "1")]
        thinking [(items.user "go") (thought "anthropic" "hm" :origin "acme/claude-sonnet-4-5") #* (cut turns 1 None)])
  (assert (not-in "thinking" (encode "anthropic" turns :model "claude-sonnet-4-5" :effort "high")))
  (assert (in "thinking" (encode "anthropic" thinking :model "claude-sonnet-4-5" :effort "high"))))

(defn test-cache-breakpoints []
  "An Anthropic request has at most four cache breakpoints, the last of them before the context."
  (setv turns [(items.user "one") (items.assistant "1") (items.user "two") (items.assistant "2") (items.user "three")]
        body (encode "anthropic" turns :tools TOOLS :context "now"))
  (assert (= (strict.breakpoints body) 4))
  (assert (in "cache_control" (get (:messages body) -1 "content" -2)))
  (assert (not-in "cache_control" (get (:messages body) -1 "content" -1))))

(defn test-cache-key []
  "The cache key is sent only where the provider knows it."
  (setv form (:provider (recorded.request "responses")))
  (assert (not-in "prompt_cache_key" (encode "responses" [])))
  (assert (= (:prompt-cache-key (encode "responses" [] :provider {#** form "quirks" {"cache_key" True}})) "key")))

(defn [(pytest.mark.parametrize "text,arguments" [#("" {}) #(" " {}) #("{}" {}) #("{\"a\": 1}" {"a" 1}) #("[1]" None) #("{\"a\":" None)
                                                  #("{\"a\": NaN}" None) #("{}{}" None) #((+ (* "[" 100000) (* "]" 100000)) None)])]
  test-read-arguments [text arguments]
  "Nothing means no arguments; what is not a JSON object is kept as text."
  (setv fields (json-text.arguments text))
  (assert (= (.get fields "arguments") arguments))
  (when (is arguments None)
    (assert (= (:arguments-text fields) text))))

(setv any-value (st.recursive (| (st.none) (st.integers) (st.floats) words) (fn [x] (| (st.lists x) (st.dictionaries words x)))))

(defn [(settings :max-examples 100 :deadline None) (given any-value)] test-bodies-are-json [value]
  "Any value becomes valid UTF-8 JSON, the same each time."
  (setv data (json-text.body value))
  (json.loads (.decode data "utf-8") :parse-constant (fn [name] (raise (ValueError name))))
  (assert (= data (json-text.body value))))

(defn test-halves-of-characters []
  "Two halves of a character become it, also when they come in two pieces; a lone half becomes a replacement."
  (assert (= (json-text.repair "a\ud83d\ude00b\ud83d") "a😀b\ufffd"))
  (setv pieces (json-text.Pieces))
  (assert (= (+ (.add pieces "x\ud83d") (.add pieces "\ude00y")) "x😀y" (.text pieces))))
