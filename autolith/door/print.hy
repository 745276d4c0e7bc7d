"The door of -p: one turn, the answer on standard output, progress on standard error.

With --events every event of the session is one form (or JSON) a line on standard output instead of the answer."

(import
  json
  os
  sys
  autolith.application [inputs running session startup]
  autolith.base [forms text threads]
  autolith.door [options]
  autolith.provider [credentials])

(setv PIPE-GONE 141)

(defn run [asked]
  "Run one turn for ASKED; return 0 when it came to an answer, 1 when it failed, 130 when it was interrupted."
  (setv content (message asked) stream (own-stream))
  (startup.prepare asked)
  (setv s (session.get-current) format (.get asked "events"))
  (session.observe s (if (is format None) (progress) (fn [event] (print-event s event format stream))))
  (startup.open-conversation asked :always True)
  (try
    (setv outcome (turn-for s content (.get asked "image" [])))
    (finally
      (session.publish s "session-ended" :id s.conversation.id)
      (startup.close)))
  (cond
    (is s.output-lost None) (finish outcome format stream)
    (isinstance s.output-lost BrokenPipeError) PIPE-GONE
    True (lost s.output-lost)))

(defn turn-for [s content images]
  "Run the turn of S for CONTENT with IMAGES and return its outcome; None when the reader has gone already."
  (setv item (inputs.make-item "prompt" content :images images))
  (session.publish s "input-accepted" :id (get item "id") :text content :kind "prompt" :images (get item "images"))
  (when (is s.output-lost None)
    (threads.on-loop (running.run-prompt s item))))

(defn own-stream []
  "Return standard output for the answer alone: what children and stray code write there goes to standard error from now on."
  (sys.stdout.flush)
  (setv stream (open (os.dup 1) "w" :encoding "utf-8" :errors "replace"))
  (os.dup2 2 1)
  stream)

(defn message [asked]
  "The text of the turn: what -p was given, or standard input."
  (setv given (get asked "print"))
  (when (in given ["" "-"])
    (when (os.isatty 0)
      (raise (options.UsageError "-p needs TEXT, or text on standard input")))
    (setv given (.decode (.read sys.stdin.buffer) "utf-8" "replace")))
  (when (not (.strip given))
    (raise (options.UsageError "the text for -p is empty")))
  given)

(defn print-event [s event format stream]
  "Print EVENT of S on one line of STREAM, as a form or, where FORMAT is json, as JSON. A reader that went away ends the turn."
  (try
    (print (if (= format "json") (json.dumps event :default str) (forms.write event)) :file stream :flush True)
    (except [e OSError]
      (os.dup2 (os.open os.devnull os.O-WRONLY) (.fileno stream))
      (setv s.output-lost e)
      (inputs.cancel s))))

(defn finish [outcome format stream]
  "Print the answer of OUTCOME on STREAM unless events were printed; return the exit status."
  (setv status (get outcome "status"))
  (when (and (is format None) (get outcome "text"))
    (try
      (print (shown (.rstrip (get outcome "text")) stream) :file stream :flush True)
      (except [BrokenPipeError] (return PIPE-GONE))
      (except [e OSError] (return (lost e)))))
  (when (= status "failed")
    (setv words (credentials.redact f"autolith: the turn failed: {(.get outcome "reason")}"))
    (print (text.visible words) :file sys.stderr))
  (match status
    "done" 0
    "cancelled" 130
    _ 1))

(defn shown [answer stream]
  "Return ANSWER without secrets; for a terminal without control sequences too, for a pipe as it is."
  (if (.isatty stream)
    (text.visible (credentials.redact answer))
    (credentials.redact answer)))

(defn lost [error]
  "Say that ERROR kept the answer from being written, and where it is; return the exit status."
  (print f"autolith: the answer could not be written: {error.strerror}; it is in the conversation: autolith -c -e '(history)'"
         :file sys.stderr)
  1)

(defn progress []
  "Return an observer that prints calls, notices and failures on standard error."
  (fn [event]
    (setv line (progress-line event))
    (when line (print (text.visible line) :file sys.stderr :flush True))))

(defn progress-line [event]
  "Return EVENT as a line of progress, or None."
  (match (get event "type")
    "call-started" (+ "▸ " (get event "form"))
    "call-result" (result-line event)
    "compaction-started" "; the conversation fills the model's window and is being summarised"
    (| "notice" "retry") (+ "; " (get event "text"))
    _ None))

(defn result-line [event]
  "Return EVENT, the end of a call, as a line."
  (if (get event "ok")
    (.format "✓ {} {}" (get event "tool") (text.duration (or (get event "seconds") 0)))
    (+ "✗ " (get (.partition (get event "text") "\n") 0))))
