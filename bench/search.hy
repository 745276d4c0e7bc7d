"search.content against ripgrep itself, on a generated tree: `python -m hy bench/search.hy`.

The budget is 1.2 times what `rg` takes with the same options to the same answer, and 15 ms."

(import
  os
  subprocess
  sys
  tempfile)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(import
  autolith.base [threads]
  autolith.tool [context registry]
  autolith.work [ripgrep]
  bench [_measure :as measure])

(setv FILES 4000
      LINES 150
      LINE "    result = transform(value, index) + offset  # the usual line of a program\n"
      QUERIES {"rare" "needle in the hay" "none" "absent from the tree" "common" "transform"})

(defn grow [root]
  "Fill the folder ROOT with a tree of source files, a rare line in some."
  (for [i (range FILES)]
    (setv folder (os.path.join root f"room{(% i 40)}" f"shelf{(% i 7)}"))
    (os.makedirs folder :exist-ok True)
    (with [f (open (os.path.join folder f"file{i}.py") "w")]
      (.write f (* LINE LINES))
      (when (= 0 (% i 500)) (.write f "# needle in the hay\n")))))

(defn ours [root query]
  "Search ROOT for QUERY with the tool, as code calls it."
  (threads.on-loop (registry.call "search.content" {"query" query} (context.ToolContext :cwd root))))

(defn theirs [root query]
  "Search ROOT for QUERY with ripgrep, its output read whole."
  (subprocess.run [(ripgrep.find) "--no-config" "--line-number" "--column" "--with-filename" "--color=never"
                   "--fixed-strings" "--smart-case" "--max-count=21" query "./"]
                  :cwd root :stdin subprocess.DEVNULL :capture-output True))

(defn compare [root kind]
  "Print the row for the query of KIND; return whether the budget was kept."
  (setv query (get QUERIES kind)
        [a b] (measure.best (fn [] (ours root query)) (fn [] (theirs root query)) 9)
        budget (/ (+ (* 1.2 b) 0.015) b))
  (measure.row (+ "search.content, " kind) (* 1000 a) (* 1000 b) budget))

(defn main []
  "Print every row; return 1 if a budget was not kept."
  (with [root (tempfile.TemporaryDirectory)]
    (grow root)
    (int (not (all (lfor kind QUERIES (compare root kind)))))))

(when (= __name__ "__main__")
  (sys.exit (main)))
