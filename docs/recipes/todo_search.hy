;; A search tool of your own: the model and you call it by the same name, (notes.todos) or (notes.todos :word "FIX").
;;
;; A tool is a documented function. Its signature becomes the schema, its docstring the description.

(deftool notes.todos [* [word "LATER"] [limit 20]]
  "List the lines of the workspace that hold WORD, most 20 of them.

word: the text to look for
limit: how many lines at most"
  {"effect" "read"}
  (setv found (await (search.content :query word :max-results limit)))
  (or found.text f"no line holds {word}"))
