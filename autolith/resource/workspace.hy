"The `workspace:` scheme, reading: files, directories and names that nothing has yet.

Results are pages of the protocol. Work on files happens in worker threads. Editing is in resource/change."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  stat
  autolith.resource [change names page protocol snapshot window])

(defparameter most-entries 100_000 "How many entries of one directory are looked at.")

(setv DESCRIPTION (+ "workspace:PATH is a file or directory, relative to the working directory (workspace:. is the"
                     " directory itself) or absolute; %XX stands for any byte of a name. Only lines that a read has shown can be edited."))

(defn key-of [path]
  "Return the key under which the file PATH is observed."
  (+ "workspace:" path))

(defn :async read [context identifier asked]
  "Return the page of the file or directory IDENTIFIER that the window ASKED for shows."
  (await (snapshot.in-thread read-now context identifier asked)))

(defn read-now [context identifier asked]
  "Do what `read` does, on this thread."
  (setv target (names.resolve identifier context.cwd))
  (when (get asked "query")
    (raise (protocol.ResourceError (+ "query searches collections and stored outputs, not files;"
                                      " use search.content, or read without query") :uri (get target "uri"))))
  (try
    (match (get target "kind")
      "file" (file-page context target asked)
      "directory" (directory-page context target asked)
      _ (missing-page context target))
    (except [e OSError]
      (raise (names.failure (get target "uri") e) :from e))
    (except [e snapshot.Unreadable]
      (raise (protocol.ResourceError f"{(get target "uri")}: {e}" :uri (get target "uri")) :from e))))

;; * Files

(defn file-page [context target asked]
  "Return the page of the regular file TARGET that ASKED for."
  (setv uri (get target "uri") start (get asked "start_line")
        room (max 1000 (- page.body-room (len uri)))
        [seen shown] (window.of-file (get target "path") start (get asked "line_count") room
                                     :column (get asked "start_column")))
  (check-window seen uri asked shown)
  (setv entry (.note context.observations (key-of (get target "path")) :uri uri :kind "file"
                     :digest (get seen "digest") :total (get seen "total") :data (get seen "data")))
  (page.observe context entry shown)
  (page.build entry shown :header (+ (_through target) (page.encoding-header seen) (_growing seen))
              :empty "(the file is empty; replace-empty fills it)"))

(defn check-window [seen uri asked shown]
  "Refuse what the snapshot SEEN of URI cannot show of the window ASKED, of which SHOWN was found."
  (when (is (get seen "encoding") None)
    (raise (protocol.ResourceError (+ f"{uri} is no text: {(get seen "size")} bytes in no known encoding;"
                                      " look at an image with fs.view-image, at other data with a command") :uri uri)))
  (setv start (get asked "start_line") total (get seen "total"))
  (when (> start (max 1 total))
    (raise (protocol.ResourceError f"{uri} has {total} lines; start-line {start} is beyond its end" :uri uri)))
  (setv row (when (get shown "cut") (get shown "rows" 0)))
  (when (and row (> (get asked "start_column") (max 1 (get row "length"))))
    (raise (protocol.ResourceError (+ f"line {start} of {uri} has {(get row "length")} characters;"
                                      f" start-column {(get asked "start_column")} is beyond its end") :uri uri))))

(defn _through [target]
  "Return the header field that says where the links of TARGET lead, if there are any."
  (if (and (get target "through") (os.path.islink (.rstrip (get target "through") "/")))
    [f"Link to: {(names.encode (get target "path"))}"]
    []))

(defn _growing [seen]
  "Return the header field that says that the file of the snapshot SEEN is being written."
  (if (.get seen "growing") [f"Still being written: this is its state at {(get seen "size")} bytes"] []))

;; * Missing

(defn missing-page [context target]
  "Return the page that says that there is no TARGET, under a revision with which it can be created."
  (setv entry (.note context.observations (key-of (get target "path")) :uri (get target "uri") :kind "missing"
                     :digest change.MISSING :total 0 :data b""))
  (page.build entry {"rows" [] "cut" False "full" False} :header (_through target)
              :empty "(nothing is there; replace-empty under this revision creates the file)"))

;; * Directories

(defn directory-page [context target asked]
  "Return the page of the directory TARGET: directories first, then the other names, in order."
  (setv [found more] (_entries (get target "path"))
        ordered (sorted found :key (fn [e] #((!= (get e 1) "d") (get e 0))))
        total (len ordered) start (get asked "start_line"))
  (when (> start (max 1 total))
    (raise (protocol.ResourceError f"{(get target "uri")} has {total} entries; start-line {start} is beyond their end"
                                   :uri (get target "uri"))))
  (setv rows (_fitting (get target "path") (cut ordered (- start 1) (+ start -1 (get asked "line_count"))) start)
        digest (snapshot.digest-of (os.fsencode (.join "\0" (gfor [name letter] ordered (+ letter name)))))
        entry (.note context.observations (key-of (get target "path")) :uri (get target "uri") :kind "directory"
                     :digest digest :total total)
        shown {"rows" rows "cut" False "full" False})
  (page.observe context entry shown)
  (page.build entry shown :header (_through target) :empty "(the directory is empty)"
              :notes (if more [f"[only the first {most-entries} entries found were looked at; search.files finds the others]"] [])))

(defn _entries [path]
  "Return #([#(name letter) ..] more) of the directory PATH; more is True if there are too many to look at."
  (setv found [])
  (with [entries (os.scandir path)]
    (for [entry entries]
      (when (>= (len found) most-entries) (return #(found True)))
      (.append found #(entry.name (_letter entry)))))
  #(found False))

(defn _letter [entry]
  "Return d, f, l or o for the directory entry ENTRY."
  (cond
    (.is-symlink entry) "l"
    (.is-dir entry :follow-symlinks False) "d"
    (.is-file entry :follow-symlinks False) "f"
    True "o"))

(defn _fitting [path entries start]
  "Return the rows of ENTRIES of the directory PATH, numbered from START, as many as fit into a page."
  (setv rows [] used 0)
  (for [[i [name letter]] (enumerate entries start)]
    (setv text (_entry-text (os.path.join path name) name letter))
    (+= used (len text) window.PREFIX)
    (when (and rows (> used page.body-room)) (break))
    (.append rows {"number" i "text" text "name" (names.encode name) "type" letter}))
  rows)

(defn _entry-text [path name letter]
  "Return the row of the entry NAME, found at PATH, of the type LETTER: type, size and name."
  (setv size (try (str (. (os.lstat path) st-size)) (except [OSError] "?"))
        shown (names.encode name))
  (match letter
    "d" f"d {"-" :>10} {shown}/"
    "l" f"l {"-" :>10} {shown} -> {(try (names.encode (os.readlink path)) (except [OSError] "?"))}"
    "f" f"f {size :>10} {shown}"
    _ f"o {"-" :>10} {shown}"))

(protocol.register {"name" "workspace" "description" DESCRIPTION "read" read "edit" change.edit})
