"Check which room of the tree may know which, and that modules are imported, never values.

An edge is #(line module fault) of an import of ours: FAULT is a sentence, or None."

(import
  ast
  re
  hy
  hy.models [Keyword List Symbol]
  sources [everything head module-name])

(setv RANKS {"base" 0  "state" 1  "image" 2  "provider" 3  "resource" 3  "work" 3  "tool" 4  "agent" 5
             "application" 6  "door" 7  "recovery" 0.5}
      LAUNCHER-USERS #{"door" "recovery"}                ; who may know the launcher
      BARE #{"autolith" "autolith.roles" "autolith.skills"})


(defn python-imports [source]
  "Yield #(line module name) for each import in the Python file SOURCE; NAME None means the module itself."
  (for [node (ast.walk (ast.parse source.text))]
    (cond
      (isinstance node ast.Import)
      (for [alias node.names] (yield #(node.lineno alias.name None)))
      (isinstance node ast.ImportFrom)
      (for [alias node.names] (yield #(node.lineno (+ (* "." node.level) (or node.module "")) alias.name))))))

(defn hy-imports [forms]
  "Yield #(line module name) for each import among FORMS, as `python-imports` does."
  (for [form forms :if (= (head form) "import")]
    (setv parts (list (cut form 1 None))  i 0)
    (while (< i (len parts))
      (setv module (dotted (get parts i))
            line (. (get parts i) start-line)
            after (when (< (+ i 1) (len parts)) (get parts (+ i 1))))
      (cond
        (isinstance after List)
        (do (for [name (imported after)] (yield #(line module name)))
            (+= i 2))
        (= after (Symbol "*")) (do (yield #(line module "*")) (+= i 2))
        (= after (Keyword "as")) (do (yield #(line module None)) (+= i 3))
        True (do (yield #(line module None)) (+= i 1))))))

(defn dotted [form]
  "Return the module name that FORM, a symbol or a dotted expression, stands for."
  (if (= (head form) ".")
    (.join "." (gfor part (cut form 1 None) :if (!= (str part) "None") (hy.mangle (str part))))
    (.join "." (gfor part (.split (str form) ".") (if part (hy.mangle part) "")))))

(defn imported [names]
  "Yield the names in the import list NAMES, without what they are called here."
  (setv skip False)
  (for [part names]
    (cond
      skip (setv skip False)
      (= part (Keyword "as")) (setv skip True)
      (isinstance part Symbol) (yield (hy.mangle (str part))))))

(defn inline-imports [source]
  "Yield #(line module None) for each `hy.I.autolith/...` that the macros of SOURCE expand to."
  (for [[number line] (enumerate source.lines 1)
        name (re.findall r"hy\.[IR]\.(autolith[\w/-]*)" line)]
    (yield #(number (.replace (.replace name "/" ".") "-" "_") None))))

(defn ours? [module]
  "Tell whether MODULE is part of the tree."
  (or (= module "autolith") (.startswith module "autolith.")))

(defn every-import [source]
  "Return #(line module name) for each import in SOURCE, also inside functions and what macros expand to."
  (if source.hy
    [#* (hy-imports (everything source)) #* (inline-imports source)]
    (list (python-imports source))))

(defn edges [found modules]
  "Yield #(line module fault) for each of the imports FOUND that is ours; MODULES are the names of all our modules."
  (for [[line module name] found]
    (setv whole (if name f"{module}.{name}" module))
    (cond
      (.startswith module ".") (yield #(line None "relative import; spell the module out"))
      (not (ours? module)) None
      (is name None) (yield #(line module (when (not-in module modules) f"no module {module}")))
      (in whole modules) (yield #(line whole None))
      (and (= module "autolith") (= name "__version__")) None
      True (yield #(line module f"imports the value {name} of {module}; import the module")))))

(defn room-of [module]
  "Return the room of the dotted name MODULE, or None."
  (setv parts (.split module "."))
  (when (and (> (len parts) 1) (in (get parts 1) RANKS))
    (get parts 1)))

(defn upward? [here there]
  "Tell whether a file in the room HERE must not know the room THERE."
  (and (!= here there)
       (or (is there None)
           (= there "recovery")
           (>= (get RANKS there) (get RANKS here)))))

(defn known-modules [sources]
  "Return the dotted names of everything of ours in SOURCES that can be imported."
  (setv modules (sfor source sources :setv name (module-name source) :if name name))
  (| modules (sfor m modules (get (.rpartition m ".") 0)) BARE))

(defn imports [source modules]
  "Complain of imports that run upwards, of values, and of modules that do not exist."
  (when (is (module-name source) None)
    (return))
  (setv room (room-of (module-name source)))
  (for [[line module fault] (edges (every-import source) modules)]
    (cond
      fault (yield #(line fault))
      (and room (!= room "door") (!= module "autolith") (upward? room (room-of module)))
      (yield #(line f"{room} may not know {module}"))))
  (when (and room (not-in room LAUNCHER-USERS)
             (re.search r"^\s*\(?(import|from)?\s*autolith[-_](launcher|bytecode|capsule)" source.text re.M))
    (yield #(1 f"{room} may not know the launcher"))))

(defn cycles [sources modules]
  "Yield #(path line words) for each circle of modules that import each other while they load."
  (setv graph {}  where {})
  (for [source sources :if (module-name source)]
    (setv name (module-name source)
          (get graph name) (sorted (sfor [_ module fault] (edges (hy-imports source.forms) modules)
                                         :if (and module (not fault) (!= module name))
                                         module))
          (get where name) source.path))
  (setv done (set))
  (for [start (sorted graph)]
    (yield :from (_circles start graph where done []))))

(defn _circles [name graph where done trail]
  "Yield complaints of circles that pass through NAME, found in GRAPH on the way TRAIL."
  (cond
    (in name trail)
    (do
      (setv circle (.join " -> " [#* (cut trail (.index trail name) None) name]))
      (yield #((get where name) 1 f"imports in a circle: {circle}")))
    (not-in name done)
    (do
      (for [next-name (.get graph name [])]
        (yield :from (_circles next-name graph where done [#* trail name])))
      (.add done name))))
