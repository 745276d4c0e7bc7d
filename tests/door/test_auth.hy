"autolith auth and autolith models: keys typed or piped, tried, kept, listed, forgotten, and seen nowhere."

(import
  json
  os
  pathlib [Path]
  subprocess
  pytest
  autolith.base [forms paths]
  tests.door.terminal [lib]
  tests.door.test-doors [run]
  tests.doubles [models_server :as double scripted])

(setv KEY "sk-canary-fedcba9876543210")

(defn everywhere []
  "Return the bytes of all files below our roots, by path."
  (dfor root [(paths.data) (paths.state) (paths.cache) (paths.config)]
        file (.rglob (Path root) "*")
        :if (.is-file file)
        (str file) (.read-bytes file)))

(defn kept []
  "Return the path of the file of credentials."
  (Path (paths.state "credentials.hy")))

(defn test-a-key-is-tried-kept-and-used [tmp-path]
  "A key given on standard input is tried, kept privately, used by the next start, and forgotten; it is printed nowhere."
  (with [server (double.Server KEY ["gpt-5.4" "acme-9"])]
    (setv env {"OPENAI_BASE_URL" server.url}
          said (run "auth" "openai" :stdin f"{KEY}\n" :env env)
          listed (run "auth" :env env)
          models (run "models" "openai" :env env))
    (assert (= said.returncode 0) said.stderr)
    (assert (in "2 models" said.stdout))
    (assert (= (& (. (.stat (kept)) st-mode) 0o777) 0o600))
    (assert (in "openai/acme-9" models.stdout))
    (assert (in "credentials.hy" (get (.splitlines listed.stdout) 0)))
    (setv gone (run "auth" "openai" "forget" :env env))
    (assert (not-in KEY (.read-text (kept))))
    (for [done [said listed models gone]]
      (assert (not-in KEY (+ done.stdout done.stderr))))))

(defn test-a-refused-key-is-not-kept []
  "A key that the server refuses is not kept, and the refusal is shown; a server that is away does not matter."
  (with [server (double.Server "another-key-0123456789" [])]
    (setv refused (run "auth" "openai" :stdin KEY :env {"OPENAI_BASE_URL" server.url}))
    (assert (= refused.returncode 1))
    (assert (in "refused" refused.stderr))
    (assert (not (.exists (kept)))))
  (setv away (run "auth" "openai" :stdin KEY :env {"OPENAI_BASE_URL" "http://127.0.0.1:9/v1"}))
  (assert (= away.returncode 0) away.stderr)
  (assert (in KEY (.read-text (kept)))))

(defn [(pytest.mark.parametrize "given" ["" "\n" "two words" "schlüssel"])] test-no-key-at-all [given]
  "Nothing, or what no key can be, is refused and changes nothing."
  (assert (= (. (run "auth" "openai" :stdin given) returncode) 1))
  (assert (not (.exists (kept)))))

