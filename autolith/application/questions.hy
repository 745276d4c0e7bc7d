"Questions to the user: asked by code, answered by a form, a number or a key, never by what was typed for something else.

An open question is {\"id\" int \"text\" str \"choices\" [{\"name\" \"doc\" \"values\" int or None}] \"own\" bool \"answer\" Future}; the newest is
answered first. A choice without names takes any text."

(import
  autolith.application [session]
  autolith.base [conditions text :as prose threads]
  autolith.image [printing tracebacks]
  autolith.tool [context])

(defclass NoAnswer [conditions.AutolithError]
  "A question was put where nobody can answer it, or was left without an answer."
  None)

(defn open-question [s text choices * [own False] [detail ""]]
  "Publish the question TEXT with CHOICES; return it. OWN: the user's own form asks; DETAIL: the lines it is about."
  (import concurrent.futures [Future])
  (setv question {"id" (next session.serials) "text" text "choices" choices "own" own "detail" detail "answer" (Future)}
        (get s.questions (get question "id")) question)
  (session.publish s "question" :id (get question "id") :text text :choices choices :own own :detail detail)
  question)

(defn newest [s]
  "Return the newest open question of S, or None."
  (when s.questions (get s.questions (max s.questions))))

(defn put [s text [choices None]]
  "Ask TEXT with CHOICES, a list of texts or None, and wait for the answer."
  (when (not s.interactive)
    (raise (NoAnswer f"nobody can answer here: {text}" [])))
  (setv rows (lfor c (or choices []) {"name" (str c) "doc" "" "values" 0})
        question (open-question s text rows :own (is-not s.form None)))
  (setv [name values] (await-answer s question))
  (if (or choices (not values)) name (get values 0)))

(defn await-answer [s question]
  "Wait for the answer to QUESTION, serving other forms meanwhile; return #(name values)."
  (defn :async wait []
    (import asyncio)
    (await (asyncio.wrap-future (get question "answer"))))
  (try
    (setv answer (threads.on-loop (wait)))
    (note s question (get answer 0) (get answer 1))
    answer
    (except [KeyboardInterrupt]
      (note s question None)
      (raise))
    (finally (close s question))))

(defn note [s question choice [values #()]]
  "Note for the record of the form that runs in S that it put QUESTION, and the CHOICE that was made, with its VALUES."
  (when (and s.form (get question "own") (in "asked" s.form))
    (.append (get s.form "asked")
             {"text" (prose.bounded (get question "text") 2000) "detail" (prose.bounded (get question "detail") 4000)
              "choices" (lfor c (get question "choices") (get c "name")) "choice" choice
              "values" (shown values)}))
  None)

(defn shown [values]
  "Return VALUES, given to a restart, as texts of bounded length."
  (lfor v values (prose.bounded (printing.text-of v) 1000)))

(defn close [s question]
  "Take QUESTION off the open ones of S."
  (.pop s.questions (get question "id") None)
  None)

(defn names-choice? [s text]
  "Is TEXT, an input that the user submitted, the number or name of a choice that his own form waits for, and needs no value?"
  (setv question (newest s) word (.strip text) choices (if question (get question "choices") []))
  (bool (and question (get question "own")
             (any (gfor [i c] (enumerate choices 1)
                        (and (in word [(str i) (get c "name")]) (not (get c "values"))))))))

(defn settle [s choice [values None]]
  "Answer the newest question of S by CHOICE, a number from 1 or a name; return the name that was taken."
  (setv question (newest s))
  (when (is question None)
    (raise (NoAnswer "no question is open")))
  (setv name (_name question choice) values (list (or values [])))
  (when (not (.done (get question "answer")))
    (.set-result (get question "answer") #(name values)))
  (session.publish s "answered" :id (get question "id") :choice name :values (shown values))
  name)

(defn _name [question choice]
  "The name of CHOICE in QUESTION; any text where it has no choices."
  (setv names (lfor c (get question "choices") (get c "name")))
  (cond
    (not names) (str choice)
    (in choice names) choice
    (and (.isdecimal (str choice)) (<= 1 (int choice) (len names))) (get names (- (int choice) 1))
    True (raise (NoAnswer f"{choice} is no choice; there are {(.join ", " names)}"))))

;; * Conditions of forms

(setv FORM-RESTARTS #{"retry" "use-value" "abort"}      ; they stand round every form: no help for a failed command
      TAKES-VALUES #{"use-value" "store-value" "supply-arguments"})

(defn choose-restart [s condition choices]
  "Ask the user which of CHOICES, #(name sentence) pairs, to take for CONDITION of a form of his.

Returns #(name value ...), or None to let it fail: for a form of the model's, on the loop, and where nobody can answer."
  (setv caller (context.current.get))
  (when (or (not s.interactive) (threads.on-loop-thread?) (and caller (= caller.origin "model")))
    (return None))
  (when (and s.form (= (get s.form "kind") "command") (<= (sfor c choices (get c 0)) FORM-RESTARTS))
    (return None))
  (setv rows (lfor [name doc] choices {"name" name "doc" doc "values" (when (in name TAKES-VALUES) 1)})
        question (open-question s (tracebacks.headline condition) rows :own True :detail (_lines condition)))
  (setv [name values] (await-answer s question))
  #(name #* values))

(defn _lines [condition]
  "The user's own lines that CONDITION is about, quoted, with where they stand."
  (if (is condition.__traceback__ None)
    (tracebacks.live-frames)
    (tracebacks.frames condition)))
