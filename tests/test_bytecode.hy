"Byte-code: compiled once, wherever it can be kept, and never trusted when it is damaged.

The tests use a small package that is called autolith, in a folder of its own, with the real Hy and Hyrule."

(import
  importlib.util
  os
  pathlib [Path]
  shutil
  subprocess
  sys
  time
  hy
  pytest)

(setv ROOT (. (Path __file__) (resolve) parent parent)
      PYTHON (getattr hy "sys_executable" sys.executable)
      RUN #[[
import sys
sys.path.insert(0, sys.argv[1])
import autolith_bytecode
autolith_bytecode.prepare()
import autolith.room.work
print(autolith.room.work.answer())
]])

(defn [pytest.fixture] tree [tmp-path]
  "A folder with the byte-code module and a package of three Hy modules, one with a macro."
  (setv top (/ tmp-path "site")
        room (/ top "autolith" "room"))
  (.mkdir room :parents True)
  (for [name ["autolith_bytecode.py" "autolith_capsule.py"]] (shutil.copy (/ ROOT name) top))
  (.write-text (/ top "autolith" "__init__.py") "import hy\n")
  (.write-text (/ room "__init__.py") "")
  (.write-text (/ room "macros.hy") "(defmacro twice [x] `(* 2 ~x))\n")
  (.write-text (/ room "work.hy") "(import autolith.room [part])\n(eval-when-compile (require autolith.room.macros [twice]))
(defn answer [] (twice (part.half)))\n")
  (.write-text (/ room "part.hy") "(defn half [] 21)\n")
  top)

(defn run [tree #** environment]
  "Run the package in TREE; return its status, output and diagnostics."
  (setv clean (dfor [k v] (.items os.environ) :if (!= k "PYTHONDONTWRITEBYTECODE") k v)
        done (subprocess.run [PYTHON "-P" "-c" RUN (str tree)] :capture-output True :text True :timeout 60
                             :env {#** clean "HY_MESSAGE_WHEN_COMPILING" "1" #** environment}))
  #(done.returncode done.stdout done.stderr))

(defn compiled [err]
  "Return the names of the modules of the package that ERR says were compiled, each as often."
  (sorted (gfor line (.split err "\n")
                :if (and (.startswith line "Compiling") (in "/autolith/room/" line))
                (get (.rsplit line "/" 1) 1))))

(defn beside [tree name]
  "Return the path of the byte-code of the module NAME beside its source in TREE."
  (Path (importlib.util.cache-from-source (str (/ tree "autolith" "room" f"{name}.hy")))))

(defn cached [roots]
  "Return the byte-code files of the package's Hy modules in our cache."
  (hy-only (.glob (/ roots "cache" "autolith" "bytecode") "**/autolith/room/**/*.pyc")))

(defn hy-only [paths]
  "Return those of the byte-code files PATHS that are of Hy modules."
  (sorted (gfor path paths :if (not (.startswith path.name "__init__")) path)))

(defn blocked [tree]
  "Make it impossible, for root too, to write byte-code beside the sources in TREE."
  (.write-text (/ tree "autolith" "room" "__pycache__") "not a folder"))

(setv ALL ["macros.hy" "part.hy" "work.hy"])

(defn test-compiles-once-beside-the-sources [tree]
  "The first start compiles every module, the second none, and reads what the first wrote."
  (setv [status out err] (run tree))
  (assert (= #(status out) #(0 "42\n")) err)
  (assert (= (compiled err) ALL))
  (for [name ["macros" "part" "work"]]
    (assert (.exists (beside tree name))))
  (setv [status out err] (run tree))
  (assert (= #(status out err) #(0 "42\n" ""))))

(defn test-an-edit-is-seen [tree]
  "An edited source is compiled anew, and only that one."
  (run tree)
  (.write-text (/ tree "autolith" "room" "part.hy") "(defn half [] 50)\n")
  (setv [status out err] (run tree))
  (assert (= #(status out (compiled err)) #(0 "100\n" ["part.hy"]))))

(defn test-an-edit-of-the-same-size-is-seen [tree]
  "Checked hashes see an edit that changes neither the size nor the second."
  (run tree)
  (setv path (/ tree "autolith" "room" "part.hy")
        times (os.stat path))
  (.write-text path "(defn half [] 22)\n")
  (os.utime path :ns #(times.st-atime-ns times.st-mtime-ns))
  (assert (= (get (run tree) 1) "44\n")))

(defn test-a-read-only-tree-uses-the-cache [tree roots]
  "Where nothing can be written beside the sources, the cache is filled once and read afterwards."
  (blocked tree)
  (setv [status out err] (run tree))
  (assert (= #(status out (compiled err)) #(0 "42\n" ALL)) err)
  (assert (= (len (cached roots)) 3))
  (setv [status out err] (run tree))
  (assert (= #(status out err) #(0 "42\n" ""))))

(defn test-the-cache-follows-the-sources [tree roots]
  "An edit is seen through the cache too."
  (blocked tree)
  (run tree)
  (.write-text (/ tree "autolith" "room" "part.hy") "(defn half [] 1)\n")
  (setv [status out err] (run tree))
  (assert (= #(status out (compiled err)) #(0 "2\n" ["part.hy"]))))

(defn test-foreign-byte-code-is-no-byte-code [tree]
  "What another Python compiled counts as missing and stays where it is."
  (run tree)
  (for [name ["macros" "part" "work"]]
    (setv path (beside tree name))
    (.rename path (.with-name path f"{name}.cpython-399.pyc")))
  (setv [status out err] (run tree))
  (assert (= #(status out (compiled err)) #(0 "42\n" ALL)))
  (assert (.exists (.with-name (beside tree "part") "part.cpython-399.pyc"))))

(defn test-a-wish-for-no-byte-code-keeps-the-tree-clean [tree roots]
  "With PYTHONDONTWRITEBYTECODE nothing is written beside the sources, and still nothing is compiled twice."
  (setv [status out err] (run tree :PYTHONDONTWRITEBYTECODE "1"))
  (assert (= #(status out (compiled err)) #(0 "42\n" ALL)) err)
  (assert (not (.exists (. (beside tree "part") parent))))
  (setv [status out err] (run tree :PYTHONDONTWRITEBYTECODE "1"))
  (assert (= #(status out err) #(0 "42\n" ""))))

(defn test-good-byte-code-is-copied-not-made-anew [tree roots]
  "What an installer compiled is taken over into the cache when one module of it is missing."
  (run tree)
  (.unlink (beside tree "part"))
  (setv [status out err] (run tree :PYTHONDONTWRITEBYTECODE "1"))
  (assert (= #(status out (compiled err)) #(0 "42\n" ["part.hy"])) err))

(defn test-runs-where-nothing-can-be-kept [tree]
  "Without any place for byte-code the program runs all the same and says why it is slow."
  (blocked tree)
  (setv [status out err] (run tree :XDG-CACHE-HOME "/dev/null/none" :HOME "/dev/null"))
  (assert (= #(status out) #(0 "42\n")) err)
  (assert (in "XDG_CACHE_HOME" err)))

(defn [(pytest.mark.parametrize "harm" ["empty" "header" "half" "garbage" "noise"])
       (pytest.mark.parametrize "where" ["beside" "cache"])]
  test-damaged-byte-code-is-replaced [harm where tree roots]
  "A byte-code file that is empty, cut or overwritten is compiled anew and mended, wherever it lies."
  (when (= where "cache") (blocked tree))
  (run tree)
  (setv path (if (= where "cache")
               (get (lfor p (cached roots) :if (.startswith p.name "part.") p) 0)
               (beside tree "part"))
        whole (.read-bytes path))
  (.write-bytes path (get {"empty" b""
                           "header" (cut whole 12)
                           "half" (cut whole (// (len whole) 2))
                           "garbage" (+ (cut whole 16) b"\xff not marshal")
                           "noise" (* b"\0" (len whole))} harm))
  (setv [status out err] (run tree))
  (assert (= #(status out) #(0 "42\n")) err)
  (setv [status out err] (run tree))
  (assert (= #(status out err) #(0 "42\n" ""))))

(defn test-a-failed-require-leaves-nothing-behind [tree]
  "After a module that required a missing macro, the mended source works at once."
  (setv path (/ tree "autolith" "room" "work.hy")
        right (.read-text path))
  (.write-text path (.replace right "[twice]" "[thrice]"))
  (setv [status _ err] (run tree))
  (assert (!= status 0))
  (assert (in "thrice" err))
  (assert (not (.exists (beside tree "work"))))
  (.write-text path right)
  (assert (= (get (run tree) 1) "42\n")))

(defn many [tree count]
  "Give the package in TREE COUNT more modules, each of some work."
  (for [n (range count)]
    (.write-text (/ tree "autolith" "room" f"more{n}.hy")
                 (.join "\n" (gfor i (range 40) f"(defn f{i} [x] (if (> x {n}) (+ x {i}) (- x 1)))")))))

(defn start [tree]
  "Start the package in TREE without waiting for it."
  (setv clean (dfor [k v] (.items os.environ) :if (!= k "PYTHONDONTWRITEBYTECODE") k v))
  (subprocess.Popen [PYTHON "-P" "-c" RUN (str tree)] :stdout subprocess.PIPE :stderr subprocess.PIPE :text True
                    :env {#** clean "HY_MESSAGE_WHEN_COMPILING" "1"}))

(defn test-a-kill-in-the-middle-leaves-whole-files [tree]
  "Killed while it compiles, a start leaves only whole byte-code, and the next one goes on from there."
  (many tree 12)
  (setv process (start tree)
        kept (. (beside tree "part") parent))
  (for [_ (range 1000)]
    (when (> (len (hy-only (.glob kept "*.pyc"))) 3) (break))
    (time.sleep 0.005))
  (.kill process)
  (.communicate process)
  (import marshal)
  (for [path (.glob kept "*.pyc")]
    (marshal.loads (cut (.read-bytes path) 16 None)))
  (setv done (len (hy-only (.glob kept "*.pyc")))
        [status out err] (run tree))
  (assert (= #(status out) #(0 "42\n")) err)
  (assert (<= (len (compiled err)) (- 15 done)))
  (assert (= (len (hy-only (.glob kept "*.pyc"))) 15)))

(defn test-two-starts-share-the-work [tree]
  "Two first starts at once both succeed, and no module is compiled by both."
  (many tree 12)
  (setv both [(start tree) (start tree)]
        ended (lfor p both (.communicate p :timeout 60)))
  (assert (= (lfor p both p.returncode) [0 0]) (str ended))
  (assert (= (lfor [out _] ended out) ["42\n" "42\n"]))
  (setv total (sorted (gfor [_ err] ended name (compiled err) name)))
  (assert (= (len total) (len (set total)) 15)))

(defn test-a-source-that-does-not-compile-is-left-to-its-import [tree]
  "A broken module that nobody imports does not keep the program from starting."
  (.write-text (/ tree "autolith" "room" "broken.hy") "(defn f [")
  (setv [status out err] (run tree))
  (assert (= #(status out) #(0 "42\n")) err))

(defn test-data-is-not-compiled [tree]
  "Hy files that are data, and init.hy, get no byte-code."
  (.mkdir (/ tree "autolith" "roles"))
  (for [path ["autolith/init.hy" "autolith/roles/one.hy" "autolith/roles/__init__.py"]]
    (.write-text (/ tree path) ""))
  (run tree)
  (assert (not (list (.glob tree "**/init.*.pyc"))))
  (assert (not (list (.glob tree "**/one.*.pyc")))))

(defn test-hyrule-has-byte-code-too []
  "After a start in this environment, each Hyrule module has byte-code that is read."
  (import autolith-bytecode)
  (autolith-bytecode.prepare)
  (assert (= (autolith-bytecode.missing (autolith-bytecode.folders-of "hyrule")) {})))
