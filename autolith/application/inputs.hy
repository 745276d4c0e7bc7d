"Inputs: what becomes of a submitted line. Steering, the queue, holding, recalling, cancelling.

Runs on the loop thread. An input is an item as `session` describes; it is on the disk (state/pending) before it counts as
accepted, until it runs."

(import
  asyncio
  difflib
  time
  autolith.application [commands input questions running session]
  autolith.base [conditions threads]
  autolith.state [pending])

(defclass Handle []
  "An accepted prompt: what `(prompt ...)` returns at once. `wait` gives the answer."

  (defn __init__ [self text]
    (import concurrent.futures [Future])
    (setv self.text text
          self.status "queued"
          self.outcome None
          self.finished (Future)))

  (defn settle [self status outcome]
    "Note how the prompt ended: STATUS, and OUTCOME, what the turn returned."
    (setv self.status status self.outcome outcome)
    (when (not (.done self.finished))
      (.set-result self.finished outcome))
    None)

  (defn wait [self]
    "Wait until the prompt has run; return the answer's text. A form that waits lets the turn run at once."
    (setv outcome (threads.on-loop (running.wait-for (session.get-current) self)))
    (get (or outcome {"text" ""}) "text"))

  (defn __repr__ [self]
    (setv words (if (> (len self.text) 40) (+ (cut self.text 40) "...") self.text))
    f"<prompt, {self.status}: {(repr words)}>"))

(defn make-item [kind text * [source None] [images None] [handle None]]
  "Return a new item of KIND; IMAGES, paths, get their numbers in the conversation here."
  {"id" (next session.serials) "kind" kind "text" text "source" source "handle" handle
   "images" (if images (session.numbered (session.get-current) images) [])})

(defn submit [s text [images None]]
  "Take TEXT, with IMAGES (paths), as the user's input; return {\"accepted\" bool \"kind\" str \"notice\" str or None}."
  (setv what (input.classify text) kind (get what "kind"))
  (cond
    (not (.strip text)) (_release s)
    (questions.names-choice? s text)
      (do (questions.settle s (.strip text))
          {"accepted" True "kind" "answer" "notice" None})
    (= kind "unknown") (_unknown s what)
    (= kind "prompt") (submit-prompt s (get what "text") :images images)
    True (_submit-form s what)))

(defn _unknown [s what]
  "Refuse WHAT, a slash line with an unknown word, naming its nearest neighbours."
  (setv near (difflib.get-close-matches (get what "name") (list commands.commands) 3 0.5)
        notice (.format "no command is called /{}{}; (help) lists them, and // begins a message with a slash"
                        (get what "name")
                        (if near (.format " (near: {})" (.join " " (gfor n near (+ "/" n)))) "")))
  (session.notice s notice "error")
  {"accepted" False "kind" "unknown" "notice" notice})

(defn _release [s]
  "Let what is held go on; an empty line is nothing else."
  (setv held (and s.held (bool s.queue)))
  (setv s.held False)
  (pump s)
  {"accepted" (bool held) "kind" "empty" "notice" None})

(defn submit-prompt [s text * [images None] [handle None]]
  "Take TEXT as a message to the model: steering while a turn runs, last in the queue while a form does, else next to run."
  (setv item (make-item "prompt" text :images images :handle handle))
  (if s.turn
    (do (.append s.steering item)
        (_accepted s item "steering"))
    (do (setv s.held False)
        (if s.form (.append s.queue item) (.insert s.queue 0 item))
        (_accepted s item (if s.form "follow-up" "prompt"))))
  (pump s)
  {"accepted" True "kind" (if s.turn "steering" "prompt") "notice" None})

(defn follow-up [s text [images None]]
  "Queue TEXT to run after everything that runs or waits now."
  (setv what (input.classify text))
  (when (= (get what "kind") "unknown") (return (_unknown s what)))
  (setv item (make-item (get what "kind") (get what "text") :source (.get what "source") :images images))
  (.append s.queue item)
  (_accepted s item "follow-up")
  (pump s)
  {"accepted" True "kind" "follow-up" "notice" None})

