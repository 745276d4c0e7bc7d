"Observers that user code enters: of the session's events, and of the provider's raw stream. They hold for the process.

`tables` is {\"event\" {key f} \"provider-event\" {key f}}. A named function has one place, so that loading an init file again
replaces it."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  itertools
  autolith.image [registries])

(defonce tables {"event" {} "provider-event" {}} "The observers by what they observe.")
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
  "Call the observers of KIND with EVENT; one that raises is taken off, and COMPLAIN told in a sentence."
  (setv table (get tables kind))
  (for [[key f] (list (.items table))]
    (try
      (f event)
      (except [e Exception]
        (.pop table key None)
        (complain f"an observer of {kind}s was taken off: {(hy.unmangle key)} raised {(repr e)}")))))

(defn snapshot []
  "Return what `restore` needs to bring the observers back."
  (dfor [kind table] (.items tables) kind (dict table)))

(defn restore [saved]
  "Make the observers those of SAVED."
  (for [[kind table] (.items tables)]
    (.clear table)
    (.update table (.get saved kind {}))))

(registries.register "observers" snapshot restore)
