"Find and list conversations by the heads and tails of their files, never by reading them whole.

A row is {\"id\" \"directory\" \"time\" \"preview\" \"turns\" \"bytes\" \"in_use\"}; a file that cannot be read becomes a note and no row,
one whose header is damaged a note and a row of what the rest says. Facts are {\"path\" \"header\" {} where damaged
\"directory\" None where nothing says it \"end\" the last records \"damaged\"} of the newest segment that has a record."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  datetime
  os
  autolith.base [conditions log text]
  autolith.state [lease segment])

(defparameter preview-width 80 "How many characters of its first message stand for a conversation.")
(defparameter head-records 40 "How many records from the beginning of a file are looked at for its first message.")
(defparameter tail-records 2 "How many records from the end of a file are looked at for the time and the number of turns.")
(defparameter unreadable [OSError ValueError KeyError TypeError AttributeError conditions.AutolithError]
  "What a file that is no conversation may raise.")
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
      (setv facts (_facts id)
            row (when facts (_row id facts active)))
      (except [e [#* unreadable]]
        (.append notes (_left-out id e))
        (continue)))
    (when (and row (_wanted? facts place))
      (.append rows row))
    (when (and row (get facts "damaged"))
      (.append notes (_damage id facts))))
  (.sort rows :key (fn [row] (get row "time")) :reverse True)
  {"rows" rows "notes" (sorted notes)})

(defn _left-out [id error]
  "Return the note about the conversation ID, which ERROR keeps out of the list."
  f"conversation {id} was left out: {error}")

(defn _damage [id facts]
  "Return the note about the conversation ID, of FACTS, whose header is damaged."
  (+ f"conversation {id}: {(get facts "path")} does not begin with a readable header"
     (if (get facts "directory") "" ", and nothing in it tells its directory")
     f"; autolith resume {id} opens what is left"))

(defn _wanted? [facts place]
  "Tell whether the conversation of FACTS is one of PLACE, or PLACE is None."
  (or (is place None)
      (and (is-not (get facts "directory") None) (= place (_place (get facts "directory"))))))

(defn _place [directory]
  "Return DIRECTORY as two names of the same place compare equal."
  (os.path.realpath directory))

(defn _facts [id]
  "Return the facts about the conversation ID, or None when it has no segment yet; raise ValueError when none has a record."
  (setv starts (segment.starts id))
  (for [start (reversed starts)]
    (setv path (segment.path id start)
          end (lfor r (log.tail path tail-records) :if (not-in (.get r "kind") [None "conversation"]) r))
    (when end
      (setv header (_header path))
      (return {"path" path "header" header "end" end "damaged" (not header)
               "directory" (or (last end "directory") (.get header "directory") (directory-of id path))})))
  (when starts
    (raise (ValueError f"{path} holds no readable record"))))

(defn _row [id facts active]
  "Return the row of the conversation ID, of FACTS; ACTIVE are those in use."
  (setv path (get facts "path")
        header (get facts "header")
        end (get facts "end"))
  {"id" id
   "directory" (or (get facts "directory") "unknown")
   "time" (or (last end "time") (.get header "created") (_changed path))
   "preview" (or (.get header "preview") (_first-preview path))
   "turns" (or (last end "turn") (.get header "turns") 0)
   "bytes" (sum (gfor s (segment.starts id) (os.path.getsize (segment.path id s))))
   "in_use" (in id active)})

(defn _changed [path]
  "Return when the file PATH changed last, as records tell times."
  (setv time (datetime.datetime.fromtimestamp (os.path.getmtime path) datetime.timezone.utc))
  (.replace (.isoformat time :timespec "milliseconds") "+00:00" "Z"))

(defn _header [path]
  "Return the header of the segment PATH, or an empty map where it is damaged."
  (setv first (get [#* (log.head path 1) {}] 0))
  (if (= (.get first "kind") "conversation") first {}))

(defn last [records key]
  "Return the value of KEY in the last of RECORDS that has it, or None."
  (next (gfor r (reversed records) :if (is-not (.get r key) None) (get r key)) None))

(defn directory-of [id path]
  "Return the directory of the conversation ID as what is left of a damaged header tells it, that of the segment PATH, or
the records after it, or the headers of older segments; else None."
  (or (segment.stray-directory path)
      (last (log.head path head-records) "directory")
      (next (gfor start (reversed (segment.starts id))
                  :setv found (.get (_header (segment.path id start)) "directory")
                  :if found
                  found)
            None)))

(defn latest [directory]
  "Return {\"id\" of the newest conversation of DIRECTORY, or None, \"notes\" about newer ones that had to be passed over}; looks
at newer files first and stops at the first hit."
  (setv place (_place directory)
        notes [])
  (for [[_ id] (sorted (filter None (map _age (_ids))) :reverse True)]
    (try
      (setv facts (_facts id))
      (except [e [#* unreadable]]
        (.append notes (_left-out id e))
        (continue)))
    (when (_wanted? facts place)
      (return {"id" id "notes" notes}))
    (when (is (get facts "directory") None)
      (.append notes (_damage id facts))))
  {"id" None "notes" notes})

(defn _age [id]
  "Return #(time id) of the newest segment of the conversation ID, or None."
  (setv starts (segment.starts id))
  (when starts
    (try
      #((. (os.stat (segment.path id (get starts -1))) st-mtime-ns) id)
      (except [OSError] None))))
