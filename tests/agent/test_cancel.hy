"Cancelling a turn, in each of its phases, and killing its process: what stays is true and acceptable to every provider."

(import
  asyncio
  json
  os
  signal
  socket
  subprocess
  sys
  time
  pytest
  autolith.agent [calls]
  autolith.state [conversation projection]
  tests.agent [lib]
  tests.doubles [scripted])

(setv PHASES {"reasoning" [(scripted.reasoning "deep thoughts") (scripted.stall)]
              "text" [(scripted.answer "whole text ") (scripted.answer "half of the rest") (scripted.stall)]
              "call" [(scripted.answer "I will ") (scripted.calls "lab_note" {"text" "never"}) (scripted.stall)]
              "nothing yet" [(scripted.stall)]}
      SIGNS {"reasoning" "thoughts" "text" "half" "call" "lab_note" "nothing yet" "request-started"})

(defn :async gone [server]
  "Wait until SERVER has seen its client go away."
  (for [_ (range 500)]
    (when server.disconnects (return True))
    (await (asyncio.sleep 0.01)))
  False)

(defn [(pytest.mark.parametrize "wire" lib.WIRES) (pytest.mark.parametrize "phase" (list PHASES))]
  test-cancel-while-it-streams [tmp-path wire phase]
  "A cancelled stream is closed; what had come is a failure record, never a whole answer, and the next turn works."
  (with [server (scripted.Server [(get PHASES phase) (scripted.answer "here again")])]
    (setv b (lib.Bench (server.provider wire) tmp-path))
    (defn :async scenario []
      (setv outcome (await (b.cancelled-when (fn [] (and server.requests (in (get SIGNS phase) (str b.events)))) "go")))
      (assert (await (gone server)))
      outcome)
    (setv outcome (asyncio.run (scenario)))
    (assert (= (get outcome "status") "cancelled"))
    (assert (= (b.records "item") []))
    (setv [failure] (b.records "failure"))
    (assert (= (get failure "cause") "interrupted"))
    (assert (= (in "half" (get failure "partial")) (= phase "text")))
    (assert (= (get (b.prompt "are you there?") "text") "here again"))
    (setv body (json.dumps (get server.requests 1 "body"))))
  (assert (= (in "untrusted" body) (bool (get failure "partial"))))
  (assert (= lib.done [])))

(defn test-cancel-while-it-connects [tmp-path]
  "A turn whose provider accepts the connection and says nothing is cancelled like any other."
  (with [listener (socket.socket)]
    (.bind listener #("127.0.0.1" 0))
    (.listen listener)
    (with [server (scripted.Server [])]
      (setv form (| (server.provider "responses") {"base_url" f"http://127.0.0.1:{(get (.getsockname listener) 1)}"})))
    (setv b (lib.Bench form tmp-path)
          outcome (asyncio.run (b.cancelled-when (fn [] (in "request-started" (b.kinds))) "go"))))
  (assert (= (get outcome "status") "cancelled"))
  (assert (= (lib.history-complaints b.agent.conversation) [])))

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-cancel-while-a-tool-runs [tmp-path wire]
  "Of the calls of a cancelled round those that ended keep their results, the running one is unknown, the rest did not run."
  (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "a"} "lab_wait" {} "lab_note" {"text" "c"} "lab_note" {"text" "d"})]
                                  (scripted.answer "here again")])]
    (setv b (lib.Bench (server.provider wire) tmp-path)
          outcome (asyncio.run (b.cancelled-when (fn [] (in "waiting" lib.done)) "go")))
    (assert (= (get outcome "status") "cancelled"))
    (setv told (list (.values (lib.results b))))
    (assert (= (cut told 2) ["noted a" projection.UNKNOWN]))
    (assert (all (gfor text (cut told 2 None) (in "not run" text))))
    (assert (= lib.done ["a" "waiting"]))
    (assert (= (get (b.prompt "and now?") "status") "done"))))