(defn _submit-form [s what]
  "Run the form or command WHAT now, beside what runs, or when it is its turn."
  (setv item (make-item (get what "kind") (get what "text") :source (get what "source"))
        active (session.busy s))
  (when (is active None)
    (setv s.held False)
    (.insert s.queue 0 item)
    (_accepted s item (get item "kind"))
    (pump s)
    (return {"accepted" True "kind" (get item "kind") "notice" None}))
  (setv how (or (input.beside (get item "source"))
                (when (and s.questions (not s.turn)) {"how" "level"})))     ; a form that asks serves others meanwhile
  (if how
    (do (running.start s (running.run-beside s item how))
        {"accepted" True "kind" "beside" "notice" None})
    (_wait s item active)))

(defn _wait [s item active]
  "Queue ITEM, a form that cannot run while ACTIVE does, and say where it waits and why."
  (.append s.queue item)
  (_accepted s item "follow-up")
  (setv notice (.format "waits for the {} that runs; (eval-now ...) and calls with literal arguments run beside it"
                        (get active "phase")))
  (session.notice s notice)
  {"accepted" True "kind" "follow-up" "notice" notice})

(defn _accepted [s item kind]
  "Make ITEM durable, then say that it was accepted as KIND."
  (session.ensure-durable s)
  (save s)
  (session.publish s "input-accepted" :id (get item "id") :text (get item "text") :kind kind
                   :images (get item "images")))

(defn save [s]
  "Write what waits in S to the disk."
  (when (is-not s.conversation None)
    (pending.save s.conversation.id
      (+ (lfor item s.evaluating (_kept item True))
         (lfor item (+ s.steering s.queue) (_kept item False)))))
  None)

(defn _kept [item running]
  "ITEM as it is kept on the disk; RUNNING says that it was begun."
  {"kind" (get item "kind") "text" (get item "text") "source" (get item "source") "images" (get item "images")
   "running" running})

(defn restore [s]
  "Put back what waited when the conversation of S was left; it is held until the user says so."
  (setv kept (pending.load s.conversation.id) items (lfor item kept :if (not (.get item "running")) item))
  (for [item kept :if (.get item "running")]
    (running.record-lost s item))
  (for [item items]
    (.append s.queue (make-item (get item "kind") (get item "text") :source (.get item "source")
                                :images (.get item "images"))))
  (when items
    (setv s.held True)
    (session.notice s f"{(len items)} inputs from last time wait: Enter on an empty line runs the first, (queue) shows them"))
  None)

(defn queue [s]
  "Return what waits: steering first, then the queue, as {\"id\" \"kind\" \"text\"}."
  (+ (lfor item s.steering {"id" (get item "id") "kind" "steering" "text" (get item "text")})
     (lfor item s.queue {"id" (get item "id") "kind" (get item "kind") "text" (get item "text")})))

(defn recall [s]
  "Take the newest waiting input back and return its text, or None when nothing waits."
  (setv source (cond s.queue s.queue s.steering s.steering True None))
  (when source
    (setv item (.pop source))
    (save s)
    (session.publish s "input-removed" :id (get item "id") :text (get item "text"))
    (when (get item "handle") (.settle (get item "handle") "recalled" None))
    (get item "text")))

(defn cancel [s [hold False]]
  "Stop what runs; with HOLD, what waits stays until the next input. Return whether anything was stopped."
  (setv active (or s.turn s.form))
  (when hold (setv s.held (bool (or s.queue s.steering))))
  (when s.turn (.cancel (get s.turn "task")))
  (when (or (threads.main-busy) (and s.form (not s.turn))) (threads.interrupt-main))
  (bool active))

(defn pump [s]
  "Start the next waiting input unless something runs, or the queue is held."
  (when (and s.queue (not s.held) (not s.turn) (not s.form) (not s.ended))
    (setv item (.pop s.queue 0))
    (when (!= (get item "kind") "prompt") (.append s.evaluating item))
    (save s)
    (running.start s (run-item s item)))
  None)

(defn :async run-item [s item]
  "Run ITEM, then whatever waits next."
  (try
    (if (= (get item "kind") "prompt")
      (await (running.run-prompt s item))
      (await (running.run-form s item)))
    (finally
      (when (in item s.evaluating) (.remove s.evaluating item))
      (setv s.queue (+ s.steering s.queue)
            s.steering [])
      (save s)
      (pump s))))
