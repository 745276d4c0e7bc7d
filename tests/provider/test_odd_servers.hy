"What servers do that no specification says, a row each: what is sent over a real socket, and what has to come of it."

(import
  asyncio
  http.server
  json
  threading
  pytest
  autolith.provider [client errors items]
  tests.provider [recorded])

(defn sse [#* events [end "\n"] [lead "data: "]]
  "Return EVENTS, maps or text, as server-sent events with the line end END, each after LEAD."
  (.encode (.join "" (gfor e events (+ lead (if (isinstance e str) e (json.dumps e)) end end)))))

;; * Chat Completions

(defn delta [[reason None] #** fields]
  "Return a chunk whose delta has FIELDS, and which ends for REASON."
  {"choices" [{"index" 0 "delta" fields #** (if reason {"finish_reason" reason} {})}]})

(defn piece [#** fields]
  "Return a chunk with one piece of a call."
  (delta :tool-calls [fields]))

(setv STOP (delta :reason "stop")
      CALLS (delta :reason "tool_calls")
      READ #("read" {"p" 1} True)
      ADD #("add" {} True)
      begun (fn [#** more] (piece :index 0 :id "c1" :function {"name" "read" "arguments" "{\"p\":"} #** more)))

;; name, stream, what comes of it: text, reasoning, calls as #(name arguments runs?), status or the kind of the failure
(setv CHAT
  [#("name late" (sse (piece :index 0 :id "c1" :function {"arguments" ""}) (piece :index 0 :function {"arguments" "{\"p\":"})
                      (piece :index 0 :function {"name" "read" "arguments" "1}"}) CALLS)
     "" "" [READ] "completed")
   #("name and id repeated" (sse (begun) (piece :index 0 :id "c1" :function {"name" "read" "arguments" "1}"}) CALLS) "" "" [READ] "completed")
   #("name empty or null later" (sse (begun) (piece :index 0 :id "" :function {"name" "" "arguments" "1"})
                                     (piece :index 0 :id None :function {"name" None "arguments" "}"}) CALLS) "" "" [READ] "completed")
   #("name in growing form" (sse (piece :index 0 :id "c1" :function {"name" "re" "arguments" ""})
                                 (piece :index 0 :id "c1" :function {"name" "read" "arguments" "{\"p\":1}"}) CALLS) "" "" [READ] "completed")
   #("no index" (sse (piece :id "c1" :function {"name" "read" "arguments" "{\"p\":"}) (piece :function {"arguments" "1}"})
                     (piece :id "c2" :function {"name" "add" "arguments" "{}"}) CALLS) "" "" [READ ADD] "completed")
   #("index reused" (sse (piece :index 0 :id "c1" :function {"name" "read" "arguments" "{\"p\":1}"})
                         (piece :index 0 :id "c2" :function {"name" "add" "arguments" "{}"}) CALLS) "" "" [READ ADD] "completed")
   #("index from one, as text" (sse (piece :index "1" :id "c1" :function {"name" "read" "arguments" "{\"p\":"})
                                    (piece :index "1" :function {"arguments" "1}"}) CALLS) "" "" [READ] "completed")
   #("id as a number" (sse (piece :index 0 :id 7 :function {"name" "read" "arguments" "{\"p\":1}"}) CALLS) "" "" [READ] "completed")
   #("no id" (sse (piece :index 0 :function {"name" "read" "arguments" "{\"p\":1}"}) CALLS) "" "" [READ] "completed")
   #("same id twice" (sse (delta :tool-calls [{"index" 0 "id" "c" "function" {"name" "read" "arguments" "{\"p\":1}"}}
                                              {"index" 1 "id" "c" "function" {"name" "add" "arguments" "{}"}}]) CALLS)
     "" "" [READ ADD] "completed")
   #("arguments as an object" (sse (piece :index 0 :id "c1" :function {"name" "read" "arguments" {"p" 1}}) CALLS) "" "" [READ] "completed")
   #("arguments as an empty object" (sse (piece :index 0 :id "c1" :function {"name" "add" "arguments" {}}) CALLS) "" "" [ADD] "completed")
   #("arguments null or absent" (sse (piece :index 0 :id "c1" :function {"name" "add" "arguments" None}) (piece :index 0 :function {}) CALLS)
     "" "" [ADD] "completed")
   #("arguments sent again whole" (sse (begun) (piece :index 0 :function {"arguments" "1}"})
                                       (piece :index 0 :id "c1" :function {"name" "read" "arguments" "{\"p\":1}"}) CALLS) "" "" [READ] "completed")
   #("arguments with blanks" (sse (piece :index 0 :id "c1" :function {"name" "add" "arguments" " \n"}) CALLS) "" "" [ADD] "completed")
   #("arguments that are a list" (sse (piece :index 0 :id "c1" :function {"name" "add" "arguments" "[1]"}) CALLS)
     "" "" [#("add" "[1]" True)] "completed")
   #("function null" (sse (begun) (piece :index 0 :function None) (piece :index 0 :function {"arguments" "1}"}) CALLS) "" "" [READ] "completed")
   #("old function_call" (sse (delta :function-call {"name" "read" "arguments" "{\"p\":"}) (delta :function-call {"arguments" "1}"})
                              (delta :reason "function_call")) "" "" [READ] "completed")
   #("reason missing" (sse (begun) (piece :index 0 :function {"arguments" "1}"}) "[DONE]") "" "" [READ] "completed")
   #("reason and mark missing" (sse (begun) (piece :index 0 :function {"arguments" "1}"})) "" "" [READ] "completed")
   #("reason and mark missing in a call" (sse (begun)) "" "" [] "protocol")
   #("reason and mark missing in text after a call" (sse (begun) (piece :index 0 :function {"arguments" "1}"}) (delta :content "half"))
     "half" "" [] "protocol")
   #("reason and mark missing in text" (sse (delta :content "half")) "half" "" [] "protocol")
   #("reason empty" (sse (delta :content "ok") (delta :reason "") "[DONE]") "ok" "" [] "completed")
   #("reason stop with a call" (sse (begun) (piece :index 0 :function {"arguments" "1}"}) STOP) "" "" [READ] "completed")
   #("reason calls without one" (sse (delta :content "ok" :tool-calls []) CALLS) "ok" "" [] "completed")
   #("reason length with a whole call" (sse (begun) (piece :index 0 :function {"arguments" "1}"}) (delta :reason "length"))
     "" "" [#("read" {"p" 1} False)] "incomplete")
   #("reason of its own" (sse (delta :content "ok") (delta :reason "eos_token")) "ok" "" [] "completed")
   #("reason in every chunk" (sse (delta :reason "stop" :content "o") (delta :reason "stop" :content "k") "[DONE]") "ok" "" [] "completed")
   #("reasoning_content" (sse (delta :reasoning-content "hm") (delta :content "ok") STOP) "ok" "hm" [] "completed")
   #("reasoning" (sse (delta :reasoning "hm") (delta :content "ok") STOP) "ok" "hm" [] "completed")
   #("thinking" (sse (delta :thinking "hm") (delta :content "ok") STOP) "ok" "hm" [] "completed")
   #("reasoning under two names" (sse (delta :reasoning "hm" :reasoning-content "hm") (delta :content "ok") STOP) "ok" "hm" [] "completed")
   #("reasoning null beside text" (sse (delta :reasoning None :reasoning-content None :content "ok") STOP) "ok" "" [] "completed")
   #("content as parts" (sse (delta :content [{"type" "text" "text" "o"} {"type" "odd"} {"type" "text" "text" "k"}]) STOP) "ok" "" [] "completed")
   #("message for delta" (sse {"choices" [{"message" {"role" "assistant" "content" "ok"} "finish_reason" "stop"}]}) "ok" "" [] "completed")
   #("choices empty or null" (sse {"choices" []} {"choices" None} {} (delta :content "ok") STOP {"choices" [] "usage" {}}) "ok" "" [] "completed")
   #("delta null" (sse {"choices" [{"index" 0 "delta" None}]} (delta :content "ok") STOP) "ok" "" [] "completed")
   #("usage in every chunk" (sse {#** (delta :content "ok") "usage" {"prompt_tokens" 1}} {#** STOP "usage" {"prompt_tokens" 5}})
     "ok" "" [] "completed")
   #("usage of null and nothing" (sse {#** (delta :content "ok") "usage" None} {#** STOP "usage" {"prompt_tokens" None "prompt_tokens_details" None}})
     "ok" "" [] "completed")
   #("chunks after the mark" (sse (delta :content "ok") STOP "[DONE]" (delta :content "more")) "ok" "" [] "completed")
   #("error in a chunk with a reason" (sse (delta :content "half") {#** STOP "error" {"message" "x" "code" 502}}) "half" "" [] "overloaded")
   #("error alone" (sse {"error" {"message" "x" "type" "overloaded_error"}}) "" "" [] "overloaded")
   #("nothing at all" b"" "" "" [] "protocol")
   #("only the mark" (sse "[DONE]") "" "" [] "completed")])

