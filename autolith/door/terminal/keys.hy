"Which key has which action. A row is #(KEYS ACTION WHERE): KEYS as prompt_toolkit spells them, ACTION a function of `actions`, WHERE
\"\" for everywhere or the mode that it is for. `bind` and `unbind` change rows; the terminal reads them when it starts."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  inspect
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
   #("up" "up" "")
   #("down" "down" "")
   #("c-p" "up" "")
   #("c-n" "down" "")
   #("c-r" "search-history" "")
   #("c-s" "newer-found" "search")
   #("left" "left" "draft")
   #("right" "right" "draft")
   #("c-b" "left" "draft")
   #("c-f" "right" "draft")
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

(defn manual []
  "Return the keys with what they do, one a line."
  (.join "\n" (lfor [keys action where] bindings
                (.format "{:<18} {:<16} {}" keys action
                         (get (.split (or (inspect.getdoc (getattr actions (hy.mangle action))) "") "\n") 0)))))

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
