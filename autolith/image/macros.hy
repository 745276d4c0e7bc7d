"The macro `redefine`, which hands a definition to image/definitions as the text that was written."

(import
  hy
  hy.models [Expression Keyword])

(defn written [form source]
  "Return FORM as it stands in SOURCE, comments included; without SOURCE, as Hy writes it."
  (or (_slice form source) (_composed form)))

(defn _slice [form source]
  "Return the part of SOURCE that FORM was read from, or None if that cannot be told."
  (setv [start end] [(getattr form "start_line" None) (getattr form "end_line" None)])
  (when (and source start end)
    (setv lines (cut (.split source "\n") (- start 1) end))
    (when (= (len lines) (+ 1 (- end start)))
      (setv (get lines -1) (cut (get lines -1) form.end-column)
            (get lines 0) (cut (get lines 0) (- form.start-column 1) None)
            text (.join "\n" lines))
      (when (and (.startswith text "(") (.endswith text ")")) text))))

(defn _composed [form]
  "Return FORM as Hy writes it, without the quote."
  (.removeprefix (hy.repr form) "'"))

(defmacro redefine [_hy-compiler #* arguments]
  "Install a definition in the one module of ours that defines its name: (redefine (defn f ...)), or where you say:
(redefine :in \"agent.turn\" (defn f ...)). Who holds the old definition gets the new one. The value is the change."
  (setv where 'None
        forms (list arguments))
  (when (and (> (len forms) 1) (isinstance (get forms 0) Keyword) (= (. (get forms 0) name) "in"))
    (setv where (get forms 1)
          forms (cut forms 2 None)))
  (when (not (and (= (len forms) 1) (isinstance (get forms 0) Expression)))
    (raise (SyntaxError "(redefine (defn name ...)) or (redefine :in \"room.file\" (defn name ...))")))
  `(hy.I.autolith/image/definitions.redefine ~(written (get forms 0) _hy-compiler.source) :where ~where))
