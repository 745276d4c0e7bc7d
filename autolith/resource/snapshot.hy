"Read regular files of any size in bounded memory: one scan for identity and line index, then any window.

A snapshot is {\"path\" \"size\" \"digest\" \"encoding\" (see lines; None: no text) \"total\" lines \"final_newline\" \"crlf\" \"lf\" (line ends)
\"index\" [#(line offset) ...] sparse, \"data\" the bytes of a small file or None, \"stamp\" what a change of the file changes,
\"growing\" True if it grew meanwhile}. A row of a window is {\"number\" \"text\"} and, of a line shown in part, \"columns\" [a b] \"length\"."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  errno
  hashlib
  io
  os
  stat
  threading
  time
  collections [OrderedDict]
  contextvars [ContextVar]
  autolith.resource [lines])

(defparameter piece-size (* 1024 1024) "How many bytes of a file are read at a time, and how far apart the index points lie.")
(defparameter kept-size (* 4 1024 1024) "The size up to which a file's bytes are kept with its snapshot.")
(defparameter edit-size (* 64 1024 1024) "The size from which a file is not edited by lines any more.")
(defparameter attempts 3 "How often a file that changes while it is read is read again.")

(defonce _scans (OrderedDict) "Snapshots of large files by path, newest last, so that another window costs no scan.")
(defonce _stop (ContextVar "stop" :default None) "The event by which the reading that runs here is told to stop, or None.")
(defonce _scans-lock (threading.Lock) "Guards the scans.")

(defclass Unreadable [Exception]
  "A file cannot be read; the first argument is the reason, for people.")

