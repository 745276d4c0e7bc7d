"The macro with which users define providers."

(defmacro defprovider [name form]
  "Define the provider NAME, a symbol or a string, by the map FORM, which is evaluated once; the value is the whole form."
  `(hy.I.autolith/provider/registry.define ~(str name) ~form))
