"The tools `resource.read` and `resource.edit`: the resource protocol for the model, the prompt and code.

An operation is one of the closed variants below, told apart by `op`; the protocol takes them as maps."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  dataclasses
  dataclasses [dataclass]
  typing [Any Literal]
  autolith.resource [output protocol workspace]
  autolith.tool [context result])

;; * Operations

(defclass [(dataclass :frozen True)] ReplaceLines []
  "Put CONTENT, which may be empty, in the place of the lines START-LINE to END-LINE."
  #^ (get Literal "replace-lines") op
  #^ int start-line
  #^ int end-line
  #^ str content)

(defclass [(dataclass :frozen True)] DeleteLines []
  "Remove the lines START-LINE to END-LINE."
  #^ (get Literal "delete-lines") op
  #^ int start-line
  #^ int end-line)

(defclass [(dataclass :frozen True)] InsertBefore []
  "Put CONTENT before LINE."
  #^ (get Literal "insert-before") op
  #^ int line
  #^ str content)

(defclass [(dataclass :frozen True)] InsertAfter []
  "Put CONTENT after LINE."
  #^ (get Literal "insert-after") op
  #^ int line
  #^ str content)

(defclass [(dataclass :frozen True)] ReplaceEmpty []
  "Give a missing or empty file its CONTENT."
  #^ (get Literal "replace-empty") op
  #^ str content)

(defclass [(dataclass :frozen True)] FinalNewline []
  "Give the last line a newline, or take it away, as PRESENT says."
  #^ (get Literal "final-newline") op
  #^ bool present)

(setv Operation (| ReplaceLines DeleteLines InsertBefore InsertAfter ReplaceEmpty FinalNewline))

(defclass [(dataclass :frozen True)] Change []
  "What else is to change in the same step: another URI, its revision and the operations on it."
  #^ str uri
  #^ str base-revision
  #^ (get list Operation) operations)

;; * Tools

(defn _context []
  "Return the protocol's context of the call that runs here."
  (setv caller (context.obtain))
  (when (is caller.observations None)
    (setv caller.observations (protocol.Observations)))
  (protocol.Context caller.cwd caller.observations caller.conversation))

(defn _schemes-read []
  "Return what the model is told of the schemes that can be read."
  (protocol.describe "read"))

(defn _schemes-edit []
  "Return what the model is told of the schemes that can be edited."
  (protocol.describe "edit"))

(setv RESTARTS (dict [protocol.REREAD protocol.CREATE]))

(deftool resource.read [#^ str uri * #^ int [start-line 1] #^ int [line-count 400] #^ int [start-column 1]
                        #^ (| str None) [query None] #^ int [max-results 50]]
  "Read a window of numbered lines of a resource, with the revision under which these lines may be edited.

The result says which lines are visible under the revision and which were left out; read those by start-line.
Reading the same content again gives the same revision, with more lines visible.

uri: SCHEME:IDENTIFIER, for instance workspace:src/main.py.
start-line: the first line to show, counted from 1.
line-count: how many lines to show, at most 1000; the result may hold fewer, and says so.
start-column: for a line too long to be shown whole: where to go on in it, counted from 1.
query: for collections and stored outputs: the text to find.
max-results: how many finds to show."
  {"effect" "read" "child-safe" True "beside" True "description" _schemes-read}
  (await (protocol.read (_context) uri {"start_line" start-line "line_count" line-count "start_column" start-column
                                        "query" query "max_results" max-results})))

(deftool resource.edit [#^ str uri #^ str base-revision #^ (get list Operation) operations
                        * #^ (get list Change) [also []]]
  "Edit a resource by lines that were shown to you under base-revision; line numbers are those of that revision.

All operations apply at once, and nothing else in the file changes: line ends, encoding, byte-order mark, final newline, mode.
The result shows the difference and the new revision with a window around the edit. If the resource changed meanwhile, nothing is written.

uri: what to edit, for instance workspace:src/main.py.
base-revision: the revision that a read of this URI gave.
operations: replace-lines and delete-lines take start_line and end_line, insert-before and insert-after take line, replace-empty is for a
  missing or empty file, final-newline gives or takes the newline at the end. Operations may not overlap or share a line.
also: further resources to change in the same step; all changes are made, or none."
  {"effect" "write" "child-safe" True "beside" True "description" _schemes-edit "restarts" RESTARTS}
  (await (protocol.edit (_context)
                        (lfor change [(Change uri base-revision operations) #* also] (dataclasses.asdict change)))))
