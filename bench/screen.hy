"What 20,000 deltas cost down to the screen, against reading them with httpx-sse alone: `python -m hy bench/screen.hy`.

The server is that of bench/streaming. Ours is the whole way: stream, neutral events, Markdown, wrapping, and thirty frames a second
of a running prompt_toolkit application, written to a pseudo-terminal that nobody looks at. Counted is CPU time."

(import
  asyncio
  os
  subprocess
  sys
  threading
  types)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(.insert sys.path 0 (os.path.dirname (os.path.abspath __file__)))
(import
  autolith.door.terminal [desk live screen]
  autolith.provider [client items]
  _measure :as table
  streaming)

(setv BUDGET 3.0)

(defn drained [fd]
  "Read FD to its end, on a thread; what it reads is thrown away."
  (defn work []
    (try
      (while (os.read fd 65536))
      (except [OSError] None)))
  (.start (threading.Thread :target work :daemon True)))

(defn :async shown [form]
  "Read the stream of the provider FORM and show its answer; return how many text deltas it had."
  (import prompt-toolkit.input [create-pipe-input])
  (setv [master slave] (os.openpty) count 0)
  (drained master)
  (with [out (open slave "w")  keys (create-pipe-input)]
    (setv d (desk.Desk (types.SimpleNamespace :steering [] :queue []) (screen.output-on out))
          app (screen.build d keys)
          d.painter (live.Painter app d.output (fn [] (.drain d.scroll)))
          running (asyncio.create-task (.run-async app :handle-sigint False)))
    (for [:async event (client.stream {"model" "m" "items" [(items.user "go")] "provider" form})]
      (when (= (get event "type") "text-delta")
        (+= count 1)
        (.show d event)))
    (.close d.scroll)
    (.paint d.painter)
    (.exit app)
    (await running)
    (await (client.close)))
  (os.close master)
  count)

(defn measure [wire each]
  "Print the row for WIRE with EACH deltas in a chunk; return whether the budget was kept."
  (setv server (subprocess.Popen [(getattr hy "sys_executable" sys.executable) "-c" streaming.SERVER wire (str each)
                                  (str streaming.DELTAS)]
                                 :stdout subprocess.PIPE :text True))
  (try
    (setv url f"http://127.0.0.1:{(.strip (.readline server.stdout))}"
          form {"name" "bench" "wire" (get streaming.WIRES wire) "base_url" url}
          baseline (streaming.cpu (fn [] (streaming.bare url)))
          measured (streaming.cpu (fn [] (shown form))))
    (finally
      (.kill server)
      (.wait server)))
  (table.row f"screen {wire}, {each} a chunk" (* 1000 measured) (* 1000 baseline) BUDGET))

(defn main []
  "Print every row; return 1 if a budget was not kept."
  (setv kept (lfor each [1 200] (measure "responses" each)))
  (if (all kept) 0 1))

(when (= __name__ "__main__")
  (sys.exit (main)))
