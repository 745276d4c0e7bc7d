"How the search tools find: ripgrep's output to pages of files and of matching lines.

A listing is {\"paths\" [relative path ..] \"notes\" [sentence ..]}, NOTES what keeps it from being whole. A found file is
{\"path\" \"lines\" [{\"number\" \"text\" \"match\" bool} ..] \"matches\" n \"more\" bool}; a sweep is {\"files\" [found ..] \"status\" \"errors\"
\"full\" bool}, FULL when it was ended because it had enough."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  re
  time
  autolith.base [conditions text]
  autolith.resource [names]
  autolith.tool [result]
  autolith.work [globs ripgrep])

(defparameter most-paths 200000 "How many paths a search by name looks at.")
(defparameter most-lines 5000 "How many lines an unsorted search gathers before it starts again in order.")
(defparameter list-seconds 10.0 "How long a search by name may take.")
(defparameter line-width 300 "How many characters of one line are shown.")
(defparameter skipped-folders [".git" ".hg" ".svn" ".jj"] "Folders that no search enters.")

(defclass SearchError [conditions.AutolithError]
  "A search was asked for wrongly, or could not be done.")

;; * Arguments

(defn clamped [n low high]
  "Return N, or the nearer of LOW and HIGH if it lies outside."
  (max low (min high n)))

(defn one-line [value name]
  "Refuse VALUE, the argument NAME, unless it is one line of text that a program can be given."
  (cond
    (not (.strip value)) (raise (SearchError f"{name} is empty; give the text to look for"))
    (re.search r"[\n\r]" value) (raise (SearchError f"{name} spans lines; searches go line by line, so give one line"))
    (or (in "\0" value) (!= value (text.repair value)))
      (raise (SearchError f"{name} holds characters that no text file has; leave them out"))))

(defn patterns [query several mode]
  "Return the texts to find: [QUERY], or SEVERAL, which go with MODE plain only."
  (when (= (is query None) (not several))
    (raise (SearchError "give exactly one of query and patterns")))
  (when (and several (!= mode "plain"))
    (raise (SearchError "patterns are literal texts; for a regular expression give query and mode regex")))
  (setv texts (if several several [query]))
  (for [t texts] (one-line t (if several "patterns" "query")))
  texts)

(defn quoted [pattern]
  "Return PATTERN as one word of a filter, whatever it holds."
  (import shlex)
  (shlex.quote pattern))

(defn _common [filter hidden]
  "Return ripgrep's options for FILTER and HIDDEN files."
  (+ ["--no-require-git"]
     (if (or hidden (.hidden? filter)) ["--hidden"] [])
     (lfor folder skipped-folders f"--glob=!{folder}")
     (.options filter)))

(defn _roots [filter]
  "Return the folders of FILTER that ripgrep searches, last on its command line."
  (+ ["--"] (or (lfor r filter.roots (+ "./" r)) ["./"])))

(defn _path [name]
  "Return ripgrep's NAME of a file as a relative path."
  (.removeprefix (os.fsdecode name) "./"))

(defn uri [path]
  "Return the workspace: URI of the relative PATH."
  (+ "workspace:" (if (.startswith path "~") "./" "") (names.encode path)))

(defn _complaints [outcome]
  "Return the sentences about what OUTCOME of ripgrep could not read; raise if it could not search at all."
  (setv lines (lfor line (.splitlines (get outcome "errors")) :if (.strip line) (.removeprefix line "rg: "))
        unreadable (lfor line lines :if (in "(os error" line) line))
  (when (and (= (get outcome "code") 2) (!= lines unreadable))
    (raise (SearchError (.strip (.join "\n" (lfor line lines :if (not-in "(os error" line) line))))))
  (if unreadable
    [f"{(len unreadable)} could not be read, the first: {(text.one-line (get unreadable 0))}"]
    []))

;; * Files by name

(defn :async list-files [filters cwd hidden]
  "Return the listing of the files under CWD that FILTERS keep; HIDDEN ones too if true."
  (setv filter (globs.parse filters cwd)
        splitter (ripgrep.Splitter :names-only True)
        paths [])
  (defn take [chunk]
    (for [[name _] (.feed splitter chunk)]
      (setv path (_path name))
      (when (.keeps? filter path) (.append paths path)))
    (>= (len paths) most-paths))
  (setv outcome (await (ripgrep.run ["--files" "--null" #* (_common filter hidden) #* (_roots filter)]
                                    cwd take :seconds list-seconds))
        notes (_complaints outcome))
  (match (get outcome "status")
    "late" (.append notes f"stopped after {list-seconds} s: not all files were looked at; search in a folder")
    "stopped" (.append notes f"only {most-paths} files were looked at; search in a folder"))
  {"paths" paths "notes" notes})

(defn :async ranked [query paths]
  "Return those of PATHS that fit QUERY, best first; many are ranked in a thread."
  (if (< (len paths) 2000)
    (rank query paths)
    (do
      (import asyncio)
      (await (asyncio.to-thread rank query paths)))))

(defn rank [query paths]
  "Return those of PATHS that fit each word of QUERY, best first, equals by length and name."
  (setv words (.split (.lower query)) found paths)
  (for [word words]
    (setv letters (re.compile (.join ".*?" (map re.escape word)) (| re.IGNORECASE re.DOTALL))
          found (lfor path found :if (.search letters path) path)))
  (setv rows (lfor path found #((- (sum (gfor word words (_score word (.lower path))))) (len path) path)))
  (lfor [_ _ path] (sorted rows) path))

(defn _score [word path]
  "Return how well WORD fits PATH, both in lower case: the file name counts most, scattered letters least."
  (setv name (get (.rpartition path "/") 2)
        stem (get (.partition name ".") 0))
  (cond
    (or (= word name) (= word stem)) 100
    (.startswith name word) 80
    (in word name) 60
    (in word path) 40
    (re.search (.join ".*?" (map re.escape word)) name) 20
    True 1))

(defn page-of-files [paths listing cwd page size nothing]
  "Return the result that is PAGE, of SIZE files, of PATHS found in LISTING under CWD; NOTHING is said if there are none."
  (setv size (clamped size 1 100)
        page (max 0 page)
        first (* page size)
        shown (lfor path (cut paths first (+ first size)) (uri path))
        left (- (len paths) first (len shown)))
  (setv lines (cond
                (not paths) [nothing]
                (not shown) [f"Page {page} is empty: there are {(len paths)} files, {size} to a page."]
                True (list shown)))
  (when (> left 0)
    (.append lines f"[{left} more of {(len paths)}; the next: :page {(+ page 1)}]"))
  (.extend lines (lfor note (get listing "notes") f"[{note}]"))
  (result.ToolResult :text (.join "\n" lines)
                     :data {"files" shown "total" (len paths) "next_page" (when (> left 0) (+ page 1))
                            "complete" (not (get listing "notes"))}))

;; * Lines by content

(defn :async content [texts * mode case constraints hidden limits cwd]
  "Return the result of searching for TEXTS as MODE and CASE say, in the files that CONSTRAINTS keep, within LIMITS."
  (setv filter (globs.parse constraints cwd)
        end (+ (time.monotonic) (get limits "seconds"))
        options (_content-options texts mode case filter hidden limits)
        found (await (_sweep options filter limits cwd end False)))
  (when (get found "full")
    (setv found (await (_sweep ["--sort=path" #* options] filter limits cwd end True))))
  (_page-of-lines found texts limits))

(defn _content-options [texts mode case filter hidden limits]
  "Return ripgrep's options and roots for a search for TEXTS."
  [#* (_common filter hidden)
   "--null" "--line-number" "--column" "--no-heading" "--with-filename" "--color=never" "--no-context-separator"
   f"--max-count={(+ 1 (get limits "per_file"))}" f"--context={(get limits "context")}"
   #* (if (= mode "plain") ["--fixed-strings"] ["--engine=auto"])
   #* (match case "smart" ["--smart-case"] "insensitive" ["--ignore-case"] _ ["--case-sensitive"])
   #* (lfor t texts f"--regexp={t}")
   #* (_roots filter)])

(defclass Gatherer []
  "Gathers ripgrep's lines by file, in the order in which files come."
  (defn __init__ [self filter limits in-order]
    (setv self.filter filter
          self.limits limits
          self.in-order in-order
          self.splitter (ripgrep.Splitter)
          self.kept {}
          self.files {}
          self.lines 0))

  (defn take [self chunk]
    "Take CHUNK of output; answer whether there is enough."
    (for [[name line] (.feed self.splitter chunk)]
      (setv rows (self.rows-of name)
            parsed (when (is-not rows None) (ripgrep.parse-line line)))
      (when parsed
        (.append rows parsed)
        (+= self.lines 1)))
    (if self.in-order
      (> (len self.files) (+ (get self.limits "offset") (get self.limits "results") 1))
      (> self.lines most-lines)))

  (defn rows-of [self name]
    "Return the list for the lines of the file NAME, None if the filter refuses it."
    (when (not-in name self.kept)
      (setv path (_path name)
            (get self.kept name) (when (.keeps? self.filter path) (.setdefault self.files path []))))
    (get self.kept name)))

(defn :async _sweep [options filter limits cwd end in-order]
  "Run one search until time END; return the sweep. IN-ORDER: files come sorted, and the page's are enough."
  (setv gatherer (Gatherer filter limits in-order)
        outcome (await (ripgrep.run options cwd gatherer.take :seconds (max 0.001 (- end (time.monotonic))))))
  {"files" (lfor path (sorted gatherer.files :key (fn [p] (.split p "/")))
                 (_found path (get gatherer.files path) limits))
   "status" (get outcome "status") "full" (and (not in-order) (= (get outcome "status") "stopped"))
   "notes" (_complaints outcome)})

(defn _found [path rows limits]
  "Return the found file PATH of the parsed lines ROWS, cut to the number of matches that LIMITS allow."
  (setv most (get limits "per_file") around (get limits "context")
        numbers (lfor [n column _] rows :if (is-not column None) n)
        allowed (cut numbers most)
        last (if (> (len numbers) most) (+ (get allowed -1) around) None))
  {"path" path "matches" (len allowed) "more" (> (len numbers) most)
   "lines" (lfor [n column data] rows
                 :if (or (is last None) (<= n last))
                 :if (or (is column None) (in n allowed))
                 {"number" n "match" (is-not column None) "text" (_excerpt data column)})})

(defn _excerpt [data column]
  "Return the bytes DATA of a line as text, cut to what is around the match at byte COLUMN."
  (setv data (.rstrip data b"\r"))
  (when (<= (len data) line-width)
    (return (_decoded data)))
  (setv at (max 0 (- (or column 1) 1))
        start (if (> at (// line-width 2)) (- at (// line-width 4)) 0)
        part (.strip (_decoded (cut data start (+ start line-width))) "\ufffd"))
  (+ (if (> start 0) "…" "") part (if (< (+ start line-width) (len data)) "…" "")))

(defn _decoded [data]
  "Return the bytes DATA as visible text."
  (text.visible (.decode data "utf-8" "replace")))

(defn _page [files limits]
  "Return #(the found files of the page that LIMITS ask for, how many files it covers)."
  (setv left (get limits "results") page [])
  (for [f (cut files (get limits "offset") None)]
    (cond
      (<= (get f "matches") left) (.append page f)
      (not page) (.append page (_first-matches f left))
      True (break))
    (-= left (get f "matches"))
    (when (<= left 0) (break)))
  page)

(defn _first-matches [f count]
  "Return the found file F with its first COUNT matches only."
  (setv matching (lfor line (get f "lines") :if (get line "match") (get line "number"))
        last (get matching (- count 1)))
  {#** f "matches" count "more" True
   "lines" (lfor line (get f "lines") :if (<= (get line "number") last) line)})

(defn _page-of-lines [found texts limits]
  "Return the result that shows the page LIMITS ask for of the sweep FOUND."
  (setv files (get found "files") page (_page files limits)
        following (+ (get limits "offset") (len page))
        more (or (> (len files) following) (and (= (get found "status") "stopped") page))
        late (= (get found "status") "late")
        lines (lfor f page line (_file-lines f) line)
        notes (get found "notes"))
  (when (not page)
    (.append lines (if files f"No more files with matches: there are {(len files)}." (_nothing texts late))))
  (when more
    (.append lines f"[more files match; continue with :file-offset {following}]"))
  (when late
    (.append notes (+ f"stopped after {(int (* 1000 (get limits "seconds")))} ms, so matches may be missing;"
                      " narrow constraints or raise time-budget-ms")))
  (.extend lines (lfor note notes f"[{note}]"))
  (result.ToolResult :text (.join "\n" lines)
                     :data {"files" (lfor f page {"uri" (uri (get f "path")) "matches" (get f "matches")
                                                  "more" (get f "more") "lines" (get f "lines")})
                            "matches" (sum (gfor f page (get f "matches")))
                            "next_file_offset" (when more following) "complete" (not notes)}))

(defn _nothing [texts late]
  "Return the sentence that nothing matched TEXTS, if the search was not LATE."
  (setv sought (text.one-line (.join " or " (map repr texts))))
  (if late f"No match for {sought} was found in the time." f"No line matches {sought}."))

(defn _file-lines [f]
  "Return the lines that show the found file F: its URI, then numbered lines, `:` after the number of a match."
  (setv width (len (str (get f "lines" -1 "number"))) rows [(uri (get f "path"))] before None)
  (for [line (get f "lines")]
    (when (and before (> (get line "number") (+ before 1)) (not (all (gfor l (get f "lines") (get l "match")))))
      (.append rows (+ (* " " width) "  --")))
    (setv before (get line "number")
          mark (if (get line "match") ":" "-"))
    (.append rows (+ "  " (.rjust (str before) width) mark " " (get line "text"))))
  (when (get f "more")
    (.append rows "  [more matches in this file: raise max-matches-per-file and max-results, or read it]"))
  rows)