(defn test-cancel-keeps-the-reads-that-ended [tmp-path]
  "Of reads that run together the ones that ended before the cancel keep their results."
  (with [server (scripted.Server [[(scripted.calls "lab_meet" {"count" 1} "resource_read" {"uri" "workspace:."} "lab_meet" {"count" 5})]])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (defn ready []
      (and (in "met 1" lib.done) (>= (get lib.meeting "here") 2)))
    (defn :async slow-meet []
      (await (b.cancelled-when ready "go")))
    (asyncio.run (slow-meet)))
  (assert (= (len (b.records "result")) 3))
  (assert (= (get (b.records "result") 0 "text") "met"))
  (assert (= (lib.history-complaints b.agent.conversation) [])))

(defn test-a-tool-that-will-not-stop [tmp-path monkeypatch]
  "A tool that ignores its cancellation is waited for so long and no longer; its outcome is unknown."
  (defn :async stubborn [turn call]
    (.append lib.done "stubborn")
    (while True
      (try (await (asyncio.sleep 3600))
        (except [asyncio.CancelledError]))))
  (monkeypatch.setattr calls "perform" stubborn)
  (monkeypatch.setattr calls "cancel_patience" 0.05)
  (with [server (scripted.Server [[(scripted.calls "lab_note" {"text" "x"})]])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (setv loop (asyncio.new-event-loop))
    (try
      (setv outcome (.run-until-complete loop (b.cancelled-when (fn [] (in "stubborn" lib.done)) "go")))
      (finally
        (.set-exception-handler loop (fn [#* _] None))
        (.close loop))))
  (assert (= (get outcome "status") "cancelled"))
  (assert (= (list (.values (lib.results b))) [projection.UNKNOWN])))

(defn test-second-cancel [tmp-path]
  "A second cancel during the clean-up of the first does no harm."
  (with [server (scripted.Server [[(scripted.calls "lab_wait" {})] (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (defn :async twice []
      (import autolith.agent [turn])
      (setv task (asyncio.create-task (turn.run b.agent "go")))
      (while (not-in "waiting" lib.done) (await (asyncio.sleep 0.002)))
      (.cancel task)
      (.cancel task)
      (await task))
    (assert (= (get (asyncio.run (twice)) "status") "cancelled"))
    (assert (= (get (b.prompt "on") "status") "done"))))

;; * Killed

(setv CHILD "
import asyncio, json, os, sys, hy
from autolith.agent import agent, turn
from autolith.state import conversation
from autolith.tool import context
from tests.agent import lib
lib.install()
form = json.loads(sys.argv[1])
c = conversation.create(sys.argv[2], provider=form['name'], model='scripted', effort=None)
print(c.id, flush=True)
def publish(event):
    print(event['type'], flush=True)
a = agent.Agent(conversation=c, provider=form, model='scripted', cwd=sys.argv[2], publish=publish,
                tool_context=lambda: context.ToolContext(cwd=sys.argv[2], conversation=c.id))
print(asyncio.run(turn.run(a, 'go')), flush=True)
")

(setv KILLED {"before an answer" [[[(scripted.stall)]] "request-started"]
              "in the text" [[[(scripted.answer "half of it") (scripted.stall)]] "text-delta"]
              "in a tool" [[[(scripted.reasoning "hm") (scripted.calls "lab_note" {"text" "a"} "lab_wait" {} "lab_note" {"text" "b"})]] "call-result"]
              "in the second request" [[[(scripted.calls "lab_note" {"text" "a"})] [(scripted.stall)]] "call-result"]})

(defn [(pytest.mark.parametrize "name" (list KILLED))] test-kill-and-resume [tmp-path name]
  "A process killed in the middle of a turn loses nothing that it had said it had; the conversation resumes and goes on."
  (setv [script sign] (get KILLED name)
        lines [])
  (with [server (scripted.Server [#* script (scripted.answer "back again")])]
    (setv form (server.provider "anthropic-messages")
          child (subprocess.Popen [sys.executable "-c" CHILD (json.dumps form) (str tmp-path)] :stdout subprocess.PIPE :text True))
    (try
      (setv id (.strip (.readline child.stdout)))
      (while (not-in sign lines)
        (setv line (.readline child.stdout))
        (assert line (.join " " lines))
        (.append lines (.strip line)))
      (while (< (len server.requests) (len script))
        (time.sleep 0.01))
      (finally
        (.kill child)
        (.wait child)
        (.close child.stdout)))
    (setv c (conversation.open-conversation id)
          b (lib.Bench form tmp-path :c c))
    (assert (= (get (get (conversation.items c) 0) "content" 0 "text") "go"))
    (when (in "a tool" name)
      (assert (= (len (lib.results b)) 3))
      (assert (= (list (.values (lib.results b))) ["noted a" projection.UNKNOWN projection.UNKNOWN])))
    (assert (= (lib.history-complaints c "anthropic-messages") []))
    (assert (= (get (b.prompt "are you there?") "text") "back again"))
    (conversation.close c)))

(setv FULL "
import asyncio, json, os, resource, signal, sys, hy
from autolith.agent import agent, turn
from autolith.state import conversation
from autolith.tool import context
from tests.agent import lib
lib.install()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
form = json.loads(sys.argv[1])
c = conversation.create(sys.argv[2], provider=form['name'], model='scripted', effort=None)
conversation.append(c, {'kind': 'note', 'text': 'x' * int(sys.argv[3])})
events = []
a = agent.Agent(conversation=c, provider=form, model='scripted', cwd=sys.argv[2], publish=events.append,
                tool_context=lambda: context.ToolContext(cwd=sys.argv[2], conversation=c.id))
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(c.path) + int(sys.argv[4]), hard))
try:
    outcome = asyncio.run(turn.run(a, 'go'))
except conversation.StorageFailed as e:
    outcome = {'status': 'refused', 'reason': str(e)}
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
again = asyncio.run(turn.run(a, 'again'))
conversation.close(c)
print(json.dumps([c.id, outcome['status'], outcome['reason'], lib.done, again['status'], [e['type'] for e in events]]))
")

(defn [(pytest.mark.parametrize "room" [10 2500 2800])] test-full-disk-stops-the-turn [tmp-path room]
  "With no room for records the turn stops with the reason before any tool runs unrecorded; with room again it goes on, whole."
  (setv first [(scripted.answer (* "long words " 400)) (scripted.calls "lab_note" {"text" "a"} "lab_note" {"text" "b"})]
        script (if (= room 10) [(scripted.answer "ok")] [first (scripted.answer "ok")]))
  (with [server (scripted.Server script)]
    (setv out (subprocess.run [sys.executable "-c" FULL (json.dumps (server.provider "responses")) (str tmp-path) "10" (str room)]
                              :capture-output True :text True))
    (assert (= out.returncode 0) out.stderr)
    (setv [id status reason done again kinds] (json.loads (get (.splitlines out.stdout) -1))))
  (assert (= status (if (= room 10) "refused" "failed")))
  (assert (in "room" reason))
  (assert (= done []))
  (assert (= again "done"))
  (setv c (conversation.open-conversation id))
  (assert (= c.warnings []))
  (assert (= (lib.history-complaints c) []))
  (assert (= (lfor r c.records (get r "seq")) (list (range 1 (+ (len c.records) 1)))))
  (conversation.close c))
