"The macros that every room may use: definitions that survive or invite change, and conditions.

Require them at compile time only: (eval-when-compile (require autolith.base.macros [defonce])).
Each is a thin shell; what its expansion needs at run time is named by full path, so users import nothing.

A module that uses `defparameter` or `defonce` gets the map __parameters__ or __kept__, {name doc}, in its globals."

(import
  sys
  hy.models [Expression Sequence String Symbol])


;; * Definitions

(defn _noted [table name value doc]
  "Return the form that binds NAME to VALUE and enters DOC in the module's map TABLE."
  `(do
     (setv ~name ~value)
     (setv (get (.setdefault (globals) ~table {}) ~(str name)) ~doc)))

(defmacro defparameter [name value [doc ""]]
  "Bind the global NAME to VALUE, policy that a user may replace; DOC is kept and listed by `parameters`."
  (_noted "__parameters__" name value doc))

(defmacro defonce [name value [doc ""]]
  "Bind the global NAME to VALUE unless an earlier load of the module did; VALUE is evaluated only then. DOC is kept."
  `(when (not-in ~(hy.mangle (str name)) (globals))
     ~(_noted "__kept__" name value doc)))

(defn parameters [[table "__parameters__"]]
  "Return every parameter of the loaded modules, [{\"module\" \"name\" \"value\" \"doc\"} ...], sorted.
TABLE may be \"__kept__\", for what `defonce` bound."
  (setv rows [])
  (for [[module-name module] (sorted (.items (dict sys.modules)))]
    (setv notes (.get (getattr module "__dict__" {}) table))
    (when (isinstance notes dict)
      (for [[name doc] (sorted (.items notes))]
        (.append rows {"module" module-name  "name" name  "doc" doc
                       "value" (getattr module (hy.mangle name) None)}))))
  rows)


;; * Conditions

(setv _CLOSED #("fn" "defn" "defclass" "quote" "quasiquote"))

(defn yields? [form]
  "Tell whether evaluating FORM would yield from the function around it."
  (cond
    (not (and (isinstance form Sequence) form)) False
    (not (isinstance form Expression)) (any (map yields? form))
    (in (str (get form 0)) _CLOSED) False
    (= (get form 0) 'yield) True
    True (any (map yields? form))))

(defn _refuse-yields [forms macro]
  "Raise a syntax error if one of FORMS, the body of MACRO, yields."
  (when (any (map yields? forms))
    (raise (SyntaxError (+ f"{macro}: a `yield` inside would leak its bindings to the consumer;"
                           " put what yields outside, or collect a list")))))

(defn _clause-parts [clause]
  "Return the name, sentence, parameters and body of the restart CLAUSE."
  (when (not (and (isinstance clause Expression) (>= (len clause) 2)
                  (isinstance (get clause 0) Symbol) (isinstance (get clause 1) Sequence)))
    (raise (SyntaxError "restart-case: a clause is (name [parameters] body ...)")))
  (setv [name params #* body] clause
        documented (and (> (len body) 1) (isinstance (get body 0) String)))
  [(str name) (if documented (str (get body 0)) "") params (if documented (cut body 1 None) body)])

(defn _arity [params]
  "Return how many values PARAMS takes, or None when it ends in a rest parameter."
  (if (any (gfor p params (isinstance p Expression))) None (len params)))

(defn _clause-arm [unwind parts]
  "Return the test and the result of one arm of the `cond` that runs a restart's clause, of PARTS."
  (setv [name _ params body] parts)
  [`(= (. ~unwind name) ~name)
   `(do
      ~@(if (len params) [`(setv [~@params] (. ~unwind args))] [])
      ~@(or body ['None]))])

(defmacro restart-case [form #* clauses]
  "Evaluate FORM once, offering the restarts of CLAUSES, each (NAME [PARAMETERS] SENTENCE? BODY ...), meanwhile.
The value is FORM's or, when somebody took a restart, that of its clause, run after the unwinding. SENTENCE, a string
before other forms, says to people what the restart does. PARAMETERS are bound as by `setv`."
  (_refuse-yields [form] "restart-case")
  (setv frame (hy.gensym "frame")  e (hy.gensym "e")  unwind (hy.gensym "unwind")
        parts (lfor c clauses (_clause-parts c)))
  `(do
     (setv ~frame (hy.I.autolith/base/conditions.Frame
                    ~@(lfor [name sentence params _] parts `#(~name ~sentence ~(_arity params)))))
     (try
       (.enter ~frame)
       ~form
       (except [~e BaseException]
         (.leave ~frame)
         (setv ~unwind (.own ~frame ~e))
         (cond
           (is ~unwind None) (raise)
           ~@(sum (lfor p parts (_clause-arm unwind p)) [])
           True (raise)))
       (finally (.leave ~frame)))))

(defmacro handler-bind [bindings #* body]
  "Evaluate BODY with handlers: BINDINGS is [TYPES FUNCTION ...], each evaluated once, the first the innermost.
A handler runs where the condition was signalled, before anything unwinds."
  (_refuse-yields body "handler-bind")
  (when (% (len bindings) 2)
    (raise (SyntaxError "handler-bind: bindings are pairs of types and a function")))
  (setv token (hy.gensym "token")
        pairs (lfor i (range 0 (len bindings) 2) `#(~(get bindings i) ~(get bindings (+ i 1)))))
  `(do
     (setv ~token (hy.I.autolith/base/conditions.bind-handlers ~@pairs))
     (try
       ~@body
       (finally (hy.I.autolith/base/conditions.unbind-handlers ~token)))))
