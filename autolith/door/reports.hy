"The doors that only report: conversations, doctor. Text on standard output."

(import
  os
  platform
  shutil
  sys
  autolith
  autolith.application [startup]
  autolith.base [paths])

(defn run [command asked]
  "Print the report COMMAND; return the exit status."
  (startup.prepare asked)
  (match command
    "conversations" (conversations)
    _ (doctor)))

(defn conversations []
  "List all conversations, newest first."
  (import autolith.application [builtin])
  (print (builtin.conversations))
  0)

(defn doctor []
  "Say what is installed, missing or misconfigured; return 1 when something has to be done."
  (setv rows (list (checks)))
  (for [[state what words] rows]
    (print (.rstrip f"{(.ljust state 8)} {(.ljust what 16)} {words}")))
  (if (any (gfor row rows (= (get row 0) "missing"))) 1 0))

(defn checks []
  "Yield #(state what words) for each thing that matters; state is ok, note or missing."
  (yield #("ok" "autolith" f"{autolith.__version__}, {(os.path.dirname autolith.__file__)}"))
  (yield (check-python))
  (yield (check-platform))
  (yield (check-ripgrep))
  (yield (check-git))
  (yield :from (check-roots))
  (yield :from (check-providers)))

(defn check-python []
  "Is this Python new enough?"
  #((if (>= sys.version-info #(3 11)) "ok" "missing") "python"
    f"{(platform.python-version)}, {(getattr hy "sys_executable" sys.executable)}, Hy {hy.__version__}"))

(defn check-platform []
  "Is this a platform that is supported?"
  (if (in sys.platform ["linux" "darwin"])
    #("ok" "platform" (platform.platform))
    #("missing" "platform" f"{sys.platform} is not supported; on Windows use WSL")))

(defn check-ripgrep []
  "Where does search come from?"
  (import autolith.work [ripgrep])
  (try
    #("ok" "ripgrep" (str (ripgrep.find)))
    (except [e Exception] #("missing" "ripgrep" (str e)))))

(defn check-git []
  "Is git there?"
  (setv git (shutil.which "git"))
  (if git
    #("ok" "git" git)
    #("note" "git" "not found; branches and history will not be shown")))

(defn check-roots []
  "Can our folders be written?"
  (for [[name root] [["config" (paths.config)] ["data" (paths.data)] ["state" (paths.state)] ["cache" (paths.cache)]]]
    (setv there (str root))
    (while (and (not (os.path.exists there)) (!= there (os.path.dirname there)))
      (setv there (os.path.dirname there)))
    (yield (if (os.access there os.W-OK)
             #("ok" name (str root))
             #("missing" name f"{root} cannot be written; set XDG_{(.upper name)}_HOME to a folder that can")))))

(defn check-providers []
  "Which providers have what they need?"
  (import autolith.application [choice]
          autolith.base [threads]
          autolith.provider [credentials discovery keyring-store registry signin])
  (credentials.take)
  (setv forms (list (.values (registry.providers)))
        servers (threads.on-loop (discovery.servers forms)))
  (for [form forms]
    (setv name (get form "name")
          lacks (when (and (get form "signin") (not (get form "key_variable"))) (signin.lacks form)))
    (yield (cond
             (registry.ready? form) #("ok" name (or (credentials.base-url form) "built in"))
             (in form servers) #("ok" name f"{(credentials.base-url form)} answers; used when named")
             (and lacks (not (signin.importable form))) #("note" name lacks)
             True #("note" name (choice.missing form)))))
  (for [fault (keyring-store.faults)]
    (yield #("note" "credentials" fault))))
