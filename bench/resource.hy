"Reading through `workspace:` against plain reading, and editing against a plain write: `python -m hy bench/resource.hy`."

(import asyncio os sys tempfile)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(import
  autolith.resource [protocol workspace]
  bench [_measure :as measure])

(defn written [folder name lines]
  "Write LINES lines of code to NAME in FOLDER; return its path."
  (setv path (os.path.join folder name))
  (with [f (open path "w" :encoding "utf-8")]
    (for [i (range lines)]
      (.write f f"    (setv value-{i} (compute-something {i} :with \"some text\"))\n")))
  path)

(defn plain [path]
  "Read the whole of the file PATH as anybody would."
  (with [f (open path :encoding "utf-8")] (.read f)))

(defn times [n thunk]
  "Return a thunk that runs THUNK N times."
  (fn [] (for [_ (range n)] (thunk))))

(defn edited [context uri path]
  "Return a thunk that changes line 200 of URI through CONTEXT, and one that rewrites PATH with a sync, as durably."
  (setv page (asyncio.run (protocol.read context uri {"start_line" 200 "line_count" 1}))
        state {"revision" (get page "revision") "n" 0})
  (defn ours []
    (+= (get state "n") 1)
    (setv out (asyncio.run (protocol.edit context
                [{"uri" uri "base_revision" (get state "revision")
                  "operations" [{"op" "replace-lines" "start_line" 200 "end_line" 200 "content" f"line {(get state "n")}"}]}])))
    (setv (get state "revision") (get out "changes" 0 "revision")))
  (defn theirs []
    (setv text (plain path) spare (+ path ".new"))
    (with [f (open spare "w" :encoding "utf-8")]
      (.write f text)
      (.flush f)
      (os.fsync (.fileno f)))
    (os.replace spare path))
  #(ours theirs))

(defn main []
  "Print the rows."
  (with [folder (tempfile.TemporaryDirectory)]
    (setv context (protocol.Context folder) loop (asyncio.new-event-loop)
          small (written folder "small" 400) large (written folder "large" 400_000) other (written folder "other" 2000)
          window (fn [name start] (fn [] (.run-until-complete loop
                   (protocol.read context (+ "workspace:" name) {"start_line" start "line_count" 400})))))
    (measure.head)
    (setv [a b] (measure.medians 9 (times 20 (window "small" 1)) (times 20 (fn [] (plain small)))))
    (measure.row "400-line window of a small file" (* 50 a) (* 50 b) 60)
    (setv [a b] (measure.medians 5 (window "large" 390_000) (fn [] (plain large))))
    (measure.row "window near the end of 25 MB" (* 1000 a) (* 1000 b) 6)
    (setv [a b] (measure.medians 9 #* (edited (protocol.Context folder) "workspace:other" other)))
    (measure.row "edit of one line in 2,000" (* 1000 a) (* 1000 b) 10)
    (.close loop)))

(when (= __name__ "__main__")
  (main))
