"The system prompt: built once for a conversation, the same bytes ever after."

(import
  hashlib
  json
  os
  subprocess
  sys
  pytest
  autolith.agent [instructions prompt]
  autolith.state [conversation]
  tests.agent [lib]
  tests.doubles [scripted])

(setv PRINT "
import hashlib, sys, hy
from autolith.agent import prompt
from autolith.state import conversation
c = conversation.open_conversation(sys.argv[1])
print(hashlib.sha256(prompt.system(c).encode()).hexdigest())
conversation.close(c)
")

(defn digest [text]
  (.hexdigest (hashlib.sha256 (.encode text))))

(defn project [tmp-path]
  "Make a project with instructions on two levels; return its inner folder."
  (setv inner (/ tmp-path "project" "deep" "er"))
  (.mkdir inner :parents True)
  (.mkdir (/ tmp-path "project" ".git"))
  (.write-text (/ tmp-path "AGENTS.md") "outside of the project")
  (.write-text (/ tmp-path "project" "AGENTS.md") "root says tabs")
  (.write-bytes (/ inner "AGENTS.md") (.encode "leaf says d\u00e9j\u00e0" "latin-1"))
  inner)

(defn [(pytest.mark.parametrize "wire" lib.WIRES)] test-prefix-is-byte-stable [tmp-path monkeypatch wire]
  "Midnight, another git state, changed instructions, another process and another environment leave the system prompt's bytes alone."
  (setv inner (project tmp-path)
        systems [])
  (defn note [body]
    (.append systems (json.dumps [(get body "tools") (match wire
                                                       "responses" (get body "instructions")
                                                       "anthropic-messages" (get body "system")
                                                       _ (get body "messages" 0))]))
    (scripted.answer "ok"))
  (with [server (scripted.Server [note note])]
    (setv b (lib.Bench (server.provider wire) inner))
    (b.prompt "one")
    (monkeypatch.setattr prompt "today" (fn [] "2031-01-02"))
    (monkeypatch.setenv "TERM" "another")
    (.write-text (/ tmp-path "project" ".git" "HEAD") "ref: refs/heads/other")
    (.write-text (/ tmp-path "project" "AGENTS.md") "root says spaces")
    (b.prompt "two"))
  (setv c b.agent.conversation
        before (digest (prompt.system c)))
  (assert (= (get systems 0) (get systems 1)))
  (assert (in "root says tabs" (get systems 0)))
  (conversation.append c {"kind" "summary" "through_seq" c.seq "content" "what was"})
  (conversation.close c)
  (setv out (subprocess.run [sys.executable "-c" PRINT c.id] :capture-output True :text True :check True :cwd "/"))
  (assert (= (.strip out.stdout) before)))

(defn test-changes-are-told-beside-the-prompt [tmp-path monkeypatch]
  "What changed since the conversation began is in the request-local context, and no longer when it is as it was."
  (setv inner (project tmp-path))
  (with [server (scripted.Server (* [(scripted.answer "ok")] 3))]
    (setv b (lib.Bench (server.provider "responses") inner))
    (b.prompt "one")
    (.write-text (/ tmp-path "project" "AGENTS.md") "root says spaces")
    (with [m (monkeypatch.context)]
      (m.setattr prompt "today" (fn [] "2031-01-02"))
      (setv b.agent.cwd (str (/ tmp-path "project" "deep")))
      (b.prompt "two"))
    (.write-text (/ tmp-path "project" "AGENTS.md") "root says tabs")
    (setv b.agent.cwd (str inner))
    (b.prompt "three")
    (setv bodies (lfor r server.requests (json.dumps (get r "body" "input")))))
  (for [sign ["2031-01-02" "root says spaces" "project/deep\\\""]]
    (assert (= (lfor body bodies (in sign body)) [False True False]) sign))
  (setv system (prompt.system b.agent.conversation))
  (assert (in "root says tabs" system))
  (assert (not-in "2031-01-02" system)))

(defn test-instructions-from-root-to-leaf [tmp-path]
  "Instructions go from the project's root down, each introduced by its path, Latin-1 as well, and nothing from outside."
  (setv inner (project tmp-path)
        found (instructions.collect inner)
        text (instructions.render found))
  (assert (= (lfor f found (get f "text")) ["root says tabs" "leaf says déjà"]))
  (assert (< (.index text (json.dumps (str (/ tmp-path "project" "AGENTS.md")))) (.index text "root says")
             (.index text (json.dumps (str (/ inner "AGENTS.md")))) (.index text "leaf says")))
  (assert (not-in "outside" text)))

(defn test-instructions-are-bounded [tmp-path]
  "Instructions take so many characters together, the cut is marked, and special files are passed over unread."
  (setv inner (project tmp-path))
  (.write-text (/ tmp-path "project" "AGENTS.md") (* "é" 15990))
  (.write-text (/ inner "AGENTS.md") (* "b" 50000))
  (os.mkfifo (/ tmp-path "project" "deep" "AGENTS.md"))
  (setv [root leaf] (instructions.collect inner))
  (assert (= (get root "text") (* "é" 15990)))
  (assert (= (.count (get leaf "text") "b") 10) leaf)
  (assert (in "cut" (get leaf "text"))))

(defn test-sections-and-fields []
  "Conditional sections appear only where they apply, and a value that looks like a field is not filled again."
  (setv text "# A\n\nalways @date@ @environment@\n\n# B\nwhen: immutable\n\nfixed\n\n# C\nwhen: not immutable\n\nfree\n")
  (setv plain (prompt.render text {"date" "@environment@" "environment" {"shell" "a\"b\n" "term" None} "flags" []})
        fixed (prompt.render text {"flags" ["immutable"]}))
  (assert (in "always @environment@ - shell: \"a\\\"b\\n\"" plain))
  (assert (in "- term: null" plain))
  (assert (= #((in "free" plain) (in "fixed" plain) (in "when:" plain)) #(True False False)))
  (assert (= #((in "free" fixed) (in "fixed" fixed)) #(False True))))

(defn test-what-the-prompt-says [tmp-path]
  "The prompt of a new conversation is filled wholly and says the date, the day's facts as JSON and the way to cut output."
  (with [server (scripted.Server [(scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (b.prompt "hello"))
  (setv text (prompt.system b.agent.conversation))
  (assert (not (hy.I.re.search "@[a-z]+@" text)))
  (assert (in (prompt.today) text))
  (assert (in (json.dumps (str tmp-path)) text))
  (assert (in "| head" text))
  (assert (in "init.hy" text)))

(defn test-override [tmp-path monkeypatch]
  "A text or a function can stand for the whole prompt."
  (with [server (scripted.Server [(scripted.answer "ok") (scripted.answer "ok")])]
    (setv b (lib.Bench (server.provider "responses") tmp-path))
    (monkeypatch.setattr prompt "override" "all of it")
    (b.prompt "hello")
    (monkeypatch.setattr prompt "override" (fn [fixed] (get fixed "directory")))
    (b.prompt "hello")
    (assert (= (lfor r server.requests (get r "body" "instructions")) ["all of it" (str tmp-path)]))))
