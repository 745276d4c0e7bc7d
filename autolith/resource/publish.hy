"Put new contents in the place of old ones: all of them or none, only over what was expected, with nothing else lost.

A change is {\"path\" a real path \"expected\" the digest of its content, None for no file \"data\" bytes}. A stage is a change
on its way: also \"way\" create, replace or in-place \"spare\" a sibling file (first the new content, after an exchange the old)
\"old\" bytes of an in-place change \"made\" folders \"info\" the stat before \"done\" True once it is published, \"partly\" while
it is written in place \"keep\" True if the spare file must stay \"notes\" sentences for the reader."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  contextlib [contextmanager]
  errno
  os
  secrets
  stat
  threading
  autolith.base [conditions disk paths]
  autolith.resource [exchange snapshot])

(defparameter patience 10 "The seconds to wait for another process that is just changing files.")
(defonce _lock (threading.RLock) "Held while files of the workspace are changed by this process.")

(defclass Conflict [conditions.AutolithError]
  "The file PATH is no longer what was expected."
  (defn __init__ [self path reason]
    (.__init__ (super) f"{path}: {reason}")
    (setv self.path path)))

(defclass Failed [conditions.AutolithError]
  "A change could not be published; `states` says how each file was left, {path sentence}."
  (defn __init__ [self message states]
    (.__init__ (super) message)
    (setv self.states states)))

;; * The lock

(defn [contextmanager] exclusively []
  "Hold the right to change the workspace, among the threads of this process and among the user's processes."
  (with [_lock]
    (with [(_process-lock)]
      (yield))))

(defn [contextmanager] _process-lock []
  "Hold the lock file of all our processes; where it cannot even be made, the comparisons have to do."
  (setv lock None)
  (try
    (setv lock (disk.lock (os.path.join (paths.ensure-folder (paths.state "leases")) "workspace.lock") patience))
    (except [e disk.Busy]
      (raise (Failed (+ "another process is changing files of the workspace and does not finish;"
                        f" nothing was changed ({e.message}). End it, or repeat") {}) :from e))
    (except [disk.StorageError] None))
  (try
    (yield)
    (finally (when lock (.release lock)))))

;; * All or nothing

