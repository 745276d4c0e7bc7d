"Signals for the terminal: a Python-level handler that does nothing, and the wakeup fd that carries their numbers to the loop."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  os
  signal
  socket
  autolith.base [threads]
  autolith.door.terminal [actions leaving])

(defonce wires {"read" None "write" None} "The two ends of the wakeup fd.")

(setv OURS [signal.SIGWINCH signal.SIGTSTP signal.SIGTERM signal.SIGHUP])

(defn ignore [number frame]
  "Do nothing: with a Python-level handler, C writes the number to the wakeup fd."
  None)

(defn install []
  "Take the signals; called on the main thread."
  (for [n OURS] (signal.signal n ignore))
  (signal.siginterrupt signal.SIGWINCH False)
  (take-wakeup))

(defn take-wakeup []
  "Have the numbers of signals written for the loop; user code may have taken that away."
  (when (get wires "write")
    (signal.set-wakeup-fd (.fileno (get wires "write")) :warn-on-full-buffer False))
  None)

(defn start [desk loop]
  "Watch signals, and the launcher, for DESK on LOOP."
  (setv [r w] (socket.socketpair))
  (for [end [r w]] (.setblocking end False))
  (setv (get wires "read") r (get wires "write") w)
  (.add-reader loop r (fn [] (arrived desk)))
  (.append threads.after-job take-wakeup)
  (threads.submit install :label "taking signals")
  (watch-lifeline desk loop))

(defn watch-lifeline [desk loop]
  "Leave when the launcher is gone."
  (setv fd (.get os.environ "AUTOLITH_LIFELINE" ""))
  (when (.isdecimal fd)
    (.add-reader loop (int fd) (fn []
                                 (.remove-reader loop (int fd))
                                 (leaving.leave desk 70)))))

(defn stop [loop]
  "Watch no longer."
  (when (in take-wakeup threads.after-job) (.remove threads.after-job take-wakeup))
  (when (get wires "read") (.remove-reader loop (get wires "read")))
  (when (.isdecimal (.get os.environ "AUTOLITH_LIFELINE" ""))
    (.remove-reader loop (int (get os.environ "AUTOLITH_LIFELINE")))))

(defn arrived [desk]
  "Act on the signals that came."
  (try
    (setv numbers (.recv (get wires "read") 256))
    (except [BlockingIOError] (return)))
  (for [n numbers]
    (cond
      (= n signal.SIGWINCH) (desk.app._on-resize)
      (= n signal.SIGINT) (actions.kernel-interrupt desk)
      (= n signal.SIGTSTP) (leaving.suspend desk)
      (in n [signal.SIGTERM signal.SIGHUP]) (leaving.leave desk (+ 128 n)))))
