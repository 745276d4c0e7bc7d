"What runs turns: the Agent that a session hands down, and the state of one running turn.

Everything here is plain state; what happens with it is in turn, request, calls, context and prompt."

(import
  time)

(defn _nothing [#* _]
  "Take anything and do nothing."
  None)

(defn _no-messages []
  "Return no steering messages."
  [])

(defclass Agent []
  "Who asks which model, in which conversation.
CONVERSATION is an open state/conversation; PROVIDER a provider form; MODEL, EFFORT and CWD plain values that may change
between requests. PUBLISH takes an event; TAKE-STEERING gives messages that wait; BEFORE-REQUEST is called before each
request; TOOL-CONTEXT is a ToolContext or a function that makes one; STREAM makes the provider's events of a request;
ON-PROVIDER-EVENT sees each of them; TOOLS is a function that gives the declarations; IMMUTABLE says that the image may not change."
  (defn __init__ [self * conversation provider [model None] [effort None] [cwd "."] [publish _nothing]
                  [take-steering _no-messages] [before-request _nothing] [tool-context None] [stream None]
                  [on-provider-event None] [tools None] [max-output None] [immutable False]]
    (setv self.conversation conversation
          self.provider provider
          self.model (or model (.get provider "default_model"))
          self.effort effort
          self.cwd cwd
          self.publish publish
          self.take-steering take-steering
          self.before-request before-request
          self.tool-context tool-context
          self.stream stream
          self.on-provider-event on-provider-event
          self.tools tools
          self.max-output max-output
          self.immutable immutable
          self.estimated #(None 0)
          self.overhead #(None 0))))

(defclass Response []
  "What has arrived of one response: deltas until `items`, in wire order, and `done`, the last event, are there."
  (defn __init__ [self]
    (setv self.text []
          self.refusal []
          self.calls {}
          self.items []
          self.done None))

  (defn partial [self]
    "Return what can be shown of a response that did not end: its text, and the calls it was writing."
    (setv said (.join "" [#* self.text #* self.refusal])
          names (lfor call (.values self.calls) (get call "name")))
    (if names
      (.strip (+ said f"\n[it was calling {(.join ", " names)}; nothing of that ran]"))
      said)))

(defclass Turn []
  "One turn of AGENT while it runs."
  (defn __init__ [self agent]
    (setv self.agent agent
          self.conversation agent.conversation
          self.started (time.monotonic)
          self.requests 0
          self.calls 0
          self.continued 0
          self.overflowed None
          self.usage {}
          self.text ""
          self.response None
          self.failing {})))
