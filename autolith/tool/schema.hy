"Derive a tool's closed JSON schema from its signature, and build typed arguments from whatever a caller sent.

A parameter is {\"name\" JSON name, \"type\" Python type, \"required\" bool, \"default\" value, \"doc\" str}. Types: str int float bool
list dict None, `Any`, lists and maps of these, unions, Literal, and frozen dataclasses; the variants of a union of
dataclasses are told apart by a field `op` or `kind` whose type is a Literal. Without an annotation the type is that
of the default, or Any. Names decode alike as kebab-case, snake_case, keyword or symbol."

(import
  dataclasses
  inspect
  re
  types
  typing [Any Literal Union get-args get-origin get-type-hints]
  collections.abc [Mapping Sequence Set]
  autolith.base [conditions])

(setv SIMPLE {str "string"  int "integer"  float "number"  bool "boolean"  list "array"  dict "object"
              (type None) "null"}
      NAME (re.compile r"[A-Za-z][A-Za-z0-9_]{0,63}")
      TAGS #("op" "kind"))

(defclass Mismatch [conditions.AutolithError]
  "Arguments do not fit a schema: PROBLEMS is one sentence each, naming the path.")

(defn _refuse [path expected value]
  "Raise the mismatch at PATH, where EXPECTED was wanted and VALUE came."
  (raise (Mismatch f"{path}: expected {expected}, got {(_shown value)}")))

(defn _shown [value]
  "Return VALUE as a short text for a message."
  (setv text (try (repr value) (except [Exception] (. (type value) __name__))))
  (if (> (len text) 60) (+ (cut text 57) "...") text))

;; * Names

(defn key-of [name]
  "Return NAME, a string, keyword or symbol in kebab- or snake-case, as a JSON name."
  (setv text (cond
               (isinstance name hy.models.Keyword) name.name
               (isinstance name str) (str name)
               True (raise (Mismatch f"a parameter name must be a string, not {(_shown name)}"))))
  (.replace (.lstrip text ":") "-" "_"))

(defn nearest [name names]
  "Return the sentence that offers what of NAMES is most like NAME, or none."
  (import difflib)
  (setv close (difflib.get-close-matches name (list names) 3 0.5))
  (if close f"; did you mean {(.join " or " close)}?" ""))

;; * Reading a signature

(defn parameters [function]
  "Return the parameters of FUNCTION; refuse those that a JSON map cannot name."
  (setv hints (_hints function) docs (parameter-docs (or function.__doc__ "")))
  (lfor p (.values (. (inspect.signature function) parameters))
        (_parameter p hints docs)))

(defn _hints [function]
  "Return the annotations of FUNCTION, evaluated where they are strings and can be."
  (try
    (get-type-hints function)
    (except [Exception] (dict (getattr function "__annotations__" {})))))

(defn _parameter [p hints docs]
  "Return the inspected parameter P as ours, of the type in HINTS and described in DOCS."
  (setv shown (hy.unmangle p.name))
  (when (in p.kind #(p.VAR-POSITIONAL p.VAR-KEYWORD))
    (raise (ValueError f"{shown} gathers arguments; a tool's parameters must each have a name")))
  (when (or (.startswith p.name "hyx_") (not (.fullmatch NAME p.name)))
    (raise (ValueError f"the parameter {shown} has no JSON name; use letters, digits and hyphens")))
  (setv required (is p.default p.empty))
  {"name" p.name "required" required
   "type" (.get hints p.name (if required Any (_type-of-default p.default)))
   "default" (if required None p.default)
   "doc" (.get docs p.name "")})

(defn _type-of-default [default]
  "Return the type that a parameter without annotation has, from its DEFAULT."
  (setv cls (type default))
  (cond
    (is default None) Any
    (in cls SIMPLE) cls
    True Any))

(defn parameter-docs [doc]
  "Return {JSON name: text} of the lines `parameter: text` in the docstring DOC, continued by deeper indented lines."
  (setv found {} current None)
  (for [line (.splitlines (inspect.cleandoc doc))]
    (setv m (re.fullmatch r"([A-Za-z][A-Za-z0-9_-]*):\s+(\S.*)" line))
    (cond
      m (setv current (.replace (.lower (.group m 1)) "-" "_")
              (get found current) (.group m 2))
      (and current (.startswith line "  ")) (+= (get found current) (+ " " (.strip line)))
      True (setv current None)))
  found)

(defn description [doc]
  "Return the first paragraph of the docstring DOC on one line."
  (setv paragraph (get (.split (inspect.cleandoc (or doc "")) "\n\n" 1) 0))
  (.join " " (.split paragraph)))

;; * The JSON schema

(defn closed [parameters]
  "Return the closed object schema of PARAMETERS."
  (setv properties {})
  (for [p parameters]
    (setv schema (_optional-of (get p "type") (get p "default") (get p "required")))
    (when (get p "doc") (setv schema {"description" (get p "doc") #** schema}))
    (setv (get properties (get p "name")) schema))
  (_object properties (lfor p parameters :if (get p "required") (get p "name"))))

(defn _object [properties required]
  "Return the schema of a map of exactly PROPERTIES, REQUIRED of them always there."
  {"type" "object" "properties" properties "required" required "additionalProperties" False})

(defn _optional-of [t default required]
  "Return the schema of type T; None among its union is left unsaid where it is only the default's."
  (if (and (not required) (is default None) (_union? t))
    (of-type (_without-none t))
    (do
      (setv schema (of-type t))
      (if (and (not required) (in (type default) #(str int float bool)))
        {#** schema "default" default}
        schema))))

(defn _union? [t]
  "Is T a union of types?"
  (in (get-origin t) #(Union types.UnionType)))

(defn _without-none [t]
  "Return the union T without None."
  (setv rest (tuple (gfor a (get-args t) :if (is-not a (type None)) a)))
  (if rest (get Union rest) (type None)))

(defn of-type [t]
  "Return the JSON schema of type T."
  (setv origin (get-origin t) args (get-args t))
  (cond
    (is t Any) {"type" ["string" "number" "boolean" "object" "array" "null"] "items" {}}
    (is t None) {"type" "null"}
    (is t list) {"type" "array" "items" {}}
    (is t dict) {"type" "object"}
    (in t SIMPLE) {"type" (get SIMPLE t)}
    (is origin Literal) (_literal-schema args)
    (in origin #(list tuple Sequence set)) {"type" "array" "items" (of-type (get args 0))}
    (in origin #(dict Mapping)) {"type" "object" "additionalProperties" (of-type (get args 1))}
    (_union? t) {"anyOf" (lfor a args (of-type a))}
    (dataclasses.is-dataclass t) (_dataclass-schema t)
    True (raise (ValueError (+ f"{(getattr t "__name__" t)} has no JSON form;"
                               " use str int float bool list dict, a Literal or a dataclass")))))

(defn _literal-schema [values]
  "Return the schema of one of VALUES."
  (setv kinds (sorted (sfor v values (get SIMPLE (type v)))))
  {"type" (if (= (len kinds) 1) (get kinds 0) kinds) "enum" (list values)})

(defn _dataclass-schema [cls]
  "Return the closed schema of the dataclass CLS."
  (setv rows (fields-of cls))
  (_object (dfor row rows (get row "name") (_optional-of (get row "type") (get row "default") (get row "required")))
           (lfor row rows :if (get row "required") (get row "name"))))

(defn fields-of [cls]
  "Return the fields of the dataclass CLS as parameters. The Literal that tells variants apart is always required."
  (setv hints (get-type-hints cls))
  (lfor f (dataclasses.fields cls)
        :setv tag (is-not (_tag-values f.name (get hints f.name)) None)
        :setv absent (and (is f.default dataclasses.MISSING) (is f.default-factory dataclasses.MISSING))
        {"name" f.name "type" (get hints f.name) "required" (or tag absent) "doc" ""
         "default" (if (is f.default dataclasses.MISSING) None f.default)}))

(defn _tag-values [name t]
  "Return the values of the discriminating field NAME of type T, or None if it is not one."
  (when (and (in name TAGS) (is (get-origin t) Literal))
    (get-args t)))

;; * Building values

(defn build-arguments [parameters arguments]
  "Return {JSON name: typed value} for PARAMETERS from the map ARGUMENTS; absent ones are left to their defaults.
All problems are named in one Mismatch."
  (when (not (isinstance arguments Mapping))
    (raise (Mismatch f"the arguments must be a map of names and values, not {(_shown arguments)}")))
  (setv [given problems] (_keyed arguments "") built {})
  (for [p parameters]
    (setv name (get p "name"))
    (cond
      (in name given)
        (try
          (setv value (.pop given name))
          (when (not (and (is value None) (not (get p "required")) (is-not (get p "type") Any)
                          (not (_takes-none? (get p "type")))))
            (setv (get built name) (build (get p "type") value name)))
          (except [e Mismatch] (.append problems e.message)))
      (get p "required") (.append problems f"{name} is required")))
  (.extend problems (_unknown given (lfor p parameters (get p "name"))))
  (when problems (raise (Mismatch (.join "; " problems))))
  built)

(defn _takes-none? [t]
  "May a value of type T be None?"
  (or (is t None) (is t (type None))
      (and (_union? t) (any (gfor a (get-args t) (_takes-none? a))))))

(defn _keyed [mapping path]
  "Return #(MAPPING by JSON names, problems): a name that came twice is a problem."
  (setv given {} problems [])
  (for [[key value] (.items mapping)]
    (setv name (key-of key))
    (if (in name given)
      (.append problems f"{path}{name} is given twice")
      (setv (get given name) value)))
  #(given problems))

(defn _unknown [given names [path ""]]
  "Return a problem for each name in GIVEN, none of which is among NAMES."
  (lfor name given
        (+ f"{path}{name} is unknown" (or (nearest name names)
                                          (if names f"; known: {(.join ", " names)}" "; there are no parameters")))))

(defn build [t value path]
  "Return VALUE as type T, decoding models, keywords and symbols; PATH names it in messages."
  (setv origin (get-origin t))
  (cond
    (is t Any) (plain value)
    (or (is t None) (is t (type None))) (_build-none value path)
    (is t str) (_build-str value path)
    (is t bool) (_build-bool value path)
    (in t #(int float)) (_build-number t value path)
    (is origin Literal) (_build-literal (get-args t) value path)
    (or (is t list) (in origin #(list tuple Sequence set))) (_build-list (or origin list) (get-args t) value path)
    (or (is t dict) (in origin #(dict Mapping))) (_build-dict (get-args t) value path)
    (_union? t) (_build-union (get-args t) value path)
    True (_build-dataclass t value path)))

(defn _build-none [value path]
  "Return None if VALUE says so."
  (when (not (or (is value None) (and (isinstance value hy.models.Symbol) (in (str value) #("None" "null" "nil")))))
    (_refuse path "null" value)))

(defn _build-str [value path]
  "Return VALUE as text: a string, a keyword's or symbol's name, or the source of a quoted form."
  (cond
    (isinstance value hy.models.Keyword) value.name
    (isinstance value hy.models.Expression) (cut (hy.repr value) 1 None)
    (isinstance value str) (str value)
    True (_refuse path "a string" value)))

(defn _build-bool [value path]
  "Return VALUE, which must be true or false."
  (cond
    (isinstance value bool) value
    (and (isinstance value hy.models.Symbol) (in (.lower (str value)) #("true" "false")))
      (= (.lower (str value)) "true")
    True (_refuse path "true or false" value)))

(defn _build-number [t value path]
  "Return VALUE as the number type T; a whole float is an integer, a boolean is no number."
  (cond
    (isinstance value bool) (_refuse path (if (is t int) "an integer" "a number") value)
    (isinstance value int) (t value)
    (and (isinstance value float) (is t float)) (float value)
    (and (isinstance value float) (.is-integer value)) (int value)
    True (_refuse path (if (is t int) "an integer" "a number") value)))

(defn _build-literal [values value path]
  "Return that of VALUES which VALUE is, however its words are joined."
  (setv wanted (if (isinstance value #(str hy.models.Keyword)) (key-of value) value))
  (for [v values]
    (when (if (isinstance v str) (= (key-of v) wanted) (and (= v value) (is (type v) (type value))))
      (return v)))
  (_refuse path (.join " or " (gfor v values (repr v))) value))

(defn _listed [value path]
  "Return the elements of VALUE, any sequence or set that is no text."
  (when (or (isinstance value #(str bytes bytearray Mapping hy.models.Dict hy.models.Expression))
            (not (isinstance value #(Sequence Set hy.models.Sequence))))
    (_refuse path "a list" value))
  (list value))

(defn _build-list [origin args value path]
  "Return the elements of VALUE as a list, or the set or tuple that ORIGIN is, each of the type in ARGS."
  (setv t (if args (get args 0) Any)
        items (lfor [i v] (enumerate (_listed value path)) (build t v f"{path}[{i}]")))
  (cond (is origin tuple) (tuple items) (is origin set) (set items) True items))

(defn _pairs [value path]
  "Return the map VALUE, a map or a model of one, as a dict."
  (cond
    (isinstance value hy.models.Dict) (dict (zip (.keys value) (.values value)))
    (isinstance value Mapping) (dict value)
    (hasattr value "_asdict") (._asdict value)
    True (_refuse path "a map" value)))

(defn _build-dict [args value path]
  "Return the map VALUE with string keys and values of the type in ARGS."
  (setv t (if args (get args 1) Any))
  (dfor [k v] (.items (_pairs value path))
        :setv name (_plain-key k)
        name (build t v f"{path}.{name}")))

(defn _build-union [variants value path]
  "Return VALUE as the first of VARIANTS that takes it; one that it fits from outside says what is wrong inside."
  (setv problems [])
  (for [t (sorted variants :key (fn [t] (is t Any)))]
    (try
      (return (build t value path))
      (except [e Mismatch] (.append problems #(t e)))))
  (for [[t e] problems]
    (when (or (_tagged? t value)
              (not (or (_tag-of t) (.startswith e.message (+ path ":")))))
      (raise e)))
  (setv tags (lfor t variants tag (_tags-of t) tag))
  (if (and tags (isinstance value #(Mapping hy.models.Dict)))
    (_refuse path f"a map whose `{(_tag-name variants)}` is {(.join " or " (map repr tags))}" value)
    (_refuse path (.join " or " (gfor t variants (_type-name t))) value)))

(defn _type-name [t]
  "Return the name of type T for a message."
  (cond
    (in t SIMPLE) (get SIMPLE t)
    True (getattr t "__name__" (str t))))

(defn _tag-of [t]
  "Return #(name values) of the tag field of the dataclass T, or None."
  (when (dataclasses.is-dataclass t)
    (setv hints (get-type-hints t))
    (next (gfor name TAGS :if (in name hints) :setv values (_tag-values name (get hints name))
                :if values #(name values))
          None)))

(defn _tags-of [t]
  "Return the tag values of the variant T, none if it has no tag."
  (setv tag (_tag-of t))
  (if tag (get tag 1) #()))

(defn _tag-name [variants]
  "Return the name of the field that tells VARIANTS apart."
  (next (gfor t variants :setv tag (_tag-of t) :if tag (get tag 0)) "kind"))

(defn _tagged? [t value]
  "Does the map VALUE bear the tag of the variant T?"
  (setv tag (_tag-of t))
  (when (and tag (isinstance value #(Mapping hy.models.Dict)))
    (setv [given _] (_keyed (_pairs value "") "") said (.get given (get tag 0)))
    (and (isinstance said #(str hy.models.Keyword))
         (in (key-of said) (map key-of (get tag 1))))))

(defn _build-dataclass [cls value path]
  "Return the map VALUE, or a ready instance, as the dataclass CLS."
  (when (isinstance value cls) (return value))
  (setv [given problems] (_keyed (_pairs value path) f"{path}.") built {} rows (fields-of cls))
  (for [row rows]
    (setv name (get row "name"))
    (cond
      (in name given) (setv (get built name) (build (get row "type") (.pop given name) f"{path}.{name}"))
      (get row "required") (.append problems f"{path}.{name} is required")))
  (.extend problems (_unknown given (lfor row rows (get row "name")) f"{path}."))
  (when problems (raise (Mismatch (.join "; " problems))))
  (cls #** built))

;; * Plain data

(defn _plain-key [key]
  "Return the map key KEY as a string: a keyword's or symbol's name mangled, a string as it is."
  (cond
    (isinstance key hy.models.Keyword) (key-of key)
    (isinstance key hy.models.Symbol) (key-of key)
    (isinstance key str) (str key)
    True (raise (Mismatch f"a map's key must be a string, not {(_shown key)}"))))

(defn plain [value]
  "Return VALUE with models, keywords, symbols, tuples and mappings turned to plain JSON-like data."
  (cond
    (isinstance value bool) value
    (isinstance value hy.models.Symbol) (_plain-symbol value)
    (isinstance value hy.models.Keyword) value.name
    (isinstance value hy.models.Expression) (cut (hy.repr value) 1 None)
    (isinstance value str) (str value)
    (isinstance value hy.models.Integer) (int value)
    (isinstance value hy.models.Float) (float value)
    (isinstance value #(hy.models.Dict Mapping)) (dfor [k v] (.items (_pairs value "")) (_plain-key k) (plain v))
    (isinstance value #(list tuple hy.models.Sequence Set)) (lfor v value (plain v))
    True value))

(defn _plain-symbol [symbol]
  "Return what SYMBOL stands for: a constant, or its own name."
  (setv constants {"None" None "null" None "nil" None "True" True "true" True "False" False "false" False})
  (.get constants (str symbol) (str symbol)))
