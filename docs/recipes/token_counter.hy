;; A token counter: (tokens) says what this session has used, by model.
;;
;; It observes the session's events; docs/events.md lists them all.

(defonce spent {} "Model -> {\"input\" int \"cached\" int \"output\" int}.")
(defonce counting {} "The model that the running request asks.")

(defn count-tokens [event]
  "Add the tokens of EVENT to `spent`."
  (match (get event "type")
    "request-started" (setv (get counting "model") (get event "model"))
    "usage" (do (setv row (.setdefault spent (.get counting "model" "unknown") {"input" 0 "cached" 0 "output" 0}))
                (for [key row]
                  (+= (get row key) (or (.get (get event "usage") key) 0))))
    _ None))

(on-event count-tokens)

(defcommand tokens []
  "Show the tokens used in this session, by model."
  {"beside" "always"}
  (dict spent))
