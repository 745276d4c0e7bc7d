"A provider's own compaction over a real socket: asked for where the provider offers it, sent home untouched, and done without."

(import
  asyncio
  json
  subprocess
  sys
  pytest
  autolith.agent [compaction handoff]
  autolith.provider [client compact registry]
  autolith.state [conversation]
  tests.agent [lib]
  tests.doubles [scripted])

(setv HANDOFF "Goal: keep the poem. Open: the last line."
      QUIRKS {"compaction" True "cache_key" True}
      NEXT "
import json, sys, hy
from tests.agent import lib
from autolith.state import conversation
lib.Bench(json.loads(sys.argv[2]), sys.argv[3], c=conversation.open_conversation(sys.argv[1])).prompt('go on')
")

(defn compacted [b]
  "Compact B's conversation by hand; return the record."
  (defn :async run []
    (try
      (await (compaction.compact b.agent "asked"))
      (finally (await (client.close)))))
  (asyncio.run (run)))

(defn types [server n]
  "Return the types of the items in the input of the Nth request."
  (lfor item (get server.requests n "body" "input") (.get item "type")))

(defn own [server n]
  "Return the bytes of the compaction item in the Nth request, or None."
  (next (gfor item (get server.requests n "body" "input") :if (= (.get item "type") "compaction") (json.dumps item)) None))

(defn test-asked-for-and-replayed [tmp-path]
  "A history with calls is compacted by the provider and by a summary; the item goes back as it came, in another process too."
  (with [server (scripted.Server [[(scripted.reasoning "hm") (scripted.calls "lab_note" {"text" "x"})] (scripted.answer "noted")
                                  (scripted.compacted) (scripted.answer HANDOFF) (scripted.answer "b") (scripted.answer "c")])]
    (setv form (server.provider "responses" :quirks QUIRKS)
          b (lib.Bench form tmp-path))
    (b.prompt "note x")
    (setv entry (compacted b)
          asked (get server.requests 2))
    (assert (.endswith (get asked "path") "/responses/compact"))
    (assert (= (types server 2) ["message" "reasoning" "function_call" "function_call_output" "message"]))
    (assert (= (get asked "body" "instructions") (get server.requests 1 "body" "instructions")))
    (assert (= (get asked "body" "prompt_cache_key") (get b.agent.conversation.header "cache_key")))
    (assert (in HANDOFF (get entry "content")))
    (assert (>= (get entry "usage" "input") 1000))
    (b.prompt "two")
    (assert (= (types server 4) ["message" "compaction" "message" "message"]))
    (conversation.close b.agent.conversation)
    (subprocess.run [sys.executable "-c" NEXT b.agent.conversation.id (json.dumps form) b.directory] :check True :timeout 60)
    (assert (= (own server 4) (own server 5) (json.dumps (get entry "native" -1 "raw"))))
    (assert (= (cut (get server.requests 5 "body" "input") 4) (cut (get server.requests 4 "body" "input") 4)))))

(defn test-a-switch-goes-by-the-summary [tmp-path]
  "Another model or wire gets the summary and no compaction; the first one gets its item again."
  (with [server (scripted.Server [(scripted.answer "a") (scripted.compacted) (scripted.answer HANDOFF)
                                  #* (* [(scripted.answer "b")] 5)])]
    (setv form (server.provider "responses" :quirks QUIRKS)
          b (lib.Bench form tmp-path))
    (b.prompt "one")
    (compacted b)
    (for [[provider model] [[form "another"] [(server.provider "chat-completions" :name "chat") "scripted"]
                            [(server.provider "anthropic-messages" :name "other") "scripted"]
                            [(server.provider "responses" :name "third") "scripted"]]]
      (setv b.agent.provider provider b.agent.model model)
      (b.prompt "and now?")
      (setv text (json.dumps (get server.requests -1 "body")))
      (assert (and (in HANDOFF text) (not-in "cmp_" text))))
    (setv b.agent.provider form b.agent.model "scripted")
    (b.prompt "back")
    (assert (own server -1))))

(defn test-again [tmp-path]
  "A compaction of a compacted history hands the item in and replaces it; what is compacted needs no compaction."
  (with [server (scripted.Server [(scripted.answer "a") (scripted.compacted) (scripted.answer HANDOFF) (scripted.answer "b")
                                  (scripted.compacted) (scripted.answer "second handoff") (scripted.answer "c")])]
    (setv b (lib.Bench (server.provider "responses" :quirks QUIRKS) tmp-path))
    (b.prompt "one")
    (compacted b)
    (with [_ (pytest.raises compaction.NothingToCompact)]
      (compacted b))
    (b.prompt "two")
    (setv first (own server 3)
          entry (compacted b))
    (assert (= (own server 4) first))
    (assert (not-in "cmp_" (json.dumps (get server.requests 5 "body"))))
    (assert (not (any (gfor i (get entry "native") (handoff.summary? (get i "raw"))))))
    (b.prompt "three")
    (assert (not-in (own server 6) [first None]))
    (assert (not-in HANDOFF (json.dumps (get server.requests 6 "body"))))))

(defn [(pytest.mark.parametrize "part" [(scripted.error 404) (scripted.error 405) (scripted.error 500) (scripted.error 401)
                                        (scripted.page "<html>proxy</html>") (scripted.page "{\"output\": [3]}")
                                        (scripted.page "[]" :content-type "application/json")
                                        (scripted.page "{\"error\": {\"message\": \"no\"}}")])]
    test-without-it [tmp-path part]
  "Whatever the provider says instead of a compaction, the summary alone stands, with a word about it."
  (with [server (scripted.Server [(scripted.answer "a") part (scripted.answer HANDOFF) (scripted.answer "b")])]
    (setv b (lib.Bench (server.provider "responses" :quirks QUIRKS) tmp-path)
          _ (b.prompt "one")
          entry (compacted b))
    (assert (and (in HANDOFF (get entry "content")) (not-in "native" entry)))
    (assert (= (len (b.of-kind "notice")) 1))
    (assert (get (b.of-kind "compaction-done") 0 "ok"))
    (b.prompt "two")
    (assert (is (own server 3) None))))

(defn test-cancelled-and-too-slow [tmp-path monkeypatch]
  "A compaction that is cancelled while the provider works changes nothing; one that takes too long gives way to the summary."
  (with [server (scripted.Server [(scripted.answer "a") (scripted.stall) (scripted.stall) (scripted.answer HANDOFF)])]
    (setv b (lib.Bench (server.provider "responses" :quirks QUIRKS) tmp-path)
          _ (b.prompt "one")
          before (list b.agent.conversation.records))
    (defn :async cancelled []
      (setv task (asyncio.create-task (compaction.compact b.agent "asked")))
      (while (< (len server.requests) 2)
        (await (asyncio.sleep 0.005)))
      (.cancel task)
      (with [_ (pytest.raises asyncio.CancelledError)]
        (await task))
      (await (client.close)))
    (asyncio.run (cancelled))
    (assert (= b.agent.conversation.records before))
    (assert (not (get (b.of-kind "compaction-done") 0 "ok")))
    (monkeypatch.setattr compact "patience" 0.2)
    (assert (not-in "native" (compacted b)))
    (assert (= (len (b.of-kind "notice")) 1))))

(defn test-who-offers-it []
  "OpenAI's provider compacts by itself, what extends it too; other wires never do, whatever their quirks say."
  (assert (compact.offered? (registry.find "openai")))
  (assert (compact.offered? (registry.checked "eu" {"extends" "openai" "base_url" "https://eu.example/v1"} (registry.providers))))
  (assert (not (compact.offered? (registry.find "grok"))))
  (assert (not (compact.offered? {"wire" "chat-completions" "quirks" QUIRKS}))))

(defn test-images-do-not-fill-the-record []
  "The data of an image in the answer is not kept; the compaction is, byte for byte."
  (setv form {"name" "p" "wire" "responses" "quirks" QUIRKS}
        item {"type" "compaction" "id" "cmp_1" "encrypted_content" "AAA=" "created_by" "x"}
        message {"type" "message" "role" "user" "content" [{"type" "input_text" "text" "look"}
                                                           {"type" "input_image" "image_url" "data:image/png;base64,QUJD"}]}
        found (compact.decode {"provider" form "model" "m"} {"output" [message item] "usage" None}))
  (assert (= (lfor i (get found "items") (get i "origin")) ["p/m" "p/m"]))
  (assert (= (get found "items" 1 "raw") item))
  (assert (not-in "QUJD" (json.dumps found))))
