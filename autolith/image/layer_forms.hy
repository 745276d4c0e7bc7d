"The forms of an init file: read one by one, so that those before a reader's error still run, and evaluated one by one."

(import
  linecache
  time
  hy
  hy.reader [HyReader]
  hy.reader.exceptions [LexException PrematureEndOfInput]
  autolith.base [conditions]
  autolith.image [evaluate :as evaluation limits namespace tracebacks])

(setv SLOW "stopped: init files may take no longer; autolith.image.layers.load-seconds says how long")

(defn read [path text faults deadline]
  "Yield the forms of TEXT, of the file PATH; a reader's error, or reading after DEADLINE, is appended to FAULTS and ends them."
  (setv (get linecache.cache path) #((len text) None (.splitlines text True) path)
        reader (HyReader)
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

(defn evaluate [form path text seconds]
  "Evaluate FORM of TEXT, the file PATH, for at most SECONDS; return the fault, or None."
  (try
    (with [_ (conditions.unattended)]
      (limits.within seconds (fn [] (evaluation.evaluate-form form (namespace.user) path text))))
    None
    (except [limits.TimeUp] (_fault form path None SLOW))
    (except [KeyboardInterrupt] (_fault form path None "interrupted"))
    (except [e SystemExit] (_fault form path e f"asked to exit with status {(hy.repr e.code)}"))
    (except [e BaseException] (_fault form path e f"{(tracebacks.type-name e)}: {(tracebacks.message e)}"))))

(defn _fault [form path error message]
  "Return the fault MESSAGE of FORM in the file PATH, at the line where ERROR passed through it, else where FORM begins."
  (setv line form.start-line
        tb (getattr error "__traceback__" None))
  (while tb
    (when (= tb.tb-frame.f-code.co-filename path)
      (setv line tb.tb-lineno))
    (setv tb tb.tb-next))
  (when (and (getattr error "lineno" None) (= (getattr error "filename" None) path))
    (setv line error.lineno))
  {"file" path "line" line "message" (.strip message)})
