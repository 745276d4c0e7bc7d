"Say which process has a conversation open, so that two never write the same one.

A lease is a kernel lock on state/leases/<id>.lock; it ends with its process, however that ends. The file holds one form about
the holder, {:pid int :host str :started str :born str}, for the message that refuses the second process. Where the file
system knows no locks, the file <id>.holder, made exclusively, stands in; it is stale when its process is gone."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  errno
  fcntl
  os
  socket
  autolith.base [conditions disk forms paths]
  autolith.state [stamp])

(defparameter taken-codes #(errno.EAGAIN errno.EACCES)
  "Error numbers that mean: somebody else has the lock.")
(defparameter unsupported-codes #(errno.ENOLCK errno.EOPNOTSUPP errno.ENOTSUP errno.ENOSYS errno.EINVAL)
  "Error numbers that mean: there are no locks here.")

(defclass InUse [conditions.AutolithError]
  "The conversation ID is open in the process that HOLDER, a map or None, describes."
  (defn __init__ [self id holder]
    (setv holder (or holder {})
          who f"process {(.get holder "pid" "unknown")} on {(.get holder "host" "an unknown host")}")
    (.__init__ (super)
      (+ f"conversation {id} is in use by {who}; leave it there first, "
         "or start a new conversation (autolith), or resume another (autolith conversations)"))
    (setv self.id id
          self.holder holder)))

(defclass Lease []
  "A lease that this process holds: on PATH, by the open file FD, or without a lock when FD is None."
  (defn __init__ [self id path [fd None] [warning None]]
    (setv self.id id
          self.path path
          self.fd fd
          self.warning warning)))

(defn folder []
  "Return the folder of the leases."
  (paths.state "leases"))

(defn _lock-path [id]
  "Return the lock file of the conversation ID."
  (os.path.join (folder) f"{id}.lock"))

(defn _holder-path [id]
  "Return the file that stands in for a lock of the conversation ID."
  (os.path.join (folder) f"{id}.holder"))

;; * Taking and leaving

(defn take [id]
  "Take the lease of the conversation ID and return it; raise InUse when another process, or this one, has it."
  (paths.ensure-folder (folder))
  (setv path (_lock-path id))
  (while True
    (try
      (setv fd (os.open path (| os.O-RDWR os.O-CREAT os.O-CLOEXEC) 0o600))
      (except [e OSError]
        (raise (disk.failure path e) :from e)))
    (setv problem (_try-lock fd))
    (cond
      (in problem taken-codes) (_refuse id fd)
      (is-not problem None) (do (os.close fd)
                                (os.unlink path)
                                (return (_take-without-lock id problem)))
      (_same-file? fd path) (do (_sign fd)
                                (return (Lease id path :fd fd))))
    (os.close fd)))                     ; its former holder removed it meanwhile

(defn release [lease]
  "Give LEASE back; giving it back twice does no harm."
  (setv path lease.path
        fd lease.fd
        lease.path None
        lease.fd None)
  (when path
    (try
      (os.unlink path)
      (except [OSError])))
  (when (is-not fd None)
    (os.close fd))
  None)

(defn _try-lock [fd]
  "Lock FD exclusively; return None, or the error number of what prevents it."
  (try
    (fcntl.flock fd (| fcntl.LOCK-EX fcntl.LOCK-NB))
    (except [e OSError]
      (when (not-in e.errno (+ taken-codes unsupported-codes))
        (os.close fd)
        (raise))
      e.errno)))

(defn _refuse [id fd]
  "Close FD, the locked file of somebody else, and raise InUse for the conversation ID."
  (setv holder (_parse (os.pread fd 4096 0)))
  (os.close fd)
  (raise (InUse id holder)))

(defn _same-file? [fd path]
  "Tell whether PATH still names the open file FD."
  (try
    (os.path.samestat (os.fstat fd) (os.stat path))
    (except [FileNotFoundError] False)))

(defn _sign [fd]
  "Write into FD who holds it."
  (os.ftruncate fd 0)
  (os.pwrite fd (_signature) 0))

(defn _signature []
  "Return the line that names this process."
  (.encode (+ (forms.write {"pid" (os.getpid) "host" (socket.gethostname)
                            "started" (stamp.now) "born" (_born (os.getpid))}) "\n")))

(defn _parse [data]
  "Return the holder that the bytes DATA describe, or None."
  (try
    (setv value (forms.read-one (.decode data)))
    (if (isinstance value dict) value None)
    (except [ValueError] None)))

(defn _born [pid]
  "Return what tells the process PID from a later one with its number, where the system says; else an empty string."
  (try
    (with [f (open f"/proc/{pid}/stat" "rb")]
      (setv fields (.split (get (.rpartition (.read f) b")") 2))))
    (.decode (get fields 19))
    (except [[OSError IndexError]] "")))

;; * Without locks

(defn _take-without-lock [id code]
  "Take the lease of the conversation ID by making a file, because locks fail with the error number CODE."
  (setv path (_holder-path id))
  (when (os.path.exists path)
    (setv holder (_read-holder path))
    (when (_alive? holder)
      (raise (InUse id holder)))
    (os.unlink path))
  (try
    (setv fd (os.open path (| os.O-WRONLY os.O-CREAT os.O-EXCL os.O-CLOEXEC) 0o600))
    (except [FileExistsError]
      (raise (InUse id (_read-holder path)))))
  (try
    (os.write fd (_signature))
    (finally (os.close fd)))
  (Lease id path
         :warning (+ f"the file system of {(folder)} has no locks ({(os.strerror code)}); a plain file guards this "
                     "conversation instead, so do not open it from two machines at once")))

(defn _read-holder [path]
  "Return the holder that the file PATH describes, or None."
  (try
    (with [f (open path "rb")]
      (_parse (.read f 4096)))
    (except [OSError] None)))

(defn _alive? [holder]
  "Tell whether the process that HOLDER describes may still run; one on another machine counts as running."
  (cond
    (is holder None) False
    (!= (.get holder "host") (socket.gethostname)) True
    True (and (_exists? (.get holder "pid"))
              (= (.get holder "born") (_born (.get holder "pid"))))))

(defn _exists? [pid]
  "Tell whether there is a process PID."
  (try
    (os.kill pid 0)
    True
    (except [PermissionError] True)
    (except [[OSError TypeError]] False)))

;; * Asking

(defn held []
  "Return the set of the conversations that some process has open now."
  (sfor name (_names)
        :setv [id kind] (os.path.splitext name)
        :if (_held? id kind)
        id))

(defn _names []
  "Return the names of the files among the leases."
  (try
    (os.listdir (folder))
    (except [OSError] [])))

(defn _held? [id kind]
  "Tell whether the file of KIND, .lock or .holder, for the conversation ID has a living holder."
  (match kind
    ".lock" (_locked? (_lock-path id))
    ".holder" (_alive? (_read-holder (_holder-path id)))
    _ False))

(defn _locked? [path]
  "Tell whether the file PATH is locked."
  (try
    (setv fd (os.open path (| os.O-RDONLY os.O-CLOEXEC)))
    (except [OSError] (return False)))
  (try
    (fcntl.flock fd (| fcntl.LOCK-SH fcntl.LOCK-NB))
    False
    (except [e OSError] (in e.errno taken-codes))
    (finally (os.close fd))))
