"What an event looks like: a pure function from the event and the screen to rows.

A screen is a map {\"width\" columns \"effect\" (tool name -> read, write or execute)}; a row is a list of fragments #(STYLE TEXT) and
never wider than the screen. `draw` calls the function of this module that is called as the event; one that raises costs one
line, and a plain drawing takes its place."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  re
  sys
  autolith.door.terminal [cells highlight style wrap]
  autolith.base [ids text :as prose])

(defparameter body-limit 12 "How many lines of a result are shown under its one line.")
(defparameter failure-limit 24 "How many lines of a failed result are shown.")
(defparameter value-limit 200 "How many lines of a value are shown; *1 has it whole.")
(defparameter traceback-limit 24 "How many lines of a traceback are shown, the last ones.")

(setv SILENT #{"request-started" "text-delta" "reasoning-delta" "call-delta" "usage" "status" "output"
               "evaluation-started" "turn-started" "compaction-started" "input-accepted" "input-removed" "steering-applied"
               "answer" "session-ended"})

(defn draw [event screen]
  "Return the rows of EVENT on SCREEN."
  (setv kind (get event "type") f (getattr (get sys.modules __name__) (hy.mangle f"show-{kind}") None))
  (cond
    f (try
        (f event screen)
        (except [e Exception] (broken kind e event screen)))
    (in kind SILENT) []
    True (plain event screen)))

(defn broken [what error event screen]
  "Return one line about the ERROR that drawing WHAT raised, then EVENT drawn plainly."
  (+ (marked "error" "class:bad" (cells.clean-line f"drawing {what} raised {(. (type error) __name__)}: {error}")
             (get screen "width"))
     (plain event screen)))