(defn publish [changes]
  "Publish CHANGES, or none of them; return the stages. The caller holds `exclusively`.
Whatever goes wrong, what was published is taken back first; an unexpected error is then raised as it came."
  (setv stages [])
  (try
    (for [change changes]
      (.append stages (stage change)))
    (for [s stages]
      (commit s))
    (except [e BaseException]
      (setv error e
            states (dfor s (reversed stages) (get s "path") (undo s)))
      (_clean stages)
      (when (not (isinstance error #(OSError conditions.AutolithError snapshot.Unreadable)))
        (raise))
      (raise (_failure error states) :from error)))
  (_clean stages)
  stages)

(defn _failure [error states]
  "Return the condition that ERROR is, STATES saying how the files were left."
  (setv touched (dfor [path state] (.items states) :if state path state)
        text (_reason error))
  (if (not touched)
    (if (isinstance error Conflict) error (Failed f"{text}. Nothing was changed" states))
    (Failed (+ f"{text}. " (.join " " (gfor [path state] (.items touched) f"{path}: {state}."))) states)))

(defn _reason [error]
  "Return what ERROR says, for people."
  (if (isinstance error OSError)
    (+ (os.fsdecode (or error.filename "a file")) ": " (or error.strerror (str error)))
    (str error)))

(defn _clean [stages]
  "Remove the spare files of STAGES that need not stay, and the folders of those that came to nothing."
  (for [s (reversed stages)]
    (when (and (get s "spare") (not (get s "keep")))
      (_remove (get s "spare")))
    (when (not (get s "done"))
      (_remove-folders (get s "made")))))

(defn _remove [path]
  "Remove the file PATH if it is there."
  (try (os.unlink path) (except [OSError] None)))

(defn _remove-folders [folders]
  "Remove FOLDERS, the innermost last, as far as they are empty."
  (for [folder (reversed folders)]
    (try (os.rmdir folder) (except [OSError] (break)))))

;; * Staging

(defn stage [change]
  "Return the stage of CHANGE: its new content written beside the target, with the target's mode, owner and attributes."
  (setv s {#** change
           "way" "replace" "spare" None "old" None "made" [] "info" None "done" False "keep" False "notes" []})
  (try
    (if (is (get s "expected") None) (_stage-new s) (_stage-old s))
    (except [BaseException]
      (_clean [s])
      (raise)))
  s)

(defn _stage-new [s]
  "Prepare the new file of the stage S, and the folders it needs; mode and group are the system's choice."
  (setv (get s "way") "create")
  (_make-folders s (os.path.dirname (get s "path")))
  (_write-spare s (get s "data") 0o666))

(defn _make-folders [s folder]
  "Make FOLDER and those above it where they are missing, and note them in the stage S."
  (when (not (os.path.isdir folder))
    (_make-folders s (os.path.dirname folder))
    (os.mkdir folder)
    (.append (get s "made") folder)))

(defn _stage-old [s]
  "Prepare the replacement of the file of the stage S; where a new file could not be like it, it is written in place."
  (setv info (os.stat (get s "path") :follow-symlinks False)
        (get s "info") info)
  (when (not (stat.S-ISREG info.st-mode))
    (raise (Conflict (get s "path") "it is no regular file any more")))
  (when (not (os.access (get s "path") os.W-OK))
    (raise (Failed f"{(get s "path")}: you have no right to write it; give it one (chmod u+w), if that is wanted" {})))
  (if (> info.st-nlink 1)
    (_stage-in-place s f"written in place, so that its {info.st-nlink} hard links stay one file")
    (try
      (_write-spare s (get s "data") 0o600)
      (_take-after s info)
      (except [e PermissionError]
        (when (get s "spare") (_remove (get s "spare")))
        (setv (get s "spare") None)
        (_stage-in-place s "written in place, so that its owner and its folder stay as they are")))))

(defn _stage-in-place [s note]
  "Prepare to write into the file of the stage S itself, with its old content kept beside it if possible; NOTE says why."
  (setv (get s "way") "in-place"
        (get s "old") (snapshot.read-bytes (get s "path") snapshot.edit-size))
  (.append (get s "notes") note)
  (try
    (_write-spare s (get s "old") 0o600)
    (except [PermissionError] None)))

(defn _write-spare [s data mode]
  "Write DATA to a new file of MODE beside the target of the stage S."
  (setv spare (os.path.join (os.path.dirname (get s "path")) f".autolith-{(secrets.token-hex 8)}.tmp")
        handle (os.open spare (| os.O-WRONLY os.O-CREAT os.O-EXCL os.O-CLOEXEC os.O-NOFOLLOW) mode))
  (setv (get s "spare") spare)
  (try
    (disk.write-all handle data (get s "path"))
    (disk.sync handle (get s "path"))
    (finally (os.close handle))))

(defn _take-after [s info]
  "Give the spare file of the stage S the owner, attributes and mode of its target, whose stat is INFO."
  (setv spare (get s "spare") now (os.stat spare))
  (when (!= #(now.st-uid now.st-gid) #(info.st-uid info.st-gid))
    (os.chown spare info.st-uid info.st-gid))
  (_copy-attributes s (get s "path") spare)
  (os.chmod spare (stat.S-IMODE info.st-mode)))

(defn _copy-attributes [s path spare]
  "Copy the extended attributes of PATH to SPARE; note in the stage S those that could not be kept."
  (when (not (hasattr os "listxattr"))
    (return))
  (for [name (try (os.listxattr path) (except [OSError] []))]
    (try
      (setv value (os.getxattr path name))
      (when (!= value (_attribute spare name))
        (os.setxattr spare name value))
      (except [e OSError]
        (.append (get s "notes") f"the extended attribute {name} could not be kept ({e.strerror})")))))

(defn _attribute [path name]
  "Return the extended attribute NAME of PATH, or None."
  (try (os.getxattr path name) (except [OSError] None)))

;; * Committing

(defn commit [s]
  "Publish the stage S if its target is still as expected, and check that it was."
  (match (get s "way")
    "create" (_create s)
    "replace" (_replace s)
    "in-place" (_write-in-place s))
  (verify s))

(defn holds? [path digest]
  "Tell whether the regular file PATH has the content of DIGEST."
  (try
    (with [f (snapshot.opened path)]
      (= (get (snapshot.scan-file f (os.fstat (.fileno f))) "digest") digest))
    (except [[OSError snapshot.Unreadable]] False)))

(defn verify [s]
  "Check that the target of the stage S now has exactly its new content."
  (when (not (holds? (get s "path") (snapshot.digest-of (get s "data"))))
    (raise (Conflict (get s "path") "right after the change somebody else changed it; what they wrote was left"))))

(defn _create [s]
  "Give the new file of the stage S its name, unless something has it by now."
  (setv [spare path] [(get s "spare") (get s "path")])
  (try
    (when (not (_link-new spare path))
      (raise (Failed f"{path}: this file system can neither link nor rename without replacing" {})))
    (except [FileExistsError]
      (raise (Conflict path "it did not exist, and now something of that name does") :from None)))
  (setv (get s "done") True))

(defn _link-new [spare path]
  "Make PATH name the file SPARE, unless there is a PATH; tell whether the file system could."
  (try
    (os.link spare path)
    True
    (except [FileExistsError] (raise))
    (except [e OSError]
      (when (not-in e.errno exchange.UNABLE) (raise))
      (exchange.move-new spare path))))

(defn _replace [s]
  "Put the new file of the stage S in the place of its target, having looked twice that it is the expected one."
  (compare s)
  (displace s)
  (setv (get s "done") True)
  (when (not (holds? (get s "spare") (get s "expected")))
    (_put-back s)
    (raise (Conflict (get s "path") "it was changed while the change was being published; that content was kept"))))

(defn compare [s]
  "Raise a conflict unless the target of the stage S still has the expected content."
  (when (not (holds? (get s "path") (get s "expected")))
    (raise (Conflict (get s "path") "it has changed since it was read"))))

(defn displace [s]
  "Swap the new file of the stage S with its target; afterwards the spare name holds what was the target."
  (when (not (exchange.swap (get s "spare") (get s "path")))
    (setv second (+ (get s "spare") ".old"))
    (os.link (get s "path") second)
    (os.replace (get s "spare") (get s "path"))
    (os.rename second (get s "spare"))))

(defn _put-back [s]
  "Give the target of the stage S what was displaced."
  (when (not (exchange.swap (get s "spare") (get s "path")))
    (os.replace (get s "spare") (get s "path")))
  (setv (get s "done") False))

(defn _write-in-place [s]
  "Write the new content of the stage S into its target."
  (compare s)
  (setv (get s "done") "partly")
  (overwrite (get s "path") (get s "data") (get s "info"))
  (setv (get s "done") True))

(defn overwrite [path data info]
  "Make DATA the content of the file PATH without replacing it; INFO is its stat, whose mode it keeps."
  (setv handle (os.open path (| os.O-RDWR os.O-CLOEXEC os.O-NOFOLLOW os.O-NONBLOCK)))
  (try
    (_reserve handle (len data) info.st-size)
    (disk.write-all handle data path)
    (os.ftruncate handle (len data))
    (disk.sync handle path)
    (when (!= (stat.S-IMODE (. (os.fstat handle) st-mode)) (stat.S-IMODE info.st-mode))
      (os.fchmod handle (stat.S-IMODE info.st-mode)))
    (finally (os.close handle))))

(defn _reserve [handle size before]
  "Make room for SIZE bytes in the open file HANDLE of BEFORE bytes, so that a full disk is noticed before anything is lost."
  (when (and (> size before) (hasattr os "posix_fallocate"))
    (try
      (os.posix-fallocate handle before (- size before))
      (except [e OSError]
        (when (in e.errno disk.NO-SPACE)
          (os.ftruncate handle before)
          (raise))))))

;; * Undoing

(defn undo [s]
  "Take back what the stage S has published; return a sentence on how its file was left, None if it never was touched."
  (when (not (get s "done"))
    (return None))
  (try
    (if (or (= (get s "done") "partly") (holds? (get s "path") (snapshot.digest-of (get s "data"))))
      (_undo-own s)
      (_leave s "somebody else changed it after it was written, and that was left"))
    (except [e [OSError conditions.AutolithError]]
      (_leave s f"it has its new content, which could not be taken back ({(_reason e)})"))))

(defn _undo-own [s]
  "Take back the stage S, whose target has the content that it wrote."
  (match (get s "way")
    "create" (do (os.unlink (get s "path")) (_remove-folders (get s "made")))
    "replace" (_put-back s)
    "in-place" (overwrite (get s "path") (get s "old") (get s "info")))
  (setv (get s "done") False)
  "it was put back as it was")

(defn _leave [s sentence]
  "Keep the old content of the stage S beside its target; return SENTENCE with where that is."
  (when (or (= (get s "way") "create") (not (get s "spare")))
    (return sentence))
  (setv (get s "keep") True)
  f"{sentence}; the content before is kept in {(get s "spare")}")
