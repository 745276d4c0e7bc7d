"Sessions of the real program that are killed without a word, and what the next one finds."

(import
  json
  os
  signal
  subprocess
  autolith.base [log]
  autolith.state [conversation lease projection segment]
  tests.door.terminal [lib :as terminal]
  tests.doubles [scripted])

(defn killed [server cwd text sight]
  "Start a session in CWD with SERVER, say TEXT, and kill all of it as soon as SIGHT is on its screen."
  (with [tty (terminal.talking server cwd)]
    (.line tty text)
    (.until tty sight)
    (os.killpg tty.child.pid signal.SIGKILL)
    (.status tty)))

(defn go-on [server cwd text]
  "Continue the newest conversation of CWD with TEXT in another process; return what came of it."
  (subprocess.run (terminal.argv "-c" "-p" text) :cwd (str cwd) :capture-output True :text True :timeout 60
                  :env {#** os.environ "PYTHONPATH" terminal.ROOT "OPENAI_API_KEY" "test-key" "OPENAI_BASE_URL" server.base-url}))

(defn on-disk [kind]
  "Return the records of KIND of the only conversation there is."
  (setv [row] (conversation.listing))
  (lfor r (get (log.read (segment.path (get row "id") 1)) "records") :if (= (get r "kind") kind) r))

(defn test-killed-in-the-middle-of-an-answer [tmp-path]
  "A session that is killed while an answer comes in leaves the user's message, nothing of the answer, and no lease; the next goes on."
  (with [server (scripted.Server [[(scripted.answer "Half of what I wanted to say") (scripted.stall)]
                                  (scripted.answer "All of it.")
                                  (scripted.answer "And more.")])]
    (killed server tmp-path "tell me all" "Half of what")
    (assert (= (lease.held) (set)))
    (assert (= (on-disk "item") []))
    (setv done (go-on server tmp-path "once more"))
    (assert (= [done.returncode done.stdout] [0 "All of it.\n"]) done.stderr)
    (assert (in "tell me all" (json.dumps (get server.requests -1 "body"))))
    (assert (in "once more" (json.dumps (get server.requests -1 "body"))))
    (assert (= (. (go-on server tmp-path "more") stdout) "And more.\n")))
  (assert (= (lfor r (on-disk "message") (get r "content")) ["tell me all" "once more" "more"])))

(defn test-killed-in-the-middle-of-a-call [tmp-path]
  "A session that is killed while a call runs leaves calls that the next one repairs, once; what was not begun does not run."
  (setv slow "(do (print \"slow\") (import time) (time.sleep 600))"
        mark (/ tmp-path "mark"))
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" slow} "self_eval" {"form" f"(open \"{mark}\" \"w\")"})
                                  (scripted.answer "I see.")
                                  (scripted.answer "Still so.")])]
    (killed server tmp-path "be slow" r"time\.sleep")
    (assert (= (len (on-disk "item")) 2))
    (assert (= (on-disk "result") []))
    (setv done (go-on server tmp-path "what happened?"))
    (assert (= [done.returncode done.stdout] [0 "I see.\n"]) done.stderr)
    (assert (= (.count (json.dumps (get server.requests -1 "body")) "outcome of this call is unknown") 2))
    (assert (= (. (go-on server tmp-path "and now?") stdout) "Still so.\n")))
  (assert (= (lfor r (on-disk "result") [(get r "ok") (get r "text")]) (* [[False projection.UNKNOWN]] 2)))
  (assert (not (.exists mark))))
