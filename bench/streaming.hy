"What it costs to turn a stream into neutral events, against reading it with httpx-sse alone: `python -m hy bench/streaming.hy`.

A server in a process of its own sends 20,000 deltas, one or 200 an HTTP chunk; counted is the CPU time of the reader. The budget
of three times is for everything up to the screen, so at the pace of a provider, one an HTTP chunk, this part of it should stay well below."

(import
  asyncio
  json
  os
  subprocess
  sys
  time)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(.insert sys.path 0 (os.path.dirname (os.path.abspath __file__)))
(import
  _measure :as table
  autolith.provider [client items])

(setv DELTAS 20_000
      ROUNDS 3
      BUDGETS {1 2.0  200 3.0}
      SERVER #[[
import http.server, json, sys
wire, each, deltas = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
frame = lambda d: "event: %s\ndata: %s\n\n" % (d["type"], json.dumps(d)) if "type" in d else "data: %s\n\n" % json.dumps(d)
if wire == "responses":
    parts = [frame({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "msg_1",
                    "sequence_number": n, "delta": " word%d" % n}) for n in range(deltas)]
    end = frame({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}})
elif wire == "chat":
    parts = [frame({"id": "c", "object": "chat.completion.chunk", "model": "m",
                    "choices": [{"index": 0, "delta": {"content": " word%d" % n}, "finish_reason": None}]}) for n in range(deltas)]
    end = frame({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + "data: [DONE]\n\n"
else:
    parts = [frame({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " word%d" % n}})
             for n in range(deltas)]
    parts[0] = frame({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}) + parts[0]
    end = (frame({"type": "content_block_stop", "index": 0}) + frame({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})
           + frame({"type": "message_stop"}))
chunks = ["".join(parts[i:i + each]).encode() for i in range(0, len(parts), each)] + [end.encode()]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0
    def log_message(self, *arguments): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
]])

(setv WIRES {"responses" "responses" "chat" "chat-completions" "anthropic" "anthropic-messages"})

(defn :async bare [url]
  "Read the stream at URL with httpx-sse alone; return how many events it had."
  (import httpx httpx-sse)
  (setv count 0)
  (with [:async http (httpx.AsyncClient :trust-env False)]
    (with [:async source (httpx-sse.aconnect-sse http "POST" url :content b"{}")]
      (for [:async _ (.aiter-sse source)]
        (+= count 1))))
  count)

(defn :async ours [form]
  "Read the stream of the provider FORM as the program does; return how many text deltas it had."
  (setv count 0
        request {"model" "m" "items" [(items.user "go")] "provider" form})
  (for [:async event (client.stream request)]
    (when (= (get event "type") "text-delta")
      (+= count 1)))
  (await (client.close))
  count)

(defn cpu [make]
  "Return the least CPU seconds of running the coroutine that MAKE makes."
  (setv times [])
  (for [_ (range ROUNDS)]
    (setv begin (time.process-time)
          count (asyncio.run (make)))
    (.append times (- (time.process-time) begin))
    (when (< count DELTAS)
      (raise (RuntimeError f"only {count} events came"))))
  (min times))

(defn measure [wire each]
  "Print the row for WIRE with EACH deltas in a chunk; return whether the budget was kept."
  (setv server (subprocess.Popen [(getattr hy "sys_executable" sys.executable) "-c" SERVER wire (str each) (str DELTAS)]
                                 :stdout subprocess.PIPE :text True))
  (try
    (setv url f"http://127.0.0.1:{(.strip (.readline server.stdout))}"
          form {"name" "bench" "wire" (get WIRES wire) "base_url" url}
          baseline (cpu (fn [] (bare url)))
          measured (cpu (fn [] (ours form))))
    (finally
      (.kill server)
      (.wait server)))
  (table.row f"stream {wire}, {each} a chunk" (* 1000 measured) (* 1000 baseline) (get BUDGETS each)))

(defn main []
  "Print every row; return 1 if a budget was not kept."
  (setv kept (lfor each BUDGETS wire WIRES (measure wire each)))
  (if (all kept) 0 1))

(when (= __name__ "__main__")
  (sys.exit (main)))
