"The scripts a newcomer runs: a checkout makes its own environment, once, and starts.

Nothing is fetched here: what the environment needs is borrowed from this one, everything else runs for real."

(import
  os
  pathlib [Path]
  shutil
  subprocess
  sys
  sysconfig
  hy
  pytest)

(setv ROOT (. (Path __file__) (resolve) parent parent)
      PYTHON (os.path.realpath (getattr hy "sys_executable" sys.executable))
      PARTS ["autolith" "recovery" "roles" "skills" "script" ".ci"]
      FILES ["setup.py" "pyproject.toml" "MANIFEST.in" "README.md" "init.hy" "autolith_launcher.py"
             "autolith_bytecode.py" "autolith_capsule.py"])

(defn [(pytest.fixture :scope "module")] checkout [tmp-path-factory]
  "A copy of what an installation needs of the tree, with the byte-code that there is."
  (setv top (/ (.mktemp tmp-path-factory "scripts") "check out"))
  (for [part PARTS]
    (shutil.copytree (/ ROOT part) (/ top part) :ignore (shutil.ignore-patterns ".venv*")))
  (for [name FILES :if (.exists (/ ROOT name))]
    (shutil.copy2 (/ ROOT name) top))
  top)

(defn environment []
  "Return an environment in which pip finds everything installed and asks no index."
  {#** (dfor [k v] (.items os.environ) :if (not (.startswith k #("PYTHON" "COV"))) k v)
   "PYTHONPATH" (get (sysconfig.get-paths) "purelib")
   "AUTOLITH_PYTHON" PYTHON
   "PYTHONDONTWRITEBYTECODE" "1"                         ; as some machines set it; the scripts unset it
   "PIP_NO_INDEX" "1"
   "PIP_NO_BUILD_ISOLATION" "0"})

(defn run [command #* arguments #** changed]
  "Run the script COMMAND with ARGUMENTS in `/`; return its status, output and diagnostics."
  (setv done (subprocess.run [(str command) #* arguments] :cwd "/" :capture-output True :text True :timeout 120
                             :stdin subprocess.DEVNULL :env {#** (environment) #** changed}))
  #(done.returncode done.stdout done.stderr))

(defn test-refuses-a-python-that-is-none [checkout]
  "A wrong AUTOLITH_PYTHON is named, and nothing is made."
  (setv [status _ err] (run (/ checkout "script" "autolith") "--version" :AUTOLITH-PYTHON "/bin/true-not"))
  (assert (= status 64))
  (assert (in "/bin/true-not" err))
  (assert (not (.exists (/ checkout ".venv" "bin" "autolith"))))
  (assert (not (.exists (/ checkout ".venv.lock")))))

(defn test-two-first-starts-make-one-environment [checkout tmp-path]
  "The first start makes the environment and starts, also through a link and from two shells at once."
  (setv link (/ tmp-path "autolith"))
  (.symlink-to link (/ checkout "script" "autolith"))
  (setv both (lfor path [link (/ checkout "script" "autolith")]
                   (subprocess.Popen [(str path) "--version"] :cwd "/" :env (environment) :text True
                                     :stdout subprocess.PIPE :stderr subprocess.PIPE))
        ended (lfor p both (.communicate p :timeout 180)))
  (assert (= (lfor p both p.returncode) [0 0]) (str ended))
  (import autolith)
  (for [[out _] ended]
    (assert (in autolith.__version__ out)))
  (assert (= (sum (gfor [_ err] ended (.count err "installing"))) 1)))

(defn [(pytest.fixture :scope "module")] made [checkout]
  "The checkout, with its environment."
  (assert (= (get (run (/ checkout "script" "autolith") "--version") 0) 0))
  checkout)

(defn test-an-unchanged-checkout-starts-at-once [made]
  "Where nothing changed, the script says nothing and neither pip nor the network is asked."
  (setv [status out err] (run (/ made "script" "autolith") "--version"))
  (assert (= #(status err) #(0 "")) err))

(defn test-a-changed-setup-is-installed-anew [made]
  "A change of setup.py is followed by one installation, and a failed one is told and tried again."
  (setv path (/ made "setup.py")
        before (.read-text path))
  (.write-text path (+ before "\nraise SystemExit('planted')\n"))
  (setv [status _ err] (run (/ made "script" "autolith") "--version"))
  (assert (= status 64))
  (assert (in "install.log" err))
  (.write-text path (+ before "\n# changed\n"))
  (setv [status _ err] (run (/ made "script" "autolith") "--version"))
  (assert (= status 0) err)
  (assert (in "installing" err))
  (assert (= (get (run (/ made "script" "autolith") "--version") 2) "")))

(defn test-a-dead-lock-is-taken-over [made]
  "A lock that a killed script left behind does not stop the next one."
  (setv lock (/ made ".venv.lock")
        gone (subprocess.Popen ["true"]))
  (.wait gone)
  (.mkdir lock)
  (.write-text (/ lock "pid") (str gone.pid))
  (.write-text (/ made "setup.py") (+ (.read-text (/ made "setup.py")) "# again\n"))
  (setv [status _ err] (run (/ made "script" "autolith") "--version"))
  (assert (= status 0) err)
  (assert (not (.exists lock))))

(defn test-the-gate-of-the-machine-is-the-gate []
  ".ci/run runs script/check and nothing else."
  (setv lines (lfor line (.splitlines (.read-text (/ ROOT ".ci" "run"))) :if (not (.startswith line "#")) line))
  (assert (= (len lines) 1))
  (assert (.endswith (get lines 0) "script/check\"")))
