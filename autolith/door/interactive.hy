"The door of the interactive session: the terminal on the loop thread, forms on the main thread, until somebody leaves."

(import
  os
  sys
  autolith
  autolith.application [inputs questions running session startup]
  autolith.base [conditions ids threads]
  autolith.state [conversation settings]
  autolith.tool [context])

(defn run [asked]
  "Run an interactive session for ASKED, parsed options, until it ends; return the exit status."
  (import asyncio autolith.image [namespace])
  (setv s (open-session asked)
        faults (startup.load-layers asked)
        life (asyncio.run-coroutine-threadsafe (live s faults (.get asked "image" [])) (threads.start)))
  (threads.serve-main)
  (setv status (.result life))
  (leave s)
  status)

(defn open-session [asked]
  "Return the Session that ASKED wants, with its conversation, and connect it with what the lower rooms ask for."
  (import autolith.door.terminal [secret style])
  (startup.names)
  (setv s (session.from-settings (os.getcwd) :interactive True)
        (get session.current "session") s
        s.ask-secret (when (not (style.plain?)) secret.ask)
        context.provide (fn [] (running.tool-context s "user"))
        conditions.ask (fn [condition choices] (questions.choose-restart s condition choices)))
  (startup.open-conversation asked :always True)
  s)

(defn :async live [s faults images]
  "Run the terminal for S, telling of FAULTS of init files; IMAGES go with the first message. Return the exit status."
  (import autolith.door.terminal [app])
  (setv s.first-images images)
  (try
    (inputs.restore s)
    (await (app.run s {"version" autolith.__version__ "notices" (notices s faults)}))
    (finally
      (await (end s))
      (threads.stop-main))))

(defn notices [s faults]
  "Return what the first screen says besides the model: how to begin, and FAULTS of init files."
  (+ (if (= (get s.provider "name") "tutor")
       ["No key (OPENAI_API_KEY, ANTHROPIC_API_KEY) was found. The tutor answers: built in, offline, not a model."
        "For a model: (auth \"openai\") takes a key, (model \"ollama/NAME\") a local server, (models) lists them."]
       ["Models run code here with your rights."])
     (lfor fault faults (.removeprefix (startup.fault-line fault) "autolith: "))))

(defn :async end [s]
  "Stop what S runs and wait until it has stopped."
  (import asyncio)
  (setv s.ended True)
  (inputs.cancel s True)
  (for [question (list (.values s.questions))]
    (.cancel (get question "answer")))
  (when s.tasks
    (await (asyncio.wait s.tasks :timeout 3)))
  (session.publish s "session-ended" :id s.conversation.id)
  None)

(defn leave [s]
  "Release what S holds, and print how to come back if there is anything to come back to."
  (setv id s.conversation.id used (bool s.conversation.records))
  (conversation.close s.conversation)
  (when used
    (print f"; (resume \"{(ids.show-id id)}\") or: autolith resume {(ids.show-id id)}" :file sys.stderr))
  None)
