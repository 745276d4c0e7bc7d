"What the keys do, by name: each action is a function of the desk and the key's event. `keys` says which key has which."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  time
  autolith.base [text :as prose threads]
  autolith.door.terminal [cells editor leaving link pastes]
  autolith.image [evaluate])

(defparameter arm-seconds 2.5 "Seconds within which a second Ctrl-C leaves.")
(defparameter question-delay 0.7 "Seconds after a question is shown, in which no key answers it.")

;; * Submitting

(defn enter [desk event]
  "Submit the draft; give an incomplete form a new line; in a menu or list, take the row."
  (setv menu desk.draft.complete-state)
  (when (and menu (is-not menu.complete-index None) (= desk.mode "draft"))
    (return (setv desk.draft.complete-state None)))
  (match desk.mode
    "list" (take-choice desk event)
    "search" (take-found desk event :send True)
    "value" (take-value desk)
    _ (submit desk)))

(defn submit [desk]
  "Submit the draft if it is complete."
  (setv text (.rstrip (pastes.expand desk desk.draft.text) "\n") row (named-row desk text))
  (cond
    (not (.strip text)) (submit-nothing desk)
    (is-not row None) (take-row desk row)
    (not (editor.form? text)) (hand-over desk text link.submit)
    (complete? desk text) (hand-over desk text link.submit)))

(defn named-row [desk text]
  "Return the number, from 0, of the choice of the open question of the user's own form that TEXT names, or numbers, whole; or None."
  (setv question (.question desk) word (.strip text))
  (when (and question (get question "own"))
    (next (gfor [i choice] (enumerate (get question "choices") 1)
                :if (in word [(str i) (get choice "name")])
                (- i 1))
          None)))

(defn take-row [desk index]
  "Take the choice INDEX, which the draft named; one that wants a value asks for it."
  (.reset desk.draft)
  (setv desk.choice index)
  (take-choice desk None))

(defn submit-nothing [desk]
  "Let what is held go on."
  (.reset desk.draft)
  (when (link.release desk.session) (.tell desk "going on with what was held")))

(defn complete? [desk text]
  "Is the form TEXT complete? If not, go on with it on a new line, or show where it cannot be read."
  (setv state (evaluate.probe text))
  (cond
    (= state "complete") True
    (= state "incomplete") (do (newline desk None) False)
    True (do (refuse desk text state) False)))

(defn refuse [desk text state]
  "Show the error STATE, #(\"error\" message line column), of reading TEXT, and put the caret there."
  (setv [_ message line column] state
        line (or line 1) column (or column 1)
        lines (.split text "\n")
        at (min (len desk.draft.text) (+ (sum (gfor l (cut lines (- line 1)) (+ 1 (len l)))) (- column 1))))
  (setv desk.draft.cursor-position (max 0 at))
  (.show desk {"type" "notice" "level" "error"
               "text" f"{(.rstrip message ".")}, line {line} column {column}. Nothing was evaluated; it is in the prompt."}))

(defn hand-over [desk text send]
  "Give TEXT to the session by SEND; an input that was not accepted stays in the draft."
  (setv images (or (getattr desk.session "first_images" None) [])
        result (if (and images (= send link.submit)) (send desk.session text images) (send desk.session text)))
  (when (get result "accepted")
    (when (and images (= (get result "kind") "prompt")) (setv desk.session.first-images []))
    (.add desk.history text)
    (setv desk.pastes {} desk.armed 0)
    (.reset desk.draft))
  (.freshen desk))

(defn newline [desk event]
  "Begin a new line, indented as a form wants it."
  (setv before desk.draft.document.text-before-cursor
        blanks (if (editor.form? desk.draft.text) (editor.indentation before) 0))
  (.insert-text desk.draft (+ "\n" (* " " (min blanks 60)))))

(defn edit-draft [desk event]
  "Edit the draft in $VISUAL or $EDITOR; what is saved comes back, and nothing is sent."
  (.open-in-editor desk.draft))

(defn run-beside [desk event]
  "Evaluate the draft, a form, now, also while something runs."
  (setv text (.strip (pastes.expand desk desk.draft.text)))
  (when (and (editor.form? text) (= (evaluate.probe text) "complete"))
    (hand-over desk (if (.startswith text "(eval-now ") text f"(eval-now {text})") link.submit)))

(defn paste [desk event]
  "Insert what was pasted as one edit; it never submits. A long one stands as a placeholder and is sent whole."
  (when (= desk.mode "list") (setv desk.mode "draft"))
  (if (= desk.mode "search")
    (.insert-text desk.query (cells.clean-line event.data))
    (.insert-text desk.draft (pastes.entered desk event.data))))