;; * Framing, which is the same for every wire

(setv OK [(delta :content "o") (delta :content "k\u2028\u2029\u0085") STOP "[DONE]"]
      SAID "ok\u2028\u2029\u0085"
      RAW (.join "" (gfor e OK f"data: {(if (isinstance e str) e (json.dumps e :ensure-ascii False))}\n\n"))
      LONG (* "0123456789abcdef" 500000))

(setv FRAMES
  [#("CRLF" (sse #* OK :end "\r\n") SAID "" [] "completed")
   #("CR" (sse #* OK :end "\r") SAID "" [] "completed")
   #("no blank after the colon" (sse #* OK :lead "data:") SAID "" [] "completed")
   #("comments" (+ b": hello\n\n" (.replace (sse #* OK) b"data: " b": PROCESSING\n\ndata: ")) SAID "" [] "completed")
   #("a byte-order mark" (+ b"\xef\xbb\xbf" (sse #* OK)) SAID "" [] "completed")
   #("blank lines before" (+ b"\n\n\n" (sse #* OK)) SAID "" [] "completed")
   #("line separators in the data" (.encode RAW) SAID "" [] "completed")
   #("ids, retry and fields of its own" (.replace (sse #* OK) b"data: " b"id: 7\nretry: 10\nodd: x\nevent: message\ndata: ") SAID "" [] "completed")
   #("one event in several lines of data" (.encode (.replace RAW "\"delta\":" "\ndata: \"delta\":")) SAID "" [] "completed")
   #("an event of many megabytes" (sse (delta :content LONG) STOP) LONG "" [] "completed")
   #("no end of the last line" (cut (sse (delta :content "ok") STOP) -2) "ok" "" [] "completed")
   #("bytes that are no UTF-8" (.replace (sse #* OK) b"\"o\"" b"\"o\xff\"") (+ "o\ufffd" (cut SAID 1 None)) "" [] "completed")
   #("broken JSON" (sse (delta :content "half") "{\"choices\": [{") "half" "" [] "protocol")])

;; * Responses

(defn event [kind #** fields]
  "Return an event of KIND with FIELDS."
  {"type" kind #** fields})

(defn item [kind #** fields]
  "Return an item of KIND with FIELDS."
  {"type" kind "id" "x" #** fields})

(setv MESSAGE (item "message" :role "assistant" :content [{"type" "output_text" "text" "ok"}])
      CALL (item "function_call" :call-id "c1" :name "read" :arguments "{\"p\":1}")
      DONE (event "response.completed" :response {"id" "r" "status" "completed" "output" []})
      said (fn [text #** more] (event "response.output_text.delta" :delta text #** more))
      whole (fn [thing #** more] (event "response.output_item.done" :item thing #** more)))

(setv RESPONSES
  [#("no output_index" (sse (said "ok") (whole MESSAGE) (whole {#** CALL "id" "y"}) DONE) "ok" "" [READ] "completed")
   #("ids that change" (sse (said "o" :output-index 0 :item-id "a") (said "k" :output-index 0 :item-id "b") (whole MESSAGE :output-index 0) DONE)
     "ok" "" [] "completed")
   #("items only at the end" (sse (event "response.completed" :response {"status" "completed" "output" [MESSAGE CALL]})) None "" [READ] "completed")
   #("items twice" (sse (whole CALL :output-index 0) (event "response.completed" :response {"status" "completed" "output" [CALL]}))
     "" "" [READ] "completed")
   #("whole items out of order" (sse (whole CALL :output-index 1) (whole MESSAGE :output-index 0) DONE) None "" [READ] "completed")
   #("an item that never ends, though the response does"
     (sse (event "response.output_item.added" :output-index 0 :item {#** MESSAGE "content" []}) (said "ok" :output-index 0) DONE)
     "ok" "" [] "completed")
   #("a call that never ends, though the response does"
     (sse (event "response.output_item.added" :output-index 0 :item {#** CALL "arguments" ""})
          (event "response.function_call_arguments.delta" :output-index 0 :delta "{\"p\":1}") DONE) "" "" [READ] "completed")
   #("arguments only in the deltas"
     (sse (event "response.output_item.added" :output-index 0 :item {#** CALL "arguments" ""})
          (event "response.function_call_arguments.delta" :output-index 0 :delta "{\"p\":1}")
          (whole {#** CALL "arguments" ""} :output-index 0) DONE) "" "" [READ] "completed")
   #("text only in the deltas" (sse (said "ok" :output-index 0) (whole {#** MESSAGE "content" []} :output-index 0) DONE) "ok" "" [] "completed")
   #("arguments as an object" (sse (whole {#** CALL "arguments" {"p" 1}} :output-index 0) DONE) "" "" [READ] "completed")
   #("arguments null" (sse (whole {#** CALL "name" "add" "arguments" None} :output-index 0) DONE) "" "" [ADD] "completed")
   #("no call_id" (sse (whole {"type" "function_call" "name" "read" "arguments" "{\"p\":1}"} :output-index 0) DONE) "" "" [READ] "completed")
   #("a mark of the other wire" (sse (said "ok") (whole MESSAGE) DONE "[DONE]") "ok" "" [] "completed")
   #("the mark and no end" (sse (said "half") "[DONE]") "half" "" [] "protocol")
   #("unknown events and items"
     (sse (event "response.odd.delta" :delta 1) (whole (item "odd_call") :output-index 0) (whole MESSAGE :output-index 1) DONE)
     None "" [] "completed")
   #("no usage, no output, no id" (sse (whole MESSAGE :output-index 0) (event "response.completed" :response {})) None "" [] "completed")
   #("cut by the limit though called completed"
     (sse (whole {#** CALL "status" "incomplete" "arguments" "{\"p\""} :output-index 0) DONE) "" "" [#("read" "{\"p\"" False)] "completed")
   #("names of events only in the data" (sse (said "ok") (whole MESSAGE) DONE :lead "event: message\ndata: ") "ok" "" [] "completed")
   #("failed without a word" (sse (event "response.failed" :response {"status" "failed"})) "" "" [] "protocol")])

;; * Anthropic Messages

(setv START (event "message_start" :message {"id" "m" "usage" {"input_tokens" 1}})
      open-text (event "content_block_start" :index 0 :content-block {"type" "text" "text" ""})
      open-call (fn [#** more] (event "content_block_start" :index 0 :content-block {"type" "tool_use" "id" "t1" "name" "read" #** more}))
      text (fn [words] (event "content_block_delta" :index 0 :delta {"type" "text_delta" "text" words}))
      json-piece (fn [words] (event "content_block_delta" :index 0 :delta {"type" "input_json_delta" "partial_json" words}))
      SHUT (event "content_block_stop" :index 0)
      ends (fn [reason] (event "message_delta" :delta {"stop_reason" reason}))
      OVER (event "message_stop"))

(setv ANTHROPIC
  [#("input absent at the start" (sse START (open-call) (json-piece "{\"p\":1}") SHUT (ends "tool_use") OVER) "" "" [READ] "completed")
   #("input whole at the start" (sse START (open-call :input {"p" 1}) SHUT (ends "tool_use") OVER) "" "" [READ] "completed")
   #("input as an object in a delta" (sse START (open-call :input {}) (json-piece {"p" 1}) SHUT (ends "tool_use") OVER) "" "" [READ] "completed")
   #("input null" (sse START (open-call :name "add" :input None) SHUT (ends "tool_use") OVER) "" "" [ADD] "completed")
   #("no id" (sse START (open-call :id None :input {"p" 1}) SHUT (ends "tool_use") OVER) "" "" [READ] "completed")
   #("text at the start of its block" (sse START (event "content_block_start" :index 0 :content-block {"type" "text" "text" "o"}) (text "k") SHUT
                                           (ends "end_turn") OVER) "ok" "" [] "completed")
   #("no start of the message" (sse open-text (text "ok") SHUT (ends "end_turn") OVER) "ok" "" [] "completed")
   #("no start of the block" (sse START (text "ok") SHUT (ends "end_turn") OVER) "ok" "" [] "completed")
   #("two starts" (sse START open-text (text "half") START open-text (text "ok") SHUT (ends "end_turn") OVER) "halfok" "" [] "completed")
   #("reason missing" (sse START (open-call :input {"p" 1}) SHUT OVER) "" "" [READ] "completed")
   #("reason null" (sse START open-text (text "ok") SHUT (ends None) OVER) "ok" "" [] "completed")
   #("reason that denies its call" (sse START (open-call :input {"p" 1}) SHUT (ends "end_turn") OVER) "" "" [READ] "completed")
   #("reason calls without one" (sse START open-text (text "ok") SHUT (ends "tool_use") OVER) "ok" "" [] "completed")
   #("reason of its own" (sse START open-text (text "ok") SHUT (ends "tired") OVER) "ok" "" [] "completed")
   #("reason and no end" (sse START (open-call :input {"p" 1}) SHUT (ends "tool_use")) "" "" [READ] "completed")
   #("neither reason nor end" (sse START open-text (text "half") SHUT) "half" "" [] "protocol")
   #("reason, no end, an open block" (sse START (open-call) (json-piece "{\"p\":1}") (ends "tool_use")) "" "" [] "protocol")
   #("limit in a call" (sse START (open-call) (json-piece "{\"p\":") SHUT (ends "max_tokens") OVER) "" "" [#("read" "{\"p\":" False)] "incomplete")
   #("unknown events, blocks and deltas" (sse START (event "odd") (event "content_block_start" :index 1 :content-block {"type" "odd"})
                                              (event "content_block_delta" :index 1 :delta {"type" "odd_delta"}) open-text (text "ok") SHUT
                                              (ends "end_turn") OVER) "ok" "" [] "completed")
   #("no usage" (sse (event "message_start" :message {}) open-text (text "ok") SHUT (ends "end_turn") OVER) "ok" "" [] "completed")
   #("a mark of the other wire" (sse START open-text (text "ok") SHUT (ends "end_turn") OVER "[DONE]") "ok" "" [] "completed")
   #("error after text"
     (sse START open-text (text "half") {"type" "error" "error" {"type" "overloaded_error" "message" "x"}}) "half" "" [] "overloaded")])

(setv ROWS (lfor [wire rows] [["chat" CHAT] ["chat" FRAMES] ["responses" RESPONSES] ["anthropic" ANTHROPIC]] row rows #(wire row)))

;; * The test

(defn serve [data]
  "Return a server that answers each request with DATA, in pieces that end anywhere."
  (defclass Handler [http.server.BaseHTTPRequestHandler]
    (setv wbufsize 0)
    (defn log-message [self #* _] None)
    (defn do-POST [self]
      (.read self.rfile (int (get self.headers "content-length")))
      (.send-response self 200)
      (.send-header self "content-type" "text/event-stream")
      (.end-headers self)
      (for [i (range 0 (len data) (max 61 (// (len data) 200)))]
        (.write self.wfile (cut data i (+ i (max 61 (// (len data) 200))))))))
  (setv server (http.server.ThreadingHTTPServer #("127.0.0.1" 0) Handler))
  (.start (threading.Thread :target (fn [] (server.serve-forever 0.02)) :daemon True))
  server)

(defn :async ask [wire data]
  "Return #(events kind-of-failure) of a request that is answered with DATA over WIRE."
  (setv server (serve data)
        form {#** (:provider (recorded.request wire)) "base_url" f"http://127.0.0.1:{(get server.server-address 1)}"}
        events [])
  (try
    (for [:async e (client.stream (recorded.request wire :provider form))]
      (.append events e))
    (except [e errors.ProviderError]
      (return #(events e.kind)))
    (finally
      (await (client.close))
      (.shutdown server)
      (.server-close server)))
  #(events None))

(defn [(pytest.mark.parametrize "wire,row" ROWS :ids (lfor [wire row] ROWS f"{wire}: {(get row 0)}"))] test-row [wire row]
  "What the row's server sends means the text, reasoning, calls and end that the row says; nothing of a failure is an item."
  (setv [_ data text reasoning calls end] row
        [events failure] (asyncio.run (ask wire data))
        given (recorded.items-of events)
        found (lfor i given :if (items.call? i) i))
  (assert (= (or failure (get events -1 "status")) end))
  (when (is-not text None)
    (assert (= (recorded.streamed "text-delta" events) text)))
  (assert (= (recorded.streamed "reasoning-delta" events) reasoning))
  (assert (= (lfor c found #((get c "name") (.get c "arguments" (.get c "arguments_text")) (not (.get c "truncated")))) calls))
  (assert (= (len (sfor c found (get c "call_id"))) (len found)))
  (assert (all (gfor c found (and (isinstance (get c "call_id") str) (get c "call_id")))))
  (setv kept (.join "" (gfor i given :if (= (get i "type") "message") (items.text i))))
  (cond
    failure (assert (not given))
    text (assert (and kept (.endswith text kept)) "what was shown is what is kept")
    (is text None) (assert (= kept "ok"))))
