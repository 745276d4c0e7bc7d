"Keep an append-only log of records: one map a line, as a data form, ended by a newline.

`(Log path)` opens one for appending, alone; `read`, `head` and `tail` read any. Reading never changes a file and never
gives up: what is damaged is set aside as a fault {\"line\" n \"reason\" text}, the rest loads."

(import
  os
  threading
  autolith.base [disk forms])

(setv BLOCK 16384
      PART (* 1024 1024))                                ; what `head` and `tail` read at most


;; * Reading

(defn _salvage [line]
  "Return the record that follows the NUL bytes in the bytes LINE, in a list, if there is one."
  (try
    (setv value (forms.read-one (.decode (get (.rsplit line b"\0" 1) 1) "utf-8")))
    (if (isinstance value dict) [value] [])
    (except [[ValueError]]
      [])))

(defn parse-line [line]
  "Return the records of the bytes LINE and what is wrong with it, or None."
  (when (in b"\0" line)
    (setv found (_salvage line))
    (return #(found f"{(.count line b"\0")} NUL bytes{(if found " before a record" "")}")))
  (try
    (setv values (forms.read-all (.decode line "utf-8")))
    (except [e UnicodeDecodeError]
      (return #([] f"not UTF-8 at byte {(+ e.start 1)}")))
    (except [e forms.Malformed]
      (return #([] f"not a record: {e.reason}"))))
  (setv records (lfor v values :if (isinstance v dict) v))
  #(records (cond
              (< (len records) (len values)) "not a record: no map"
              (> (len records) 1) f"{(len records)} records on one line")))

(defn _whole? [line]
  "Tell whether the bytes LINE, which no newline ends, is a whole record all the same."
  (setv [records fault] (parse-line line))
  (and records (is fault None)))

(defn _collect [lines]
  "Return what the bytes LINES, each with its newline if it has one, hold, as `read` does."
  (setv records []  faults []  torn False)
  (for [[number line] (enumerate lines 1)]
    (setv [found fault] (parse-line line))
    (.extend records found)
    (cond
      (is fault None) None
      (.endswith line b"\n") (.append faults {"line" number  "reason" fault})
      True (setv torn True)))
  {"records" records  "faults" faults  "torn" torn})

(defn read [path]
  "Return what the log PATH holds: {\"records\" [map ...] \"faults\" [{\"line\" n \"reason\" text} ...] \"torn\" bool}.
TORN says that the last record is not whole."
  (try
    (with [f (open path "rb")]
      (_collect f))
    (except [e OSError]
      (raise (disk.failure path e) :from e))))

(defn head [path n]
  "Return the first N records of the log PATH, fewer if they lie beyond the first megabyte."
  (setv records []  size 0)
  (with [f (open path "rb")]
    (while (and (< (len records) n) (< size PART)
                (setx line (.readline f (- PART size))))
      (.extend records (get (parse-line line) 0))
      (+= size (len line))))
  (cut records n))

(defn _lines-from-end [f]
  "Yield the lines of the open file F from its last, without one that begins before its last megabyte."
  (setv end (.seek f 0 os.SEEK-END)  start end  rest b"")
  (while (and (> start 0) (< (- end start) PART))
    (setv begin (max 0 (- start BLOCK)))
    (.seek f begin)
    (setv [rest #* lines] (.split (+ (.read f (- start begin)) rest) b"\n")
          start begin)
    (yield :from (reversed lines)))
  (when (= start 0)
    (yield rest)))

(defn tail [path n]
  "Return the last N records of the log PATH, fewer if they begin before the last megabyte."
  (setv records [])
  (with [f (open path "rb")]
    (for [line (_lines-from-end f)]
      (when (>= (len records) n)
        (break))
      (.extend records (reversed (get (parse-line line) 0)))))
  (list (reversed (cut records n))))


;; * Appending

(defclass Log []
  "The log PATH, open for appending by this process alone.
`warnings` are sentences: a torn record that was set aside, a file system without locks."
  (defn __init__ [self path]
    "Open or make PATH; set a torn last record aside, into PATH.torn. Raises Busy when another process has it."
    (setv self.path (os.fspath path)  self.warnings []  self.guard (threading.Lock)  self.doubtful False
          self.holder None  fresh (not (os.path.exists path)))
    (try
      (setv self.descriptor (os.open path (| os.O-RDWR os.O-CREAT os.O-APPEND os.O-CLOEXEC) 0o600))
      (except [e OSError]
        (raise (disk.failure self.path e) :from e)))
    (try
      (self._prepare fresh)
      (except [BaseException]
        (self.close)
        (raise))))

  (defn _prepare [self fresh]
    "Take the lock and mend the end of the file, which is new if FRESH."
    (setv self.holder (disk.claim self.descriptor self.path)
          warning (disk.no-lock-warning self.path self.holder)
          self.size (. (os.fstat self.descriptor) st-size))
    (when warning
      (.append self.warnings warning))
    (when fresh
      (disk.sync-folder (os.path.dirname self.path)))
    (setv rest (self._unended))
    (when rest
      (self._mend rest)))

  (defn _unended [self]
    "Return the bytes after the last newline, looking from the end."
    (setv end self.size  rest b"")
    (while (> end 0)
      (setv start (max 0 (- end BLOCK))
            rest (+ (os.pread self.descriptor (- end start) start) rest)
            at (.rfind rest b"\n"))
      (when (>= at 0)
        (return (cut rest (+ at 1) None)))
      (setv end start))
    rest)

  (defn _mend [self rest]
    "End the last line REST if it is a whole record; else set it aside and cut it off."
    (when (_whole? rest)
      (disk.write-all self.descriptor b"\n" self.path)
      (+= self.size 1)
      (return))
    (setv aside (+ self.path ".torn"))
    (with [f (open aside "ab" :opener (fn [name flags] (os.open name flags 0o600)))]
      (.write f (+ rest b"\n"))
      (.flush f)
      (os.fsync (.fileno f)))
    (-= self.size (len rest))
    (os.ftruncate self.descriptor self.size)
    (disk.sync self.descriptor self.path)
    (.append self.warnings f"{self.path}: the last record was torn ({(len rest)} bytes); it was set aside in {aside}"))

  (defn _check [self]
    "Raise Lost unless the path still leads to this file, and the file is as the last append left it."
    (when (is self.descriptor None)
      (raise (disk.StorageError self.path "is closed; open the log again")))
    (try
      (setv there (os.stat self.path))
      (except [e OSError]
        (raise (self._lost "was deleted or moved away while it was open") :from e)))
    (setv here (os.fstat self.descriptor))
    (cond
      (!= #(there.st-dev there.st-ino) #(here.st-dev here.st-ino))
        (raise (self._lost "was replaced by another file while it was open"))
      (!= (& here.st-mode 0o600) 0o600)
        (raise (self._lost "may no longer be read and written by its owner (chmod 600 gives it back)"))
      (and self.doubtful (>= here.st-size self.size)) (self._cut)
      (!= here.st-size self.size)
        (raise (self._lost f"has {here.st-size} bytes where {self.size} were left: another program wrote to it"))))

  (defn _lost [self reason]
    "Return the failure that REASON describes."
    (disk.Lost self.path (+ reason "; nothing more is written to it. What was said since is only in memory")))

  (defn _cut [self]
    "Cut off what a failed append left behind."
    (try
      (os.ftruncate self.descriptor self.size)
      (setv self.doubtful False)
      (except [e OSError]
        (setv self.doubtful True))))

  (defn append [self record [sync True]]
    "Write the map RECORD and, with SYNC, wait until it is on the disk. On failure the file stays as it was."
    (when (not (isinstance record dict))
      (raise (forms.Unwritable f"a record is a map, not a {(. (type record) __qualname__)}")))
    (setv line (.encode (+ (forms.write record) "\n")))
    (with [_ self.guard]
      (self._check)
      (try
        (disk.write-all self.descriptor line self.path)
        (when sync
          (disk.sync self.descriptor self.path))
        (except [BaseException]
          (self._cut)
          (raise)))
      (+= self.size (len line))))

  (defn close [self]
    "Close the file and give it free; a second time does nothing."
    (when (is-not self.descriptor None)
      (setv descriptor self.descriptor  self.descriptor None)
      (disk.drop self.holder)
      (os.close descriptor)))

  (defn __enter__ [self] self)
  (defn __exit__ [self #* _] (.close self)))
