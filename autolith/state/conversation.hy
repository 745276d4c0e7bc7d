"Keep a conversation: append-only records, durable before the next step, resumable, open in one process at a time.

A record is a map {\"kind\" str ...}; `append` stamps it with \"seq\", counted from 1, and \"time\". docs/architecture.md lists
the kinds. A Conversation holds the records of its newest segment in `records`; those with \"held\" True are in memory only.
`unwritten` are records of what has happened that the disk refused so far; they go before the next one.
`warnings` are sentences for the user."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  threading
  autolith.base [conditions disk forms ids log]
  autolith.state [lease listings projection segment stamp])

(setv InUse lease.InUse
      Unknown listings.Unknown
      StorageFailed disk.StorageError)

(defparameter kept-kinds #{"item" "result" "usage" "failure" "user-operation"}
  "Kinds of records about what has happened: when the disk refuses one, it waits for the next append.")
(defparameter carried-operations 16
  "How many user operations the header of a new segment repeats.")

(defclass TooNew [conditions.AutolithError]
  "The segment PATH was written by a newer program, in VERSION."
  (defn __init__ [self path version]
    (.__init__ (super)
      (+ f"{path} was written by a newer Autolith (format {version}; this one reads up to {segment.VERSION}); "
         "update Autolith, or start a new conversation: nothing was changed"))
    (setv self.path path
          self.version version)))

(defclass Conversation []
  "One conversation; HEADER is the header of its newest segment, START the number of that segment's first record."
  (defn __init__ [self header [start 1]]
    (setv self.header header
          self.id (get header "id")
          self.start start
          self.directory (.get header "directory")
          self.seq (- start 1)
          self.turns (.get header "turns" 0)
          self.records []
          self.unwritten []
          self.warnings []
          self.call-ids (set)
          self.unsynced False
          self.log None
          self.lease None
          self.path None
          self.closed False
          self.guard (threading.RLock)
          self.older {}))

  (defn __repr__ [self]
    "Return the id and how many records there are."
    f"<conversation {self.id}, {self.seq} records>"))

;; * Opening and closing

(defn create [directory * [provider None] [model None] [effort None]]
  "Return a new Conversation that begins in DIRECTORY with PROVIDER (a name), MODEL and EFFORT. Nothing is on disk yet."
  (setv id (ids.new-id (fn [id] (os.path.lexists (segment.folder id)))))
  (Conversation {"kind" "conversation" "version" segment.VERSION "id" id "created" (stamp.now)
                 "directory" (os.path.abspath directory) "provider" provider "model" model "effort" effort
                 "cache_key" f"autolith-{id}" "start" 1 "turns" 0 "preview" ""}))

(defn open-conversation [id]
  "Open the conversation that ID names, for this process alone: load its newest segment and repair it."
  (setv id (find id)
        held (lease.take id))
  (try
    (setv c (_load id))
    (except [BaseException]
      (lease.release held)
      (raise)))
  (setv c.lease held)
  (when held.warning
    (.append c.warnings held.warning))
  (_warn-of-directory c)
  (repair c)
  c)

(defn close [c]
  "Write what waits, close the files of C and give its lease back. Closing twice does no harm."
  (when c.closed (return))
  (release c)
  (try
    (when c.unwritten
      (_drain c True))
    (finally
      (setv c.closed True)
      (when c.log
        (.close c.log))
      (when c.lease
        (lease.release c.lease))))
  None)

(defn _load [id]
  "Return the Conversation ID with the records of its newest readable segment."
  (setv warnings [])
  (for [start (reversed (segment.starts id))]
    (setv path (segment.path id start)
          found (segment.load path)
          header (get found "header"))
    (.extend warnings (get found "warnings"))
    (when (and header (> (.get header "version" 1) segment.VERSION))
      (raise (TooNew path (get header "version"))))
    (when (get found "records")
      (return (_from-segment id start path header (get found "records") warnings)))
    (.append warnings (_set-aside path)))
  (raise (Unknown f"conversation {id} has no readable record in {(segment.folder id)}; autolith conversations lists the others")))

