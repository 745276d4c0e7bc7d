"The Hy form that makes the same tool call as a model's, and back: the call that a typed form with literal arguments is.

`render` gives `(resource.read :uri \"workspace:a\" :start-line 3)`. Argument names that no keyword can spell stand in
`#** {\"odd name\" 1}`. A call of a name that is no tool, or whose arguments are no map, is `(call-tool \"name\" ...)`."

(import
  autolith.base [conditions]
  autolith.tool [literal registry schema tool :as kinds])

(setv STEPS [#(400 40) #(160 12) #(60 6) #(24 3)]
      CONSTANTS {"None" None "True" True "False" False})

(defclass NotLiteral [conditions.AutolithError]
  "A form holds something that has to be computed.")

;; * From a call to a form

(defn render [name arguments [limit None]]
  "Return #(text shortened?): the form that calls the tool NAME with ARGUMENTS, in at most LIMIT characters."
  (setv text (_form name arguments))
  (when (or (is limit None) (<= (len text) limit))
    (return #(text False)))
  (for [[longest most] STEPS]
    (setv text (_form name arguments longest most))
    (when (<= (len text) limit)
      (return #(text True))))
  #((+ (cut text (max 0 (- limit 2))) " " literal.ELLIPSIS) True))

(defn _form [name arguments [longest None] [most None]]
  "Return the form that calls NAME with ARGUMENTS, strings cut to LONGEST and lists to MOST."
  (setv tool (or (registry.find name) (registry.unique name))
        head (if tool [tool.name] ["call-tool" (literal.string (str name) longest)]))
  (cond
    (isinstance arguments dict) (_call head arguments longest most)
    tool (_form-by-name tool.name arguments longest most)
    True (_form-by-name (str name) arguments longest most)))

(defn _form-by-name [name arguments longest most]
  "Return the form that calls NAME with ARGUMENTS that are no map, which only `call-tool` can pass on."
  f"(call-tool {(literal.string name longest)} {(literal.write arguments longest most)})")

(defn _call [head arguments longest most]
  "Return the form of the words HEAD and the map ARGUMENTS."
  (setv words [#* head] odd {})
  (for [[key value] (.items arguments)]
    (if (_keyword? key)
      (.append words f"{(literal.key key)} {(literal.write value longest most)}")
      (setv (get odd key) value)))
  (when odd
    (.append words (+ "#** " (_odd-map odd longest most))))
  f"({(.join " " words)})")

(defn _keyword? [key]
  "Can a keyword argument spell KEY so that it arrives the same?"
  (and (.fullmatch literal.KEYWORD key)
       (= (hy.mangle (.replace key "_" "-")) key)))

(defn _odd-map [odd longest most]
  "Return the map ODD with string keys, as `#**` needs them."
  (+ "{" (.join " " (gfor [k v] (.items odd) f"{(literal.string k)} {(literal.write v longest most)}")) "}"))

;; * From a form to a call

(defn literal-call [source]
  "Return #(dotted-name arguments) if SOURCE is one form that calls a tool with literal arguments only, else None."
  (try
    (setv forms (list (hy.read-many source)))
    (except [Exception] (return None)))
  (when (!= (len forms) 1) (return None))
  (setv form (get forms 0))
  (when (not (and (isinstance form hy.models.Expression) form)) (return None))
  (setv tool (_tool-of (get form 0)))
  (when tool
    (try
      #(tool.name (_arguments tool (list (cut form 1 None))))
      (except [[NotLiteral schema.Mismatch StopIteration]] None))))

(defn _tool-of [head]
  "Return the tool that the head symbol HEAD of a form names, or None."
  (when (and (isinstance head hy.models.Expression) (= (len head) 3) (= (str (get head 0)) "."))
    (setv name (.join "." (map str (cut head 1 None)))
          tool (registry.find name))
    (when (and tool (= (kinds.wire-name name) (kinds.wire-name tool.name)))
      tool)))

(defn _arguments [tool forms]
  "Return the argument map that FORMS, what follows the head of a call of TOOL, amounts to."
  (setv positional [] named {} rest (iter forms))
  (for [form rest]
    (cond
      (isinstance form hy.models.Keyword)
        (_put named (hy.mangle form.name) (_value (next rest)))
      (_headed? form "unpack-mapping")
        (for [[k v] (.items (_value (get form 1)))] (_put named k v))
      True (.append positional (_value form))))
  (.arguments tool positional named))

(defn _put [named key value]
  "Enter VALUE under KEY in NAMED; a key that comes twice makes no call."
  (when (or (in key named) (not (isinstance key str)))
    (raise (NotLiteral f"{key} is given twice")))
  (setv (get named key) value))

(defn _headed? [form name]
  "Is FORM an expression of two forms whose head is the symbol NAME?"
  (and (isinstance form hy.models.Expression) (= (len form) 2) (= (str (get form 0)) name)))

(defn _value [form]
  "Return the value of the literal FORM; refuse what has to be computed."
  (cond
    (isinstance form hy.models.FString) (raise (NotLiteral "an f-string"))
    (isinstance form hy.models.String) (str form)
    (isinstance form hy.models.Integer) (int form)
    (isinstance form hy.models.Float) (float form)
    (isinstance form hy.models.Keyword) form
    (isinstance form hy.models.Symbol) (_constant form)
    (isinstance form hy.models.Dict) (dfor [k v] (.items form) (_value k) (_value v))
    (isinstance form #(hy.models.List hy.models.Tuple)) (lfor x form (_value x))
    (_headed? form "quote") (get form 1)
    True (raise (NotLiteral "a computed value"))))

(defn _constant [symbol]
  "Return the constant that SYMBOL is."
  (when (not-in (str symbol) CONSTANTS)
    (raise (NotLiteral f"the name {symbol}")))
  (get CONSTANTS (str symbol)))
