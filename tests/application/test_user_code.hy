"What an init.hy can do: every primitive that user code is given, and the recipes of docs/recipes, run for real."

(import
  asyncio
  json
  os
  pathlib [Path]
  pytest
  autolith.application [events inputs session surface]
  autolith.base [paths threads]
  autolith.image [advice definitions layers namespace]
  autolith.tool [registry]
  tests.application [lib]
  tests.doubles [scripted])

(setv RECIPES (/ (. (Path __file__) parent parent parent) "docs" "recipes"))

(defn [pytest.fixture] init [tmp-path]
  "Give a function that makes text the user's init.hy and loads it; afterwards nothing of it is left."
  (surface.install)
  (setv before (layers.registries.take))
  (defn write [text]
    (paths.ensure-folder (paths.config))
    (.write-text (Path (paths.config "init.hy")) text)
    (layers.load :directory (str tmp-path)))
  (yield write)
  (layers.registries.give before))

(defn recipe [name]
  "The text of the recipe NAME."
  (.read-text (/ RECIPES (+ name ".hy"))))

(defn session-on [server cwd [wire "responses"]]
  "A session in CWD on the scripted SERVER."
  (lib.make-session (server.provider wire) :cwd cwd))

(defn values [s]
  (lfor e (lib.events s "value") (get e "text")))

(defn test-tools-and-commands [init tmp-path]
  "An init.hy defines a tool and a command; both are called by name, completed, and in the help."
  (with [server (scripted.Server [(scripted.calls "notes_double" {"n" 21}) (scripted.answer "Done.")])]
    (setv s (session-on server tmp-path)
          faults (init #[INIT[(deftool notes.double [#^ int n] "Double N." {:effect "read"} (str (* 2 n)))
                         (defcommand hello [[name "you"]] "Greet NAME." {:beside "always" :slash "first"} (say "hello" name) f"hi {name}")]INIT]))
    (defn :async steps [s]
      (await (lib.say s "/hello Ada"))
      (await (lib.say s "double 21")))
    (lib.play s steps))
  (assert (= faults []))
  (assert (= (values s) ["\"hi Ada\""]))
  (assert (= (lfor e (lib.events s "call-result") (get e "text")) ["42"]))
  (assert (in "hello Ada" (lfor e (lib.events s "notice") (get e "text"))))
  (assert (<= #{"hello" "notes.double"} (set (surface.names))))
  (import autolith.application [help])
  (assert (in "Greet NAME." (help.about "hello"))))

(defn test-a-fault-is-named-and-the-rest-loads [init tmp-path]
  "A form that fails is reported with file and line; the others hold."
  (setv faults (init "(setv early 1)\n(this-is-not-known)\n(setv late 2)\n"))
  (assert (= [(len faults) (get faults 0 "line")] [1 2]))
  (assert (.endswith (get faults 0 "file") "init.hy"))
  (assert (= [(. (namespace.user) early) (. (namespace.user) late)] [1 2])))

(defn test-settings-and-providers [init tmp-path]
  "An init.hy declares a setting and a provider, and both are used."
  (with [server (scripted.Server [(scripted.answer "From mine.")])]
    (setv form (server.provider "chat-completions"))
    (assert (= [] (init (.format #[INIT[(defsetting note-limit (integer 1 50) 10 durable "AUTOLITH_NOTE_LIMIT" "How many notes.")
                                   (defprovider mine {{:wire "chat-completions" :base-url "{}" :quirks {{:key-optional True}}
                                                      :models ["m"] :default-model "m"}})]INIT] (get form "base_url")))))
    (setv s (session-on server tmp-path))
    (defn :async steps [s]
      (await (lib.say s "(setting \"note-limit\")"))
      (await (lib.say s "(model \"mine\")"))
      (await (lib.say s "hello")))
    (lib.play s steps))
  (assert (in "10" (values s)))
  (assert (= (get (get (lib.events s "request-started") -1) "provider") "mine"))
  (assert (= (get (get (lib.events s "answer") -1) "text") "From mine.")))

