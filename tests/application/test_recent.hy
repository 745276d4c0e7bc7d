"(history N): what happened, a sentence an event, over the segments of a conversation."

(import
  pytest
  autolith.agent [compaction]
  autolith.application [inputs recent running session transcript]
  autolith.provider [client]
  autolith.state [conversation]
  tests.application [lib]
  tests.doubles [scripted])

(defn texts [events kind]
  "Return the texts of those of EVENTS that are of KIND."
  (lfor e events :if (= (get e "type") kind) (get e "text")))

(defn test-older-segments-are-read [tmp-path]
  "With fewer events in the newest segment than are wanted the older ones come first, each message once, in a new process too."
  (with [server (scripted.Server (lfor word ["a1" "a2" "handoff" "a3"] (scripted.answer word)))]
    (setv form (server.provider "responses")
          s (lib.make-session form :cwd tmp-path))
    (defn :async steps [s]
      (for [word ["one" "two"]]
        (await (lib.say s word)))
      (await (compaction.compact (running.agent-of s) "asked"))
      (await (lib.say s "three"))
      (await (client.close)))
    (lib.play s steps)
    (setv c s.conversation
          whole (recent.events c 100))
    (assert (= (texts whole "input-accepted") ["one" "two" "three"]))
    (assert (= (texts whole "answer") ["a1" "a2" "a3"]))
    (assert (= (lfor n [0 1 3 6] (len (recent.events c n))) [0 1 3 6]))
    (assert (= (recent.events c 3) (cut whole -3 None)))
    (for [line (map recent.line whole)]
      (assert (> (len (.split line)) 2)))
    (setv again (do (conversation.close c) (conversation.open-conversation c.id)))
    (assert (= (lfor e (recent.events again 100) (get e "type")) (lfor e whole (get e "type"))))
    (conversation.close again)))

(defn test-the-command [tmp-path]
  "(history) shows what a form printed and the end of a turn in words, not by the names of events."
  (with [server (scripted.Server [[(scripted.calls "fs_nothing" {})] (scripted.answer "done")])]
    (setv s (lib.make-session (server.provider "chat-completions") :cwd tmp-path))
    (defn :async steps [s]
      (await (lib.say s "(print \"hello\")"))
      (await (lib.say s "go"))
      (await (lib.say s "(history 50)"))
      (await (client.close)))
    (lib.play s steps))
  (setv shown (get (lib.events s "value") -1 "text"))
  (for [word ["hello" "go" "2 requests" "1 call"]]
    (assert (in word shown)))
  (for [kind ["turn-done" "compaction-done" "input-accepted" "evaluation "]]
    (assert (not-in kind shown))))

(defn test-every-event-is-a-sentence []
  "No event that records can mean stands there by its bare name."
  (for [event [{"type" "retry" "text" "busy" "void" True} {"type" "compaction-done" "ok" True "reason" "threshold" "before" 110000}
               {"type" "compaction-done" "ok" False "text" "no model"} {"type" "output" "text" "a\nb"}
               {"type" "turn-done" "status" "cancelled" "requests" 1 "calls" 0 "seconds" None}
               {"type" "turn-done" "status" "done" "requests" 1 "calls" 2 "seconds" 3.5} {"type" "answered" "choice" "retry"}]]
    (setv line (recent.line {"time" "2026-01-01T10:20:30.000Z" #** event}))
    (assert (.startswith line "10:20 "))
    (assert (not-in (get event "type") line))
    (assert (= (len (.splitlines line)) 1))))

(defn test-a-retry-is-no-failed-turn [tmp-path]
  "A request that was sent again and then answered is shown as that: the turn is done, and its void half answer is not repeated."
  (with [server (scripted.Server [[(scripted.answer "half an") (scripted.cut)] (scripted.answer "whole")])]
    (setv s (lib.make-session (server.provider "responses") :cwd tmp-path))
    (defn :async steps [s]
      (await (lib.say s "go"))
      (await (client.close)))
    (lib.play s steps))
  (setv found (recent.events s.conversation 20))
  (assert (= (lfor e found (get e "type")) ["input-accepted" "retry" "answer" "turn-done"]))
  (assert (= (get found -1 "status") "done"))
  (assert (= (get found -1 "requests") 2)))
