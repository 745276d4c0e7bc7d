"The quick reader reads exactly what Hy's own reader reads, at the same places, and fails alike."

(import
  pytest
  hypothesis [given settings strategies :as st]
  hy
  hy.reader [HyReader]
  autolith.image [reading])

(defn places [form]
  "Return the places of FORM and of the forms in it."
  [form.start-line form.start-column form.end-line form.end-column
   (if (isinstance form hy.models.Sequence) (list (map places form)) None)])

(defn outcome [text reader]
  "Return the forms of TEXT with their places as READER reads them, or the error."
  (try
    (lfor form (hy.read-many text :reader reader) [(hy.repr form) (type form) (places form)])
    (except [e hy.reader.exceptions.LexException]
      [(type e) e.msg e.lineno e.offset])))

(setv TEXTS ["\"plain\"" "(f \"a\nb\n\" x)\n\"c\""
             "\"esc \\n \\\" \\\\ \\x41 \\u00e9 \\N{BULLET} é ☃\"" "\"bad \\q\""
             "\"\\x8\"" "\"open" "\"open \\\"" "\"crlf\r\n\r\""
             "; only" "; one\n(a) ; two\n;" "(a ; b)\n c)"
             "r\"\\d\" b\"x\" f\"{x} {(+ 1 \"in\")} y\"" "#[[x \"y]]" "\"\ud800\""
             "'\"q\" `(~\"z\" #_\"gone\" :k)"
             "f\"{\"a\" !r} = {x = }\"" "(\"a\"\"b\")" "\"\\\n\"" "\"tab\\t\" \"\" \"\"\n  \"\""])

(defn [(pytest.mark.parametrize "text" TEXTS)] test-texts-of-every-kind [text]
  "Strings with escapes, line ends and faults, comments, f-strings and what is around them are read alike."
  (assert (= (outcome text (reading.QuickReader)) (outcome text (HyReader)))))

(defn [(given (st.text :alphabet "ab\"\\;n\n\r {}()[]#frx'~é☃" :max-size 30))  (settings :max-examples 200 :deadline None)]
  test-any-text [text]
  "Whatever the text, both readers give the same forms at the same places, or the same error."
  (assert (= (outcome text (reading.QuickReader)) (outcome text (HyReader)))))

(defn test-long-texts-are-read-in-pieces []
  "A form with a megabyte of text, escapes among it, is whole."
  (setv text (* "some words, a \"quote\", a \\ and\na new line; " 25000)
        [form] (hy.read-many f"(prompt {(hy.repr text)})" :reader (reading.QuickReader)))
  (assert (= (str (get form 1)) text)))