;; * Completing, queueing, recalling

(defn tab [desk event]
  "The first that fits: the open question's list, a completion, indentation, queueing, recalling."
  (setv draft desk.draft empty (not draft.text))
  (cond
    (= desk.mode "search") (take-found desk event :send False)
    draft.complete-state (.complete-next draft)
    (and empty (.question desk)) (answer-list desk event)
    (and empty (link.queue desk.session)) (recall desk event)
    empty (.tell desk "(help) lists what can be typed")
    (line-start? draft) (reindent desk event)
    True (complete-or-queue desk)))

(defn line-start? [draft]
  "Is the caret of DRAFT, a form of several lines, at the beginning of a line?"
  (and (editor.form? draft.text)
       (not (.strip draft.document.current-line-before-cursor)) (> draft.document.cursor-position-row 0)))

(defn complete-or-queue [desk]
  "Complete at the caret; where nothing fits and something runs, queue the draft."
  (import autolith.door.terminal [completer])
  (setv draft desk.draft
        found (completer.candidates draft.document.text-before-cursor desk.operations (.directory desk)))
  (cond
    (= (len found) 1) (insert-candidate draft (get found 0))
    found (.start-completion draft :insert-common-part True)
    (and (link.busy desk.session) (whole? (pastes.expand desk draft.text)))
      (hand-over desk (pastes.expand desk draft.text) link.follow-up)
    True (.tell desk "nothing completes this")))

(defn whole? [text]
  "Is TEXT prose, or a complete form?"
  (or (not (editor.form? text)) (= (evaluate.probe text) "complete")))

(defn insert-candidate [draft candidate]
  "Put CANDIDATE into DRAFT in place of what it completes."
  (.delete-before-cursor draft (get candidate "span"))
  (.insert-text draft (get candidate "text")))

(defn back-tab [desk event]
  "The previous candidate; on an empty draft, take back what waits."
  (cond
    desk.draft.complete-state (.complete-previous desk.draft)
    (not desk.draft.text) (recall desk event)))

(defn recall [desk event]
  "Take the newest waiting input back into the draft."
  (setv text (link.recall desk.session))
  (when text
    (put-text desk text))
  (.freshen desk))

(defn put-text [desk text]
  "Make TEXT the draft, the caret at its end."
  (setv desk.draft.document ((type desk.draft.document) text (len text))))

(defn reindent [desk event]
  "Indent the line of the caret as the form wants it."
  (setv document desk.draft.document text desk.draft.text
        start (- document.cursor-position (len document.current-line-before-cursor))
        line document.current-line
        wanted (editor.indentation (cut text (max 0 (- start 1))))
        had (- (len line) (len (.lstrip line)))
        after (+ (cut text start) (* " " wanted) (cut text (+ start had) None))
        caret (max (+ start wanted) (+ document.cursor-position (- wanted had))))
  (setv desk.draft.document ((type document) after (min (len after) caret))))

;; * Stopping and leaving

(defn escape [desk event]
  "Close what is open; else stop what runs. With vi's keys, the first one ends inserting."
  (cond
    desk.draft.complete-state (.cancel-completion desk.draft)
    (and (= desk.mode "draft") (inserting? desk)) (command-mode desk)
    (= desk.mode "search") (close-search desk)
    (= desk.mode "value") (leave-value desk)
    (or (= desk.mode "list") (gives-up? desk)) (leave-list desk)
    (link.busy desk.session) (do (link.cancel desk.session False) (.freshen desk))))

(defn gives-up? [desk]
  "Does a form of the user's own that failed wait for a restart, with nothing in the draft?"
  (setv question (.question desk))
  (and question (get question "own") (not desk.draft.text)
       (any (gfor c (get question "choices") (= (get c "name") "abort")))))

(defn inserting? [desk]
  "Do the keys insert, in vi's way?"
  (import prompt_toolkit.enums [EditingMode] prompt_toolkit.key-binding.vi-state [InputMode])
  (and (= desk.app.editing-mode EditingMode.VI) (!= desk.app.vi-state.input-mode InputMode.NAVIGATION)))

(defn command-mode [desk]
  "Let the keys command, in vi's way."
  (import prompt_toolkit.key-binding.vi-state [InputMode])
  (setv desk.app.vi-state.input-mode InputMode.NAVIGATION)
  (when (. desk.draft document current-line-before-cursor)
    (left desk None)))

