"Find files and text in the workspace.

These tools look below the working directory, honour .gitignore and .ignore files, skip hidden names unless
asked, and name what they find by workspace: URIs that resource.read takes."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  typing [Literal]
  autolith.tool [context finding result])

(deftool search.files [#^ str query * #^ int [page 0] #^ int [max-results 20] #^ bool [hidden False]]
  "Find files whose path fits QUERY, best first. Each word of the query must occur in the path, or its letters in order;
matches in the file name count most. Case is ignored.

query: words to find in paths, such as `turn test` or `srchtl`.
page: which page of results, from 0.
max-results: how many to a page, 1 to 100.
hidden: True includes hidden files and folders, never those of version control.

For a pattern such as **/*.hy use search.glob."
  {:effect "read" :child-safe True :beside True}
  (finding.one-line query "query")
  (setv listing (await (finding.list-files "" (here) hidden))
        ranked (await (finding.ranked query (get listing "paths"))))
  (finding.page-of-files ranked listing (here) page max-results f"No file's path fits {query !r}."))

(deftool search.glob [#^ str pattern * #^ int [page 0] #^ int [max-results 20] #^ bool [hidden False]]
  "Find files by a path pattern: `*` and `?` stay within a name, `**/` is any folders, `{a,b}` either, `[a-z]` one of a set.
A pattern without a slash matches a name in any folder.

pattern: such as **/*.hy or src/{base,tool}/*.hy.
page: which page of results, from 0.
max-results: how many to a page, 1 to 100.
hidden: True includes hidden files and folders; a pattern that names one does so by itself.

The files come sorted by path."
  {:effect "read" :child-safe True :beside True}
  (finding.one-line pattern "pattern")
  (setv listing (await (finding.list-files (finding.quoted pattern) (here) hidden)))
  (finding.page-of-files (sorted (get listing "paths")) listing (here) page max-results
                         f"No file matches {pattern !r}."))

(deftool search.content
  [* #^ (| str None) [query None] #^ (| (get list str) None) [patterns None]
   #^ (get Literal #("plain" "regex")) [mode "plain"]
   #^ (get Literal #("smart" "sensitive" "insensitive")) [case "smart"]
   #^ str [constraints ""] #^ int [file-offset 0] #^ int [max-results 20]
   #^ int [max-matches-per-file 20] #^ int [context 0] #^ int [time-budget-ms 3000] #^ bool [hidden False]]
  "Search the contents of files, line by line. Give exactly one of query and patterns. Line numbers are those of resource.read.

query: text to find, or a regular expression with mode regex.
patterns: several literal texts; a line with any of them matches.
mode: plain takes the query literally, regex as a regular expression.
case: smart ignores case unless the text has a capital letter.
constraints: path filters separated by spaces, all of which must hold, such as `*.hy src/ !tests/`.
file-offset: continue after this many files with matches; a cut result names the number.
max-results: how many matching lines, 1 to 100.
max-matches-per-file: how many of one file, 1 to 100.
context: how many lines to show around each match, 0 to 10.
time-budget-ms: stop after this long and say so, 1 to 10000.
hidden: True includes hidden files and folders; a constraint that names one does so by itself."
  {:effect "read" :child-safe True :beside True}
  (setv texts (finding.patterns query patterns mode)
        limits {"offset" (max 0 file-offset)
                "results" (finding.clamped max-results 1 100)
                "per_file" (finding.clamped max-matches-per-file 1 100)
                "context" (finding.clamped context 0 10)
                "seconds" (/ (finding.clamped time-budget-ms 1 10000) 1000)})
  (await (finding.content texts :mode mode :case case :constraints constraints :hidden hidden
                          :limits limits :cwd (here))))

(defn here []
  "Return the directory that the running call searches."
  (setv caller (context.current.get))
  (if caller caller.cwd "."))
