"The output store: texts too long for the model, kept whole under the digest of their bytes.

`(store text)` gives the URI `output:DIGEST`; `(path digest)` the file that holds it. Files are private, in data/outputs; what was
pruned is remembered in pruned.hy there, [[digest time] ..], so that its absence can be explained. A digest is 24 hexadecimal digits."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  hashlib
  os
  re
  secrets
  time
  autolith.base [conditions disk paths snapshot]
  autolith.state [settings stamp])

(defparameter prune-every 3600 "The seconds between two looks at what is too old, while outputs are stored.")
(defparameter remembered 5000 "How many pruned digests are remembered.")
(defonce _last-prune {"time" 0.0} "When this process last pruned.")

(setv DIGEST (re.compile r"[0-9a-f]{24}")
      SCHEME "output:")

(defclass NoOutput [conditions.AutolithError]
  "There is no stored output of that digest.")

(defn folder []
  "Return the folder of the stored outputs."
  (paths.data "outputs"))

(defn store [text]
  "Keep TEXT whole, without secrets, and return its URI. The same text has the same URI, from any process."
  (setv redact (get stamp.secrets "redact")
        data (.encode (if redact (redact text) text) "utf-8" "backslashreplace")
        digest (cut (.hexdigest (hashlib.sha256 data)) 24)
        target (os.path.join (paths.ensure-folder (folder)) digest))
  (if (os.path.exists target)
    (os.utime target)
    (_write target data))
  (_prune-sometimes digest)
  (+ SCHEME digest))

(defn _write [target data]
  "Write DATA to the new file TARGET, whole or not at all."
  (setv spare f"{target}.{(secrets.token-hex 6)}.tmp")
  (try
    (setv handle (os.open spare (| os.O-WRONLY os.O-CREAT os.O-EXCL os.O-CLOEXEC) 0o600))
    (except [e OSError] (raise (disk.failure spare e) :from e)))
  (try
    (try
      (disk.write-all handle data target)
      (finally (os.close handle)))
    (os.replace spare target)
    (except [BaseException]
      (try (os.unlink spare) (except [OSError] None))
      (raise))))

(defn path [digest]
  "Return the file that holds the output DIGEST; raise NoOutput, saying why, if there is none."
  (when (not (.fullmatch DIGEST digest))
    (raise (NoOutput f"{(cut (repr digest) 60)} is no digest of an output: 24 hexadecimal digits, as in the note where a text was cut")))
  (setv target (os.path.join (folder) digest))
  (when (not (os.path.isfile target))
    (setv when-pruned (.get (_pruned) digest))
    (raise (NoOutput
             (if when-pruned
               (+ f"the output {digest} was pruned at {when-pruned}; make the call that gave it again"
                  " (output-retention-days and output-retention-bytes say what is kept)")
               f"there is no output {digest} on this machine; make the call that gave it again"))))
  target)

(defn total []
  "Return {\"files\" \"bytes\"} of what is stored."
  (setv rows (_stored))
  {"files" (len rows) "bytes" (sum (gfor [_ size _] rows size))})

;; * Pruning

(defn prune [[keep None]]
  "Remove outputs beyond the settings' age and size, the oldest first, but never the digest KEEP; return the digests removed."
  (setv now (time.time)
        oldest (- now (* 86400 (settings.value "output-retention-days")))
        room (settings.value "output-retention-bytes")
        gone [])
  (for [[digest size changed] (sorted (_stored) :key (fn [row] (- (get row 2))))]
    (-= room size)
    (when (and (!= digest keep) (or (< changed oldest) (< room 0)))
      (try (os.unlink (os.path.join (folder) digest)) (except [FileNotFoundError] None))
      (.append gone digest)))
  (_remove-leftovers (- now 86400))
  (when gone
    (_remember gone))
  gone)

(defn _prune-sometimes [keep]
  "Prune, but for the digest KEEP, if the last time is long ago; what prevents it is no reason to fail."
  (setv now (time.time))
  (when (> (- now (get _last-prune "time")) prune-every)
    (setv (get _last-prune "time") now)
    (try
      (prune keep)
      (except [[OSError conditions.AutolithError]] None))))

(defn _stored []
  "Return [#(digest size time) ..] of the stored outputs."
  (setv rows [])
  (try
    (with [entries (os.scandir (folder))]
      (for [entry entries :if (.fullmatch DIGEST entry.name)]
        (try
          (setv info (.stat entry :follow-symlinks False))
          (.append rows #(entry.name info.st-size info.st-mtime))
          (except [FileNotFoundError] None))))
    (except [FileNotFoundError] None))
  rows)

(defn _remove-leftovers [before]
  "Remove what writers that died BEFORE that time left behind."
  (with [entries (os.scandir (paths.ensure-folder (folder)))]
    (for [entry entries :if (.endswith entry.name ".tmp")]
      (try
        (when (< (. (.stat entry :follow-symlinks False) st-mtime) before)
          (os.unlink entry.path))
        (except [FileNotFoundError] None)))))

(defn _pruned []
  "Return {digest time} of what was pruned."
  (dict (snapshot.read (os.path.join (folder) "pruned.hy") [])))

(defn _remember [digests]
  "Note that DIGESTS are pruned now."
  (setv stamp (time.strftime "%Y-%m-%dT%H:%M:%SZ" (time.gmtime)))
  (defn noted [known]
    (setv others (lfor row known :if (not-in (get row 0) digests) row))
    (cut (+ others (lfor d digests [d stamp])) (- remembered) None))
  (snapshot.update (os.path.join (folder) "pruned.hy") [] noted))
