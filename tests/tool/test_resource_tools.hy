"The tools resource.read and resource.edit, as a model and as code call them."

(import
  asyncio
  json
  os
  pytest
  autolith.base [threads]
  autolith.resource [protocol]
  autolith.tool [context registry resource result])

(defn [pytest.fixture] caller [tmp-path]
  "A model's context in a folder of its own."
  (context.ToolContext :cwd (str tmp-path) :observations (protocol.Observations) :origin "model"))

(defn call [caller name #** arguments]
  "Call the tool NAME with ARGUMENTS as a model would, for CALLER."
  (asyncio.run (registry.call name arguments caller)))

(defn put [caller name text]
  "Write TEXT to the file NAME of CALLER's folder."
  (with [f (open (os.path.join caller.cwd name) "w" :newline "")] (.write f text)))

(defn content [caller name]
  "Return the text of the file NAME of CALLER's folder."
  (with [f (open (os.path.join caller.cwd name) :newline "")] (.read f)))

(defn test-read [caller]
  "A read gives text for the model and data for code."
  (put caller "f" "one\ntwo\n")
  (setv r (call caller "resource_read" :uri "workspace:f"))
  (assert r.ok)
  (assert (in "     2  two" r.text))
  (assert (= (get r.data "kind") "file"))
  (assert (= (lfor k ["uri" "revision" "kind" "visible" "elided" "lines"] :if (not-in k r.data) k) []))
  (assert (json.dumps r.data)))

(defn test-edit [caller]
  "A model's edit with snake-case keys is made; the data has the difference."
  (put caller "f" "one\ntwo\n")
  (setv revision (get (call caller "resource.read" :uri "workspace:f") "revision")
        r (call caller "resource_edit" :uri "workspace:f" :base-revision revision
                :operations [{"op" "replace-lines" "start_line" 2 "end_line" 2 "content" "TWO"}
                             {"op" "insert-before" "line" 1 "content" "zero"}]))
  (assert r.ok)
  (assert (= (content caller "f") "zero\none\nTWO\n"))
  (assert (= (get r.data "changes" 0 "added") 2))
  (assert (json.dumps r.data)))

(defn test-also [caller]
  "Further files change in the same step, or none does."
  (put caller "a" "1\n")
  (put caller "b" "2\n")
  (setv [a b] (lfor n "ab" (get (call caller "resource.read" :uri f"workspace:{n}") "revision"))
        change (fn [text] {"op" "replace-lines" "start_line" 1 "end_line" 1 "content" text}))
  (setv r (call caller "resource.edit" :uri "workspace:a" :base-revision a :operations [(change "one")]
                :also [{"uri" "workspace:b" "base_revision" "R0" "operations" [(change "two")]}]))
  (assert (not r.ok))
  (assert (= (content caller "a") "1\n"))
  (setv r (call caller "resource.edit" :uri "workspace:a" :base-revision a :operations [(change "one")]
                :also [{"uri" "workspace:b" "base_revision" b "operations" [(change "two")]}]))
  (assert r.ok)
  (assert (= #((content caller "a") (content caller "b")) #("one\n" "two\n"))))

(defn test-restart-by-name [caller]
  "A failed edit names its restarts, and a repeated call takes one by name."
  (put caller "f" "one\n")
  (setv operations [{"op" "replace-lines" "start_line" 1 "end_line" 1 "content" "x"}]
        r (call caller "resource.edit" :uri "workspace:f" :base-revision "R0" :operations operations))
  (assert (and (not r.ok) (in "reread" r.restarts)))
  (setv r (call caller "resource.edit" :uri "workspace:f" :base-revision "R0" :operations operations :restart "reread"))
  (assert (and r.ok (get r.data "revision")))
  (assert (= (content caller "f") "one\n"))
  (setv fill [{"op" "replace-empty" "content" "x"}]
        r (call caller "resource.edit" :uri "workspace:new" :base-revision "R0" :operations fill))
  (assert (in "create" r.restarts))
  (assert (. (call caller "resource.edit" :uri "workspace:new" :base-revision "R0" :operations fill :restart "create") ok))
  (assert (= (content caller "new") "x")))

(defn [(pytest.mark.parametrize "operations"
         [[] [{"op" "rename"}] [{"op" "replace-lines" "start_line" 1}] [{"op" "delete-lines" "start_line" 1 "end_line" 1 "content" "x"}]
          [{"op" "insert-after" "line" "1" "content" "x"}] "replace" [{"op" "final-newline" "present" 1}]])]
  test-bad-operations [caller operations]
  "Operations that fit no variant give a failed result and change nothing."
  (put caller "f" "one\n")
  (setv revision (get (call caller "resource.read" :uri "workspace:f") "revision")
        r (call caller "resource.edit" :uri "workspace:f" :base-revision revision :operations operations))
  (assert (not r.ok))
  (assert (= (content caller "f") "one\n")))

(defn test-schema-is-closed []
  "Every operation is a closed object of its own, and no other scheme's words are in the schema."
  (setv d (next (gfor d (registry.declarations) :if (= (get d "name") "resource_edit") d))
        variants (get d "parameters" "properties" "operations" "items" "anyOf"))
  (assert (= (len variants) 6))
  (assert (all (gfor v variants (and (is (get v "additionalProperties") False) (= (get v "type") "object")))))
  (assert (= (get d "parameters" "required") ["uri" "base_revision" "operations"])))

(defn test-descriptions-come-from-the-schemes [monkeypatch]
  "What the model is told of resources follows the registered schemes."
  (setv kept (protocol.snapshot)
        said (fn [name] (next (gfor d (registry.declarations) :if (= (get d "name") name) (get d "description")))))
  (defn :async nothing [#* _])
  (assert (in "output:DIGEST" (said "resource_read")))
  (assert (not-in "output:DIGEST" (said "resource_edit")))
  (try
    (protocol.register {"name" "demo" "description" "demo:X is for show." "read" nothing "edit" nothing})
    (assert (in "demo:X is for show." (said "resource_read")))
    (assert (in "demo:X is for show." (said "resource_edit")))
    (finally (protocol.restore kept)))
  (assert (not-in "demo:X" (said "resource_read"))))

(defn test-from-code [tmp-path monkeypatch]
  "Code calls the tools with forms, reads fields of the result, and may edit what it has read."
  (monkeypatch.chdir tmp-path)
  (with [f (open "f" "w")] (.write f "one\n"))
  (setv read (registry.find "resource.read") edit (registry.find "resource.edit")
        r (read :uri "workspace:f"))
  (assert (in "one" (str r)))
  (edit "workspace:f" (get r "revision") [{':op "replace-lines" ':start-line 1 ':end-line 1 ':content "two"}])
  (with [f (open "f")] (assert (= (.read f) "two\n")))
  (with [e (pytest.raises result.ToolFailed)] (read :uri "nothing:here"))
  (assert (not e.value.result.ok)))

(defn test-batch-with-a-failure [caller]
  "In a batch one failing edit leaves its siblings alone."
  (for [n "abc"] (put caller n f"{n}\n"))
  (setv revisions (dfor n "abc" n (get (call caller "resource.read" :uri f"workspace:{n}") "revision"))
        change (fn [n revision] (registry.call "resource.edit"
                                  {"uri" f"workspace:{n}" "base_revision" revision
                                   "operations" [{"op" "replace-lines" "start_line" 1 "end_line" 1 "content" "new"}]} caller)))
  (defn :async batch []
    (await (asyncio.gather (change "a" "R0") (change "b" (get revisions "b")) (change "c" (get revisions "c")))))
  (assert (= (lfor r (asyncio.run (batch)) r.ok) [False True True]))
  (assert (= (lfor n "abc" (content caller n)) ["a\n" "new\n" "new\n"])))

(defn test-cancelled-edit-ends [caller monkeypatch]
  "An edit that is cancelled while it runs has ended, one way or the other, when the cancellation arrives."
  (import time autolith.resource [publish])
  (put caller "f" "one\n")
  (setv revision (get (call caller "resource.read" :uri "workspace:f") "revision")
        real publish.commit finished [])
  (defn slow [s] (time.sleep 0.2) (real s) (.append finished True))
  (monkeypatch.setattr publish "commit" slow)
  (defn :async attempt []
    (setv task (asyncio.ensure-future (registry.call "resource.edit"
                 {"uri" "workspace:f" "base_revision" revision
                  "operations" [{"op" "replace-lines" "start_line" 1 "end_line" 1 "content" "two"}]} caller)))
    (await (asyncio.sleep 0.05))
    (.cancel task)
    (try (await task) (except [asyncio.CancelledError] None))
    (list finished))
  (assert (= (asyncio.run (attempt)) [True]))
  (assert (= (content caller "f") "two\n")))
