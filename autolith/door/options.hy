"The command line: one table, from which parsing and --help come.

`parse` gives a map of what was asked: {\"command\" str \"arguments\" [str] \"forms\" [str] \"images\" [path] \"provider\" ... and
the flags}, or raises UsageError. Standard library only, and little of it: this runs at every start."

(setv OPTIONS
  ;; name, short, value name or None, repeatable, sentence
  [["eval" "-e" "FORMS" True "evaluate FORMS, print the value of each top-level form; may be repeated"]
   ["print" "-p" "[TEXT]" False "one turn for TEXT (or standard input), the answer on standard output"]
   ["continue" "-c" None False "resume the newest conversation of this directory"]
   ["events" None "[json]" False "with -p: print every event as a form (or as JSON) a line instead"]
   ["provider" None "NAME" False "use this provider"]
   ["model" None "NAME" False "use this model"]
   ["effort" None "LEVEL" False "reasoning effort"]
   ["permissions" None "MODE" False "ask, auto, sandbox, full or plan (plan: read only)"]
   ["immutable" None None False "no tool may change the running program"]
   ["cwd" None "DIR" False "work in DIR"]
   ["image" "-i" "FILE" True "send this image with the first message; may be repeated"]
   ["refresh" None None False "with models: ask the providers anew"]
   ["no-init" None None False "ignore every init.hy but the packaged one"]
   ["version" None None False "print the version"]
   ["help" None None False "print this"]])

(setv COMMANDS
  ;; name, arguments, sentence, most arguments
  [["resume" "[ID]" "resume a conversation, or the newest of this directory" 1]
   ["conversations" "" "list the conversations, newest first" 0]
   ["models" "[PROVIDER]" "list the models that are known, or all of one provider" 1]
   ["auth" "[PROVIDER [HOW]]" "list where keys come from; store one, sign in, import, forget" 2]
   ["doctor" "" "say what is installed, missing, misconfigured" 0]])

(setv MODES ["ask" "auto" "sandbox" "full" "plan"])

(defclass UsageError [Exception]
  "The command line cannot be understood; the message says what was wrong and what to do."
  None)

(defn _option [word]
  "The row of the option WORD, as typed, or None."
  (for [row OPTIONS]
    (when (in word [(+ "--" (get row 0)) (get row 1)])
      (return row))))

(defn parse [argv]
  "Return what ARGV, the words after the program's name, ask for."
  (setv asked {"command" None "arguments" []} words (list argv))
  (while words
    (setv word (.pop words 0))
    (cond
      (= word "--") (do (.extend (get asked "arguments") words) (setv words []))
      (and (.startswith word "-") (> (len word) 1)) (_take-option asked word words)
      (and (is (get asked "command") None) (not (get asked "arguments")) (_command word))
        (setv (get asked "command") word)
      True (.append (get asked "arguments") word)))
  (_check asked))

(defn _command [word]
  "The row of the sub-command WORD, or None."
  (next (gfor row COMMANDS :if (= (get row 0) word) row) None))

(defn _take-option [asked word words]
  "Enter the option WORD in ASKED, taking its value off the front of WORDS."
  (setv [name equals value] (.partition word "=")
        row (_option (if equals name word)))
  (when (is row None)
    (raise (UsageError f"unknown option {word}{(_nearest word)}; autolith --help lists the options")))
  (setv key (get row 0) takes (get row 2) repeatable (get row 3))
  (cond
    (is takes None)
      (do (when equals (raise (UsageError f"{name} takes no value")))
          (setv (get asked key) True))
    (.startswith takes "[")
      (setv (get asked key) (if equals value (_optional takes words)))
    True
      (do (when (and (not equals) (not words)) (raise (UsageError f"{word} needs {takes}")))
          (setv value (if equals value (.pop words 0)))
          (if repeatable
            (.append (.setdefault asked key []) value)
            (setv (get asked key) value)))))

(defn _optional [takes words]
  "The value of an option whose value may be missing, or the empty text."
  (cond
    (not words) ""
    (= takes "[json]") (if (= (get words 0) "json") (.pop words 0) "")
    (or (= (get words 0) "-") (not (.startswith (get words 0) "-"))) (.pop words 0)
    True ""))

(defn _nearest [word]
  "A hint at the option that WORD may have meant, or nothing."
  (import difflib)
  (setv near (difflib.get-close-matches word (lfor row OPTIONS (+ "--" (get row 0))) 1 0.6))
  (if near f" (did you mean {(get near 0)}?)" ""))

(defn _check [asked]
  "Return ASKED, or raise UsageError where its parts contradict each other."
  (setv command (get asked "command") arguments (get asked "arguments") row (and command (_command command)))
  (when (and (not row) arguments)
    (raise (UsageError (.format "unknown command {}; autolith --help lists the commands, and -p \"{}\" asks the model"
                                (get arguments 0) (.join " " arguments)))))
  (when (and row (> (len arguments) (get row 3)))
    (raise (UsageError f"{command} takes at most {(get row 3)} argument(s), got {(.join " " arguments)}")))
  (when (and (in "refresh" asked) (!= command "models"))
    (raise (UsageError "--refresh goes with autolith models")))
  (when (and (in "events" asked) (not-in "print" asked))
    (raise (UsageError "--events goes with -p")))
  (when (not-in (.get asked "events" "") ["" "json"])
    (raise (UsageError "--events prints forms, --events json prints JSON lines")))
  (when (and (in "print" asked) (in "eval" asked))
    (raise (UsageError "-e and -p do not go together")))
  (when (and (in "permissions" asked) (not-in (get asked "permissions") MODES))
    (raise (UsageError f"--permissions is one of {(.join ", " MODES)}")))
  asked)

(defn help-text []
  "Return what --help prints."
  (setv rows (+ ["autolith starts a session in this directory; the prompt takes prose and Hy forms." ""
                 "Commands"]
                (lfor [name arguments doc _] COMMANDS (_row f"autolith {name} {arguments}" doc))
                [(_row "autolith --recovery" "look at a crash, list conversations, go on") "" "Options"]
                (lfor [name short takes _ doc] OPTIONS
                  (_row (+ (if short (+ short ", ") "    ") "--" name (if takes (+ " " takes) "")) doc))
                ["" "Exit status: 0 done, 1 the form or turn failed, 64 usage, 70 crash, 130 interrupted, 143 terminated."]))
  (+ (.join "\n" rows) "\n"))

(defn _row [left right]
  "One row of the help text."
  (+ "  " (.ljust left 30) " " right))
