"The disk: failures are named with their path, and locks keep everybody else out."

(import
  errno fcntl os threading time
  pytest
  autolith.base [conditions disk])

(defn [pytest.fixture] path [tmp-path]
  "The path of a lock file that is not there yet."
  (str (/ tmp-path "x.lock")))

(defn descriptors []
  "Return how many files this process has open."
  (len (os.listdir "/dev/fd")))

(defn test-a-failure-knows-its-path-and-kind []
  "No room becomes Full, anything else a StorageError; both are expected failures that name the path."
  (for [[code kind] [#(errno.ENOSPC disk.Full) #(errno.EDQUOT disk.Full) #(errno.EFBIG disk.Full) #(errno.EIO disk.StorageError)]]
    (setv found (disk.failure "/some/file" (OSError code (os.strerror code))))
    (assert (is (type found) kind))
    (assert (isinstance found conditions.AutolithError))
    (assert (in "/some/file" (str found)))
    (assert (= found.path "/some/file"))))

(defn test-what-cannot-be-synced-goes-on-and-what-fails-is-told [monkeypatch tmp-path]
  "A pipe, which has no disk, is no failure; a disk that fails is; a folder that is not there is none."
  (setv [r w] (os.pipe))
  (disk.sync w "pipe")
  (os.close r)
  (os.close w)
  (disk.sync-folder (str (/ tmp-path "missing")))
  (disk.sync-folder (str tmp-path))
  (defn fail [descriptor] (raise (OSError errno.EIO "input/output error")))
  (monkeypatch.setattr disk "_sync_data" fail)
  (with [(pytest.raises disk.StorageError)] (disk.sync 1 "file")))

(defn test-a-lock-keeps-others-out [path]
  "A lock is had once; released, also by leaving its block or twice, it is free; its file stays private."
  (with [mine (disk.lock path)]
    (assert (is mine.warning None))
    (assert (= (& (. (os.stat path) st-mode) 0o777) 0o600))
    (with [(pytest.raises disk.Busy)] (disk.lock path)))
  (setv again (disk.lock path))
  (.release again)
  (.release again)
  (with [_ (disk.lock path)] (assert (os.path.exists path))))

(defn test-patience [path]
  "A lock that becomes free within the patience is had."
  (setv mine (disk.lock path)
        timer (threading.Timer 0.05 mine.release))
  (.start timer)
  (with [other (disk.lock path 20)] (assert (is-not other.descriptor None)))
  (.join timer))

(defn test-a-failed-lock-leaves-nothing-open [path monkeypatch]
  "When the lock is refused or fails, the file is closed again; a folder that is missing is named."
  (setv mine (disk.lock path)
        before (descriptors))
  (with [(pytest.raises disk.Busy)] (disk.lock path))
  (.release mine)
  (defn fail [descriptor operation] (raise (OSError errno.EIO "input/output error")))
  (monkeypatch.setattr fcntl "flock" fail)
  (with [e (pytest.raises disk.StorageError)] (disk.lock path))
  (assert (not (isinstance e.value disk.Busy)))
  (assert (= (descriptors) (- before 1)))
  (with [e (pytest.raises disk.StorageError)] (disk.lock "/no/such/folder/x.lock"))
  (assert (in "/no/such/folder/x.lock" (str e.value))))

(defn test-a-lock-without-kernel-locks [path monkeypatch]
  "Where there are no kernel locks, a holder file keeps others out, with a warning, and is gone afterwards."
  (defn refuse [descriptor operation] (raise (OSError errno.ENOLCK "no locks available")))
  (monkeypatch.setattr fcntl "flock" refuse)
  (with [mine (disk.lock path)]
    (assert (in path mine.warning))
    (with [e (pytest.raises disk.Busy)] (disk.lock path))
    (assert (in (str (os.getpid)) (str e.value))))
  (assert (= (os.listdir (os.path.dirname path)) ["x.lock"])))
