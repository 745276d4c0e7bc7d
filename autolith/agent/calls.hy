"Run the calls of one response: neighbouring reads together, everything else in wire order, one result each.

A call is {\"item\" the neutral item \"id\" \"name\" \"arguments\" map or text \"effect\" \"barrier\" \"persistence\"}.
Results are recorded in the order of the calls, before the next step acts on them. Nothing after a barrier runs."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  json
  re
  autolith.agent [request]
  autolith.state [conversation projection settings]
  autolith.tool [call-form registry result])

(defparameter form-limit 2000 "How many characters of the form of a call are shown.")
(defparameter cancel-patience 2.0 "Seconds that the tools of a cancelled turn have to clean up.")

(defparameter varying
  [[r"<([^<>\n]*?)\s*\d+>" r"<\1>"]                                    ; <self.eval 65>, a form read from the prompt
   [r"\b0x[0-9a-fA-F]+" "0x"]                                           ; where an object lies
   [r"\b\d+(?:\.\d+)? ?(?:ns|us|ms|s|secs?|seconds?|min|minutes?)\b" "DURATION"]
   [r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|\b)" "DATE"]
   [r"\b\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b" "TIME"]
   [r"\b(pid|process|PID)([ =:]+)\d+" r"\1\2"]
   [r"\btmp[A-Za-z0-9_]{6,}" "tmp"]
   [r"\b[A-Z]?(?=[0-9a-f-]*\d)[0-9a-f]{8}[0-9a-f-]*\b" "ID"]            ; revisions, digests, stamps
   [r"\b\d{6,}(?:\.\d+)?" "NUMBER"]]
  "Patterns, each with what stands for it, of what differs between two failures that are the same.")

(setv AFTER-BARRIER "not run: {} ended this round of calls; call again if it is still wanted"
      TRUNCATED "not run: the response ended at its output limit before the arguments were whole; call again, with less in one call"
      NOT-BEGUN "not run: the turn was interrupted before this call began"
      UNRECORDED "not run: the conversation could not be written ({}), so nothing more was done")

;; * From items to calls

(defn plan [response]
  "Return the calls of RESPONSE in wire order."
  (lfor item response.items
        :if (= (.get item "type") "function_call")
        (_call item)))

(defn _call [item]
  "Return the call that the function_call ITEM asks for."
  (setv name (.get item "name" "")
        tool (registry.find name)
        traits (if tool tool.traits {}))
  {"item" item
   "id" (get item "call_id")
   "name" (if tool tool.name name)
   "arguments" (.get item "arguments" (.get item "arguments_text" ""))
   "effect" (.get traits "effect" "execute")
   "barrier" (.get traits "barrier" False)
   "persistence" (.get traits "persistence" "durable")})

(defn ephemeral? [item]
  "Tell whether the function_call ITEM, and its result, live only through the next response."
  (= (get (_call item) "persistence") "next-response"))

(defn name-uniquely [c items]
  "Return ITEMS with a fresh call id, and no raw form, for each call whose id is missing or was used in C before."
  (setv used (set c.call-ids)
        out [])
  (for [item items]
    (when (= (.get item "type") "function_call")
      (setv id (.get item "call_id"))
      (when (or (not id) (in id used))
        (setv id (_fresh-id id used)
              item (dfor [k v] (.items item) :if (!= k "raw") k v)
              (get item "call_id") id))
      (.add used id))
    (.append out item))
  out)

(defn _fresh-id [id used]
  "Return a call id like ID that is not among those USED."
  (setv n 1)
  (while (in (setx fresh f"{(or id "call")}_{n}") used)
    (+= n 1))
  fresh)

(defn groups [calls]
  "Return CALLS in lists: neighbours that only read are one list, every other call is one of its own."
  (setv out [])
  (for [call calls]
    (setv read (= (get call "effect") "read"))
    (if (and read out (= (get out -1 0 "effect") "read") (not (get out -1 -1 "barrier")))
      (.append (get out -1) call)
      (.append out [call])))
  out)

;; * Running

(defn :async run [turn calls]
  "Run CALLS for TURN and record one result for each; return the results."
  (setv results []
        waiting (list calls))
  (try
    (for [group (groups calls)]
      (.extend results (await (run-group turn group waiting)))
      (when (and (get group -1 "barrier") waiting)
        (.extend results (refuse-rest turn waiting (.format AFTER-BARRIER (get group -1 "name"))))
        (break)))
    (conversation.sync turn.conversation)
    (except [asyncio.CancelledError]
      (refuse-rest turn waiting NOT-BEGUN)
      (raise))
    (except [e conversation.StorageFailed]
      (refuse-rest turn waiting (.format UNRECORDED e))
      (raise)))
  results)

(defn :async run-group [turn group waiting]
  "Run the calls of GROUP at the same time; record each result in the order of the calls and strike it from WAITING."
  (setv tasks (lfor call group (.create-task (asyncio.get-running-loop) (perform turn call))))
  (try
    (await (asyncio.wait tasks))        ; not the tasks themselves: one that ignores a cancel would keep it
    (except [asyncio.CancelledError]
      (await (_wind-up tasks))
      (record-group turn group tasks waiting)
      (raise)))
  (record-group turn group tasks waiting))

