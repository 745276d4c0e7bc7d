"What the benchmarks share: interleaved timing, and the table's row.

Numbers of one run are compared with each other only, so that the machine does not matter; a row is what we take, what
the comparison takes, their ratio, and the budget that design holds it against."

(import
  statistics [median]
  time)

(defn seconds [thunk]
  "Return how long THUNK takes."
  (setv began (time.perf-counter))
  (thunk)
  (- (time.perf-counter) began))

(defn medians [rounds #* thunks]
  "Return the median seconds of each of THUNKS, run in turn ROUNDS times after one round that does not count."
  (for [thunk thunks] (thunk))
  (setv taken (lfor _ (range rounds) (lfor thunk thunks (seconds thunk))))
  (lfor column (zip #* taken) (median column)))

(defn head []
  "Print the head of the table."
  (print f"{"row" :40} {"ours" :>10} {"compared" :>10} {"ratio" :>7} {"budget" :>7}"))

(defn row [name ours compared budget [unit "ms"]]
  "Print the row NAME: OURS and COMPARED in UNIT, their ratio, and whether it keeps the BUDGET, which it returns."
  (setv ratio (/ ours compared))
  (print f"{name :40} {ours :8.2f} {unit} {compared :8.2f} {unit} {ratio :6.2f}x {budget :6.2f}x"
         (if (> ratio budget) " OVER" "") :flush True)
  (<= ratio budget))

(defn best [work baseline [rounds 9]]
  "Return the least seconds of the thunk WORK and of the thunk BASELINE in ROUNDS rounds of both."
  (setv times (lfor _ (range rounds) #((seconds work) (seconds baseline))))
  #((min (gfor [a _] times a)) (min (gfor [_ b] times b))))

(defn report [name work baseline budget [rounds 9]]
  "Print the row NAME of the best of WORK against that of BASELINE; return whether the BUDGET was kept."
  (setv [ours compared] (best work baseline rounds))
  (row name (* 1000 ours) (* 1000 compared) budget)
  (<= (/ ours compared) budget))
