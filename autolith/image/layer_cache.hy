"Compiled forms of init files, kept in the cache folder so that an unchanged file is neither read nor compiled again.

An entry is a list of [line, statements' code, value's code], one a form, stored under a digest of everything that the compiled code
depends on: path and text, the versions of Python, Hy and the program, and the newest change in the tree and in the user's lisp/. Files
that do something at compile time, or take macros from elsewhere, are not kept."

(import
  marshal
  os
  re
  sys
  hy
  autolith
  autolith.base [conditions paths])

(setv UNKEPT (re.compile r"require|eval-when-compile|eval-and-compile|do-mac|defreader|&reader|hy\.R\.|pragma")
      KEPT-FILES 20)

(defn keepable? [text]
  "Tell whether the compiled TEXT depends on nothing but what the digest covers."
  (setv definitions (.get sys.modules "autolith.image.definitions"))
  (not (or (.search UNKEPT text)
           (and definitions (any (gfor c definitions.journal (get c "callers")))))))

(defn file-for [path text]
  "Return the file in which the compiled TEXT of the init file PATH is kept."
  (import hashlib importlib.util)
  (setv parts [path text sys.version hy.__version__ autolith.__version__ (str (newest))
               (.hex importlib.util.MAGIC-NUMBER)]
        digest (.hexdigest (hashlib.blake2b (.encode (.join "\0" parts) "utf-8" "surrogatepass") :digest-size 16)))
  (paths.cache "init" f"{digest}.bin"))

(defn newest []
  "Return the time, in nanoseconds, of the last change to a Hy file of the tree or of the user's."
  (max [0 #* (gfor root [#* autolith.__path__ (paths.config "lisp")]
                   [folder folders names] (os.walk root)
                   name names
                   :if (.endswith name ".hy")
                   (_time (os.path.join folder name)))]))

(defn _time [file]
  "Return when FILE was changed; nothing if it is gone."
  (try
    (. (os.stat file) st-mtime-ns)
    (except [OSError] 0)))

(defn fetch [path text]
  "Return the compiled forms of TEXT, the init file PATH, or None if they are not kept."
  (when (keepable? text)
    (try
      (with [f (open (file-for path text) "rb")]
        (setv rows (marshal.load f)))
      (when (and (isinstance rows list) (all (gfor row rows (= (len row) 3)))) rows)
      (except [[OSError ValueError EOFError TypeError]]))))

(defn keep [path text rows]
  "Keep ROWS, the compiled forms of TEXT, the init file PATH. Where that is not possible, do nothing."
  (when (keepable? text)
    (try
      (setv file (file-for path text)
            folder (paths.ensure-folder (os.path.dirname file))
            fresh f"{file}.{(os.getpid)}")
      (with [f (open fresh "wb")] (marshal.dump rows f))
      (os.replace fresh file)
      (_prune folder)
      (except [[OSError ValueError conditions.AutolithError]]))))

(defn _prune [folder]
  "Delete all but the newest files of FOLDER."
  (setv files (sorted (gfor name (os.listdir folder) (os.path.join folder name)) :key _time))
  (for [file (cut files (- KEPT-FILES))]
    (os.unlink file)))
