"Images of the user: one number each in a conversation, the same at the door, in the record and for the model."

(import
  asyncio
  json
  re
  PIL [Image]
  pytest
  autolith.agent [compaction]
  autolith.application [inputs running session]
  autolith.door.terminal [scroll]
  autolith.provider [client]
  autolith.state [conversation pending projection]
  tests.application [lib]
  tests.doubles [scripted])

(defn picture [directory name color]
  "Make an image NAME of COLOR in DIRECTORY; return its path."
  (.save (Image.new "RGB" #(2 2) color) (/ directory name))
  (str (/ directory name)))

(defn labels [text]
  "Return the numbers of the images that TEXT names, each once."
  (sorted (set (map int (re.findall r"\[Image #(\d+)" text)))))

(defn sent [server n]
  "Return the numbers of the images in the Nth request."
  (labels (json.dumps (get server.requests n "body"))))

(defn :async show [s text #* paths]
  "Submit TEXT with the images at PATHS and wait until all is done."
  (inputs.submit s text (list paths))
  (await (lib.idle s)))

(defn test-numbers-go-on [tmp-path]
  "The second message's image has the next number, in a resumed conversation and after a compaction too."
  (setv [a b c] (lfor [name color] [["a.png" "red"] ["b.png" "blue"] ["c.png" "green"]] (picture tmp-path name color)))
  (with [server (scripted.Server (* [(scripted.answer "seen")] 6))]
    (setv form (server.provider "responses")
          s (lib.make-session form :cwd tmp-path))
    (lib.play s (fn :async [s] (await (show s "one" a b)) (await (show s "two" c))))
    (assert (= (sent server 0) [1 2]))
    (assert (= (sent server 1) [1 2 3]))
    (setv shown (lfor e (lib.events s "input-accepted") (labels (scroll.with-images e))))
    (assert (= shown [[1 2] [3]]))
    (assert (in a (scroll.with-images (get (lib.events s "input-accepted") 0))))
    (setv id s.conversation.id)
    (conversation.close s.conversation)
    (setv again (lib.make-session form :cwd tmp-path))
    (session.resume again id)
    (defn :async more [s]
      (await (show s "three" a))
      (await (compaction.compact (running.agent-of s) "asked"))
      (await (show s "four" b))
      (await (client.close)))
    (lib.play again more)
    (assert (= (sent server 2) [1 2 3 4]))
    (assert (= (get (sent server -1) -1) 5))
    (assert (= (projection.last-image again.conversation.records) 5))
    (conversation.close again.conversation)))

(defn test-what-waits-keeps-its-number [tmp-path]
  "Messages that wait have their numbers already and keep them over a restart; a new conversation counts from one."
  (setv [a b] (lfor [name color] [["a.png" "red"] ["b.png" "blue"]] (picture tmp-path name color)))
  (with [server (scripted.Server [(scripted.answer "seen") (scripted.answer "seen") (scripted.answer "seen")])]
    (setv form (server.provider "anthropic-messages")
          s (lib.make-session form :cwd tmp-path))
    (lib.play s (fn :async [s] (await (show s "one" a))))
    (setv id s.conversation.id)
    (pending.save id [{"kind" "prompt" "text" "later" "source" None "running" False
                       "images" (session.numbered s [b])}])
    (conversation.close s.conversation)
    (setv again (lib.make-session form :cwd tmp-path))
    (session.resume again id)
    (inputs.restore again)
    (defn :async go-on [s]
      (inputs.follow-up s "and this" [a])
      (inputs.submit s "")
      (await (lib.idle s))
      (await (client.close)))
    (lib.play again go-on)
    (assert (= (sent server -1) [1 2 3]))
    (session.begin again)
    (assert (= (get (session.numbered again [a]) 0 "label") "[Image #1]"))
    (conversation.close again.conversation)))
