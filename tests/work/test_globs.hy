"Path filters, and that what ripgrep is told never leaves out what belongs."

(import
  os
  subprocess
  pytest
  hypothesis [given settings strategies :as st HealthCheck]
  autolith.work [globs ripgrep])

(setv FITS
  [#("*.py" "a.py" True) #("*.py" "x/y/a.py" True) #("*.py" "a.pyc" False) #("*.py" "d.py/x" False)
   #("src/*.py" "src/a.py" True) #("src/*.py" "src/b/a.py" False) #("src/*.py" "x/src/a.py" False)
   #("**/src/*.py" "x/src/a.py" True) #("**/src/*.py" "src/a.py" True) #("src/**/a.py" "src/a.py" True)
   #("src/**/a.py" "src/x/y/a.py" True) #("src/**" "src/x/y" True) #("/a.py" "a.py" True) #("/a.py" "x/a.py" False)
   #("*.{py,hy}" "a.hy" True) #("*.{py,hy}" "a.md" False) #("[ab].py" "b.py" True) #("[!ab].py" "b.py" False)
   #("[!ab].py" "c.py" True) #("a?.py" "ab.py" True) #("a?.py" "a/.py" False) #("a[.py" "a[.py" True)
   #("a,b" "a,b" True) #("a\\*b" "a*b" True) #("a\\*b" "axb" False) #("docs/" "docs/x/y.md" True)
   #("docs/" "docs" False)
   #("[]x].py" "].py" True) #("a\nb" "a\nb" True) #("**" "a/b" True)])

(defn [(pytest.mark.parametrize "pattern,path,fits" FITS)] test-patterns [pattern path fits]
  "A pattern fits the paths that its writer means."
  (assert (= (bool (.match (globs.compiled pattern) path)) fits)))

(defn make [folder names]
  "Make the files NAMES below FOLDER."
  (for [name names]
    (setv path (os.path.join folder name))
    (os.makedirs (os.path.dirname path) :exist-ok True)
    (with [f (open path "w")] (.write f "x\n"))))

(setv TREE ["a.py" "b.hy" "src/a.py" "src/c.txt" "src/deep/d.py" "tests/t.py" "src/tests/u.py" "docs/x.md"
            "we ird/z.py" "src.py"])

(defn listed [folder text]
  "Return what the filter TEXT keeps below FOLDER, through ripgrep."
  (setv filter (globs.parse text folder)
        roots (or (lfor r filter.roots (+ "./" r)) ["./"])
        done (subprocess.run [(ripgrep.find) "--files" "--null" #* (.options filter) "--" #* roots]
                             :cwd folder :capture-output True)
        paths (lfor p (.split (os.fsdecode done.stdout) "\0") :if p (.removeprefix p "./")))
  (sorted (filter-by filter paths)))

(defn filter-by [f paths]
  "Return those of PATHS that F keeps."
  (lfor p paths :if (.keeps? f p) p))

(setv FILTERS
  [#("" TREE) #("." TREE) #("*.py src/" ["src/a.py" "src/deep/d.py" "src/tests/u.py"])
   #("*.py !tests/" ["a.py" "src.py" "src/a.py" "src/deep/d.py" "we ird/z.py"])
   #("src" ["src/a.py" "src/c.txt" "src/deep/d.py" "src/tests/u.py"])
   #("!src !tests !*.md" ["a.py" "b.hy" "src.py" "we ird/z.py"])
   #("\"we ird\"" ["we ird/z.py"]) #("*.hy *.md" ["b.hy" "docs/x.md"])
   #("./src/ !src/tests" ["src/a.py" "src/c.txt" "src/deep/d.py"])
   #("src/ docs/" ["docs/x.md" "src/a.py" "src/c.txt" "src/deep/d.py" "src/tests/u.py"])
   #("**/deep/*" ["src/deep/d.py"])
   #("*.{hy,md}" ["b.hy" "docs/x.md"]) #("*.nothing" [])])

(defn [(pytest.mark.parametrize "text,expected" FILTERS)] test-filters [tmp-path text expected]
  "Folders, patterns and exclusions combine by and; ripgrep gives what the filter means."
  (make (str tmp-path) TREE)
  (assert (= (listed (str tmp-path) text) (sorted expected))))

(setv WORDS ["*.py" "src/" "!tests/" "**/a*" "src/*.py" "!*.md" "d?cs/" "{src,docs}/**" "!src/deep" "/a.py" "[ab]*"])

(defn [(settings :max-examples 60 :deadline None :suppress-health-check [HealthCheck.function-scoped-fixture])
       (given (st.lists (st.sampled-from WORDS) :max-size 3))]
  test-options-leave-out-nothing-that-belongs [tmp-path words]
  "What ripgrep lists with a filter's options is all that the filter keeps of the whole tree."
  (make (str tmp-path) TREE)
  (setv text (.join " " words)
        f (globs.parse text (str tmp-path))
        under (lfor p TREE :if (or (not f.roots) (any (gfor r f.roots (.startswith p (+ r "/"))))) p))
  (assert (= (listed (str tmp-path) text) (sorted (filter-by f under)))))

(defn [(pytest.mark.parametrize "text" ["../x" "src/../../y" "!../x" "\"\"" "{a" "!"])] test-bad-filters [tmp-path text]
  "A filter that leads out of the workspace, or cannot be understood, is refused."
  (with [_ (pytest.raises globs.Malformed)]
    (globs.parse text (str tmp-path))))

(defn test-hidden-names-ask-for-hidden-files [tmp-path]
  "A filter that names a hidden file or folder includes hidden files."
  (assert (.hidden? (globs.parse ".github/**" (str tmp-path))))
  (assert (not (.hidden? (globs.parse "./*.py" (str tmp-path))))))
