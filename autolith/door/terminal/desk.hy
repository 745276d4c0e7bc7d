"What the terminal knows: one Desk a session. Plain values; what is done with them is in `actions`, what is shown in `view`."

(import
  os
  time
  autolith.door.terminal [activity history link scroll])

(setv MODES ["draft" "list" "value" "search"])

(defclass Desk []
  "The terminal of SESSION. OUTPUT tells the size of the screen.

`mode` says where keys go: the draft, the list of an open question, a value for a restart, or the search of the history.
`questions` are the open ones, newest last, as events with `opened`; `choice` the row that is marked. `pastes` maps the
placeholders in the draft to what they stand for; `notice` is {\"text\" \"until\"}; `armed` when Ctrl-C was pressed on nothing."

  (defn __init__ [self session output]
    (setv self.session session
          self.output output
          self.scroll (scroll.Scroll self.columns link.effect :trace (fn [] (link.setting "trace")))
          self.activity (activity.start)
          self.painter None
          self.app None
          self.draft None
          self.query None
          self.mode "draft"
          self.stash ""
          self.questions []
          self.choice None
          self.notice None
          self.armed 0
          self.interrupted 0
          self.pastes {}
          self.history (history.History [])
          self.operations []
          self.stale True
          self.status {}
          self.leaving None
          self.modes None
          self.held None))

  (defn columns [self]
    "Return the columns of the screen, at least one."
    (max 1 (. (.get-size self.output) columns)))

  (defn rows [self]
    "Return the rows of the screen, at least one."
    (max 1 (. (.get-size self.output) rows)))

  (defn question [self]
    "Return the newest open question, or None."
    (when self.questions (get self.questions -1)))

  (defn show [self event]
    "Take EVENT into the scroll and what runs, and paint soon."
    (.take self.scroll event)
    (activity.note self.activity event (time.monotonic))
    (when self.painter (.soon self.painter)))

  (defn freshen [self]
    "Ask anew what the status row shows, and redraw."
    (setv self.status (link.status-line self.session))
    (when self.app
      (import autolith.door.terminal [screen])
      (screen.adopt-settings self))
    (.refresh self))

  (defn disarm [self]
    "Make the next Ctrl-C the first again."
    (when self.armed
      (setv self.armed 0 self.notice None)))

  (defn edited [self]
    "The draft changed: the next Ctrl-C is the first again, and a walk through the history ends unless it did that."
    (.disarm self)
    (setv h self.history)
    (when (and (is-not h.at None) (!= self.draft.text (get h.entries h.at)))
      (.rest h)))

  (defn tell [self text [seconds 4]]
    "Show TEXT on the notice row for SECONDS."
    (setv self.notice {"text" text "until" (+ (time.monotonic) seconds)})
    (.refresh self))

  (defn refresh [self]
    "Redraw soon."
    (when self.app (.invalidate self.app)))

  (defn directory [self]
    "Return the directory that files are named from."
    (or (.get self.status "cwd") (os.getcwd))))
