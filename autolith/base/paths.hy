"Find the folders that hold what is kept: the XDG roots, each with our own folder in it.

`(config \"init.hy\")` is a path below the config root; `data`, `state` and `cache` are alike. Nothing is made before
`ensure-folder` is asked to; what it makes is private to its owner."

(import
  os
  re
  stat
  autolith.base [disk])

(setv NAME "autolith")

(defn _root [variable fallback]
  "Return the folder that VARIABLE names, or FALLBACK below the home folder; XDG wants relative values ignored."
  (setv value (.get os.environ variable ""))
  (os.path.join (if (os.path.isabs value) value (home fallback)) NAME))

(defn home [#* parts]
  "Return the path of PARTS below the user's home folder."
  (setv folder (os.path.expanduser "~"))
  (when (not (os.path.isabs folder))
    (raise (disk.StorageError "~" "there is no home folder; set HOME")))
  (os.path.join folder #* parts))

(defn config [#* parts]
  "Return the path of PARTS below the folder of what the user writes."
  (os.path.join (_root "XDG_CONFIG_HOME" ".config") #* parts))

(defn data [#* parts]
  "Return the path of PARTS below the folder of what must not be lost."
  (os.path.join (_root "XDG_DATA_HOME" ".local/share") #* parts))

(defn state [#* parts]
  "Return the path of PARTS below the folder of what the program remembers."
  (os.path.join (_root "XDG_STATE_HOME" ".local/state") #* parts))

(defn cache [#* parts]
  "Return the path of PARTS below the folder of what can be made anew."
  (os.path.join (_root "XDG_CACHE_HOME" ".cache") #* parts))

(defn ensure-folder [path]
  "Make the folder PATH, and those above it, private to their owner, where they are missing; return PATH."
  (when (os.path.isdir path)
    (return path))
  (setv above (os.path.dirname path))
  (when (and above (!= above path))
    (ensure-folder above))
  (try
    (os.mkdir path 0o700)
    (except [FileExistsError]
      (when (not (os.path.isdir path))
        (raise (disk.StorageError path "is in the way: a folder has to be there; move it") :from None)))
    (except [e OSError]
      (raise (disk.failure path e) :from e)))
  path)

(defn workspace-name [directory]
  "Return the file name that stands for DIRECTORY: its last part, for people, and a digest of the whole real path."
  (import hashlib)
  (setv path (os.path.realpath directory)
        words (.strip (re.sub r"[^A-Za-z0-9._]+" "-" (os.path.basename path)) "-.")
        digest (.hexdigest (hashlib.blake2b (os.fsencode path) :digest-size 8)))
  f"{(or (cut words 40) "root")}-{digest}")

(defn short [path]
  "Return PATH as people see it: ~ for the home folder."
  (setv folder (os.path.expanduser "~"))
  (cond
    (= path folder) "~"
    (.startswith path (+ (.rstrip folder "/") "/")) (+ "~" (cut path (len (.rstrip folder "/")) None))
    True path))
