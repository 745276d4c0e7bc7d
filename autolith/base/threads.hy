"Which thread does what, and how work and answers cross between them.

The main thread evaluates forms. The loop thread, started on first need, runs one asyncio loop for good: turns, streams,
tools, terminal. A job for the main thread is a map
{\"label\" str \"thunk\" f \"context\" Context \"done\" Future}; `running` holds, innermost last, what main does now:
{\"label\" str \"since\" monotonic seconds \"waiting\" bool}."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  contextvars
  queue
  signal
  threading
  time)

(defonce jobs (queue.SimpleQueue) "Jobs for the main thread; None only wakes it.")
(defonce running [] "What the main thread is doing, outermost first.")
(defonce after-job [] "Functions called on the main thread after each job, as to take the wakeup fd back.")
(defonce state {"loop" None "thread" None "stopping" False "lock" (threading.Lock) "sent" None}
  "The loop, its thread, whether `serve-main` is to end, and when a SIGINT was last sent by ourselves.")

(defclass Interrupted [Exception]
  "A job of the main thread let an interrupt out, as when the second one came in its clean-up.

No KeyboardInterrupt: one that reaches a task of the loop would end the loop's thread.")

;; * The loop thread

(defn start []
  "Start the loop thread unless it runs; return the loop."
  (with [(get state "lock")]
    (when (is (get state "loop") None)
      (import asyncio)
      (setv loop (asyncio.new-event-loop)
            thread (threading.Thread :target (fn [] (_run-loop loop)) :name "loop" :daemon True)
            (get state "loop") loop
            (get state "thread") thread)
      (.start thread)))
  (get state "loop"))

(defn _run-loop [loop]
  "Run LOOP until somebody stops it."
  (import asyncio)
  (asyncio.set-event-loop loop)
  (while True
    (try
      (.run-forever loop)
      (break)
      (except [[asyncio.CancelledError KeyboardInterrupt SystemExit]] None))))    ; a task's own end, not the loop's

(defn on-loop-thread? []
  "Is the caller on the loop thread?"
  (is (threading.current-thread) (get state "thread")))

(defn on-main-thread? []
  "Is the caller on the main thread?"
  (is (threading.current-thread) (threading.main-thread)))

(defn post [f #* args]
  "Call F with ARGS on the loop thread, soon; return nothing."
  (.call-soon-threadsafe (start) f #* args)
  None)

(defn on-loop [coroutine [grace 2.0]]
  "Run COROUTINE on the loop and wait; return its value or raise what it raised.

The main thread serves its own jobs while it waits. Ctrl-C cancels the coroutine, gives its clean-up GRACE seconds, and
goes on up. On the loop thread nothing waits: the coroutine comes back, to be awaited."
  (when (on-loop-thread?) (return coroutine))
  (import concurrent.futures [Future wait])
  (setv done (Future) box [] loop (start))
  (defn :async run []
    (try (setv value (await coroutine))
      (except [e BaseException] (_settle done :error e))
      (else (_settle done :value value))))
  (.call-soon-threadsafe loop (fn [] (.append box (.create-task loop (run))))
                         :context (contextvars.copy-context))
  (try
    (if (on-main-thread?) (_wait-serving done) (.result done))
    (except [KeyboardInterrupt]
      (.call-soon-threadsafe loop (fn [] (for [task box] (.cancel task))))
      (_unblock loop)
      (wait [done] grace)
      (raise))))

(defn _unblock [loop]
  "Cancel by force the task that has held LOOP for half a second without giving way, as an endless `while` does."
  (import asyncio)
  (setv answered (threading.Event)
        holder (asyncio.current-task loop))
  (.call-soon-threadsafe loop answered.set)
  (when (and (not (.wait answered 0.5)) (is-not holder None) (is (asyncio.current-task loop) holder))
    (interrupt-thread (get state "thread") asyncio.CancelledError)))

(defn _settle [done * [value None] [error None]]
  "Give the future DONE its VALUE or its ERROR; a future that is settled stays as it is."
  (when (.set-running-or-notify-cancel done)
    (if (is error None) (.set-result done value) (.set-exception done error))))

(defn _wait-serving [done]
  "Wait for DONE on the main thread, running jobs meanwhile; return its result."
  (.add-done-callback done (fn [_] (.put jobs None)))
  (.append running {"label" "waiting" "since" (time.monotonic) "waiting" True})
  (try
    (while (not (.done done))
      (setv job (.get jobs))
      (when job (_run-job job)))
    (finally (.pop running)))
  (.result done))

;; * The main thread

(defn :async on-main [thunk * [label "a form"]]
  "Run THUNK on the main thread, in a copy of the caller's context, and await its value."
  (import asyncio)
  (setv done (submit thunk :label label))
  (try
    (await (asyncio.wrap-future done))
    (except [KeyboardInterrupt] (raise (Interrupted f"{label} was interrupted") :from None))))

(defn submit [thunk * [label "a form"]]
  "Queue THUNK for the main thread; return a concurrent future of its value."
  (import concurrent.futures [Future])
  (setv done (Future))
  (.put jobs {"label" label "thunk" thunk "context" (contextvars.copy-context) "done" done})
  done)

(defn _ignore [signum frame]
  "Take no action on a signal; a Python-level handler, so that the wakeup fd is written."
  None)

(defn _run-job [job]
  "Run JOB on this thread, interruptible by SIGINT; whatever happens goes into its future."
  (setv done (get job "done") value None error None before (signal.getsignal signal.SIGINT))
  (when (not (.set-running-or-notify-cancel done)) (return))
  (.append running {"label" (get job "label") "since" (time.monotonic) "waiting" False})
  (try
    (try
      (signal.signal signal.SIGINT signal.default-int-handler)
      (setv value (.run (get job "context") (get job "thunk")))
      (except [e BaseException] (setv error e))
      (finally (signal.signal signal.SIGINT before)))
    (except [e KeyboardInterrupt]       ; it came in the few instructions around the job
      (signal.signal signal.SIGINT before)
      (setv error e)))
  (.pop running)
  (for [f (list after-job)] (f))
  (if (is error None) (.set-result done value) (.set-exception done (_portable error))))

(defn _portable [error]
  "ERROR as something a future may hold: a bare StopIteration or a cancelled error would confuse its reader."
  (if (isinstance error StopIteration)
    (RuntimeError f"a form let StopIteration out: {(repr error)}")
    error))

(defn serve-main []
  "Run jobs on the main thread until `stop-main`. SIGINT reaches running jobs only."
  (setv before (signal.getsignal signal.SIGINT))
  (signal.signal signal.SIGINT _ignore)
  (try
    (while (not (get state "stopping"))
      (try
        (setv job (.get jobs))
        (when job (_run-job job))
        (except [KeyboardInterrupt] None)))
    (finally
      (setv (get state "stopping") False)
      (signal.signal signal.SIGINT before))))

(defn stop-main []
  "Let `serve-main` return, ending the job it runs by an interrupt."
  (setv (get state "stopping") True)
  (.put jobs None)
  (interrupt-main))

(defn main-busy []
  "Return {\"label\" \"seconds\"} of the job that main runs, or None while it is idle or serves while it waits."
  (setv now (get (or (cut running -1 None) [None]) 0))
  (when (and now (not (get now "waiting")))
    {"label" (get now "label") "seconds" (- (time.monotonic) (get now "since"))}))

(defn interrupt-main []
  "Interrupt what the main thread runs or waits for, as Ctrl-C would; return whether there was anything."
  (when running
    (setv (get state "sent") (time.monotonic))
    (signal.pthread-kill (. (threading.main-thread) ident) signal.SIGINT)
    True))

(defn own-interrupt? []
  "Was the SIGINT that just came sent by `interrupt-main`? Asked once, it is forgotten."
  (setv sent (get state "sent") (get state "sent") None)
  (and (is-not sent None) (< (- (time.monotonic) sent) 0.5)))

;; * Other threads

(defn :async in-worker [thunk [timeout 10.0]]
  "Run THUNK, user code that the loop needs, in a thread of its own and await its value.

After TIMEOUT seconds the thread is interrupted and TimeoutError raised; cancelling interrupts it too."
  (import asyncio concurrent.futures [Future])
  (setv done (Future) context (contextvars.copy-context))
  (defn work []
    (try (setv value (.run context thunk))
      (except [e BaseException] (_settle done :error (_portable e)))
      (else (_settle done :value value))))
  (setv thread (threading.Thread :target work :name "worker" :daemon True))
  (.start thread)
  (try
    (await (asyncio.wait-for (asyncio.wrap-future done) timeout))
    (except [[TimeoutError asyncio.CancelledError]]
      (interrupt-thread thread)
      (raise))))

(defn interrupt-thread [thread [kind KeyboardInterrupt]]
  "Raise an exception of the class KIND in THREAD as soon as it next runs Python code."
  (import ctypes)
  (when (.is-alive thread)
    (ctypes.pythonapi.PyThreadState_SetAsyncExc (ctypes.c-ulong thread.ident) (ctypes.py-object kind)))
  None)
