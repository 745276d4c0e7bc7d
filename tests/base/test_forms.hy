"Data forms: what is written reads back equal, here and by Hy; what is no data is refused, and says where."

(import
  collections datetime decimal enum fractions math pathlib re sys
  hy.models [Bytes Dict Expression Float Integer Keyword List Set String Symbol Tuple]
  pytest
  hypothesis [assume given settings strategies :as st]
  autolith.base [forms])


;; * Values

(defn _symbols []
  "Return a strategy of symbols that are names."
  (.map (st.from-regex r"[a-z*+<>=?!][a-z0-9*?!<>=&%$|-]{0,8}" :fullmatch True) _symbol))

(defn _symbol [text]
  "Return the symbol TEXT, or another one where TEXT is a number to Hy."
  (if (re.match r"[+-]?\d" text) 'other (Symbol text)))

(defn _keywords []
  "Return a strategy of keywords."
  (.map (st.from-regex r"[a-zA-Z0-9_?!*<>=é-]{1,8}" :fullmatch True) Keyword))

(defn _keys []
  "Return a strategy of the keys of maps."
  (st.one-of (st.text) (st.from-regex r"[a-z_]{1,12}" :fullmatch True) (st.integers) (st.booleans) (st.none)
             (st.binary :max-size 4) (st.tuples (st.integers) (st.text :max-size 3))))

(defn _leaves []
  "Return a strategy of values without parts."
  (st.one-of (st.none) (st.booleans) (st.integers) (st.floats :allow-nan False) (st.text)
             (st.text (st.characters :codec None)) (st.binary :max-size 20) (_symbols) (_keywords)))

(defn _grow [inner]
  "Return a strategy of values whose parts are of INNER."
  (st.one-of (st.lists inner :max-size 5) (.map (st.lists inner :max-size 4) tuple)
             (.map (st.lists inner :max-size 4) Expression)
             (st.dictionaries (_keys) inner :max-size 5) (st.sets (st.one-of (st.integers) (st.text :max-size
                                                                                                    4)) :max-size 4)))

(setv VALUES (st.recursive (_leaves) _grow :max-leaves 25))

(defn same? [a b]
  "Tell whether A and B are equal and of the same types all through."
  (cond
    (is-not (type a) (type b)) False
    (isinstance a dict) (and (= (len a) (len b))
                             (all (gfor [k v] (.items a) (and (in k b) (same? v (get b k)))))
                             (all (gfor [x y] (zip a b) (same? x y))))
    (isinstance a #(list tuple)) (and (= (len a) (len b)) (all (map same? a b)))
    (isinstance a set) (= (sorted (map repr a)) (sorted (map repr b)))
    (isinstance a float) (or (= (repr a) (repr b)))
    True (= a b)))

(defn [(given VALUES) (settings :max-examples 200 :deadline None)] test-written-values-read-back [value]
  "Every value that can be written reads back equal and of the same types."
  (setv text (forms.write value))
  (assert (not-in "\n" text))
  (assert (same? (forms.read-one text) value)))

(defn [(given VALUES) (settings :max-examples 150 :deadline None)] test-hy-reads-the-same [value]
  "Hy's own reader makes the same of what was written."
  (assert (same? (forms.plain (hy.read (forms.write value))) value)))

(defn [(given VALUES) (settings :max-examples 100 :deadline None)] test-pretty-reads-back [value]
  "What is laid out for people reads back equal."
  (assert (same? (forms.read-one (forms.pretty value :width 20)) value)))

(defn [(given (st.text :alphabet "()[]{}#\"\\:;'` ab.0-1+eNx\n\r/,_~@" :max-size 30)) (settings :max-examples
                                                                                                300 :deadline None)]
  test-any-text-is-read-or-refused [text]
  "Any text either reads, then as Hy reads it and so that it can be written, or is refused as malformed.
A lone carriage return ends a line to us, a comment too, which Hy reads on."
  (assume (not (re.search r";[^\n]*\r(?!\n)" text)))
  (try
    (setv found (forms.read-all text))
    (except [forms.Malformed]
      (return)))
  (assert (same? (lfor f (hy.read-many text) (forms.plain f)) found))
  (for [value found]
    (assert (same? (forms.read-one (forms.write value)) value))))


;; * Long strings

(defn outcome [text long]
  "Return what reading TEXT gives, the fault included, when strings from LONG characters on are read on the way."
  (setv kept forms.LONG  forms.LONG long)
  (try
    (forms.read-all text)
    (except [e forms.Malformed] #((type e) e.reason e.line e.column))
    (finally (setv forms.LONG kept))))

(defn [(given (st.text :alphabet "()[]{}\"\"\"\\\\/ud8;b# a1\n:é" :max-size 40)) (settings :max-examples 400
                                                                                           :deadline None)]
  test-reading-strings-on-the-way-changes-nothing [text]
  "Any text reads alike, faults and their places included, whether long strings are read on the way or not."
  (setv usual (outcome text 10_000))
  (for [long [0 2 6]]
    (setv found (outcome text long))
    (assert (= found usual))))

(defn [(pytest.mark.parametrize "text" ["; a \"b\" [\n1" "1 ; it \"is\" so\n\"x\"" "[\"a;b\" 1] ; \"c"
                                        "b\"x\" \"y\"" "f\"x\"" "x\"y\"" "\"a\"\"b\""])]
  test-what-stands-before-a-long-string [text]
  "Quotes in comments and after prefixes mean what they mean in short texts."
  (assert (= (outcome text 0) (outcome text 10_000))))

(defn [(given VALUES) (settings :max-examples 100 :deadline None)] test-values-read-on-the-way [value]
  "Every written value reads back when its strings are read on the way."
  (assert (same? (get (outcome (forms.write value) 1) 0) value)))

(defn [(pytest.mark.parametrize "end" ["\\/" "\\ud83d\\ude00" "\\\\/" "\\\\ud83d" "\\x41" "\\ud83d" "/" "\\u00e9" "\\N{BULLET}" "\\\n"])]
  test-long-strings-have-the-escapes-of-hy [end]
  "In a long string an escape means what it means to Hy, or is refused where Hy refuses it."
  (setv text (+ "[\"" (* "é" 300) end "\"]"))
  (try
    (setv expected [(forms.plain (hy.read text))])
    (except [Exception]
      (setv expected None)))
  (setv found (outcome text forms.LONG))
  (assert (if expected (= found expected) (is (get found 0) forms.Malformed))))


;; * Keys

(defn test-keyword-keys-are-mangled-strings []
  "A keyword as a key is its mangled string in memory, and is written back as the keyword."
  (setv text "{:start-line 1 :ok? True :_x 2 \"a b\" 3 \"start-line\" 4 5 6}"
        value (forms.read-one text))
  (assert (= value {"start_line" 1  (hy.mangle "ok?") True  "_x" 2  "a b" 3  "start-line" 4  5 6}))
  (assert (= (:start-line value) 1))
  (assert (= (:ok? value) True))
  (assert (= (forms.write value) text)))

(defn test-a-key-twice-is-refused []
  "A keyword and the string that it stands for are one key."
  (for [text ["{:a 1 :a 2}" "{:a 1 \"a\" 2}" "{1 2 True 3}" "#{1 1}"]]
    (with [(pytest.raises forms.Malformed)]
      (forms.read-one text))))

(defn test-a-keyword-key-in-memory-is-refused []
  "A Keyword as a key would come back as a string, so it is not written."
  (with [(pytest.raises forms.Unwritable)]
    (forms.write {(Keyword "a") 1})))


;; * Names and numbers that look like something else

(defn [(pytest.mark.parametrize "name" ["a b" "" "1" "NaN" ":x" "a.b" "None" "True" "nil" "-Inf" "1e1000" "2e308" "j" "NaNj"
                                        "1_000" "1,000" "+5" "0x" "1a" "\"x" "a;b" "#x" "+J" "x\n" "'a" "(" "true"])]
  test-symbols-never-turn-into-something-else [name]
  "A symbol of any name either reads back as that symbol, by us and by Hy, or is refused."
  (setv symbol (Symbol name :from-parser True))
  (try
    (setv text (forms.write symbol))
    (except [forms.Unwritable]
      (return)))
  (assert (same? (forms.read-one text) symbol))
  (assert (same? (forms.plain (hy.read text)) symbol)))

(defn [(pytest.mark.parametrize "name" ["" "a b" "a.b" ":x" "a\"" "a)" "1" "None" "x y"])] test-keywords-too [name]
  "A keyword of any name either reads back or is refused."
  (setv keyword (Keyword name :from-parser True))
  (try
    (setv text (forms.write keyword))
    (except [forms.Unwritable]
      (return)))
  (assert (same? (forms.read-one text) keyword))
  (assert (same? (forms.plain (hy.read text)) keyword)))

(defn test-numbers-at-the-edge []
  "Not-a-number, infinities, negative zero, denormals and integers of five thousand digits read back as they were."
  (for [x [math.inf (- math.inf) -0.0 1e-320 1e308 (** 10 5000) (- (** 7 6000)) 0 -1]]
    (setv found (forms.read-one (forms.write x)))
    (assert (same? found x))
    (assert (same? (forms.plain (hy.read (forms.write x))) x)))
  (assert (math.isnan (forms.read-one (forms.write math.nan)))))

(defclass Colour [enum.IntEnum] (setv RED 1))
(defclass Text [str])
(defclass Table [dict])

(defn [(pytest.mark.parametrize "value" [(Text "a b") (Table {"a" 1}) Colour.RED (pathlib.Path "/x") (decimal.Decimal "1.5")
                                         (collections.defaultdict list) (datetime.datetime 2026 1 1) (collections.deque)
                                         (fractions.Fraction 1 2) (collections.OrderedDict) (re.compile "x") (object)
                                         (frozenset [1]) (bytearray b"x") 1j (List [1]) (String "x") (Integer 1)])]
  test-kinds-without-a-form-are-refused [value]
  "Subclasses, models and other objects are refused, alone and inside of collections."
  (for [v [value [value] {"k" value} #(value)]]
    (with [(pytest.raises forms.Unwritable)]
      (forms.write v))))

(defn test-plain-turns-models-into-data []
  "What Hy's reader gives becomes data that can be written."
  (setv value (forms.plain (hy.read "{:a-b [1 2.5 \"x\" b\"y\" #(z) #{3}] \"k\" (f :x None nil)}")))
  (assert (same? value {"a_b" [1 2.5 "x" b"y" #('z) #{3}]  "k" (Expression ['f (Keyword "x") None None])}))
  (assert (same? (forms.read-one (forms.write value)) value)))


;; * Strings

(defn [(pytest.mark.parametrize "text" ["\n\nabc" "a\r\nb" "a\rb" "a]]b" "ends with ]" "\ufeffx" "\x00\x1f\x7f\x85" "\u2028" "\\" "\""
                                        "\ud83d" "\ude00\ud83d" "\ud83d\ude00" "\udcff" "😀" "\\ud83d" "\\/" "//" "\\\\ud83d"])]
  test-strings-byte-for-byte [text]
  "Strings with line ends, controls, lone surrogates and escapes read back as they were, by us and by Hy."
  (setv written (forms.write text))
  (assert (same? (forms.read-one written) text))
  (assert (same? (forms.plain (hy.read written)) text))
  (assert (.encode written "utf-8")))

(defn test-line-ends-and-mark-of-a-file []
  "A text with a byte-order mark and CRLF line ends reads like the plain one."
  (assert (= (forms.read-all "\ufeff{:a 1}\r\n{:b \"x\r\ny\"}\r\n") [{"a" 1} {"b" "x\ny"}])))

(defn [(pytest.mark.parametrize "text" ["\"\\q\"" "\"\\x4\"" "\"\\u12\"" "\"\\N{no such name}\"" "b\"é\"" "f\"a\"" "r\"a\"" "#[[x]]"
                                        "'a" "`a" "~a" "#_ a" "#reader x" "01" "1_0" ":" ":a.b" "::a" "a..b"
                                        "x\u00a0y" "\u0661"])]
  test-what-is-no-data-is-refused [text]
  "Escapes that Hy does not know, reader macros, quotes, f-strings and odd numbers are malformed."
  (with [(pytest.raises forms.Malformed)]
    (forms.read-all text)))


;; * Bounds and places

(defn test-depth-is-bounded-both-ways []
  "Two hundred brackets are read and written, by Hy too; one more is refused in both directions, as is a cycle."
  (setv deep [])
  (for [_ (range 199)] (setv deep [deep]))
  (setv text (forms.write deep))
  (assert (= (forms.read-one text) deep))
  (hy.read text)
  (with [(pytest.raises forms.Unwritable)] (forms.write [deep]))
  (with [(pytest.raises forms.Malformed)] (forms.read-one (+ "[" text "]")))
  (.append deep deep)
  (with [(pytest.raises forms.Unwritable)] (forms.write deep)))

(defn test-hostile-text-ends-soon []
  "A megabyte of brackets, of an unended string, of escapes and of quotes is refused, not run out of stack or time."
  (for [text [(* "[" 1_000_000) (+ "\"" (* "a" 1_000_000)) (+ "\"" (* "\\" 1_000_001)) (* ")" 1_000_000)
              (* "{" 1_000_000)]]
    (with [(pytest.raises forms.Malformed)]
      (forms.read-all text))))

(defn test-size-is-bounded [monkeypatch]
  "Text and tokens beyond the limits are refused when reading and when writing."
  (monkeypatch.setattr forms "MAX_SIZE" 100)
  (with [(pytest.raises forms.Malformed)] (forms.read-all (* "a " 51)))
  (with [(pytest.raises forms.Unwritable)] (forms.write (* "a" 100)))
  (monkeypatch.setattr forms "MAX_TOKENS" 10)
  (with [(pytest.raises forms.Malformed)] (forms.read-all (* "a " 11)))
  (with [(pytest.raises forms.Unwritable)] (forms.write (list (range 11)))))

(defn test-a-premature-end-is-told-from-a-fault []
  "Text that more text could make whole raises Premature; other faults do not."
  (for [text ["(" "[1 2" "{:a 1" "\"abc" "b\"abc" "#(1" "#{" "" "; only a comment"]]
    (with [(pytest.raises forms.Premature)] (forms.read-one text)))
  (for [text [")" "(]" "{:a}" "1 2"]]
    (with [e (pytest.raises forms.Malformed)] (forms.read-one text))
    (assert (not (isinstance e.value forms.Premature)))))

(defn test-faults-have-a-place []
  "The line and column of a fault are those where it stands; of a missing bracket, those of the one it should close."
  (for [[text line column] [#("{:a 1}\n  )" 2 3) #("[1\n 'x]" 2 2) #("1\n(a\n [b" 3 2) #("{:a 1\n :b}" 2 4)
                            #("\n\"abc" 2 1)]]
    (with [e (pytest.raises forms.Malformed)] (forms.read-all text))
    (assert (= #(e.value.line e.value.column) #(line column)))))

(defn test-reading-runs-nothing [tmp-path]
  "Forms that would act, if evaluated, are only data."
  (setv found (forms.read-one "(do (import os) (os.abort))"))
  (assert (same? found (Expression ['do (Expression ['import 'os]) (Expression [(Expression ['. 'os 'abort])])]))))
