"The layout check: it finds each fault that is planted, and nothing in what is right."

(import
  pathlib [Path]
  subprocess
  sys
  hy
  pytest)

(setv ROOT (. (Path __file__) (resolve) parent parent))
(.append sys.path (str (/ ROOT "script")))
(import layout sources rooms)

(setv GOOD "\"Say what this is.\"

(import
  json
  autolith.base [forms]
  autolith.base.log :as log)

(eval-when-compile (require autolith.base.macros [defonce]))

(defonce table {} \"What is known.\")

(defn greet [name * [loud False]]
  \"Return a greeting for NAME.\"
  (when loud
    (return (.upper name)))
  (forms.write {\"name\" name
                \"text\" \"\"\"
)
\"\"\"}))

(defn _hidden [] (log.read \"x\"))
"
      MODULES ["autolith/base/forms.hy" "autolith/base/log.hy" "autolith/base/__init__.py" "autolith/tool/registry.hy"
               "autolith/provider/items.hy" "autolith/work/jobs.hy"])

(defn complaints [text [path "autolith/state/sample.hy"] #* others]
  "Return what the check says of TEXT as the file PATH, beside some other modules."
  (setv files [(sources.Source path text)
               (sources.Source "autolith/base/macros.hy" "\"M.\"\n\n(defmacro defonce [name value doc]\n  \"D.\"\n  value)\n")
               #* (gfor m MODULES (sources.Source m (if (.endswith m ".hy") "\"M.\"\n" "")))
               #* others])
  (lfor [where line words] (layout.check files) :if (= where path) #(line words)))

(defn test-right-code-has-no-complaints []
  "A file that keeps all rules is left in peace."
  (assert (= (complaints GOOD) [])))

(setv PLANTED [
  #("tab" "(setv x\n\t1)\n" 2)
  #("trailing blank" "(setv x 1) \n" 1)
  #("newline" "(setv x 1)" 1)
  #("columns" (+ "(setv x [" (* "1 " 80) "])\n") 1)
  #("left of its parent" "(defn f []\n  \"D.\"\n  (g)\n\n(defn g []\n  \"D.\"\n  2))\n" 5)
  #("indented" "(defn f []\n  \"D.\"\n  (g))\n  (print 2)\n" 4)
  #("of their own" "(defn f []\n  \"D.\"\n  (g)\n  )\n" 4)
  #("f has no docstring" "(defn f [] 1)\n" 1)
  #("f has no docstring" "(defn f [] \"only a value\")\n" 1)
  #("f has no docstring" "(defn :async [(wraps g)] #^ int f [x]\n  x)\n" 1)
  #("C has no docstring" "(defclass C []\n  (setv x 1))\n" 1)
  #("columns" (+ "(setv x \"" (* "word " 40) "\")\n") 1)
  #("lines, at most" (+ "(defn f []\n  \"D.\"\n" (* "  (g)\n" 70) "  1)\n") 1)
  #("lines, at most" (* "(setv x 1)\n" 460) 1)
  #("does not read" "(setv x (1)\n" None)
  #("value write" "(import autolith.base.forms [write])\n" 1)
  #("value *" "(import autolith.base.forms *)\n" 1)
  #("value nothing" "(import autolith.base [nothing])\n" 1)
  #("no module" "(import autolith.base.nothing)\n" 1)
  #("relative" "(import . [forms])\n" 1)
  #("may not know autolith.tool" "(import autolith.tool [registry])\n" 1)
  #("may not know autolith.tool" "(defn f []\n  \"D.\"\n  (import autolith.tool [registry])\n  1)\n" 3)
  #("may not know autolith.tool" "(defmacro m [x]\n  \"D.\"\n  `(hy.I.autolith/tool/registry.find ~x))\n" 3)
  #("may not know the launcher" "(import autolith-launcher)\n" 1)
  #("may not know the launcher" "(import\n  json\n  autolith-launcher)\n" 1)
  #("run time" "(require autolith.base.macros [defonce])\n" 1)
  #("unless is used" "(defn f [x]\n  \"D.\"\n  (unless x (g)))\n" 3)
  #("defonce is used" "(defonce x 1 \"D.\")\n" 1)
  #("keyword argument" "(defn f [ok?]\n  \"D.\"\n  1)\n" 1)
  #("keyword argument" "(defn f [* [class 1]]\n  \"D.\"\n  1)\n" 1)
  #("name save!" "(defn save! []\n  \"D.\"\n  1)\n" 1)
  #("unfinished" (+ ";; TO" "DO later\n") 1)
  #("machine" (+ "(setv x \"/wo" "rk/main/x\")\n") 1)
  #("registry" (+ "(setv x \"https://py" "pi.org/simple\")\n") 1)
  #("no docstring" "(setv x 1)\n" 1)])

(defn [(pytest.mark.parametrize "words,text,line" PLANTED)] test-finds-what-is-planted [words text line]
  "Each fault is reported, at its line."
  (setv head (if (= words "no docstring") "" "\"M.\"\n\n")
        shift (.count head "\n")
        found (complaints (+ head text)))
  (assert (any (gfor [at said] found
                     (and (in words said) (or (is line None) (= line 1) (= at (+ line shift))))))
          (str found)))

(defn [(pytest.mark.parametrize "path,text,allowed" [
        #("autolith/provider/wire.hy" "\"M.\"\n\n(import autolith.work [jobs])\n" False)
        #("autolith/tool/search.hy" "\"M.\"\n\n(import autolith.work [jobs])\n" True)
        #("autolith/provider/wire.hy" "\"M.\"\n\n(import autolith.provider [items])\n" True)
        #("recovery/report.hy" "\"M.\"\n\n(import autolith.base [log])\n" True)
        #("recovery/report.hy" "\"M.\"\n\n(import autolith.tool [registry])\n" False)
        #("autolith/door/main.hy" "\"M.\"\n\n(import autolith-launcher)\n(import autolith.tool [registry])\n" True)
        #("autolith/work/jobs2.py" "from autolith.tool import registry\n" False)
        #("autolith/work/jobs2.py" "from autolith.base import forms\n" True)])]
  test-rooms-know-only-what-is-below [path text allowed]
  "Imports run downwards, in Hy and in Python."
  (assert (= (not (complaints text path)) allowed) (str (complaints text path))))

(defn test-finds-circles []
  "Modules that import each other are reported, however long the way round."
  (setv ring (lfor [a b] [#("one" "two") #("two" "three") #("three" "one")]
                   (sources.Source f"autolith/agent/{a}.hy" f"\"M.\"\n\n(import autolith.agent [{b}])\n")))
  (assert (any (gfor [_ _ words] (layout.check ring) (in "circle" words))))
  (assert (not (any (gfor [_ _ words] (layout.check (cut ring 2)) (in "circle" words)))))
  (setv late (sources.Source "autolith/agent/three.hy" "\"M.\"\n\n(defn f []\n  \"D.\"\n  (import autolith.agent [one])\n  one)\n"))
  (assert (not (any (gfor [_ _ words] (layout.check [#* (cut ring 2) late]) (in "circle" words))))))

(defn test-a-test-needs-its-sentence []
  "A test without a docstring is reported, its helpers are not."
  (setv found (complaints "(defn helper [] 1)\n\n(defn test-it []\n  (assert (helper)))\n" "tests/test_it.hy"))
  (assert (= (lfor [line _] found line) [3])))

(defn test-user-programs-know-the-macros []
  "Recipes run in autolith.user, where every macro is known."
  (assert (= (complaints "\"R.\"\n\n(defonce x 1 \"D.\")\n" "docs/recipes/one.hy") [])))

(defn test-the-command-counts-complaints [tmp-path monkeypatch capsys]
  "The command reads what git would add, names file and line, and counts, which decides about its exit status."
  (subprocess.run ["git" "init" "-q"] :cwd tmp-path :check True)
  (.write-text (/ tmp-path "good.py") "x = 1\n")
  (.write-text (/ tmp-path "bad.py") "x = 1 \n")
  (.write-text (/ tmp-path "ignored.py") "x = 1 \n")
  (.write-text (/ tmp-path ".gitignore") "ignored.py\n")
  (.setattr monkeypatch layout "ROOT" tmp-path)
  (assert (= (layout.main []) 1))
  (assert (in "bad.py:1:" (. (.readouterr capsys) out)))
  (assert (= (layout.main ["good.py"]) 0)))
