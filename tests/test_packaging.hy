"The program as it is installed: a wheel made from the source distribution, and an editable installation.

Both are made once, from a copy of the tree, into environments that borrow the dependencies of this one."

(import
  importlib.metadata
  importlib.util
  os
  pathlib [Path]
  shutil
  subprocess
  sys
  sysconfig
  tarfile
  zipfile
  hy
  pytest)

(setv ROOT (. (Path __file__) (resolve) parent parent)
      PYTHON (getattr hy "sys_executable" sys.executable)
      BORROWED (get (sysconfig.get-paths) "purelib"))

(defn clean []
  "Return this process's environment without what would change an installation."
  (dfor [k v] (.items os.environ)
        :if (not (.startswith k "PYTHON"))
        :if (not (.startswith k "COV"))
        k v))

(defn call [#* words #** options]
  "Run the command WORDS in `/`; return what it printed, and fail with what it complained of."
  (setv done (subprocess.run (lfor w words (str w)) :capture-output True :text True
                             #** {"cwd" "/"  "env" (clean)  "stdin" subprocess.DEVNULL  #** options}))
  (assert (= done.returncode 0) (+ done.stdout done.stderr))
  done.stdout)

(defn tracked [#* suffixes]
  "Return the paths of the files of the tree that end in one of SUFFIXES, relative to it."
  (setv listed (call "git" "ls-files" "--cached" "--others" "--exclude-standard" :cwd ROOT))
  (sorted (gfor path (.split listed "\n")
                :if (and path (.endswith path suffixes) (.exists (/ ROOT path)))
                path)))

(defn copy-tree [target]
  "Copy the tree, without what git ignores, to the folder TARGET."
  (for [path (tracked "")]
    (.mkdir (. (/ target path) parent) :parents True :exist-ok True)
    (shutil.copy2 (/ ROOT path) (/ target path)))
  target)

(defn environment [folder]
  "Make an environment in FOLDER that finds this one's dependencies, but not its autolith; return its Python."
  (call PYTHON "-m" "venv" "--without-pip" folder)
  (setv python (/ folder "bin" "python")
        site (.strip (call python "-c" "import sysconfig; print(sysconfig.get_paths()['purelib'])")))
  (.write-text (/ (Path site) "borrowed.pth") (+ BORROWED "\n"))
  python)

(defn installed [python]
  "Return the folder that PYTHON imports autolith from."
  (Path (.strip (call python "-P" "-c" "import autolith, os; print(os.path.dirname(autolith.__file__))"))))

(defn [(pytest.fixture :scope "session")] distributions [tmp-path-factory]
  "A source distribution and the wheel made from it: their paths."
  (setv top (.mktemp tmp-path-factory "built")
        tree (copy-tree (/ top "tree")))
  (call PYTHON "-m" "build" "--no-isolation" "--outdir" (/ top "dist") tree)
  #((next (.glob (/ top "dist") "*.tar.gz")) (next (.glob (/ top "dist") "*.whl"))))

(defn [(pytest.fixture :scope "session")] python [distributions tmp-path-factory]
  "The Python of an environment that the wheel is installed in."
  (setv python (environment (.mktemp tmp-path-factory "wheel")))
  (call PYTHON "-m" "pip" "--python" python "install" "--quiet" "--no-deps" "--no-index" (get distributions 1))
  python)

(defn [(pytest.fixture :scope "session")] editable [tmp-path-factory]
  "The Python of an environment with an editable installation, and the tree it is of."
  (setv tree (copy-tree (.mktemp tmp-path-factory "checkout"))
        _ (for [part ["autolith" "recovery"]]            ; with byte-code, as far as there is any
            (shutil.copytree (/ ROOT part) (/ tree part) :dirs-exist-ok True))
        python (environment (.mktemp tmp-path-factory "editable")))
  (call PYTHON "-m" "pip" "--python" python "install" "--quiet" "--no-deps" "--no-index" "--no-build-isolation"
        "--editable" tree)
  #(python tree))

(defn test-every-module-is-in-the-wheel [distributions]
  "Wheel and source distribution hold every Python and Hy file of the package, and the wheel nothing of the tests."
  (setv [sdist wheel] distributions
        names (set (.namelist (zipfile.ZipFile wheel)))
        whole (sfor name (.getnames (tarfile.open sdist)) (get (.partition name "/") 2)))
  (for [path (tracked ".hy" ".py" ".forms" ".md")]
    (setv top (get (.split path "/") 0))
    (when (in top #("autolith" "recovery" "roles" "skills" "autolith_launcher.py" "autolith_bytecode.py" "autolith_capsule.py" "init.hy"))
      (assert (in path whole))
      (assert (in (if (in top #("recovery" "roles" "skills" "init.hy")) (+ "autolith/" path) path) names))))
  (assert (not (lfor n names :if (.startswith n #("tests/" "bench/" "script/")) n))))

(defn test-the-wheel-has-byte-code [distributions]
  "Every Hy module in the wheel has byte-code of this Python that is checked by hash; data has none."
  (setv wheel (zipfile.ZipFile (get distributions 1))
        names (set (.namelist wheel)))
  (for [name names :if (.endswith name ".hy")]
    (setv code (importlib.util.cache-from-source name))
    (if (or (in "/roles/" name) (in "/skills/" name) (= name "autolith/init.hy"))
      (assert (not-in code names))
      (do
        (assert (in code names))
        (assert (= (cut (.read wheel code) 4 8) b"\x03\0\0\0"))
        (assert (= (cut (.read wheel code) 8 16) (importlib.util.source-hash (.read wheel name))))))))

(defn test-the-installed-command-evaluates [python roots]
  "The installed command runs from any folder and compiles nothing of ours."
  (setv done (subprocess.run [(/ python.parent "autolith") "-e" "(+ 20 22)"] :cwd "/" :capture-output True :text True
                             :env {#** (clean) "HY_MESSAGE_WHEN_COMPILING" "1"}))
  (assert (= #(done.returncode done.stdout) #(0 "42\n")) done.stderr)
  (assert (not-in "/autolith/" done.stderr)))

(defn test-the-version-is-the-package-s [python]
  "Command, metadata and package agree on the version."
  (import autolith)
  (assert (in autolith.__version__ (call (/ python.parent "autolith") "--version")))
  (assert (= autolith.__version__
             (.strip (call python "-P" "-c" "import importlib.metadata as m; print(m.version('autolith'))")))))

(defn test-what-is-not-code-is-found [python]
  "Roles and skills are inside the package, for importlib.resources; recovery opens in three ways."
  (call python "-P" "-c" "import importlib.resources as r
assert r.files('autolith.roles').is_dir() and r.files('autolith.skills').is_dir()")
  (for [words [[(/ python.parent "autolith") "--recovery"] [python "-P" "-m" "autolith.recovery"]
               [python "-P" "-m" "hy" "-m" "autolith.recovery"]]]
    (assert (call #* words "--list"))))

(defn test-an-edited-installed-file-is-seen [python]
  "A change of an installed file of the same size and time takes effect."
  (setv path (/ (installed python) "base" "ids.hy")
        before (.read-text path)
        times (os.stat path))
  (try
    (.write-text path (+ (cut before (- (len before) 1)) " "))
    (os.utime path :ns #(times.st-atime-ns times.st-mtime-ns))
    (assert (in "ids.hy" (. (subprocess.run [python "-P" "-c" "import autolith.base.ids"] :cwd "/" :text True
                                            :capture-output True :env {#** (clean) "HY_MESSAGE_WHEN_COMPILING" "1"})
                            stderr)))
    (finally
      (.write-text path before))))

(defn test-an-unwritable-installation-starts [python roots]
  "With byte-code that is missing and cannot be written, the cache is filled once, with a word; then all is quiet."
  (setv folder (/ (installed python) "base" "__pycache__")
        aside (.with-name folder "aside")
        words [(/ python.parent "autolith") "--version"])
  (.rename folder aside)
  (.write-text folder "no folder")
  (try
    (setv first (subprocess.run words :cwd "/" :capture-output True :text True :env (clean))
          second (subprocess.run words :cwd "/" :capture-output True :text True
                                 :env {#** (clean) "HY_MESSAGE_WHEN_COMPILING" "1"}))
    (assert (= #(first.returncode second.returncode) #(0 0)) (+ first.stderr second.stderr))
    (assert (in "compiling" first.stderr))
    (assert (= second.stderr ""))
    (finally
      (.unlink folder)
      (.rename aside folder))))

(defn test-the-editable-command-follows-the-tree [editable roots]
  "An editable installation runs from any folder, and a change of the tree is a change of the program."
  (setv [python tree] editable
        command (/ python.parent "autolith"))
  (assert (= (installed python) (/ tree "autolith")))
  (call command "--recovery" "--list")
  (call python "-P" "-m" "autolith.recovery" "--list")
  (setv path (/ tree "autolith" "__init__.py")
        before (.read-text path))
  (.write-text path (.replace before "__version__ = \"" "__version__ = \"77."))
  (assert (in "77." (call command "--version"))))

(defn test-dependencies-are-what-the-documentation-names []
  "Every dependency of the package stands in docs/architecture.md, and none is unbounded."
  (setv page (.lower (.read-text (/ ROOT "docs" "architecture.md"))))
  (for [line (importlib.metadata.requires "autolith") :if (not-in "extra" line)]
    (setv name (get (.split (.replace (.replace line ">" " ") "~" " ")) 0))
    (assert (in (.lower name) page))
    (assert (any (gfor mark ["~=" ">="] (in mark line))))))
