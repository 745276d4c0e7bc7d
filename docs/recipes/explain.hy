;; A command that asks the model: (explain "src/parser.py"), or /explain src/parser.py.
;;
;; `complete` is a side request: no tools, no record in the conversation.

(defcommand explain [path]
  "Ask the model for three sentences on the file at PATH."
  {"beside" "always" "slash" "remainder"}
  (complete (+ "Explain in three sentences what this file is for:\n\n" (read-file path))))