(defn interrupt [desk event]
  "Stop what runs and hold what waits; else clear the draft; on an empty one, arm, and the second time leave."
  (cond
    (armed? desk) (leaving.leave desk 130)
    (link.busy desk.session) (do (arm desk "Ctrl-C again leaves; draft and queue are kept")
                                 (link.cancel desk.session True))
    (in desk.mode ["search" "value" "list"]) (escape desk event)
    desk.draft.text (clear desk)
    True (arm desk "Ctrl-C again leaves"))
  (.freshen desk))

(defn kernel-interrupt [desk]
  "Act on SIGINT, which the kernel made of Ctrl-C: a form that ran has been interrupted by it already."
  (cond
    desk.app._running-in-terminal None
    (threads.own-interrupt?) None                       ; what stopped a form by another way than this key
    (< (- (time.monotonic) desk.interrupted) 0.15) None
    (not (or (link.interruptible) (get desk.activity "forms"))) (interrupt desk None)
    (armed? desk) (leaving.leave desk 130)
    True (do
           (arm desk "Ctrl-C again leaves; draft and queue are kept")
           (link.stop-turn desk.session))))

(defn armed? [desk]
  "Was Ctrl-C pressed just now?"
  (< (- (time.monotonic) desk.armed) arm-seconds))

(defn arm [desk text]
  "Make the next Ctrl-C leave, and say so in TEXT."
  (setv desk.armed (time.monotonic))
  (.tell desk text 2.5))

(defn clear [desk]
  "Clear the draft; Up brings it back."
  (.add desk.history (pastes.expand desk desk.draft.text))
  (setv desk.pastes {})
  (.reset desk.draft))

(defn delete-or-leave [desk event]
  "Delete the character after the caret; on an empty draft while nothing runs, leave."
  (cond
    desk.draft.text (delete-forward desk event)
    (reads-input? desk) (do (restore-draft desk) (link.end-input desk.session))
    (link.busy desk.session) (.tell desk "something runs: Esc stops it, Ctrl-C twice leaves")
    True (leaving.leave desk 0)))

(defn reads-input? [desk]
  "Is what is being typed the input of a form?"
  (and (= desk.mode "value") (bool (.question desk)) (in (get (.question desk) "id") link.reading)))

(defn leave [desk event]
  "Leave the program; what runs is stopped."
  (leaving.leave desk 0))

(defn suspend [desk event]
  "Stop the program until the shell continues it."
  (leaving.suspend desk))

(defn redraw [desk event]
  "Draw the live region anew; the scrollback stays."
  (leaving.redraw desk))

;; * Moving by whole characters

(defn left [desk event]
  "Go back by one character as it is seen."
  (setv text (buffer desk) before text.document.text-before-cursor)
  (when before
    (-= text.cursor-position (len (get (cells.clusters (cut before -40 None)) -1)))))

(defn right [desk event]
  "Go on by one character as it is seen."
  (setv text (buffer desk) after text.document.text-after-cursor)
  (when after
    (+= text.cursor-position (len (get (cells.clusters (cut after 40)) 0)))))

(defn delete-back [desk event]
  "Delete the character before the caret."
  (setv before (. (buffer desk) document text-before-cursor))
  (when before
    (.delete-before-cursor (buffer desk) (len (get (cells.clusters (cut before -40 None)) -1)))))

(defn delete-forward [desk event]
  "Delete the character after the caret."
  (setv after (. (buffer desk) document text-after-cursor))
  (when after
    (.delete (buffer desk) (len (get (cells.clusters (cut after 40)) 0)))))

(defn buffer [desk]
  "Return the text that is being edited."
  (if (= desk.mode "search") desk.query desk.draft))

;; * History

(defn up [desk event]
  "A row up: in a list, in the draft, and from its first row into the history."
  (cond
    (in desk.mode ["list" "search"]) (move-choice desk -1)
    desk.draft.complete-state (.complete-previous desk.draft)
    (> desk.draft.document.cursor-position-row 0) (.cursor-up desk.draft)
    True (walk desk (.older desk.history desk.draft.text))))

(defn down [desk event]
  "A row down: in a list, in the draft, and from its last row towards the present."
  (setv document desk.draft.document)
  (cond
    (in desk.mode ["list" "search"]) (move-choice desk 1)
    desk.draft.complete-state (.complete-next desk.draft)
    (< document.cursor-position-row (- document.line-count 1)) (.cursor-down desk.draft)
    True (walk desk (.newer desk.history))))