(defn :async in-thread [f #* arguments]
  "Call F with ARGUMENTS in a worker thread and return its value; when the caller is cancelled, its reading stops soon."
  (import asyncio)
  (setv stop (threading.Event) token (.set _stop stop))
  (try
    (await (asyncio.to-thread f #* arguments))
    (except [asyncio.CancelledError]
      (.set stop)
      (raise))
    (finally (.reset _stop token))))

;; * Opening

(setv KINDS [#(stat.S-ISDIR "a directory") #(stat.S-ISFIFO "a named pipe") #(stat.S-ISSOCK "a socket")
             #(stat.S-ISCHR "a character device") #(stat.S-ISBLK "a block device")])

(defn special [mode]
  "Return what the file of MODE is, if it is no regular file, else None."
  (when (not (stat.S-ISREG mode))
    (next (gfor [test name] KINDS :if (test mode) name) "a special file")))

(defn _refuse-special [mode]
  "Refuse the file of MODE if it is not regular."
  (setv kind (special mode))
  (when kind
    (raise (Unreadable f"it is {kind}, which is never opened here; only regular files and directories are read"))))

(defn opened [path]
  "Return PATH, a regular file, as an open binary file; anything special is refused unopened."
  (_refuse-special (. (os.stat path :follow-symlinks False) st-mode))
  (setv handle (os.open path (| os.O-RDONLY os.O-NONBLOCK os.O-NOFOLLOW os.O-CLOEXEC)))
  (try
    (_refuse-special (. (os.fstat handle) st-mode))
    (except [e BaseException] (os.close handle) (raise)))
  (open handle "rb" :buffering 0))

(defn stamp [info]
  "Return what of the stat INFO changes with any write."
  #(info.st-dev info.st-ino info.st-size info.st-mtime-ns info.st-ctime-ns))

(defn read-bytes [path limit]
  "Return the bytes of the regular file PATH; refuse more than LIMIT."
  (with [f (opened path)]
    (setv data (_read-up-to f (+ limit 1))))
  (when (> (len data) limit)
    (raise (Unreadable (+ f"it is larger than {(// limit 1048576)} MiB, too large to edit by lines;"
                          " change it with a command (sed, a script)"))))
  data)

(defn _read-up-to [f size]
  "Return at most SIZE bytes from the raw file F, fewer only at its end."
  (setv out (io.BytesIO) stop (.get _stop))
  (while (< (.tell out) size)
    (when (and stop (.is-set stop)) (raise (Unreadable "reading it was cancelled")))
    (setv piece (.read f (min piece-size (- size (.tell out)))))
    (when (is piece None) (raise (OSError errno.EAGAIN "it has nothing to read now")))
    (when (not piece) (break))
    (.write out piece))
  (.getvalue out))

(defn digest-of [data]
  "Return the digest of the bytes DATA."
  (.hexdigest (hashlib.sha256 data)))

;; * Scanning

(defn scan [path]
  "Return the snapshot of the regular file PATH; a large one that has not changed since its last scan is not read again."
  (setv known (_known path))
  (when known (return known))
  (for [i (range attempts)]
    (setv started (time.time-ns))
    (with [f (opened path)]
      (setv before (os.fstat (.fileno f))
            snapshot (scan-file f before)
            after (os.fstat (.fileno f))))
    (when (= (stamp before) (stamp after)) (break))
    (setv (get snapshot "growing") (>= after.st-size before.st-size)))
  (when (is (.get snapshot "growing") False)
    (raise (Unreadable "it changes while it is read, again and again; read it when its writer has finished")))
  (setv (get snapshot "path") path)
  (_remember path snapshot started)
  snapshot)

(defn _known [path]
  "Return the remembered snapshot of PATH if the file is as it was then."
  (with [_scans-lock]
    (setv known (.get _scans path)))
  (when known
    (try
      (when (= (get known "stamp") (stamp (os.stat path :follow-symlinks False)))
        (return known))
      (except [OSError] None))))

(defn _remember [path snapshot started]
  "Remember SNAPSHOT of the large file PATH, unless it was written so recently that its times may hide a further change."
  (setv settled (< (max (get snapshot "stamp" 3) (get snapshot "stamp" 4)) (- started 1_000_000_000)))
  (when (and settled (is (get snapshot "data") None) (not (.get snapshot "growing")))
    (with [_scans-lock]
      (setv (get _scans path) snapshot)
      (.move-to-end _scans path)
      (while (> (len _scans) 16) (.popitem _scans :last False)))))

(defn forget [path]
  "Forget what was remembered of the file PATH."
  (with [_scans-lock]
    (.pop _scans path None)))

(defn scan-bytes [data]
  "Return the snapshot of the bytes DATA."
  (scan-file (io.BytesIO data)))

(defn scan-file [f [info None] [assumed None]]
  "Return the snapshot of the open file F, of the stat INFO; what is written beyond its size at the start is left out.
Lines are found as in the encoding ASSUMED, else the likeliest; if it turns out to be another, they are found anew."
  (setv bound (if (and info info.st-size) info.st-size None)
        head (_read-up-to f (if bound (min bound piece-size) piece-size))
        state (_Scan head (or assumed (get (lines.candidates (cut head 4096)) 0)))
        kept [] piece head done 0)
  (while piece
    (.feed state piece done)
    (+= done (len piece))
    (if (<= done kept-size) (.append kept piece) (setv kept []))
    (setv piece (_read-up-to f (if bound (min (- bound done) piece-size) piece-size))))
  (setv found (.result state))
  (when (is (get found "encoding") lines.UNSURE)
    (setv (get found "encoding") (lines.surveyed (_again f done) (cut head 3))))
  (setv encoding (get found "encoding"))
  (when (and encoding (is assumed None) (not (.fits? state encoding)))
    (.seek f 0)
    (return (scan-file f info encoding)))
  {#** found
   "data" (when (<= done kept-size) (.join b"" kept))
   "stamp" (when info (stamp info))})

(defn _again [f size]
  "Yield the first SIZE bytes of the open file F once more, in pieces."
  (.seek f 0)
  (while (and (> size 0) (setx piece (_read-up-to f (min piece-size size))))
    (-= size (len piece))
    (yield piece)))

(defclass _Scan []
  "What a scan has seen so far, of bytes that begin with HEAD and whose lines end as in the encoding ASSUMED."

  (defn __init__ [self head assumed]
    (setv self.hash (hashlib.sha256)
          self.guess (lines.Guess (cut head 4096))
          self.size 0
          self.newline (.encode "\n" (get assumed "codec"))
          self.crlf (.encode "\r\n" (get assumed "codec"))
          self.unit (get assumed "unit")
          self.mark (len (get assumed "bom"))
          self.newlines 0 self.crlfs 0 self.tail b""
          self.index [#(1 self.mark)]))

  (defn fits? [self encoding]
    "Tell whether lines end in ENCODING as they were looked for."
    (and (= (len (get encoding "bom")) self.mark)
         (= (.encode "\n" (get encoding "codec")) self.newline)))

  (defn feed [self piece offset]
    "Take PIECE, found at OFFSET."
    (.update self.hash piece)
    (.feed self.guess piece)
    (+= self.size (len piece))
    (setv found (_count self piece))
    (when found
      (+= self.newlines found)
      (setv end (_last self piece))
      (.append self.index #((+ self.newlines 1) (+ offset end self.unit))))
    (+= self.crlfs (_count-crlf self piece))
    (setv self.tail (cut piece (- (* 2 self.unit)) None)))

  (defn result [self]
    "Return the snapshot."
    (setv open-line (and (> self.size self.mark) (!= (cut self.tail (- self.unit) None) self.newline)))
    {"size" self.size "digest" (.hexdigest self.hash) "encoding" (.result self.guess)
     "total" (+ self.newlines (int open-line)) "final_newline" (and (not open-line) (> self.newlines 0))
     "crlf" self.crlfs "lf" (- self.newlines self.crlfs) "index" self.index}))

(defn _aligned [scan piece pattern]
  "Return how often PATTERN begins at a code unit of PIECE."
  (setv at (.find piece pattern) n 0)
  (while (>= at 0)
    (+= n (= (% at scan.unit) 0))
    (setv at (.find piece pattern (+ at 1))))
  n)

(defn _count [scan piece]
  "Return how many newlines PIECE has."
  (if (= scan.unit 1) (.count piece b"\n") (_aligned scan piece scan.newline)))

(defn _count-crlf [scan piece]
  "Return how many line ends of PIECE, one reaching in from the piece before included, are CRLF."
  (setv ends (cond
               (not-in b"\r" piece) 0                    ; the usual case, and much the faster test
               (= scan.unit 1) (.count piece b"\r\n")
               True (_aligned scan piece scan.crlf))
        half (// (len scan.crlf) 2)
        straddle (and (.endswith scan.tail (cut scan.crlf half)) (.startswith piece scan.newline)))
  (+ ends (int straddle)))

(defn _last [scan piece]
  "Return where the last newline of PIECE begins."
  (setv at (.rfind piece scan.newline))
  (while (% at scan.unit)
    (setv at (.rfind piece scan.newline 0 (+ at (len scan.newline) -1))))
  at)
