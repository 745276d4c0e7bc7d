"A session as a person has it: the installed program in a pseudo-terminal, left and resumed."

(import
  os
  pathlib [Path]
  pytest
  re
  shutil
  sys
  tests.doubles.tty [Tty])

(defn program []
  "The installed command, beside the Python that runs the tests."
  (setv path (/ (. (Path (getattr hy "sys_executable" sys.executable)) parent) "autolith"))
  (assert (.exists path) "the program is not installed: pip install -e .")
  (str path))

(defn [pytest.fixture] workspace [tmp-path]
  "A folder with one file to read."
  (.write-text (/ tmp-path "notes.txt") "the owl sleeps\nthe mouse does not\n")
  tmp-path)

(defn session [workspace #* arguments]
  "The program in a terminal, in WORKSPACE."
  (Tty [(program) "--cwd" (str workspace) #* arguments] :rows 40 :columns 90))

(defn test-evaluate-ask-quit-resume [workspace]
  "A form, a question to the tutor that reads a file, and quitting; the resumed session shows all of it and goes on."
  (with [tty (session workspace)]
    (tty.until r"^❯")
    (tty.line "(resource.read :uri \"workspace:.\")")
    (tty.until r"notes\.txt")
    (tty.line "read notes.txt")
    (tty.until r"▸ \(resource\.read :uri \"workspace:notes\.txt\"\)")
    (tty.until r"^; done")
    (tty.line "(quit)")
    (tty.until r"autolith resume \S+")
    (setv id (get (re.search r"autolith resume (\S+)" (tty.history)) 1))
    (assert (= (tty.status) 0)))
  (with [tty (session workspace "resume" id)]
    (tty.until r"^❯")
    (tty.until r"\(resource\.read :uri \"workspace:\.\"\)")
    (setv text (tty.history))
    (for [part ["(resource.read :uri \"workspace:.\")" "notes.txt" "read notes.txt" "(resource.read :uri \"workspace:notes.txt\")"]]
      (assert (in part text)))
    (assert (= (.count text "❯ read notes.txt") 1))
    (tty.line "(+ 20 22)")
    (tty.until r"^= 42$")
    (tty.line "/quit")
    (assert (= (tty.status) 0))))

(defn test-second-process-is-refused [workspace]
  "A conversation that is open elsewhere cannot be resumed meanwhile, and the message says where it is."
  (import subprocess)
  (with [tty (session workspace)]
    (tty.until r"^❯")
    (tty.line "(+ 1 1)")
    (tty.until r"^= 2$")
    (setv done (subprocess.run [(program) "--cwd" (str workspace) "-c" "-e" "1"] :capture-output True :text True :timeout 60))
    (assert (= done.returncode 1))
    (assert (re.search r"\d{2,}" done.stderr) done.stderr)
    (tty.line "(quit)")
    (assert (= (tty.status) 0))))
