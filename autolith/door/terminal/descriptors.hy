"Who has the standard descriptors. The terminal is the program's alone while it draws: `take` keeps it on descriptors of its own, gives
0 an end of file, and 1 and 2 a pipe; what children and C code write there is output like any other. `Held.restore` undoes that.

Text from the pipe goes to `Held.tell`, a function that is set later and called on the loop; until then it is kept."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  codecs
  os
  select
  sys
  termios
  threading
  autolith.base [threads])

(defparameter piece 8192 "How many bytes of the pipe are shown at once.")
(defparameter patience 1.0 "Seconds that what is in the pipe waits for a loop that is busy; then it is dropped.")

(defonce terminal {"in" 0 "out" 1 "error" 2} "The descriptors that are the terminal now.")

(defn take []
  "Take the terminal away from the standard descriptors; return what is Held."
  (for [stream [sys.__stdout__ sys.__stderr__]] (.flush stream))
  (Held))

(defn alive? []
  "Is the terminal still there?"
  (try
    (termios.tcgetattr (get terminal "in"))
    True
    (except [termios.error] False)))

(defclass Held []
  "The terminal on descriptors of its own: `input` and `output` are text streams on it."

  (defn __init__ [self]
    (setv self.kept (lfor fd [0 1 2] (os.dup fd))
          self.input (open (get self.kept 0) "r" :encoding sys.__stdin__.encoding :errors "replace" :closefd False)
          self.output (open (get self.kept 1) "w" :encoding sys.__stdout__.encoding :errors "replace" :closefd False)
          self.tell None)
    (.update terminal {"in" (get self.kept 0) "out" (get self.kept 1) "error" (get self.kept 2)})
    (setv self.pipe (Pipe self)
          nothing (os.open os.devnull os.O-RDONLY))
    (os.dup2 nothing 0)
    (os.close nothing)
    (for [fd [1 2]] (os.dup2 self.pipe.end fd))
    (.start self.pipe))

  (defn drain [self]
    "Tell now, on the loop, what was written before; so that it stands before what came of it."
    (.drain self.pipe))

  (defn restore [self]
    "Put the terminal back; one that is gone is replaced by nothing, so that no later word to it fails."
    (for [stream [sys.__stdout__ sys.__stderr__]] (.flush stream))
    (.drain self.pipe)
    (setv there (alive?))
    (for [[fd kept] (enumerate self.kept)] (os.dup2 kept fd))
    (.update terminal {"in" 0 "out" 1 "error" 2})
    (.stop self.pipe)
    (when (not there) (point-at-nothing))))

(defn point-at-nothing []
  "Let the standard descriptors read and write nothing."
  (setv nothing (os.open os.devnull os.O-RDWR))
  (for [fd [0 1 2]] (os.dup2 nothing fd))
  (os.close nothing))

(defclass Pipe []
  "A pipe, read by a thread of its own, so that nobody who writes to it, the loop least of all, can wait for himself."

  (defn __init__ [self held]
    (setv [self.begin self.end] (os.pipe)
          [self.woken self.wake] (os.pipe)
          self.held held
          self.lock (threading.Lock)
          self.waiting []
          self.dropped 0
          self.room (threading.Event)
          self.decoder ((codecs.getincrementaldecoder "utf-8") "replace")
          self.thread (threading.Thread :target self.run :name "child output" :daemon True))
    (os.set-blocking self.begin False))

  (defn start [self]
    "Begin to read."
    (.start self.thread))

  (defn run [self]
    "Read piece by piece; each waits until the loop has shown the one before."
    (while True
      (setv [ready _ _] (select.select [self.begin self.woken] [] []))
      (when (in self.woken ready) (return))
      (.clear self.room)
      (when (.read-piece self)
        (threads.post self.show)
        (.wait self.room patience))))

  (defn read-piece [self]
    "Take what the pipe has, at most one piece of it; return whether there was anything."
    (with [self.lock]
      (try
        (setv data (os.read self.begin piece))
        (except [[BlockingIOError OSError]] (return False)))
      (if (< (sum (map len self.waiting)) (* 8 piece))
        (.append self.waiting data)
        (+= self.dropped (len data)))
      (bool data)))

  (defn drain [self]
    "Show everything that was written so far, up to a pipe's fill."
    (for [_ (range 16)]
      (when (not (.read-piece self)) (break)))
    (.show self))

  (defn show [self]
    "Tell what waits."
    (when self.held.tell
      (with [self.lock]
        (setv text (.decode self.decoder (.join b"" self.waiting)) dropped self.dropped
              self.waiting [] self.dropped 0))
      (when dropped (+= text f"\n... ({dropped} bytes of this output came too fast and are left out)\n"))
      (when text (self.held.tell text)))
    (.set self.room))

  (defn stop [self]
    "Read no more."
    (os.write self.wake b"x")
    (.set self.room)
    (.join self.thread 1)
    (when (not (.is-alive self.thread))
      (for [fd [self.begin self.end self.woken self.wake]] (os.close fd)))))
