"An unchanged init file is not compiled again; whatever could change its meaning makes it compile again."

(import
  os
  pytest
  autolith.base [paths]
  autolith.image [evaluate layer-cache layers namespace]
  tests.image [lib]
  tests.image.lib [tree]
  tests.image.test-layers [faults home init user write])

(defn [pytest.fixture] compiled [monkeypatch]
  "The texts of the files that are compiled from now on."
  (setv real evaluate.compiled  seen [])
  (defn counting [form module name source] (.append seen name) (real form module name source))
  (monkeypatch.setattr evaluate "compiled" counting)
  seen)

(setv TEXT "(defn f [x]\n  (unless x (/ 1 x)))\n(setv a [1 2])\n(defmacro m [] 7)\n")

(defn test-a-second-load-compiles-nothing [home compiled]
  "The second load of the same text gives the same definitions from the cache, its macros too, with the right lines in tracebacks."
  (assert (= (faults TEXT) []))
  (assert (= (len compiled) 3))
  (setv compiled-once (len compiled))
  (assert (= (faults TEXT) []))
  (assert (= (len compiled) compiled-once))
  (assert (= [(user "a") (lib.value "(m)")] [[1 2] 7]))
  (assert (in "(unless x (/ 1 x))" (get (lib.condition "(f 0)") "traceback"))))

(defn test-faults-come-again [home compiled]
  "A form that fails when it runs is reported with its line from the cache as well; a file with such a form is kept whole."
  (setv text "(setv a 1)\n\n(/ 1 0)\n(setv b 2)")
  (assert (= (faults text) (faults text) [[3 "ZeroDivisionError: division by zero"]]))
  (assert (= (len compiled) 3)))

(defn test-an-edit-is-seen [home]
  "Any edit of the text, also one of the same size in the same second, is loaded."
  (faults "(setv a 1)")
  (faults "(setv a 2)")
  (assert (= (user "a") 2)))

(defn test-macros-of-the-users-modules [home]
  "A file that requires macros follows an edit of the module that defines them."
  (write (paths.config "lisp/my_macros_one.hy") "(defmacro twice [x] `(* 2 ~x))")
  (assert (= (faults "(require my-macros-one [twice])\n(setv a (twice 5))") []))
  (assert (= (user "a") 10))
  (write (paths.config "lisp/my_macros_one.hy") "(defmacro twice [x] `(* 200 ~x))")
  (assert (get (layers.reload) "ok"))
  (assert (= (user "a") 1000)))

(defn test-a-change-in-the-tree-compiles-again [home tree compiled]
  "When a file of the tree changed, a macro may have: the init file is compiled again."
  (faults TEXT)
  (setv before (len compiled))
  (lib.write-module tree "zoo.newer" "(setv x 1)")
  (os.utime (str (.joinpath tree "zoo" "newer.hy")) :ns #((* 2 (layer-cache.newest)) (* 2 (layer-cache.newest))))
  (faults TEXT)
  (assert (= (- (len compiled) before) before)))

(defn test-a-damaged-cache-is-ignored [home]
  "Cut, empty, foreign and unreadable entries are compiled anew and replaced."
  (faults TEXT)
  (setv file (layer-cache.file-for (paths.config "init.hy") TEXT))
  (with [f (open file "rb")] (setv whole (.read f)))
  (for [content [b"" (cut whole 40) b"\xff\xff\xff" b"i\x01\0\0\0" (* b"\0" 100)]]
    (with [f (open file "wb")] (.write f content))
    (setv (. (namespace.user) a) None)
    (assert (= (faults TEXT) []) content)
    (assert (= (user "a") [1 2])))
  (with [f (open file "rb")] (assert (= (len (.read f)) (len whole)))))

(defn test-a-cache-that-cannot-be-written [home monkeypatch]
  "Where nothing can be kept, loading works as ever."
  (write (paths.cache) "a file is in the way")
  (assert (= (faults TEXT) []))
  (assert (= (user "a") [1 2])))

(defn test-few-files-are-kept [home]
  "Only the newest entries stay."
  (for [i (range (+ layer-cache.KEPT-FILES 5))] (faults f"(setv a {i})"))
  (assert (<= (len (os.listdir (paths.cache "init"))) layer-cache.KEPT-FILES)))
