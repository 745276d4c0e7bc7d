"Schemas derived from signatures, and values built by them."

(import
  dataclasses [dataclass]
  json
  typing [Any Literal]
  pytest
  hypothesis [given settings strategies :as st]
  autolith.tool [schema])

(defclass [(dataclass :frozen True)] Insert []
  "Put lines in."
  #^ (get Literal "insert-after") op
  #^ int line
  #^ str content)

(defclass [(dataclass :frozen True)] Delete []
  "Take lines out."
  #^ (get Literal "delete-lines") op
  #^ int start-line
  (setv #^ (| int None) end-line None))

(defn sample [#^ str uri * #^ (get list (| Insert Delete)) operations [start-line 1] [loud False]
              #^ (| (get list str) None) [tags None] #^ (get Literal #("plain" "regex")) [mode "plain"] [extra None]]
  "Do a thing
in two lines.

uri: which one,
  on two lines.
start-line: the first.

More for people."
  None)

(setv PARAMETERS (schema.parameters sample)
      SCHEMA (schema.closed PARAMETERS))

(defn objects [node]
  "Yield every object schema in NODE."
  (when (isinstance node dict)
    (when (in "properties" node) (yield node))
    (for [child (.values node)] (yield :from (objects child))))
  (when (isinstance node list)
    (for [child node] (yield :from (objects child)))))

(defn test-closed-everywhere []
  "Every object in the schema is closed and names only properties it has as required."
  (setv found (list (objects SCHEMA)))
  (assert (= (len found) 3))
  (for [o found]
    (assert (is (get o "additionalProperties") False))
    (assert (<= (set (get o "required")) (set (get o "properties"))))))

(defn test-root-is-plain-object []
  "The root is an object without anyOf, and every property says its type or its variants."
  (assert (= (get SCHEMA "type") "object"))
  (assert (not (& (set SCHEMA) #{"anyOf" "oneOf" "allOf"})))
  (for [p (.values (get SCHEMA "properties"))]
    (assert (or (in "type" p) (in "anyOf" p)))))

(defn test-required-and-defaults []
  "Parameters without a default are required; defaults are in the schema."
  (assert (= (get SCHEMA "required") ["uri" "operations"]))
  (assert (= (get SCHEMA "properties" "start_line") {"description" "the first." "type" "integer" "default" 1}))
  (assert (= (get SCHEMA "properties" "loud" "type") "boolean"))
  (assert (= (get SCHEMA "properties" "tags") {"type" "array" "items" {"type" "string"}}))
  (assert (= (get SCHEMA "properties" "mode" "enum") ["plain" "regex"])))

(defn test-descriptions-from-docstring []
  "A parameter's line in the docstring describes it, and the first paragraph the whole."
  (assert (= (get SCHEMA "properties" "uri" "description") "which one, on two lines."))
  (assert (= (schema.description sample.__doc__) "Do a thing in two lines.")))

(defn test-schema-agrees-with-validator []
  "An independent validator compiles the schema and takes and refuses what `build` does."
  (import fastjsonschema)
  (setv valid (fastjsonschema.compile SCHEMA))
  (setv good {"uri" "x"
              "operations" [{"op" "insert-after" "line" 1 "content" "a"} {"op" "delete-lines" "start_line" 2}]})
  (valid good)
  (schema.build-arguments PARAMETERS good)
  (for [bad [{} {#** good "uri" 1} {#** good "other" 1} {#** good "operations" [{"op" "x"}]}
             {#** good "operations" [{"op" "delete-lines" "start_line" True}]} {#** good "mode" "fuzzy"}]]
    (with [_ (pytest.raises fastjsonschema.JsonSchemaException)] (valid bad))
    (with [_ (pytest.raises schema.Mismatch)] (schema.build-arguments PARAMETERS bad))))

(defn test-variants-are-built []
  "A map becomes the frozen dataclass that its tag names."
  (setv built (schema.build-arguments PARAMETERS
                {"uri" "x" "operations" [{"op" "insert-after" "line" 1.0 "content" "a"}
                                         {"op" "delete-lines" "start_line" 2}]}))
  (assert (= (get built "operations") [(Insert "insert-after" 1 "a") (Delete "delete-lines" 2)])))

(setv SPELLINGS
  [{"uri" "x" "start_line" 3 "operations" [{"op" "delete-lines" "start_line" 2}]}
   {"uri" "x" "start-line" 3 "operations" [{"op" "delete_lines" "start-line" 2}]}
   {':uri "x" ':start-line 3 ':operations #({':op ':delete-lines ':start-line 2})}
   {"uri" 'x "start_line" 3 "operations" '[{:op "delete-lines" :start-line 2}]}
   {"uri" ':x "start_line" '3 "operations" '#({"op" :delete-lines "start_line" 2})}])

(defn [(pytest.mark.parametrize "arguments" SPELLINGS)] test-spellings-decode-alike [arguments]
  "Kebab and snake case, keywords, symbols, tuples and quoted models all mean the same arguments."
  (assert (= (schema.build-arguments PARAMETERS arguments)
             {"uri" "x" "start_line" 3 "operations" [(Delete "delete-lines" 2)]})))

(setv WRONG
  [#({"operations" []} "uri")
   #({"uri" "x" "operations" [{"op" "insert-after" "line" "1" "content" "c"}]} "operations[0].line")
   #({"uri" "x" "operations" [{"op" "insert-after" "line" 1}]} "operations[0].content")
   #({"uri" "x" "operations" [{"op" "delete-lines" "start_line" 1 "nonsense" 2}]} "operations[0].nonsense")
   #({"uri" "x" "operations" [1]} "operations[0]")
   #({"uri" "x" "operations" "no list"} "operations")
   #({"uri" "x" "operations" [] "loud" 1} "loud")
   #({"uri" "x" "operations" [] "start_line" True} "start_line")
   #({"uri" "x" "operations" [] "start_line" 1.5} "start_line")
   #({"uri" "x" "operations" [] "start_line" None} None)
   #({"uri" "x" "operations" [] "start_line" 1 "start-line" 2} "start_line")
   #({"uri" None "operations" []} "uri")
   #({"uri" "x" "operations" [] "tags" ["a" 2]} "tags[1]")
   #({"uri" "x" "operations" [] "strat_line" 2} "start_line")])

(defn [(pytest.mark.parametrize "arguments,path" WRONG)] test-messages-name-the-path [arguments path]
  "What does not fit is refused with the path to it; null for an optional argument means its default."
  (if path
    (do
      (with [e (pytest.raises schema.Mismatch)]
        (schema.build-arguments PARAMETERS arguments))
      (assert (in path e.value.message)))
    (assert (not-in "start_line" (schema.build-arguments PARAMETERS arguments)))))

(defn test-all-problems-at-once []
  "One refusal names every problem."
  (with [e (pytest.raises schema.Mismatch)]
    (schema.build-arguments PARAMETERS {"start_line" "a" "loud" 3 "zzz" 1}))
  (for [name ["uri" "operations" "start_line" "loud" "zzz"]]
    (assert (in name e.value.message))))

(defn test-odd-parameters-are-refused []
  "A parameter that JSON cannot name, and gathered ones, are refused at definition."
  (for [f [(fn [ok?] 1) (fn [#* rest] 1) (fn [#** rest] 1) (fn [naïve] 1) (fn [*x*] 1)]]
    (with [_ (pytest.raises ValueError)]
      (schema.parameters f))))

(defn test-types-without-json-form-are-refused []
  "A type that has no JSON form is refused when the schema is made."
  (defn f [#^ complex x] None)
  (with [_ (pytest.raises ValueError)]
    (schema.closed (schema.parameters f))))

(setv VALUES (st.recursive (| (st.none) (st.booleans) (st.integers) (st.floats) (st.text))
                           (fn [inner] (| (st.lists inner) (st.dictionaries (st.text) inner)))
                           :max-leaves 12))

(defn [(settings :max-examples 80 :deadline None) (given (st.dictionaries (st.text) VALUES))]
  test-never-anything-but-a-mismatch [arguments]
  "Whatever map comes, building gives typed arguments or one Mismatch, nothing else."
  (try
    (setv built (schema.build-arguments PARAMETERS arguments))
    (except [schema.Mismatch] (return)))
  (assert (isinstance (get built "uri") str)))

(defn [(settings :max-examples 100 :deadline None) (given VALUES)] test-plain-data-stays [value]
  "JSON data passes an untyped parameter unchanged."
  (assert (= (json.dumps (schema.build Any value "x")) (json.dumps value))))
