"Macros of the application: `defcommand`, and `eval-now` for the prompt."

(import hy.models [Dict String Symbol])

(defmacro defcommand [name params doc #* body]
  "Define the command NAME, called as (NAME ...) or /NAME, and enter it; a map after DOC holds its traits.

Expands to a function of its own and a binding of NAME to the command object. Traits: \"beside\" always, safe-point or idle
(may it run beside a turn); \"slash\" none, first or remainder (what text after /NAME becomes); \"aliases\" a list."
  (when (not (isinstance doc String))
    (raise (TypeError "(defcommand NAME [PARAMETERS] \"doc\" {traits} body ...)")))
  (setv [traits body] (if (and body (isinstance (get body 0) Dict))
                        [(get body 0) (cut body 1 None)]
                        ['{} body])
        function (Symbol (+ "_run-" (str name))))
  `(do
     (defn ~function ~params ~doc ~@(or body ['None]))
     (setv ~name (hy.I.autolith/application/commands.enter ~(str name) ~function ~traits))))

(defmacro eval-now [#* forms]
  "Evaluate FORMS now, even while a turn or a form of the model's runs. Typed by the user only, at top level."
  `(do
     (hy.I.autolith/application/primitives.only-user "eval-now")
     ~@(or forms ['None])))
