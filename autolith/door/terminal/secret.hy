"Ask for a line that must not be seen, while the session has the terminal: the live region steps aside, echo is off."

(import
  os
  select
  autolith.base [threads])

(defn ask [question]
  "Return the line that the user types unseen for QUESTION. Called from the main thread; Ctrl-C gives up."
  (threads.on-loop (hidden question)))

(defn :async hidden [question]
  "Ask QUESTION above the live region, in a thread, so that the loop goes on."
  (import asyncio threading prompt-toolkit.application [run-in-terminal])
  (setv given-up (threading.Event)
        work (run-in-terminal (fn [] (read-line question given-up.is-set)) :in-executor True)
        reading (asyncio.ensure-future work))
  (try
    (await (asyncio.shield reading))
    (except [asyncio.CancelledError]
      (.set given-up)
      (await (asyncio.wait [reading]))                   ; the terminal is given back before anything else is drawn
      (raise))))

(defn read-line [question given-up]
  "Write QUESTION to the terminal and return the line that is typed there without echo; \"\" once (GIVEN-UP) is true."
  (import termios)
  (setv fd (os.open "/dev/tty" (| os.O-RDWR os.O-NOCTTY os.O-CLOEXEC))
        modes (termios.tcgetattr fd)
        data b"")
  (try
    (termios.tcsetattr fd termios.TCSAFLUSH (unseen modes))
    (os.write fd (.encode question))
    (while (not (or (given-up) (.endswith data b"\n")))
      (when (get (select.select [fd] [] [] 0.1) 0)
        (setv part (os.read fd 65536))
        (when (not part) (break))
        (+= data part)))
    (os.write fd b"\n")
    (finally
      (termios.tcsetattr fd termios.TCSADRAIN modes)
      (os.close fd)))
  (if (given-up) "" (.strip (.decode data "utf-8" "replace"))))

(defn unseen [modes]
  "Return the terminal MODES with whole lines and signals, and without echo."
  (import termios)
  (setv new (list modes)
        (get new 0) (| (get new 0) termios.ICRNL)
        (get new 3) (& (| (get new 3) termios.ICANON termios.ISIG) (bnot termios.ECHO)))
  new)
