"Read and write data forms: the text of every durable file, valid Hy and close to EDN.

A value is None, True, False, an integer, a float, a string, bytes, a Keyword, a Symbol, a list [..], a tuple #(..),
a set #{..}, an Expression (..) or a dict {..} of values. A key that is a keyword on disk is its mangled string in memory:
{:start-line 1} is {\"start_line\" 1}; any other key is written as it is. EDN's nil, true, false are read too.

Reading never evaluates and knows no reader macro. Text is bounded in size, tokens and depth, in both directions.
What `write` gives reads back equal, here and by `hy.read`; what would not is refused."

(import
  ast
  math
  re
  json.decoder [scanstring]
  json.encoder [encode-basestring]
  hy.models [Bytes Dict Expression Float Integer Keyword List Set String Symbol Tuple])

(setv MAX-DEPTH 200                                      ; hy.read itself gives up at 246
      MAX-SIZE (* 64 1024 1024)                          ; characters
      MAX-TOKENS 4_000_000
      WIDTH 100
      LONG 200)                                          ; a string that is read on the way

(defclass Malformed [ValueError]
  "The text is not data; LINE and COLUMN, where known, say where."
  (defn __init__ [self reason [line None] [column None]]
    (.__init__ (super) (if line f"line {line}, column {column}: {reason}" reason))
    (setv self.reason reason  self.line line  self.column column)))

(defclass Premature [Malformed]
  "The text ends within a form.")

(defclass Unwritable [TypeError]
  "The value has no form that reads back equal.")


;; * Tokens

(setv _TOKEN (re.compile #[re[
        "[^"\\]*+(?:\\.[^"\\]*+)*+"  |  b"[^"\\]*+(?:\\.[^"\\]*+)*+"      # string, bytes: possessive, so linear
      | :[^ \t\n\r\f\v()\[\]{}"';`~\#,@]++"?  |  [\[\](){}] | \#[({]      # keyword, brackets
      | ;[^\n]*  |  [^ \t\n\r\f\v()\[\]{}"';`~\#,@]++"?                   # comment; number, constant, symbol
      | [^ \t\n\r\f\v]                                                    # whatever else is a fault
      ]re] (| re.VERBOSE re.DOTALL))
      _CONSTANTS {"None" None  "True" True  "False" False  "nil" None  "true" True  "false" False
                  "NaN" math.nan  "Inf" math.inf  "-Inf" (- math.inf)}
      _CLOSE {"[" "]"  "(" ")"  "{" "}"  "#(" ")"  "#{" "}"}
      _HEX (re.compile r"[+-]?0[xX][0-9a-fA-F]+\Z")
      _ESCAPES (re.compile #[re[(?:[^\\]|\\(?:[\\'"abfnrtv\n]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]+\}))*\Z]re])
      _NUMBER (re.compile r"[+-]?(?:0|[1-9]\d*|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)\Z" re.ASCII)
      _NAME (re.compile r"(?![+-]?(?:\d|Inf\Z))[\w?!*+<>=/&%$|-]+(?:\.(?!\d)[\w?!*+<>=/&%$|-]+)*\Z")
      _KEYWORD (re.compile r"[\w?!*+<>=/&%$|-]+\Z")
      _FOREIGN (re.compile #[re[[^\\]*+(?:\\(?!/|u[dD]).[^\\]*+)*+\\]re] re.DOTALL)
      _LONE (re.compile "[\ud800-\udfff]")
      _BEFORE-STRING " \n\t\f\v[](){}"
      _CACHED 4000)

(defclass _Mangled [dict]
  "From the name of a keyword to the key that stands for it."
  (defn __missing__ [self name]
    (setv key (hy.mangle name))
    (when (< (len self) _CACHED)
      (setv (get self name) key))
    key))

(setv _known (dict _CONSTANTS)
      _mangled (_Mangled)
      _absent (object))

(defn _literal [token]
  "Return what the string or bytes TOKEN denotes by Python's rules, which are Hy's."
  (when (not (.match _ESCAPES token))
    (raise (Malformed "an unknown escape in a string")))
  (setv [prefix body] (if (.startswith token "b") ["b" (cut token 1 None)] ["" token]))
  (try
    (ast.literal-eval (+ prefix "\"\"" body "\"\""))     ; three quotes, for the sake of newlines
    (except [e [SyntaxError ValueError]]
      (raise (Malformed f"a string that cannot be read: {e}") :from None))))

(defn _differs? [text start end value]
  "Tell whether the string from START to END of TEXT has an escape that JSON, which read VALUE, takes otherwise than Hy: a
slash, a surrogate."
  (and (or (>= (.find text "\\/" start end) 0) (and (not (.isascii value)) (>= (.find text "\\u" start end) 0)))
       (bool (.match _FOREIGN text start end))))

(defn _string [token]
  "Return what TOKEN, a string with a backslash, denotes."
  (try
    (setv [value end] (scanstring token 1 False))
    (except [ValueError]
      (return (_literal token))))
  (if (_differs? token 1 end value) (_literal token) value))

(defn _number [token]
  "Return the number that TOKEN, which looks like one, denotes."
  (try
    (int token)
    (except [ValueError]
      (when (.isdigit (.lstrip token "+-"))
        (raise (Malformed "an integer of too many digits; write it in hexadecimal") :from None))
      (float token))))

(defn _name [token]
  "Return the Keyword, Symbol or dotted name that TOKEN is."
  (try
    (cond
      (= (get token 0) ":") (Keyword (cut token 1 None))
      (in "." token) (Expression (map Symbol [#* "." #* (.split token ".")]))      ; as hy.read has it
      True (Symbol token))
    (except [e ValueError]                               ; `+J` is a complex number to Hy
      (raise (Malformed f"unexpected {token !r}") :from None))))

(defn _atom [token]
  "Return the value of TOKEN, which is neither a string nor a bracket."
  (cond
    (.match _NUMBER token) (_number token)
    (.match _HEX token) (int token 16)
    (in token #("\"" "b\"")) (raise (Premature "a string without its end"))
    (.startswith token "b\"") (_literal token)
    (= (get token 0) ":") (if (.match _KEYWORD token 1) (_name token) (raise (Malformed f"unexpected {token !r}")))
    (= token ".") '.
    (.match _NAME token) (_name token)
    True (raise (Malformed f"unexpected {token !r}"))))

(defn _remember [token value]
  "Return VALUE, keeping it for the next such TOKEN: a Symbol costs 10 us to make, a look-up 0.03."
  (when (and (< (len _known) _CACHED) (< (len token) 32))
    (setv (get _known token) value))
  value)


;; * Reading

(defn _as-map [items]
  "Return the dict whose keys and values alternate in ITEMS."
  (setv found (dict (zip (lfor k (cut items 0 None 2) (if (is (type k) Keyword) (get _mangled k.name) k))
                         (cut items 1 None 2))))
  (when (!= (* 2 (len found)) (len items))
    (raise (Malformed (if (% (len items) 2) "a key without a value" "a key twice in a map"))))
  found)

(defn _as-set [items]
  "Return the set of ITEMS."
  (setv found (set items))
  (when (!= (len found) (len items))
    (raise (Malformed "an element twice in a set")))
  found)

(setv _MAKE {"[" (fn [items] items)  "(" Expression  "{" _as-map  "#(" tuple  "#{" _as-set})

(defn _parse [tokens]
  "Return the forms that TOKENS spell: one loop, no recursion."
  (setv items []  stack []  push items.append  known _known.get  absent _absent)
  (for [token tokens]
    (setv c (get token 0))
    (if (and (= c "\"") (!= token "\""))
      (push (if (in "\\" token) (_string token) (cut token 1 -1)))
      (do
        (setv value (known token absent))
        (cond
          (is-not value absent) (push value)
          (in token _CLOSE) (do (.append stack #(items push (get _CLOSE token) (get _MAKE token)))
                                (when (> (len stack) MAX-DEPTH)
                                  (raise (Malformed f"nested deeper than {MAX-DEPTH}")))
                                (setv items []  push items.append))
          (in c "])}") (do (when (not stack)
                             (raise (Malformed f"{c} without its opening bracket")))
                           (setv inner items  [items push close make] (.pop stack))
                           (when (!= c close)
                             (raise (Malformed f"{c} where {close} was due")))
                           (push (make inner)))
          (= c ";") None
          (= c "\0") (push (cut token 1 None))            ; see `_tokens`
          True (push (_remember token (_atom token)))))))
  (when stack
    (raise (Premature f"{(get stack -1 2)} is missing")))
  items)

(defn _guarded [tokens]
  "Return the forms that TOKENS spell; an unhashable key or element is Malformed too."
  (try
    (_parse tokens)
    (except [e TypeError]
      (raise (Malformed f"cannot be a key or an element: {e}") :from None))))

(defn _placed [text error]
  "Return ERROR, which TEXT caused, as one that tells its line and column, found by reading again."
  (setv at 0  opened [])
  (defn tokens []
    (nonlocal at)
    (for [m (.finditer _TOKEN text)]
      (setv at (.start m)  token (.group m))
      (cond
        (in token _CLOSE) (.append opened at)
        (and opened (in token #("]" ")" "}"))) (.pop opened))
      (yield token)))
  (try
    (_guarded (tokens))
    (except [e Malformed]
      (when (and opened (isinstance e Premature) (!= e.reason "a string without its end"))
        (setv at (get opened -1)))
      (return ((type e) e.reason (+ 1 (.count text "\n" 0 at)) (- at (.rfind text "\n" 0 at))))))
  error)

(defn _normal [text]
  "Return TEXT without a byte-order mark, its line ends those of Hy; refuse one that is too long."
  (when (> (len text) MAX-SIZE)
    (raise (Malformed f"{(len text)} characters, more than {MAX-SIZE}")))
  (when (in "\0" text)
    (raise (Malformed "a NUL character")))
  (when (.startswith text "\ufeff")
    (setv text (cut text 1 None)))
  (if (in "\r" text)
    (.replace (.replace text "\r\n" "\n") "\r" "\n")
    text))

(defn _tokens [text]
  "Return the tokens of TEXT. Long strings are read on the way, each a token of NUL and its value: so that C code looks at
their characters once."
  (setv found []  from-here 0  at 0  find text.find)
  (when (< (len text) LONG)
    (return (.findall _TOKEN text)))
  (while True
    (setv quote (find "\"" at)
          end (find "\"" (+ quote 1)))
    (cond
      (< quote 0) (do (.extend found (.findall _TOKEN (cut text from-here None)))
                      (return found))
      (and (< (- end quote) LONG) (>= end 0) (!= (get text (- end 1)) "\\")) (setv at (+ end 1))
      True (do (setv before (cut text from-here quote)
                     at (_scan text quote before found)
                     from-here at)
               (when (is at None)
                 (return (.findall _TOKEN text)))))))

(defn _scan [text quote before found]
  "Add to FOUND the tokens of BEFORE, the text up to QUOTE, and the string there. Return where that ends; None if it needs care:
when it may be in a comment, have a prefix, or be none to JSON."
  (when (or (in ";" before) (and before (not-in (get before -1) _BEFORE-STRING)))
    (return None))
  (try
    (setv [value end] (scanstring text (+ quote 1) False))
    (except [ValueError]
      (return None)))
  (when (and (!= (len value) (- end quote 2)) (_differs? text quote end value))
    (return None))
  (.extend found (.findall _TOKEN before))
  (.append found (+ "\0" value))
  end)

(defn read-all [text]
  "Return the list of the forms in TEXT. Raises Malformed, or Premature when more text could make it whole."
  (setv text (_normal text)
        tokens (_tokens text))
  (when (> (len tokens) MAX-TOKENS)
    (raise (Malformed f"{(len tokens)} tokens, more than {MAX-TOKENS}")))
  (try
    (_guarded tokens)
    (except [e Malformed]
      (raise (_placed text e) :from None))))

(defn read-one [text]
  "Return the value of the only form in TEXT."
  (setv found (read-all text))
  (match (len found)
    1 (get found 0)
    0 (raise (Premature "no form"))
    n (raise (Malformed f"{n} forms where one was due"))))


;; * Writing

(defn _key-text [key]
  "Return how the string KEY of a map is written: as a keyword, if it is one's mangled name."
  (when (.isidentifier key)
    (setv name (hy.unmangle key))
    (when (and (.match _KEYWORD name) (= (hy.mangle name) key))
      (return (+ ":" name))))
  (_write-string key 0))

(defclass _KeyTexts [dict]
  "From a string key to how it is written."
  (defn __missing__ [self key]
    (setv text (_key-text key))
    (when (and (< (len self) _CACHED) (< (len key) 64))
      (setv (get self key) text))
    text))

(setv _key-texts (_KeyTexts))

(defn _unwritable [value]
  "Return the refusal of VALUE."
  (Unwritable f"a value of type {(. (type value) __qualname__)} cannot be written as data; convert it first"))

(defn _write-string [value depth]
  "Return the string VALUE as text; a lone surrogate by its escape."
  (setv text (encode-basestring value))
  (try
    (when (not (.isascii value))
      (.encode value))
    text
    (except [UnicodeEncodeError]
      (.sub _LONE (fn [m] (.format "\\u{:04x}" (ord (.group m)))) text))))

(defn _write-bytes [value depth]
  "Return the bytes VALUE as text."
  (setv inner (cut (repr (+ b"\"" value)) 3 -1))          ; with a double quote inside, Python quotes by single ones
  (+ "b\"" (.replace inner "\"" "\\\"") "\""))

(defn _write-integer [value depth]
  "Return the integer VALUE as text, in hexadecimal where Python refuses decimals."
  (try
    (str value)
    (except [ValueError]
      (hex value))))

(defn _write-float [value depth]
  "Return the float VALUE as text."
  (cond
    (!= value value) "NaN"
    (= value math.inf) "Inf"
    (= value (- math.inf)) "-Inf"
    True (repr value)))

(defn _write-symbol [value depth]
  "Return the Symbol VALUE as text, if that reads as this symbol."
  (setv text (str value))
  (try
    (when (and (or (= text ".") (not-in "." text)) (= (read-one text) value))
      (return text))
    (except [Malformed]))
  (raise (Unwritable f"a symbol named {text !r} would not read back")))

(defn _write-keyword [value depth]
  "Return the Keyword VALUE as text, if that reads as this keyword."
  (when (not (.match _KEYWORD value.name))
    (raise (Unwritable f"a keyword named {value.name !r} would not read back")))
  (+ ":" value.name))

(defn _write-items [items depth]
  "Return ITEMS, which lie in a bracket at DEPTH, as text."
  (when (>= depth MAX-DEPTH)
    (raise (Unwritable f"nested deeper than {MAX-DEPTH}")))
  (.join " " (lfor item items (_write item (+ depth 1)))))

(defn _write-key [key depth]
  "Return the KEY of a map, which is no string, as text."
  (when (is (type key) Keyword)
    (raise (Unwritable f"the keyword :{key.name} as a key would read back as a string; use the string {(hy.mangle key.name) !r}")))
  (_write key depth))

(defn _write-map [value depth]
  "Return the dict VALUE as text."
  (when (>= depth MAX-DEPTH)
    (raise (Unwritable f"nested deeper than {MAX-DEPTH}")))
  (setv inner (+ depth 1)  parts [])
  (for [[k v] (.items value)]
    (.append parts (if (is (type k) str) (get _key-texts k) (_write-key k inner)))
    (.append parts (if (is (type v) str) (_write-string v inner) (_write v inner))))
  (+ "{" (.join " " parts) "}"))

(defn _write-set [value depth]
  "Return the set VALUE as text, in an order that depends on its elements only."
  (when (>= depth MAX-DEPTH)
    (raise (Unwritable f"nested deeper than {MAX-DEPTH}")))
  (+ "#{" (.join " " (sorted (gfor item value (_write item (+ depth 1))))) "}"))

(setv _WRITERS {str _write-string  bytes _write-bytes  int _write-integer  float _write-float  Symbol _write-symbol
                Keyword _write-keyword  dict _write-map  set _write-set
                bool (fn [value depth] (if value "True" "False"))
                (type None) (fn [value depth] "None")
                list (fn [value depth] (+ "[" (_write-items value depth) "]"))
                tuple (fn [value depth] (+ "#(" (_write-items value depth) ")"))
                Expression (fn [value depth] (+ "(" (_write-items value depth) ")"))})

(defn _write [value depth]
  "Return VALUE, which lies DEPTH brackets deep, as text."
  (setv writer (.get _WRITERS (type value)))
  (when (is writer None)
    (raise (_unwritable value)))
  (writer value depth))

(defn write [value]
  "Return VALUE as the text of one form on one line. Raises Unwritable where it would not read back equal."
  (setv text (_write value 0))
  (when (or (> (len text) MAX-SIZE)
            (and (> (len text) MAX-TOKENS) (> (len (.findall _TOKEN text)) MAX-TOKENS)))
    (raise (Unwritable f"a form of {(len text)} characters is too large")))
  text)


;; * For people

(defn pretty [value [width WIDTH]]
  "Return VALUE as text laid out for people, about WIDTH columns wide; it reads back equal."
  (_lay-out value 0 width))

(defn _lay-out [value column width]
  "Return VALUE as text that begins at COLUMN and stays within WIDTH where it can."
  (setv line (write value))
  (when (or (<= (+ column (len line)) width) (not-in (type value) #(dict list tuple Expression set)) (not value))
    (return line))
  (setv opening (cond (= (get line 0) "#") (cut line 2) True (cut line 1))
        inner (+ column (len opening))
        rows (cond
               (is (type value) dict) (lfor [k v] (.items value) (_lay-out-pair k v inner width))
               (is (type value) set) (sorted (gfor item value (_lay-out item inner width)))
               True (lfor item value (_lay-out item inner width))))
  (+ opening (.join (+ "\n" (* " " inner)) rows) (get line -1)))

(defn _lay-out-pair [key value column width]
  "Return the text of KEY and VALUE of a map, beginning at COLUMN."
  (setv text (if (is (type key) str) (get _key-texts key) (_write-key key 0)))
  (+ text " " (_lay-out value (+ column (len text) 1) width)))


;; * Models

(setv _PLAIN {String str  Bytes bytes  Integer int  Float float})

(defn plain [form]
  "Return FORM, which may hold Hy's models as `hy.read` gives them, as a value that `write` takes."
  (setv kind (type form))
  (cond
    (in kind _PLAIN) ((get _PLAIN kind) form)
    (and (is kind Symbol) (in (str form) _CONSTANTS)) (get _CONSTANTS (str form))
    (in kind #(list List)) (lfor x form (plain x))
    (in kind #(tuple Tuple)) (tuple (gfor x form (plain x)))
    (in kind #(set Set)) (sfor x form (plain x))
    (is kind Expression) (Expression (gfor x form (plain x)))
    (is kind Dict) (_as-map (lfor x form (plain x)))
    (is kind dict) (dfor [k v] (.items form) (if (is (type k) Keyword) (get _mangled k.name) (plain k)) (plain v))
    True form))
