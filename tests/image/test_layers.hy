"Init files: found in order, loaded form by form whatever is wrong with them, and reloaded whole or not at all."

(import
  os
  sys
  time
  pytest
  autolith.base [paths text]
  autolith.image [advice definitions layers namespace registries]
  tests.image [lib]
  tests.image.lib [tree])

(defn [(pytest.fixture :autouse True)] home [tree monkeypatch tmp-path]
  "A working directory of its own, and everything put back."
  (setv state (dict layers.loaded)
        path (list sys.path)
        directory (.joinpath tmp-path "work"))
  (.mkdir directory)
  (monkeypatch.chdir directory)
  (.mkdir (.joinpath tmp-path "empty"))
  (monkeypatch.setattr layers "packaged" (fn [] (str (.joinpath tmp-path "none"))))
  (yield directory)
  (.update layers.loaded state)
  (setv (cut sys.path) path))

(defn write [path content]
  "Write CONTENT, text or bytes, to the file at PATH, making folders; return the path."
  (os.makedirs (os.path.dirname path) :exist-ok True)
  (with [f (open path "wb")] (.write f (if (isinstance content str) (.encode content) content)))
  path)

(defn init [content]
  "Make CONTENT the user's init file; return its path."
  (write (paths.config "init.hy") content))

(defn faults [content #** options]
  "Return the faults of loading CONTENT as the user's init file: line and message."
  (init content)
  (lfor f (layers.load #** options) [(get f "line") (get f "message")]))

(defn user [name [default None]]
  "Return what NAME is in autolith.user."
  (getattr (namespace.user) (hy.mangle name) default))

(defn test-layers-in-order [home tmp-path monkeypatch]
  "Packaged, site, trusted directories from the outermost in, then the user's: each sees what was before and wins over it."
  (setv outer (.joinpath tmp-path "outer")  inner (.joinpath outer "a" "inner")  site (.joinpath tmp-path "site"))
  (.mkdir (.joinpath inner "deep") :parents True)
  (write (str (.joinpath tmp-path "none")) "(setv order [\"packaged\"])")
  (write (str (.joinpath site "init.hy")) "(.append order \"site\")")
  (write (str (.joinpath outer ".autolith" "init.hy")) "(.append order \"outer\")")
  (write (str (.joinpath outer "a" ".autolith" "init.hy")) "(.append order \"not trusted\")")
  (write (str (.joinpath inner ".autolith" "init.hy")) "(.append order \"inner\")")
  (write (paths.config "directory-scopes.hy") (.format "{{:version 1 :directories [\"{}\" \"{}\" \"{}\"]}}" inner outer (os.path.expanduser "~")))
  (init "(.append order \"user\")")
  (monkeypatch.setenv "AUTOLITH_SITE" (str site))
  (monkeypatch.chdir (.joinpath inner "deep"))
  (assert (= (layers.load) []))
  (assert (= (user "order") ["packaged" "site" "outer" "inner" "user"]))
  (monkeypatch.chdir tmp-path)
  (layers.load)
  (assert (= (user "order") ["packaged" "site" "user"]))
  (layers.load :user False)
  (assert (= (user "order") ["packaged"])))

(defn test-a-failed-form-is-skipped [home]
  "Each failing form is reported with its line, where in a function it failed too, and all others are loaded."
  (assert (= (faults "; one\n(setv a 1)\n(defn f []\n  (/ 1 0))\n(f)\n(setv b\n  2)\n(no-such 1)\n(unless False (setv c 3))
(raise (SystemExit 4))\n(setv d 4)")
             [[4 "ZeroDivisionError: division by zero"]
              [8 "NameError: name 'no-such' is not defined"]
              [10 "asked to exit with status 4"]]))
  (assert (= (lfor n "abcd" (user n)) [1 2 3 4])))

(setv UNREADABLE [
  ["(setv a 1)\n(setv b (+ 1\n" 2 1] ["(setv a 1)\n\n)\n(setv b 2)" 3 1] [b"(setv a 1)\n(setv b \"\0\")" 2 None]
  [b"(setv a 1)\n(setv b \"\xe9\")" 2 None] ["(setv a 1) (setv b #nope 3)" 1 1] [(* "(" 1000) 1 None]])

(defn [(pytest.mark.parametrize "content,line,a" UNREADABLE)] test-unreadable-files [home content line a]
  "A reader's error skips from there; NUL bytes and Latin-1 are reported with their line, and nothing of the file runs."
  (setv (. (namespace.user) a) None)
  (setv [fault] (faults content))
  (assert (= (get fault 0) line))
  (assert (= (user "a") a)))

(defn test-odd-files [home tmp-path monkeypatch]
  "Missing, empty, comment-only and marked files load; a folder, a dangling link, a huge and a forbidden file are each one fault."
  (assert (= (layers.load) []))
  (for [content ["" "\n\n" "; only\n;; comments" "\ufeff(setv marked 1)" "#!/usr/bin/env hy\n(setv shebang 1)"]]
    (assert (= (faults content) []) content))
  (assert (= [(user "marked") (user "shebang")] [1 1]))
  (assert (= (len (faults (* "x " 600000))) 1))
  (setv path (paths.config "init.hy"))
  (os.unlink path)
  (os.mkdir path)
  (assert (= (len (layers.load)) 1))
  (os.rmdir path)
  (os.symlink (str (.joinpath tmp-path "nowhere")) path)
  (assert (= (len (layers.load)) 1))
  (os.unlink path)
  (os.mkfifo path)
  (assert (= (len (layers.load)) 1))
  (os.unlink path)
  (write path "(setv forbidden 1)")
  (defn deny [path #* args] (raise (PermissionError 13 "Permission denied" path)))
  (monkeypatch.setattr layers "open" deny :raising False)
  (assert (in "ermission" (get (layers.load) 0 "message"))))

(defn test-bad-scopes-trust-nothing [home tmp-path monkeypatch]
  "A directory-scopes file that is not what it should be is a fault and trusts nobody; single bad entries are left out."
  (write (str (.joinpath home ".autolith" "init.hy")) "(setv trusted 1)")
  (setv path (paths.config "directory-scopes.hy")
        (. (namespace.user) trusted) None)
  (for [content ["{:version 1 :directories 3}" "(" "[1 2]" "{:directories [3 \"relative\" \"/no/such/place\"]}"
                 (+ "{:directories [" (* "\"/tmp\" " 65) "]}") b"\xff\0"]]
    (write path content)
    (assert (>= (len (layers.load)) 1) content)
    (assert (is (user "trusted") None)))
  (write path (.format "{{:directories [\"nonsense\" \"{}\"]}}" home))
  (assert (= (len (layers.load)) 1))
  (assert (= (user "trusted") 1))
  (monkeypatch.setenv "AUTOLITH_SITE" "relative/path")
  (assert (= (len (layers.load)) 2)))

(defn test-an-endless-form-is-stopped [home monkeypatch]
  "Loading is under a time limit: an endless loop, or a sleep, is stopped and reported, and the rest loads."
  (monkeypatch.setattr layers "load_seconds" 0.3)
  (setv found (faults "(setv before 1)\n(while True)\n(import time)\n(setv after 2)"))
  (assert (= (lfor [line _] found line) [2]))
  (assert (= [(user "before") (user "after")] [1 2]))
  (setv found (faults "(import time)\n(time.sleep 30)\n(setv slept 1)"))
  (assert (= [(lfor [line _] found line) (user "slept")] [[2] 1])))

(defn test-a-swallowed-limit-comes-again [home monkeypatch]
  "A form that catches everything and goes on is stopped all the same."
  (monkeypatch.setattr layers "load_seconds" 0.2)
  (setv found (faults "(setv n 0)\n(while (< n 3) (try (while True) (except [] (+= n 1))))\n(setv done 1)"))
  (assert (= (user "done") 1)))

(defn test-nobody-is-asked-while-loading [home monkeypatch]
  "An unknown name in an init file is a fault, not a question."
  (import autolith.base [conditions])
  (monkeypatch.setattr conditions "ask" (fn [condition choices] (raise (AssertionError "asked"))))
  (assert (= (lfor [line m] (faults "no-such-name\n(/ 1 0)") line) [1 2])))

(defn test-the-users-modules [home]
  "Modules in lisp/ can be imported, those that hold macros required; a broken one is a fault of the form that imports it."
  (write (paths.config "lisp/my_tools.hy") "(defn twice [x] (* 2 x))\n(defmacro thrice [x] `(* 3 ~x))")
  (write (paths.config "lisp/broken_one.hy") "(defn broken [")
  (assert (= (lfor [line _] (faults "(import my-tools)
(require my-tools [thrice])
(import broken-one)
(setv six (my-tools.twice 3) nine (thrice 3))") line) [3]))
  (assert (= [(user "six") (user "nine")] [6 9])))

(defn test-init-files-extend-and-change [home tree]
  "An init file can define, redefine, advise, and offer; hyrule's macros and a file's own macros work in it."
  (setv module (lib.load tree "zoo.target" "(defn f [x] x)\n(defn g [x] x)"))
  (assert (= (faults "(defmacro add-one [x] `(+ 1 ~x))
(defn mine [x] (-> x (add-one)))
(redefine :in \"zoo.target\" (defn f [x] (* 10 x)))
(advise \"zoo.target.g\" :filter-result \"init\" (fn [v] [v]))
(defonce counter [0] \"C\")")
             []))
  (assert (= [((user "mine") 1) (module.f 2) (module.g 2)] [2 20 [2]])))

(defn test-reload-replaces [home tree]
  "What an init file no longer defines is gone after a reload: names, macros, advice, redefinitions; the user's own stays."
  (setv module (lib.load tree "zoo.again" "(defn f [x] x)\n(defn g [x] x)"))
  (faults "(setv old-name 1 shared 1)\n(defmacro old-macro [] 1)\n(redefine :in \"zoo.again\" (defn f [x] (* 10 x)))
(advise \"zoo.again.g\" :filter-result \"init\" (fn [v] [v]))")
  (lib.value "(setv typed 5) (advise \"zoo.again.g\" :filter-result \"typed\" (fn [v] {\"typed\" v}))")
  (init "(setv new-name 2 shared 2)")
  (setv report (layers.reload))
  (assert (get report "ok"))
  (assert (= [(user "old-name") (user "shared") (user "new-name") (user "typed")] [None 2 2 5]))
  (assert (not-in "old_macro" (. (namespace.user) _hy-macros)))
  (assert (= [(module.f 1) (module.g 1)] [1 {"typed" 1}]))
  (assert (in "reloaded" (layers.report report))))

(defn test-a-user-change-of-what-init-defined-stays [home]
  "A name that the user rebound since is the user's; a reload does not take it back."
  (faults "(setv policy 1)")
  (lib.value "(setv policy 2)")
  (init "(setv other 1)")
  (layers.reload)
  (assert (= [(user "policy") (user "other")] [2 1])))

(defn test-a-failing-reload-restores [home tree]
  "When a form of a reload fails, everything is as before, redefinitions, advice and modules too, and the report names the form."
  (setv module (lib.load tree "zoo.restored" "(defn f [x] x)\n(defn g [x] x)"))
  (write (paths.config "lisp/helper_one.hy") "(setv value 1)")
  (faults "(setv a 1)\n(import helper-one)\n(redefine :in \"zoo.restored\" (defn f [x] (* 10 x)))
(advise \"zoo.restored.g\" :filter-result \"init\" (fn [v] [v]))\n(defmacro m [] 1)")
  (write (paths.config "lisp/helper_one.hy") "(setv value 2)")
  (for [bad ["(setv a 2 b 2)\n(defmacro m [] 2)\n(redefine :in \"zoo.restored\" (defn f [x] (* 100 x)))\n(import helper-one)\n(/ 1 0)"
             "(setv a 3)\n(" "(setv a 4)\n(advise \"zoo.restored.g\" :filter-result \"init\" (fn [v] 0))\n)"]]
    (init bad)
    (setv report (layers.reload))
    (assert (not (get report "ok")))
    (assert (in "init.hy:" (layers.report report)))
    (assert (= [(user "a") (user "b") (module.f 1) (module.g 1) (lib.value "(m)") (lib.value "helper-one.value")] [1 None 10 [1] 1 1]) bad))
  (init "(setv a 5)\n(import helper-one)")
  (assert (get (layers.reload) "ok"))
  (assert (= [(user "a") (module.f 1) (module.g 1) (lib.value "helper-one.value")] [5 1 1 2])))

(defn test-registries-of-higher-rooms [home]
  "A registry that another room enters is emptied of what init files added, and restored when a reload fails."
  (setv table {"packaged" 1})
  (layers.register-registry "test-tools" (fn [] (dict table)) (fn [state] (.clear table) (.update table state)))
  (setv (. (namespace.user) test-table) table)
  (try
    (faults "(setv (get test-table \"mine\") 1)")
    (setv (get table "typed") 2)
    (init "(setv (get test-table \"other\") 1)")
    (layers.reload)
    (assert (= table {"packaged" 1 "typed" 2 "other" 1}))
    (init "(setv (get test-table \"worse\") 1) (/ 1 0)")
    (layers.reload)
    (assert (= table {"packaged" 1 "typed" 2 "other" 1}))
    (finally
      (.pop registries.registries "test-tools")
      (.pop registries.beginnings "test-tools"))))

(defn test-objects-that-hold-the-users-functions [home]
  "What an init file enters is the file's also when the form brought in the registry's own module, and when the entry is an object."
  (setv module "(import autolith.image [registries])
(setv table {})
(defclass Entry [] (defn __init__ [self f] (setv self.function f)) (defn __call__ [self] (self.function)))
(defn enter [name f] (setv (get table name) (Entry f)))
(defn own [] 0)
(enter \"own\" own)
(registries.register \"test-objects\" (fn [] (dict table)) (fn [state] (.clear table) (.update table state)))")
  (import autolith)
  (write (os.path.join (get autolith.__path__ -1) "zoo" "objects.hy") module)
  (write (os.path.join (get autolith.__path__ -1) "zoo" "__init__.py") "")
  (try
    (assert (= (faults "(import autolith.zoo.objects :as objects) (objects.enter \"mine\" (fn [] 1))") []))
    (assert (= (faults "(do (import autolith.zoo.objects :as objects) (objects.enter \"mine\" (fn [] 1)))") []))
    (init "")
    (layers.reload)
    (import autolith.zoo.objects)
    (assert (= (set autolith.zoo.objects.table) #{"own"}))
    (finally
      (.pop registries.registries "test-objects" None)
      (.pop registries.beginnings "test-objects" None))))

(defn test-an-interrupted-reload-restores [home]
  "Ctrl-C during a reload skips the form that runs, so the reload fails and nothing is changed."
  (faults "(setv a 1)")
  (init "(setv a 2)\n(raise (KeyboardInterrupt))")
  (assert (not (get (layers.reload) "ok")))
  (assert (= (user "a") 1)))

(defn test-the-packaged-file-holds-no-work [monkeypatch]
  "The packaged init.hy exists, is a commented example only, and each example in it is a form that can be read."
  (monkeypatch.undo)
  (setv path (layers.packaged))
  (with [f (open path)] (setv content (.read f)))
  (assert (layers.blank? content))
  (setv examples (.join "\n" (lfor line (.splitlines content) :if (.startswith line ";; ") (cut line 3 None))))
  (for [block (.split content "\n\n")]
    (setv lines (lfor line (.splitlines block) :if (.startswith line ";; ") (cut line 3 None)))
    (when (and lines (.startswith (get lines 0) "("))
      (assert (list (hy.read-many (.join "\n" lines)))))))
