"What is said of an error: its type, message, ways out, and a traceback that shows the user's lines and the libraries'.

Frames of Hy's machinery and of our own evaluation are left out; mangled names are shown as they were written. A description
is {\"type\" \"message\" \"traceback\" \"restarts\"}, RESTARTS a list of #(name sentence)."

(eval-when-compile (require autolith.base.macros [defparameter]))

(import
  os.path
  re
  traceback
  hy
  autolith
  autolith.base [conditions]
  autolith.image [printing])

(defparameter hidden-files
  #("autolith/image/" "autolith/door/interactive" "autolith/door/terminal/reading" "autolith/base/threads" "autolith/base/conditions"
    "autolith/tool/context" "autolith/tool/dispatch" "autolith/tool/tool."
    "concurrent/futures/_base.py" "importlib/_bootstrap" "<frozen ")
  "Beginnings or parts of the names of files whose frames are never shown.")

(defparameter shown-frames 40
  "How many frames of one traceback are shown: half from its beginning, half from its end.")

(setv MANGLED (re.compile r"\bhyx_\w*X\w*")
      HY (+ (os.path.dirname hy.__file__) os.sep))

(defn describe [error [restarts #()]]
  "Describe ERROR, offering besides its own restarts those of RESTARTS."
  {"type" (type-name error)
   "message" (message error)
   "traceback" (text error)
   "restarts" (merged (getattr error "restarts" None) restarts)})

(defn merged [#* groups]
  "Return the restarts of GROUPS, lists of #(name sentence) or of names, each name once."
  (setv rows {})
  (for [group groups]
    (for [row (if (isinstance group #(list tuple)) group (if (isinstance group dict) (.items group) []))]
      (setv [name sentence] (if (isinstance row str) [row ""] (cut row 2)))
      (.setdefault rows (str name) (str sentence))))
  (list (.items rows)))

(defn type-name [error]
  "Return the name of ERROR's type as it was written."
  (plain (. (type error) __name__)))

(defn plain [text]
  "Return TEXT with mangled names as they were written."
  (.sub MANGLED (fn [m] (hy.unmangle (.group m))) text))

(defn message [error]
  "Return what ERROR says, its notes included, whatever its `__str__` does."
  (setv said (.strip (printing.safe-str error))
        name (getattr error "name" None)
        notes (or (getattr error "__notes__" None) []))
  (when (and (isinstance error #(NameError AttributeError)) (isinstance name str))
    (setv said (.replace said f"'{name}'" f"'{(hy.unmangle name)}'")))
  (.join "\n" [(plain said) #* (map printing.safe-str notes)]))


;; * Tracebacks

(defn text [error]
  "Return the traceback of ERROR and of what caused it, oldest first; empty if no frame is worth showing."
  (setv parts []  seen (set))
  (while (and (is-not error None) (not-in (id error) seen) (< (len seen) 8))
    (.add seen (id error))
    (setv [link cause] (_cause error)
          own (frames error))
    (.insert parts 0 own)
    (when cause (.insert parts 0 f"{(headline cause)}\n\n{link}\n"))
    (setv error cause))
  (.strip (.join "\n" (filter None parts)) "\n"))

(defn headline [error]
  "Return the type and the message of ERROR on its own line."
  f"{(type-name error)}: {(message error)}")

(defn _cause [error]
  "Return how the error before ERROR led to it, and that error; or None twice."
  (cond
    (is-not error.__cause__ None) ["That caused:" error.__cause__]
    (and (is-not error.__context__ None) (not error.__suppress-context__) (not (_our-own? error)))
      ["While that was handled:" error.__context__]
    True [None None]))

(defn _our-own? [error]
  "Tell whether what came before ERROR is machinery: a look-up that failed, or a macro's error, which is in its message."
  (or (isinstance error.__context__ KeyError)
      (= (. (type error) __name__) "HyMacroExpansionError")))

(defn hidden? [filename]
  "Tell whether the frames of the file FILENAME are machinery."
  (setv name (.replace filename "\\" "/"))
  (or (.startswith filename HY) (any (gfor part hidden-files (in part name)))))

(defn frames [error]
  "Return the frames of ERROR's own traceback that are worth showing, as text with the lines quoted."
  (setv summary (traceback.TracebackException Exception (Exception) error.__traceback__)
        expected (isinstance error conditions.AutolithError))        ; says enough without our own frames
  (_quoted (lfor row summary.stack :if (not (or (hidden? row.filename) (and expected (_ours? row.filename)))) row)))

(defn _ours? [filename]
  "Tell whether the file FILENAME is one of this program."
  (.startswith filename (+ (get autolith.__path__ 0) os.sep)))

(defn live-frames []
  "Return the frames of the form that runs here, and of what it called, as `frames` does for an error that has unwound."
  (setv rows (list (traceback.extract-stack))
        begins (lfor [i row] (enumerate rows) :if (and (.startswith row.filename "<form ") (= row.name "<module>")) i)
        begin (if begins (get begins -1) (len rows)))        ; forms of outer levels wait further out
  (_quoted (lfor row (cut rows begin None)
                 :if (not (or (hidden? row.filename) (in "autolith/application/" row.filename)))
                 row)))

(defn _quoted [rows]
  "Return ROWS of a traceback, bounded, as text with the lines quoted."
  (setv rows (_shown-part rows))
  (for [row rows]
    (setv row.name (.join "." (map _function-name (.split row.name "."))))
    (when (and row.colno (.endswith row.filename ".hy"))
      (setv row.colno (- row.colno 1))))         ; Hy counts the columns where a form begins from one
  (if rows (plain (.rstrip (.join "" (.format (traceback.StackSummary.from-list rows))))) ""))

(defn _function-name [name]
  "Return NAME, of a function, as it was written; one without a name is called fn."
  (if (or (.startswith name "_hy_anon") (= name "<lambda>")) "fn" (hy.unmangle name)))

(defn _shown-part [rows]
  "Return ROWS, or of many the beginning and the end."
  (setv half (// shown-frames 2))
  (if (> (len rows) shown-frames)
    (+ (cut rows half) (cut rows (- half) None))
    rows))
