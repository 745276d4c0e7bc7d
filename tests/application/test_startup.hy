"What is told at the start of files that could not be used."

(import
  pathlib
  autolith.application [startup]
  autolith.base [paths])

(defn test-broken-provider-is-told []
  "A provider that cannot work is told at the start with its file, and without the file nothing is."
  (setv path (pathlib.Path (paths.config "providers.hy")))
  (assert (= (startup._provider-faults) []))
  (.mkdir path.parent :parents True)
  (.write-text path "{:name \"acme\" :base-url \"ftp://x\"}")
  (setv [fault] (startup._provider-faults))
  (assert (= (get fault "file") (str path)))
  (assert (in "acme" (startup.fault-line fault))))
