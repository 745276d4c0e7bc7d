"Know the models: their windows, output limits and efforts, from the table models.forms, one map a model.

A model is {\"id\" \"window\" \"output\" \"efforts\" [..] \"thinking\" \"images\"}: tokens in all, tokens of an answer,
the efforts it takes ([]: none), how an Anthropic model thinks (adaptive, budget or None), whether it sees images.
One that is not listed works too; `find` then returns what is assumed, with \"assumed\" saying so in a sentence."

(eval-when-compile (require autolith.base.macros [defonce]))

(import
  os
  re
  autolith.base [forms])

(defonce _table None "The models by id, read when first needed.")

(setv UNLISTED {"window" 128000 "output" 16000 "efforts" ["low" "medium" "high"] "thinking" None "images" True})

(defn table []
  "Return the models by id."
  (global _table)
  (when (is _table None)
    (with [f (open (os.path.join (os.path.dirname __file__) "models.forms") :encoding "utf-8")]
      (setv _table (dfor m (forms.read-all (.read f)) (get m "id") m))))
  _table)

(defn define [model]
  "Enter MODEL, a map with at least an id and a window, in the table."
  (setv (get (table) (get model "id")) {#** UNLISTED #** model}))

(defn find [id]
  "Return what is known about the model ID; one with a date, a vendor or a variant in its name counts as the one it varies."
  (setv known (table)
        bare (get (.split id "/") -1)
        bare (get (.split bare ":") 0))
  (for [name [id bare (re.sub r"-(\d{4}-?\d{2}-?\d{2}|latest)$" "" bare)]]
    (when (in name known)
      (return {#** (get known name) "id" id "assumed" None})))
  (assume id bare))

(defn assume [id bare]
  "Return what is assumed about the unlisted model ID, called BARE without its vendor."
  (setv guess (cond
                (re.match "claude-(3|2|instant)" bare) {#** UNLISTED "window" 200000 "output" 4096 "efforts" []}
                (re.match "claude-" bare) {#** UNLISTED "window" 200000 "output" 32000 "thinking" "adaptive"}
                (re.match r"(chat)?gpt-(3|4)" bare) {#** UNLISTED "output" 4096 "efforts" []}
                (re.match "gpt-|o[1-9]" bare) {#** UNLISTED "window" 272000}
                True UNLISTED))
  {#** guess "id" id
   "assumed" (+ f"{id} is not in the table of models; a window of {(get guess "window") :,} tokens is assumed and answers of "
                f"at most {(get guess "output") :,}.")})

(defn effort [id wanted]
  "Return the effort that the model ID takes for WANTED: that one, else the nearest that it knows, else None."
  (setv offered (get (find id) "efforts")
        order ["none" "minimal" "low" "medium" "high" "xhigh" "max"])
  (cond
    (or (not wanted) (not offered)) None
    (or (in wanted offered) (not-in wanted order)) wanted
    True (min offered :key (fn [e] (abs (- (.index order e) (.index order wanted)))))))
