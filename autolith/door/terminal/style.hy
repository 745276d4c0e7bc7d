"The roles that colour repeats, and what they look like. Every role is also told by a mark, a sign or a position.

A style string is `class:ROLE`. `theme` maps a role to a prompt_toolkit style; with NO_COLOR only the weight remains."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  locale
  autolith.state [settings])

(defparameter theme
  {"strong" "bold"  "stress" "italic"  "faint" "dim"
   "accent" "ansibrightmagenta"  "good" "ansigreen"  "bad" "ansibrightred"  "ask" "bold ansibrightmagenta"
   "string" "ansicyan"  "keyword" "ansibrightmagenta"  "definition" "bold"  "comment" "dim"
   "code" "ansicyan"  "match" "bold underline"  "chosen" "reverse"}
  "Role: prompt_toolkit style.")

(defparameter marks
  {"user" "❯ "  "form" "* "  "value" "= "  "call" "▸ "  "steering" "» "  "ok" "✓ "  "failed" "✗ "
   "question" "? "  "error" "! "  "note" "; "  "reasoning" "~ "  "dot" "∙"  "cut" "⋯"}
  "What stands in the margin, by who speaks.")

(defparameter ascii-marks
  (| marks {"user" "> "  "call" "@ "  "steering" ">>"  "ok" "+ "  "failed" "x "  "dot" "."  "cut" "..."})
  "The same where the locale cannot write the others.")

(setv MONO {"strong" "bold" "accent" "" "good" "" "bad" "" "ask" "bold" "string" "" "keyword" "" "code" ""})

(defn colourless? []
  "Did the user ask for no colour?"
  (in "NO_COLOR" os.environ))

(defn plain? []
  "Is the terminal, or the user, one that wants plain lines?"
  (or (settings.value "plain")
      (in (.get os.environ "TERM" "") ["" "dumb"])))

(defn unicode? []
  "Can the locale write the usual marks?"
  (in "utf" (.lower (.replace (or (locale.getpreferredencoding False) "") "-" ""))))

(defn mark [name]
  "Return the mark called NAME for this locale."
  (get (if (unicode?) marks ascii-marks) name))

(defn roles []
  "Return the map of roles to styles in force."
  (if (colourless?) (| theme MONO) theme))

(defn sheet []
  "Return the prompt_toolkit Style of the roles in force."
  (import prompt_toolkit.styles [Style])
  (Style.from-dict (dict (roles))))
