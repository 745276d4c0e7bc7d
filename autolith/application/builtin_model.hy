"The commands about the model's window and what it costs: (compact) and (usage)."

(eval-when-compile (require autolith.application.macros [defcommand]))
(import
  autolith.agent [compaction tokens :as estimate usage :as spending]
  autolith.application [commands running session]
  autolith.base [text threads])

(defcommand compact [[focus None]]
  "Replace the conversation so far by a summary of it, which FOCUS, a text, may tell what to keep above all; the last message stays."
  {"beside" "idle" "slash" "remainder"}
  (setv s (session.get-current))
  (when (is s.conversation None)
    (raise (compaction.NothingToCompact "there is no conversation yet, so there is nothing to compact")))
  (when s.turn
    (raise (compaction.CompactionFailed "a turn is running; it compacts by itself when it is time, and (compact) works after it")))
  (defn :async run [] (await (compaction.compact (running.agent-of s) "asked" focus)))
  (setv record (threads.on-loop (run)))
  (commands.Text (compacted-words record (estimate.needed (running.agent-of s)))))

(defn compacted-words [record now]
  "Return in words what the summary RECORD did; the next request needs NOW tokens."
  (.format "{} tokens became {}; the whole stays on the disk"
           (text.tokens (get record "tokens")) (text.tokens now)))

(defcommand usage []
  "Show the tokens that this conversation used, by model, how many of them came from the provider's cache, and the cost where prices are known."
  {"beside" "always"}
  (setv s (session.get-current)
        found (if s.conversation (spending.totals s.conversation) {}))
  (commands.Text (if found (usage-text found) "nothing was used yet")))

(defn usage-text [totals]
  "Return TOTALS as a table, with a sum where there is more than one row."
  (setv rows (lfor [name counts] (.items totals) (usage-row name counts (price-of name counts)))
        sum-of (dfor key ["requests" #* spending.COUNTS] key (sum (gfor c (.values totals) (get c key))))
        prices (lfor [name counts] (.items totals) (price-of name counts))
        whole (if (any (gfor p prices (is p None))) None (sum prices)))
  (.join "\n" (columns [["" "requests" "in" "cached" "out" "reasoning" "cost"]
                        #* rows
                        #* (if (> (len rows) 1) [(usage-row "together" sum-of whole)] [])])))

(defn price-of [name counts]
  "Return what COUNTS cost with the model NAME, provider/model, or None."
  (spending.cost (get (.partition name "/") 2) counts))

(defn usage-row [name counts cost]
  "Return the cells of a row: NAME, its COUNTS and what they COST."
  (setv share (spending.share counts))
  [name (str (get counts "requests")) (text.tokens (get counts "input"))
   (+ (text.tokens (get counts "cached")) (if (is share None) "" f" ({share}%)"))
   (text.tokens (get counts "output")) (text.tokens (get counts "reasoning"))
   (if (is cost None) "unknown" f"${cost :.4f}")])

(defn columns [rows]
  "Return ROWS, lists of texts, as aligned lines."
  (setv widths (lfor column (zip #* rows) (max (map len column))))
  (lfor row rows
        (.rstrip (.join "  " (gfor [i cell] (enumerate row)
                                   (if i (.rjust cell (get widths i)) (.ljust cell (get widths i))))))))
