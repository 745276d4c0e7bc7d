"Start-up: a form, the first prompt, and the memory of an idle session.

Compared with what any program in Hy has to pay: `import hy`, and with prompt_toolkit for the prompt. Run warm: each is
started once before it is measured."

(import
  os
  pathlib [Path]
  pty
  select
  signal
  subprocess
  sys
  tempfile
  time
  hy
  _measure :as measure)

(setv PYTHON (getattr hy "sys_executable" sys.executable)
      COMMAND (str (. (Path PYTHON) parent (joinpath "autolith")))
      ROUNDS 15
      STANDS b"\x1b[?2004h"                              ; bracketed paste on: the prompt is on the screen
      IDLE-BUDGET 64)

(defn environment [home]
  "Return an environment with roots of its own under HOME and without keys."
  (setv roots (dfor kind ["CONFIG" "DATA" "STATE" "CACHE"] f"XDG_{kind}_HOME" (os.path.join home kind))
        kept (dfor [k v] (.items os.environ)
                   :if (not (.endswith k "_API_KEY"))
                   :if (!= k "PYTHONDONTWRITEBYTECODE")
                   k v))
  {#** kept #** roots "TERM" "xterm-256color"})

(defn running [#* words]
  "Return a thunk that runs the command WORDS to its end."
  (setv home (tempfile.mkdtemp))
  (fn [] (subprocess.run words :check True :stdout subprocess.DEVNULL :stdin subprocess.DEVNULL
                         :cwd home :env (environment home))))

(defn open-session [home]
  "Start a session in a pseudo-terminal and wait for its prompt; return its process id and descriptor."
  (setv [pid fd] (pty.fork))
  (when (= pid 0)
    (os.chdir home)
    (os.execve COMMAND [COMMAND] (environment home)))
  (setv seen b""  end (+ (time.monotonic) 30))
  (while (not-in STANDS seen)
    (when (> (time.monotonic) end)
      (raise (SystemExit f"no prompt within 30 s; on the screen: {seen !r}")))
    (when (get (select.select [fd] [] [] 1) 0)
      (try
        (+= seen (os.read fd 65536))
        (except [OSError]
          (raise (SystemExit f"the session ended before its prompt: {(.decode seen "utf-8" "replace")}"))))))
  #(pid fd))

(defn close-session [pid fd]
  "End the session PID."
  (os.kill pid signal.SIGTERM)
  (while (get (select.select [fd] [] [] 5) 0)
    (try
      (when (not (os.read fd 65536)) (break))
      (except [OSError] (break))))
  (os.waitpid pid 0)
  (os.close fd))

(defn prompt-seconds [rounds]
  "Return the median time to the first prompt, and that of importing what it is made of."
  (setv home (tempfile.mkdtemp)
        plain (running PYTHON "-c" "import hy, prompt_toolkit.shortcuts")
        ours []  theirs [])
  (for [round (range (+ rounds 1))]
    (setv began (time.perf-counter)
          session (open-session home)
          taken (- (time.perf-counter) began))
    (close-session #* session)
    (setv compared (measure.seconds plain))
    (when round
      (.append ours taken)
      (.append theirs compared)))
  [(measure.median ours) (measure.median theirs)])

(defn children [pid]
  "Return the process ids of the children of PID."
  (lfor line (.splitlines (. (subprocess.run ["ps" "-A" "-o" "pid=,ppid="] :capture-output True :text True) stdout))
        :setv [child parent] (.split line)
        :if (= (int parent) pid)
        (int child)))

(defn resident [pid]
  "Return the resident memory of the process PID in MB."
  (/ (int (. (subprocess.run ["ps" "-o" "rss=" "-p" (str pid)] :capture-output True :text True) stdout)) 1024))

(defn idle-memory []
  "Return the resident memory, in MB, of an active image that has stood for some seconds."
  (setv [pid fd] (open-session (tempfile.mkdtemp)))
  (time.sleep 4)
  (setv image (get (children pid) 0)
        memory (resident image))
  (close-session pid fd)
  memory)

(defn main []
  "Print the rows."
  (measure.head)
  (setv [form bare] (measure.medians ROUNDS (running COMMAND "-e" "1") (running PYTHON "-c" "import hy")))
  (measure.row "autolith -e 1 : import hy" (* form 1000) (* bare 1000) 1.8)
  (setv [prompt bare] (prompt-seconds ROUNDS))
  (measure.row "first prompt : import hy, prompt_toolkit" (* prompt 1000) (* bare 1000) 1.5)
  (measure.row "idle memory : 64 MB" (idle-memory) IDLE-BUDGET 1.0 "MB"))

(when (= __name__ "__main__")
  (main))
