"Know the models: their windows, output limits and efforts, from the table models.forms, one map a model.

A model is {\"id\" \"window\" \"output\" \"efforts\" [..] \"thinking\" \"images\" \"tools\" \"price\"}: tokens in all, tokens of an answer,
the efforts it takes ([]: none), how an Anthropic model thinks (adaptive, budget or None), whether it sees images and calls tools,
its list price (None, or {\"input\" \"cached\" \"cache_write\" \"output\"}, US dollars for a million tokens).
What a provider's own list said (discovery.hy) counts where the table has nothing. One that nobody lists works too; `find` then
returns what is assumed, with \"assumed\" saying so in a sentence."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  os
  re
  autolith.base [forms])

(defonce _table None "The models by id, read when first needed.")

(defparameter efforts ["none" "minimal" "low" "medium" "high" "xhigh" "max" "ultra"]
  "The words for efforts, from the least on; one that a model lacks becomes the nearest.")

(setv UNLISTED {"window" 128000 "output" 16000 "efforts" ["low" "medium" "high"] "thinking" None "images" True
                "tools" True "price" None})

(defn table []
  "Return the models by id."
  (global _table)
  (when (is _table None)
    (with [f (open (os.path.join (os.path.dirname __file__) "models.forms") :encoding "utf-8")]
      (setv _table (dfor m (forms.read-all (.read f)) (get m "id") m))))
  _table)

(defn define [model]
  "Enter MODEL, a map with at least an id, in the table, over what is known of that id; ValueError names a field that there is not."
  (setv strange (lfor k model :if (not-in k [#* UNLISTED "id"]) k))
  (when strange
    (import difflib)
    (setv near (difflib.get-close-matches (str (get strange 0)) (list UNLISTED) 1 0.5))
    (raise (ValueError (+ f"model {(get model "id")}: unknown field {(hy.unmangle (str (get strange 0)))}; "
                          (if near f"did you mean {(hy.unmangle (get near 0))}?"
                              f"there are {(.join ", " UNLISTED)}")))))
  (for [field ["window" "output"]]
    (when (and (in field model) (not (and (isinstance (get model field) int) (> (get model field) 0))))
      (raise (ValueError f"model {(get model "id")}: {field} is a number of tokens, not {(get model field) !r}"))))
  (when (not (price? (.get model "price")))
    (raise (ValueError f"model {(get model "id")}: price is a map like {{:input 1.25 :cached 0.125 :output 10}}, dollars for a million tokens")))
  (setv whole {#** UNLISTED #** (.get (table) (get model "id") {}) #** model}
        (get whole "output") (min (get whole "output") (get whole "window"))
        (get (table) (get model "id")) whole)
  whole)

(defn price? [value]
  "Tell whether VALUE can be a price: None, or numbers of which input and output are there."
  (or (is value None)
      (and (isinstance value dict)
           (<= #{"input" "output"} (set value) #{"input" "cached" "cache_write" "output"})
           (all (gfor n (.values value) (and (isinstance n #(int float)) (>= n 0)))))))

(defn find [id]
  "Return what is known about the model ID; one with a date, a vendor or a variant in its name counts as the one it varies."
  (setv known (table)
        bare (get (.split id "/") -1)
        bare (get (.split bare ":") 0))
  (for [name [id bare (re.sub r"-(\d{4}-?\d{2}-?\d{2}|latest)$" "" bare)]]
    (when (in name known)
      (return {#** (get known name) "id" id "assumed" None})))
  (or (learned id bare) (assume id bare)))

(defn learned [id bare]
  "Return what a provider's own list says about the model ID, called BARE without its vendor, if it says how long its window is."
  (import autolith.provider [discovery])
  (setv said (discovery.facts id))
  (when (.get said "window")
    (setv guess (assume id bare)
          whole {#** guess #** said "id" id "assumed" None}
          (get whole "output") (min (get whole "output") (get whole "window")))
    whole))

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

(defn effort [id wanted [provider None]]
  "Return the effort to send to the model ID for WANTED: that one, else the nearest that it takes, else None.
The quirks of PROVIDER, a form, may narrow the choice (efforts, a list) and say how one is called there (effort_words, a map)."
  (setv quirks (.get (or provider {}) "quirks" {})
        taken (.get quirks "efforts")
        offered (lfor e (get (find id) "efforts") :if (or (not taken) (in e taken)) e)
        nearest (cond
                  (or (not wanted) (not offered)) None
                  (or (in wanted offered) (not-in wanted efforts)) wanted
                  True (min offered :key (fn [e] (distance e wanted)))))
  (.get (or (.get quirks "effort_words") {}) nearest nearest))

(defn distance [effort wanted]
  "Return how far EFFORT is from WANTED; one that has no place among the known words is farthest."
  (if (in effort efforts)
    (abs (- (.index efforts effort) (.index efforts wanted)))
    (len efforts)))
