"The session's events: a closed, versioned vocabulary that terminal, print mode, tests and user code observe.

An event is a map {\"type\" str \"seq\" int \"time\" ISO 8601 UTC, and the fields its declaration names}. Fields hold plain data, so
every event can be written as one form or as one JSON line. A field that an event does not carry is absent."

(import
  autolith.base [conditions])

(setv VERSION 1)
(setv kinds {})

(defn defevent [name fields doc]
  "Declare the event NAME with its FIELDS (a list of names) and DOC, one sentence."
  (setv (get kinds name) {"name" name "fields" fields "doc" doc})
  None)

(defevent "session-started" ["id" "directory" "provider" "model" "effort" "version" "resumed"]
  "A session is up; version is the vocabulary's.")
(defevent "input-accepted" ["id" "text" "kind" "images"]
  "An input is durable; kind is prompt, steering, follow-up, form or command; images are {path label}.")
(defevent "input-removed" ["id" "text"] "A waiting input was taken back by the user.")
(defevent "turn-started" ["id"] "A turn began.")
(defevent "request-started" ["number" "provider" "model"] "A request went to the provider.")
(defevent "text-delta" ["text"] "A piece of the answer.")
(defevent "reasoning-delta" ["text"] "A piece of reasoning, for the eyes only.")
(defevent "call-delta" ["name" "bytes"] "The model is writing a call to the tool; bytes so far.")
(defevent "answer" ["text" "phase"] "A whole message of the model, after its deltas.")
(defevent "reasoning" ["text"] "A whole piece of reasoning, after its deltas.")
(defevent "call-started" ["call_id" "tool" "form" "shortened"]
  "A call runs; form makes the same call at the prompt unless it was shortened.")
(defevent "call-result" ["call_id" "tool" "ok" "text" "seconds" "data" "restarts"] "A call ended.")
(defevent "steering-applied" ["texts"] "Steering messages joined the running turn.")
(defevent "compaction-started" ["reason" "tokens" "window"]
  "The conversation is being replaced by a summary of it: threshold, overflow or asked.")
(defevent "compaction-done" ["ok" "reason" "before" "after" "seconds" "text"]
  "It was, from so many tokens to so many; or it failed, as text says, and nothing has changed.")
(defevent "evaluation-started" ["id" "source" "operation" "beside"] "A form or command of the user's begins.")
(defevent "output" ["text" "id"] "What a form printed, live.")
(defevent "value" ["text" "id"] "The value of one top-level form, as shown.")
(defevent "evaluation" ["id" "source" "operation" "status" "values" "condition" "beside" "seconds"]
  "A form or command ended: ok, error or aborted.")
(defevent "usage" ["usage" "number"] "Tokens of one request.")
(defevent "status" ["provider" "model" "effort" "cwd"] "What the session runs with changed.")
(defevent "notice" ["level" "text"] "The program about itself; level is info, warning or error.")
(defevent "question" ["id" "text" "choices" "own" "detail"]
  "Somebody has to choose; own: the user's form asks. A choice is {name doc values}; detail: the lines concerned.")
(defevent "answered" ["id" "choice" "values"] "The question was settled; values are what the choice was given, as shown.")
(defevent "failure" ["kind" "text" "status"] "A request failed; text names the way out.")
(defevent "retry" ["attempt" "limit" "seconds" "reason" "void" "text"]
  "A request failed and is sent again in so many seconds; void: the deltas since request-started count for nothing.")
(defevent "turn-done" ["status" "reason" "requests" "calls" "seconds" "usage" "id"]
  "The turn ended: done, cancelled or failed.")
(defevent "session-ended" ["id"] "The session is over.")

(defclass UnknownEvent [conditions.AutolithError]
  "Code published an event that the vocabulary does not declare, or with an undeclared field.")

(defn check [event]
  "Return EVENT, or raise UnknownEvent where it breaks its declaration."
  (setv declared (.get kinds (.get event "type")))
  (when (is declared None)
    (raise (UnknownEvent f"no event is called {(.get event "type")}")))
  (setv odd (lfor k event :if (not-in k ["type" "seq" "time" #* (get declared "fields")]) k))
  (when odd
    (raise (UnknownEvent f"{(get event "type")} declares no {(.join ", " odd)}")))
  event)

(defn manual []
  "Return the vocabulary as Markdown, for docs/events.md."
  (.join "\n"
    [f"Version {VERSION}. Every event also carries `type`, `seq` and `time`.\n"
     "| event | fields | means |"
     "|---|---|---|"
     #* (lfor e (.values kinds)
          f"| `{(get e "name")}` | {(.join " " (get e "fields"))} | {(get e "doc")} |")]))
