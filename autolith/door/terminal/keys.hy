"Which key has which action. A row is #(KEYS ACTION WHERE): KEYS as prompt_toolkit spells them, ACTION a function of `actions`, WHERE
\"\" for everywhere or the mode that it is for. `bind` and `unbind` change rows; the terminal reads them when it starts."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  inspect
  autolith.application [commands]
  autolith.door.terminal [actions])

(defonce bindings
  [#("enter" "enter" "")
   #("escape enter" "newline" "")
   #("c-j" "newline" "")
   #("tab" "tab" "")
   #("s-tab" "back-tab" "")
   #("c-c" "interrupt" "")
   #("c-d" "delete-or-leave" "")
   #("c-x c-c" "leave" "")
   #("c-z" "suspend" "")
   #("c-l" "redraw" "")
   #("escape a" "answer-list" "")
   #("c-x a" "answer-list" "")
   #("escape q" "reindent" "")
   #("c-x c-j" "run-beside" "")
   #("c-x c-e" "edit-draft" "")
   #("up" "up" "")
   #("down" "down" "")
   #("c-p" "up" "")
   #("c-n" "down" "")
   #("c-r" "search-history" "")
   #("c-s" "newer-found" "search")
   #("left" "left" "")
   #("right" "right" "")
   #("c-b" "left" "")
   #("c-f" "right" "")
   #("c-h" "delete-back" "")
   #("delete" "delete-forward" "")
   #("<bracketed-paste>" "paste" "")
   #("<any>" "list-key" "list")]
  "The rows in force.")

(defn bind [keys action [where ""]]
  "Give KEYS the ACTION in the mode WHERE; return nothing. It holds from the next start of the terminal on."
  (when (not (callable (getattr actions (hy.mangle action) None)))
    (raise (ValueError f"there is no action {action}; (keys) lists them")))
  (unbind keys where)
  (.append bindings #(keys action where))
  None)

(defn unbind [keys [where ""]]
  "Take the action from KEYS in the mode WHERE."
  (setv (cut bindings 0 None) (lfor row bindings :if (!= #((get row 0) (get row 2)) #(keys where)) row))
  None)

(defn spelled [keys]
  "Return KEYS as people write them: C-x a, M-a, S-Tab, Enter."
  (setv words [])
  (for [key (.split (.replace keys "escape " "M-"))]
    (setv [prefix _ name] (.rpartition key "-"))
    (.append words (cond
                     (= key "<bracketed-paste>") "a paste"
                     (= key "<any>") "any letter"
                     (> (len name) 1) (+ (.upper prefix) (if prefix "-" "") (.capitalize name))
                     True (+ (.upper prefix) (if prefix "-" "") name))))
  (.join " " words))

(defn manual [[key None]]
  "List the keys and what each does; with KEY, spelled as \"C-x a\", that one."
  (setv rows (lfor [keys action where] [#* bindings #("escape" "escape" "")]
               :setv name (spelled keys)
               :if (or (is key None) (= (.lower name) (.lower key)))
               (.format "{:<12} {:<16} {}{}" name action (summary action) (if where f" (in the {where})" ""))))
  (commands.Text
    (if rows (.join "\n" rows) f"{key} has no action of the terminal's own; (keys) lists those that have")))

(defn summary [action]
  "Return the first sentence that is documented about ACTION."
  (get (.split (or (inspect.getdoc (getattr actions (hy.mangle action))) "") "\n") 0))

(defn offer []
  "Make `manual` known as the command (keys)."
  (commands.enter "keys" manual {"beside" "always" "slash" "remainder"})
  None)

(defn table [desk]
  "Return the KeyBindings of prompt_toolkit for DESK."
  (import prompt_toolkit.filters [Condition] prompt_toolkit.key-binding [KeyBindings])
  (setv kb (KeyBindings))
  (for [[keys action where] bindings]
    ((.add kb #* (.split keys) :filter (Condition (fn [[where where]] (in where ["" desk.mode]))))
      (handler desk action)))
  ;; Esc at once, unless it came together with what makes it a Meta key
  ((.add kb "escape" :eager (Condition (fn [] (not desk.app.key-processor.input-queue))))
    (handler desk "escape"))
  kb)

(defn handler [desk action]
  "Return the function that prompt_toolkit calls for ACTION, looked up anew each time; one that raises is told of."
  (fn [event]
    (try
      ((getattr actions (hy.mangle action)) desk event)
      (except [e Exception]
        (.tell desk f"{action} raised {(. (type e) __name__)}: {e}")))
    None))
