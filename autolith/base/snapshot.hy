"Keep one value in one file: replaced whole, private to its owner, readable by people.

`read` gives the value or, where the file is missing or damaged, a default; `write` replaces it in one step; `update` reads,
changes and writes while no other process can. Before a damaged file is replaced, it is kept as PATH.damaged."

(import
  os
  warnings
  autolith.base [disk forms])

(setv PATIENCE 5)                                        ; seconds that a writer waits for another

(defn _load [path]
  "Return the value in the file PATH. Raises OSError, or ValueError when it is damaged."
  (with [f (open path "rb")]
    (setv data (.read f)))
  (forms.read-one (.decode data "utf-8-sig")))

(defn _report [faults text]
  "Append TEXT to the list FAULTS; without one, warn."
  (if (is faults None)
    (warnings.warn text :stacklevel 4)
    (.append faults text)))

(defn read [path [default None] * [faults None]]
  "Return the value in the file PATH, or DEFAULT if there is none.
A file that cannot be read gives DEFAULT as well, and a sentence: appended to the list FAULTS, or else a warning."
  (try
    (_load path)
    (except [FileNotFoundError]
      default)
    (except [e OSError]
      (_report faults f"{path}: {e.strerror}; using what is set without it")
      default)
    (except [e ValueError]
      (_report faults f"{path}: {e}; using what is set without it")
      default)))

(defn _keep-damaged [path]
  "If the file PATH is there and damaged, keep a copy of it as PATH.damaged, or .damaged.2 and so on."
  (try
    (_load path)
    (except [OSError])
    (except [ValueError]
      (setv n 1  aside (+ path ".damaged"))
      (while (os.path.lexists aside)
        (+= n 1)
        (setv aside f"{path}.damaged.{n}"))
      (try
        (os.link path aside)
        (except [OSError]                                ; no hard links here
          (os.replace path aside))))))

(defn _replace [path data]
  "Make the bytes DATA the content of the file PATH in one step."
  (setv [folder name] (os.path.split path)
        draft (os.path.join folder f".{name}.{(os.getpid)}-{(.hex (os.urandom 4))}")
        descriptor (os.open draft (| os.O-WRONLY os.O-CREAT os.O-EXCL os.O-CLOEXEC) 0o600))
  (try
    (try
      (disk.write-all descriptor data path)
      (disk.sync descriptor path)
      (finally (os.close descriptor)))
    (os.replace draft path)
    (except [BaseException]
      (try (os.unlink draft) (except [OSError]))
      (raise)))
  (disk.sync-folder folder))

(defn _put [path value]
  "Write VALUE to the file PATH, whose lock is held."
  (setv data (.encode (+ (forms.pretty value) "\n")))
  (_keep-damaged path)
  (_replace path data))

(defn update [path default change * [faults None]]
  "Replace the value in the file PATH by what the function CHANGE makes of it, or of DEFAULT; return the new value.
No other process can write in between. FAULTS is as in `read`."
  (setv target (os.path.realpath path))                  ; a link to the file stays one
  (try
    (with [_ (disk.lock (+ target ".lock") PATIENCE)]
      (setv value (change (read target default :faults faults)))
      (_put target value)
      value)
    (except [e OSError]
      (raise (disk.failure path e) :from e))))

(defn write [path value]
  "Make VALUE the content of the file PATH: all of it or nothing, on the disk when this returns, mode 0600."
  (forms.write value)                                    ; refuse before anything is touched
  (update path None (fn [_] value) :faults [])
  None)
