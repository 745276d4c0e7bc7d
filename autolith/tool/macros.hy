"`deftool`, which makes a documented Hy function a tool for the model, the prompt and code alike.

Require it with (require autolith.tool.macros [deftool]); what its expansion needs is named by full path."

(import
  hy.models [Dict Expression List String Symbol])

(setv _USAGE "(deftool NAMESPACE.TOOL [PARAMETERS] \"documentation\" {traits}? body ...)")

(defn _dotted [name]
  "Return NAME, which the reader gives as (. a b), as \"a.b\"; None if it is no such thing."
  (when (and (isinstance name Expression) (= (len name) 3) (= (str (get name 0)) ".")
             (all (gfor part name (isinstance part Symbol))))
    (.join "." (map str (cut name 1 None)))))

(defmacro deftool [name params doc #* body]
  "Define NAME, as `resource.read`, as a coroutine function of PARAMS and enter it among the tools; the value is the Tool.

DOC: its first paragraph tells the model what the tool does; a line `parameter: text` describes one parameter. A map
before BODY is evaluated as the traits: `effect` read, write or execute; `barrier`; `persistence`; `child-safe`; `beside`;
`restarts` {name sentence}; `description`, more text for the model or a function that gives it."
  (setv dotted (_dotted name))
  (when (not (and dotted (isinstance params List) (isinstance doc String)))
    (raise (SyntaxError _USAGE)))
  (setv [traits body] (if (and (> (len body) 1) (isinstance (get body 0) Dict))
                        [(get body 0) (cut body 1 None)]
                        ['{} body])
        function (Symbol (.replace dotted "." "-")))
  `(do
     (defn :async ~function ~params ~doc ~@(or body ['None]))
     (hy.I.autolith/tool/registry.enter ~dotted ~function ~traits)))
