"A limit on how long code may run, kept by an interrupt."

(import
  signal
  threading)

(defclass TimeUp [BaseException]
  "The time that code was given is over.")

(defn within [seconds thunk]
  "Return the value of THUNK, which TimeUp interrupts when it takes more than SECONDS; signals reach the main thread only."
  (if (is (threading.current-thread) (threading.main-thread))
    (_by-signal seconds thunk)
    (_by-exception seconds thunk)))

(defn _by-signal [seconds thunk]
  "Run THUNK on the main thread under an alarm, which interrupts system calls too."
  (setv started False)
  (defn up [number frame]
    (when started (raise (TimeUp))))
  (setv before (signal.signal signal.SIGALRM up)
        started True)
  (signal.setitimer signal.ITIMER-REAL seconds 1.0)      ; again, should a form swallow the first
  (try
    (thunk)
    (finally
      (setv started False)
      (signal.setitimer signal.ITIMER-REAL 0)
      (signal.signal signal.SIGALRM before))))

(defn _by-exception [seconds thunk]
  "Run THUNK on this thread, with an exception set from outside when time is up."
  (import ctypes)
  (setv thread (threading.get-ident)
        lock (threading.Lock)
        running True)
  (defn up []
    (with [_ lock]
      (when running
        (ctypes.pythonapi.PyThreadState_SetAsyncExc (ctypes.c-ulong thread) (ctypes.py-object TimeUp)))))
  (setv timer (threading.Timer seconds up)
        timer.daemon True)
  (.start timer)
  (try
    (thunk)
    (finally
      (.cancel timer)
      (with [_ lock]
        (setv running False)))))
