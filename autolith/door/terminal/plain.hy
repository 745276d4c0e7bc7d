"The terminal as lines: for screen readers, logs and terminals that can do nothing else. No live region, no redraw; words for marks.

What a person types is a line, or several that make one form; lines pasted together are one input, sent by an empty Enter."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  codecs
  os
  sys
  time
  autolith.base [text threads]
  autolith.door.terminal [activity app cells editor link render scroll signals streams style]
  autolith.image [evaluate])

(defparameter labels
  {"user" "you: "  "form" "form: "  "value" "value: "  "call" "call: "  "steering" "steering: "
   "ok" "ok: "  "failed" "failed: "  "question" "question: "  "error" "error: "  "note" "note: "  "reasoning" "reasoning: "}
  "What stands for each mark.")
(defparameter progress-at [10 30 60] "Seconds after which a running turn is told of; then each minute.")

(defparameter burst-pause 0.05 "Seconds between two lines, below which they were pasted together.")

(setv WIDTH 100000)

(defclass Lines []
  "The plain terminal of SESSION. `buffer` holds lines that are not yet sent, `own` an open question of the user's form."

  (defn __init__ [self session]
    (setv self.session session
          self.scroll (scroll.Scroll (fn [] WIDTH) link.effect)
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

(defn :async run [session startup]
  "Run the plain terminal for SESSION until it ends; return the exit status."
  (setv p (Lines session) loop (asyncio.get-running-loop))
  (begin p startup)
  (app.announce)
  (setv unwatch (link.observe session (fn [event] (arrived p event)))
        restore (streams.install (fn [s] (threads.post arrived p {"type" "output" "text" s "id" None})))
        session.on-end (fn [] (threads.post leave p 0)))
  (signals.start loop {"interrupt" (fn [] (interrupt p)) "leave" (fn [status] (leave p status))})
  (.add-reader loop 0 (fn [] (readable p loop)))
  (setv clock (asyncio.create-task (ticks p)))
  (try
    (await (.wait p.ended))
    (finally
      (.cancel clock)
      (.remove-reader loop 0)
      (signals.stop loop)
      (unwatch)
      (restore)
      (.close p.scroll)
      (.end-output p.scroll)
      (flush p)))
  p.status)

(defn leave [p status]
  "End the plain terminal with the exit STATUS."
  (when (not (.is-set p.ended))
    (setv p.status status)
    (.set p.ended)))

(defn begin [p startup]
  "Say what this is, and the conversation so far."
  (setv why (if (.get os.environ "AUTOLITH_PLAIN") "AUTOLITH_PLAIN" "TERM")
        status (link.status-line p.session)
        facts (lfor key ["model" "provider" "cwd"] :if (.get status key) (str (get status key))))
  (write (+ [f"note: plain mode, from {why}" f"note: Autolith {(get startup "version")}"
             (+ "note: " (cells.clean-line (.join ", " facts)))]
            (lfor n (.get startup "notices" []) (+ "note: " (cells.clean-line (str n))))))
  (for [event (link.events p.session 200)] (.take p.scroll event))
  (.close p.scroll)
  (flush p)
  (ask p))

;; * Out

(defn write [lines]
  "Print LINES."
  (for [line lines] (.write sys.__stdout__ (+ line "\n")))
  (.flush sys.__stdout__))

(defn flush [p]
  "Print what became final."
  (setv rows (.drain p.scroll))
  (when rows
    (write (lfor row rows :if (not (cells.only-marks? row)) (labelled (cells.row-text row))))))

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
  (.write sys.__stdout__ (cond
                           p.wants "value: "
                           p.own "choice: "
                           p.buffer "... "
                           True "you: "))
  (.flush sys.__stdout__))

(defn arrived [p event]
  "Print EVENT; of an answer, when it is whole."
  (setv kind (get event "type") now (time.monotonic))
  (activity.note p.activity event now)
  (match kind
    "text-delta" (return (.append p.answer (get event "text")))
    "answer" (do (setv p.answer [])
                 (write [(+ "answer: " (.replace (.strip (cells.clean (get event "text"))) "\n" "\n  "))])
                 (return))
    "turn-done" (when p.answer
                  (write [(+ "answer: " (.replace (.strip (cells.clean (.join "" p.answer))) "\n" "\n  "))])
                  (setv p.answer [] (get event "half") True))
    "question" (question p event)
    "answered" (setv p.own None p.wants None)
    "session-ended" (leave p 0)
    _ None)
  (when (not (or (in kind ["question" "evaluation-started"]) (echoed? p event))) (.take p.scroll event))
  (flush p)
  (when (= kind "evaluation") (setv p.own None p.wants None))
  (cond
    (= kind "question") (ask p)
    (in kind ["turn-done" "evaluation"]) (ask-when-idle p)))

(defn echoed? [p event]
  "Is EVENT about what stands on the screen already, since it was just typed?"
  (and (= (get event "type") "input-accepted") (= (get event "kind") "prompt") (not (link.busy p.session))))

(defn question [p event]
  "Print the question EVENT whole, with its choices numbered."
  (write [(+ (if (render.trouble? event) "error: " "question: ") (cells.clean (get event "text")))
          #* (if (.get event "detail") (.split (.strip (cells.clean (get event "detail")) "\n") "\n") [])
          #* (lfor [i c] (enumerate (get event "choices") 1)
                   (cells.clean-line (.format "  {} {}: {}" i (get c "name") (or (.get c "doc") ""))))
          (if (and (get event "own") (get event "choices"))
            "note: a number takes one; a form in parentheses is evaluated"
            "note: (answer N) answers; nothing else does")])
  (when (and (get event "own") (get event "choices")) (setv p.own event)))

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
    (write [(.format "note: {}, {}, {}" (get p.activity "what") (text.duration seconds)
                     (text.size (sum (map len p.answer))))])))

