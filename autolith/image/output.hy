"What a form prints goes to whoever asked for the form, live; what others print meanwhile goes where it always went.

`sys.stdout` and `sys.stderr` are each replaced by a Router, which asks for the sink of the caller: the one bound in its context
(a ContextVar, so coroutines on the loop are included), or the one that its thread was started with. A sink is a function of text."

(eval-when-compile (require autolith.base.macros [defonce]))

(import
  sys
  threading
  contextvars [ContextVar])

(defonce _sink (ContextVar "sink" :default None) "The function that takes the text printed in this context.")
(defonce _patched {} "The original of Thread.start, once it has been wrapped.")

(defonce _routers {} "The Router that was last put in place, by the name of the stream.")

(defn sink []
  "Return the function that takes what the caller prints, or None for the real stream."
  (or (.get _sink) (getattr (threading.current-thread) "autolith_sink" None)))

(defclass Bytes []
  "What `sys.stdout.buffer` is: bytes written to it are text of ROUTER."
  (defn __init__ [self router]
    (setv self.router router))

  (defn write [self data]
    "Write DATA to the sink, decoded, or to the real stream's buffer."
    (if (sink)
      (.write self.router (.decode (bytes data) "utf-8" "replace"))
      (.write self.router.real.buffer data))
    (len data))

  (defn flush [self]
    "Flush the router."
    (.flush self.router)))

(defclass Router []
  "A text stream that gives what it is told to the caller's sink, or else to the stream REAL."
  (defn __init__ [self real]
    (setv self.real real
          self.buffer (Bytes self)))

  (defn write [self text]
    "Write TEXT; return its length."
    (when (not (isinstance text str))
      (raise (TypeError f"write() argument must be str, not {(. (type text) __name__)}")))
    (setv f (sink))
    (cond
      f (f text)
      self.real (.write self.real text))
    (len text))

  (defn writelines [self lines]
    "Write each of LINES."
    (for [line lines] (.write self line)))

  (defn flush [self]
    "Flush the real stream, unless there is a sink."
    (when (and self.real (not (sink)) (not (getattr self.real "closed" False)))
      (.flush self.real)))

  (defn isatty [self]
    "Tell whether the caller writes to a terminal directly."
    (and (not (sink)) (is-not self.real None) (.isatty self.real)))

  (defn close [self]
    "Do nothing: a form that closes its output closes it for nobody else."
    None)

  (defn __getattr__ [self name]
    "Return what the real stream has by NAME."
    (getattr (get (vars self) "real") name)))

(defn _start-with-sink [thread]
  "Start THREAD; what it prints goes where its starter's output goes."
  (setv thread.autolith-sink (sink))
  ((get _patched "start") thread))

(defn install []
  "Route what is printed. Harmless when it is routed already; a stream that cannot be written to gives way to the last good one."
  (for [name ["stdout" "stderr"]]
    (setv stream (getattr sys name None))
    (when (not (isinstance stream Router))
      (when (or (_usable? stream) (not-in name _routers))
        (setv (get _routers name) (Router (when (_usable? stream) stream))))
      (setattr sys name (get _routers name))))
  (when (not-in "start" _patched)
    (setv (get _patched "start") threading.Thread.start
          threading.Thread.start _start-with-sink)))

(defn _usable? [stream]
  "Tell whether STREAM can be written to."
  (and (callable (getattr stream "write" None)) (not (getattr stream "closed" False))))

(defclass capturing []
  "A context in which what is printed goes to the function OUTPUT; with None, where it went before."
  (defn __init__ [self output]
    (setv self.output output))

  (defn __enter__ [self]
    (when self.output
      (install)
      (setv self.token (.set _sink self.output))))

  (defn __exit__ [self #* error]
    (when self.output
      (.reset _sink self.token)
      (install))
    None))

(defn bounded [output limit]
  "Return a function that hands text on to OUTPUT until LIMIT characters have passed, then says once that it stops."
  (setv seen 0)
  (fn [text]
    (nonlocal seen)
    (setv room (- limit seen)
          seen (+ seen (len text)))
    (when (> room 0)
      (output (cut text room))
      (when (> seen limit) (output "\n... (the rest of this output is left out)\n")))))

(defn limited [limit]
  "Return a context in which at most LIMIT characters are printed to the caller's sink, if it has one."
  (setv output (sink))
  (capturing (when output (bounded output limit))))
