"What a submitted line is, and what of it may run beside a turn. Pure: reads text, changes nothing.

`classify` gives {\"kind\" prompt, form, command or unknown, \"text\" what is recorded, \"source\" the form}. `beside` gives
{\"how\" tool, command or eval-now, ...} or None."

(import
  hy
  hy.models [Bytes Complex Dict Expression Float Integer Keyword List Set String Symbol Tuple]
  autolith.application [commands]
  autolith.tool [call-form registry])

(setv ATOMS #(String Bytes Integer Float Complex Keyword)
      COLLECTIONS #(List Dict Set Tuple)
      CONSTANTS #{"True" "False" "None"})

(defn classify [text]
  "Say what TEXT, one submitted input, means."
  (setv lead (.lstrip text))
  (cond
    (.startswith lead "//") {"kind" "prompt" "text" (.replace text "//" "/" 1)}
    (.startswith lead "(") {"kind" "form" "text" text "source" text}
    (.startswith lead "/") (_slash text (commands.slash-form (.strip text)))
    True {"kind" "prompt" "text" text}))

(defn _slash [text parsed]
  "Say what TEXT, a line that begins with a slash, means; PARSED is its slash form, if it is one."
  (cond
    (is parsed None) {"kind" "prompt" "text" text}
    (get parsed "known") {"kind" "command" "text" text "source" (get parsed "source") "name" (get parsed "name")}
    True {"kind" "unknown" "text" text "name" (get parsed "name")}))

(defn read-forms [source]
  "Return the forms of SOURCE as a list, or None where they cannot be read."
  (try
    (list (hy.read-many source))
    (except [Exception] None)))

(defn literal? [form]
  "Is FORM a value written out, with nothing to compute?"
  (cond
    (isinstance form ATOMS) True
    (isinstance form COLLECTIONS) (all (map literal? form))
    (isinstance form Symbol) (in (str form) CONSTANTS)
    True False))

(defn command-call [source]
  "Return the Command that SOURCE, one form, calls with literal arguments only; or None."
  (setv read (read-forms source))
  (when (and read (= (len read) 1) (isinstance (get read 0) Expression) (get read 0)
             (isinstance (get read 0 0) Symbol)
             (all (map literal? (cut (get read 0) 1 None))))
    (commands.find (str (get read 0 0)))))

(defn beside [source]
  "Say how SOURCE may run while a turn or a form is active, or return None where it has to wait."
  (setv call (call-form.literal-call source)
        command (when (is call None) (command-call source)))
  (cond
    (and call (beside? (get call 0))) {"how" "tool" "tool" (get call 0) "arguments" (get call 1)}
    (and command (!= (get command.traits "beside") "idle")) {"how" "command" "command" command.name}
    (eval-now? source) {"how" "eval-now"}
    True None))

(defn beside? [name]
  "May the tool NAME run beside a turn?"
  (setv tool (registry.find name))
  (or (is tool None) (bool (.get tool.traits "beside" True))))

(defn eval-now? [source]
  "Is SOURCE one top-level (eval-now ...) form?"
  (setv read (read-forms source))
  (and (is-not read None) (= (len read) 1) (isinstance (get read 0) Expression)
       (bool (get read 0)) (= (get read 0 0) (Symbol "eval-now"))))