(defn test-session-transcript-call-tool-say [init tmp-path]
  "User code reaches the session, its transcript and any tool, and says things to the user."
  (.write-text (/ tmp-path "x.txt") "content\n")
  (init #[INIT[(defn probe-all []
             (say "probing" (. (session) cwd))
             [(. (call-tool "resource.read" :uri "workspace:x.txt") ok)
              (. (call-tool "resource.read" :uri "nothing:x") ok)
              (len (transcript 5))])]INIT])
  (with [server (scripted.Server [])]
    (setv s (session-on server tmp-path))
    (defn :async steps [s]
      (await (lib.say s "(+ 1 1)"))
      (await (lib.say s "(probe-all)")))
    (lib.play s steps))
  (assert (in "[True False 3]" (values s)))
  (assert (in f"probing {(str tmp-path)}" (lfor e (lib.events s "notice") (get e "text")))))

(defn test-complete-is-a-side-request [init tmp-path]
  "complete asks the model without tools, and leaves no record."
  (init "(defn short [x] (complete (+ \"shorten: \" x)))")
  (with [server (scripted.Server [(scripted.answer "Short.")])]
    (setv s (session-on server tmp-path "anthropic-messages"))
    (lib.play s (fn [s] (lib.say s "(short \"a long text\")"))))
  (assert (= (values s) ["Short."]))
  (assert (not (.get (get server.requests 0 "body") "tools")))
  (assert (not-in "item" (lfor r s.conversation.records (get r "kind")))))

(defn test-ask-from-init-code [init tmp-path]
  "A command of the user's asks, and goes on with the answer."
  (init "(defcommand colour [] \"Ask for a colour.\" (+ \"you like \" (ask \"which?\" [\"red\" \"blue\"])))")
  (with [server (scripted.Server [])]
    (setv s (session-on server tmp-path))
    (defn :async steps [s]
      (inputs.submit s "(colour)")
      (await (lib.until s (fn [e] (= (get e "type") "question"))))
      (inputs.submit s "/answer blue")
      (await (lib.idle s)))
    (lib.play s steps))
  (assert (in "\"you like blue\"" (values s))))

