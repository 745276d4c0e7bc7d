"Colour for Hy forms, by Pygments' lexer. Pure: text in, fragments out; their texts joined are the text that came in."

(import
  functools [lru-cache])

(setv LIMIT 20000
      STYLES [#("Token.Literal.String.Symbol" "class:keyword")
              #("Token.Literal.String" "class:string")
              #("Token.Literal.Number" "")
              #("Token.Comment" "class:comment")
              #("Token.Keyword" "class:definition")
              #("Token.Name.Function" "class:strong")])

(defn [(lru-cache :maxsize 1)] lexer []
  "Return the Hy lexer, imported when first wanted."
  (import pygments.lexers.lisp [HyLexer])
  (HyLexer :stripnl False :ensurenl False))

(defn [(lru-cache :maxsize 256)] style-of [kind]
  "Return the style of the token KIND, given as text."
  (next (gfor [prefix style] STYLES :if (.startswith kind prefix) style) ""))

(defn [(lru-cache :maxsize 64)] fragments [text]
  "Return TEXT, Hy, as fragments; text that is very long, or on which the lexer fails, in one colour."
  (when (> (len text) LIMIT) (return [#("" text)]))
  (try
    (setv out (lfor [kind part] (.get-tokens (lexer) text) :if part #((style-of (str kind)) part)))
    (if (= (.join "" (gfor [_ part] out part)) text) out [#("" text)])
    (except [Exception] [#("" text)])))

(defn lines [text]
  "Return TEXT as one list of fragments a line."
  (setv out [[]])
  (for [[style part] (fragments text)]
    (setv [first #* others] (.split part "\n"))
    (when first (.append (get out -1) #(style first)))
    (for [line others]
      (.append out (if line [#(style line)] []))))
  out)