(defn record-group [turn group tasks waiting]
  "Record what the TASKS of the calls of GROUP came to and strike them from WAITING; return the results.
A disk that refuses one does not keep the others from being told; it is raised at the end."
  (setv results []
        problem None)
  (for [[call task] (zip group tasks)]
    (.remove waiting call)
    (.append results (_result-of task call))
    (try
      (record turn call (get results -1))
      (except [e conversation.StorageFailed]
        (setv problem e))))
  (when problem (raise problem))
  results)

(defn :async _wind-up [tasks]
  "Cancel TASKS and give them `cancel-patience` to clean up; a second interrupt ends the wait."
  (for [task tasks] (.cancel task))
  (try
    (await (asyncio.wait tasks :timeout cancel-patience))
    (except [asyncio.CancelledError])))

(defn _result-of [task call]
  "Return the result of CALL's TASK in a cancelled turn: its own if it had ended, else that nobody knows."
  (if (and (.done task) (not (.cancelled task)) (not (.exception task)))
    (.result task)
    (failed call projection.UNKNOWN)))

(defn failed [call text]
  "Return a failed result of CALL that says TEXT."
  (result.ToolResult :ok False :text text :tool (get call "name")))

(defn :async perform [turn call]
  "Run CALL, which is shown as a form first, and return its one result."
  (try
    (announce turn call)
    (if (.get (get call "item") "truncated")
      (failed call TRUNCATED)
      (await (registry.call (get call "name") (get call "arguments") (tool-context turn))))
    (except [asyncio.CancelledError]
      (when (.cancelling (asyncio.current-task))
        (raise))
      (failed call projection.UNKNOWN))            ; the tool cancelled itself, not the turn
    (except [e Exception]
      (failed call (+ f"{(get call "name")} failed before or after it ran, through a fault of the program: "
                      f"{(. (type e) __name__)}: {e}")))))

(defn tool-context [turn]
  "Return the context in which the tools of TURN run."
  (setv given turn.agent.tool-context)
  (if (callable given) (given) given))

(defn announce [turn call]
  "Publish that CALL begins, as the form that makes the same call."
  (setv [form shortened] (call-form.render (get call "name") (get call "arguments") form-limit))
  (request.show turn "call-started" :call-id (get call "id") :tool (get call "name") :form form :shortened shortened))

;; * Recording

(defn record [turn call outcome]
  "Record and publish OUTCOME as the one result of CALL."
  (+= turn.calls 1)
  (setv entry (numbered turn (result.record outcome (get call "id")))
        event (result.event outcome (get call "id")))
  (setv (get entry "tool") (or outcome.tool (get call "name"))
        (get event "tool") (get entry "tool"))
  (when outcome.restarts
    (setv (get event "restarts") (list outcome.restarts)))
  (try
    (conversation.append-all turn.conversation
      [(if (= (get call "persistence") "next-response") (| entry {"held" True}) entry)]
      :sync False)
    (finally
      (turn.agent.publish event)))
  (count-failure turn call outcome))

(defn numbered [turn entry]
  "Return ENTRY, a result's record, its images labelled with the conversation's next numbers."
  (setv images (projection.image-blocks entry)
        last (if images (projection.last-image turn.conversation.records) 0))
  (for [[i block] (enumerate images 1)]
    (setv (get block "label") f"[Image #{(+ last i)}]"))
  entry)

(defn refuse-rest [turn waiting reason]
  "Give each call in WAITING the result that it did not run for REASON, even when the disk refuses; return the results."
  (setv results [])
  (for [call (list waiting)]
    (.remove waiting call)
    (.append results (failed call f"{(get call "name")} failed: {reason}"))
    (try
      (record turn call (get results -1))
      (except [conversation.StorageFailed])))
  results)

(defn count-failure [turn call outcome]
  "Count how often CALL has failed with the same OUTCOME; a success that may have changed something starts anew."
  (if outcome.ok
    (when (!= (get call "effect") "read")
      (.clear turn.failing))
    (do (setv key #((get call "name") (_canonical (get call "arguments")) (alike outcome.text))
            [count _] (.get turn.failing key #(0 None)))
        (setv (get turn.failing key) #((+ count 1) outcome.text))))
  None)

(defn alike [text]
  "Return the text of a failure without what differs each time: counters, addresses, times, ids."
  (for [[pattern stand-in] varying]
    (setv text (re.sub pattern stand-in text)))
  text)

(defn _canonical [arguments]
  "Return ARGUMENTS as text that is the same for the same arguments."
  (if (isinstance arguments dict)
    (json.dumps arguments :sort-keys True :default repr)
    (str arguments)))

(defn stuck [turn]
  "Return why TURN should stop when a call has failed in the same way too often, else None."
  (for [[[name _ _] [count text]] (.items turn.failing)]
    (when (>= count (settings.value "identical-failure-limit"))
      (return (+ f"the same call of {name} failed {count} times in the same way ({(cut text 200)}); say what should be "
                 "done differently, or raise the setting identical-failure-limit and say continue"))))
  None)
