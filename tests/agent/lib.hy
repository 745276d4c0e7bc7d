"What the tests of the turn share: an agent against the scripted provider, tools of known behaviour, and strict wires.

The tools of the namespace `lab` note what they did in `done`; `lab.meet` waits until as many calls of it run as it is told."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  asyncio
  autolith.agent [agent turn]
  autolith.provider [anthropic chat client responses]
  autolith.resource [protocol]
  autolith.state [conversation]
  autolith.tool [context registry result]
  tests.doubles [strict])

(setv WIRES ["responses" "chat-completions" "anthropic-messages"]
      MODULES {"responses" responses "chat-completions" chat "anthropic-messages" anthropic}
      done []
      meeting {"here" 0 "event" None})

;; * Tools

(defn install []
  "Define the tools of the namespace `lab`; tests/agent/conftest.py takes them away after each test."
  (deftool lab.note [text]
    "Note TEXT."
    {"effect" "write"}
    (await (asyncio.sleep 0))
    (.append done text)
    f"noted {text}")
  (deftool lab.fail [text]
    "Fail with TEXT."
    {"effect" "write"}
    (raise (ValueError text)))
  (deftool lab.meet [count]
    "Wait until COUNT calls of this run at once."
    {"effect" "read"}
    (+= (get meeting "here") 1)
    (when (is (get meeting "event") None)
      (setv (get meeting "event") (asyncio.Event)))
    (when (>= (get meeting "here") count)
      (.set (get meeting "event")))
    (await (.wait (get meeting "event")))
    (.append done f"met {count}")
    "met")
  (deftool lab.wait [[forever True]]
    "Wait until cancelled."
    {"effect" "execute"}
    (.append done "waiting")
    (await (asyncio.sleep (if forever 3600 0)))
    "woken")
  (deftool lab.end []
    "End this round of calls."
    {"effect" "execute" "barrier" True}
    (.append done "ended")
    "ended")
  (deftool lab.peek [text]
    "Show TEXT once."
    {"effect" "read" "persistence" "next-response"}
    f"only once: {text}")
  (deftool lab.quit []
    "Cancel itself."
    {"effect" "execute"}
    (raise (asyncio.CancelledError)))
  None)

(defn reset []
  "Forget what the tools did."
  (.clear done)
  (.update meeting {"here" 0 "event" None}))

;; * An agent

(defclass Bench []
  "An Agent in DIRECTORY with what it published in `events`, and messages that wait in `steering`."
  (defn __init__ [self provider directory * [c None] #** more]
    (setv self.events []
          self.steering []
          self.observations (protocol.Observations)
          self.directory (str directory)
          c (or c (conversation.create self.directory :provider (get provider "name") :model "scripted" :effort None))
          self.agent (agent.Agent :conversation c :provider provider :model "scripted" :cwd self.directory
                                  :publish self.events.append :take-steering self.take
                                  :tool-context self.context #** more)))

  (defn take [self]
    "Give the messages that wait."
    (setv messages self.steering  self.steering [])
    messages)

  (defn context [self]
    "Return a context for the tools."
    (context.ToolContext :cwd self.directory :conversation self.agent.conversation.id :observations self.observations :origin "model"
                         :publish self.events.append))

  (defn kinds [self]
    "Return the types of the events so far."
    (lfor e self.events (get e "type")))

  (defn of-kind [self kind]
    "Return the events of the type KIND."
    (lfor e self.events :if (= (get e "type") kind) e))

  (defn prompt [self text]
    "Run a whole turn for TEXT; return its outcome."
    (asyncio.run (self.turn text)))

  (defn :async turn [self text]
    "Run a whole turn for TEXT on this loop."
    (try
      (await (turn.run self.agent text))
      (finally (await (client.close)))))

  (defn :async cancelled-when [self condition text]
    "Run a turn for TEXT and cancel it as soon as CONDITION holds; return the outcome."
    (setv task (asyncio.create-task (turn.run self.agent text)))
    (await (asyncio.sleep 0))                            ; let it begin: a task that never ran has no outcome
    (while (not (or (condition) (.done task)))
      (await (asyncio.sleep 0.002)))
    (.cancel task)
    (try
      (await task)
      (finally (await (client.close)))))

  (defn records [self [kind None]]
    "Return the records, those of KIND only."
    (lfor r self.agent.conversation.records :if (in kind [None (get r "kind")]) r)))

(defn results [bench]
  "Return the text of each result of BENCH's conversation by call id."
  (dfor r (.records bench "result") (get r "call_id") (get r "text")))

;; * Strict wires

(defn complaints [request]
  "Return what strict providers of all wires say against the neutral REQUEST."
  (lfor [wire module] (.items MODULES)
        :setv form (get request "provider")
        :setv name (if (= (.get form "wire" wire) wire) (get form "name") f"another over {wire}")
        :setv asked (module.encode {#** request "provider" {#** form "wire" wire "name" name}})
        complaint (strict.check wire {"content-type" "application/json" #** (get asked "headers")} (get asked "body"))
        f"{wire}: {complaint}"))

(defn history-complaints [c [wire "responses"]]
  "Return what strict providers say against a request with the history of C, made over WIRE, and one more message."
  (complaints {"provider" {"name" "scripted" "wire" wire "base_url" "http://x" "quirks" {} "headers" {} "key_variable" None}
               "model" "scripted" "effort" None "system" "s" "context" None "tools" [] "cache_key" "k" "max_output" None
               "items" [#* (conversation.items c) {"type" "message" "role" "user" "content" [{"type" "text" "text" "on"}]}]}))