(defn plain [event screen]
  "Return EVENT as one note of its fields."
  (setv fields (lfor [k v] (.items event) :if (not-in k ["type" "seq" "time"]) f"{k} {v}"))
  (marked "note" "class:faint" (cells.clean-line (cut (.join " " [(get event "type") #* fields]) 400)) (get screen "width")))

;; * Lines with a mark

(defn lead [mark-name mark-style width]
  "Return the fragments of the margin: the mark on a first row, blanks on the others, for a screen of WIDTH."
  (setv room (cells.margin width) sign (style.mark mark-name))
  #([#(mark-style (cut sign room))] [#("" (* " " room))]))

(defn marked [mark-name mark-style text width [text-style ""]]
  "Return the lines of TEXT, wrapped, after the mark MARK-NAME."
  (setv [first rest] (lead mark-name mark-style width) rows [])
  (for [[i line] (enumerate (.split text "\n"))]
    (.extend rows (wrap.rows-of [#(text-style line)] width (if i rest first) rest)))
  rows)

(defn noted [text width]
  "Return TEXT as the program's own words."
  (marked "note" "class:faint" (cells.clean text) width "class:faint"))

(defn indented [text width [text-style ""]]
  "Return the lines of TEXT in the text column, their indentation kept."
  (setv blank [#("" (* " " (cells.margin width)))])
  (wrap.soft text width blank blank text-style))

(defn form-rows [mark-name source width]
  "Return SOURCE, Hy, highlighted after the mark MARK-NAME; strings are broken only where they must be."
  (setv [first rest] (lead mark-name "class:accent" width)
        hang (if (>= width 24) [#("" (* " " (+ 2 (cells.margin width))))] rest)
        rows [])
  (for [[i line] (enumerate (highlight.lines source))]
    (setv wrapper (wrap.Wrapper width (if i rest first) hang))
    (for [[part-style text] line]
      (if (= part-style "class:string") (.glue wrapper text part-style) (.add wrapper text part-style)))
    (.extend rows (.end wrapper)))
  rows)

(defn joined [parts]
  "Return the PARTS that are not empty, separated by dots."
  (.join (.format " {} " (style.mark "dot")) (filter None parts)))

;; * What the user said

(defn lasted [event]
  "Return how long what EVENT ends took, in words, or nothing where it is unknown."
  (setv seconds (.get event "seconds"))
  (if (is seconds None) "" (prose.duration seconds)))

(defn tokens [n]
  "Return the count N of tokens in words."
  (if (is n None) "?" (prose.tokens n)))

(defn said [text width]
  "Return TEXT as what the user said to the model."
  (setv [first rest] (lead "user" "class:accent" width) rows [])
  (for [[i line] (enumerate (.split (cells.clean text) "\n"))]
    (.extend rows (wrap.rows-of [#("class:strong" line)] width (if i rest first) rest)))
  rows)

(defn entered [text width]
  "Return TEXT, a form or a command that the user entered."
  (setv text (cells.clean text))
  (if (.startswith (.lstrip text) "(") (form-rows "form" text width) (said text width)))

(defn steered [text width]
  "Return TEXT as what joined a running turn."
  (marked "steering" "class:accent" (cells.clean text) width "class:strong"))

;; * The turn

(defn show-call-started [event screen]
  "Return the call of EVENT as the form that makes it."
  (+ (form-rows "call" (cells.clean (get event "form")) (get screen "width"))
     (if (.get event "shortened")
       (marked "note" "class:faint" "shortened: this form does not make the same call" (get screen "width") "class:faint")
       [])))

(defn show-call-result [event screen]
  "Return the result of EVENT: one line, and under it what is worth showing."
  (setv ok (get event "ok") width (get screen "width")
        head (joined [(summary event) (lasted event)]))
  (+ (marked (if ok "ok" "failed") (if ok "class:good" "class:bad") (cells.clean-line head) width)
     (if (< width 24) [] (body event screen))))

(defn summary [event]
  "Return what the call of EVENT came to, in a few prose."
  (setv data (data-of event) tool (get event "tool"))
  (cond
    (not (get event "ok")) (failure-summary tool (first-line (get event "text")))
    (and (isinstance data dict) (isinstance (.get data "changes") list)) (changes-summary data)
    (and (isinstance data dict) (.get data "uri")) (read-summary data tool)
    True (joined [tool (first-line (get event "text"))])))

(defn data-of [event]
  "Return the data of EVENT, a call's result; where it has none, as in a record, what its text says of a page or of changes."
  (setv data (.get event "data") text (or (.get event "text") ""))
  (cond
    (is-not data None) data
    (.match EDITED text) {"changes" (edits-in text)}
    (.match PAGE text) (page-in text)))

(setv PAGE (re.compile r"URI: (\S+)\n")
      TOTAL (re.compile r"^(?:Visible lines: .* of|Lines:) (\d+)$" re.MULTILINE)
      NUMBERED (re.compile r"^ {0,5}\d+  " re.MULTILINE)
      EDITED (re.compile r"^Edited (\S+): \+(\d+) -(\d+)" re.MULTILINE)
      ROW (re.compile r"^([ +-])([ \d]{6})([ \d]{6})  (.*)$")
      KINDS {" " "context" "+" "added" "-" "removed"}
      SIGNS {"added" "+" "removed" "-"})

(defn page-in [text]
  "Return the page that TEXT is, as data without the lines' own text."
  (setv [head _ body] (.partition text "\nContent:\n") total (.search TOTAL head))
  {"uri" (get (.match PAGE text) 1)
   "total" (when total (int (get total 1)))
   "lines" (.findall NUMBERED body)})

(defn edits-in [text]
  "Return the changes that TEXT tells of, with their differences as rows."
  (setv hits (list (.finditer EDITED text)) ends [#* (gfor h (cut hits 1 None) (.start h)) (len text)])
  (lfor [hit end] (zip hits ends)
        {"uri" (get hit 1) "added" (int (get hit 2)) "removed" (int (get hit 3))
         "diff" (rows-in (cut text (.end hit) end))}))

(defn rows-in [text]
  "Return the rows of the difference that TEXT has."
  (setv [_ _ body] (.partition text "\nDifference") out [])
  (for [line (cut (.split body "\n") 1 None)]
    (setv hit (.match ROW line))
    (cond
      hit (.append out {"kind" (get KINDS (get hit 1)) "old" (number (get hit 2)) "new" (number (get hit 3))
                        "text" (get hit 4)})
      (= line "   ...") (.append out {"kind" "gap" "old" None "new" None "text" ""})
      True (break)))
  out)

(defn number [column]
  "Return the number in COLUMN, or None where it is blank."
  (when (.strip column) (int column)))

(defn failure-summary [tool line]
  "Return the words for a failed call of TOOL, whose text begins with LINE."
  (if (.startswith line tool) line (joined [tool line])))

(defn first-line [text]
  "Return the first line of TEXT that is not blank, cut to 160 characters."
  (setv line (next (gfor line (.splitlines (or text "")) :if (.strip line) (.strip line)) ""))
  (cells.fit (cells.clean-line line) 160))

(defn short-uri [uri]
  "Return URI without the scheme of files."
  (if (.startswith uri "workspace:") (or (cut uri 10 None) ".") uri))

(defn read-summary [data tool]
  "Return the words for DATA, what TOOL read."
  (setv total (.get data "total") lines (.get data "lines"))
  (joined [f"{(get (.split tool ".") -1)} {(short-uri (get data "uri"))}"
           (cond
             (not (isinstance lines list)) ""
             (and (isinstance total int) (!= total (len lines))) f"{(len lines)} of {(prose.count total "line")}"
             True (prose.count (len lines) "line"))]))

(defn changes-summary [data]
  "Return the words for DATA, the changes of an edit."
  (.join ", " (lfor c (get data "changes")
                (joined [f"edit {(short-uri (str (.get c "uri" "")))}"
                         f"+{(.get c "added" 0)} -{(.get c "removed" 0)}"]))))

(defn body [event screen]
  "Return the lines of EVENT's result that are shown: none of a success that only read."
  (setv width (get screen "width") data (data-of event)
        changes (or (and (isinstance data dict) (.get data "changes")) [])
        diffs (lfor c changes :if (and (isinstance c dict) (.get c "diff")) (get c "diff")))
  (cond
    (not (get event "ok")) (excerpt (rest-lines (get event "text")) failure-limit width)
    diffs (diff-rows (sum (map rows-of diffs) []) width)
    (= ((get screen "effect") (get event "tool")) "read") []
    True (excerpt (rest-lines (get event "text")) body-limit width)))

(defn rest-lines [text]
  "Return the lines of TEXT after the first that is not blank."
  (setv lines (.split (.strip (cells.clean (or text "")) "\n") "\n"))
  (cut lines 1 None))

(defn excerpt [lines limit width [line-style ""]]
  "Return LINES as rows under a result: at most LIMIT of them, head and tail, with a note of what is left out."
  (setv left (- (len lines) limit))
  (when (> left 0)
    (setv tail (// limit 2) head (- limit tail 1)
          note (.format "{} {} more" (style.mark "cut") (prose.count (- (len lines) head tail) "line"))
          lines (+ (cut lines head) [note] (cut lines (- (len lines) tail) None))))
  (sum (lfor line lines (indented (+ "  " line) width line-style)) []))

(defn rows-of [diff]
  "Return DIFF as a list of rows; a text is one row a line."
  (if (isinstance diff str)
    (lfor line (.split (.rstrip diff "\n") "\n")
      :if (not (.startswith line #("--- " "+++ ")))
      {"kind" (.get KINDS (cut line 1) "context") "old" None "new" None
       "text" (if (in (cut line 1) KINDS) (cut line 1 None) line)})
    (list diff)))

(defn diff-rows [rows width]
  "Return ROWS of a difference, bounded: the old line number, the new one, a sign that tells what colour repeats, the text."
  (setv shown (cut rows body-limit) out []
        size (len (str (max [0 #* (gfor r shown n [(.get r "old") (.get r "new")] :if (isinstance n int) n)]))))
  (for [row shown]
    (setv kind (.get row "kind")
          numbers (if (< width 40) "" (+ (column (.get row "old") size) (column (.get row "new") size)))
          line (if (= kind "gap") (style.mark "cut") f"{numbers}{(.get SIGNS kind " ")} {(.get row "text" "")}"))
    (.extend out (indented (cells.clean-line (+ "  " line)) width
                           (match kind "added" "class:good" "removed" "class:bad" "gap" "class:faint" _ ""))))
  (when (> (len rows) body-limit)
    (setv more (prose.count (- (len rows) body-limit) "line"))
    (.extend out (indented f"  {(style.mark "cut")} {more} more" width "class:faint")))
  out)

(defn column [n size]
  "Return the line number N in a column of SIZE cells and a blank, or blanks."
  (+ (.rjust (if (is n None) "" (str n)) size) " "))

(defn show-turn-done [event screen]
  "Return the last line of a turn: how it ended, and what it took."
  (setv usage (or (.get event "usage") {}) status (get event "status") reason (.get event "reason")
        head (match status
               "done" f"done {(lasted event)}"
               "cancelled" (+ f"stopped by you after {(lasted event)}" (if (.get event "half") ", half answer kept" ""))
               _ f"failed {(lasted event)}"))
  (marked "note" "class:faint"
    (cells.clean (joined [(.strip head)
                     (if (or (not reason) (.get event "explained") (in status ["done" "cancelled"])) "" (str reason))
                     (if (.get event "requests") (prose.count (get event "requests") "request") "")
                     (if (.get event "calls") (prose.count (get event "calls") "call") "")
                     (usage-words usage)]))
    (get screen "width") "class:faint"))

(defn usage-words [usage]
  "Return USAGE as `in 12.3k (9.8k cached) out 640`."
  (setv cached (.get usage "cached"))
  (if (or (.get usage "input") (.get usage "output"))
    (+ f"in {(tokens (.get usage "input"))}"
       (if cached f" ({(tokens cached)} cached)" "")
       f" out {(tokens (.get usage "output"))}")
    ""))

(defn show-reasoning [event screen]
  "Return what the model thought, where it is to be shown."
  (if (.get screen "trace")
    (marked "reasoning" "class:faint" (.strip (cells.clean (or (get event "text") ""))) (get screen "width") "class:faint")
    []))

(defn show-retry [event screen]
  "Return why a request is sent again, and when."
  (marked "note" "class:faint" (cells.clean (get event "text")) (get screen "width") "class:faint"))

(defn show-compaction-done [event screen]
  "Return that the conversation was compacted; one that was asked for says so itself, and a notice says why one failed."
  (if (and (get event "ok") (!= (.get event "reason") "asked"))
    (noted (.format "the conversation filled the model's window and was replaced by a summary of it{}"
                    (if (.get event "after")
                      f": {(tokens (get event "before"))} tokens became {(tokens (get event "after"))}"
                      ""))
           (get screen "width"))
    []))

(defn show-failure [event screen]
  "Return why a request failed; the text names the way out."
  (marked "error" "class:bad" (cells.clean (or (.get event "text") (str (.get event "kind")))) (get screen "width")))

;; * Evaluation

(defn show-value [event screen]
  "Return a value, as it reads back, after `= `."
  (value-rows (get event "text") (get screen "width")))

(defn value-rows [text width]
  "Return TEXT, a value, verbatim after its mark and bounded."
  (setv [first rest] (lead "value" "class:accent" width)
        lines (.split (cells.clean text) "\n")
        shown (cut lines value-limit))
  (+ (wrap.soft (.join "\n" shown) width first rest)
     (if (> (len lines) value-limit)
       (marked "note" "class:faint" f"{(- (len lines) value-limit)} more lines; *1 is the whole value" width "class:faint")
       [])))

(defn show-evaluation [event screen]
  "Return how an evaluation ended, beyond the values and output that were shown when they came."
  (setv condition (.get event "condition") width (get screen "width"))
  (cond
    (= (get event "status") "aborted") (aborted-rows event width)
    condition (condition-rows condition width)
    (.get event "shown") []
    (.get event "values") (sum (lfor v (get event "values") (value-rows v width)) [])
    (= (.get event "operation") "command") []
    True (marked "note" "class:faint" (defined (.get event "source" "")) width "class:faint")))

(setv DEFINITION (re.compile r"\((?:def\w+|defn|defclass|setv)\s+(?::async\s+)?(?:\[[^\]]*\]\s*)?([^\s()\[\]\"]+)"))

(defn defined [source]
  "Return what there is to say of SOURCE, which gave no value."
  (setv hits (.findall DEFINITION (cut source 4000)))
  (if (and hits (.startswith (.lstrip source) "(def")) (cells.clean-line f"{(get hits -1)} defined") "no value"))

(defn aborted-rows [event width]
  "Return the line about a form that was interrupted or given up."
  (setv kind (.get (or (.get event "condition") {}) "type" ""))
  (if (!= kind "abort")
    (marked "error" "class:bad"
            (+ "interrupted" (if (lasted event) f" after {(lasted event)}" "") "; what it did so far stays") width)
    (marked "note" "class:faint" "given up; what it did so far stays" width "class:faint")))

(defn condition-rows [condition width]
  "Return CONDITION: its message, the traceback of the user's lines, and the restarts."
  (setv message (cells.clean (or (.get condition "message") (.get condition "type") "it failed"))
        trace (.rstrip (cells.clean (or (.get condition "traceback") "")))
        lines (if trace (.split trace "\n") [])
        names (lfor r (or (.get condition "restarts") []) (restart-name r)))
  (+ (marked "error" "class:bad" message width)
     (sum (lfor line (cut lines (- traceback-limit) None) (indented line width "class:faint")) [])
     (if names (indented (+ "restarts: " (joined names)) width) [])))

(defn restart-name [restart]
  "Return the name of RESTART, given as a name, a pair or a map."
  (cells.clean-line
    (str (cond (isinstance restart dict) (get restart "name")
               (isinstance restart #(list tuple)) (get restart 0)
               True restart))))

;; * The program about itself

(defn show-notice [event screen]
  "Return the program's own prose."
  (setv trouble (in (.get event "level" "info") ["error" "warning"]) width (get screen "width")
        [head _ more] (.partition (cells.clean (get event "text")) "\n"))
  (+ (if trouble (marked "error" "class:bad" head width) (marked "note" "class:faint" head width "class:faint"))
     (if more (indented more width (if trouble "" "class:faint")) [])))

(defn show-session-started [event screen]
  "Return the line about a conversation that begins or goes on."
  (noted (.format "conversation {}{}" (ids.show-id (get event "id")) (if (.get event "resumed") " goes on" ""))
         (get screen "width")))

(defn show-question [event screen]
  "Return what is asked; the choices are drawn under the prompt."
  (setv trouble (trouble? event) width (get screen "width")
        [head _ more] (.partition (cells.clean (get event "text")) "\n")
        more (.strip (.join "\n" (filter None [more (cells.clean (str (or (.get event "detail") "")))])) "\n"))
  (+ (marked (if trouble "error" "question") (if trouble "class:bad" "class:ask") head width)
     (sum (lfor line (cut (if more (.split more "\n") []) (- traceback-limit) None)
                (indented line width "class:faint"))
          [])))

(defn trouble? [event]
  "Is the question EVENT about a form of the user's that failed?"
  (and (.get event "own") (any (gfor c (get event "choices") (= (get c "name") "abort")))))

(defn show-answered [event screen]
  "Return the choice that was made."
  (setv words (.join " " [(str (get event "choice")) #* (.get event "values" [])]))
  (marked "ok" "class:good" (cells.clean-line words) (get screen "width")))

(defn banner [startup status screen]
  "Return the first lines: STARTUP is {\"version\" \"notices\"}, STATUS the session's status."
  (setv width (get screen "width")
        model (.strip (.join " " (filter None [(.get status "model") (.get status "effort")])))
        provider (str (.get status "provider" ""))
        art (if (>= width 50) ["   /\\     " "  /()\\    " " /    \\   "] ["" "" ""])
        branch (.get status "branch")
        place (joined [(str (or (.get status "cwd") "")) (if branch f"branch {branch}" "")])
        lines [f"Autolith {(get startup "version")}" (if (= model provider) model (joined [model provider])) place])
  (+ (lfor [a line] (zip art lines)
       (cells.fit-row [#("class:faint" a) #("" (cells.fit (cells.clean-line line) (max 1 (- width (len a)))))] width))
     (sum (lfor n (.get startup "notices" []) (noted (str n) width)) [])
     [[]]))
