"What is drawn round the draft: pure functions from the desk to rows. Each is called through `guarded`, so that one that raises costs
one line."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  sys
  time
  autolith.door.terminal [activity cells editor hint link style])

(defparameter under-rows ["menu" "found" "hints" "choices" "busy" "waiting" "notices" "status"]
  "What stands under the caret, by the names of functions of this module, top down.")
(defparameter menu-rows 6 "How many rows a menu has.")

(defn guarded [name #* args]
  "Return what the function NAME of this module gives for ARGS; if it raises, one line that says so."
  (try
    ((getattr (get sys.modules __name__) (hy.mangle name)) #* args)
    (except [e Exception] (broken name e))))

(defn broken [name error]
  "Return what stands for what the function NAME, which raised ERROR, was to draw."
  (setv text f"! drawing {name} raised {(. (type error) __name__)}: {(cells.clean-line (str error))}")
  (if (= name "lead")
    [#("class:bad" "! ")]
    [[#("class:bad" text)]]))

(defn under [desk]
  "Return the rows under the caret, as many as the screen has room for; the last ones stay."
  (setv width (.columns desk)
        room (max 0 (- (.rows desk) 1 (draft-height desk)))
        rows (sum (lfor name under-rows (guarded name desk width)) []))
  (when (< width 8) (setv rows []))
  (when (< width 24) (setv rows (cut rows -1 None)))
  (lfor row (if (> (len rows) room) (cut rows (- (len rows) room) None) rows)
        (cells.fit-row row width)))

(defn above [desk]
  "Return the rows over the draft: what of the answer or the output is still open."
  (setv rows (guarded "open-rows" desk))
  (cut rows (- (max 0 (- (.rows desk) 2))) None))

(defn open-rows [desk]
  "Return the open rows of the scroll, on the safe side of the screen's edge."
  (lfor row (.live desk.scroll) (cells.fit-row row (.columns desk))))

(defn draft-height [desk]
  "Return how many rows the draft may take: a third of the screen."
  (max 1 (// (.rows desk) 3)))

(defn lead [desk]
  "Return the fragment before the draft: it tells prose, a form and a value apart."
  (setv kind (cond
               (= desk.mode "value") "value"
               (editor.form? desk.draft.text) "form"
               True "user"))
  [#("class:accent" (cut (style.mark kind) (cells.margin (.columns desk))))])

(defn blank [width]
  "Return the margin of a screen of WIDTH."
  #("" (* " " (cells.margin width))))

(defn line [parts width]
  "Return a row of PARTS with dots between; parts that have no room are left out whole, from the right."
  (setv dot f" {(style.mark "dot")} " room (- width (cells.margin width)) text "")
  (for [part (filter None parts)]
    (setv longer (if text (+ text dot part) (cells.fit (cells.clean-line part) room)))
    (when (> (cells.width longer) room) (break))
    (setv text longer))
  [(blank width) #("class:faint" text)])

;; * Rows

(defn menu [desk width]
  "Return the completion menu."
  (setv state desk.draft.complete-state)
  (when (or (is state None) (not state.completions)) (return []))
  (setv all state.completions at (or state.complete-index 0)
        first (max 0 (min (- at (// menu-rows 2)) (- (len all) menu-rows)))
        shown (cut all first (+ first menu-rows))
        size (min 40 (max (gfor c shown (cells.width c.display-text)))))
  (+ (lfor [i c] (enumerate shown first)
       (menu-row c (= i state.complete-index) size width))
     (if (> (len all) menu-rows) [(line [f"{(+ at 1)} of {(len all)}"] width)] [])))

(defn menu-row [candidate chosen size width]
  "Return the row of CANDIDATE; CHOSEN marks it, SIZE is the room of its name."
  (setv name (cells.fit (cells.clean-line candidate.display-text) size)
        gap (* " " (- size (cells.width name))))
  [(blank width) #((if chosen "class:chosen" "") (+ (if chosen "> " "  ") name))
   #("class:faint" (+ gap "  " (cells.clean-line candidate.display-meta-text)))])

(defn found [desk width]
  "Return what the search of the history found."
  (when (!= desk.mode "search") (return []))
  (setv entries (.search desk.history desk.query.text) at (or desk.choice 0)
        first (max 0 (- at (- menu-rows 1))))
  (+ [(line ["history" (if entries f"{(+ at 1)} of {(len entries)}" "nothing fits")
             "C-r older" "C-s newer" "Tab edits" "Enter sends" "Esc back"] width)]
     (lfor [i entry] (enumerate (cut entries first (+ first menu-rows)) first)
       [(blank width) #((if (= i at) "class:chosen" "")
                        (+ (if (= i at) "> " "  ") (cells.fit (cells.clean-line entry) (max 1 (- width 6)))))])))

(defn hints [desk width]
  "Return the hint about the call at the caret."
  (setv text desk.draft.document.text-before-cursor)
  (if (or (= desk.mode "search") (not (editor.form? desk.draft.text)) (> (len text) 20000))
    []
    (cut (hint.rows text desk.operations width) (if (< width 60) 1 2))))

(defn choices [desk width]
  "Return the choices of the newest open question."
  (setv question (.question desk))
  (when (is question None) (return []))
  (setv size (max [0 #* (gfor c (get question "choices") (len (str (get c "name"))))]))
  (+ (lfor [i choice] (enumerate (get question "choices") 1)
       (choice-row i choice size (and (= desk.mode "list") (= desk.choice (- i 1))) width))
     [(line (choice-help desk question) width)]))

(defn choice-row [number choice size chosen width]
  "Return the row of CHOICE, the NUMBERth, its name in SIZE cells; CHOSEN marks it."
  (setv name (.ljust (cells.clean-line (str (get choice "name"))) (min size 30)))
  [(blank width) #((if chosen "class:chosen" "class:strong") (.format "{}{} {}" (if chosen "> " "  ") number name))
   #("class:faint" (+ "  " (cells.clean-line (or (.get choice "doc") ""))))])

(defn choice-help [desk question]
  "Return the parts of the row that says how QUESTION is answered."
  (setv more (- (len desk.questions) 1))
  (cond
    (= desk.mode "value") ["Enter uses it" "Esc back"]
    (= desk.mode "list") ["Up Down or a number, Enter" "( types a form" (if (get question "own") "Esc aborts" "Esc back to the draft")]
    True [(if (get question "choices") "(answer 1)" "(answer \"text\")") "Alt-a, then a number and Enter"
          (if more f"{more} more" "")]))

(defn busy [desk width]
  "Return the row about what runs."
  (setv parts (activity.parts desk.activity (time.monotonic)))
  (if parts [(line (with-room parts width) width)] []))

(defn with-room [parts width]
  "Return PARTS, the second of them, what runs, shortened so that the last one, how it stops, has room in WIDTH."
  (setv [clock what #* others] (lfor p parts (cells.clean-line p))
        others (list (filter None others))
        room (- width (cells.margin width) (cells.width clock) 6 (sum (gfor p others (+ 3 (cells.width p))))))
  (cond
    (>= room (cells.width what)) [clock what #* others]
    (>= room 12) [clock (cells.fit what room) #* others]
    (> width 40) [clock (get others -1)]
    True [clock]))

(defn waiting [desk width]
  "Return the rows of what waits: steering, then the queue."
  (setv items (link.queue desk.session) shown (cut items 3))
  (+ (lfor [i item] (enumerate shown 1) (waiting-row i item desk width))
     (if (> (len items) 3) [(line [f"{(- (len items) 3)} more: (queue)"] width)] [])))

(defn waiting-row [number item desk width]
  "Return the row of ITEM, the NUMBERth that waits."
  (setv steering (= (get item "kind") "steering") words (cells.clean-line (get item "text"))
        when-text (cond steering "joins at the next step" (.get desk.status "held") "held" True "after this turn")
        room (max 1 (- width 8 (len when-text))))
  [(blank width) #("class:accent" (if steering (style.mark "steering") f"{number} "))
   #("" (cells.fit words room)) #("class:faint" (+ "  " when-text))])

(defn notices [desk width]
  "Return the notice while it is due."
  (if (and desk.notice (< (time.monotonic) (get desk.notice "until")))
    [(line [(get desk.notice "text")] width)]
    []))

(defn status [desk width]
  "Return the status row: the model, how full its window is, the branch, the mode."
  (setv s desk.status percent (.get s "context")
        model (.strip (.join " " (filter None [(.get s "model") (.get s "effort")])))
        queued (or (.get s "queued") 0))
  [(line [(or model (str (.get s "provider" "")))
          (if (is percent None) "" (if (< width 60) f"{percent}%" f"context {percent}%"))
          (str (or (.get s "mode") ""))
          (if queued (.format "{} {}" queued (if (.get s "held") "held" "queued")) "")
          (or (.get s "branch") "")] width)])
