"A conversation's records as the events that were published when they were made, for redrawing and for user code. Pure."

(import
  autolith.state [conversation]
  autolith.tool [call-form registry])

(setv FORM-LIMIT 2000)

(defn last-events [c count]
  "Return the last COUNT events that the records of the conversation C mean, oldest first."
  (if (is c None)
    []
    (cut (events-of c.records) (- count) None)))

(defn events-of [records]
  "Return the events that RECORDS mean, oldest first. Records that show nothing give none."
  (setv names {} out [])
  (for [record records]
    (.extend out (_events record names)))
  out)

(defn _events [record names]
  "The events of one RECORD; NAMES maps the ids of calls to their tools, and is added to."
  (match (.get record "kind")
    "message" [(_event record "input-accepted" :id None :text (_text record) :kind "prompt" :images (.get record "images" []))]
    "item" (_item-events record (get record "item") names)
    "result" [(_event record "call-result" :call-id (get record "call_id")
                      :tool (.get record "tool" (.get names (get record "call_id") ""))
                      :ok (.get record "ok") :text (.get record "text" "") :seconds (.get record "seconds"))]
    "user-operation" (_operation-events record)
    "failure" (_failure-events record)
    "summary" (_summary-events record)
    _ []))

(defn _event [record event-type / #** fields]
  "The event EVENT-TYPE with FIELDS at the time of RECORD."
  {"type" event-type "seq" (.get record "seq") "time" (.get record "time") #** fields})

(defn _text [record]
  "What the user said in RECORD."
  (setv content (.get record "content" ""))
  (if (isinstance content str)
    content
    (.join "\n" (gfor block content :if (= (.get block "type") "text") (get block "text")))))

(defn _item-events [record item names]
  "The events of ITEM, something that a provider sent."
  (match (.get item "type")
    "message" [(_event record "answer" :text (_text item) :phase (.get item "phase"))]
    "reasoning" (if (.get item "text") [(_event record "reasoning" :text (get item "text"))] [])
    "function_call" [(_call-event record item names)]
    _ []))

(defn _call-event [record item names]
  "The event of the call ITEM."
  (setv tool (registry.find (get item "name"))
        name (if tool tool.name (get item "name"))
        [form shortened] (call-form.render name (.get item "arguments" {}) FORM-LIMIT)
        (get names (get item "call_id")) name)
  (_event record "call-started" :call-id (get item "call_id") :tool name :form form :shortened shortened))

(defn _operation-events [record]
  "The events of RECORD, a form or command of the user's."
  (setv source (.get record "source" "") status (.get record "status") result (.get record "result" ""))
  [(_event record "input-accepted" :id None :text source :kind (.get record "operation" "form") :images [])
   #* (if (.get record "printed") [(_event record "output" :text (get record "printed") :id None)] [])
   #* (if (and (= status "ok") result) [(_event record "value" :text result :id None)] [])
   (_event record "evaluation" :id None :source source :operation (.get record "operation" "form") :status status
           :values (if (and (= status "ok") result) [result] [])
           :condition (when (!= status "ok") {"message" result "traceback" "" "restarts" [] "type" (or (.get record "condition") "")})
           :beside False :seconds (.get record "seconds"))])

(defn _failure-events [record]
  "The events of RECORD, a request that failed or was stopped: the half answer, and why."
  (+ (if (.get record "partial") [(_event record "answer" :text (get record "partial") :phase "partial")] [])
     [(_event record "failure" :kind (.get record "cause") :text (.get record "text" "") :status None)]))

(defn _summary-events [record]
  "The events of the summary RECORD: that the conversation was compacted, and the messages that it keeps."
  [(_event record "compaction-done" :ok True :reason (.get record "reason") :before (.get record "tokens"))
   #* (lfor m (or (.get record "messages") [])
        (_event record "input-accepted" :id None :text (_text m) :kind "prompt" :images (.get m "images" [])))])

(defn inputs [c]
  "Return what the user typed in the conversation C, oldest first."
  (if (is c None)
    []
    (lfor record c.records
          :setv text (match (.get record "kind")
                       "message" (_text record)
                       "user-operation" (.get record "source")
                       _ None)
          :if text
          text)))
