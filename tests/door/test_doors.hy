"The doors -e and -p, and what the program says to bad input: the installed program as a child process, with real files and sockets."

(import
  json
  os
  pathlib [Path]
  pytest
  socket
  subprocess
  sys
  autolith.base [forms log paths]
  tests.doubles [scripted])

(defn program []
  "The path of the installed command."
  (str (/ (. (Path (getattr hy "sys_executable" sys.executable)) parent) "autolith")))

(defn run [#* arguments  [cwd None] [stdin ""] [env None]]
  "Run the program with ARGUMENTS; return what came of it."
  (subprocess.run [(program) #* (map str arguments)]
                  :capture-output True :text True :timeout 90 :input stdin
                  :cwd (when cwd (str cwd))
                  :env {#** os.environ "PYTHONUNBUFFERED" "1" #** (or env {})}))

(defn openai [server]
  "The environment in which `openai` is the scripted SERVER."
  {"OPENAI_API_KEY" "sk-test-0123456789abcdef" "OPENAI_BASE_URL" server.base-url})

;; * -e

(defn test-value-and-newline []
  "A value is printed with a newline, and nothing else stands on standard output."
  (setv done (run "-e" "(+ 20 22)"))
  (assert (= [done.returncode done.stdout done.stderr] [0 "42\n" ""])))

(defn test-several-forms-and-none []
  "Each top-level form's value is printed in order; None is not; strings are printed as Hy."
  (setv done (run "-e" "1 None (print \"p\") \"s\"" "-e" "(setv x 3)" "-e" "x"))
  (assert (= done.stdout "1\np\n\"s\"\n3\n")))

(defn test-failure-has-status-and-restarts []
  "A form that fails ends with 1; the condition and its restarts are on standard error, what was printed before stays."
  (setv done (run "-e" "(print 1) (undefined-name)" "-e" "(print 2)"))
  (assert (= [done.returncode done.stdout] [1 "1\n"]))
  (for [word ["undefined-name" "use-value" "retry"]] (assert (in word done.stderr))))

(defn test-tool-result-prints-as-its-text [tmp-path]
  "A ToolResult is printed as its text; a failed one fails the form."
  (.write-text (/ tmp-path "a.txt") "the owl\n")
  (setv good (run "-e" "(resource.read :uri \"workspace:a.txt\")" :cwd tmp-path)
        bad (run "-e" "(resource.read :uri \"nothing:a.txt\")" :cwd tmp-path))
  (assert (and (= good.returncode 0) (in "the owl" good.stdout) (.startswith good.stdout "URI: ")))
  (assert (= [bad.returncode bad.stdout] [1 ""])))

(defn test-closed-pipe []
  "A reader that goes away ends the program quietly."
  (setv done (subprocess.run f"{(program)} -e '(for [i (range 100000)] (print i))' | head -1"
                             :shell True :capture-output True :text True :timeout 60))
  (assert (= [done.stdout done.stderr] ["0\n" ""])))

(defn test-prompt-under-e-waits [tmp-path]
  "(prompt ...) under -e waits and prints the answer."
  (with [server (scripted.Server [(scripted.answer "Here you are.")])]
    (setv done (run "-e" "(prompt (+ \"he\" \"llo\"))" :cwd tmp-path :env (openai server)))
    (assert (= [done.returncode done.stdout] [0 "Here you are.\n"]))
    (assert (in "hello" (json.dumps (get server.requests 0 "body"))))))

(defn test-continue-with-e [tmp-path]
  "-c -e works in the newest conversation: its transcript is there."
  (run "-p" "read nothing.txt" :cwd tmp-path)
  (setv done (run "-c" "-e" "(get (get (transcript) 0) \"text\")" :cwd tmp-path))
  (assert (= [done.returncode done.stdout] [0 "\"read nothing.txt\"\n"])))

;; * -p

(defn [(pytest.mark.parametrize "how" ["argument" "stdin" "dash"])] test-one-turn [tmp-path how]
  "-p takes its text as an argument or from standard input, and prints the answer alone."
  (with [server (scripted.Server [(scripted.answer "The answer.")])]
    (setv arguments (match how "argument" ["-p" "the question"] "stdin" ["-p"] _ ["-p" "-"])
          done (run #* arguments :stdin (if (= how "argument") "" "the question\n") :cwd tmp-path :env (openai server)))
    (assert (= [done.returncode done.stdout] [0 "The answer.\n"]))
    (assert (in "the question" (json.dumps (get server.requests 0 "body"))))))

(defn test-events-as-forms-and-json [tmp-path]
  "--events prints one form an event, --events json one JSON object, and both tell the same story."
  (setv kinds [])
  (for [[format read] [#([] (fn [line] (forms.read-one line))) #(["json"] json.loads)]]
    (with [server (scripted.Server [(scripted.calls "resource_read" {"uri" "workspace:."}) (scripted.answer "Done.")])]
      (setv done (run "-p" "go" "--events" #* format :cwd tmp-path :env (openai server)))
      (assert (= done.returncode 0))
      (.append kinds (lfor line (.splitlines done.stdout) :setv e (read line) :if (not (.endswith (get e "type") "-delta")) (get e "type")))))
  (assert (= (get kinds 0) (get kinds 1)))
  (for [kind ["session-started" "turn-started" "call-started" "call-result" "answer" "turn-done"]]
    (assert (in kind (get kinds 0)))))

(defn test-empty-text-is-usage []
  "-p without any text is a usage error."
  (setv done (run "-p" :stdin "  \n"))
  (assert (= done.returncode 64)))

;; * Bad input

(defn test-unknown-option []
  "An unknown option is named, with its neighbour, and the status is 64."
  (setv done (run "--modle" "x"))
  (assert (= [done.returncode done.stdout] [64 ""]))
  (assert (in "--modle" done.stderr)))

(defn test-no-terminal-is-usage []
  "Without a terminal, -e or -p the program says what to use instead."
  (setv done (run))
  (assert (and (= done.returncode 64) (in "-p" done.stderr))))

(defn test-unlisted-model-works-with-an-assumption [tmp-path]
  "A model that is not in the table is used, and what is assumed of it is said."
  (with [server (scripted.Server [(scripted.answer "Fine.")])]
    (setv done (run "--model" "gpt-99-unheard" "-p" "hi" :cwd tmp-path :env (openai server)))
    (assert (= [done.returncode done.stdout] [0 "Fine.\n"]))
    (assert (in "gpt-99-unheard" done.stderr))
    (assert (= (get server.requests 0 "body" "model") "gpt-99-unheard"))))

(defn test-unknown-provider []
  "An unknown provider is named together with those that exist."
  (setv done (run "--provider" "nobody" "-p" "hi"))
  (assert (and (= done.returncode 1) (in "nobody" done.stderr) (in "openai" done.stderr))))

(defn test-no-key [tmp-path]
  "A provider without its key names the variable; the user's text is kept in the conversation."
  (setv done (run "--provider" "anthropic" "-p" "remember me" :cwd tmp-path))
  (assert (and (= done.returncode 1) (in "ANTHROPIC_API_KEY" done.stderr)))
  (assert (in "remember me" (. (run "-c" "-e" "(history)" :cwd tmp-path) stdout))))

(defn closed-port []
  "A port of this machine on which nobody listens."
  (with [s (socket.socket)]
    (.bind s #("127.0.0.1" 0))
    (get (.getsockname s) 1)))

(defn test-unreachable-host [tmp-path]
  "A host that cannot be reached is named."
  (setv port (closed-port)
        done (run "-p" "hi" :cwd tmp-path :env {"OPENAI_API_KEY" "sk-x" "OPENAI_BASE_URL" f"http://127.0.0.1:{port}/v1"
                                                  "AUTOLITH_RETRY_LIMIT" "0"}))
  (assert (and (= [done.returncode done.stdout] [1 ""]) (in (str port) done.stderr))))

(defn [(pytest.mark.parametrize "part,word" [#((scripted.error 404) "OPENAI_BASE_URL") #((scripted.error 401) "OPENAI_API_KEY")
                                            #((scripted.page "<html>hello</html>") "OPENAI_BASE_URL")])]
      test-refusals-name-what-to-mend [tmp-path part word]
  "A wrong URL and a refused key name the variable to look at."
  (with [server (scripted.Server [part])]
    (setv done (run "-p" "hi" :cwd tmp-path :env (openai server)))
    (assert (= [done.returncode done.stdout] [1 ""]))
    (assert (in word done.stderr))
    (assert (not-in "sk-test-0123456789abcdef" (+ done.stderr done.stdout)))))

(defn test-a-failure-that-passes [tmp-path]
  "An overloaded provider is asked again; standard error says so, standard output has the answer alone; events tell it too."
  (setv busy (scripted.error 529 None {"retry-after-ms" "20"}))
  (with [server (scripted.Server [busy (scripted.answer "Whole.") busy (scripted.answer "Whole.")])]
    (setv plain (run "-p" "hi" :cwd tmp-path :env (openai server))
          told (run "-p" "hi" "--events" "json" :cwd tmp-path :env (openai server))))
  (assert (= [plain.returncode plain.stdout] [0 "Whole.\n"]))
  (assert (in "529" plain.stderr))
  (setv [event] (lfor line (.splitlines told.stdout) :setv e (json.loads line) :if (= (get e "type") "retry") e))
  (assert (= [(get event "attempt") (get event "limit") (get event "void")] [1 5 False])))

(defn test-stream-cut-in-the-middle [tmp-path]
  "A cut stream fails the turn; the half answer is kept as such, and the conversation goes on."
  (with [server (scripted.Server [[(scripted.answer "Half an ans") (scripted.cut)] (scripted.answer "Whole.")])]
    (setv cut (run "-p" "hi" :cwd tmp-path :env (| (openai server) {"AUTOLITH_RETRY_LIMIT" "0"}))
          again (run "-c" "-p" "go on" :cwd tmp-path :env (openai server)))
    (assert (= cut.returncode 1))
    (assert (= [again.returncode again.stdout] [0 "Whole.\n"])))
  (assert (in "Half an" (. (run "-c" "-e" "(history)" :cwd tmp-path) stdout))))

(defn conversation-file []
  "The one conversation's segment."
  (setv [file] (list (.glob (Path (paths.data "conversations")) "*/*.hy")))
  file)

(defn [(pytest.mark.parametrize "damage" ["torn" "nul" "garbage"])] test-damaged-conversation [tmp-path damage]
  "A torn end, a run of NULs or garbage in the middle costs at most that place, is named with file and line, and the rest is there."
  (run "-p" "first words" :cwd tmp-path)
  (setv file (conversation-file) lines (.splitlines (.read-bytes file) :keepends True))
  (.write-bytes file (match damage
    "torn" (+ (.join b"" lines) b"{:kind \"message\" :content \"ha")
    "nul" (.join b"" [#* (cut lines 3) (* b"\0" 300) b"\n" #* (cut lines 3 None)])
    _ (.join b"" [#* (cut lines 3) b"((( not a record\n" #* (cut lines 3 None)])))
  (setv done (run "-c" "-p" "second words" :cwd tmp-path)
        told (run "-c" "-e" "(history)" :cwd tmp-path))
  (assert (= done.returncode 0))
  (assert (in file.name done.stderr))
  (for [words ["first words" "second words"]] (assert (in words told.stdout))))

(defn test-conversation-of-a-newer-version [tmp-path]
  "A conversation of a newer version is refused by name and left as it is."
  (run "-p" "first words" :cwd tmp-path)
  (setv file (conversation-file) text (.read-text file))
  (.write-text file (.replace text ":version 1" ":version 99" 1))
  (setv before (.read-bytes file) done (run "-c" "-p" "hi" :cwd tmp-path))
  (assert (and (= done.returncode 1) (in "99" done.stderr)))
  (assert (= (.read-bytes file) before)))

(defn [(pytest.mark.parametrize "content" [b"(setv x 1)\n(unbalanced" b"(setv x \xe9)\n" b"\0\0\0" b"(/ 1 0)\n(setv y 2)"])]
      test-bad-init-file [tmp-path content]
  "A broken init.hy is named with its line, and the program starts; --no-init does not look at it."
  (paths.ensure-folder (paths.config))
  (.write-bytes (Path (paths.config "init.hy")) content)
  (setv done (run "-e" "1" :cwd tmp-path) without (run "--no-init" "-e" "1" :cwd tmp-path))
  (assert (= [done.returncode done.stdout] [0 "1\n"]))
  (assert (in "init.hy:" done.stderr))
  (assert (= [without.returncode without.stdout without.stderr] [0 "1\n" ""])))

(defn test-unreadable-init-folder [tmp-path]
  "An init.hy that is a folder is named, and the program starts."
  (os.makedirs (paths.config "init.hy"))
  (setv done (run "-e" "1" :cwd tmp-path))
  (assert (= [done.returncode done.stdout] [0 "1\n"]))
  (assert (in "init.hy" done.stderr)))

(defn test-vanished-workspace [tmp-path]
  "A working directory that is gone is a usage error that says so, and --cwd is the way out."
  (setv gone (/ tmp-path "gone"))
  (.mkdir gone)
  (setv done (subprocess.run f"cd {gone} && rmdir {gone} && {(program)} -p hi" :shell True :capture-output True :text True :timeout 60))
  (assert (= done.returncode 64))
  (assert (in "--cwd" done.stderr))
  (assert (= (. (run "--cwd" (str gone) "-e" "1") returncode) 64)))

(defn test-resume-in-a-vanished-directory [tmp-path]
  "A conversation whose directory is gone is resumed by its id from elsewhere, with a word about it."
  (setv gone (/ tmp-path "gone"))
  (.mkdir gone)
  (run "-p" "first words" :cwd gone)
  (.rmdir gone)
  (setv id (. (conversation-file) parent name)
        done (run "resume" id "-p" "help" :cwd tmp-path))
  (assert (= done.returncode 0))
  (assert (in "gone" done.stderr)))

(defn test-full-disk [tmp-path]
  "When a record cannot be written the turn stops with the reason, and nothing half-written is trusted later."
  (run "-p" "first words" :cwd tmp-path)
  (setv file (conversation-file)
        blocks (+ 1 (// (. (.stat file) st-size) 1024))
        done (subprocess.run ["bash" "-c" f"ulimit -f {blocks}; {(program)} -c -p 'tutorial {(* "x" 3000)}'"] :cwd (str tmp-path)
                             :capture-output True :text True :timeout 60))
  (assert (not-in done.returncode [0 70]))
  (setv again (run "-c" "-e" "(history)" :cwd tmp-path))
  (assert (and (= again.returncode 0) (in "first words" again.stdout))))

(defn test-bad-setting-is-named [tmp-path]
  "A variable with a value that its setting cannot take is named; the default holds."
  (setv done (run "-e" "(setting \"request-limit\")" :cwd tmp-path :env {"AUTOLITH_REQUEST_LIMIT" "many"}))
  (assert (= [done.returncode done.stdout] [0 "100\n"]))
  (assert (in "AUTOLITH_REQUEST_LIMIT" done.stderr)))

(defn test-reports []
  "conversations, models and doctor print their reports."
  (for [command ["conversations" "models" "doctor"]]
    (setv done (run command))
    (assert (and (in done.returncode [0 1]) done.stdout (not done.stderr)))))

(defn test-read-only-modes [tmp-path]
  "--permissions plan refuses what does more than read, and --immutable what changes the program; the rest works."
  (.write-text (/ tmp-path "a.txt") "one\n")
  (for [[option tool arguments] [#(["--permissions" "plan"] "self_eval" {"form" "1"}) #(["--immutable"] "self_eval" {"form" "1"})
                                 #(["--permissions" "plan"] "resource_edit" {"uri" "workspace:b.txt" "base_revision" "R0" "operations" []})]]
    (with [server (scripted.Server [(scripted.calls tool arguments)
                                    (scripted.calls "resource_read" {"uri" "workspace:a.txt"})
                                    (scripted.answer "So be it.")])]
      (setv done (run #* option "-p" "go" "--events" "json" :cwd tmp-path :env (openai server))
            results (lfor line (.splitlines done.stdout)
                          :setv e (json.loads line)
                          :if (= (get e "type") "call-result")
                          (get e "ok")))
      (assert (= results [False True])))))

(defn test-keys-appear-nowhere [tmp-path]
  "A key leaves the environment, and is blotted out of output, records, events and what is sent."
  (setv key "sk-canary-0123456789abcdef")
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" f"(do (import os) (print (dict os.environ)) \"{key}\")"})
                                  (scripted.answer f"It is {key}.")])]
    (setv env {"OPENAI_API_KEY" key "OPENAI_BASE_URL" server.base-url}
          typed (run "-e" f"(print \"{key}\") (do (import os) (.get os.environ \"OPENAI_API_KEY\" \"gone\"))" :cwd tmp-path :env env)
          asked (run "-p" f"my key is {key}" "--events" "json" :cwd tmp-path :env env))
    (assert (in "gone" typed.stdout))
    (assert (= asked.returncode 0))
    (for [place [typed.stdout typed.stderr asked.stdout asked.stderr (json.dumps (lfor r server.requests (get r "body")))]]
      (assert (not-in key place))))
  (for [root [(paths.data) (paths.state) (paths.cache)]
        file (.rglob (Path root) "*")
        :if (.is-file file)]
    (assert (not-in (.encode key) (.read-bytes file)) (str file))))

(defn test-reader-that-leaves-ends-the-turn [tmp-path]
  "When the reader of --events goes away, the turn is cancelled instead of running on."
  (with [server (scripted.Server [[(scripted.answer "one two three four five six") (scripted.stall)]])]
    (setv done (subprocess.run f"{(program)} -p go --events json | head -1" :shell True :capture-output True :text True :timeout 60
                               :cwd (str tmp-path) :env {#** os.environ #** (openai server)})))
  (assert (= (len (.splitlines done.stdout)) 1)))

(defn test-children-of-the-model-stay-off-standard-output [tmp-path]
  "What a process started by the model's evaluation writes goes to standard error; the event lines stay whole."
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" "(do (import os) (os.system \"echo raw child\"))"})
                                  (scripted.answer "Done.")])]
    (setv done (run "-p" "go" "--events" "json" :cwd tmp-path :env (openai server))))
  (for [line (.splitlines done.stdout)] (json.loads line))
  (assert (in "raw child" done.stderr)))

(defn test-images-go-with-the-first-message [tmp-path]
  "-i sends images, labelled, in the wire's form, and keeps them beside the conversation; one that is none stops the turn by name."
  (import PIL [Image])
  (.save (Image.new "RGB" #(5000 40) "red") (/ tmp-path "wide.jpg") :format "PNG")
  (.write-text (/ tmp-path "no.png") "words")
  (with [server (scripted.Server [(scripted.answer "I see.")])]
    (setv done (run "-p" "look" "-i" "wide.jpg" "-i" "wide.jpg" :cwd tmp-path :env (openai server))
          bad (run "-p" "look" "-i" "no.png" :cwd tmp-path :env (openai server))
          sent (json.dumps (get server.requests 0 "body"))))
  (assert (= done.returncode 0) done.stderr)
  (for [word ["[Image #1]" "[Image #2]" "data:image/png;base64,"]] (assert (in word sent)))
  (assert (and (= bad.returncode 1) (in "no.png" bad.stderr)))
  (assert (= (len (list (.glob (Path (paths.data "conversations")) "*/images/*.png"))) 1)))
