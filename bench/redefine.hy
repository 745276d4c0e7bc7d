"Redefinition: installing one function of the running program in place, and taking it back.

Compared with evaluating the same definition in a module of its own, which is what compiling alone costs; the budget is
absolute, 50 ms an install. The second row finds the module by the name first, the third installs under an advice."

(import
  types
  hy
  autolith.base [text]
  autolith.image [advice definitions]
  _measure :as measure)

(setv ROUNDS 25
      BUDGET 50
      SOURCE "(defn duration [seconds]
  \"Return SECONDS for people, shortly.\"
  (cond
    (< seconds 1) f\"{(* 1000 seconds) :.0f} ms\"
    (< seconds 60) f\"{seconds :.1f} s\"
    True (do (setv [minutes rest] (divmod seconds 60))
             f\"{minutes :.0f} min {rest :.0f} s\")))")

(defn plain []
  "Evaluate the definition in a module that nobody uses."
  (hy.eval (hy.read-many SOURCE) :module (types.ModuleType "aside")))

(defn installed []
  "Install the definition, the module being named."
  (definitions.redefine SOURCE :where "base.text")
  (definitions.undo))

(defn found []
  "Install the definition, finding the module that defines the name."
  (definitions.redefine SOURCE)
  (definitions.undo))

(defn main []
  "Print the rows."
  (measure.head)
  (setv [direct bare] (measure.medians ROUNDS installed plain)
        [searched _] (measure.medians ROUNDS found plain))
  (measure.row "redefine and undo : 50 ms" (* direct 1000) BUDGET 1.0)
  (measure.row "redefine, undo : compiling alone" (* direct 1000) (* bare 1000) 4.0)
  (measure.row "redefine by name, undo : 50 ms" (* searched 1000) BUDGET 1.0)
  (advice.advise "base.text.duration" (fn [f #* args] (f #* args)) :around "bench")
  (setv [advised _] (measure.medians ROUNDS installed plain))
  (advice.unadvise "base.text.duration" "bench")
  (measure.row "redefine the advised, undo : 50 ms" (* advised 1000) BUDGET 1.0))

(when (= __name__ "__main__")
  (main))
