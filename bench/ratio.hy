"Compare two ways of doing the same work in one run, by the best of several rounds that take turns."

(import time)

(defn seconds [work]
  "Return how long the thunk WORK takes."
  (setv begin (time.perf-counter))
  (work)
  (- (time.perf-counter) begin))

(defn best [work baseline [rounds 9]]
  "Return the least seconds of the thunk WORK and of the thunk BASELINE in ROUNDS rounds of both."
  (setv times (lfor _ (range rounds) #((seconds work) (seconds baseline))))
  #((min (gfor [a _] times a)) (min (gfor [_ b] times b))))

(defn report [name work baseline budget [rounds 9]]
  "Print one line: NAME, the milliseconds of WORK and of BASELINE, their ratio, the BUDGET. Return whether it was kept."
  (setv [a b] (best work baseline rounds)
        ratio (/ a b))
  (print f"{name :34} {(* 1000 a) :9.2f} ms {(* 1000 b) :9.2f} ms  ratio {ratio :5.2f}  budget {budget :.2f}  {(if (<= ratio budget) "ok" "OVER")}")
  (<= ratio budget))
