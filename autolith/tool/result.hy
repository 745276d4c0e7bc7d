"What a tool call came to: one value, and the ways to show it.

A ToolResult has `ok`; `text` (the model's, bounded); `data` (plain Hy data for code); `content` (more blocks, as
{\"type\" \"image\" \"mime\" m \"path\" p \"label\" s}); `seconds`; `tool` (the dotted name); `restarts` {name sentence}, the
ways on after a failure; `stored`, the URI of the whole text where `text` is cut; `condition`, the exception behind a failure."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  dataclasses [dataclass field replace]
  typing [Any]
  autolith.base [conditions text])

(defparameter text-limit 8000 "How many characters of one result the model is shown.")

(defparameter deepest 60 "How deep the data of a result is told to observers.")

(defclass [(dataclass :repr False)] ToolResult []
  "The outcome of one tool call; prints as its text."
  (setv #^ bool ok True
        #^ str text ""
        #^ Any data None
        #^ list content (field :default-factory list)
        #^ float seconds 0.0
        #^ str tool ""
        #^ dict restarts (field :default-factory dict)
        #^ Any stored None
        #^ Any condition (field :default None :compare False))

  (defn __repr__ [self]
    "Return the text."
    self.text)

  (defn __str__ [self]
    "Return the text."
    self.text)

  (defn __autolith-text__ [self]
    "Return what the prompt prints of this value."
    self.text)

  (defn __getitem__ [self key]
    "Return the field KEY of the data, so that code need not say `.data` first."
    (get self.data key)))

(defclass ToolFailed [conditions.AutolithError]
  "A tool called by code failed; `result` is its ToolResult."
  (defn __init__ [self result]
    (.__init__ (super) result.text (list (.items result.restarts)))
    (setv self.result result)))

;; * Making results

(defn of [value]
  "Return VALUE, whatever a tool's function returned, as a ToolResult.

A string is the text; a map with \"text\" is text and data; a list of blocks is content; anything else is data, shown
as Hy. None is a success with nothing to say."
  (cond
    (isinstance value ToolResult) value
    (is value None) (ToolResult :text "Done.")
    (isinstance value str) (ToolResult :text value)
    (and (isinstance value dict) (isinstance (.get value "text") str))
      (ToolResult :text (get value "text")
                  :data (dfor [k v] (.items value) :if (!= k "text") k v))
    (_blocks? value) (_of-blocks value)
    True (ToolResult :text (_shown value) :data value)))

(defn _shown [value]
  "Return VALUE as the prompt shows it."
  (import autolith.image [printing])
  (printing.text-of value))

(defn _blocks? [value]
  "Is VALUE a list of content blocks and nothing else?"
  (and (isinstance value list) value
       (all (gfor b value (and (isinstance b dict) (in (.get b "type") #("text" "image")))))))

(defn _of-blocks [blocks]
  "Return a result whose text is the text of BLOCKS and whose content is the rest."
  (ToolResult :text (.join "\n" (gfor b blocks :if (= (get b "type") "text") (get b "text")))
              :content (lfor b blocks :if (!= (get b "type") "text") b)))

(defn failed [tool message * [restarts None] [condition None] [data None] [detail ""]]
  "Return the failed result of TOOL: MESSAGE, more DETAIL, and a line for each of RESTARTS, {name sentence}."
  (setv lines [f"{tool} failed: {message}" #* (if detail [detail] [])])
  (when restarts
    (.append lines "Restarts (name one as `restart` in a repeated call):")
    (.extend lines (lfor [name sentence] (.items restarts)
                         (if sentence f"  {name}: {sentence}" f"  {name}"))))
  (ToolResult :ok False :text (.join "\n" lines) :tool tool :data data
              :restarts (dict (or restarts {})) :condition condition))

;; * Bounding

(defn bound [result [limit None]]
  "Return RESULT with its text repaired and at most LIMIT characters; what is cut is stored whole and its URI named."
  (setv whole (text.repair result.text)
        limit (or limit text-limit))
  (when (<= (len whole) limit)
    (return (if (is whole result.text) result (replace result :text whole))))
  (setv [uri reason] (_store whole)
        hint (if uri
               f"the whole text: (resource.read :uri \"{uri}\")"
               f"the whole text could not be stored: {(text.one-line (str reason))}"))
  (replace result :text (text.bounded whole limit hint) :stored uri))

(defn _store [whole]
  "Store the text WHOLE; return #(uri None), or #(None reason) when that is impossible now."
  (try
    (import autolith.state [output])
    #((output.store whole) None)
    (except [e [OSError ImportError conditions.AutolithError]]
      #(None e))))

;; * Projections

(defn plain [value [depth 0]]
  "Return VALUE as data that can be written: what is no plain data is its text, and so is what lies very deep."
  (cond
    (or (is value None) (in (type value) #(bool int float))) value
    (isinstance value str) (text.repair (str value))
    (> depth deepest) (text.repair (_shown value))
    (isinstance value dict)
      (dfor [k v] (.items value)
            (text.repair (if (isinstance k str) (str k) (_shown k))) (plain v (+ depth 1)))
    (isinstance value #(list tuple set frozenset)) (lfor v value (plain v (+ depth 1)))
    True (text.repair (_shown value))))

(defn blocks [result]
  "Return the content of RESULT as blocks for a model: its text, then images."
  [{"type" "text" "text" result.text} #* result.content])

(defn item [result call-id]
  "Return RESULT as the neutral item that answers CALL-ID."
  {"type" "function_call_output" "call_id" call-id "ok" result.ok "content" (blocks result)})

(defn record [result call-id]
  "Return RESULT as the conversation record that answers CALL-ID."
  {"kind" "result" "call_id" call-id "tool" result.tool "ok" result.ok "text" result.text
   "content" (plain result.content) "seconds" (round result.seconds 6)})

(defn event [result call-id]
  "Return RESULT as the session event `call-result` for CALL-ID."
  {"type" "call-result" "call_id" call-id "tool" result.tool "ok" result.ok "text" result.text
   "seconds" (round result.seconds 6) "data" (plain result.data)})

(defn client-update [result call-id]
  "Return RESULT as the update an editor over the Agent Client Protocol expects for CALL-ID."
  {"sessionUpdate" "tool_call_update" "toolCallId" call-id
   "status" (if result.ok "completed" "failed")
   "content" (lfor b (blocks result) {"type" "content" "content" b})
   "rawOutput" {"ok" result.ok "seconds" result.seconds "tool" result.tool}})

(defn terminal-lines [result [limit 12]]
  "Return at most LIMIT lines of RESULT for a terminal; the last says how many more there are."
  (setv lines (.split (.rstrip result.text "\n") "\n")
        images (lfor b result.content f"[{(.get b "label" "image")} {(.get b "mime" "")}]"))
  (when (> (len lines) limit)
    (setv more (- (len lines) (- limit 1))
          lines [#* (cut lines (- limit 1)) f"... {more} more lines"]))
  (+ lines images))
