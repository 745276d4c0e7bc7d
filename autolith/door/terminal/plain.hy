"The terminal as lines: for screen readers, logs and terminals that can do nothing else. No live region, no redraw; words for marks.

What a person types is a line, or several that make one form; lines pasted together are one input, sent by an empty Enter."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  codecs
  os
  select
  time
  autolith.base [text threads]
  autolith.door.terminal [activity app cells descriptors editor link render scroll signals streams style]
  autolith.image [evaluate])

(defparameter labels
  {"user" "you: "  "form" "form: "  "value" "value: "  "call" "call: "  "steering" "steering: "
   "ok" "ok: "  "failed" "failed: "  "question" "question: "  "error" "error: "  "note" "note: "  "reasoning" "reasoning: "}
  "What stands for each mark.")
(defparameter progress-at [10 30 60] "Seconds after which a running turn is told of; then each minute.")

(defparameter burst-pause 0.05 "Seconds between two lines, below which they were pasted together.")

(setv WIDTH 100000)

(defclass Lines []
  "The plain terminal of SESSION, HELD as `descriptors` has it. `buffer` holds lines that are not yet sent,
`own` an open question of the user's form."

  (defn __init__ [self session held]
    (setv self.session session
          self.held held
          self.scroll (scroll.Scroll (fn [] WIDTH) link.effect :trace (fn [] (link.setting "trace")))
          self.activity (activity.start)
          self.answer []
          self.buffer []
          self.pasted False
          self.own None
          self.wants None
          self.armed 0
          self.asked False
          self.told 0
          self.decoder ((codecs.getincrementaldecoder "utf-8") "replace")
          self.rest ""
          self.fresh []
          self.timer None
          self.ended (asyncio.Event)
          self.status 0)))

(defn :async run [session startup held]
  "Run the plain terminal for SESSION, HELD as `descriptors` has it, until it ends; return the exit status."
  (setv p (Lines session held) loop (asyncio.get-running-loop) fd (.fileno held.input))
  (begin p startup)
  (setv held.tell (fn [text] (link.output session text)))
  (app.announce)
  (setv unwatch (link.observe session (fn [event] (arrived p event)))
        restore (streams.install (fn [s] (threads.post arrived p {"type" "output" "text" s "id" None})))
        session.on-end (fn [] (threads.post leave p 0)))
  (signals.start loop {"interrupt" (fn [] (interrupt p))
                       "report" (fn [] (link.report p.session))
                       "leave" (fn [status] (leave p status))})
  (.add-reader loop fd (fn [] (readable p loop)))
  (setv clock (asyncio.create-task (ticks p)))
  (try
    (await (.wait p.ended))
    (finally
      (.cancel clock)
      (.remove-reader loop fd)
      (signals.stop loop)
      (.drain held)
      (unwatch)
      (restore)
      (.close p.scroll)
      (.end-output p.scroll)
      (try
        (flush p)
        (except [OSError] None))))                      ; the terminal is gone
  p.status)

(defn leave [p status]
  "End the plain terminal with the exit STATUS."
  (when (not (.is-set p.ended))
    (setv p.status status)
    (.set p.ended)))

(defn begin [p startup]
  "Say what this is, and the conversation so far."
  (setv why (cond
              (not (link.setting "plain")) "TERM"
              (in "AUTOLITH_PLAIN" os.environ) "AUTOLITH_PLAIN"
              True "the setting plain")
        status (link.status-line p.session)
        facts (lfor key ["model" "provider" "cwd"] :if (.get status key) (str (get status key))))
  (write p (+ [f"note: plain mode, from {why}" f"note: Autolith {(get startup "version")}"
               (+ "note: " (cells.clean-line (.join ", " facts)))]
              (lfor n (.get startup "notices" []) (+ "note: " (cells.clean-line (str n))))))
  (for [event (link.events p.session 200)] (.take p.scroll event))
  (.close p.scroll)
  (flush p)
  (take-typed p)
  (ask p))

