"What a start loads: everything can be imported, and little is."

(import
  os
  pathlib [Path]
  subprocess
  sys
  hy
  pytest)

(setv ROOT (. (Path __file__) (resolve) parent parent)
      PYTHON (getattr hy "sys_executable" sys.executable)
      HEAVY #{"asyncio" "httpx" "httpx_sse" "rich" "prompt_toolkit" "hyrule" "PIL" "pygments" "ssl" "email"})

(defn modules []
  "Return the dotted names of all our Hy modules."
  (sorted (gfor path (.rglob (/ ROOT "autolith") "*.hy")
                (.join "." (. (.relative-to (.with-suffix path "") ROOT) parts)))))

(defn python [code #* arguments]
  "Run CODE in a fresh Python; return what it printed, and fail with what it complained of."
  (setv done (subprocess.run [PYTHON "-c" code #* arguments] :capture-output True :text True :cwd ROOT :timeout 120
                             :stdin subprocess.DEVNULL
                             :env (dfor [k v] (.items os.environ) :if (not (.startswith k "COV")) k v)))
  (assert (= done.returncode 0) (+ done.stdout done.stderr))
  done.stdout)

(defn test-every-module-can-be-imported []
  "Each module imports by itself, and importing them all prints nothing."
  (setv out (python "import hy, importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)" #* (modules)))
  (assert (= out "")))

(defn loaded [#* arguments]
  "Return the names of the modules that the command line ARGUMENTS loads."
  (setv out (python "import sys
from autolith.__main__ import main
status = main(sys.argv[1:])
print('<modules>', status, *sys.modules)" #* arguments))
  (setv [_ _ tail] (.partition out "<modules>")
        [status #* names] (.split tail))
  (assert (= status "0") out)
  (set names))

(defn [(pytest.mark.parametrize "arguments" [["-e" "1"] ["--version"] ["--help"] ["-e" "(defn f [x] (* x 2)) (f 21)"]])]
  test-evaluating-loads-nothing-heavy [arguments]
  "A form that needs neither network, screen nor images loads nothing of theirs."
  (setv names (loaded #* arguments))
  (assert (= (& names HEAVY) (set)))
  (assert (not (lfor n names :if (.startswith n #("autolith.door.terminal" "autolith.provider.client")) n))))

(defn test-a-warm-start-compiles-nothing []
  "The second start of the same tree reads all its byte-code."
  (loaded "-e" "1")
  (setv done (subprocess.run [PYTHON "-c" "import sys, autolith_bytecode; autolith_bytecode.prepare()
from autolith.__main__ import main; sys.exit(main(['-e', '1']))"] :cwd ROOT :capture-output True :text True
                             :env {#** os.environ "HY_MESSAGE_WHEN_COMPILING" "1"}))
  (assert (= #(done.returncode done.stdout) #(0 "1\n")) done.stderr)
  (assert (not-in "Compiling" done.stderr)))
