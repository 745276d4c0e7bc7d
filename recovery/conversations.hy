"List the conversations on disk for somebody whose program does not start.

Only the ends of files are read, nothing is locked, opened for writing or repaired. A conversation is a map
{\"id\" \"time\" text \"directory\" text or None \"preview\" text \"bytes\" n}."

(import
  os
  autolith.base [log])

(setv MOST 200                                           ; records looked at for a preview, at the newest end
      WIDTH 60)

(defn _segments [folder]
  "Return the paths of the segments in FOLDER, oldest first."
  (try
    (sorted (lfor name (os.listdir folder)
                  :if (and (.endswith name ".hy") (.isdigit (cut name 0 -3)))
                  (os.path.join folder name)))
    (except [OSError]
      [])))

(defn _preview [records]
  "Return the first line of the last thing that the user said in RECORDS."
  (for [record (reversed records)]
    (setv said (.get record "content"))
    (when (and (= (.get record "kind") "message") (= (.get record "role") "user") said)
      (setv text (if (isinstance said str)
                   said
                   (.join " " (gfor block said :if (isinstance block dict) (str (.get block "text" ""))))))
      (setv line (.join " " (.split text)))
      (return (if (> (len line) WIDTH) (+ (cut line (- WIDTH 3)) "...") line))))
  "")

(defn describe [folder]
  "Return the conversation that lies in FOLDER, or None if nothing of it can be read."
  (setv paths (_segments folder))
  (when (not paths)
    (return None))
  (try
    (setv newest (get paths -1)
          header (next (iter (log.head newest 1)) {})
          records (log.tail newest MOST))
    (except [[OSError ValueError]]
      (return None)))
  {"id" (os.path.basename folder)
   "time" (str (or (.get (if records (get records -1) header) "time") ""))
   "directory" (.get header "directory")
   "preview" (_preview records)
   "bytes" (sum (gfor p paths (os.path.getsize p)))})

(defn newest [folder count]
  "Return at most COUNT conversations under FOLDER, newest first."
  (try
    (setv folders (lfor entry (os.scandir folder) :if (.is-dir entry) entry.path))
    (except [OSError]
      (return [])))
  (.sort folders :key os.path.getmtime :reverse True)
  (setv found (lfor path (cut folders (* 2 count))
                    :setv about (describe path)
                    :if about
                    about))
  (.sort found :key (fn [about] (:time about)) :reverse True)
  (cut found count))
