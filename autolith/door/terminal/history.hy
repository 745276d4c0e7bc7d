"What was typed before: walking through it, and searching it. Pure state; the newest entry is the last."

(defclass History []
  "The ENTRIES typed so far. While walking, `at` is the entry shown and `draft` what was typed before the walk."

  (defn __init__ [self entries]
    (setv self.entries (lfor e entries :if (and (isinstance e str) (.strip e)) e)
          self.at None
          self.draft ""))

  (defn add [self text]
    "Enter TEXT as the newest, once if it is repeated, and end any walk."
    (when (and (.strip text) (!= (cut self.entries -1 None) [text]))
      (.append self.entries text))
    (.rest self))

  (defn rest [self]
    "End the walk."
    (setv self.at None self.draft ""))

  (defn older [self current]
    "Return the next older entry that begins as the draft does, CURRENT being shown; or None."
    (when (is self.at None) (setv self.draft current))
    (.step self (range (- (if (is self.at None) (len self.entries) self.at) 1) -1 -1)))

  (defn newer [self]
    "Return the next newer entry that begins as the draft does; after the newest the draft itself; or None."
    (when (is-not self.at None)
      (setv found (.step self (range (+ self.at 1) (len self.entries))))
      (when (is found None)
        (setv found self.draft)
        (.rest self))
      found))

  (defn step [self places]
    "Go to the first of PLACES whose entry fits the draft and differs from what is shown; return it or None."
    (setv shown (if (is self.at None) self.draft (get self.entries self.at)))
    (for [i places]
      (when (and (.startswith (get self.entries i) self.draft) (!= (get self.entries i) shown))
        (setv self.at i)
        (return (get self.entries i)))))

  (defn search [self query [limit 200]]
    "Return the entries that hold every word of QUERY, newest first, each once, at most LIMIT."
    (setv needles (.split (.lower query)) seen {})
    (for [entry (reversed self.entries)]
      (setv text (.lower entry))
      (when (all (gfor n needles (in n text)))
        (setv (get seen entry) True))
      (when (>= (len seen) limit) (break)))
    (list seen)))
