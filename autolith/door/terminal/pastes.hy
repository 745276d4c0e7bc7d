"Long pastes: a placeholder in the draft, the text beside it. An untouched placeholder is sent as what it stands for."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  autolith.base [text :as prose])

(defparameter line-limit 30 "A paste of more lines stands as a placeholder.")
(defparameter size-limit 2000 "A paste of more characters stands as a placeholder.")

(defn entered [desk text]
  "Return what goes into the draft of DESK for the paste TEXT."
  (setv text (prose.repair text) lines (+ 1 (.count text "\n")))
  (if (and (<= lines line-limit) (<= (len text) size-limit))
    text
    (do
      (setv name (.format "[Paste #{}: {}, {}]" (+ 1 (len desk.pastes)) (prose.count lines "line")
                          (prose.size (len (.encode text "utf-8" "replace")))))
      (setv (get desk.pastes name) text)
      name)))

(defn expand [desk text]
  "Return TEXT with the placeholders of DESK replaced by what they stand for."
  (for [[name whole] (.items desk.pastes)]
    (setv text (.replace text name whole)))
  text)
