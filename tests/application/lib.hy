"The application's tests in its own words: a session on a scripted provider, inputs, and the events that they lead to."

(import
  asyncio
  os
  autolith.application [inputs observers questions running session surface]
  autolith.base [conditions threads]
  autolith.tool [context])

(defn make-session [provider * [cwd "."] [interactive True] [model "test-model"]]
  "Return a new Session on PROVIDER, a provider form, whose events are collected in its `seen`."
  (surface.install)
  (setv s (session.Session :cwd (os.path.abspath cwd) :provider provider :model model :interactive interactive)
        s.seen []
        (get session.current "session") s
        context.provide (fn [] (running.tool-context s "user"))
        conditions.ask (fn [condition choices] (questions.choose-restart s condition choices)))
  (session.observe s s.seen.append)
  s)

(defn play [s steps]
  "Run STEPS, a coroutine function of S, on the loop, with this thread serving forms; return its value."
  (defn :async run []
    (when (is s.conversation None) (session.begin s))
    (try
      (await (asyncio.wait-for (steps s) 30))
      (finally
        (await (asyncio.to-thread observers.drain))
        (for [question (list (.values s.questions))] (.cancel (get question "answer")))
        (inputs.cancel s True))))
  (threads.on-loop (run)))

(defn events [s #* kinds]
  "Return the events of KINDS that S has published."
  (lfor e s.seen :if (in (get e "type") kinds) e))

(defn :async until [s test [what "the event"]]
  "Wait until an event of S passes TEST; return it."
  (for [_ (range 3000)]
    (setv hit (next (gfor e s.seen :if (test e) e) None))
    (when hit (return hit))
    (await (asyncio.sleep 0.005)))
  (raise (AssertionError f"{what} did not come; seen {(lfor e s.seen (get e "type"))}")))

(defn :async idle [s]
  "Wait until S has nothing to do."
  (for [_ (range 4000)]
    (when (and (not (session.busy s)) (not s.tasks) (or s.held (not s.queue)))
      (return))
    (await (asyncio.sleep 0.005)))
  (raise (AssertionError f"still busy with {(session.busy s)}")))

(defn :async say [s text]
  "Submit TEXT to S and wait until it has nothing to do; return what submit said."
  (setv said (inputs.submit s text))
  (await (idle s))
  said)