;; * In

(defn readable [p loop]
  "Take what was typed."
  (try
    (setv data (os.read 0 65536))
    (except [OSError] (setv data b"")))
  (when (not data)
    (.remove-reader loop 0)
    (return (leave p 0)))
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
    (> (len lines) 1) (do (.extend p.buffer lines)
                          (setv p.pasted True)
                          (write [(+ f"note: {(text.count (len lines) "line")} pasted;"
                                     " Enter on an empty line sends them")]))
    (and p.pasted (not (get lines 0))) (do (setv p.pasted False) (send p (.join "\n" p.buffer)))
    True (do (.append p.buffer (get lines 0))
             (when (not p.pasted) (consider p (.join "\n" p.buffer))))))

(defn consider [p source]
  "Send SOURCE if it is complete; ask for more of an incomplete form."
  (setv state (if (editor.form? source) (evaluate.probe source) "complete"))
  (cond
    (= state "complete") (send p source)
    (= state "incomplete") (ask p)
    True (do
           (setv [_ message line column] state)
           (write [f"error: {(.rstrip message ".")}, line {line} column {column}. Nothing was evaluated."])
           (setv p.buffer [])
           (ask p))))

(defn send [p source]
  "Give SOURCE to where it belongs: a value, a choice, or the session."
  (setv p.buffer [] p.armed 0)
  (cond
    p.wants (send-value p source)
    (and p.own (.isdecimal (.strip source))) (choose p (int (.strip source)))
    True (submit p source)))

(defn submit [p source]
  "Give SOURCE to the session."
  (setv result (link.submit p.session source))
  (when (not (get result "accepted")) (ask p)))

(defn choose [p number]
  "Take the row NUMBER of the open question."
  (setv choices (get p.own "choices"))
  (cond
    (not (<= 1 number (len choices))) (do (write [f"error: there are {(len choices)} rows"]) (ask p))
    (.get (get choices (- number 1)) "values") (do (setv p.wants (get choices (- number 1) "name")) (ask p))
    True (link.answer p.session (get choices (- number 1) "name") [])))

(defn send-value [p source]
  "Answer the open question with the value SOURCE."
  (setv name p.wants p.wants None)
  (submit p f"(eval-now (restart {(hy.repr name)} {source}))"))

(defn interrupt [p]
  "Stop what runs; on nothing, the second time leave."
  (setv now (time.monotonic) again (< (- now p.armed) 2.5) p.armed now p.asked False)
  (write [""])
  (cond
    (link.interruptible) None
    again (leave p 130)
    (link.busy p.session) (link.cancel p.session True)
    True (do (setv p.buffer [])
             (write ["note: Ctrl-C again leaves"])
             (ask p))))
