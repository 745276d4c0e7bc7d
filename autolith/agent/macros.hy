"`defcontext`, which makes a function of the request a contributor of request-local context.

Require it with (require autolith.agent.macros [defcontext])."

(import hy.models [List String])

(defmacro defcontext [name params doc #* body]
  "Define the contributor NAME of one parameter, the request, and register it; a second definition replaces the first.
DOC says what it contributes. BODY gives None, a sentence for the model, a contribution (a map, see agent/resolve) or a list of
those. It runs in a worker thread before each request, and has a deadline."
  (when (not (and (isinstance params List) (= (len params) 1) (isinstance doc String)))
    (raise (SyntaxError "(defcontext NAME [request] \"what it contributes\" body ...)")))
  `(do
     (defn ~name ~params ~doc ~@(or body ['None]))
     (hy.I.autolith/agent/context.register ~(str name) ~name)))
