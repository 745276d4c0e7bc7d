"The session: one conversation, what it runs with, and who watches. Knows no screen.

A Session's fields are plain values; behaviour is the functions of this room. Everything here runs on the loop thread, except
where a docstring says otherwise. `queue` is a list of items {\"id\" int \"kind\" prompt, form or command \"text\" str
\"source\" str \"images\" [{\"path\" \"label\"}] \"handle\" Handle or None}; `steering` is a list of the same.
`turn` and `form` are what runs now, {\"id\" \"since\" \"what\" \"task\"}, or None."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  itertools
  os
  autolith
  autolith.application [choice events observers]
  autolith.base [threads]
  autolith.image [registries]
  autolith.provider [credentials models registry]
  autolith.resource [protocol]
  autolith.state [conversation projection settings stamp])

(defonce current {"session" None} "The session of this process, once there is one.")
(defonce serials (itertools.count 1) "Numbers for inputs, questions and evaluations.")

(defclass Session []
  "What one session knows."

  (defn __init__ [self * cwd provider model [effort None] [interactive False]]
    (setv self.cwd cwd
          self.provider provider
          self.model model
          self.effort effort
          self.interactive interactive
          self.conversation None
          self.observations (protocol.Observations)
          self.observers []
          self.events (itertools.count 1)
          self.queue []
          self.steering []
          self.evaluating []
          self.held False
          self.turn None
          self.form None
          self.pending-configuration None
          self.buffered []
          self.questions {}
          self.usage []
          self.compacted None
          self.image-number 0
          self.agent None
          self.ended False
          self.tasks (set)
          self.output-lost None
          self.on-end None)))

(defn get-current []
  "Return the session of this process; make one from the settings when there is none yet."
  (when (is (get current "session") None)
    (setv (get current "session") (from-settings (os.getcwd))))
  (get current "session"))

(defn from-settings [cwd * [provider None] [model None] [effort None] [interactive False]]
  "Return a new Session in CWD; PROVIDER, MODEL and EFFORT are names that go before the settings."
  (credentials.take)
  (setv [form name] (choice.start (or provider (settings.value "provider")) (or model (settings.value "model"))))
  (Session :cwd cwd
           :provider form
           :model name
           :effort (or effort (settings.value "effort"))
           :interactive interactive))

;; * Events

(defn observe [s f]
  "Call F with every event of S from now on; return the undo."
  (.append s.observers f)
  (fn [] (when (in f s.observers) (.remove s.observers f))))

(defn publish [s event-type / #** fields]
  "Publish the event EVENT-TYPE with FIELDS to everyone who watches S. Safe from every thread."
  (publish-event s {"type" event-type #** fields}))

(defn publish-event [s event]
  "Publish EVENT, stamped with its number and time; an observer that raises loses only this event."
  (setv stamped (| {"type" (get event "type") "seq" (next s.events) "time" (stamp.now)}
                   (credentials.redact-data (events.check event))))
  (match (get event "type")
    "usage" (do (.append s.usage (get event "usage"))
                (setv s.compacted None))
    "compaction-done" (when (get event "ok") (setv s.compacted (get event "after")))
    _ None)
  (if (or (threads.on-loop-thread?) (not s.interactive))
    (_deliver s stamped)
    (threads.post _deliver s stamped))
  stamped)

(defn _deliver [s event]
  "Hand EVENT to the observers of S."
  (for [f (list s.observers)]
    (try
      (f event)
      (except [e Exception]
        (_drop-observer s f e))))
  (observers.notify "event" event (fn [words] (notice s words "error"))))

(defn _drop-observer [s f error]
  "Take the observer F, which raised ERROR, off S and say so to the others."
  (when (in f s.observers) (.remove s.observers f))
  (publish s "notice" :level "error"
           :text f"an observer of events was taken off: {(hy.unmangle (getattr f "__name__" "it"))} raised {(repr error)}"))

(defn notice [s text [level "info"]]
  "Publish TEXT as the program's own word."
  (publish s "notice" :level level :text text))

;; * Conversation

(defn begin [s]
  "Give S a new conversation; nothing is on the disk before its first record."
  (_attach s (conversation.create s.cwd :provider (get s.provider "name") :model s.model :effort s.effort))
  (announce s :resumed False))

(defn resume [s id]
  "Continue the conversation ID in S; its provider, model and effort come back unless the caller chose others."
  (setv opened (conversation.open-conversation id))
  (_attach s opened)
  (_restore-configuration s opened)
  (for [warning (conversation.take-warnings opened)]
    (notice s warning "warning"))
  (announce s :resumed True)
  (when (and opened.records (= (get opened.records -1 "kind") "message"))
    (notice s "the process ended before the last message was answered; send it again if you want an answer" "warning")))

(defn newest [s]
  "Return the id of the newest conversation of S's directory, or None, and say which newer files were passed over."
  (setv found (conversation.latest s.cwd))
  (for [words (get found "notes")]
    (notice s words "warning"))
  (get found "id"))

(defn _attach [s c]
  "Make C the conversation of S, closing the one before."
  (when (is-not s.conversation None)
    (conversation.close s.conversation))
  (setv s.conversation c
        s.agent None
        s.observations (protocol.Observations)
        s.usage []
        s.compacted None
        s.image-number 0)
  (for [record (cut s.buffered 0 None)]
    (conversation.append c record))
  (setv s.buffered [])
  None)

(defn _restore-configuration [s c]
  "Run S with what the conversation C ran with last, where the command line or a variable does not say otherwise."
  (setv last (conversation.configuration c) name (.get last "provider") form (.get (registry.providers) name))
  (when (and form (not (chosen? "provider")) (not (chosen? "model")))
    (setv s.provider form
          s.model (or (.get last "model") s.model)))
  (when (and (.get last "effort") (not (chosen? "effort")))
    (setv s.effort (get last "effort")))
  (when (and name (is form None))
    (notice s f"this conversation used the provider {name}, which is not defined here; going on with {(get s.provider "name")}" "warning"))
  None)

(defn chosen? [name]
  "Was the setting NAME chosen for this process, by the command line or a variable?"
  (in (settings.source name) ["explicit" "variable"]))

(defn announce [s * resumed]
  "Publish that S is up."
  (publish s "session-started" :id s.conversation.id :directory s.cwd :provider (get s.provider "name")
           :model s.model :effort s.effort :version events.VERSION :resumed resumed)
  (state-assumption s))

(defn state-assumption [s]
  "Say what is assumed of a model that is not in the table."
  (for [words [(choice.assumption s.model) (choice.odd-effort s.model s.effort)]]
    (when words (notice s words "warning")))
  None)

(defn ensure-durable [s]
  "Let the conversation of S be on the disk before its first input counts as accepted, so that it can be found again."
  (when (and (is-not s.conversation None) (not s.conversation.records))
    (record s {"kind" "configuration" "provider" (get s.provider "name") "model" s.model "effort" s.effort}))
  None)

(defn record [s entry]
  "Append the record ENTRY to the conversation of S; before there is one it waits in memory."
  (if (is s.conversation None)
    (.append s.buffered entry)
    (conversation.append s.conversation entry))
  None)

(defn numbered [s images]
  "Return IMAGES, paths or maps, as maps {\"path\" \"label\"} with the next numbers of the conversation of S; a label that is there stays."
  (setv count (max s.image-number (if (is s.conversation None) 0 (projection.last-image s.conversation.records)))
        out [])
  (for [image images]
    (setv image (if (isinstance image dict) image {"path" (str image)}))
    (when (not (.get image "label"))
      (+= count 1)
      (setv image {#** image "label" f"[Image #{count}]"}))
    (setv count (max count (projection.image-number image)))
    (.append out image))
  (setv s.image-number count)
  out)

;; * What it runs with

(defn configure [s * [provider None] [model None] [effort None]]
  "Run S with PROVIDER (a form), MODEL and EFFORT from now on; during a turn, from its next request on."
  (setv change {"provider" (or provider s.provider) "model" (or model s.model) "effort" (or effort s.effort)})
  (if s.turn
    (do (setv s.pending-configuration change)
        (notice s "takes effect at the next request of the running turn"))
    (apply-configuration s change))
  None)

(defn apply-configuration [s change]
  "Make CHANGE what S runs with, and record it."
  (setv s.provider (get change "provider")
        s.model (get change "model")
        s.effort (get change "effort"))
  (when (is-not s.agent None)
    (setv s.agent.provider s.provider s.agent.model s.model s.agent.effort s.effort))
  (record s {"kind" "configuration" "provider" (get s.provider "name") "model" s.model "effort" s.effort})
  (publish s "status" :provider (get s.provider "name") :model s.model :effort s.effort :cwd s.cwd)
  None)

(defn change-directory [s path]
  "Make PATH the working directory of S and of this process; raise OSError where that cannot be."
  (os.chdir (os.path.expanduser path))
  (setv s.cwd (os.getcwd)
        s.observations (protocol.Observations))
  (when (is-not s.agent None) (setv s.agent.cwd s.cwd))
  (record s {"kind" "configuration" "provider" (get s.provider "name") "model" s.model "effort" s.effort
             "directory" s.cwd})
  (publish s "status" :provider (get s.provider "name") :model s.model :effort s.effort :cwd s.cwd)
  None)

(defn busy [s]
  "Return what S does now, {\"phase\" turn or form \"since\" \"what\"}, or None."
  (setv active (or s.turn s.form))
  (when active
    {"phase" (if s.turn "turn" "form") "since" (get active "since") "what" (get active "what")}))

(defn context-percent [s]
  "Return how full the model's window was at the last request, or is since a compaction, in percent; None when unknown."
  (setv last (last-usage s)
        used (cond
               (is-not s.compacted None) s.compacted
               last (+ (or (.get last "input") 0) (or (.get last "output") 0)))
        window (or (settings.value "context-window") (get (models.find s.model) "window")))
  (when (and used window)
    (round (/ (* 100 used) window))))

(defn last-usage [s]
  "Return what the last request of S used, also where another process sent it; None before one, and right after a compaction."
  (cond
    s.usage (get s.usage -1)
    s.conversation (next (gfor r (reversed s.conversation.records)
                               :if (in (get r "kind") ["usage" "summary"])
                               (when (= (get r "kind") "usage") (.get r "usage")))
                         None)))

(defn branch [cwd]
  "Return the Git branch that CWD is on, read from its HEAD file, or None."
  (setv folder (os.path.abspath cwd))
  (while True
    (setv head (_git-head (os.path.join folder ".git")))
    (when head (return head))
    (setv parent (os.path.dirname folder))
    (when (= parent folder) (return None))
    (setv folder parent)))

(defn _git-head [entry]
  "The branch named by the Git folder, or worktree file, ENTRY; a detached HEAD gives its first letters."
  (try
    (when (os.path.isfile entry)
      (with [f (open entry :errors "replace")]
        (setv entry (os.path.join (os.path.dirname entry) (.strip (cut (.read f 4096) (len "gitdir:") None))))))
    (with [f (open (os.path.join entry "HEAD") :errors "replace")]
      (setv text (.strip (.read f 4096))))
    (if (.startswith text "ref: refs/heads/") (cut text 16 None) (cut text 8))
    (except [OSError] None)))

(defn status-line [s]
  "Return what the status row shows, as a map."
  {"provider" (get s.provider "name") "model" s.model "effort" s.effort "context" (context-percent s)
   "branch" (branch s.cwd) "mode" (settings.value "permission-mode") "queued" (len s.queue) "held" s.held
   "cwd" s.cwd "id" (when s.conversation s.conversation.id)})

(defn _restore-settings [saved]
  "Make the declared settings those of SAVED."
  (.clear settings.table)
  (.update settings.table saved))

(registries.register "settings" (fn [] (dict settings.table)) _restore-settings)
