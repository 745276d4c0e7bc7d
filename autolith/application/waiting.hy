"What waits, for whom and for how long, in words: for `(stuck)` and for SIGUSR1."

(import
  sys
  threading
  time
  traceback
  autolith.application [inputs session]
  autolith.base [text threads])

(defn report [s]
  "Return what the session S, its tasks and its threads wait for, as text."
  (setv held (if s.held ", held" ""))
  (.join "\n" [(_main) (_active s) #* (_tasks) #* (_threads)
               f"{(len (inputs.queue s))} inputs wait{held}; {(len s.questions)} questions are open"]))

(defn _main []
  "What the main thread does."
  (setv busy (threads.main-busy))
  (cond
    busy (.format "main thread: runs {} for {}" (get busy "label") (text.duration (get busy "seconds")))
    threads.running "main thread: waits for the loop, serving forms"
    True "main thread: idle"))

(defn _active [s]
  "What the session S runs."
  (setv active (session.busy s))
  (if active
    (.format "session: {} since {}" (get active "phase") (text.duration (- (time.monotonic) (get active "since"))))
    "session: idle"))

(defn _tasks []
  "One line for each task of the loop, with the place where it waits."
  (import asyncio)
  (setv loop (get threads.state "loop"))
  (if (is loop None)
    ["loop: not started"]
    (lfor task (asyncio.all-tasks loop)
      (.format "task {}: {}" (task.get-name) (_place (get (or (cut (.get-stack task) -1 None) [None]) 0))))))

(defn _threads []
  "One line for each thread but the caller's, with the place where it is."
  (setv frames (sys._current-frames))
  (lfor thread (threading.enumerate)
        :if (is-not thread (threading.current-thread))
        (.format "thread {}: {}" thread.name (_place (.get frames thread.ident)))))

(defn _place [frame]
  "Where FRAME is, as file, line and function."
  (if (is frame None)
    "not started or ended"
    (do (setv summary (traceback.extract-stack frame 1) top (get summary -1))
        f"{top.filename}:{top.lineno} in {(hy.unmangle top.name)}")))
