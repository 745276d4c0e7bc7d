"The launcher: real processes, in a real pseudo-terminal where one matters."

(import
  os
  pathlib [Path]
  re
  shutil
  signal
  subprocess
  sys
  textwrap
  time
  hy
  pytest
  autolith-capsule :as capsule
  autolith-launcher :as launcher
  autolith.base [forms]
  tests.doubles.shell [Shell])

(setv ROOT (. (Path __file__) (resolve) parent parent)
      PYTHON (getattr hy "sys_executable" sys.executable)
      PREFIX #[[
import os, signal, sys, time
sys.path.insert(0, ROOT)
import autolith_launcher as launcher
]]
      SUFFIX #[[
launcher._image = image
launcher.main()
]]
      RAW #[[
def image():
    import termios, tty
    tty.setraw(0, termios.TCSANOW)
    modes = termios.tcgetattr(0)
    modes[3] |= termios.ISIG
    termios.tcsetattr(0, termios.TCSANOW, modes)
    def waiting_here():
        os.write(1, b"\x1b[?2004hstands %d\r\n" % os.getpid())
        time.sleep(600)
    waiting_here()
]])

(defn [pytest.fixture] program [tmp-path roots]
  "A function that writes a program whose image is the given Python text, and gives its path."
  (defn write [text]
    (setv path (/ tmp-path "program.py"))
    (.write-text path (+ (.replace PREFIX "ROOT" (repr (str ROOT))) (textwrap.dedent text) SUFFIX))
    (str path))
  write)

