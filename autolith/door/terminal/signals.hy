"Signals for the terminal: a Python-level handler that does nothing, and the wakeup fd that carries their numbers to the loop."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  os
  signal
  socket
  autolith.base [threads])

(defonce wires {"read" None "write" None} "The two ends of the wakeup fd.")

(setv OURS [signal.SIGWINCH signal.SIGTERM signal.SIGHUP signal.SIGUSR1]
      NAMES {signal.SIGWINCH "resize" signal.SIGINT "interrupt" signal.SIGTSTP "suspend" signal.SIGUSR1 "report"})

(defn ignore [number frame]
  "Do nothing: with a Python-level handler, C writes the number to the wakeup fd."
  None)

(defn install [suspend]
  "Take the signals, that of SUSPEND too if it is true; called on the main thread."
  (for [n (+ OURS (if suspend [signal.SIGTSTP] []))] (signal.signal n ignore))
  (signal.siginterrupt signal.SIGWINCH False)
  (take-wakeup))

(defn take-wakeup []
  "Have the numbers of signals written for the loop; user code may have taken that away."
  (when (get wires "write")
    (signal.set-wakeup-fd (.fileno (get wires "write")) :warn-on-full-buffer False))
  None)

(defn start [loop acts]
  "Watch signals, and the launcher, on LOOP. ACTS are functions of no arguments: interrupt, report, and where wanted resize
and suspend; `leave` is given an exit status."
  (setv [r w] (socket.socketpair))
  (for [end [r w]] (.setblocking end False))
  (setv (get wires "read") r (get wires "write") w)
  (.add-reader loop r (fn [] (arrived acts)))
  (.append threads.after-job take-wakeup)
  (threads.submit (fn [] (install (in "suspend" acts))) :label "taking signals")
  (watch-lifeline loop (get acts "leave")))

(defn lifeline []
  "Return the number of the pipe whose end means that the launcher is gone, or None."
  (setv fd (.get os.environ "AUTOLITH_LIFELINE" ""))
  (when (.isdecimal fd) (int fd)))

(defn watch-lifeline [loop leave]
  "Call LEAVE when the launcher is gone."
  (setv fd (lifeline))
  (when (is-not fd None)
    (.add-reader loop fd (fn []
                           (.remove-reader loop fd)
                           (leave 70)))))

(defn stop [loop]
  "Watch no longer."
  (when (in take-wakeup threads.after-job) (.remove threads.after-job take-wakeup))
  (when (get wires "read") (.remove-reader loop (get wires "read")))
  (when (is-not (lifeline) None) (.remove-reader loop (lifeline))))

(defn arrived [acts]
  "Act on the signals that came, as ACTS say."
  (try
    (setv numbers (.recv (get wires "read") 256))
    (except [BlockingIOError] (return)))
  (for [n numbers]
    (setv act (.get acts (.get NAMES n)))
    (cond
      (in n [signal.SIGTERM signal.SIGHUP]) ((get acts "leave") (+ 128 n))
      act (act))))
