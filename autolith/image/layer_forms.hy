"The forms of an init file: read one by one, so that those before a reader's error still run, and evaluated one by one."

(import
  linecache
  time
  hy
  hy.errors [HyLanguageError]
  hy.reader.exceptions [LexException PrematureEndOfInput]
  autolith.base [conditions]
  autolith.image [evaluate :as evaluation layer-cache limits namespace reading tracebacks])

(setv SLOW "stopped: init files may take no longer; autolith.image.layers.load-seconds says how long")

(defclass Step []
  "One form of an init file: the LINE where it begins and the function RUN that evaluates it."
  (defn __init__ [self line run]
    (setv self.line line
          self.run run)))

(defn steps [path text faults deadline]
  "Yield a Step for each form of TEXT, of the file PATH; a reader's error, or reading after DEADLINE, is appended to FAULTS and ends them."
  (setv (get linecache.cache path) #((len text) None (.splitlines text True) path)
        kept (layer-cache.fetch path text))
  (if (is-not kept None)
    (for [[line #* codes] kept]
      (yield (Step line (fn [[codes codes]] (evaluation.execute-in-user codes)))))
    (yield :from (_compiling path text faults deadline))))

(defn _compiling [path text faults deadline]
  "Yield the Steps of TEXT as `steps` does, compiling each when it runs; when all were compiled, keep them."
  (setv rows []  count 0  unread [])
  (defn run [form]
    (setv codes (evaluation.compiled form (namespace.user) path text))
    (.append rows [form.start-line #* codes])
    (evaluation.execute-in-user codes))
  (for [form (read path text unread deadline)]
    (+= count 1)
    (yield (Step form.start-line (fn [[form form]] (run form)))))
  (.extend faults unread)
  (when (and (not unread) (= count (len rows)))
    (layer-cache.keep path text rows)))

(defn read [path text faults deadline]
  "Yield the forms of TEXT, of the file PATH, as long as they can be read before DEADLINE; else append to FAULTS."
  (setv reader (reading.QuickReader)
        forms (iter (hy.read-many text :filename path :reader reader :skip-shebang True)))
  (while True
    (.update reader.reader-macros (. (namespace.user) _hy-reader-macros))
    (try
      (setv form (limits.within (max 1.0 (- deadline (time.monotonic))) (fn [] (next forms None))))
      (when (is form None) (return))
      (except [limits.TimeUp]
        (.append faults {"file" path "line" (get reader.pos 0) "message" f"{SLOW}; what follows was left out"})
        (return))
      (except [e Exception]
        (.append faults (_reading-fault e path))
        (return)))
    (yield form)))

(defn _reading-fault [e path]
  "Return the fault that the reader's error E is, and what it means for the file PATH."
  (setv reason (if (isinstance e PrematureEndOfInput)
                 "a closing bracket or quote is missing for what begins before the end"
                 (if (isinstance e LexException) (evaluation.reading-fault e) (str e))))
  {"file" path "line" (or (getattr e "lineno" None) 1)
   "message" f"cannot be read: {reason}. What follows the last whole form was left out"})

(defn attempt [step path seconds]
  "Run STEP of the file PATH for at most SECONDS; return the fault, or None."
  (try
    (with [_ (conditions.unattended)]
      (limits.within seconds step.run))
    None
    (except [limits.TimeUp] (_fault step path None SLOW))
    (except [KeyboardInterrupt] (_fault step path None "interrupted"))
    (except [e SystemExit] (_fault step path e f"asked to exit with status {(hy.repr e.code)}"))
    (except [e BaseException] (_fault step path e (_said e)))))

(defn _said [e]
  "Return what the error E says, in one line; an error of Hy's without the source it quotes."
  (if (isinstance e HyLanguageError)
    (.join ": " (map str.strip (.splitlines e.msg)))
    f"{(tracebacks.type-name e)}: {(tracebacks.message e)}"))

(defn _fault [step path error message]
  "Return the fault MESSAGE of STEP in the file PATH, at the line where ERROR passed through it, else where STEP begins."
  (setv line step.line
        tb (getattr error "__traceback__" None))
  (while tb
    (when (= tb.tb-frame.f-code.co-filename path)
      (setv line tb.tb-lineno))
    (setv tb tb.tb-next))
  (when (and (getattr error "lineno" None) (= (getattr error "filename" None) path))
    (setv line error.lineno))
  {"file" path "line" line "message" (.strip message)})
