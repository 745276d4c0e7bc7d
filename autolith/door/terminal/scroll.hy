"What goes into the scrollback, in order, and what of it is still open. Decides; draws nothing itself.

`Scroll` takes the session's events one by one. `drain` gives the rows that are final since the last time; `live` those that may
still change: the open row of the answer, the open line of a form's output. What the user does beside a streaming answer is
held until a line of the answer ends, at most PATIENCE seconds, so that it never stands inside a line or a fence."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  re
  time
  autolith.door.terminal [cells markdown render])

(defparameter patience 1.0 "How many seconds something local waits for the end of a line of the answer.")

(setv LOCAL #{"evaluation-started" "value" "evaluation" "output" "notice" "question" "answered" "session-started"})

(setv MADE-UP (re.compile r"\(eval-now \(restart \""))      ; the answers by value that `actions` gives as forms

(setv ENDS {"ok" "mark:D;0" "error" "mark:D;1" "aborted" "mark:D;130"})

(defclass Scroll []
  "The order of things. WIDTH gives the columns of the screen, EFFECT a tool's effect, NOW a time in seconds, TRACE
whether reasoning is shown."

  (defn __init__ [self width effect [now time.monotonic] [trace (fn [] False)]]
    (setv self.width width
          self.effect effect
          self.now now
          self.trace trace
          self.thoughts []
          self.thought False
          self.turn False
          self.explained False
          self.done []
          self.pieces []
          self.stream None
          self.held []
          self.since None
          self.printed ""
          self.inputs {}
          self.shown (set)
          self.half False
          self.quiet (set)))

  ;; * In

  (defn take [self event]
    "Take EVENT: draw it, add it to what is open, or hold it until a line ends."
    (setv kind (get event "type"))
    (when (= kind "reasoning-delta")
      (return (when (self.trace) (.append self.thoughts (get event "text")))))
    (when (not-in kind #{"usage" "status" #* LOCAL}) (.end-thoughts self))
    (when (= kind "text-delta")
      (return (.append self.pieces (get event "text"))))
    (.absorb self)
    (cond
      (and (in kind LOCAL) (or self.held (and self.stream (.mid-line self.stream)))) (.hold self event)
      True (.settle self event)))

  (defn hold [self event]
    "Keep EVENT until the answer's line ends."
    (when (not self.held) (setv self.since (self.now)))
    (.append self.held event))

  (defn absorb [self]
    "Set the pieces of the answer that came since the last time; a frame at a time, not a piece at a time."
    (when self.pieces
      (setv text (.join "" self.pieces) self.pieces [])
      (.add-text self text)))

  (defn add-text [self text]
    "Set TEXT, a piece of the answer."
    (setv self.half True)
    (when (is self.stream None)
      (.end-output self)
      (setv self.stream (markdown.Stream (self.width))))
    (.resize self.stream (self.width))
    (setv text (cells.clean text))
    (while (and self.held (in "\n" text))
      (setv [line _ text] (.partition text "\n"))
      (.extend self.done (.feed self.stream (+ line "\n")))
      (when (not (.mid-line self.stream)) (.release self)))
    (.extend self.done (.feed self.stream text)))

  (defn settle [self event]
    "Enter EVENT now."
    (setv kind (get event "type") f (getattr self (hy.mangle f"on-{kind}") None))
    (when (not-in kind LOCAL) (when (.closes self kind) (.close self)))
    (when (not-in kind ["output" "usage" "call-delta" "reasoning"]) (.end-output self))
    (if f (f event) (.draw self event)))

  (defn closes [self kind]
    "Does an event of KIND end the block of answer text before it?"
    (in kind ["call-started" "call-result" "steering-applied" "turn-done" "turn-started" "failure" "retry" "session-ended"]))

  (defn close [self]
    "End the block of answer text, and let go what it held back."
    (.absorb self)
    (when self.stream
      (.extend self.done (.finish self.stream))
      (setv self.stream None))
    (.release self))

  (defn release [self]
    "Enter what was held."
    (setv held self.held self.held [] self.since None)
    (for [event held] (.settle self event)))

  (defn tick [self]
    "Let go what has been held too long; the answer's block is split, and says so."
    (.absorb self)
    (when (and self.held (>= (- (self.now) self.since) patience))
      (when self.stream (.extend self.done (.split self.stream)))
      (.release self)
      (when self.stream
        (.extend self.done (render.marked "note" "class:faint" "(answer goes on)" (self.width) "class:faint")))))

  (defn draw [self event]
    "Draw EVENT."
    (.extend self.done (render.draw event (.screen self))))

  (defn screen [self]
    "Return the screen as `render` wants it."
    {"width" (self.width) "effect" self.effect "trace" (self.trace)})

  ;; * Events with a memory

  (defn on-answer [self event]
    "End the answer that was streamed, or set one that was not."
    (when (is self.stream None) (.add-text self (get event "text")))
    (setv self.half (= (.get event "phase") "partial"))
    (.close self))

  (defn on-input-accepted [self event]
    "Remember what the user said: it is shown when its turn comes. What comes from the record is shown at once."
    (setv text (with-images event) kind (get event "kind") id (.get event "id"))
    (cond
      (and (is id None) (.match MADE-UP text)) (.add self.quiet text)
      (is id None) (.extend self.done ((if (= kind "prompt") render.said render.entered) text (self.width)))
      (in kind ["prompt" "steering" "follow-up"]) (setv (get self.inputs id) text)))

  (defn on-input-removed [self event]
    "Forget what the user took back."
    (.pop self.inputs (.get event "id") None))

  (defn on-turn-started [self event]
    "Show what waited until now."
    (setv text (.pop self.inputs (.get event "id") None) self.half False self.turn True self.explained False)
    (when text (.extend self.done (opened (render.said text (self.width))))))

  (defn on-turn-done [self event]
    "Show how the turn ended."
    (.draw self {#** event "half" self.half "explained" self.explained})
    (setv self.turn False self.explained False)
    (.append self.done [#((if (= (get event "status") "done") "mark:D;0" "mark:D;1") "")])
    (setv self.half False))

  (defn on-request-started [self event]
    "Nothing has been thought yet."
    (setv self.thought False))

  (defn on-reasoning [self event]
    "Show what was thought, unless it stands already since it streamed."
    (when (not self.thought)
      (when (self.trace) (.end-output self))
      (.draw self event)))

  (defn end-thoughts [self]
    "Show what was thought so far."
    (when self.thoughts
      (setv text (.join "" self.thoughts) self.thoughts [] self.thought True)
      (.end-output self)
      (.draw self {"type" "reasoning" "text" text})))

  (defn on-failure [self event]
    "Show why a request failed; the end of its turn need not say it again."
    (setv self.explained True)
    (.draw self event))

  (defn on-retry [self event]
    "Show that what stands of the answer does not count."
    (setv self.half False)
    (.draw self event))

  (defn on-steering-applied [self event]
    "Show what joined the turn."
    (for [text (get event "texts")]
      (setv id (next (gfor [k v] (.items self.inputs) :if (.startswith v text) k) None))
      (.pop self.inputs id None)
      (.extend self.done (render.steered text (self.width)))))

  (defn on-evaluation-started [self event]
    "Show the form that begins, unless the terminal made it up; `quiet` holds such sources, then the ids."
    (setv id (.get event "id") source (get event "source"))
    (.pop self.inputs id None)
    (if (in source self.quiet)
      (do (.discard self.quiet source) (.add self.quiet id))
      (.extend self.done ((if (.get event "beside") list opened) (render.entered source (self.width))))))

  (defn on-value [self event]
    "Show a value."
    (.add self.shown (.get event "id"))
    (.draw self event))

  (defn on-evaluation [self event]
    "Show how a form ended; what it printed and gave stands already."
    (setv id (.get event "id") quiet (& #{id (.get event "source")} self.quiet))
    (-= self.quiet quiet)
    (when (and quiet (= (get event "status") "ok")) (return))
    (.draw self {#** event "shown" (in id self.shown)})
    (when (and (is-not id None) (not (.get event "beside")))
      (.append self.done [#((get ENDS (get event "status")) "")]))
    (when (and (.get event "beside") self.turn)
      (.extend self.done (render.marked "note" "class:faint"
                                        (render.joined ["beside" (render.lasted event)])
                                        (self.width) "class:faint")))
    (.discard self.shown id))

  (defn on-output [self event]
    "Show whole lines of a form's output; a carriage return writes its line anew."
    (.add self.shown (.get event "id"))
    (setv [#* lines last] (.split (+ self.printed (.replace (get event "text") "\r\n" "\n")) "\n"))
    (for [line lines]
      (.extend self.done (render.indented (overwritten line) (self.width))))
    (setv self.printed (if (> (len last) 65536) (overwritten last) last)))

  (defn end-output [self]
    "End the open line of output."
    (when self.printed
      (.extend self.done (render.indented (overwritten self.printed) (self.width)))
      (setv self.printed "")))

  ;; * Out

  (defn drain [self]
    "Return the rows that became final, and forget them."
    (.absorb self)
    (setv rows self.done self.done [])
    rows)

  (defn live [self]
    "Return the rows that are shown but not final."
    (.absorb self)
    (setv thoughts {"type" "reasoning" "text" (.join "" self.thoughts)})
    (+ (if self.thoughts (cut (render.draw thoughts (.screen self)) -3 None) [])
       (if self.stream (do (.resize self.stream (self.width)) (.live self.stream)) [])
       (if self.printed (cut (render.indented (overwritten self.printed) (self.width)) -3 None) []))))

(defn opened [rows]
  "Return ROWS, something the user entered, with the marks that tell a terminal where prompt, input and output begin."
  (setv [lead #* others] (get rows 0))
  (setv rows [[#("mark:A" "") lead #("mark:B" "") #* others] #* (cut rows 1 None)])
  [#* (cut rows -1) [#* (get rows -1) #("mark:C" "")]])

(defn with-images [event]
  "Return the text of EVENT, an input, with a line for each image that goes with it."
  (.join "\n" [(get event "text")
               #* (map image-line (or (.get event "images") []))]))

(defn image-line [image]
  "Return what stands for IMAGE, a map: its label, which the model sees too, and the path that the user gave."
  (setv label (or (.get image "label") "[Image]"))
  (if (.get image "mime")                      ; prepared: the path is of our own copy
    label
    f"{(cut label -1)}: {(get image "path")}]"))

(defn overwritten [line]
  "Return LINE, cleaned, as it stands after its carriage returns."
  (cells.clean (get (.split (.rstrip line "\r") "\r") -1)))
