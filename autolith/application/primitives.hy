"What user code is given: the session, prompts, side requests, questions, observers, tool calls by name.

These functions may be called from the main thread, from a worker, and from the loop thread (there those that wait return a
coroutine). Each stands under its own name in autolith.user."

(import
  os
  autolith.application [inputs questions running session transcript :as transcripts]
  autolith.base [conditions text threads]
  autolith.tool [context registry])

(setv READ-LIMIT 131072)

(defclass OnlyUser [conditions.AutolithError]
  "Code of the model's tried what belongs to the user."
  None)

(defclass Answer [str]
  "The text of a model's answer; the prompt prints it as it is. It is its own handle, already there."
  (defn __autolith_text__ [self] (str self))
  (defn wait [self] self))

(defclass TurnFailed [conditions.AutolithError]
  "A turn that somebody waited for did not come to an answer."
  None)

(defn only-user [name]
  "Raise OnlyUser when the caller of NAME is code that the model had evaluated."
  (setv running (context.current.get))
  (when (and (is-not running None) (= running.origin "model"))
    (raise (OnlyUser f"({name} ...) is for forms that the user typed; say what you want in your answer instead"))))

(defn prompt [content * [images None]]
  "Send CONTENT, a text, to the model, with IMAGES (a path or a list of them).

At the prompt a handle comes back at once: `(.wait handle)` gives the answer. Under -e it waits and gives the answer."
  (only-user "prompt")
  (when (not (isinstance content str))
    (raise (TypeError f"(prompt ...) takes a text, got {(hy.repr content)}")))
  (when (not (.strip content))
    (raise (ValueError "(prompt ...) takes a text with words in it")))
  (when (> (len content) READ-LIMIT)
    (raise (ValueError f"a prompt is at most {READ-LIMIT} characters, this has {(len content)}; name a file instead")))
  (setv s (session.get-current)
        paths (if (isinstance images str) [images] (list (or images []))))
  (if s.interactive
    (_queue s content paths)
    (_answer s content paths)))

(defn _queue [s content paths]
  "Queue CONTENT with images at PATHS; return its handle."
  (setv handle (inputs.Handle content))
  (defn :async accept [] (inputs.submit-prompt s content :images paths :handle handle))
  (threads.on-loop (accept))
  handle)

(defn _answer [s content paths]
  "Run a turn for CONTENT with images at PATHS and return the answer."
  (setv outcome (threads.on-loop (running.run-prompt s (inputs.make-item "prompt" content :images paths))))
  (when (!= (get outcome "status") "done")
    (raise (TurnFailed (or (.get outcome "reason") (get outcome "status")))))
  (Answer (get outcome "text")))

(defn read-file [path]
  "Return the text of the file at PATH, UTF-8, at most 131,072 characters, for a computed prompt."
  (setv full (os.path.join (. (session.get-current) cwd) (os.path.expanduser path)))
  (when (not (os.path.isfile full))
    (setv reason (if (os.path.exists full) "is not a regular file" "does not exist"))
    (raise (FileNotFoundError f"{path} {reason}")))
  (with [f (open full "rb")]
    (setv data (.read f (+ (* 4 READ-LIMIT) 1))))
  (try
    (setv content (.decode data "utf-8-sig"))
    (except [e UnicodeDecodeError]
      (raise (ValueError f"{path} is not UTF-8 (byte {e.start}); (resource.read :uri ...) reads other encodings")
             :from None)))
  (when (> (len content) READ-LIMIT)
    (raise (ValueError f"{path} has more than {READ-LIMIT} characters; (resource.read ...) reads a part of it")))
  content)

(defn say [#* parts]
  "Show PARTS, as str, as a notice of the program's."
  (session.notice (session.get-current) (.join " " (map str parts)))
  None)

(defn complete [content * [system None]]
  "Ask the model CONTENT beside the conversation, without tools and without a record; return the answer's text."
  (import autolith.agent [turn])
  (setv s (session.get-current))
  (defn :async request [] (await (turn.complete (running.agent-of s) content #** (if system {"system" system} {}))))
  (defn :async answer [] (Answer (await (request))))
  (threads.on-loop (answer)))

(defn ask [question [choices None]]
  "Ask the user QUESTION; return one of CHOICES (texts), or without them the text that was given.
Raises NoAnswer where nobody can be asked."
  (only-user "ask")
  (questions.put (session.get-current) question choices))

(defn call-tool [name / [text None] #** arguments]
  "Call the tool NAME, as \"resource.read\", with ARGUMENTS; return its ToolResult, also a failed one.
TEXT stands for arguments that are no map, as a model may send them."
  (threads.on-loop (registry.call name (if (is text None) arguments text) (context.obtain))))

(defn current-session []
  "Return the Session of this process."
  (session.get-current))

(defn transcript [[count 50]]
  "Return the last COUNT events of the conversation, oldest first, as data."
  (transcripts.last-events (. (session.get-current) conversation) count))
