;; The packaged init file: the lowest layer of configuration, and a worked example.
;;
;; Nothing in it is active. Copy what you want into your own file, ~/.config/autolith/init.hy, which is loaded after this one,
;; and take the leading ;; away. A form there that fails is reported with its line and skipped; the rest is loaded. After an
;; edit, (reload) loads all init files anew, or, when one fails, keeps what was defined before. `autolith --no-init` ignores them.
;;
;; Forms are evaluated in autolith.user, the module of the prompt: every tool, command and macro of the prompt is known, and hyrule's
;; macros (unless, ->, doto ...) too. Modules in ~/.config/autolith/lisp/ can be imported by name.
;;
;; Layers, later wins: this file; $AUTOLITH_SITE/init.hy; .autolith/init.hy of directories listed in
;; ~/.config/autolith/directory-scopes.hy as {:version 1 :directories ["~/project"]}, the outermost first; your own.


;; * A function of your own

;; (defn greet [name]
;;   "Return a greeting for NAME."
;;   f"Hello, {name}")


;; * A tool: the model can call it, and so can you, as (notes.today)

;; (import datetime)
;; (deftool notes.today []
;;   "Return the date of today."
;;   {:effect "read"}
;;   (.isoformat (datetime.date.today)))


;; * A command: (hello "Ada"), or /hello Ada

;; (defcommand hello [[name "you"]]
;;   "Greet NAME."
;;   (say (greet name)))


;; * Advice: run code around any function, named as room.file.name, a library's as module.name, a tool as at the prompt.
;;   The key names the advice; the same key again replaces it, (unadvise "resource.read" "count") removes it, (advice) lists all.
;;   The function gets the original first; around a tool, which is a coroutine function, it is one too.

;; (defonce reads {"count" 0} "How many reads there were.")
;; (defn :async counting [original #* args #** kwargs]
;;   "Count the call, then make it."
;;   (+= (get reads "count") 1)
;;   (await (original #* args #** kwargs)))
;; (advise "resource.read" :around "count" counting)

;;   An observer cannot break what it observes: what it raises is reported, and the call goes on.

;; (advise "image.evaluate.probe" :after "watch" (fn [value text] (print "probed" value)) :observer True)


;; * A parameter, policy that is meant to be replaced

;; (import autolith.image [printing])
;; (setv printing.shown-characters 20000)


;; * A redefinition: whoever holds the old function gets the new one, and (undo) takes it back. (changes) lists them.

;; (redefine :in "base.text"
;;   (defn duration [seconds]
;;     "Return SECONDS for people, always in seconds."
;;     f"{seconds :.1f} s"))
