"A conversation's records as the events that were published when they were made, for redrawing and for user code. Pure."

(import
  autolith.state [projection]
  autolith.tool [call-form registry])

(setv FORM-LIMIT 2000)

(defn last-events [c count]
  "Return the last COUNT events that the records of the conversation C mean, oldest first."
  (if (is c None)
    []
    (cut (events-of c.records) (- count) None)))

(defn events-of [records]
  "Return the events that RECORDS mean, oldest first. Records that show nothing give none."
  (setv names {} out [] turn None)
  (for [record records]
    (when (and turn (_over? turn record))
      (.extend out (_turn-events turn))
      (setv turn None))
    (when (_prompt? record)
      (setv turn {"status" "done" "requests" 0 "calls" 0 "open" (set) "usage" {} "ending" False "begin" record}))
    (when turn (_follow turn record))
    (.extend out (_events record names)))
  (+ out (if turn (_turn-events turn) [])))

;; * Turns: their ends are not recorded, but follow from what is

(defn _prompt? [record]
  "Does RECORD begin a turn?"
  (and (= (.get record "kind") "message") (not (.get record "steering"))))

(defn _over? [turn record]
  "Has TURN ended before RECORD?"
  (or (_prompt? record)
      (and (get turn "ending") (in (.get record "kind") ["user-operation" "summary"]))))

(defn _follow [turn record]
  "Note in TURN what RECORD tells of it."
  (setv (get turn "end") record)
  (match (.get record "kind")
    "message" (setv (get turn "ending") False)
    "item" (do (setv (get turn "ending") False)
               (when (= (.get (get record "item") "type") "function_call")
                 (+= (get turn "calls") 1)
                 (.add (get turn "open") (get record "item" "call_id"))))
    "result" (when (!= (.get record "text") projection.UNKNOWN)       ; else no request had followed the calls
               (.discard (get turn "open") (get record "call_id")))
    "usage" (do (+= (get turn "requests") 1)
                (for [[k v] (.items (or (.get record "usage") {})) :if (is (type v) int)]
                  (setv (get turn "usage" k) (+ v (.get (get turn "usage") k 0))))
                (setv (get turn "ending") (not (get turn "open"))))
    "failure" (do (when (or (.get record "void") (not (get turn "open"))) (+= (get turn "requests") 1))
                  (when (.get record "void") (return))            ; the request was sent again
                  (setv (get turn "status") (if (= (.get record "cause") "interrupted") "cancelled" "failed")
                        (get turn "ending") True))))

(defn _turn-events [turn]
  "The event of the end of TURN; none where its process ended before it."
  (if (get turn "ending")
    [(_event (get turn "end") "turn-done" :id None :status (get turn "status") :reason None
             :requests (get turn "requests") :calls (get turn "calls") :usage (get turn "usage")
             :seconds (_seconds-between (get turn "begin") (get turn "end")))]
    []))

(defn _seconds-between [a b]
  "How many seconds lie between the records A and B, or None where their times cannot be read."
  (import datetime [datetime])
  (try
    (max 0 (.total-seconds (- (datetime.fromisoformat (get b "time")) (datetime.fromisoformat (get a "time")))))
    (except [[KeyError TypeError ValueError]] None)))

;; * Records

(defn _events [record names]
  "The events of one RECORD; NAMES maps the ids of calls to their tools, and is added to."
  (match (.get record "kind")
    "message" (if (.get record "steering")
                [(_event record "steering-applied" :texts [(_text record)])]
                [(_event record "input-accepted" :id None :text (_text record) :kind "prompt" :images (.get record "images" []))])
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
   #* (lfor asked (.get record "asked" []) event (_question-events record asked) event)
   #* (if (.get record "printed") [(_event record "output" :text (get record "printed") :id None)] [])
   #* (if (and (= status "ok") result)
        (lfor text (or (.get record "values") [result]) (_event record "value" :text text :id None))
        [])
   (_event record "evaluation" :id None :source source :operation (.get record "operation" "form") :status status
           :values (if (and (= status "ok") result) [result] [])
           :condition (when (!= status "ok") {"message" result "traceback" "" "restarts" [] "type" (or (.get record "condition") "")})
           :beside False :seconds (.get record "seconds"))])

(defn _question-events [record asked]
  "The events of ASKED, a question that the form of RECORD put, and of its answer."
  (+ [(_event record "question" :id None :text (get asked "text") :detail (get asked "detail") :own True
              :choices (lfor name (get asked "choices") {"name" name "doc" "" "values" None}))]
     (if (is (get asked "choice") None) [] [(_event record "answered" :id None :choice (get asked "choice")
                                                                  :values (.get asked "values" []))])))

(defn _failure-events [record]
  "The events of RECORD, a request that failed or was stopped: the half answer, and why, unless the user stopped it; where it was
sent again, only that."
  (when (.get record "void")
    (return [(_event record "retry" :text (.get record "text" "") :void True :reason (.get record "cause"))]))
  (+ (if (.get record "partial") [(_event record "answer" :text (get record "partial") :phase "partial")] [])
     (if (= (.get record "cause") "interrupted")
       []
       [(_event record "failure" :kind (.get record "cause") :text (.get record "text" "") :status None)])))

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
