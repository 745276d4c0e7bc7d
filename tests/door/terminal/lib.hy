"Sessions of the real program in a pseudo-terminal, against a scripted provider or the tutor.

    (with [server (scripted.Server [(scripted.answer \"Hello.\")])
           tty (lib.talking server tmp-path)]
      (.line tty \"hi\")
      (.until tty \"^  Hello\\\\.$\"))"

(import
  os
  sys
  hy
  tests.doubles.tty [Tty])

(setv ROOT (os.path.dirname (os.path.dirname (os.path.dirname (os.path.dirname (os.path.abspath __file__)))))
      PROMPT r"^❯$")

(defn argv [#* arguments]
  "Return the command that starts the program with ARGUMENTS."
  [(or (getattr hy "sys_executable" None) sys.executable) "-P" "-m" "autolith" #* arguments])

(defn started [cwd #* arguments #** options]
  "Start the program in CWD and wait for its prompt; OPTIONS are rows, columns and environment."
  (setv tty (opened cwd #* arguments #** options))
  (try
    (.until tty PROMPT)
    (except [AssertionError]
      (.close tty)
      (raise)))
  (.rest tty)
  tty)

(defn opened [cwd #* arguments #** options]
  "Start the program in CWD without waiting."
  (setv path (os.pathsep.join [ROOT #* (filter None [(.get os.environ "PYTHONPATH")])]))
  (Tty (argv #* arguments) :cwd cwd #** {"PYTHONPATH" path #** options}))

(defn hang-up [tty]
  "Take the terminal of TTY away, as a window that is closed."
  (.close tty.child.ptyproc.fileobj)                ; it owns the descriptor
  (setv tty.child.child-fd -1 tty.child.ptyproc.closed True tty.child.closed True))

(defn talking [server cwd #* arguments #** options]
  "Start the program in CWD with SERVER as its provider, and wait for its prompt."
  (started cwd #* arguments #** {"OPENAI_API_KEY" "test-key" "OPENAI_BASE_URL" server.base-url #** options}))
