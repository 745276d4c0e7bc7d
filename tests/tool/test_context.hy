"The context of a call: whose it is, with and without a session."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  os
  pytest
  autolith.base [conditions]
  autolith.tool [context registry]
  tests.tool.lib [call tools])

(defn test-without-a-session [monkeypatch tmp-path]
  "Without a session there is one context for the process, which remembers what was shown and follows the directory."
  (setv first (context.obtain))
  (.chdir monkeypatch tmp-path)
  (setv second (context.obtain))
  (assert (is first.observations second.observations))
  (assert (= second.cwd (os.getcwd)))
  (assert (= second.origin "user")))

(defn test-a-directory-that-is-gone [monkeypatch tmp-path]
  "A working directory that vanished is named in an expected error with the way out; a place that is there again works."
  (setv here (/ tmp-path "here"))
  (.mkdir here)
  (.chdir monkeypatch here)
  (context.obtain)
  (.rmdir here)
  (with [e (pytest.raises conditions.AutolithError)] (context.obtain))
  (assert (in (str here) (str e.value)))
  (assert (in "(cwd " (str e.value)))
  (.chdir monkeypatch tmp-path)
  (assert (= (. (context.obtain) cwd) (os.getcwd))))

(defn test-the-session-provides [monkeypatch tools]
  "User code gets the session's context; inside a call it gets the call's own."
  (deftool demo.cwd [] "Where." (. (context.obtain) cwd))
  (.setattr monkeypatch context "provide" (fn [] (context.ToolContext :cwd "/of-the-session")))
  (assert (= (. ((registry.find "demo.cwd")) text) "/of-the-session"))
  (assert (= (. (call "demo.cwd" {} :cwd "/own") text) "/own")))

(defn test-read-then-edit-without-a-session [monkeypatch tmp-path]
  "What a script has read it may edit."
  (.chdir monkeypatch tmp-path)
  (.write-text (/ tmp-path "a.txt") "one\ntwo\n")
  (setv read (registry.find "resource.read") edit (registry.find "resource.edit")
        page (read :uri "workspace:a.txt"))
  (edit :uri "workspace:a.txt" :base-revision (get page "revision")
        :operations [{':op "replace-lines" ':start-line 2 ':end-line 2 ':content "2\n"}])
  (assert (= (.read-text (/ tmp-path "a.txt")) "one\n2\n")))