(defn take-typed [p]
  "Keep the lines that were typed before there was a prompt until they are sent by an empty one."
  (setv fd (.fileno p.held.input) lines [])
  (when (get (select.select [fd] [] [] 0) 0)
    (setv [#* lines p.rest] (.split (.decode p.decoder (os.read fd 65536)) "\n")))
  (when lines (keep-lines p lines "typed ahead")))

;; * Out

(defn write [p lines]
  "Print LINES."
  (when (and lines p.asked)                             ; a prompt stands there, and nothing was typed
    (.write p.held.output "\n")
    (setv p.asked False))
  (for [line lines] (.write p.held.output (+ line "\n")))
  (.flush p.held.output))

(defn flush [p]
  "Print what became final."
  (setv rows (.drain p.scroll))
  (when rows
    (write p (lfor row rows :if (not (cells.only-marks? row)) (labelled (cells.row-text row))))))

(defn labelled [line]
  "Return LINE with a word for its mark, and signs for the program's own dots."
  (setv name (next (gfor [name label] (.items labels) :if (.startswith line (style.mark name)) name) None))
  (if name
    (+ (get labels name) (.replace (.replace (cut line (len (style.mark name)) None) " ∙ " " - ") "⋯" "..."))
    (.rstrip (.removeprefix line "  "))))

(defn ask-when-idle [p]
  "Show that a line is awaited, once what runs now has really ended."
  (.call-later (asyncio.get-running-loop) 0.02
    (fn [] (when (not (or p.asked (link.busy p.session) (link.queue p.session))) (ask p)))))

(defn ask [p]
  "Show that a line is awaited."
  (setv p.asked True)
  (.write p.held.output (cond
                          p.wants "value: "
                          (and p.own (get p.own "choices")) "choice: "
                          p.own "input: "
                          p.buffer "... "
                          True "you: "))
  (.flush p.held.output))

(defn arrived [p event]
  "Print EVENT; of an answer, when it is whole."
  (setv kind (get event "type") now (time.monotonic))
  (when (in kind app.AFTER-OUTPUT) (.drain p.held))
  (setv asked p.asked)
  (activity.note p.activity event now)
  (match kind
    "text-delta" (return (.append p.answer (get event "text")))
    "answer" (do (setv p.answer [])
                 (write p [(+ "answer: " (.replace (.strip (cells.clean (get event "text"))) "\n" "\n  "))])
                 (return))
    "retry" (end-answer p)
    "turn-done" (when p.answer
                  (end-answer p)
                  (setv (get event "half") True))
    "question" (question p event)
    "answered" (setv p.own None p.wants None)
    "session-ended" (leave p 0)
    _ None)
  (when (not (or (in kind ["question" "evaluation-started"]) (echoed? p event))) (.take p.scroll event))
  (flush p)
  (when (= kind "evaluation") (setv p.own None p.wants None))
  (cond
    (= kind "question") (ask p)
    (or (in kind ["turn-done" "evaluation"]) (and asked (not p.asked))) (ask-when-idle p)))

(defn end-answer [p]
  "Print what came of an answer that broke off."
  (when p.answer
    (write p [(+ "answer: " (.replace (.strip (cells.clean (.join "" p.answer))) "\n" "\n  "))])
    (setv p.answer [])))

(defn echoed? [p event]
  "Is EVENT about what stands on the screen already, since it was just typed?"
  (and (= (get event "type") "input-accepted") (= (get event "kind") "prompt") (not (link.busy p.session))))

(defn question [p event]
  "Print the question EVENT whole, with its choices numbered."
  (write p [(+ (if (render.trouble? event) "error: " "question: ") (cells.clean (get event "text")))
          #* (if (.get event "detail") (.split (.strip (cells.clean (get event "detail")) "\n") "\n") [])
          #* (lfor [i c] (enumerate (get event "choices") 1)
                   (cells.clean-line (.format "  {} {}: {}" i (get c "name") (or (.get c "doc") ""))))
          (cond
            (not (get event "own")) "note: (answer N) answers; nothing else does"
            (get event "choices") "note: a number or a name takes one; a form in parentheses is evaluated"
            True "note: the next line is the answer")])
  (when (get event "own") (setv p.own event)))

(defn :async ticks [p]
  "Tell of a turn that takes long, in lines."
  (while True
    (await (asyncio.sleep 1))
    (.tick p.scroll)
    (flush p)
    (if (get p.activity "turn")
      (progress p (- (time.monotonic) (get p.activity "turn")))
      (setv p.told 0))))

(defn progress [p seconds]
  "Print how far the turn is, SECONDS after it began, when that is due."
  (setv due (next (gfor t (+ progress-at (list (range 120 86400 60))) :if (> t p.told) t) None))
  (when (and due (>= seconds due))
    (setv p.told due)
    (write p [(.format "note: {}, {}, {}" (get p.activity "what") (text.duration seconds)
                     (text.size (sum (map len p.answer))))])))

;; * In

(defn readable [p loop]
  "Take what was typed."
  (try
    (setv data (os.read (.fileno p.held.input) 65536))
    (except [OSError] (setv data b"")))
  (when (and (not data) p.own (in (get p.own "id") link.reading))
    (return (link.end-input p.session)))
  (when (not data)
    (.remove-reader loop (.fileno p.held.input))
    (return (leave p (if (descriptors.alive?) 0 app.GONE))))
  (setv [#* lines p.rest] (.split (.replace (+ p.rest (.decode p.decoder data)) "\r\n" "\n") "\n"))
  (.extend p.fresh lines)
  (when p.timer (.cancel p.timer))
  (setv p.timer (.call-later loop burst-pause (fn [] (take-fresh p)))))

(defn take-fresh [p]
  "Take the lines that came together."
  (setv lines p.fresh p.fresh [] p.timer None p.asked False)
  (take-lines p lines))

(defn take-lines [p lines]
  "Take LINES, which came together: one is sent when it is complete, several are a paste."
  (cond
    (not lines) None
    (> (len lines) 1) (keep-lines p lines "pasted")
    (and p.pasted (not (get lines 0))) (do (setv p.pasted False) (send p (.join "\n" p.buffer)))
    True (do (.append p.buffer (get lines 0))
             (when (not p.pasted) (consider p (.join "\n" p.buffer))))))

(defn keep-lines [p lines how]
  "Keep LINES, which came together, HOW, until an empty line sends them."
  (.extend p.buffer lines)
  (setv p.pasted True)
  (write p [f"note: {(text.count (len lines) "line")} {how}; Enter on an empty line sends them"]))

(defn consider [p source]
  "Send SOURCE if it is complete; ask for more of an incomplete form."
  (setv state (if (editor.form? source) (evaluate.probe source) "complete"))
  (cond
    (= state "complete") (send p source)
    (= state "incomplete") (ask p)
    True (do
           (setv [_ message line column] state)
           (write p [f"error: {(.rstrip message ".")}, line {line} column {column}. Nothing was evaluated."])
           (setv p.buffer [])
           (ask p))))

(defn send [p source]
  "Give SOURCE to where it belongs: a value, a choice, or the session."
  (setv p.buffer [] p.armed 0 word (.strip source)
        names (lfor c (if p.own (get p.own "choices") []) (get c "name")))
  (cond
    p.wants (send-value p source)
    (and p.own (not names)) (link.answer p.session source [])
    (and p.own (.isdecimal word)) (choose p (int word))
    (in word names) (choose p (+ (.index names word) 1))
    True (submit p source)))

(defn submit [p source]
  "Give SOURCE to the session."
  (setv result (link.submit p.session source))
  (when (not (get result "accepted")) (ask p)))

(defn choose [p number]
  "Take the row NUMBER of the open question."
  (setv choices (get p.own "choices"))
  (cond
    (not (<= 1 number (len choices))) (do (write p [f"error: there are {(len choices)} rows"]) (ask p))
    (.get (get choices (- number 1)) "values") (do (setv p.wants (get choices (- number 1) "name")) (ask p))
    True (link.answer p.session (get choices (- number 1) "name") [])))

(defn send-value [p source]
  "Answer the open question with the value SOURCE."
  (setv name p.wants p.wants None form f"(eval-now (restart {(hy.repr name)} {source}))")
  (.add p.scroll.quiet form)
  (submit p form))

(defn interrupt [p]
  "Stop what runs; on nothing, the second time leave."
  (setv now (time.monotonic) again (< (- now p.armed) 2.5) p.armed now p.asked False)
  (write p [""])
  (cond
    (threads.own-interrupt?) None
    (link.interruptible) None
    again (leave p 130)
    (link.busy p.session) (link.cancel p.session True)
    True (do (setv p.buffer [])
             (write p ["note: Ctrl-C again leaves"])
             (ask p))))
