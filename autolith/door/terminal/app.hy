"The interactive terminal: from its first line until the session ends, with the modes of the terminal as they were afterwards.

`(await (run session startup))` gives the exit status: 0 left, 130 by Ctrl-C, 143 terminated, 129 the terminal is gone, 70 the
launcher is gone. STARTUP is {\"version\" str \"notices\" [str]}."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  time
  autolith.base [threads]
  autolith.door.terminal [style])

(defparameter replayed 200 "How many events of a resumed conversation are drawn again.")

(setv GONE 129
      AFTER-OUTPUT #{"value" "evaluation" "question" "call-result"})

(defn :async run [session startup]
  "Run the terminal for SESSION until it ends; return the exit status."
  (import autolith.door.terminal [descriptors reading])
  (setv held (descriptors.take) undo (reading.install session))
  (try
    (await ((if (style.plain?) in-lines live) session startup held))
    (finally
      (undo)
      (.restore held))))

(defn :async in-lines [session startup held]
  "Run the terminal, which is HELD, line by line."
  (import autolith.door.terminal [plain :as lines])
  (await (lines.run session startup held)))

(defn :async live [session startup held]
  "Run the terminal, which is HELD, with a live region."
  (import autolith.door.terminal [desk intake leaving live :as painting screen signals])
  (setv output (screen.output-on held.output)
        d (desk.Desk session output)
        input (intake.Intake held.input)
        loop (asyncio.get-running-loop)
        d.held held
        d.modes (leaving.saved-modes))
  (screen.build d input)
  (setv d.painter (painting.Painter d.app output (fn [] (.drain d.scroll)))
        input.on-late (fn [pressed] (late d pressed))
        input.on-dropped (fn [n] (.tell d f"{n} characters of a paste were dropped: put it in a file and name that" 8))
        session.on-end (fn [] (threads.post leaving.leave d 0)))
  (setv undo (begin d startup))
  (signals.start loop (acts d))
  (.write-raw output "\r\x1b[K")         ; the terminal echoed what was typed ahead where the banner will be
  (.paint d.painter)                     ; before there is a live region that would have to make room
  (try
    (await (watch d leaving))
    (finally
      (signals.stop loop)
      (.drain held)
      (undo)
      (finish d output)
      (leaving.set-modes d.modes))))

(defn acts [d]
  "Return what signals do to D."
  (import autolith.door.terminal [actions leaving link])
  {"interrupt" (fn [] (actions.kernel-interrupt d))
   "suspend" (fn [] (leaving.suspend d))
   "resize" (fn [] (leaving.resized d))
   "report" (fn [] (link.report d.session))
   "leave" (fn [status] (leaving.leave d status))})

(defn :async watch [d leaving]
  "Run the application of D; return the exit status however it ends."
  (setv clock (asyncio.create-task (ticks d)))
  (try
    (setv status (await (.run-async d.app :handle-sigint False :set-exception-handler False
                                    :pre-run (fn [] (.call-soon (asyncio.get-running-loop) ready d leaving)))))
    (if (isinstance status int) status 0)
    (except [EOFError] GONE)
    (except [OSError] GONE)
    (finally (.cancel clock))))

(defn ready [d leaving]
  "Raw mode is on: keep Ctrl-C the kernel's, show what waits to be shown, and learn the operations."
  (take-typed d)                         ; from here on a key is a key
  (leaving.keep-isig)
  (.paint d.painter)
  (announce)
  (asyncio.ensure-future (learn d)))

(defn take-typed [d]
  "Make what was typed before there was a prompt the draft; it is never sent by itself."
  (setv text (.ahead d.app.input))
  (when text (.insert-text d.draft text)))

(defn announce []
  "Tell the launcher, if there is one, that the session stands."
  (try
    (import autolith-launcher)
    (autolith-launcher.ready :session True)
    (except [ImportError] None)))

(defn begin [d startup]
  "Draw the banner and the conversation so far, and watch the session; return the undo."
  (import autolith.door.terminal [keys link render streams])
  (keys.offer)
  (setv d.status (link.status-line d.session)
        d.history.entries (lfor text (link.history d.session) :if (isinstance text str) text))
  (.extend d.scroll.done (render.banner startup d.status (.screen d.scroll)))
  (setv before (link.events d.session replayed))
  (for [event before] (.take d.scroll event))
  (.close d.scroll)
  (when before (.take d.scroll {"type" "session-started" "id" (get d.status "id") "resumed" True}))
  (for [item (link.queue d.session)]
    (setv (get d.scroll.inputs (get item "id")) (get item "text")))
  (title d)
  (setv d.held.tell (fn [text] (link.output d.session text)))
  (setv unwatch (link.observe d.session (fn [event] (arrived d event)))
        restore (streams.install (fn [text] (threads.post arrived d {"type" "output" "text" text "id" None}))))
  (fn [] (unwatch) (restore)))

(defn title [d]
  "Set the title of the terminal's window to the program and its directory."
  (import autolith.door.terminal [cells])
  (.write-raw d.output (.format "\x1b]0;autolith - {}\x07" (cells.clean-line (.directory d))))
  (.flush d.output))

(defn arrived [d event]
  "Take EVENT of the session; what children wrote before it stands before it."
  (when (in (get event "type") AFTER-OUTPUT) (.drain d.held))
  (match (get event "type")
    "question" (asked d event)
    "answered" (settled d event)
    "evaluation" (do
                   (when (= (.get event "status") "aborted")
                     (setv d.interrupted (time.monotonic))
                     (.disarm d))
                   (setv d.stale True)
                   (forget-questions d))
    "session-ended" (do (import autolith.door.terminal [leaving]) (leaving.leave d 0))
    _ None)
  (.show d event)
  (when (in (get event "type") ["status" "turn-done" "turn-started" "input-accepted" "input-removed" "usage" "evaluation" "session-started"])
    (.freshen d))
  (when (= (get event "type") "status") (title d)))

(defn asked [d event]
  "Open the question EVENT; one of the user's own form takes the keys if the draft is empty."
  (.append d.questions {#** event "opened" (time.monotonic)})
  (when (and (get event "own") (= d.mode "draft") (not d.draft.text))
    (if (get event "choices")
      (setv d.mode "list" d.choice None)
      (setv d.mode "value" d.stash ""))))

(defn settled [d event]
  "Close the question that EVENT answers."
  (setv d.questions (lfor q d.questions :if (!= (get q "id") (get event "id")) q))
  (back-to-draft d))

(defn back-to-draft [d]
  "Let keys go to the draft again; one that was put aside for a value comes back."
  (import autolith.door.terminal [actions])
  (when (= d.mode "value") (actions.restore-draft d))
  (when (= d.mode "list") (setv d.mode "draft" d.choice None)))

(defn forget-questions [d]
  "Close what nobody waits for any more."
  (setv open (getattr d.session "questions" {}))
  (setv d.questions (lfor q d.questions :if (in (get q "id") open) q))
  (when (not d.questions) (back-to-draft d)))

(defn late [d pressed]
  "Process the keys PRESSED, which a timer released."
  (.feed-multiple d.app.key-processor pressed)
  (.process-keys d.app.key-processor)
  (.refresh d))

(defn :async ticks [d]
  "While something runs or is told, let clocks go on and held lines go."
  (setv second 0)
  (while True
    (await (asyncio.sleep 0.25))
    (.tick d.scroll)
    (setv now (time.monotonic) due (and d.notice (> now (get d.notice "until"))))
    (when d.scroll.done (.soon d.painter))
    (when due (setv d.notice None))
    (when (and d.stale (not (get d.activity "phase"))) (asyncio.ensure-future (learn d)))
    (when (or due (and (or (get d.activity "phase") (get d.activity "forms")) (!= (int now) second)))
      (setv second (int now))
      (.refresh d))))

(defn :async learn [d]
  "Learn what can be typed, in a thread, so that no key waits for it."
  (import autolith.door.terminal [link screen])
  (when d.stale
    (setv d.stale False)
    (try
      (setv d.operations (await (asyncio.to-thread link.names)))
      (except [e Exception] (.tell d f"the names for completion could not be listed: {e}")))
    (when (and (screen.opens-itself? d) (is d.draft.complete-state None)) (.start-completion d.draft))
    (.refresh d)))

(defn finish [d output]
  "Print what is still open, and leave the terminal as it was found."
  (.close d.scroll)
  (.end-output d.scroll)
  (setv d.painter.stopped False)
  (try
    (.write d.painter (.drain d.scroll))
    (.flush output)
    (except [OSError] None))                            ; the terminal is gone
  (.stop d.painter))
