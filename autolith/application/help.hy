"Help: every operation with its signature and the first line of its docstring, from the declarations themselves.

An entry is {\"group\" str \"name\" str \"signature\" str \"doc\" str} and, in full, \"more\" and \"restarts\"."

(import
  difflib
  inspect
  autolith.application [commands surface]
  autolith.base [conditions]
  autolith.tool [registry])

(setv GROUPS ["Commands" "Local evaluation" "Tools"])

(defclass Unknown [conditions.AutolithError]
  "Help was asked for something that is not there."
  None)

(defn entries []
  "Return an entry for every operation, grouped."
  (+ (lfor command (commands.all-commands) (command-entry command))
     (lfor name (sorted surface.locals) (local-entry name))
     (lfor tool (registry.all-tools) (tool-entry tool.name))))

(defn command-entry [command]
  "Return the entry of COMMAND."
  (_entry "Commands" command.name (commands.lambda-list command.name command.signature) command.__doc__))

(defn local-entry [name]
  "Return the entry of NAME, a function or macro for local evaluation."
  (setv object (surface.resolve name))
  (_entry "Local evaluation" name (surface.signature name object) (surface.documentation name object)))

(defn tool-entry [name]
  "Return the entry of the tool NAME."
  (setv about (registry.describe name))
  (| (_entry "Tools" name (get about "signature") (get about "doc"))
     {"effect" (get about "effect") "restarts" (or (.get about "restarts") {})
      "file" (.get about "file") "line" (.get about "line")}))

(defn _entry [group name signature doc]
  "An entry with the first line of DOC apart from the rest."
  (setv [first _ more] (.partition (inspect.cleandoc (or doc "")) "\n"))
  {"group" group "name" name "signature" signature "doc" first "more" (.strip more)})

(defn overview []
  "Return the text of (help)."
  (setv all (entries) parts [])
  (for [group GROUPS]
    (setv rows (lfor e all :if (= (get e "group") group) e))
    (.append parts (.join "\n" [group #* (map _row rows)])))
  (.join "\n\n" parts))

(defn _row [entry]
  "ENTRY as one row of the overview."
  (setv signature (get entry "signature"))
  (if (> (len signature) 44)
    (.format "  {}\n  {}{}" signature (* " " 45) (get entry "doc"))
    (.format "  {} {}" (.ljust signature 44) (get entry "doc"))))

(defn about [name]
  "Return the text of (help NAME); NAME is text, a command, a tool, a function or a macro."
  (setv name (_name-of name)
        found (lfor e (entries) :if (= (get e "name") name) e))
  (if found
    (.join "\n\n" (map _whole found))
    (_unlisted name)))

(defn _name-of [x]
  "The name that X, text or an object, goes by."
  (setv name (if (isinstance x str) x (or (getattr x "name" None) (getattr x "__name__" None) (str x))))
  (.lstrip (hy.unmangle (str name)) "/"))

(defn _whole [entry]
  "Everything that ENTRY says."
  (setv head (.format "{}    {}{}" (get entry "signature") (.lower (get entry "group"))
                      (if (.get entry "effect") f", effect {(get entry "effect")}" ""))
        restarts (.get entry "restarts"))
  (.join "\n" (filter None
    [head (get entry "doc") (get entry "more")
     (if restarts (.format "Restarts: {}" (.join ", " (gfor [n s] (.items restarts) f"{n} ({s})"))) "")
     (if (.get entry "file") f"{(get entry "file")}:{(get entry "line")}" "")])))

(defn _unlisted [name]
  "Help for NAME, which is no operation: the names of a namespace, or the nearest names."
  (setv all (lfor e (entries) (get e "name"))
        inside (lfor e (entries) :if (.startswith (get e "name") (+ name ".")) e))
  (when inside (return (.join "\n" (map _row inside))))
  (setv near (difflib.get-close-matches name all 3 0.5))
  (raise (Unknown (.format "no operation is called {}{}; (help) lists them all"
                           name (if near (.format ", near: {}" (.join " " near)) "")))))
