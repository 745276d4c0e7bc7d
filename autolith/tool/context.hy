"What a running tool may know about who called it and where.

A ToolContext travels in the ContextVar `current` while a tool runs; `(context.current.get)` inside a tool gives it.
A session puts a function of no arguments in `provide`, which makes the context of a call from the user's own code."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  contextvars [ContextVar]
  dataclasses [dataclass]
  os
  typing [Any]
  autolith.base [conditions])

(defn _publish-nothing [event]
  "Drop EVENT: nobody observes calls outside a session."
  None)

(defclass [dataclass] ToolContext []
  "CWD the working directory; CONVERSATION the record's handle or None; OBSERVATIONS what was shown to this reader;
ORIGIN \"user\" or \"model\"; PUBLISH a function of one event; SESSION the session or None."
  (setv #^ str cwd "."
        #^ Any conversation None
        #^ Any observations None
        #^ str origin "user"
        #^ Any publish _publish-nothing
        #^ Any session None))

(defonce current (ContextVar "tool-context" :default None) "The context of the call that runs here, or None.")
(defonce provide None "The session's function that makes a context for user code, or None without a session.")
(defonce _fallback {} "The context of code that runs without a session: one a process, so that what it read it may edit.")

(defn obtain []
  "Return the context for a call made here: the running call's, else the session's, else the process's own."
  (cond
    (.get current) (.get current)
    provide (provide)
    True (_process-context)))

(defn _process-context []
  "Return the context of a process without a session, in the directory it is in now."
  (when (not-in "context" _fallback)
    (import autolith.resource [protocol])
    (setv (get _fallback "context") (ToolContext :observations (protocol.Observations))))
  (setv context (get _fallback "context"))
  (setv context.cwd (_working-directory context.cwd))
  context)

(defn _working-directory [before]
  "Return the working directory; raise an error that names it, or the one BEFORE, when it is gone."
  (try
    (os.getcwd)
    (except [e OSError]
      (raise (conditions.AutolithError
               (+ f"the working directory, {(_gone before)}, cannot be used any more ({e.strerror}); it was moved, renamed or "
                  "deleted: make it again, or go to another one with (cwd \"PATH\")"))
             :from None))))

(defn _gone [before]
  "Return the name of the working directory that is gone: as the system remembers it, else as the shell or BEFORE says."
  (try
    (.removesuffix (os.readlink "/proc/self/cwd") " (deleted)")
    (except [OSError]
      (if (os.path.isabs before) before (.get os.environ "PWD" "which had no name")))))
