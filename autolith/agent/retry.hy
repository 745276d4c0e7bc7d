"Send a failed request once more: if its failure deserves that, after the wait that the provider asks for or one that grows, and in
plain sight.

`(await (decide turn error))` gives \"retry\" when the wait is over, or None where ERROR stands; then ERROR says how often it was tried
or when to come back. Bounded by the settings retry-limit (in a row) and retry-wait-limit (seconds). What had come of the answer
is kept as a failure record marked `void`: it counts for nothing. Cancelling ends the wait at once."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  random
  autolith.agent [repair request]
  autolith.base [text :as prose]
  autolith.provider [waits]
  autolith.state [settings])

(defparameter first-wait 1.0 "Seconds before the first retry; before each further one in a row it is twice as long.")
(defparameter jitter 0.25 "By which part of it a wait varies, so that many programs do not come back at once.")

(defn :async decide [turn error]
  "Return \"retry\" after a wait if ERROR, a ProviderError of TURN, is worth another try, else None."
  (setv attempt (failures turn)
        limit (settings.value "retry-limit")
        longest (settings.value "retry-wait-limit"))
  (cond
    (not error.retryable) None
    (> attempt limit) (amend error (if (> attempt 1) f" It was tried {attempt} times." ""))
    (> (or error.retry-after 0) longest) (amend error (come-back error.retry-after longest))
    True (await (again turn error attempt limit (wait-before attempt error.retry-after longest)))))

(defn failures [turn]
  "Count a failure of the present request of TURN; return how many there are in a row."
  (setv [number count] (getattr turn "failures" #(0 0))
        count (if (= number (- turn.requests 1)) (+ count 1) 1)
        turn.failures #(turn.requests count))
  count)

(defn wait-before [attempt asked longest]
  "Return the seconds before the retry ATTEMPT: what was ASKED, if it was, a little more; else twice as many each time, LONGEST at most."
  (setv grown (min longest (* first-wait (** 2 (- attempt 1)))))
  (if (is asked None)
    (* grown (random.uniform (- 1 jitter) 1))
    (+ (max asked first-wait) (* first-wait (random.uniform 0 jitter)))))

(defn amend [error words]
  "Add WORDS to what ERROR says; return None: it stands."
  (setv error.message (+ error.message words))
  None)

(defn come-back [wait longest]
  "Return the words for a WAIT that is longer than LONGEST, the setting."
  (+ f" It asks to wait longer than the setting retry-wait-limit allows ({(prose.duration longest)}): come back {(waits.moment wait)}, "
     "or choose another model with (model ...)."))

(defn :async again [turn error attempt limit seconds]
  "Keep what came of TURN's answer as void, show that the retry ATTEMPT of LIMIT comes in SECONDS after ERROR, and wait."
  (setv half (bool (and turn.response (.partial turn.response)))
        words (+ f"{error} Trying again in {(prose.duration seconds)} ({attempt} of {limit})."
                 (if half " The unfinished answer above does not count." "")))
  (if half
    (repair.note-failure turn error.kind words :void True)
    (setv turn.response None))
  (request.show turn "retry" :attempt attempt :limit limit :seconds (round seconds 3)
                :reason (str error) :void half :text words)
  (await (asyncio.sleep seconds))
  "retry")
