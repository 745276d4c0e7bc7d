"The resource protocol: what can be read and edited by URI, and what of it was shown to whom.

A URI is SCHEME:IDENTIFIER. A scheme is {\"name\" \"description\" (for the model) \"read\" f \"edit\" f or None}, both coroutine functions:
(read context identifier window) -> a page, (edit context changes) -> an outcome. A window is {\"start_line\" \"line_count\"
\"start_column\" \"query\" \"max_results\"}. A page is {\"uri\" \"revision\" \"kind\" \"visible\" [[a b] ..] \"elided\" [[a b] ..] \"lines\" [row ..]
\"total\" \"text\"}, a row {\"number\" \"text\"}. Changes are [{\"uri\" \"base_revision\" \"operations\"} ..], in `edit` of a scheme also with
\"identifier\". An outcome is {\"changes\" [{\"uri\" \"revision\" \"added\" \"removed\" \"diff\"} ..] \"text\"}.

An observation is what one reader was shown of one state of a resource: {\"alias\" its revision \"key\" \"uri\" \"kind\" \"digest\"
\"total\" \"visible\" ranges \"columns\" {line ranges} \"data\" bytes or None}."

(eval-when-compile (require autolith.base.macros [defonce defparameter restart-case]))
(import
  hashlib
  re
  threading
  collections [OrderedDict]
  autolith.base [conditions]
  autolith.resource [ranges])

(defparameter default-lines 400 "How many lines a read shows when nobody says.")
(defparameter most-lines 1000 "The most lines one read shows.")
(defparameter kept-observations 256 "How many observations one reader keeps; the oldest go first.")
(defparameter kept-bytes (* 16 1024 1024) "How many bytes of observed content one reader keeps, to say what has changed since.")

(defonce _schemes {} "The registered schemes by name.")

(defclass ResourceError [conditions.AutolithError]
  "A resource, URI, cannot be read or edited as asked; RESTARTS are the ways on. `change` is the change that failed, if one did."
  (defn __init__ [self [message ""] [restarts #()] * [uri None]]
    (.__init__ (super) message restarts)
    (setv self.uri uri
          self.change None)))

(setv REREAD #("reread" "Read the resource as it is now; nothing is changed.")
      CREATE #("create" "Create the missing file with the given content."))

;; * Schemes

(defn register [scheme]
  "Make SCHEME known, in the place of one with its name."
  (setv (get _schemes (get scheme "name")) scheme))

(defn registered []
  "Return the registered schemes, by name."
  (lfor [_ scheme] (sorted (.items _schemes)) scheme))

(defn snapshot []
  "Return the registrations as they are, for `restore`."
  (dict _schemes))

(defn restore [kept]
  "Put back the registrations KEPT by `snapshot`."
  (.clear _schemes)
  (.update _schemes kept))

(defn describe [[operation "read"]]
  "Return what the registered schemes say of themselves to a model; only those with the OPERATION, read or edit."
  (.join " " (lfor scheme (registered) :if (.get scheme operation) (get scheme "description"))))

(defn parse [uri]
  "Return #(scheme identifier) of URI, the scheme a map."
  (when (not (isinstance uri str))
    (raise (ResourceError f"a URI is a string such as \"workspace:.\", not {(cut (repr uri) 80)}")))
  (setv m (re.fullmatch r"([A-Za-z][A-Za-z0-9+.-]*):(.*)" uri re.DOTALL))
  (when (not m)
    (raise (ResourceError f"{(cut (repr uri) 200)} has no scheme; write SCHEME:IDENTIFIER, for a file workspace:{(or (cut uri 200) ".")}")))
  (setv [name identifier] (.groups m))
  (when (not-in name _schemes)
    (raise (ResourceError f"there is no scheme {name}: in {(cut (repr uri) 200)}; known: {(_names)}")))
  (when (or (not (.strip identifier)) (re.search r"[\x00-\x1f\x7f]" identifier))
    (raise (ResourceError (+ f"{(cut (repr uri) 200)} is malformed: after {name}: comes a name without control characters"
                             f" (write them as %0A), for the whole {name}:."))))
  #((get _schemes name) identifier))

(defn _names []
  "Return the names of the registered schemes, for a message."
  (or (.join ", " (gfor scheme (registered) f"{(get scheme "name")}:")) "none"))

;; * Observations

(defclass Observations []
  "What one reader was shown: observations by alias, and how the reader's own edits moved lines. Bounded, oldest out first."

  (defn __init__ [self]
    (setv self.entries (OrderedDict)
          self.steps (OrderedDict)
          self.lock (threading.RLock)))

  (defn note [self key * uri kind digest total [data None]]
    "Return the observation of the resource KEY with the content DIGEST, the same one as before for the same content."
    (setv text (.join "\0" [key kind digest])
          alias (+ "R" (cut (.hexdigest (hashlib.sha256 (.encode text "utf-8" "surrogateescape"))) 16)))
    (with [self.lock]
      (setv entry (.get self.entries alias))
      (when (is entry None)
        (setv entry {"alias" alias "key" key "kind" kind "digest" digest "visible" [] "columns" {}}
              (get self.entries alias) entry))
      (.update entry {"uri" uri "total" total "data" (if (is data None) (.get entry "data") data)})
      (.move-to-end self.entries alias)
      (_forget-oldest self)
      entry))

  (defn show [self entry first last]
    "Note that the lines FIRST to LAST of ENTRY were shown whole."
    (with [self.lock]
      (setv (get entry "visible") (ranges.merge (get entry "visible") first last))))

  (defn show-columns [self entry line columns length]
    "Note that COLUMNS [a b] of LINE of ENTRY were shown; a line shown to its LENGTH piece by piece was shown whole."
    (with [self.lock]
      (setv shown (ranges.merge (.get (get entry "columns") line []) #* columns)
            (get entry "columns" line) shown)
      (when (ranges.covers? shown 1 length)
        (.show self entry line line))))

  (defn find [self alias]
    "Return the observation ALIAS, or None."
    (with [self.lock]
      (.get self.entries alias)))

  (defn step [self key before after kept]
    "Note that an edit took KEY from the digest BEFORE to AFTER; KEPT are the untouched lines [#(first last shift) ..]."
    (with [self.lock]
      (setv (get self.steps #(key before)) #(after kept))
      (.move-to-end self.steps #(key before))
      (while (> (len self.steps) kept-observations)
        (.popitem self.steps :last False))))

  (defn path [self key before after]
    "Return the steps that took KEY from the digest BEFORE to AFTER, or None where something else changed it."
    (setv steps [] seen #{before} at before)
    (with [self.lock]
      (while (!= at after)
        (setv [at kept] (.get self.steps #(key at) #(None None)))
        (when (or (is at None) (in at seen)) (return None))
        (.add seen at)
        (.append steps kept)))
    steps))

(defn _forget-oldest [observations]
  "Drop from OBSERVATIONS what is over the bounds, the oldest first: entries, and of those that stay the content."
  (setv entries observations.entries)
  (while (> (len entries) kept-observations)
    (.popitem entries :last False))
  (setv left kept-bytes)
  (for [entry (reversed (.values entries))]
    (setv data (get entry "data"))
    (when (is-not data None)
      (-= left (len data))
      (when (< left 0) (setv (get entry "data") None)))))

(defclass Context []
  "Who reads or edits: CWD relative names start from it, OBSERVATIONS what was shown, CONVERSATION the record or None."
  (defn __init__ [self cwd [observations None] [conversation None]]
    (setv self.cwd cwd
          self.observations (or observations (Observations))
          self.conversation conversation)))

;; * Reading and editing

(defn :async read [context uri [window None]]
  "Return the page of URI that WINDOW asks for, and note in CONTEXT what was shown."
  (setv [scheme identifier] (parse uri))
  (await ((get scheme "read") context identifier (_checked window))))

(defn _checked [window]
  "Return WINDOW with every field sound and present."
  (setv asked (or window {})
        count (.get asked "line_count"))
  {"start_line" (_positive asked "start_line" 1)
   "line_count" (min most-lines (_positive asked "line_count" default-lines))
   "start_column" (_positive asked "start_column" 1)
   "query" (.get asked "query")
   "max_results" (min most-lines (_positive asked "max_results" 50))})

(defn _positive [asked name default]
  "Return the field NAME of ASKED, a number from 1 up, or DEFAULT when it is not there."
  (setv value (.get asked name))
  (when (is value None)
    (return default))
  (when (or (isinstance value bool) (not (isinstance value int)) (< value 1))
    (raise (ResourceError f"{(hy.unmangle name)} is an integer from 1 up, not {value !r}")))
  value)

(defn :async edit [context changes]
  "Apply CHANGES, all or none of them, and return the outcome.
A failure is signalled with the restarts it names still open: `reread` gives the present page instead, `create` makes a missing file."
  (setv [scheme known] (_one-scheme changes))
  (try
    (return (await ((get scheme "edit") context known)))
    (except [e ResourceError]
      (setv error e)))
  (await (_offer context scheme known error)))

(defn _one-scheme [changes]
  "Return #(scheme CHANGES with identifiers): one call edits one scheme only."
  (when (not changes)
    (raise (ResourceError "there is nothing to edit; give at least one change")))
  (setv parsed (lfor change changes (parse (get change "uri")))
        scheme (get parsed 0 0))
  (when (any (gfor [s _] parsed (!= (get s "name") (get scheme "name"))))
    (raise (ResourceError "one call edits resources of one scheme; edit the others in a call of their own")))
  (when (not (.get scheme "edit"))
    (raise (ResourceError f"{(get scheme "name")}: resources are read-only")))
  #(scheme (lfor [change [_ identifier]] (zip changes parsed)
                 {#** change "identifier" identifier})))

(defn :async _offer [context scheme changes error]
  "Signal ERROR of editing CHANGES with the restarts that it names; return what the one taken gives."
  (setv names (lfor [name #* _] error.restarts name)
        again (fn [] (_reread context scheme changes error)))
  (cond
    (in "create" names)
      (restart-case (await (conditions.asignal error))
        (reread [] "Read the resource as it is now; nothing is changed." (await (again)))
        (create [] "Create the missing file with the given content." (await (_create context scheme changes))))
    (in "reread" names)
      (restart-case (await (conditions.asignal error))
        (reread [] "Read the resource as it is now; nothing is changed." (await (again))))
    True (await (conditions.asignal error))))

(defn :async _reread [context scheme changes error]
  "Return the present page of what ERROR is about, or of the first of CHANGES."
  (setv change (or error.change (get changes 0))
        first (_first-line (get change "operations"))
        page (await (_page-at context scheme (get change "identifier") first)))
  {#** page "changes" [] "text" (+ "Nothing was changed. This is how it is now.\n" (get page "text"))})

(defn :async _page-at [context scheme identifier line]
  "Return the page of IDENTIFIER from LINE on, from the start if there are fewer lines by now."
  (try
    (return (await ((get scheme "read") context identifier (_checked {"start_line" line}))))
    (except [ResourceError] None))
  (await ((get scheme "read") context identifier (_checked None))))

(defn _first-line [operations]
  "Return where a page should begin that shows what OPERATIONS address."
  (setv numbers (lfor o operations key #("line" "start_line") :if (isinstance (.get o key) int) (get o key)))
  (max 1 (- (min numbers :default 1) 2)))

(defn :async _create [context scheme changes]
  "Apply CHANGES although what is missing was never seen to be missing."
  (await ((get scheme "edit") context (lfor c changes {#** c "create" True}))))
