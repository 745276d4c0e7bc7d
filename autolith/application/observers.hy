"Observers that user code enters: of the session's events, and of the provider's raw stream. They hold for the process.

`tables` is {\"event\" {key f} \"provider-event\" {key f}}. A named function has one place, so that loading an init file again
replaces it."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  itertools
  queue
  threading
  time
  autolith.base [threads :as base-threads]
  autolith.image [registries])

(defonce tables {"event" {} "provider-event" {}} "The observers by what they observe.")
(defonce pending (queue.SimpleQueue) "Events that the observers have not seen yet: #(kind event complain).")
(defonce running {"thread" None "function" None "since" 0} "The observers' thread and what it runs now.")
(defparameter patience 5.0 "How many seconds one observer may take with one event.")
(defonce _serials (itertools.count 1) "Numbers for functions without a name.")

(defn on-event [f]
  "Call F with every event of the session from now on; return the undo. docs/events.md lists them."
  (_enter "event" f))

(defn on-provider-event [f]
  "Call F with every raw event of the provider's stream from now on; return the undo."
  (_enter "provider-event" f))

(defn _enter [kind f]
  "Enter F among the observers of KIND; return the undo."
  (when (not (callable f))
    (raise (TypeError f"an observer is a function of one event, got {(hy.repr f)}")))
  (setv table (get tables kind) name (getattr f "__qualname__" "")
        key (if (and name (not-in "<lambda>" name)) f"{f.__module__}.{name}" f"observer-{(next _serials)}"))
  (setv (get table key) f)
  (fn [] (when (is (.get table key) f) (.pop table key)) None))

(defn notify [kind event complain]
  "Let the observers of KIND see EVENT, in order, on a thread of their own; COMPLAIN is told in a sentence of one that raises.
An observer that takes longer than `patience` holds up nobody but the other observers, and is taken off."
  (when (get tables kind)
    (_check-patience complain)
    (_start)
    (.put pending #(kind event complain)))
  None)

(defn drain [[seconds 2.0]]
  "Wait until the observers have seen everything so far, at most SECONDS."
  (setv end (+ (time.monotonic) seconds))
  (while (and (or (not (.empty pending)) (get running "function")) (< (time.monotonic) end))
    (time.sleep 0.002))
  None)

(defn _start []
  "Start the thread of the observers, unless it runs."
  (setv thread (get running "thread"))
  (when (or (is thread None) (not (.is-alive thread)))
    (setv thread (threading.Thread :target _serve :name "observers" :daemon True)
          (get running "thread") thread)
    (.start thread)))

(defn _serve []
  "Show the pending events to the observers, one after another, for good."
  (while True
    (setv [kind event complain] (.get pending))
    (for [[key f] (list (.items (get tables kind)))]
      (_show kind key f event complain))))

(defn _show [kind key f event complain]
  "Call the observer F, KEY among those of KIND, with EVENT."
  (setv (get running "since") (time.monotonic)
        (get running "function") #(kind key))
  (try
    (f event)
    (except [e [Exception KeyboardInterrupt]]
      (setv (get running "function") None)
      (setv reason (if (isinstance e KeyboardInterrupt) f"took longer than {patience} s" f"raised {(repr e)}"))
      (_take-off kind key reason complain)))
  (setv (get running "function") None))

(defn _take-off [kind key reason complain]
  "Remove the observer KEY of KIND and say why."
  (.pop (get tables kind) key None)
  (complain f"an observer of {kind}s was taken off: {(hy.unmangle key)} {reason}"))

(defn _check-patience [complain]
  "Interrupt an observer that has run too long."
  (when (and (get running "function") (> (- (time.monotonic) (get running "since")) patience))
    (base-threads.interrupt-thread (get running "thread"))))

(defn snapshot []
  "Return what `restore` needs to bring the observers back."
  (dfor [kind table] (.items tables) kind (dict table)))

(defn restore [saved]
  "Make the observers those of SAVED."
  (for [[kind table] (.items tables)]
    (.clear table)
    (.update table (.get saved kind {}))))

(registries.register "observers" snapshot restore)
