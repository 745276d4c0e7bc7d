;; A permission policy: the model may edit below src/ and tests/ only.
;;
;; Advice around the one function through which every tool call goes. What it refuses becomes a failed result that says why,
;; so the model can do something else. Forms that you type are not bound by it: their origin is "user".

(import autolith.tool [result])

(defparameter writable ["workspace:src/" "workspace:tests/"] "Where the model may edit.")

(defn outside [arguments]
  "Return the first URI that ARGUMENTS of resource.edit name outside of `writable`, or None."
  (setv uris [(.get arguments "uri" "") #* (gfor more (.get arguments "also" []) (.get more "uri" ""))])
  (next (gfor uri uris :if (not (any (gfor place writable (.startswith uri place)))) uri) None))

(defn :async edit-policy [next name arguments context]
  "Call NEXT, the real call, unless the model edits where it may not."
  (setv uri (when (and (= context.origin "model") (in (str name) ["resource.edit" "resource_edit"])
                       (isinstance arguments dict))
              (outside arguments)))
  (if uri
    (result.failed "resource.edit" f"the policy of this session allows edits below {(.join ", " writable)} only, not {uri}")
    (await (next name arguments context))))

(advise "tool.registry.call" :around "edit-policy" edit-policy)