(defn test-variable-goes-first [tmp-path]
  "A variable goes before a kept key, and the listing says so."
  (run "-e" f"(do (import autolith.provider.keyring-store :as k) (.keep k \"OPENAI_API_KEY\" \"key\" \"{KEY}\") None)")
  (with [server (scripted.Server [(scripted.answer "A.") (scripted.answer "B.")])]
    (setv env {"OPENAI_BASE_URL" server.base-url})
    (run "-p" "hi" :cwd tmp-path :env env)
    (run "-p" "hi" :cwd tmp-path :env {"OPENAI_API_KEY" "sk-of-the-variable-1" #** env})
    (assert (= (lfor r server.requests (get r "headers" "authorization")) [f"Bearer {KEY}" "Bearer sk-of-the-variable-1"])))
  (assert (in "OPENAI_API_KEY" (get (.splitlines (. (run "auth" :env {"OPENAI_API_KEY" "sk-x-12345678"}) stdout)) 0))))

(defn test-unknown-things []
  "An unknown provider and an unknown way are named together with those that there are."
  (for [[arguments word] [#(["auth" "nobody"] "anthropic") #(["auth" "openai" "steal"] "forget") #(["models" "nobody"] "anthropic")]]
    (setv done (run #* arguments))
    (assert (= done.returncode 1))
    (assert (in word done.stderr))))

(defn test-sign-in-without-an-id []
  "Signing in where no client id is known says what to put where."
  (setv done (run "auth" "chatgpt" :env {"HOME" (paths.state "nowhere")}))
  (assert (= done.returncode 1))
  (assert (in "client-id" done.stderr))
  (assert (in "providers.hy" done.stderr)))

(defn test-a-damaged-file-is-named []
  "A damaged file of credentials is named, and the program works without it."
  (paths.ensure-folder (paths.state))
  (.write-text (kept) "{:version 1 :kept {\"OPENAI")
  (setv listed (run "auth") one (run "-e" "1"))
  (assert (in "credentials.hy" listed.stdout))
  (assert (= [one.returncode one.stdout] [0 "1\n"])))

(defn test-the-model-may-not [tmp-path]
  "Code of the model's can neither forget nor replace a key."
  (paths.ensure-folder (paths.state))
  (.write-text (kept) (forms.write {"version" 1 "kept" {"OPENAI_API_KEY" {"kind" "key" "value" KEY "stamp" 1}}}))
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" "(auth \"openai\" \"forget\")"}) (scripted.answer "Done.")])]
    (run "-p" "go" :cwd tmp-path :env {"OPENAI_BASE_URL" server.base-url}))
  (assert (in KEY (.read-text (kept)))))

(setv LEAK "(do (import os pathlib)
  (print (dict os.environ))
  (for [p [\"self\" (os.getppid)]] (try (print (.read-bytes (pathlib.Path f\"/proc/{p}/environ\"))) (except [OSError])))
  (print (.read-text (pathlib.Path (os.environ.get \"KEPT\"))))
  (import subprocess) (print (. (subprocess.run [\"env\"] :capture-output True :text True) stdout)))")

(defn test-keys-and-tokens-leak-nowhere [tmp-path]
  "Keys of variables, kept keys and tokens are in nothing that is printed, recorded or sent, whatever code prints; not in /proc either."
  (setv own "sk-variable-0123456789abcdef"
        token {"access_token" "access-canary-0123456789" "refresh_token" "refresh-canary-0123456789" "expires_at" None})
  (paths.ensure-folder (paths.state))
  (.write-text (kept) (forms.write {"version" 1 "kept" {"XAI_API_KEY" {"kind" "key" "value" KEY "stamp" 1}
                                                        "sign-in chatgpt" {"kind" "sign-in" "value" token "stamp" 1}}}))
  (setv secrets [KEY own (get token "access_token") (get token "refresh_token")])
  (with [server (scripted.Server [(scripted.calls "self_eval" {"form" LEAK}) (scripted.answer "Done.")])]
    (setv env {"OPENAI_API_KEY" own "OPENAI_BASE_URL" server.base-url "KEPT" (str (kept))}
          typed (run "-e" LEAK :cwd tmp-path :env env)
          turn (run "-p" "go" "--events" "json" :cwd tmp-path :env env)
          sent (json.dumps (lfor r server.requests (get r "body"))))
    (assert (= [typed.returncode turn.returncode] [0 0]) (+ typed.stderr turn.stderr))
    (assert (in "redacted" typed.stdout))
    (assert (in "redacted" sent))
    (for [place [typed.stdout typed.stderr turn.stdout turn.stderr sent] secret secrets]
      (assert (not-in secret place))))
  (for [[path data] (.items (everywhere)) :if (!= path (str (kept))) secret secrets]
    (assert (not-in (.encode secret) data) path)))

(defn test-proc-does-not-show-the-key []
  "The key is gone from /proc of the image and of its launcher, seen from outside of the redaction."
  (setv code (+ "(do (import os) (lfor p [\"self\" (os.getppid)] "
                "(in b\"canary-\" (.read (open f\"/proc/{p}/environ\" \"rb\")))))")
        done (run "-e" code :env {"OPENAI_API_KEY" KEY}))
  (when (os.path.exists "/proc/self/environ")
    (assert (= done.stdout "[False False]\n"))))

(defn test-typed-unseen-in-a-session [tmp-path]
  "In a session the key is asked for above the draft, is not echoed, is kept, and the session goes on; Ctrl-C gives up."
  (with [server (double.Server KEY ["m-1" "m-2"])
         tty (lib.started tmp-path :OPENAI_BASE_URL server.url)]
    (.line tty "(auth \"openai\")")
    (.until tty r"^Key for openai:")
    (.send tty f"{KEY}\n")
    (.until tty r"lists 2 models")
    (.until tty lib.PROMPT)
    (.line tty "(auth \"anthropic\")")
    (.until tty r"^Key for anthropic:")
    (.key tty "c-c")
    (.until tty lib.PROMPT)
    (.line tty "(+ 20 22)")
    (.until tty r"42$")
    (assert (not-in (.encode KEY) (bytes tty.raw))))
  (assert (in KEY (.read-text (kept)))))
