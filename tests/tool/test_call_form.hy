"The form of a call makes the same call, whatever its arguments; and back."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  json
  sys
  types
  pytest
  hypothesis [given settings strategies :as st HealthCheck]
  autolith.tool [call-form literal registry]
  tests.tool.lib [call tools])

(defn evaluate [text #** names]
  "Return the value of the form TEXT in a module of NAMES."
  (setv module (types.ModuleType "scratch"))
  (for [[k v] (.items names)] (setattr module k v))
  (setv forms (list (hy.read-many text)))
  (assert (= (len forms) 1))
  (hy.eval (get forms 0) :module module))

(defn sorted-map [m]
  "Return the map M sorted by key: the order of arguments means nothing."
  (dict (sorted (.items m))))

(defn same [x]
  "Return X as text that tells values apart: True from 1, NaN equal to itself."
  (json.dumps x :sort-keys False))

(setv TEXT (st.text (st.characters :codec None) :max-size 20)
      ODD (st.sampled-from ["" " " "a b" "a-b" "a_b" "ok?" "self" "class" "None" "True" "a.b" "-x" "_x" "x_" "ﬁ" "é" ":k" "\"" "\\" "\n"
                            "hyx_x" "name" "𝒳" "import" "1" "Upper" "a__b" "#** x" ";" "\ud800" "}" "\u202e"])
      KEYS (| ODD TEXT (st.from-regex "[a-z][a-z0-9_]{0,8}" :fullmatch True))
      NUMBERS (| (st.integers) (st.sampled-from [(** 10 400) (- (** 10 5000)) (** 2 64) -1 0])
                 (st.floats) (st.sampled-from [1e22 1e-320 -0.0]))
      JSON (st.recursive (| (st.none) (st.booleans) NUMBERS TEXT ODD)
                         (fn [inner] (| (st.lists inner :max-size 4) (st.dictionaries KEYS inner :max-size 4)))
                         :max-leaves 10))

(setv QUIET (settings :max-examples 150 :deadline None
                      :suppress-health-check [HealthCheck.function-scoped-fixture HealthCheck.too-slow]))

(defn [(pytest.fixture :autouse True)] long-integers []
  "Let integers of more digits than usual be printed, for these tests only."
  (setv before (sys.get-int-max-str-digits))
  (sys.set-int-max-str-digits 6000)
  (yield)
  (sys.set-int-max-str-digits before))

(defn [QUIET (given (st.dictionaries KEYS JSON :max-size 5))] test-form-makes-the-same-call [tools arguments]
  "Evaluating the form of a random call passes the very same names and values; so does reading it as a literal call."
  (deftool demo.any [] "Any." 1)
  (setv [text shortened] (call-form.render "demo_any" arguments)
        received {})
  (assert (not shortened))
  (assert (.isprintable text))
  (evaluate text :demo (types.SimpleNamespace :any (fn [#** named] (.update received named))))
  (import autolith.tool [schema])
  (assert (= (same (sorted-map (schema.plain received))) (same (sorted-map arguments))))
  (setv [name literal] (call-form.literal-call text))
  (assert (= name "demo.any"))
  (assert (= (same (sorted-map (schema.plain literal))) (same (sorted-map arguments)))))

(defn [QUIET (given JSON)] test-value-arrives-the-same [tools value]
  "A value reaches the tool equal whether the model sends it or its form is pasted."
  (setv seen [])
  (deftool demo.take [value] "Take." (.append seen value))
  (setv [text _] (call-form.render "demo.take" {"value" value}))
  (evaluate text :demo (registry.namespace "demo"))
  (call "demo.take" {"value" value})
  (assert (= (same (get seen 0)) (same (get seen 1)) (same value))))

(defn test-readable []
  "Plain names are keywords in kebab-case, the tool has its dotted name, and strings stay on one line."
  (assert (= (call-form.render "search_content" {"query" "a\n\"b\\" "max_results" 3 "patterns" None "hidden" True})
             #("(search.content :query \"a\\n\\\"b\\\\\" :max-results 3 :patterns None :hidden True)" False))))

(defn test-unknown-tools-and-broken-arguments []
  "A call that no tool answers, or whose arguments are text, is shown as a call by name."
  (setv [text _] (call-form.render "no_such" {"a" 1}))
  (setv seen [])
  (evaluate text :call-tool (fn [name #** rest] (.append seen #(name rest))))
  (assert (= seen [#("no_such" {"a" 1})]))
  (setv [text _] (call-form.render "search_glob" "{\"broken"))
  (assert (in "search" text)))

(defn [(pytest.mark.parametrize "limit" [40 80 200])] test-shortened-forms-say-so-and-do-not-run [limit tools]
  "A form over the limit fits it, says that it was shortened, and cannot be mistaken for the call."
  (deftool demo.long [text items] "Long." 1)
  (setv [text shortened] (call-form.render "demo.long" {"text" (* "word " 500) "items" (list (range 300))} limit))
  (assert shortened)
  (assert (<= (len text) limit))
  (with [_ (pytest.raises Exception)]
    (evaluate text :demo (registry.namespace "demo"))))

(setv CALLS
  [#("(demo.add 1 2)" {"a" 1 "b" 2})
   #("(demo.add :a 1 :b -2.5)" {"a" 1 "b" -2.5})
   #("  (demo.add :a [1 #(2 \"x\")] :b {\"k\" None \"l\" True})  ; note" {"a" [1 [2 "x"]] "b" {"k" None "l" True}})
   #("(demo.add :a 'sym :b 3)" {"a" "sym" "b" 3})
   #("(demo.add :a :word :b 3)" {"a" "word" "b" 3})
   #("(demo.add #** {\"a\" 1} :b 2)" {"a" 1 "b" 2})])

(defn [(pytest.mark.parametrize "source,arguments" CALLS)] test-literal-calls [source arguments tools]
  "A form with literal arguments is recognised with the arguments it would pass."
  (import autolith.tool [schema])
  (deftool demo.add [a b] "Add." 1)
  (setv [name found] (call-form.literal-call source))
  (assert (= name "demo.add"))
  (assert (= (schema.plain found) arguments)))

(defn [(pytest.mark.parametrize "source"
        ["(demo.add x 2)" "(demo.add (f) 2)" "(demo.add :a" "1" "demo.add" "" "()" "(demo.nope 1)" "(print 1)" "(demo.add 1) (demo.add 2)"
         "(demo.add f\"{x}\" 1)" "(demo.add #* [1 2])" "(demo.add [x])" "(demo.add {\"k\" (f)})" "(demo.add `x 1)" "((demo.add 1))"
         "(demo.add :a 1 :a 2)" "(demo.add 1 2 3)" ")" "(demo.add.x 1)" "(demo.add 1 #foo 2)"])]
  test-what-is-no-literal-call [source tools]
  "Whatever has to be computed, does not read, or calls something else is no literal call."
  (deftool demo.add [a b] "Add." 1)
  (assert (is (call-form.literal-call source) None)))

(defn test-a-very-long-call-is-shortened-too []
  "A call of some megabytes is shortened like any other."
  (setv value {"items" (lfor i (range 20000) {"n" i "text" (* "x" 100)})}
        [text shortened] (call-form.render "search_glob" value 500))
  (assert shortened)
  (assert (<= (len text) 500)))
