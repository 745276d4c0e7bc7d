"The door of -e: evaluate forms in the active image, print each value, leave with a status.

Values and output go to standard output, conditions with their restarts to standard error. Nothing of a session is loaded
before a form needs it."

(import
  os
  sys
  autolith.application [startup]
  autolith.image [evaluate]
  autolith.provider [credentials])

(defn run [asked]
  "Evaluate the forms of ASKED in order; return 0, 1 at the first that fails, or 130 when interrupted."
  (startup.prepare asked)
  (startup.open-conversation asked :observer warn)
  (setv stream sys.stdout)               ; the real one: a form's prints are routed to `write`
  (setv reader {"gone" None})
  (defn write [text]
    (try
      (.write stream (credentials.redact text))
      (.flush stream)
      (except [e OSError]
        (setv (get reader "gone") e)
        (raise))))
  (for [source (get asked "eval")]
    (setv outcome (evaluate.run source :output write :on-value (fn [text] (write (+ text "\n"))))
          status (get outcome "status"))
    (when (get reader "gone")
      (return (output-lost (get reader "gone"))))
    (startup.record "form" source outcome)
    (when (!= status "ok")
      (explain outcome)
      (startup.close)
      (return (if (= status "aborted") 130 1))))
  (startup.close)
  0)

(defn warn [event]
  "Print EVENT on standard error if it is a warning, as of a damaged conversation."
  (when (and (= (get event "type") "notice") (in (get event "level") ["warning" "error"]))
    (import autolith.base [text])
    (print (text.visible f"autolith: {(get event "text")}") :file sys.stderr)))

(defn output-lost [error]
  "Return the exit status for ERROR, which kept output from being written; a reader that went away is no failure to speak of."
  (startup.close)
  (when (isinstance error BrokenPipeError) (raise error))
  (print f"autolith: the output could not be written: {error.strerror}" :file sys.stderr)
  1)

(defn explain [outcome]
  "Print the condition of OUTCOME and its restarts on standard error."
  (import autolith.base [text])
  (setv condition (get outcome "condition") restarts (get condition "restarts"))
  (defn tell [words] (print (text.visible (credentials.redact words)) :file sys.stderr))
  (when (get condition "traceback")
    (tell (.rstrip (get condition "traceback"))))
  (tell (.format "{}: {}" (get condition "type") (get condition "message")))
  (when restarts
    (print "Restarts, at the prompt:" :file sys.stderr)
    (for [[name sentence] restarts]
      (print (.rstrip f"  {name}  {sentence}") :file sys.stderr))))
