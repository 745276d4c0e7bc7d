"The embedded provider: a fixed program, no model, that teaches Autolith by doing small things with the real tools.

`(stream request)` yields provider events as any wire does. What it does is a lesson (autolith.provider.lessons), chosen by
the last message of the user. A lesson is a generator: it yields the calls that it wants, gets the output of each, and returns
its answer. Each request replays it with the outputs that the history holds since that message; so the tutor keeps no state,
and the same history always gets the same answer.

A call is {\"tool\" wire-name \"arguments\" map \"words\" text}; an output, as a lesson gets it, is {\"ok\" bool \"text\" text}."

(import
  autolith.base [text]
  autolith.provider [items lessons])

(setv PIECE 24)                                          ; characters of one delta


;; * Reading the request

(defn _asked [history]
  "Return #(text images outputs number) of the last message of the user in HISTORY: its text, whether it has images, the
outputs since then in order, and how many calls HISTORY holds."
  (setv at (max (gfor [i item] (enumerate history) :if (_from-user? item) i) :default -1)
        after (cut history (+ at 1) None)
        content (if (< at 0) [] (get history at "content")))
  #((if (< at 0) "" (items.text (get history at)))
    (any (gfor block content (= (:type block) "image")))
    (lfor item after :if (= (:type item) "function_call_output") {"ok" (:ok item)  "text" (items.text item)})
    (len (lfor item history :if (items.call? item) item))))

(defn _from-user? [item]
  "Tell whether ITEM is a message of the user."
  (and (= (:type item) "message") (= (:role item) "user")))

(defn _declared [request]
  "Return the tools that REQUEST declares, {wire name declaration}."
  (dfor tool (or (.get request "tools") []) (:name tool) tool))


;; * Deciding

(defn decide [request]
  "Return what to do about REQUEST: {\"call\" call} or {\"answer\" text}."
  (setv [asked images outputs _] (_asked (:items request))
        tools (_declared request))
  (cond
    (and images (not (.strip asked))) {"answer" (lessons.no-images)}
    True (_replay (lessons.start asked tools) outputs tools)))

(defn _replay [plan outputs tools]
  "Return what the lesson PLAN wants after OUTPUTS, given the declared TOOLS."
  (try
    (setv wanted (next plan))
    (for [output outputs]
      (when (and (not (:ok output)) (not (.get wanted "may_fail")))
        (return {"answer" (lessons.failed wanted output)}))
      (setv wanted (.send plan output)))
    (except [e StopIteration]
      (return {"answer" e.value})))
  (if (in (:tool wanted) tools)
    {"call" wanted}
    {"answer" (lessons.missing wanted)}))


;; * Events

(defn _message [words phase]
  "Yield the events of a message that says WORDS in PHASE."
  (for [i (range 0 (len words) PIECE)]
    (yield {"type" "text-delta"  "text" (cut words i (+ i PIECE))}))
  (yield {"type" "item"  "item" (items.assistant words :phase phase)}))

(defn events [request]
  "Yield the events that answer REQUEST."
  (setv decision (decide request)
        wanted (.get decision "call")
        number (+ 1 (get (_asked (:items request)) 3)))
  (when (is wanted None)
    (yield :from (_message (text.repair (:answer decision)) "final_answer"))
    (yield (_done "stop" number))
    (return))
  (yield :from (_message (:words wanted) "commentary"))
  (yield {"type" "call-delta"  "index" 0  "name" (:tool wanted)  "text" ""})
  (yield {"type" "item"  "item" (items.call f"tutor-{number}" (:tool wanted) (:arguments wanted))})
  (yield (_done "calls" number)))

(defn _done [reason number]
  "Return the event that ends the response before the NUMBERth call of the conversation, for REASON."
  {"type" "done"  "status" "completed"  "reason" reason  "usage" None  "response_id" f"tutor-{number}"  "model"
   "tutor"})

(defn :async stream [request]
  "Yield the provider events that answer REQUEST, giving way to the loop between them."
  (import asyncio)
  (for [event (events request)]
    (yield event)
    (await (asyncio.sleep 0))))
