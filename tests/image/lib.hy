"Shared vocabulary of the image's tests: a tree of our own modules to change, and ways to put everything back."

(import
  importlib
  sys
  pytest
  autolith
  autolith.image [advice definitions evaluate install layers namespace registries])

(defn write-module [root path text]
  "Write TEXT as the module PATH, \"zoo.thing\", below ROOT, a folder on the package's path; return the file."
  (setv file (.joinpath root (+ (.replace path "." "/") ".hy")))
  (.mkdir file.parent :parents True :exist-ok True)
  (.touch (.joinpath file.parent "__init__.py"))
  (.write-text file text)
  file)

(defn load [root path text]
  "Write TEXT as the module PATH below ROOT, import it, and return it."
  (write-module root path text)
  (importlib.invalidate-caches)
  (importlib.import-module f"autolith.{path}"))

(defn [pytest.fixture] tree [tmp-path]
  "A folder in which modules of ours can be made; everything that was changed is put back afterwards."
  (setv root (.joinpath tmp-path "tree")
        before (set sys.modules)
        state (registries.take))
  (.mkdir root)
  (.append autolith.__path__ (str root))
  (yield root)
  (namespace.in-module)
  (registries.give state)
  (for [entry (list definitions.journal)] (.remove definitions.journal entry))
  (.remove autolith.__path__ (str root))
  (for [name (list sys.modules)]
    (when (and (not-in name before) (.startswith name "autolith."))
      (setv [parent _ short] (.rpartition name "."))
      (.pop (vars (.get sys.modules parent autolith)) short None)
      (.pop sys.modules name None))))

(defn value [source #** options]
  "Return the last value of SOURCE, which must evaluate without an error."
  (setv result (evaluate.run source #** options))
  (assert (= (get result "status") "ok") (get result "condition"))
  (when (get result "objects") (get result "objects" -1)))

(defn condition [source #** options]
  "Return the condition of SOURCE, which must fail."
  (setv result (evaluate.run source #** options))
  (assert (= (get result "status") "error") result)
  (get result "condition"))
