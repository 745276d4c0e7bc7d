"The log against JSON lines: reading all of one, and appending with and without waiting for the disk: `python -m hy bench/log.hy`."

(import json os sys tempfile)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(import
  autolith.base [disk log]
  bench [_measure :as measure  forms :as records])

(defn plain-append [path record sync]
  "Return a thunk that appends RECORD 200 times to the file PATH as a line of JSON, syncing each with SYNC."
  (fn []
    (setv descriptor (os.open path (| os.O-WRONLY os.O-CREAT os.O-APPEND) 0o600))
    (for [_ (range 200)]
      (os.write descriptor (.encode (+ (json.dumps record) "\n")))
      (when sync
        (disk._sync-data descriptor)))
    (os.close descriptor)))

(defn our-append [path record sync]
  "Return a thunk that appends RECORD 200 times to the log PATH, syncing each with SYNC."
  (fn []
    (with [l (log.Log path)]
      (for [_ (range 200)]
        (.append l record :sync sync)))))

(defn reading [folder]
  "Report reading a log of some megabytes in FOLDER."
  (setv ours (os.path.join folder "log.hy")  theirs (os.path.join folder "log.jsonl")
        rows (get records.RECORDS "tool results"))
  (with [l (log.Log ours)]
    (for [r rows] (.append l r :sync False)))
  (with [f (open theirs "w" :encoding "utf-8")]
    (for [r rows] (.write f (+ (json.dumps r :ensure-ascii False) "\n"))))
  (measure.report "log.read" (fn [] (log.read ours))
                (fn [] (with [f (open theirs :encoding "utf-8")] (lfor line f (json.loads line)))) 4))

(defn tails [folder]
  "Report reading the last record of a long log in FOLDER against reading the last megabyte of it."
  (setv path (os.path.join folder "log.hy"))
  (measure.report "log.tail of one record" (fn [] (log.tail path 1))
                (fn [] (with [f (open path "rb")] (.seek f (- (min log.PART (os.path.getsize path))) 2) (.read f))) 4))

(defn main []
  "Report everything; return 1 if a budget was not kept."
  (with [folder (tempfile.TemporaryDirectory)]
    (setv record (get records.RECORDS "small records" 0)
          ours (os.path.join folder "a.hy")  theirs (os.path.join folder "a.jsonl"))
    (setv kept [(reading folder)
                (tails folder)
                (measure.report "log.append, synced"
                                (our-append ours record True) (plain-append theirs record True) 1.5)
                (measure.report "log.append, not synced" (our-append ours record False) (plain-append theirs
                                                                                                    record False) 4)]))
  (int (not (all kept))))

(when (= __name__ "__main__")
  (sys.exit (main)))
