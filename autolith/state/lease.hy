"Say which process has a conversation open, so that two never write the same one.

A lease is a lock (base/disk) on state/leases/<id>.lock; it ends with its process, however that ends. The file holds one form
about the holder, {:pid int :host str :started str}, for the message that refuses the second process. Where no lease can be
had, because its folder is full or closed to us, the conversation goes on without one, and `warning` says why; the lock of
its log still keeps two writers apart."

(import
  fcntl
  os
  autolith.base [conditions disk forms paths]
  autolith.state [stamp])

(setv SUFFIX ".lock"
      STAND-IN ".lock.holder")

(defclass InUse [conditions.AutolithError]
  "The conversation ID is open in the process that HOLDER, a map or None, describes."
  (defn __init__ [self id holder]
    (setv who (if holder
                f"process {(.get holder "pid" "unknown")} on {(.get holder "host" "an unknown host")}"
                "a process that could not write its name"))
    (.__init__ (super)
      (+ f"conversation {id} is in use by {who}; leave it there first, "
         "or start a new conversation (autolith), or resume another (autolith conversations)"))
    (setv self.id id
          self.holder (or holder {}))))

(defclass Lease []
  "A lease on the conversation ID: LOCK the lock that this process holds, None without one; WARNING a sentence or None."
  (defn __init__ [self id [lock None] [warning None]]
    (setv self.id id
          self.lock lock
          self.warning warning)))

(defn folder []
  "Return the folder of the leases."
  (paths.state "leases"))

(defn _path [id]
  "Return the lock file of the conversation ID."
  (os.path.join (folder) (+ id SUFFIX)))

;; * Taking and leaving

(defn take [id]
  "Take the lease of the conversation ID and return it; raise InUse when another process, or this one, has it."
  (setv path (_path id))
  (try
    (paths.ensure-folder (folder))
    (setv lock (_lock path))
    (except [disk.Busy]
      (raise (InUse id (_holder path)) :from None))
    (except [e disk.StorageError]
      (return (Lease id :warning (_no-lease path e)))))
  (Lease id lock (or lock.warning (_sign lock))))

(defn _lock [path]
  "Return the lock on the file PATH; a former holder may remove that file meanwhile."
  (while True
    (setv lock (disk.lock path))
    (when (or lock.holder (_same-file? lock.descriptor path))
      (return lock))
    (.release lock)))

(defn _no-lease [path error]
  "Return the sentence that says that ERROR keeps this process from a lease at PATH."
  (+ f"the lease {path} of this conversation cannot be written ({(if (= error.path path) error.reason error)}); it goes on "
     "without one, so do not open it in a second process"))

(defn release [lease]
  "Give LEASE back; giving it back twice does no harm."
  (setv lock lease.lock
        lease.lock None)
  (when lock
    (try
      (os.unlink lock.path)
      (except [OSError]))
    (.release lock))
  None)

(defn _same-file? [fd path]
  "Tell whether PATH still names the open file FD."
  (try
    (os.path.samestat (os.fstat fd) (os.stat path))
    (except [FileNotFoundError] False)))

(defn _sign [lock]
  "Write into the file of LOCK who holds it; where that fails, which costs the name only, return a warning."
  (setv line (forms.write {"pid" (os.getpid) "host" (. (os.uname) nodename) "started" (stamp.now)}))
  (try
    (os.ftruncate lock.descriptor 0)
    (os.pwrite lock.descriptor (.encode (+ line "\n")) 0)
    None
    (except [e OSError]
      (+ f"{lock.path}: cannot write who has this conversation open ({e.strerror}); it is locked all the same, but another "
         "process will not be told by whom"))))

(defn _holder [path]
  "Return the holder that the lock file PATH, or the file that stands in for its lock, describes, or None."
  (try
    (with [f (open path "rb")]
      (setv value (forms.read-one (.decode (.read f 4096)))))
    (except [[OSError ValueError]]
      (setv value None)))
  (setv other (disk.holder-of path))
  (cond
    (isinstance value dict) value
    other {"pid" (get other 0) "host" (get other 1)}
    True None))

;; * Asking

(defn held []
  "Return the set of the conversations that some process has open now."
  (sfor name (_names)
        :setv id (.removesuffix (.removesuffix name STAND-IN) SUFFIX)
        :if (and (.endswith name #(SUFFIX STAND-IN)) (_held? (_path id)))
        id))

(defn _names []
  "Return the names of the files among the leases."
  (try
    (os.listdir (folder))
    (except [OSError] [])))

(defn _held? [path]
  "Tell whether the lock file PATH is locked, or a living process stands in for its lock."
  (or (is-not (disk.holder-of path) None) (_locked? path)))

(defn _locked? [path]
  "Tell whether the file PATH is locked."
  (try
    (setv fd (os.open path (| os.O-RDONLY os.O-CLOEXEC)))
    (except [OSError] (return False)))
  (try
    (fcntl.flock fd (| fcntl.LOCK-SH fcntl.LOCK-NB))
    False
    (except [e OSError] (isinstance e BlockingIOError))
    (finally (os.close fd))))
