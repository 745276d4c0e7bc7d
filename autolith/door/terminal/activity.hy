"What the program does now, for the row under the prompt: a pure function of the events so far.

A state is a map {\"phase\" READ, PRINT, EVAL or LOOP, \"what\" str \"since\" seconds \"bytes\" int \"last\" seconds of the last byte} or {}
while nothing runs; \"calls\" maps the ids of running calls to their forms, \"forms\" those of evaluations to their source."

(import
  autolith.base [text])

(defn start []
  "Return the state in which nothing runs."
  {"phase" None "what" "" "since" 0 "bytes" 0 "last" 0 "answering" False "model" "" "calls" {} "forms" {} "turn" None})

(defn note [state event now]
  "Change STATE by EVENT at NOW; the next piece of a text costs next to nothing."
  (if (and (= (get event "type") "text-delta") (= (get state "phase") "PRINT") (get state "answering"))
    (setv (get state "bytes") (+ (get state "bytes") (len (get event "text")))
          (get state "last") now)
    (.update state (after state event now))))

(defn after [state event now]
  "Return STATE after EVENT at NOW."
  (match (get event "type")
    "turn-started" (| state {"turn" now} (phase "READ" "beginning" now))
    "request-started" (| state {"model" (.get event "model" "")} (phase "READ" f"sent to {(.get event "model" "the model")}" now))
    "text-delta" (| (growing state "PRINT" f"{(model state)} is answering" (len (get event "text")) now)
                    {"answering" True})
    "reasoning-delta" (growing state "READ" f"{(model state)} is thinking" (len (get event "text")) now)
    "call-delta" (| state (phase "PRINT" f"writing a call to {(.get event "name" "a tool")}" (get state "since"))
                    {"bytes" (or (.get event "bytes") 0) "last" now})
    "call-started" (calling state event now)
    "call-result" (ended-call state event now)
    "retry" (| state (phase "READ" f"trying again {(get event "attempt")} of {(get event "limit")}" now))
    "compaction-started" (if (get state "turn") (| state (phase "READ" "summarising the conversation" now)) state)
    "compaction-done" (if (get state "turn") (| state (phase "LOOP" "going on" now)) state)
    "turn-done" (| state (phase None "" now) {"turn" None "calls" {}})
    "evaluation-started" (| state {"forms" (| (get state "forms") {(.get event "id") #((get event "source") now)})})
    "evaluation" (| state {"forms" (without (get state "forms") (.get event "id"))})
    _ state))

(defn model [state]
  "Return the name of the model that STATE is about."
  (or (get state "model") "the model"))

(defn phase [name what now]
  "Return the fields of a phase NAME that begins NOW with WHAT."
  {"phase" name "what" what "since" now "bytes" 0 "last" now "answering" False})

(defn growing [state name what size now]
  "Return STATE in the phase NAME, doing WHAT, SIZE bytes further."
  (| (if (and (= (get state "phase") name) (= (get state "what") what)) state (| state (phase name what now)))
     {"bytes" (+ (if (= (get state "what") what) (get state "bytes") 0) size) "last" now}))

(defn clock [seconds]
  "Return SECONDS in whole seconds, for rows that are drawn again and again."
  (setv whole (int seconds))
  (if (< whole 60) f"{whole} s" (.format "{} min {} s" (// whole 60) (% whole 60))))

(defn without [table key]
  "Return TABLE without KEY."
  (dfor [k v] (.items table) :if (!= k key) k v))

(defn calling [state event now]
  "Return STATE with the call of EVENT running."
  (setv form (get event "form"))
  (| state {"calls" (| (get state "calls") {(get event "call_id") form})} (phase "EVAL" form now)))

(defn ended-call [state event now]
  "Return STATE without the call of EVENT."
  (setv calls (without (get state "calls") (get event "call_id")))
  (| state {"calls" calls}
     (if calls
       (phase "EVAL" (get (list (.values calls)) -1) (get state "since"))
       (phase "LOOP" "going on" now))))

(defn parts [state now]
  "Return the row's parts for STATE at NOW, most important first, or [] while nothing runs."
  (cond
    (get state "phase") (turn-parts state now)
    (get state "forms") (form-parts state now)
    True []))

(defn turn-parts [state now]
  "Return the parts of the row about a turn."
  (setv silent (- now (get state "last")))
  [(.format "{} {}" (get state "phase") (clock (- now (get state "since"))))
   (get state "what")
   (if (get state "bytes") (text.size (get state "bytes")) "")
   (if (and (> silent 5) (in (get state "phase") ["READ" "PRINT"])) f"nothing for {(clock silent)}" "")
   "Esc stops"])

(defn form-parts [state now]
  "Return the parts of the row about a form."
  (setv [source since] (get (list (.values (get state "forms"))) -1))
  (if (< (- now since) 0.1)
    []
    [(.format "EVAL {}" (clock (- now since))) (get (.splitlines source) 0) "Ctrl-C stops"]))
