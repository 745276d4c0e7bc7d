"The `output:` scheme: windows of, and searches in, texts that were too long for the model and were stored.

`output:DIGEST` is read like a file; with a query the page's lines are those that hold it, with their own numbers."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  re
  autolith.base [conditions]
  autolith.resource [lines page protocol snapshot window workspace]
  autolith.state [output])

(defparameter around 160 "How many characters of a long line are shown on each side of what a query found.")

(setv DESCRIPTION (+ "output:DIGEST is a result that was too long to show, stored whole: read it by window,"
                     " or find lines in it with query (plain text; a query in lower case ignores case)."))

(defn :async read [context identifier asked]
  "Return the page of the stored output IDENTIFIER that the window ASKED for shows."
  (await (snapshot.in-thread read-now context identifier asked)))

(defn read-now [context identifier asked]
  "Do what `read` does, on this thread."
  (setv uri (+ "output:" identifier))
  (try
    (setv path (output.path identifier))
    (if (get asked "query")
      (_found context uri path asked)
      (_shown context uri path asked))
    (except [e output.NoOutput]
      (raise (protocol.ResourceError e.message :uri uri) :from e))
    (except [e [OSError snapshot.Unreadable]]
      (raise (protocol.ResourceError f"{uri}: {e}; make the call that gave it again" :uri uri) :from e))))

(defn _shown [context uri path asked]
  "Return the page of the window ASKED of the output URI in the file PATH."
  (setv [seen shown] (window.of-file path (get asked "start_line") (get asked "line_count") page.body-room
                                     :column (get asked "start_column")))
  (workspace.check-window seen uri asked shown)
  (_page context uri seen shown :header (page.encoding-field (get seen "encoding"))))

(defn _page [context uri seen shown #** more]
  "Return the page of SHOWN of the output URI, whose snapshot is SEEN; MORE goes to the rendering."
  (setv entry (.note context.observations uri :uri uri :kind "output" :digest (get seen "digest") :total (get seen "total")))
  (page.observe context entry shown)
  (page.build entry shown #** more))

;; * Search

(defn _found [context uri path asked]
  "Return the page of the lines of the output URI, from the line ASKED for on, that hold the query."
  (setv seen (snapshot.scan path) query (get asked "query")
        [rows more] (_matches path (_pattern query) (get asked "start_line") (get asked "max_results"))
        shown {"rows" rows "cut" False "full" False}
        last (if rows (get rows -1 "number") 0))
  (_page context uri seen shown :found True
         :header [f"Query: {query}" f"Matching lines shown: {(len rows)}"]
         :empty f"(no line from {(get asked "start_line")} on holds the query)"
         :notes (if more [f"[there are more matches: repeat the query with start-line {(+ last 1)}]"] [])))

(defn _pattern [query]
  "Return the pattern that finds QUERY as it is, in any case unless it has capitals."
  (re.compile (re.escape query) (if (= query (.lower query)) re.IGNORECASE 0)))

(defn _matches [path pattern start most]
  "Return #(rows more) of the lines of the file PATH, from START on, where PATTERN matches: at most MOST, and no more than fit."
  (setv rows [] used 0)
  (with [f (open path :encoding "utf-8" :errors "backslashreplace" :newline "\n")]
    (for [[number line] (enumerate f 1)]
      (setv m (when (>= number start) (.search pattern line)))
      (when m
        (setv row (_row number (lines.bare line) m))
        (+= used (len (page.numbered [row])) 1)
        (when (and rows (or (= (len rows) most) (> used page.body-room)))
          (return #(rows True)))
        (.append rows row))))
  #(rows False))

(defn _row [number text m]
  "Return the row of line NUMBER, TEXT, in which the match M was found; of a long line the part around it."
  (when (<= (len text) (* 4 around))
    (return {"number" number "text" text}))
  (setv a (max 0 (- (.start m) around)) b (min (len text) (+ (.end m) around) (+ a (* 4 around))))
  {"number" number "text" (cut text a b) "columns" [(+ a 1) b] "length" (len text)})

(protocol.register {"name" "output" "description" DESCRIPTION "read" read "edit" None})
