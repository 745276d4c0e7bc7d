"Setting a process up for forms: the names of autolith.user, the init layers, and the session where one is asked for."

(import
  os
  sys
  autolith.application [surface]
  autolith.base [conditions paths text]
  autolith.image [layers]
  autolith.provider [credentials])

(defn prepare [asked]
  "Make the names known and load the init layers, for ASKED, parsed options; faults of init files go to standard error."
  (names)
  (for [fault (load-layers asked)]
    (print (text.visible (fault-line fault)) :file sys.stderr)))

(defn names []
  "Make the names of every tool, command and primitive known in autolith.user; take the keys out of the environment."
  (credentials.take)
  (surface.install))

(defn load-layers [asked]
  "Load the init layers for ASKED; return the faults, {\"file\" \"line\" \"message\"}: their forms were skipped."
  (+ (_setting-faults) (_provider-faults) (layers.load :user (not-in "no-init" asked))))

(defn _setting-faults []
  "What is wrong with saved preferences and variables, in the shape of a fault of an init file."
  (import autolith.state [settings])
  (lfor problem (settings.problems) {"file" "settings" "line" 0 "message" problem}))

(defn _provider-faults []
  "What is wrong in the file of providers, in the same shape; it is looked into only if it is there."
  (setv path (paths.config "providers.hy"))
  (when (not (os.path.lexists path))
    (return []))
  (import autolith.provider [registry])
  (lfor fault (registry.faults) {"file" path "line" 0 "message" (.removeprefix fault f"{path}: ")}))

(defn fault-line [fault]
  "Return FAULT, of an init file, as one line."
  (if (get fault "line")
    (.format "autolith: {}:{}: {} (skipped; --no-init ignores init files)"
             (get fault "file") (get fault "line") (get fault "message"))
    (.format "autolith: {}: {}" (get fault "file") (get fault "message"))))

(defn open-conversation [asked * [always False] [observer None]]
  "Give this process's session the conversation that ASKED names; without one, a new one if ALWAYS. OBSERVER sees its events."
  (setv wanted (or (= (.get asked "command") "resume") (in "continue" asked)))
  (when (or wanted always)
    (import autolith.application [session])
    (setv s (session.get-current))
    (when observer (session.observe s observer))
    (if wanted (session.resume s (chosen s asked)) (session.begin s)))
  None)

(defn chosen [s asked]
  "Return the id of the conversation that ASKED resumes; none to be found is an error that says so."
  (import autolith.application [session] autolith.state [conversation])
  (setv given (.get asked "arguments")
        id (if given (conversation.find (get given 0)) (session.newest s)))
  (when (is id None)
    (raise (conditions.AutolithError f"there is no conversation of {s.cwd}; autolith conversations lists them all")))
  id)

(defn _session []
  "The session, if this process has come to have one."
  (setv module (.get sys.modules "autolith.application.session"))
  (when module (get module.current "session")))

(defn record [operation source outcome]
  "Record SOURCE, a form that gave OUTCOME, in the session if there is one."
  (setv s (_session))
  (when s
    (import autolith.application [running])
    (running.record-operation s operation source outcome))
  None)

(defn close []
  "Release what the session holds."
  (setv s (_session))
  (when s
    (import autolith.application [observers])
    (observers.drain))
  (when (and s s.conversation)
    (import autolith.state [conversation])
    (conversation.close s.conversation))
  None)
