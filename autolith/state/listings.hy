"Find and list conversations by the heads and tails of their files, never by reading them whole.

A row is {\"id\" \"directory\" \"time\" \"preview\" \"turns\" \"bytes\" \"in_use\"}; a file that cannot be read becomes a note and no row."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  autolith.base [conditions log text]
  autolith.state [lease segment])

(defparameter preview-width 80 "How many characters of its first message stand for a conversation.")
(defparameter head-records 8 "How many records from the beginning of a file are looked at for its first message.")
(defparameter tail-records 2 "How many records from the end of a file are looked at for the time and the number of turns.")
(defparameter candidates-shown 5 "How many conversations a message about an ambiguous id names.")

(defclass Unknown [conditions.AutolithError]
  "No conversation, or more than one, is named so.")

(defn find [name]
  "Return the id of the conversation that NAME names: an id with or without hyphen, or a prefix that only one has."
  (setv wanted (.replace (.strip (str name)) "-" "")
        found (if wanted (lfor id (_ids) :if (.startswith id wanted) id) []))
  (cond
    (in wanted found) wanted
    (= (len found) 1) (get found 0)
    found (raise (Unknown (+ f"{wanted} begins {(len found)} conversations: {(.join ", " (cut (sorted found) candidates-shown))}"
                             (if (> (len found) candidates-shown) ", ..." "") "; give more of the id")))
    True (raise (Unknown f"no conversation is called {(cut (repr name) 60)}; autolith conversations lists them"))))

(defn _ids []
  "Return the ids of all conversations."
  (try
    (setv entries (list (os.scandir (segment.root))))
    (except [OSError] (return [])))
  (lfor e entries :if (and (.isalnum e.name) (.is-dir e)) e.name))

(defn preview [record]
  "Return the beginning of what the message RECORD says, on one line; nothing for a record of another kind."
  (setv content (if (= (.get record "kind") "message") (.get record "content") "")
        words (if (isinstance content str)
                content
                (.join " " (gfor block content (.get block "text" "")))))
  (text.one-line words preview-width))

(defn _first-preview [path]
  "Return the preview of the first message near the beginning of the segment PATH."
  (next (gfor record (log.head path head-records)
              :setv words (preview record)
              :if words
              words)
        ""))

(defn survey [[directory None]]
  "Return {\"rows\" \"notes\"} of the conversations of DIRECTORY, or of all, newest first."
  (setv active (lease.held)
        place (when directory (_place directory))
        rows []
        notes [])
  (for [id (_ids)]
    (try
      (setv row (_row id active))
      (except [e [OSError ValueError KeyError TypeError AttributeError conditions.AutolithError]]
        (.append notes f"conversation {id} was left out: {e}")
        (continue)))
    (when (and row (or (is place None) (= place (_place (get row "directory")))))
      (.append rows row)))
  (.sort rows :key (fn [row] (get row "time")) :reverse True)
  {"rows" rows "notes" (sorted notes)})

(defn _place [directory]
  "Return DIRECTORY as two names of the same place compare equal."
  (os.path.realpath directory))

(defn _row [id active]
  "Return the row of the conversation ID, or None when it has no segment yet; ACTIVE are those in use."
  (setv starts (segment.starts id))
  (when (not starts) (return None))
  (setv path (segment.path id (get starts -1))
        header (_header path)
        end (log.tail path tail-records)
        records (lfor r end :if (!= (.get r "kind") "conversation") r))
  {"id" id
   "directory" (_last records "directory" (get header "directory"))
   "time" (_last records "time" (get header "created"))
   "preview" (or (.get header "preview") (_first-preview path))
   "turns" (_last records "turn" (.get header "turns" 0))
   "bytes" (sum (gfor s starts (os.path.getsize (segment.path id s))))
   "in_use" (in id active)})

(defn _header [path]
  "Return the header of the segment PATH; raise ValueError without one."
  (setv first (get [#* (log.head path 1) {}] 0))
  (when (!= (.get first "kind") "conversation")
    (raise (ValueError f"{path} does not begin with a readable header")))
  first)

(defn _last [records key otherwise]
  "Return the value of KEY in the last of RECORDS that has it, or OTHERWISE."
  (next (gfor r (reversed records) :if (is-not (.get r key) None) (get r key)) otherwise))

(defn newest [directory]
  "Return the id of the newest conversation of DIRECTORY, or None; looks at newer files first and stops at the first hit."
  (setv place (_place directory))
  (for [[_ id path] (sorted (filter None (map _age (_ids))) :reverse True)]
    (try
      (setv stored (_last (log.tail path tail-records) "directory" (get (_header path) "directory")))
      (except [[OSError ValueError KeyError TypeError]] (continue)))
    (when (= place (_place stored))
      (return id)))
  None)

(defn _age [id]
  "Return #(time id path) of the newest segment of the conversation ID, or None."
  (setv starts (segment.starts id))
  (when starts
    (setv path (segment.path id (get starts -1)))
    (try
      #((. (os.stat path) st-mtime-ns) id path)
      (except [OSError] None))))
