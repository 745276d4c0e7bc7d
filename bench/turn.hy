"What the turn costs beside the bytes: `python -m hy bench/turn.hy`.

One turn of twenty rounds, each a request, one call, its result and the records on disk, against the same loop written with bare
httpx: post, read the events, run the function, post again. Waiting for the disk is not counted; how often it is waited for is
the second row. The budget of the first is two milliseconds a round over the bare loop."

(import
  asyncio
  json
  os
  subprocess
  sys
  tempfile
  time)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  autolith.agent [agent turn]
  autolith.base [disk]
  autolith.provider [client]
  autolith.state [conversation]
  autolith.tool [context]
  bench [_measure :as measure])

(setv ROUNDS 20
      REPEATS 9
      OVER-MS 2.0
      SERVER "
import sys, time, hy
from tests.doubles import scripted
scripted.Handler.disable_nagle_algorithm = True     # else every event waits for an acknowledgement
rounds, repeats = int(sys.argv[1]), int(sys.argv[2])
one = [[scripted.call('bench_echo', {'text': 'hello'})]] * rounds + [scripted.answer('done')]
with scripted.Server(one * repeats, strict=False) as server:
    print(server.base_url, flush=True)
    sys.stdin.read()
")

(deftool bench.echo [text]
  "Give the text back."
  {"effect" "write"}
  text)

(setv syncs {"count" 0 "seconds" 0.0})

(defn count-syncs []
  "Count the waits for the disk and the time they take, from the beginning of each turn."
  (setv real disk.sync)
  (setv disk.sync (fn [#* arguments]
                    (setv begin (time.perf-counter))
                    (real #* arguments)
                    (+= (get syncs "count") 1)
                    (+= (get syncs "seconds") (- (time.perf-counter) begin)))))

(defn :async ours [url directory]
  "Run one turn of a conversation that has begun; return its seconds, without the waits for the disk."
  (setv form {"name" "scripted" "wire" "responses" "base_url" url "key_variable" None "headers" {} "quirks" {}}
        c (conversation.create directory :provider "scripted" :model "scripted" :effort None)
        a (agent.Agent :conversation c :provider form :model "scripted" :cwd directory
                       :tool-context (context.ToolContext :cwd directory :conversation c.id)))
  (conversation.append c {"kind" "note" "text" "the file is there before the round is timed"})
  (.update syncs {"count" 0 "seconds" 0.0})
  (setv begin (time.perf-counter)
        outcome (await (turn.run a "go"))
        taken (- (time.perf-counter) begin (get syncs "seconds")))
  (conversation.close c)
  (when (!= (get outcome "requests") (+ ROUNDS 1))
    (raise (SystemExit f"the turn went wrong: {outcome}")))
  taken)

(defn :async bare [url]
  "Run the same loop with httpx alone; return its seconds."
  (setv http (bare-client)
        items [{"role" "user" "content" "go"}]
        begin (time.perf-counter))
  (while True
    (setv calls [])
    (with [:async response (.stream http "POST" f"{url}/responses"
                                    :json {"model" "scripted" "stream" True "input" items})]
      (for [:async line (.aiter-lines response)]
        (when (.startswith line "data: ")
          (setv event (json.loads (cut line 6 None)))
          (when (= (get event "type") "response.output_item.done")
            (.append items (get event "item"))
            (when (= (get event "item" "type") "function_call")
              (.append calls (get event "item")))))))
    (for [call calls]
      (.append items {"type" "function_call_output" "call_id" (get call "call_id")
                      "output" (get (json.loads (get call "arguments")) "text")}))
    (when (not calls)
      (return (- (time.perf-counter) begin)))))

(setv _bare {"client" None})

(defn bare-client []
  "Return the one HTTP client of the bare loop."
  (import httpx)
  (when (is (get _bare "client") None)
    (setv (get _bare "client") (httpx.AsyncClient :trust-env False)))
  (get _bare "client"))

(defn :async compare [url directory]
  "Return the least seconds a round of ours and of the bare loop, run in turn."
  (setv times [])
  (for [_ (range REPEATS)]
    (.append times #((await (ours url directory)) (await (bare url)))))
  (await (client.close))
  (await (.aclose (get _bare "client")))
  (lfor column (zip #* times) (/ (min column) (+ ROUNDS 1))))

(defn main []
  "Print the rows; return 1 if a budget was not kept."
  (setv root (os.path.dirname (os.path.dirname (os.path.abspath __file__)))
        server (subprocess.Popen [hy.sys-executable "-c" SERVER (str ROUNDS) (str (* 2 REPEATS))] :cwd root :text True
                                 :stdin subprocess.PIPE :stdout subprocess.PIPE))
  (with [folder (tempfile.TemporaryDirectory)]
    (for [kind ["CONFIG" "DATA" "STATE" "CACHE"]]
      (setv (get os.environ f"XDG_{kind}_HOME") (os.path.join folder kind)))
    (count-syncs)
    (try
      (setv [a b] (asyncio.run (compare (.strip (.readline server.stdout)) folder)))
      (finally
        (.close server.stdin)
        (.wait server))))
  (int (not (all [(measure.row "a tool round" (* 1000 a) (* 1000 b) (/ (+ (* 1000 b) OVER-MS) (* 1000 b)))
                  (measure.row "disk syncs a round" (/ (get syncs "count") (+ ROUNDS 1)) 1 2 "")]))))

(when (= __name__ "__main__")
  (sys.exit (main)))
