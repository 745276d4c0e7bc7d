"Write to the disk so that nothing is lost, and say plainly when that failed.

Every failure is a StorageError with the path, what happened, and the way out. A lock is a Lock: `(lock PATH)` gives one or
raises Busy; where the file system has no kernel locks, a file PATH.holder that names the process stands in."

(import
  errno
  fcntl
  os
  time
  autolith.base [conditions])

(setv NO-LOCKS #{errno.ENOLCK errno.EOPNOTSUPP errno.ENOTSUP errno.ENOSYS errno.EINVAL}
      NO-SPACE #{errno.ENOSPC errno.EDQUOT errno.EFBIG}
      _sync-data (getattr os "fdatasync" os.fsync))

(defclass StorageError [conditions.AutolithError]
  "The file PATH could not be kept as it has to be."
  (defn __init__ [self path reason [restarts #()]]
    (.__init__ (super) f"{path}: {reason}" restarts)
    (setv self.path path  self.reason reason)))

(defclass Busy [StorageError]
  "Another process has the file.")

(defclass Lost [StorageError]
  "The file was deleted, replaced, cut or closed to us while it was open.")

(defclass Full [StorageError]
  "There is no room for what was to be written; nothing of it was kept.")

(defn failure [path error]
  "Return the StorageError that says what the OSError ERROR about PATH means."
  (if (in error.errno NO-SPACE)
    (Full path f"no room left ({error.strerror}); free some space and repeat")
    (StorageError path (or error.strerror (str error)))))

(defn write-all [descriptor data path]
  "Write the bytes DATA to DESCRIPTOR whole; raise the failure about PATH otherwise. A part may have been written."
  (setv view (memoryview data))
  (while view
    (try
      (setv count (os.write descriptor view))
      (except [e OSError]
        (raise (failure path e) :from e)))
    (setv view (cut view count None))))

(defn sync [descriptor path]
  "Wait until what was written to DESCRIPTOR, the file PATH, is on the disk."
  (try
    (_sync-data descriptor)
    (except [e OSError]
      (when (not-in e.errno #(errno.EINVAL errno.ENOTSUP))
        (raise (failure path e) :from e)))))

(defn sync-folder [folder]
  "Wait until the names in FOLDER are on the disk; where folders cannot be synced, go on."
  (try
    (setv descriptor (os.open (or folder ".") (| os.O-RDONLY (getattr os "O_DIRECTORY" 0) os.O-CLOEXEC)))
    (except [OSError]
      (return)))
  (try
    (os.fsync descriptor)
    (except [OSError])
    (finally (os.close descriptor))))


;; * Locks

(defn _here []
  "Return the name of this machine."
  (. (os.uname) nodename))

(defn born [pid]
  "Return what tells the process PID from a later one with its number, where the system says; else an empty string."
  (try
    (with [f (open f"/proc/{pid}/stat" "rb")]
      (.decode (get (.split (get (.rpartition (.read f) b")") 2)) 19)))
    (except [[OSError IndexError]] "")))

(defn holder-of [path]
  "Return #(pid host) of the process whose holder file stands in for a lock on PATH, if it may still live, else None.
One on another machine may."
  (try
    (with [f (open (+ path ".holder") :encoding "utf-8")]
      (setv [pid host #* birth] (.split (.read f))
            pid (int pid)))
    (except [[OSError ValueError]] (return None)))
  (when (or (!= host (_here)) (_alive? pid birth))
    #(pid host)))

(defn _alive? [pid birth]
  "Tell whether the process PID is there, and is the one of BIRTH, a list of at most one text."
  (try
    (os.kill pid 0)
    (except [PermissionError])
    (except [[OSError OverflowError]] (return False)))
  (or (not birth) (= (get birth 0) (born pid))))

(defn _hold [path]
  "Make the holder file of PATH; raise Busy if a process that may live has it. Return its name."
  (setv name (+ path ".holder"))
  (for [_ (range 3)]
    (try
      (setv descriptor (os.open name (| os.O-WRONLY os.O-CREAT os.O-EXCL os.O-CLOEXEC) 0o600))
      (try
        (write-all descriptor (.encode f"{(os.getpid)} {(_here)} {(born (os.getpid))}") name)
        (finally (os.close descriptor)))
      (return name)
      (except [FileExistsError]
        (setv holder (holder-of path))
        (when holder
          (setv [pid host] holder)
          (raise (Busy path f"is in use by process {pid} on {host}; if that is gone, delete {name}")))
        (try (os.unlink name) (except [FileNotFoundError])))
      (except [e OSError]
        (raise (failure name e) :from e))))
  (raise (Busy path "is in use by another process")))

(defn claim [descriptor path]
  "Lock the open file DESCRIPTOR, which is PATH, for this process, or raise Busy.
Return None, or the holder file's name where the file system has no kernel locks."
  (try
    (fcntl.flock descriptor (| fcntl.LOCK-EX fcntl.LOCK-NB))
    None
    (except [BlockingIOError]
      (raise (Busy path "is open in another process; close it there, or work on another one") :from None))
    (except [e OSError]
      (when (not-in e.errno NO-LOCKS)
        (raise (failure path e) :from e))
      (_hold path))))

(defclass Lock []
  "The right to change what the lock file PATH stands for. `warning` is None, or says that no kernel lock was to be had."
  (defn __init__ [self path]
    (try
      (setv self.descriptor (os.open path (| os.O-RDWR os.O-CREAT os.O-CLOEXEC) 0o600))
      (except [e OSError]
        (raise (failure path e) :from e)))
    (setv self.path path  self.holder None)
    (try
      (setv self.holder (claim self.descriptor path))
      (except [StorageError]
        (os.close self.descriptor)
        (raise)))
    (setv self.warning (no-lock-warning path self.holder)))

  (defn release [self]
    "Give the right back; a second time does nothing."
    (when (is-not self.descriptor None)
      (setv descriptor self.descriptor  self.descriptor None)
      (drop self.holder)
      (os.close descriptor)))

  (defn __enter__ [self] self)
  (defn __exit__ [self #* _] (.release self)))

(defn no-lock-warning [path holder]
  "Return the sentence about PATH when it is only locked by the file HOLDER; None when HOLDER is None."
  (when holder
    f"{path}: this file system has no locks; {holder} stands in for one, so do not use it from another machine"))

(defn drop [holder]
  "Remove the holder file HOLDER, if there is one."
  (when holder
    (try (os.unlink holder) (except [FileNotFoundError]))))

(defn lock [path [patience 0]]
  "Return the Lock on the lock file PATH, trying for PATIENCE seconds; then raise Busy."
  (setv end (+ (time.monotonic) patience))
  (while True
    (try
      (return (Lock path))
      (except [Busy]
        (when (>= (time.monotonic) end)
          (raise))))
    (time.sleep 0.01)))
