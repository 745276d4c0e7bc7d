"Data forms against the standard json module, on the same records: `python -m hy bench/forms.hy`."

(import json os sys)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(import
  autolith.base [forms]
  bench [_measure :as measure])

(defn result [text n]
  "Return the record of a tool's result with TEXT, numbered N."
  {"kind" "result"  "seq" n  "time" "2026-01-01T00:00:00.000Z"  "call_id" f"call_{n :010d}"  "tool" "resource.read"  "ok" True
   "seconds" 0.0123  "content" [{"type" "text"  "text" text}]})

(setv SOURCE "(defn f [x]\n  \"Return — naïvely — the path\t/usr/lib of X…\"\n  (print x))  ; a remark\n"
      RECORDS {"tool results" (lfor n (range 400) (result (* SOURCE 75) n))
               "tool results, plain ASCII" (lfor n (range 400) (result (* "a line of text without anything special in it " 130) n))
               "small records" (lfor n (range 5000)
                                     {"kind" "usage"  "seq" n  "time" "2026-01-01T00:00:00.000Z"  "number" n
                                      "provider" "openai"
                                      "usage" {"input" 1200  "cached" 800  "output" 17  "reasoning" 3}  "response_id" f"resp_{n}"})}
      BUDGETS {"tool results" 4  "tool results, plain ASCII" 5  "small records" 5})

(defn compare [name]
  "Report reading and writing of the records NAME."
  (setv records (get RECORDS name)
        ours (lfor r records (forms.write r))
        theirs (lfor r records (json.dumps r :ensure-ascii False)))
  (all [(measure.report f"read {name}" (fn [] (for [line ours] (forms.read-one line))) (fn [] (for [line theirs]
                                                                                              (json.loads line)))
                      (get BUDGETS name))
        (measure.report f"write {name}" (fn [] (for [r records] (forms.write r)))
                      (fn [] (for [r records] (json.dumps r :ensure-ascii False))) (get BUDGETS name))]))

(defn main []
  "Report everything; return 1 if a budget was not kept."
  (int (not (all (list (map compare RECORDS))))))

(when (= __name__ "__main__")
  (sys.exit (main)))
