"Read source files as forms, for the rules that are checked on them.

A Source is one file; `everything` walks its code. Nothing is evaluated."

(import
  os
  pathlib [Path]
  hy
  hy.models [Expression Sequence Symbol])


(defclass Source []
  "One file: its PATH relative to the root, TEXT, LINES and, of a Hy file that reads, FORMS."

  (defn __init__ [self path text]
    (setv self.path path
          self.text text
          self.lines (.split text "\n")
          self.parts (. (Path path) parts)
          self.hy (.endswith path ".hy")
          self.forms []
          self.fault None)
    (when self.hy
      (try
        (setv self.forms (list (hy.read-many text :filename path :skip-shebang True)))
        (except [e Exception]
          (setv self.fault #((or (getattr e "lineno" None) 1) f"does not read: {(getattr e "msg" e)}")))))))

(defn module-name [source]
  "Return the dotted name by which SOURCE is imported, or None for a file outside the package."
  (when (not-in (get source.parts 0) #("autolith" "recovery"))
    (return None))
  (setv parts (list (. (Path source.path) (with-suffix "") parts)))
  (when (= (get parts -1) "__init__")
    (.pop parts))
  (.join "." (if (= (get parts 0) "recovery") ["autolith" #* parts] parts)))

(defn head [form]
  "Return the name at the head of FORM, or an empty string."
  (if (and (isinstance form Expression) form (isinstance (get form 0) Symbol))
    (str (get form 0))
    ""))

(defn walk [form]
  "Yield FORM and every form inside it that is code: what is quoted stays out, what is quasiquoted is code."
  (yield form)
  (when (and (isinstance form Sequence) (!= (head form) "quote"))
    (for [child form]
      (yield :from (walk child)))))

(defn everything [source]
  "Yield every form of SOURCE."
  (for [form source.forms]
    (yield :from (walk form))))
