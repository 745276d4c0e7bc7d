"Who defines a name, who mentions it, and who holds a value: found in the texts of the tree and in the running modules."

(import
  gc
  os
  re
  sys
  types
  hy
  autolith)

(setv SKIPPED #{"recovery" "roles" "skills" "__pycache__"}
      SHOWN-HOLDERS 12)

(defn files []
  "Yield #(module path, file) for every .hy file of the tree."
  (for [root autolith.__path__
        [folder folders names] (os.walk root)]
    (setv (cut folders) (sorted (gfor f folders :if (not-in f SKIPPED) f)))
    (for [name (sorted names)]
      (when (.endswith name ".hy")
        (setv file (os.path.join folder name)
              inner (os.path.splitext (os.path.relpath file root)))
        (yield #((+ "autolith." (.replace (get inner 0) os.sep ".")) file))))))

(defn _text [file]
  "Return the text of FILE, or none if it cannot be read."
  (try
    (with [f (open file :encoding "utf-8" :errors "replace")] (.read f))
    (except [OSError] "")))

(defn _pattern [name]
  "Return the pattern of a top-level definition of NAME."
  (setv word f"{(re.escape name)}(?=[\\s)\\[\\]])")
  (re.compile (+ r"^\(def\S*\s+(?::async\s+)?(?:\[[\s\S]{0,300}?\]\s+)?(?:#\^\s*(?:\([^)]*\)|\S+)\s+)?" word
                 r"|^\(setv(?:\s+|(?:(?!\n\S|\n\n)[\s\S])*?(?:\n\s+|\s{2,}))" word)
              re.MULTILINE))

(defn find [name]
  "Return the paths of our modules that define NAME, sorted: by their text, or defined live."
  (setv pattern (_pattern name)
        found (sfor [path file] (files)
                    :setv text (_text file)
                    :if (and (in name text) (.search pattern text))
                    path))
  (sorted (| found (sfor [path module] (ours) :if (_defines-live? module (hy.mangle name)) path))))

(defn ours []
  "Return #(path module) of our modules that are loaded."
  (lfor [path module] (list (.items sys.modules))
        :if (and (.startswith path "autolith.") (isinstance module types.ModuleType))
        #(path module)))

(defn _defines-live? [module key]
  "Tell whether the value of KEY in MODULE, or the macro KEY, was made there."
  (any (gfor table [(vars module) (getattr module "_hy_macros" {})]
             :setv value (.get table key)
             (and (isinstance value #(type types.FunctionType)) (= value.__module__ module.__name__)))))

(defn suggestion [name]
  "Return a hint at defined names that are close to NAME, or nothing."
  (setv known (sfor [_ module] (ours)
                    [key value] (list (.items (vars module)))
                    :if (and (isinstance value #(type types.FunctionType)) (= value.__module__ module.__name__))
                    (hy.unmangle key))
        close (hy.I.difflib.get-close-matches name (sorted known) 2))
  (if close f"; did you mean {(.join " or " close)}?" ""))

(defn mentioning [key module]
  "Return the modules, other than MODULE, that are loaded and whose text calls the macro KEY: they hold its old expansion."
  (setv call (re.compile (+ r"\(" (re.escape (hy.unmangle key)) r"(?=[\s)])")))
  (lfor [path file] (files)
        :if (and (in path sys.modules) (!= path module.__name__) (.search call (_text file)))
        (hy.unmangle (.removeprefix path "autolith."))))

(defn vanished [module path source]
  "Return the names of functions and classes that MODULE got from its file PATH, and that its text SOURCE mentions no more."
  (lfor [key value] (list (.items (vars module)))
        :if (and (isinstance value #(type types.FunctionType)) (= value.__module__ module.__name__)
                 (= (_file-of value) path) (not-in (hy.unmangle key) source) (not-in key source)
                 (not (.startswith key "_hy_")))
        key))

(defn _file-of [value]
  "Return the file that the function or class VALUE was compiled from, or None."
  (setv functions (if (isinstance value type)
                    (lfor f (.values (vars value)) :if (isinstance f types.FunctionType) f)
                    [value]))
  (when functions (. (get functions 0) __code__ co-filename)))

(defn holders [log]
  "Return in words who still holds the old values that the steps of LOG would bring back."
  (setv olds (lfor step log
                   cell (or (getattr step "__closure__" None) [])
                   :setv value (_contents cell)
                   :if (isinstance value #(type types.FunctionType))
                   value)
        ignored (sfor x [olds log] (id x)))
  (setv lines (lfor old olds
                    referrer (gc.get-referrers old)
                    :if (not (or (in (id referrer) ignored)
                                 (isinstance referrer #(types.FrameType types.CellType types.GeneratorType))))
                    (_described referrer old)))
  (cut (list (dict.fromkeys (filter None lines))) SHOWN-HOLDERS))

(defn _contents [cell]
  "Return what is in CELL, or None."
  (try cell.cell-contents (except [ValueError] None)))

(defn _described [referrer old]
  "Return what REFERRER, which refers to OLD, is in words; None if OLD's own parts refer to it."
  (cond
    (isinstance referrer dict) (_described-dict referrer old)
    (isinstance referrer #(list tuple set)) f"a {(. (type referrer) __name__)} of {(len referrer)}"
    (isinstance referrer type) f"the class {referrer.__name__}"
    (isinstance referrer #(types.FunctionType types.GetSetDescriptorType types.MappingProxyType)) None
    True f"an object of type {(. (type referrer) __name__)}"))

(defn _described-dict [table old]
  "Return where the dict TABLE is the namespace, or that it is a dict."
  (for [[path module] (list (.items sys.modules))]
    (when (is (getattr module "__dict__" None) table)
      (return f"the module {(hy.unmangle path)}")))
  (when (not-in "__module__" table) f"a dict of {(len table)}"))
