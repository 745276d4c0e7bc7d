"Advice: what runs around, before or after a function, or filters its arguments or result, without touching its definition.

`(advise \"agent.turn.run-call\" :around \"my-key\" f)` wraps, `(unadvise \"agent.turn.run-call\" \"my-key\")` removes, `(advice)` lists. Advice
is kept by key, the newest outermost; the same key again replaces in its place. It reaches every holder of the function, as its code
is exchanged, and stays when the function is redefined. F is called

    :around key            (f original #* args #** kwargs), its value is the value
    :before key            (f #* args #** kwargs)
    :after key             (f result #* args #** kwargs)
    :filter-arguments key  (f #* args #** kwargs) -> #(args kwargs)
    :filter-result key     (f result) -> result

Around a coroutine function F may be one too; around a generator function the value is what it will yield from. With `:observer True`
advice that raises is reported and left out, so a mere observer cannot break what it observes.

A row is {\"target\" text \"key\" text \"how\" text \"observer\" bool \"function\" f \"report\" f of row and error}."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  inspect
  sys
  types
  hy
  autolith.base [conditions]
  autolith.image [chain definitions install registries targets])

(defonce table {} "Target path -> {\"function\" f \"inner\" its own behaviour \"rows\" [outermost first] \"bound\" place or None}.")

(setv HOWS ["around" "before" "after" "filter-arguments" "filter-result"])

(defclass CannotAdvise [conditions.AutolithError]
  "The target cannot be advised, or not so.")

(defparameter report-broken
  (fn [row error]
    (print f"advice {(get row "key") !r} of {(get row "target")} raised {(. (type error) __name__)}: {error}"
           :file sys.stderr))
  "Called with the row of an observer, and what it raised.")


;; * What the user calls

(defn advise [target function * [around None] [before None] [after None] [filter-arguments None] [filter-result None]
              [observer False]]
  "Let FUNCTION run around (or before, after ...) TARGET, \"room.file.name\", under the key given after how; return the row.
With OBSERVER, FUNCTION cannot break TARGET: what it raises is reported."
  (setv given (lfor [how key] (zip HOWS [around before after filter-arguments filter-result])
                    :if (is-not key None)
                    #(how key)))
  (when (!= (len given) 1)
    (raise (CannotAdvise f"say one of {(.join ", " (gfor h HOWS f":{h} KEY"))}, and a function after it")))
  (when (not (callable function))
    (raise (CannotAdvise f"{(hy.repr function)} cannot be called; advice is a function")))
  (setv [how key] (get given 0)
        place (targets.resolve target))
  (_enter (Row {"target" (_shown-target target place) "key" key "how" how "observer" (bool observer)
                "function" function "report" (fn [row error] (report-broken row error))})
          place))

(defn _shown-target [target place]
  "Return how people name TARGET, which is at PLACE."
  (definitions.short (if (isinstance target str) (hy.unmangle target) (_path place))))

(defn _path [place]
  "Return the path under which the function at PLACE is advised: it may be known by another already."
  (setv f (targets.behind-callable (get place "value")))
  (cond
    (is f None) (get place "path")
    (setx known (next (gfor [path record] (.items table) :if (is (get record "function") f) path) None)) known
    (targets.at-home? f) (targets.home f)
    True (get place "path")))

(defn unadvise [target key]
  "Remove the advice KEY of TARGET; return its row."
  (with [_ install.lock]
    (setv path (_path (targets.resolve target))
          record (.get table path)
          row (next (gfor r (if record (get record "rows") []) :if (= (get r "key") key) r) None))
    (when (is row None)
      (setv keys (lfor r (if record (get record "rows") []) (get r "key")))
      (raise (CannotAdvise f"{target} has no advice {key !r}{(if keys f"; it has {keys}" "")}")))
    (with [_ (install.deferring)]
      (.remove (get record "rows") row)
      (_apply path record))
    row))

(defclass Row [dict]
  "One advice; it prints as a line."
  (defn __autolith_text__ [self]
    "Return target, how and key."
    (+ f"{(get self "target")} :{(get self "how")} {(hy.repr (get self "key"))}"
       (if (get self "observer") " (observer)" ""))))

(defclass Rows [list]
  "Rows of advice that print one a line."
  (defn __autolith_text__ [self]
    "Return a line for each row."
    (if self (.join "\n" (gfor row self (.__autolith_text__ row))) "no advice")))

(defn advice [[target None]]
  "Return the rows of advice of TARGET, or of all targets, outermost first."
  (setv path (when target (_path (targets.resolve target))))
  (Rows (gfor [p record] (sorted (.items table) :key (fn [item] (get item 0)))
              :if (or (is path None) (= p path))
              row (get record "rows")
              row)))


;; * Entering and applying

(defn _enter [row place]
  "Enter ROW for the function at PLACE and apply it; on failure nothing is changed."
  (with [_ install.lock]
    (setv path (_path place)
          record (or (.get table path) (_new-record path place))
          rows (get record "rows")
          index (next (gfor [i r] (enumerate rows) :if (= (get r "key") (get row "key")) i) None))
    (_check row (get record "function"))
    (with [_ (install.deferring)]
      (if (is index None)
        (.insert rows 0 row)
        (setv (get rows index) row))
      (_apply path record))
    row))

(defn _new-record [path place]
  "Return the record for the function at PLACE, not advised yet."
  (setv value (get place "value")
        function (targets.behind-callable value))
  {"function" (or function value)  "inner" None  "rows" []
   "bound" (when (is function None) place)
   "cached" (when (hasattr value "cache_clear") value)})

(defn _check [row function]
  "Raise unless the advice of ROW could work on FUNCTION."
  (when (not (callable function))
    (raise (CannotAdvise f"{(get row "target")} is no function")))
  (when (and (_coroutine? (get row "function"))
             (not (or (_coroutine? function) (inspect.isasyncgenfunction function))))
    (raise (CannotAdvise (+ f"{(get row "target")} is an ordinary function: nobody would await the advice {(get row "key") !r}, "
                            "a coroutine function; make it an ordinary one")))))

(defn _coroutine? [f]
  "Tell whether F is a coroutine function, or an object that is called as one."
  (or (inspect.iscoroutinefunction f)
      (inspect.iscoroutinefunction (getattr (type f) "__call__" None))))

(defn _apply [path record]
  "Make the function of RECORD, the target PATH, do what its rows say; without rows, what it did by itself."
  (cond
    (get record "bound") (_apply-bound path record)
    (get record "rows") (_apply-function record)
    True (_restore-function record))
  (when (get record "cached") ((. (get record "cached") cache-clear)))
  (if (get record "rows")
    (setv (get table path) record)
    (.pop table path None))
  None)

(defn _apply-function [record]
  "Make the function of RECORD forward to its rows, in place, and those that were made like it to it."
  (setv f (get record "function"))
  (when (is (get record "inner") None)
    (setv inner (install.copied f)
          (get record "inner") inner
          (get install.behind f) inner))
  (setv inner (get record "inner"))
  (install.swap f (| (dfor p install.PARTS :if (hasattr inner p) p (getattr inner p))
                     (install.forwarding-parts f (chain.chain (get record "rows") inner) inner)))
  (setv f.__wrapped__ inner)
  (install.align f))

(defn _restore-function [record]
  "Give the function of RECORD its own behaviour, as it is by now."
  (setv [f inner] [(get record "function") (get record "inner")])
  (when (is-not inner None)
    (.pop install.behind f None)
    (install.swap f (dfor p install.PARTS :if (hasattr inner p) p (getattr inner p)))
    (.pop (vars f) "__wrapped__" None)
    (when (in "__wrapped__" (vars inner))
      (setv f.__wrapped__ inner.__wrapped__))
    (setv (get record "inner") None)
    (install.align f)))

(defn _apply-bound [path record]
  "Bind the name of RECORD, whose value is no function that can be changed in place, to a wrapper, or to the value."
  (setv place (get record "bound")
        value (get place "value"))
  (setattr (get place "owner") (get place "key")
           (if (get record "rows") (_wrapper value (chain.chain (get record "rows") value)) value)))

(defn _wrapper [value chain]
  "Return a function that looks like VALUE and calls CHAIN."
  (defn wrapper [#* args #** kwargs] (chain #* args #** kwargs))
  (for [name ["__name__" "__doc__" "__qualname__" "__module__"]]
    (when (isinstance (getattr value name None) str)
      (setattr wrapper name (getattr value name))))
  (setv wrapper.__wrapped__ value)
  wrapper)


;; * Kept through changes

(defn mend [module]
  "Give advice back to the functions of MODULE that were defined anew by other means than an install."
  (for [[path record] (list (.items table))]
    (setv [name _ key] (.rpartition path ".")
          now (.get (vars module) key)
          f (get record "function"))
    (when (and (= name module.__name__) (is-not now f) (isinstance now types.FunctionType) (not (get record "bound")))
      (with [_ install.lock  _ (install.deferring)]
        (install.update f now [])
        (setattr module key f)))))

(defn rebound [module key old new log]
  "Carry the advice of the value OLD over to NEW, to which KEY of MODULE was bound; append to LOG how to carry it back."
  (for [[path record] (list (.items table))]
    (when (is (get record "function") (targets.behind-callable old))
      (setv rows (list (get record "rows")))
      (_set-rows path record [])
      (.insert log 0 (fn [[path path] [rows rows]] (_carry path rows)))       ; last, when OLD is there again
      (.append log (fn [[path path]] (_carry path [])))
      (_carry path rows))))

(defn _carry [path rows]
  "Make ROWS the advice of what is at PATH now, if it can be advised."
  (setv record (.get table path))
  (when record (_set-rows path record []))
  (setv place (targets.resolve path))
  (when (callable (get place "value"))
    (_set-rows path (_new-record path place) rows)))

(defn _set-rows [path record rows]
  "Make ROWS the advice of RECORD, the target PATH, and apply it."
  (setv (get record "rows") (list rows))
  (_apply path record))


;; * As a registry, for (reload)

(defn _snapshot []
  "Return {#(path key) row} of all advice, the outermost first."
  (dfor [path record] (.items table)
        row (get record "rows")
        #(path (get row "key")) row))

(defn _restore [wanted]
  "Make WANTED, {#(path key) row}, all the advice there is."
  (with [_ install.lock  _ (install.deferring)]
    (for [path (| (dict.fromkeys table) (dict.fromkeys (gfor [path _] wanted path)))]
      (setv rows (lfor [[p _] row] (.items wanted) :if (= p path) row)
            record (or (.get table path) (_new-record path (targets.resolve path))))
      (when (!= rows (get record "rows"))
        (_set-rows path record rows)))))

(registries.register "advice" _snapshot _restore)
(when (not-in rebound definitions.rebound-hooks)
  (.append definitions.rebound-hooks rebound))