(defn _set-aside [path]
  "Rename the segment PATH, which has no record, out of the way; return what to say about it."
  (try
    (os.rename path (+ path ".unreadable"))
    (setv done f"it was renamed to {path}.unreadable")
    (except [e OSError]
      (setv done f"it could not be renamed ({e.strerror})")))
  f"{path} holds no readable record; {done}, and the segment before it is used")

(defn _from-segment [id start path header records warnings]
  "Return the Conversation ID whose segment PATH, from START on, has HEADER (or None) and RECORDS."
  (setv header (| (_substitute-header id start records) (or header {}) {"id" id})
        c (Conversation header start))
  (when (is c.directory None)
    (setv c.directory (or (listings.directory-of id path) (_cwd "/"))))
  (setv c.path path
        c.warnings warnings
        c.records records
        c.seq (_highest records "seq" start)
        c.directory (or (listings.last records "directory") c.directory)
        c.turns (_highest records "turn" c.turns)
        c.call-ids (sfor r records :if (= (get r "kind") "item") (.get (.get r "item" {}) "call_id")))
  c)

(defn _highest [records key least]
  "Return the highest number that one of RECORDS has under KEY, not below LEAST."
  (max [least #* (gfor r records :setv n (.get r key) :if (isinstance n int) n)]))

(defn _substitute-header [id start records]
  "Return the header to use for what a damaged one does not say about the segment of ID from START with RECORDS."
  {"kind" "conversation" "version" segment.VERSION "id" id "created" (.get (get records 0) "time" (stamp.now))
   "directory" None "provider" None "model" None "effort" None
   "cache_key" f"autolith-{id}" "start" start "turns" 0 "preview" ""})

(defn _warn-of-directory [c]
  "Say so when the directory of C is not there any more."
  (setv directory c.directory)
  (when (not (os.path.isdir directory))
    (.append c.warnings
      (+ f"the directory of this conversation, {directory}, is not there any more (moved, renamed or deleted); "
         f"it goes on in {(_cwd "a directory that is gone too: change it with (cwd \"PATH\")")}, "
         "and what it says about files may name the old place"))))

(defn _cwd [otherwise]
  "Return the working directory, or OTHERWISE when that is gone."
  (try
    (os.getcwd)
    (except [OSError] otherwise)))

;; * Appending

(defn append [c record * [sync True]]
  "Append RECORD to C and, with SYNC, wait until it is on the disk; return it as stamped.
Raise StorageFailed when the disk refuses; RECORD then waits in memory if its kind is among `kept-kinds` or it is steering,
else it is dropped."
  (get (append-all c [record] :sync sync) 0))

(defn append-all [c records * [sync True]]
  "Append RECORDS to C in order with at most one disk sync; return them as stamped. Those with \"held\" stay in memory."
  (when c.closed
    (raise (StorageFailed (or c.path c.id) "the conversation is closed; resume it")))
  (with [_ c.guard]
    (setv stamped (lfor record records (_enter c record)))
    (try
      (_drain c sync)
      (except [StorageFailed]
        (_withdraw c stamped)
        (raise))))
  stamped)

(defn _enter [c record]
  "Stamp RECORD and enter it among the records of C; unless it is to stay in memory, it waits to be written. Return it."
  (when (.get record "held")
    (return (hold c record)))
  (setv entry (_stamp c record))
  (.append c.records entry)
  (.append c.unwritten entry)
  entry)

(defn _stamp [c record]
  "Return RECORD with its number and time, as the log can hold it."
  (+= c.seq 1)
  (setv entry (| {"kind" (get record "kind") "seq" c.seq "time" (stamp.now)} (stamp.scrub record)))
  (setv (get entry "seq") c.seq)
  (match (get entry "kind")
    "message" (+= c.turns (if (.get entry "steering") 0 1))
    "item" (.add c.call-ids (.get (.get entry "item" {}) "call_id"))
    _ None)
  (setv (get entry "turn") c.turns)
  (when (in "directory" record)
    (setv c.directory (get entry "directory")))
  (when (!= c.directory (get c.header "directory"))
    (setv (get entry "directory") c.directory))        ; so that the last record tells where it is at home
  entry)

(defn _withdraw [c stamped]
  "Take those of the STAMPED records out of C that were not written and do not wait."
  (for [entry (reversed stamped)]
    (when (and (any (gfor u c.unwritten (is u entry)))
               (not-in (get entry "kind") kept-kinds)
               (not (.get entry "steering")))         ; it was accepted before
      (_drop c entry)
      (when (and (= (get entry "kind") "message") (not (.get entry "steering")))
        (-= c.turns 1))))
  (setv waiting (sfor u c.unwritten (id u))
        written (lfor r c.records :if (not (or (.get r "held") (in (id r) waiting))) r)
        c.seq (_highest written "seq" (- c.start 1)))
  (for [entry c.unwritten]
    (+= c.seq 1)
    (setv (get entry "seq") c.seq))
  None)

(defn _drain [c sync]
  "Write the records of C that wait; the last one with SYNC."
  (while c.unwritten
    (setv entry (get c.unwritten 0))
    (try
      (if (= (get entry "kind") "summary")
        (_begin-segment c entry)
        (_write c entry (and sync (= (len c.unwritten) 1))))
      (except [e forms.Unwritable]
        (_drop c entry)
        (raise (StorageFailed (or c.path c.id) f"a record of the kind {(get entry "kind")} cannot be written and was left out: {e}"))))
    (.pop c.unwritten 0))
  None)

(defn _drop [c entry]
  "Take ENTRY, which can never be written, out of C."
  (setv c.unwritten (lfor u c.unwritten :if (is-not u entry) u)
        c.records (lfor r c.records :if (is-not r entry) r)))

(defn _write [c entry sync]
  "Write ENTRY, the next record of C, to its log."
  (when (is c.log None)
    (if (is c.path None)
      (return (_publish c entry))
      (_open-log c)))
  (try
    (.append c.log entry :sync sync)
    (setv c.unsynced (not sync))
    (except [e disk.Lost]
      (when (os.path.lexists c.path)
        (raise))
      (_recreate c entry))))

(defn _open-log [c]
  "Open the newest segment of C for appending."
  (setv c.log (log.Log c.path))
  (.extend c.warnings (or (getattr c.log "warnings" None) [])))

(defn _publish [c entry]
  "Put C on the disk with its first record, ENTRY."
  (when (is c.lease None)
    (setv c.lease (lease.take c.id))
    (when c.lease.warning
      (.append c.warnings c.lease.warning)))
  (setv path (segment.path c.id c.start)
        (get c.header "preview") (listings.preview entry))
  (segment.publish path c.header [entry])
  (setv c.path path)
  (_open-log c))

(defn _recreate [c entry]
  "Write the segment of C anew, ENTRY its last record, because its file was deleted."
  (.close c.log)
  (setv c.log None
        waiting (sfor u c.unwritten (id u))
        records (lfor r c.records :if (and (not (.get r "held")) (not-in (id r) waiting)) r))
  (segment.publish c.path c.header [#* records entry])
  (setv c.unsynced False)
  (.append c.warnings f"{c.path} was deleted while this conversation was running; it was written anew, whole")
  (_open-log c))

(defn _begin-segment [c entry]
  "Begin a new segment of C with the summary ENTRY."
  (setv after (lfor r c.records :if (>= (get r "seq") (get entry "seq")) r)
        start (get entry "seq")
        path (segment.path c.id start)
        header (| c.header (configuration c)
                  {"start" start "turns" c.turns "preamble" (preamble c) "operations" (operations c)}))
  (when (is c.path None)
    (_publish c entry)
    (return))
  (segment.publish path header [entry])
  (when c.log
    (.close c.log))
  (setv c.header header
        c.start start
        c.path path
        c.log None
        c.records after
        c.older {})
  (_open-log c))

(defn sync [c]
  "Wait until every record of C that was written is on the disk."
  (when c.unwritten
    (_drain c True))
  (when (and c.log c.unsynced)
    (disk.sync c.log.descriptor c.path)
    (setv c.unsynced False))
  None)

(defn hold [c record]
  "Add RECORD to C in memory only, until `release`; return it."
  (setv entry (| {"time" (stamp.now)} (stamp.scrub record) {"seq" c.seq "held" True}))
  (.append c.records entry)
  (.add c.call-ids (.get (.get entry "item" {}) "call_id"))
  entry)

(defn release [c]
  "Drop the records of C that are in memory only."
  (when (any (gfor r c.records (.get r "held")))
    (setv c.records (lfor r c.records :if (not (.get r "held")) r)))
  None)

(defn take-warnings [c]
  "Return the warnings of C that were not taken before."
  (setv taken c.warnings
        c.warnings [])
  taken)

;; * What it says

(defn items [c]
  "Return the history of C as neutral items, acceptable to every provider."
  (projection.items c.records))

(defn repair [c]
  "Give every call of C that has no result a durable one that says so; return those records.
A disk that refuses them leaves a warning: history says the same as long as they are missing."
  (setv records (lfor item (projection.unanswered c.records)
                  {"kind" "result" "call_id" (get item "call_id") "tool" (.get item "name" "") "ok" False
                   "text" projection.UNKNOWN "content" [] "seconds" 0 "unknown" True}))
  (try
    (if records (append-all c records) [])
    (except [e StorageFailed]
      (.append c.warnings (str e))
      [])))

(defn configuration [c]
  "Return what C ran with last, {\"provider\" \"model\" \"effort\" \"directory\"}."
  (setv last (dfor k ["provider" "model" "effort"] k (.get c.header k)))
  (for [record c.records]
    (when (= (get record "kind") "configuration")
      (.update last (dfor k last :if (in k record) k (get record k)))))
  (| last {"directory" c.directory}))

(defn preamble [c]
  "Return the record that fixes the system prompt of C, or None before its first turn."
  (or (.get c.header "preamble")
      (next (gfor r c.records :if (= (get r "kind") "preamble") r) None)))

(defn operations [c]
  "Return the newest user operations of C, oldest first."
  (cut [#* (or (.get c.header "operations") [])
        #* (gfor r c.records :if (= (get r "kind") "user-operation") r)]
       (- carried-operations) None))

(defn user-messages [c]
  "Return the message records of C that are in memory, oldest first; a summary gives those that it keeps."
  (lfor r c.records
        message (match (get r "kind")
                  "message" [r]
                  "summary" (or (.get r "messages") [])
                  _ [])
        message))

(defn history-page [c [before None] [count 50]]
  "Return at most COUNT records of C with numbers below BEFORE (None: the newest), oldest first, from whichever segment."
  (setv before (if (is before None) (+ c.seq 1) before)
        page [])
  (for [start (reversed (or (segment.starts c.id) [c.start]))]
    (when (< start before)
      (setv page [#* (_page-of c start before (- count (len page))) #* page]))
    (when (>= (len page) count)
      (break)))
  page)

(defn _page-of [c start before count]
  "Return the last COUNT records of the segment of C from START on with numbers below BEFORE."
  (setv records (cond
                  (= start c.start) (lfor r c.records :if (not (.get r "held")) r)
                  (in start c.older) (get c.older start)
                  True (get (segment.load (segment.path c.id start)) "records")))
  (when (!= start c.start)
    (setv c.older {start records}))
  (cut (lfor r records :if (< (or (.get r "seq") 0) before) r) (- count) None))

;; * Finding

(defn find [text]
  "Return the id of the conversation that TEXT names: an id with or without hyphen, or a prefix that only one has."
  (listings.find text))

(defn listing [[directory None]]
  "Return what `(get (survey directory) \"rows\")` is: one map a conversation, newest first."
  (get (listings.survey directory) "rows"))

(defn survey [[directory None]]
  "Return {\"rows\" [{\"id\" \"directory\" \"time\" \"preview\" \"turns\" \"bytes\" \"in_use\"} ...] newest first, \"notes\" [text ...]}
of the conversations of DIRECTORY, or of all. Reads heads and tails of files only."
  (listings.survey directory))

(defn latest [directory]
  "Return {\"id\" of the newest conversation of DIRECTORY, or None, \"notes\" [text ...] about newer files that were passed over}."
  (listings.latest directory))

(defn newest [directory]
  "Return the id of the newest conversation of DIRECTORY, or None."
  (get (listings.latest directory) "id"))
