"Request-local context: what contributors say for one request only, after history and never part of it.

A contributor is a function of one read-only map, the request
{\"conversation\" \"id\" \"cwd\" \"provider\" \"model\" \"effort\" \"text\" the latest user's \"records\" \"number\" \"agent\"},
which gives None, a sentence, a contribution (agent/resolve) or a list of those. Those in `registered` come from user
code: they run in worker threads with a deadline, and what they raise becomes a line of the block. The built-in ones are
in agent/contributors."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  asyncio
  inspect
  types
  autolith.agent [contributors resolve]
  autolith.base [threads]
  autolith.image [registries]
  autolith.state [conversation])

(defonce registered {} "Name: the function that contributes, in order of definition.")
(defonce deliveries {} "Conversation id: what its last request carried, and what is remembered for the next one.")
(defparameter deadline 2.0 "Seconds that one contributor may take.")
(defparameter remembered 32 "For how many conversations deliveries are kept.")

(setv NAME-LIMIT 128)

;; * The registry

(defn register [name f]
  "Enter F as the contributor NAME; one of that name, also a built-in one, is replaced. Return F."
  (when (not (and (isinstance name str) (<= 1 (len name) NAME-LIMIT)))
    (raise (ValueError f"the name of a contributor has 1 to {NAME-LIMIT} characters")))
  (when (not (callable f))
    (raise (TypeError f"{name} must be a function of one argument, the request")))
  (setv (get registered name) f)
  f)

(defn unregister [name]
  "Remove the contributor NAME; a built-in one of that name speaks again. Return whether there was one."
  (is-not (.pop registered name None) None))

(defn names []
  "Return the names of all contributors, the built-in ones first."
  (list (dict.fromkeys [#* contributors.built-in #* registered])))

(defn snapshot []
  "Return the registered contributors, for `restore`."
  (dict registered))

(defn restore [before]
  "Bring the registered contributors back to the snapshot BEFORE."
  (.clear registered)
  (.update registered before))

;; * One request

(defn :async collect [turn]
  "Return the text of the request-local context of TURN's next request, or None."
  (setv request (request-map turn)
        memory (memory-of turn.conversation.id)
        [given failures] (await (gather request)))
  (_remember-turn memory given)
  (setv all [#* given #* (lfor c (.values (get memory "turn")) :if (not-in c given) c)]
        [chosen omitted] (resolve.choose all (get memory "delivered")))
  (.intersection-update (get memory "delivered") (sfor c all (resolve.key-of c)))
  (setv text (resolve.render chosen failures))
  (.update memory {"chosen" chosen "omitted" omitted "failures" failures "text" text})
  text)

(defn request-map [turn]
  "Return what contributors may know of TURN's next request."
  (setv a turn.agent
        messages (conversation.user-messages turn.conversation)
        text (if messages (get messages -1 "content") ""))
  (types.MappingProxyType
    {"conversation" turn.conversation "id" turn.conversation.id "cwd" a.cwd "provider" (.get a.provider "name")
     "model" a.model "effort" a.effort "text" text "records" (tuple turn.conversation.records)
     "number" (+ turn.requests 1) "agent" a}))

(defn :async gather [request]
  "Return #(contributions failures) of every contributor for REQUEST."
  (setv given []
        failures [])
  (for [name contributors.built-in]
    (when (not-in name registered)
      (_take name (_protected (fn [] ((contributors.function-of name) request))) given failures)))
  (setv own (list (.items registered)))
  (when own
    (setv outcomes (await (asyncio.gather #* (lfor [name f] own (_in-worker f request)))))
    (for [[[name _] outcome] (zip own outcomes)]
      (_take name outcome given failures)))
  #(given failures))

(defn _protected [thunk]
  "Return #(value None) of THUNK, or #(None error)."
  (try
    #((thunk) None)
    (except [e Exception] #(None e))))

(defn :async _in-worker [f request]
  "Return #(value None) of F for REQUEST, run in a worker thread, or #(None error)."
  (try
    #((await (threads.in-worker (fn [] (f request)) deadline)) None)
    (except [TimeoutError] #(None (TimeoutError f"no answer within {deadline :g} seconds")))
    (except [e [Exception KeyboardInterrupt SystemExit]] #(None e))))

(defn _take [name outcome given failures]
  "Enter what the contributor NAME gave, by OUTCOME, into GIVEN, or what went wrong into FAILURES."
  (setv [value error] outcome)
  (try
    (when error (raise error))
    (when (inspect.isawaitable value)
      (when (hasattr value "close") (.close value))
      (raise (TypeError "it is a coroutine function; define it with defn")))
    (for [entry (if (isinstance value #(list tuple)) value [value])]
      (when (is-not entry None)
        (.append given (resolve.contribution name entry))))
    (except [e [Exception KeyboardInterrupt SystemExit]]
      (.append failures f"the contributor {name} failed: {(. (type e) __name__)}: {e}")))
  None)

;; * Memory between requests

(defn memory-of [id]
  "Return what is remembered for the conversation ID."
  (when (not-in id deliveries)
    (while (>= (len deliveries) remembered)
      (.pop deliveries (next (iter deliveries))))
    (setv (get deliveries id) {"turn" {} "delivered" (set) "chosen" [] "omitted" [] "failures" [] "text" None}))
  (get deliveries id))

(defn _remember-turn [memory given]
  "Keep those of GIVEN that last to the end of the turn in MEMORY."
  (for [c given]
    (when (= (get c "lifetime") "turn")
      (setv (get memory "turn" (resolve.key-of c)) c))))

(defn delivered [turn]
  "Note that the last request of TURN was answered, so what was for one request has been said."
  (setv memory (memory-of turn.conversation.id))
  (.update (get memory "delivered")
    (sfor c (get memory "chosen") :if (= (get c "lifetime") "next-request") (resolve.key-of c))))

(defn end-turn [turn]
  "Forget what lasted for TURN only."
  (.clear (get (memory-of turn.conversation.id) "turn")))

(defn report [id]
  "Return what the last request of the conversation ID carried, {\"carried\" \"omitted\" [row ..] \"failures\" [text ..]}; a row has
contributor, id, class, lifetime, priority, characters and tokens, never the text."
  (setv memory (memory-of id))
  {"carried" (lfor c (get memory "chosen") (_row c))
   "omitted" (lfor c (get memory "omitted") (_row c))
   "failures" (list (get memory "failures"))})

(defn _row [c]
  "Return what a report says of the contribution C."
  {#** (dfor k ["contributor" "id" "class" "lifetime" "priority"] k (get c k))
   "characters" (+ (len (get c "instruction")) (len (or (get c "evidence") "")))
   "tokens" (resolve.tokens c)})

(registries.register "contributors" snapshot restore)