(defn walk [desk text]
  "Show TEXT of the history, if there is any."
  (when (is-not text None) (put-text desk text)))

(defn search-history [desk event]
  "Search what was typed before; again: the next older."
  (if (= desk.mode "search")
    (move-choice desk 1)
    (do
      (setv desk.mode "search" desk.choice 0)
      (.reset desk.query)
      (.focus desk.app.layout desk.query))))

(defn newer-found [desk event]
  "In the search, the next newer entry."
  (when (= desk.mode "search") (move-choice desk -1)))

(defn close-search [desk]
  "Go back to the draft."
  (setv desk.mode "draft" desk.choice None)
  (.focus desk.app.layout desk.draft))

(defn take-found [desk event * send]
  "Take the marked entry into the draft, and SEND it or not."
  (setv entries (.search desk.history desk.query.text) at (or desk.choice 0))
  (close-search desk)
  (when (< at (len entries))
    (put-text desk (get entries at))
    (when send (submit desk))))

;; * Questions

(defn answer-list [desk event]
  "Give the keys to the list of the open question."
  (setv question (.question desk))
  (cond
    (is question None) (.tell desk "no question is open")
    (< (- (time.monotonic) (get question "opened")) question-delay) None
    (get question "choices") (setv desk.mode "list" desk.choice None)
    True (ask-value desk)))

(defn move-choice [desk step]
  "Move the mark in the list by STEP."
  (setv size (if (= desk.mode "search")
               (len (.search desk.history desk.query.text))
               (len (get (or (.question desk) {"choices" []}) "choices"))))
  (when size
    (setv desk.choice (if (is desk.choice None)
                        (if (> step 0) 0 (- size 1))
                        (max 0 (min (- size 1) (+ desk.choice step)))))))

(defn list-key [desk event]
  "In a list: a number marks its row; anything else goes on in the draft."
  (setv question (.question desk) key event.data size (if question (len (get question "choices")) 0))
  (if (and (.isdecimal key) (.isascii key) (<= 1 (int key) size))
    (setv desk.choice (- (int key) 1))
    (do
      (setv desk.mode "draft")
      (.insert-text desk.draft key))))

(defn take-choice [desk event]
  "Take the marked row; one that wants a value asks for it first."
  (setv question (.question desk))
  (cond
    (or (is question None) (is desk.choice None)) (.tell desk "mark a row first: its number, or Up and Down")
    (.get (get question "choices" desk.choice) "values") (ask-value desk)
    True (answer desk (get question "choices" desk.choice "name") [])))

(defn ask-value [desk]
  "Let a value be typed; the draft comes back afterwards."
  (setv desk.stash desk.draft.text desk.mode "value")
  (.reset desk.draft))

(defn take-value [desk]
  "Answer with what was typed as the value, once it is complete."
  (setv question (.question desk) typed (pastes.expand desk desk.draft.text) text (.strip typed))
  (cond
    (or (is question None) (not (get question "choices"))) (finish-value desk typed)
    (not text) None
    (complete? desk text) (do
                            (setv name (get question "choices" desk.choice "name"))
                            (restore-draft desk)
                            (hand-over-form desk f"(eval-now (restart {(hy.repr name)} {text}))"))))

(defn hand-over-form [desk text]
  "Give the form TEXT to the session, the draft staying as it is."
  (.add desk.scroll.quiet text)
  (link.submit desk.session text))

(defn finish-value [desk text]
  "Answer an open question by TEXT."
  (restore-draft desk)
  (when (.question desk) (answer desk text [])))

(defn leave-value [desk]
  "Go back from a value to the list it was for, or to the draft."
  (restore-draft desk)
  (when (get (or (.question desk) {"choices" []}) "choices") (setv desk.mode "list")))

(defn restore-draft [desk]
  "Go back from a value to the draft."
  (setv desk.mode "draft")
  (put-text desk desk.stash)
  (setv desk.stash ""))

(defn leave-list [desk]
  "Leave the list; of a failing form of the user's own, give that up."
  (setv question (.question desk) names (lfor c (get (or question {"choices" []}) "choices") (get c "name")))
  (setv desk.mode "draft" desk.choice None)
  (when (and question (get question "own") (in "abort" names))
    (answer desk "abort" [])))

(defn answer [desk choice values]
  "Answer the newest question by CHOICE."
  (setv desk.mode "draft" desk.choice None)
  (try
    (link.answer desk.session choice values)
    (except [e Exception] (.tell desk (prose.one-line (str e))))))
