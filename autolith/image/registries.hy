"Tables that definitions fill: how to take their state, put it back, and take back what one load of the init files added.

A registry is a name with two functions: `snapshot` returns its state, `restore` makes a state so returned the present one. Where the
state is a map (of maps), single entries can be taken back. The state of all is {name snapshot}. A difference is
{name {path #(old new)}}, PATH a tuple of keys and ABSENT standing for no entry."

(eval-when-compile (require autolith.base.macros [defonce]))

(import contextvars [ContextVar])

(defonce registries {} "Name -> #(snapshot restore).")
(defonce beginnings {} "Name -> the state in which the registry was first known.")
(defonce ABSENT (object) "Stands for an entry that is not there.")

(defonce origin (ContextVar "origin" :default "prompt") "Whose definitions these are: prompt, or the path of an init file.")

(defn register [name snapshot restore]
  "Enter the registry NAME: SNAPSHOT, a function, returns its state; RESTORE, of one argument, brings such a state back."
  (setv (get registries name) #(snapshot restore))
  (.setdefault beginnings name (snapshot))
  None)

(defn take []
  "Return the state of every registry."
  (dfor [name [snapshot _]] (list (.items registries)) name (snapshot)))

(defn give [state]
  "Bring every registry back to STATE; one that was not known then, to its beginning."
  (for [[name [_ restore]] (list (.items registries))]
    (restore (.get state name (get beginnings name)))))

(defn difference [before after]
  "Return what changed from the state BEFORE to AFTER."
  (setv changes {})
  (for [[name new] (.items after)]
    (setv entries {})
    (_compare (.get before name (.get beginnings name)) new #() entries)
    (when entries (setv (get changes name) entries)))
  changes)

(defn same? [a b]
  "Tell whether A and B are one thing or equal."
  (or (is a b)
      (try (bool (= a b)) (except [Exception] False))))

(defn _compare [old new path entries]
  "Enter in ENTRIES, by their paths below PATH, the parts in which OLD and NEW differ."
  (cond
    (and (is (type old) dict) (is (type new) dict))
      (for [key (| (dict.fromkeys old) (dict.fromkeys new))]
        (_compare (.get old key ABSENT) (.get new key ABSENT) #(#* path key) entries))
    (not (same? old new)) (setv (get entries path) #(old new))))

(defn combined [first second]
  "Return the difference that FIRST and then SECOND make together."
  (setv changes (dfor [name entries] (.items first) name (dict entries)))
  (for [[name entries] (.items second)]
    (setv merged (.setdefault changes name {}))
    (for [[path [old new]] (.items entries)]
      (setv (get merged path) #((get (.get merged path #(old)) 0) new))))
  changes)

(defn take-back [changes]
  "Undo CHANGES, a difference, where an entry is still as they left it; what was changed since stays."
  (for [[name entries] (.items changes)]
    (when (in name registries)
      (setv [snapshot restore] (get registries name)
            state (snapshot))
      (for [[path [old new]] (.items entries)]
        (setv state (_replaced state path old new)))
      (restore state))))

(defn _replaced [state path old new]
  "Return STATE with OLD at PATH, if NEW is there now."
  (when (not path)
    (return (if (same? state new) old state)))
  (setv key (get path 0)
        state (if (is (type state) dict) (dict state) {})
        value (_replaced (.get state key ABSENT) (cut path 1 None) old new))
  (if (is value ABSENT)
    (.pop state key None)
    (setv (get state key) value))
  state)
