"Finds a `recur` of hyrule's `loop` that would not jump: only as the last thing of the loop does it, elsewhere it ends the loop silently."

(import hy.models [Expression Sequence Symbol])

(setv LAST #("do" "when" "unless" "let")
      OPAQUE #("fn" "defn" "defclass" "quote" "quasiquote" "loop"))

(defn misplaced [form]
  "Return the first misplaced recur in the loops of FORM, or None."
  (cond
    (not (and (isinstance form Sequence) form)) None
    (_call? form "quote") None
    (_call? form "loop") (or (_in-body (cut form 2 None) True) (_first misplaced form))
    True (_first misplaced form)))

(defn _call? [form name]
  "Tell whether FORM is an expression that begins with NAME."
  (and (isinstance form Expression) form (isinstance (get form 0) Symbol) (= (str (get form 0)) name)))

(defn _first [f forms]
  "Return the first result of F on FORMS that is not None."
  (next (gfor form forms :setv found (f form) :if (is-not found None) found) None))

(defn _in-body [forms tail]
  "Return the first misplaced recur in FORMS, the last of which is in tail position if TAIL."
  (or (_first (fn [form] (_in form False)) (cut forms -1))
      (when forms (_in (get forms -1) tail))))

(defn _in [form tail]
  "Return the first misplaced recur in FORM, which is in tail position if TAIL."
  (setv head (if (and (isinstance form Expression) form) (str (get form 0)) ""))
  (cond
    (not (and (isinstance form Sequence) form)) None
    (in head OPAQUE) None
    (= head "recur") (if tail (_in-body (cut form 1 None) False) form)
    (in head LAST) (_in-body (cut form 1 None) tail)
    (= head "if") (or (_in-body (cut form 1 2) False) (_first (fn [f] (_in f tail)) (cut form 2 None)))
    (= head "cond") (or (_first (fn [f] (_in f False)) (cut form 1 None 2))
                        (_first (fn [f] (_in f tail)) (cut form 2 None 2)))
    True (_known-or-not head form tail)))

(defn _known-or-not [head form tail]
  "Return the first misplaced recur in FORM, whose HEAD says whether its parts may be in tail position if TAIL."
  (if (in head #("case" "ecase" "branch" "ebranch" "match"))
    (_first (fn [f] (_in f tail)) (cut form 1 None))
    (_first (fn [f] (_in f False)) form)))