(defn test-events-and-raw-provider-events [init tmp-path]
  "User code observes the session's events and the provider's raw ones; an observer that raises is taken off and named."
  (init #[INIT[(defonce heard {"event" [] "provider-event" []})
           (defn hear [event] (.append (get heard "event") (get event "type")))
           (defn hear-raw [event] (.append (get heard "provider-event") (get event "type")))
           (defn clumsy [event] (/ 1 0))
           (on-event hear) (on-provider-event hear-raw) (on-event clumsy)]INIT])
  (with [server (scripted.Server [(scripted.answer "Hi.")])]
    (setv s (session-on server tmp-path))
    (lib.play s (fn [s] (lib.say s "hello"))))
  (setv heard (. (namespace.user) heard))
  (assert (<= #{"turn-started" "text-delta" "turn-done"} (set (get heard "event"))))
  (assert (<= #{"text-delta" "item" "done"} (set (get heard "provider-event"))))
  (assert (= 1 (len (lfor e (lib.events s "notice") :if (in "clumsy" (get e "text")) e)))))

(defn test-advice-and-redefinition [init tmp-path]
  "An init.hy advises and redefines functions of the program; undo and unadvise take both back."
  (init #[INIT[(defn :async shouting [original #* args #** kwargs]
             (setv r (await (original #* args #** kwargs)))
             r)
           (advise "tool.registry.call" :around "shout" shouting)
           (redefine :in "application.session" (defn branch [cwd] "mine"))]INIT])
  (with [server (scripted.Server [])]
    (setv s (session-on server tmp-path))
    (assert (= (get (session.status-line s) "branch") "mine")))
  (advice.unadvise "tool.registry.call" "shout")
  (definitions.undo)
  (assert (!= (session.branch "/") "mine")))

(defn test-reload-is-atomic [init tmp-path]
  "Reloading replaces what the init file defined before; when a form fails, everything old is back."
  (init "(defcommand first-version [] \"One.\" 1)\n(on-event print)")
  (.write-text (Path (paths.config "init.hy")) "(defcommand second-version [] \"Two.\" 2)\n(/ 1 0)\n")
  (setv failed (layers.reload :directory (str tmp-path)))
  (import autolith.application [commands observers])
  (assert (not (get failed "ok")))
  (assert (and (commands.find "first-version") (not (commands.find "second-version"))))
  (.write-text (Path (paths.config "init.hy")) "(defcommand second-version [] \"Two.\" 2)\n")
  (assert (get (layers.reload :directory (str tmp-path)) "ok"))
  (assert (and (commands.find "second-version") (not (commands.find "first-version"))))
  (assert (= (get observers.tables "event") {})))

;; * Recipes

(defn test-recipe-permission-policy [init tmp-path]
  "The permission policy refuses a model's edit outside its folders, and lets the user's own pass."
  (.write-text (/ tmp-path "a.txt") "one\n")
  (setv read (scripted.calls "resource_read" {"uri" "workspace:a.txt"}))
  (defn edit [body]
    (setv revision (get (.split (get (.split (json.dumps body) "Revision: ") 1) "\\n") 0))
    (scripted.calls "resource_edit" {"uri" "workspace:a.txt" "base_revision" revision
                                     "operations" [{"op" "replace-lines" "start_line" 1 "end_line" 1 "content" "two"}]}))
  (assert (= [] (init (recipe "permission_policy"))))
  (with [server (scripted.Server [read edit (scripted.answer "It was refused.")])]
    (setv s (session-on server tmp-path))
    (lib.play s (fn [s] (lib.say s "change a.txt"))))
  (assert (= (lfor e (lib.events s "call-result") (get e "ok")) [True False]))
  (assert (= (.read-text (/ tmp-path "a.txt")) "one\n")))

(defn test-recipe-token-counter [init tmp-path]
  "The token counter sums what the provider reports, by model."
  (assert (= [] (init (recipe "token_counter"))))
  (with [server (scripted.Server [[(scripted.answer "A.") (scripted.usage :input 100 :output 20)]
                                  [(scripted.answer "B.") (scripted.usage :input 130 :output 5)]])]
    (setv s (session-on server tmp-path))
    (defn :async steps [s]
      (await (lib.say s "one"))
      (await (lib.say s "two"))
      (await (lib.say s "/tokens")))
    (lib.play s steps))
  (assert (= (. (namespace.user) spent) {"test-model" {"input" 230 "cached" 0 "output" 25}})))

(defn test-recipe-project-notes [init tmp-path]
  "NOTES.md of the directory travels with the request."
  (.write-text (/ tmp-path "NOTES.md") "Prefer small functions, said the owl.\n")
  (assert (= [] (init (recipe "project_notes"))))
  (with [server (scripted.Server [(scripted.answer "Noted.")])]
    (setv s (session-on server tmp-path))
    (lib.play s (fn [s] (lib.say s "hello"))))
  (assert (in "said the owl" (json.dumps (get server.requests 0 "body")))))

(defn test-recipe-search-tool [init tmp-path]
  "The search tool finds through search.content, for the model as for the user."
  (.write-text (/ tmp-path "a.txt") "x\nLATER: mend\n")
  (assert (= [] (init (recipe "todo_search"))))
  (with [server (scripted.Server [(scripted.calls "notes_todos" {}) (scripted.answer "One.")])]
    (setv s (session-on server tmp-path))
    (defn :async steps [s]
      (await (lib.say s "what is left?"))
      (await (lib.say s "(notes.todos)")))
    (lib.play s steps))
  (assert (in "LATER: mend" (get (get (lib.events s "call-result") 0) "text")))
  (assert (in "LATER: mend" (get (values s) -1))))

(defn test-recipe-explain [init tmp-path]
  "The command sends the file's text and shows the answer."
  (.write-text (/ tmp-path "p.py") "def owl(): pass\n")
  (assert (= [] (init (recipe "explain"))))
  (with [server (scripted.Server [(scripted.answer "It defines owl.")])]
    (setv s (session-on server tmp-path))
    (lib.play s (fn [s] (lib.say s "/explain p.py"))))
  (assert (in "def owl" (json.dumps (get server.requests 0 "body"))))
  (assert (= (values s) ["It defines owl."])))

(defn test-every-recipe-is-tested []
  "There are at least five recipes, and a test here for each."
  (setv names (sfor p (.glob RECIPES "*.hy") p.stem)
        own (.read-text (Path __file__)))
  (assert (>= (len names) 5))
  (for [name names] (assert (in f"(recipe \"{name}\")" own))))

(defn test-events-page-is-the-vocabulary []
  "docs/events.md says what the declarations say."
  (assert (in (events.manual) (.read-text (/ (. RECIPES parent) "events.md")))))
