"The built-in contributors of request-local context: what a model should know now that is no part of history.

Each is a function of the request map of agent/context, found by its name in `built-in`; they are quick and run on the loop."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  json
  autolith.agent [instructions prompt]
  autolith.state [conversation])

(defparameter built-in ["recent-user-operations" "interrupted-answer" "changed-surroundings" "changed-instructions"]
  "The names of the built-in contributors, in order.")
(defparameter operations-evidence 1900 "How many characters the evidence about user operations may have.")

(defn function-of [name]
  "Return the built-in contributor NAME."
  (get (globals) (hy.mangle name)))

(defn recent-user-operations [request]
  "Tell what the user did by hand: the newest forms and commands with their results, newest first."
  (setv operations (conversation.operations (get request "conversation")))
  (when operations
    {"class" "mandatory" "priority" 100
     "instruction" (+ "The user ran these forms and commands by hand, newest first. You did not run them, and they may have "
                      "changed files or the image.")
     "evidence" (_operation-lines (reversed operations))}))

(defn _operation-lines [operations]
  "Return OPERATIONS as JSON lines, as many as there is room for."
  (setv lines []
        room operations-evidence)
  (for [operation operations]
    (setv line (json.dumps (dfor k ["operation" "source" "status" "printed" "result" "time"]
                                 :if (or (!= k "printed") (.get operation k))
                                 k (_short (.get operation k)))
                           :ensure-ascii False))
    (when (> (len line) room)
      (break))
    (-= room (+ (len line) 1))
    (.append lines line))
  (.join "\n" lines))

(defn _short [text [limit 600]]
  "Return TEXT cut to LIMIT characters."
  (setv text (if (isinstance text str) text (str text)))
  (if (> (len text) limit)
    (+ (cut text limit) f" [{(- (len text) limit)} more characters]")
    text))

(defn interrupted-answer [request]
  "Tell that the answer before the latest message broke off, and how far it came."
  (setv failure (next (gfor record (reversed (get request "records"))
                            :if (in (get record "kind") ["failure" "usage" "summary"])
                            record)
                      {}))
  (when (and (= (.get failure "kind") "failure") (.get failure "partial") (not (.get failure "void")))
    {"class" "mandatory" "priority" 60 "lifetime" "turn"
     "instruction" (+ f"Your last answer broke off ({(.get failure "cause")}) and is not in the conversation. The user has seen this "
                      "much of it:")
     "evidence" (cut (get failure "partial") 1900)}))

(defn changed-surroundings [request]
  "Tell the day and the working directory where they are no longer what the system prompt says."
  (setv fixed (or (conversation.preamble (get request "conversation")) {})
        changes (lfor [key sentence now] [["date" "Today is" (prompt.today)]
                                          ["directory" "The working directory is now" (json.dumps (get request "cwd"))]]
                      :setv before (.get fixed key)
                      :if (and before (!= now (if (= key "directory") (json.dumps before) before)))
                      f"{sentence} {now}."))
  (when changes
    {"class" "mandatory" "priority" 50 "instruction" (.join " " changes)}))

(defn changed-instructions [request]
  "Give the workspace's instructions where the files say something else than the system prompt does."
  (setv fixed (conversation.preamble (get request "conversation"))
        now (instructions.collect (get request "cwd")))
  (when (and fixed (!= (instructions.digest now) (.get fixed "instructions_digest")))
    {"class" "mandatory" "priority" 40
     "instruction" (if now
                     (+ "The workspace's instruction files changed since this conversation began; follow these instead of those in the "
                        "system prompt.\n" (instructions.render now))
                     "The workspace's instruction files that the system prompt quotes are not there any more.")}))
