"What servers do wrong, each in its smallest form: calls without an index or a reason, empty arguments, interleaved blocks."

(import
  json
  pytest
  autolith.provider [items]
  tests.provider [recorded])

(defn chunks [#* pieces [end True]]
  "Return a Chat Completions stream of PIECES: a string is data as it stands, a map a choice; END adds the end mark."
  (setv texts (lfor p pieces (if (isinstance p str) p (json.dumps {"choices" [{"index" 0 #** p}]}))))
  (.encode (.join "" (gfor t (+ texts (if end ["[DONE]"] [])) f"data: {t}\n\n"))))

(defn call [arguments * [index None] [id None] [name None]]
  "Return the choice whose delta holds a piece of a call with ARGUMENTS."
  {"delta" {"tool_calls" [{#** (if (is index None) {} {"index" index}) #** (if id {"id" id} {})
                           "function" {#** (if name {"name" name} {}) "arguments" arguments}}]}})

(defn outcome [data [wire "chat"]]
  "Return #(calls done error) of the stream DATA: #(name arguments runs?) of each call, the last event, the failure."
  (setv [events error] (recorded.decode wire data)
        found (lfor i (recorded.items-of events) :if (items.call? i) i))
  #((lfor c found #((get c "name") (.get c "arguments" (.get c "arguments_text")) (not (.get c "truncated"))))
    (if (and events (not error)) (get events -1) None)
    error))

(defn test-call-without-reason []
  "A whole call with an end mark, or at least whole, runs though no reason was ever given; an unfinished one does not."
  (setv whole (call "{\"p\":\".\"}" :index 0 :id "c1" :name "ls"))
  (for [end [True False]]
    (setv [calls done error] (outcome (chunks whole :end end)))
    (assert (= calls [#("ls" {"p" "."} True)]))
    (assert (= (get done "status") "completed")))
  (setv [calls done error] (outcome (chunks (call "{\"p\":" :index 0 :id "c1" :name "ls") :end False)))
  (assert (= #(calls done error.kind) #([] None "protocol")))
  (setv [calls done _] (outcome (chunks (call "{\"p\":" :index 0 :id "c1" :name "ls"))))
  (assert (= calls [#("ls" "{\"p\":" False)]))
  (assert (= (get done "status") "incomplete"))
  (setv [calls _ error] (outcome (chunks (call "" :index 0 :id "c1" :name "ls") :end False)))
  (assert (= #(calls error.kind) #([] "protocol"))))

(defn [(pytest.mark.parametrize "reason" ["stop" "tool_calls" "function_call" "something_new"])] test-calls-decide [reason]
  "Whatever the reason says, a call that came is run, and one that did not come is not waited for."
  (setv end {"delta" {} "finish_reason" reason}
        [calls done _] (outcome (chunks (call "{\"path\":\"a\"}" :index 0 :id "c1" :name "read") end)))
  (assert (= calls [#("read" {"path" "a"} True)]))
  (assert (= #((get done "status") (get done "reason")) #("completed" "calls")))
  (setv [calls done _] (outcome (chunks {"delta" {"content" "done" "tool_calls" []}} end)))
  (assert (= #(calls (get done "status")) #([] "completed")))
  (assert (!= (get done "reason") "calls")))

(defn [(pytest.mark.parametrize "index" [None 0])] test-calls-without-index [index]
  "Pieces without an index belong to the call before, until a new id begins the next."
  (setv [calls _ _] (outcome (chunks (call "{\"city\":" :id "a" :name "get_weather") (call "\"Paris\"}")
                                     (call "{\"tz\":\"JST\"}" :id "b" :name "get_time" :index index))))
  (assert (= calls [#("get_weather" {"city" "Paris"} True) #("get_time" {"tz" "JST"} True)])))

(defn test-calls-without-index-or-id []
  "Calls that come whole, each with a name, are as many calls, also in one chunk; each gets an id of its own."
  (setv two {"delta" {"tool_calls" (lfor n ["a" "b"] {"function" {"name" n "arguments" {"x" n}}})}}
        data (chunks two (call "{}" :name "c"))
        [calls _ _] (outcome data)
        ids (lfor i (recorded.items-of (get (recorded.decode "chat" data) 0)) (get i "call_id")))
  (assert (= calls [#("a" {"x" "a"} True) #("b" {"x" "b"} True) #("c" {} True)]))
  (assert (= (len (set ids)) 3)))

(defn test-one-index-for-all []
  "A new id at a used index is a new call; a second object without one is malformed, neither halved nor a crash."
  (setv [calls _ _] (outcome (chunks (call "{\"a\":2}" :index 0 :id "c1" :name "add") (call "{\"u\":\"C\"}" :index 0 :id "c2" :name "weather"))))
  (assert (= calls [#("add" {"a" 2} True) #("weather" {"u" "C"} True)]))
  (setv [calls _ _] (outcome (chunks (call "{\"a\":2}" :index 0 :id "c1" :name "add") (call "{\"u\":\"C\"}" :index 0)
                                     {"delta" {} "finish_reason" "tool_calls"})))
  (assert (= calls [#("add" "{\"a\":2}{\"u\":\"C\"}" True)])))

(defn test-pieces-in-any-order []
  "Pieces of parallel calls that alternate are kept apart by their index."
  (setv [calls _ _] (outcome (chunks (call "{\"a\":" :index 0 :id "x" :name "f") (call "{\"b\":" :index 1 :id "y" :name "g")
                                     (call "1}" :index 0) (call "2}" :index 1))))
  (assert (= calls [#("f" {"a" 1} True) #("g" {"b" 2} True)])))

(defn event [kind #** fields]
  "Return the server-sent event KIND with FIELDS."
  f"event: {kind}\ndata: {(json.dumps {"type" kind #** fields})}\n\n")

(defn messages [#* middle]
  "Return an Anthropic stream with the events MIDDLE."
  (.encode (.join "" [(event "message_start" :message {"id" "m" "usage" {}}) #* middle
                      (event "message_delta" :delta {"stop_reason" "tool_use"}) (event "message_stop")])))

(defn begin [index name]
  "Return the start of a call of NAME at INDEX."
  (event "content_block_start" :index index :content-block {"type" "tool_use" "id" f"t{index}" "name" name "input" {}}))

(defn piece [index text]
  "Return a piece TEXT of the arguments of the call at INDEX."
  (event "content_block_delta" :index index :delta {"type" "input_json_delta" "partial_json" text}))

(defn stop [index]
  "Return the end of the block at INDEX."
  (event "content_block_stop" :index index))

(defn test-interleaved-blocks []
  "Blocks whose pieces alternate are kept apart by their index."
  (setv data (messages (begin 1 "a") (begin 2 "b") (piece 1 "{\"s\":") (piece 2 "{\"q\":") (piece 1 "1}") (piece 2 "2}") (stop 1) (stop 2))
        [calls _ _] (outcome data "anthropic"))
  (assert (= calls [#("a" {"s" 1} True) #("b" {"q" 2} True)])))

(defn test-block-that-is-not-ended []
  "A call whose block never ended is not run, though the message did end."
  (setv [calls _ _] (outcome (messages (begin 1 "a") (piece 1 "{\"s\":1}")) "anthropic"))
  (assert (= calls [#("a" {"s" 1} False)])))

(defn test-empty-arguments []
  "A call without arguments has none, however little of them a wire sends."
  (setv wants [#("f" {} True)]
        item {"type" "function_call" "id" "fc_1" "call_id" "c" "name" "f" "arguments" ""}
        done {"id" "r" "status" "completed" "output" []})
  (assert (= (get (outcome (chunks (call "" :index 0 :id "c" :name "f"))) 0) wants))
  (assert (= (get (outcome (messages (begin 0 "f") (stop 0)) "anthropic") 0) wants))
  (assert (= (get (outcome (messages (begin 0 "f") (piece 0 "") (stop 0)) "anthropic") 0) wants))
  (assert (= (get (outcome (.encode (+ (event "response.output_item.done" :output-index 0 :item item)
                                       (event "response.completed" :response done))) "responses") 0) wants)))

(defn test-characters-cut-in-halves []
  "The halves of a character in two deltas become it."
  (setv data (chunks "{\"choices\":[{\"delta\":{\"content\":\"x\\ud83d\"}}]}" "{\"choices\":[{\"delta\":{\"content\":\"\\ude00\"}}]}"
                     {"delta" {} "finish_reason" "stop"})
        [events _] (recorded.decode "chat" data))
  (assert (= (recorded.streamed "text-delta" events) "x😀"))
  (assert (= (items.text (get (recorded.items-of events) 0)) "x😀")))

(defn test-limit-and-filter []
  "An answer that ends at its limit, or was filtered, is incomplete, and says why."
  (for [[reason told] [#("length" "length") #("content_filter" "content-filter")]]
    (setv [_ done _] (outcome (chunks {"delta" {"content" "a"}} {"delta" {} "finish_reason" reason})))
    (assert (= #((get done "status") (get done "reason")) #("incomplete" told)))))

(defn test-extra-of-a-call-goes-back []
  "What a server adds to a call returns to it with the call, and to no other."
  (setv extra {"google" {"thought_signature" "abc"}}
        piece {"index" 0 "id" "c" "function" {"name" "f" "arguments" "{}"} "extra_content" extra}
        [events _] (recorded.decode "chat" (chunks {"delta" {"tool_calls" [piece]}} {"delta" {} "finish_reason" "tool_calls"}))
        talk [(items.user "go") #* (recorded.items-of events) (items.output "c" "1")]
        encode (. (get recorded.MODULES "chat") encode)
        sent (fn [model] (get (encode (recorded.request "chat" :items talk :model model)) "body" "messages" 2 "tool_calls" 0)))
  (assert (= (get (sent "m-1") "extra_content") extra))
  (assert (not-in "extra_content" (sent "m-2"))))