(defn start [path #** options]
  "Start the program PATH without a terminal."
  (subprocess.Popen [PYTHON path] :stdin subprocess.DEVNULL :stdout subprocess.PIPE :stderr subprocess.PIPE
                    :text True #** {"preexec_fn" heard #** options}))

(defn heard []
  "Hear the signals that whoever started the tests may have ignored (nohup, a background job)."
  (for [n [signal.SIGHUP signal.SIGINT signal.SIGQUIT]]
    (signal.signal n signal.SIG_DFL)))

(defn finish [path #** options]
  "Run the program PATH without a terminal; return its status, output and diagnostics."
  (setv process (start path #** options)
        [out err] (.communicate process :timeout 30))
  #(process.returncode out err))

(defn pid-of [process]
  "Return the process id that the image under PROCESS printed."
  (int (get (.split (.readline process.stdout)) 1)))

(defn gone? [pid]
  "Tell whether the process PID ends within some seconds; a zombie has ended."
  (for [_ (range 500)]
    (try
      (os.kill pid 0)
      (setv state (get (.rsplit (.read-text (Path f"/proc/{pid}/stat")) ")" 1) 1))
      (when (= (get (.split state) 0) "Z") (return True))
      (except [[ProcessLookupError FileNotFoundError]]
        (return True)))
    (time.sleep 0.01))
  False)

(defn capsules []
  "Return the crash capsules on disk, oldest first."
  (lfor path (sorted (.glob (/ (Path (capsule.roots "state")) "crashes") "*.hy"))
        (forms.read-one (.read-text path))))

(setv SLEEPER "
def image():
    print('stands', os.getpid(), flush=True)
    time.sleep(600)
")

;; * Statuses

(defn [(pytest.mark.parametrize "code" [0 1 64 75 130 143])] test-passes-statuses-on [code program]
  "The image's own exit status is the command's, and nothing is said about recovery."
  (setv [status out err] (finish (program f"def image():\n    print('done')\n    return {code}\n")))
  (assert (= status code))
  (assert (= out "done\n"))
  (assert (= err ""))
  (assert (= (capsules) [])))

(defn [(pytest.mark.parametrize "raised,code" [#("SystemExit(3)" 3) #("SystemExit()" 0) #("SystemExit('why')" 1)
                                                #("KeyboardInterrupt()" 130)])]
  test-understands-exits [raised code program]
  "What Python code raises in order to leave is a status, not a crash."
  (setv [status out err] (finish (program f"def image():\n    launcher.ready()\n    raise {raised}\n")))
  (assert (= status code))
  (assert (not-in "--recovery" err)))

(defn test-an-exception-is-a-crash [program]
  "An exception that escapes gives 70, a capsule with the place, and the way to recovery."
  (setv [status out err] (finish (program "
def image():
    secret = 'hunter2'
    raise ValueError('Bearer opensesame sk-' + 'a1' * 9 + chr(34) + chr(27) + chr(10) + chr(0xE0001) + 'é' * 5000)
")))
  (assert (= status 70))
  (assert (in "autolith --recovery" err))
  (setv [capsule] (capsules)
        error (get capsule "errors" 0))
  (assert (= (:type error) "ValueError"))
  (assert (< (len (:message error)) 2500))
  (assert (in "image" (lfor f (:frames error) (:function f))))
  (for [secret ["hunter2" "opensesame" "a1a1"]]
    (assert (not-in secret (str capsule)))))

(defn test-a-status-before-ready-is-a-failed-start [program]
  "An unusual status is a crash until the image said that it stands; afterwards it is a status."
  (setv [status _ err] (finish (program "def image():\n    os._exit(3)\n")))
  (assert (= status 70))
  (assert (in "--recovery" err))
  (assert (= (get (capsules) -1 "kind") "start"))
  (setv [status _ err] (finish (program "def image():\n    launcher.ready()\n    os._exit(3)\n")))
  (assert (= status 3))
  (assert (= err "")))

(defn test-keeps-quiet-when-the-reader-leaves [program]
  "A closed pipe on standard output is no crash."
  (setv process (start (program "def image():\n    print('x' * 1000000)\n    return 0\n")))
  (.read process.stdout 10)
  (.close process.stdout)
  (assert (= (.wait process 20) 141))
  (assert (= (.read process.stderr) "")))

(defn test-starts-with-closed-streams [program tmp-path]
  "Closed standard streams are not taken by the launcher's own pipes."
  (setv path (program "def image():\n    open('seen', 'w').write(os.readlink('/proc/self/fd/1'))\n    return 7\n"))
  (setv status (. (subprocess.run ["bash" "-c" f"exec {PYTHON} {path} <&- >&- 2>&-"] :cwd tmp-path) returncode))
  (assert (= status 70))                                 ; 7 before it was ready
  (assert (= (.read-text (/ tmp-path "seen")) "/dev/null")))


;; * Signals

(defn [(pytest.mark.parametrize "name,code" [#("SIGTERM" 143) #("SIGHUP" 129)])]
  test-forwards-what-asks-for-the-end [name code program]
  "SIGTERM and SIGHUP to the launcher end the image, with the usual status and no crash report."
  (setv process (start (program SLEEPER))
        image (pid-of process))
  (.send-signal process (getattr signal name))
  (assert (= (.wait process 20) code))
  (assert (gone? image))
  (assert (= (capsules) [])))

(defn [(pytest.mark.parametrize "name,code" [#("SIGTERM" 143) #("SIGKILL" 70) #("SIGSEGV" 70) #("SIGABRT" 70)])]
  test-tells-wishes-from-faults [name code program]
  "A fatal signal to the image is a crash whose capsule names it; SIGTERM is a wish."
  (setv process (start (program SLEEPER))
        image (pid-of process))
  (os.kill image (getattr signal name))
  (setv [_ err] (.communicate process :timeout 20))
  (assert (= process.returncode code))
  (assert (= (in "--recovery" err) (= code 70)))
  (assert (= (lfor c (capsules) (:signal c)) (if (= code 70) [name] [])))
  (when (in name #("SIGSEGV" "SIGABRT"))
    (assert (in "in image" (get (capsules) 0 "dump")))))

(defn test-nohup-is-respected [program]
  "Where SIGHUP is to be ignored, launcher and image both live on; the lifeline works even then."
  (setv process (start (program SLEEPER) :preexec-fn (fn [] (signal.signal signal.SIGHUP signal.SIG_IGN) None))
        image (pid-of process))
  (.send-signal process signal.SIGHUP)
  (os.kill image signal.SIGHUP)
  (time.sleep 0.2)
  (assert (is (.poll process) None))
  (.kill process)
  (assert (gone? image)))

(defn test-kills-an-image-that-does-not-hear [program]
  "An image that ignores SIGTERM is gone after the grace, with the status that was asked for."
  (setv process (start (program "
launcher.GRACE = {n: 0.3 for n in launcher.GRACE}
def image():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print('stands', os.getpid(), flush=True)
    while True: time.sleep(1)
"))
        image (pid-of process))
  (.terminate process)
  (assert (= (.wait process 20) 143))
  (assert (gone? image)))

(defn test-the-image-ends-with-its-launcher [program]
  "When the launcher is killed, the image hears of it through the lifeline."
  (setv process (start (program SLEEPER))
        image (pid-of process))
  (.kill process)
  (.wait process 20)
  (assert (gone? image)))

(defn test-nothing-falls-between-the-two [program shell]
  "A key pressed the moment the image stands is not lost, nor does it hit a launcher that is not ready for it."
  (for [_ (range 10)]
    (.run shell f"AUTOLITH_RECOVERED=1 {PYTHON} {(program "def image():\n    os.write(1, b'now')\n    time.sleep(600)\n")}")
    (.until shell "now")
    (.key shell "\\")
    (assert (= (.status shell) 70))))

(defn test-user-code-may-fork [program]
  "A process that the image left behind does not keep the launcher waiting."
  (setv [status out _] (finish (program "
def image():
    if os.fork() == 0:
        for fd in (0, 1, 2): os.close(fd)
        time.sleep(3)
        os._exit(0)
    return 0
")))
  (assert (= status 0)))


;; * In a terminal

(defn [pytest.fixture] shell [roots]
  "A shell in a pseudo-terminal."
  (with [it (Shell {})]
    (yield it)))

(defn test-the-key-ends-a-frozen-image [program shell]
  "Ctrl-\\ ends an image in raw mode that answers nothing: 70, stacks in the capsule, the terminal as it was."
  (setv before (.modes shell))
  (.run shell f"AUTOLITH_RECOVERED=1 {PYTHON} {(program RAW)}")
  (.until shell r"stands \d+")
  (.key shell "\\")
  (assert (= (.status shell) 70))
  (assert (= (.modes shell) before))
  (setv [capsule] (capsules))
  (assert (= (:signal capsule) "SIGQUIT"))
  (assert (in "waiting_here" (:dump capsule))))

(defn test-the-key-reaches-a-session-that-has-no-terminal [program]
  "SIGQUIT to the launcher alone is passed on."
  (setv process (start (program SLEEPER))
        image (pid-of process))
  (.send-signal process signal.SIGQUIT)
  (assert (= (.wait process 20) 70))
  (assert (gone? image))
  (assert (in "in image" (get (capsules) 0 "dump"))))

(defn test-the-key-cannot-be-rebound [program shell]
  "An image that ignores SIGQUIT is killed all the same, and the report says that it was the key."
  (.run shell f"AUTOLITH_RECOVERED=1 {PYTHON} {(program (+ "
launcher.GRACE = {n: 0.3 for n in launcher.GRACE}
" (.replace RAW "def image():" "def image():\n    signal.signal(signal.SIGQUIT, signal.SIG_IGN)")))}")
  (.until shell r"stands \d+")
  (.key shell "\\")
  (assert (= (.status shell) 70))
  (assert (= (lfor c (capsules) (:signal c)) ["SIGQUIT"])))

(defn [(pytest.mark.parametrize "name" ["SIGKILL" "SIGSEGV" "SIGTERM" "SIGHUP"])]
  test-gives-the-terminal-back [name program shell]
  "However the image dies, the shell finds its terminal as it was, and bracketed paste off."
  (setv before (.modes shell))
  (.run shell f"AUTOLITH_RECOVERED=1 {PYTHON} {(program RAW)}")
  (setv image (int (.group (.until shell r"stands (\d+)") 1)))
  (os.kill image (getattr signal name))
  (.until shell r"\x1b\[\?2004l")
  (assert (= (.status shell) (.get {"SIGTERM" 143 "SIGHUP" 129} name 70)))
  (assert (= (.modes shell) before)))

(defn test-stops-and-goes-on [program shell]
  "Ctrl-Z stops launcher and image together, `fg` continues both, many times over."
  (.run shell f"{PYTHON} {(program "
def image():
    print('stands', os.getpid(), flush=True)
    for line in sys.stdin:
        print('got', line.strip().upper(), flush=True)
        if line.strip() == 'end': return 0
")}")
  (.until shell r"stands \d+")
  (for [round (range 5)]
    (.key shell "z")
    (.until shell "Stopped")
    (.run shell "fg")
    (.run shell f"word{round}")
    (.until shell f"got WORD{round}"))
  (.run shell "end")
  (assert (= (.status shell) 0)))

(defn test-follows-a-stop-of-either [program shell]
  "SIGSTOP to the image, or SIGTSTP to the launcher, stops the whole job; SIGTERM ends it even then."
  (.run shell f"{PYTHON} {(program SLEEPER)} & echo launcher $!")
  (setv started (int (.group (.until shell r"launcher (\d+)") 1))
        image (int (.group (.until shell r"stands (\d+)") 1)))
  (for [[pid name] [#(image signal.SIGSTOP) #(started signal.SIGTSTP)]]
    (os.kill pid name)
    (.run shell "wait %1; jobs")
    (.until shell "Stopped")
    (.run shell "bg"))
  (os.kill started signal.SIGTERM)
  (assert (gone? image)))

(defn test-a-crash-at-a-terminal-opens-recovery [program shell]
  "With somebody there, recovery shows what happened and asks; leaving it gives 70."
  (.run shell f"{PYTHON} {(program "def image():\n    raise RuntimeError('unlucky number')\n")}")
  (.until shell "recovery> ")
  (assert (in "unlucky number" shell.child.before))
  (.run shell "what?")
  (.until shell "recovery> ")
  (.run shell "q")
  (assert (= (.status shell) 70)))

(defn test-recovery-does-not-call-itself [program shell]
  "A session that recovery started and that crashes too ends; it does not open recovery again."
  (.run shell f"AUTOLITH_RECOVERED=1 {PYTHON} {(program "def image():\n    raise RuntimeError('again')\n")}")
  (assert (= (.status shell) 70)))


;; * The whole program

(setv COMMAND (str (. (Path PYTHON) parent (joinpath "autolith")))
      STANDS r"\x1b\[\?2004h")                           ; bracketed paste on: the prompt is there

(defn session [shell]
  "Start a real session in SHELL; return the process ids of its launcher and its image, as they say themselves."
  (.run shell f"sh -c 'echo launcher $$; exec {COMMAND}'")
  (setv started (int (.group (.until shell r"launcher (\d+)") 1)))
  (.until shell STANDS)
  (.raw shell)
  #(started (int (.read-text (Path f"/proc/{started}/task/{started}/children")))))

(defn [(pytest.mark.parametrize "who,name,code" [#(0 "SIGTERM" 143) #(0 "SIGHUP" 129) #(1 "SIGTERM" 143)])]
  test-a-session-ends-when-asked [who name code shell]
  "A real session that is asked to end does, with the usual status and the terminal as it was."
  (setv before (.modes shell)
        pids (session shell))
  (os.kill (get pids who) (getattr signal name))
  (assert (gone? (get pids 1)))
  (assert (= (.status shell) code))
  (assert (= (.modes shell) before)))

(defn test-a-session-ends-with-its-launcher [shell]
  "A real session does not outlive its launcher."
  (setv [started image] (session shell))
  (os.kill started signal.SIGKILL)
  (assert (gone? image)))

(defn test-a-session-stops-and-goes-on [shell]
  "Ctrl-Z gives the shell its terminal back, `fg` the session its own, and quitting is orderly."
  (setv before (.modes shell)
        [started image] (session shell))
  (for [_ (range 2)]
    (.key shell "z")
    (.until shell "Stopped")
    (assert (= (.modes shell) before))
    (.run shell "fg")
    (.until shell STANDS)
    (.raw shell))
  (.key shell "d")
  (assert (gone? started))                               ; what is typed before is the session's
  (assert (= (.status shell) 0))
  (assert (= (.modes shell) before)))

(defn test-the-key-leads-from-a-session-to-recovery [shell]
  "Ctrl-\\ ends a real session, opens recovery, and leaving that gives 70."
  (setv before (.modes shell))
  (session shell)
  (.key shell "\\")
  (.until shell "recovery> ")
  (.run shell "q")
  (assert (= (.status shell) 70))
  (assert (= (.modes shell) before)))


;; * Recovery

(defn [pytest.fixture] tree [tmp-path]
  "A copy of the program that a test may damage, as an installed package lies."
  (setv top (/ tmp-path "site"))
  (.mkdir top)
  (for [name ["autolith_launcher.py" "autolith_bytecode.py" "autolith_capsule.py"]]
    (shutil.copy (/ ROOT name) top))
  (for [[name target] [#("autolith" "autolith") #("recovery" "autolith/recovery")
                       #("roles" "autolith/roles") #("skills" "autolith/skills")]]
    (shutil.copytree (/ ROOT name) (/ top target)))
  top)

(defn command [tree #* arguments]
  "Run the command of TREE with ARGUMENTS; return its status, output and diagnostics."
  (setv done (subprocess.run [PYTHON "-P" "-c" "import sys; sys.path.insert(0, sys.argv.pop(1))
import autolith_launcher; autolith_launcher.main()" (str tree) #* arguments]
                             :cwd "/" :capture-output True :text True :timeout 60 :stdin subprocess.DEVNULL))
  #(done.returncode done.stdout done.stderr))

(defn [(pytest.mark.parametrize "damage" ["autolith/__init__.py" "autolith/__main__.py" "autolith/door/main.hy"])]
  test-recovery-stands-when-the-package-does-not [damage tree]
  "With a file of the package broken, the start says where recovery is, and recovery runs."
  (.write-text (/ tree damage) "(((")
  (setv [status _ err] (command tree "-e" "1"))
  (assert (= status 70))
  (assert (in "autolith --recovery" err))
  (setv [status out err] (command tree "--recovery"))
  (assert (= status 0))
  (setv said (if (.endswith damage ".py") "SyntaxError" "PrematureEndOfInput"))
  (assert (in said out) (+ out err))
  (.write-text (/ tree "autolith" "base" "forms.hy") "(((")
  (setv [status out err] (command tree "--recovery"))    ; now without the reader of data forms
  (assert (= status 0))
  (assert (in said out) (+ out err)))

(defn test-recovery-runs-from-the-pristine-copy [tree]
  "Once a pristine copy exists, recovery runs from it however broken the package is, and names nothing lost."
  (setv made (subprocess.run [PYTHON "-P" "-c" "import sys; sys.path.insert(0, sys.argv.pop(1))
from autolith.recovery import pristine; print(pristine.ensure('9.9'))" (str tree)] :capture-output True :text True))
  (setv copy (.strip made.stdout))
  (assert (launcher.sealed copy) made.stderr)
  (shutil.rmtree (/ tree "autolith"))
  (setv [status out err] (command tree "--recovery" "--status" "70"))
  (assert (= status 70))
  (assert (in "status 70" out)))

(defn [(pytest.mark.parametrize "harm" ["changed" "added" "removed" "manifest"])]
  test-a-damaged-copy-is-not-used [harm tree]
  "A pristine copy that is not exactly what its manifest says is passed over."
  (setv made (subprocess.run [PYTHON "-P" "-c" "import sys; sys.path.insert(0, sys.argv.pop(1))
from autolith.recovery import pristine; print(pristine.ensure('9.9'))" (str tree)] :capture-output True :text True)
        copy (Path (.strip made.stdout))
        victim (/ copy "autolith" "recovery" "__main__.py"))
  (assert (= (launcher.pristine) (str copy)))
  (os.chmod victim 0o600)
  (cond
    (= harm "changed") (.write-text victim "raise SystemExit(99)")
    (= harm "added") (.write-text (.with-name victim "extra.py") "")
    (= harm "removed") (.unlink victim)
    True (do (os.chmod (/ copy "manifest") 0o600) (.write-text (/ copy "manifest") "")))
  (assert (is (launcher.pristine) None))
  (setv [status _ _] (command tree "--recovery" "--list"))
  (assert (= status 0)))

(defn test-recovery-lists-conversations [tree roots]
  "Recovery names each conversation with its last words and the command that resumes it, and changes no file."
  (setv folder (/ roots "data" "autolith" "conversations" "abc1234")
        segment (/ folder (+ (* "0" 19) "1.hy")))
  (.mkdir folder :parents True)
  (.write-text segment (+ (forms.write {"kind" "conversation" "id" "abc1234" "directory" "/tmp/it's"
                                        "time" "2026-01-02T03:04:05Z" "version" 1}) "\n"
                          (forms.write {"kind" "message" "role" "user" "content" "mend the\n\x1b[31m gate"
                                        "time" "2026-01-02T03:04:06Z"}) "\n{:kind \"mess"))
  (setv before (.read-bytes segment)
        [status out err] (command tree "--recovery" "--list"))
  (assert (= status 0) err)
  (assert (in "autolith resume abc1234" out))
  (assert (in "mend the" out))
  (assert (not-in "\x1b" out))
  (assert (= (.read-bytes segment) before)))

(defn [(pytest.mark.parametrize "arguments" [["--bogus"] ["--status"] ["--status" "x"] ["--capsule"]])]
  test-recovery-refuses-what-it-does-not-know [arguments tree]
  "A wrong option of recovery gives 64 and the usage."
  (setv [status _ err] (command tree "--recovery" #* arguments))
  (assert (= status 64))
  (assert (in "usage" err)))

(defn test-recovery-opens-by-hand [tree]
  "`python -m` and `hy -m` open the same recovery."
  (setv environment {#** os.environ "PYTHONPATH" (str tree)})
  (for [words [[PYTHON "-m" "autolith.recovery" "--list"] [PYTHON "-m" "hy" "-m" "autolith.recovery" "--list"]]]
    (setv done (subprocess.run words :cwd "/" :env environment :capture-output True :text True))
    (assert (= done.returncode 0) done.stderr)
    (assert (in "none" done.stdout))))
