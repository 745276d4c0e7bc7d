"The files of a conversation: data/conversations/<id>/<20-digit number of its first record>.hy.

A segment is a header and at least one record, one form a line; the two are published together, so no reader ever finds a
segment without a record. A new segment begins with each summary, and its header repeats what the next load needs, so a load
reads the newest segment only."

(import
  errno
  os
  re
  autolith.base [disk forms log paths])

(setv SUFFIX ".hy"
      VERSION 1
      HEADER-BYTES 65536
      DIRECTORY (re.compile rb":directory (\"(?:[^\"\\]|\\.)*\")"))

(defn root []
  "Return the folder of all conversations."
  (paths.data "conversations"))

(defn folder [id]
  "Return the folder of the conversation ID."
  (os.path.join (root) id))

(defn path [id start]
  "Return the segment of the conversation ID whose first record has the number START."
  (os.path.join (folder id) f"{start :020d}{SUFFIX}"))

(defn starts [id]
  "Return the numbers of the first records of the segments of the conversation ID, ascending."
  (try
    (setv names (os.listdir (folder id)))
    (except [OSError] (return [])))
  (sorted (gfor name names
                :setv stem (.removesuffix name SUFFIX)
                :if (and (= (len stem) 20) (.isdecimal stem) (.endswith name SUFFIX))
                (int stem))))

(defn publish [path header records]
  "Make the segment PATH of HEADER and RECORDS, on disk and all at once; refuse to replace a file."
  (setv temporary f"{path}.{(os.getpid)}.new"
        data (.encode (.join "" (gfor r [header #* records] (+ (forms.write r) "\n")))))
  (try
    (paths.ensure-folder (os.path.dirname path))
    (_write temporary data)
    (_link temporary path)
    (except [e OSError]
      (raise (disk.failure path e) :from e))
    (finally
      (when (os.path.exists temporary)
        (os.unlink temporary))))
  (for [place [(os.path.dirname path) (root)]]
    (disk.sync-folder place)))

(defn _write [path data]
  "Write DATA to the new file PATH and wait until it is on the disk."
  (setv fd (os.open path (| os.O-WRONLY os.O-CREAT os.O-TRUNC os.O-CLOEXEC) 0o600))
  (try
    (disk.write-all fd data path)
    (disk.sync fd path)
    (finally (os.close fd))))

(defn _link [temporary path]
  "Give TEMPORARY the name PATH, which must be free."
  (try
    (os.link temporary path)
    (except [FileExistsError] (raise))
    (except [OSError]                   ; a file system without hard links
      (when (os.path.lexists path)
        (raise (FileExistsError errno.EEXIST "the file exists already" path)))
      (os.rename temporary path))))

(defn load [path]
  "Return {\"header\" map or None, \"records\", \"warnings\"} of the segment PATH; what cannot be used is named, not raised."
  (setv found (log.read path)
        warnings (lfor fault (get found "faults")
                   f"{path}, line {(get fault "line")}: set aside, {(get fault "reason")}; the rest was loaded"))
  (when (get found "torn")
    (.append warnings f"{path}: its last record was never finished and is set aside"))
  (setv header None
        records [])
  (for [value (get found "records")]
    (cond
      (not (_record? value)) (.append warnings f"{path}: set aside a form that is no record")
      (!= (get value "kind") "conversation") (.append records value)
      (is header None) (setv header value)))
  (when (is header None)
    (.append warnings f"{path}: its header is unreadable; what it said is taken from the rest"))
  {"header" header "records" (_distinct records) "warnings" warnings})

(defn stray-directory [path]
  "Return the directory that the damaged first line of the segment PATH still names, or None."
  (with [f (open path "rb")]
    (setv line (.readline f HEADER-BYTES)
          found (.search DIRECTORY line)))
  (when (and found (not (get (log.parse-line line) 0)))
    (try
      (forms.read-one (.decode (.group found 1)))
      (except [ValueError] None))))

(defn _record? [value]
  "Tell whether VALUE can be a record."
  (and (isinstance value dict) (isinstance (.get value "kind") str)))

(defn _distinct [records]
  "Return RECORDS without those whose number came before."
  (setv seen (set)
        out [])
  (for [record records]
    (setv seq (.get record "seq"))
    (when (not-in seq seen)
      (.append out record))
    (when (is-not seq None)
      (.add seen seq)))
  out)
