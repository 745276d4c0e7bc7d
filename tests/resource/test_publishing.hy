"What publication keeps of a file, and that it is all or nothing whatever happens in between."

(import
  errno
  os
  signal
  stat
  subprocess
  sys
  time
  pytest
  autolith.base [disk paths]
  autolith.resource [exchange protocol publish snapshot]
  tests.resource.lib [Place filled replaced])

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn mode [path]
  "Return the permission bits of PATH."
  (stat.S-IMODE (. (os.stat path) st-mode)))

(defn leftovers [place]
  "Return the names in PLACE that publication made for its own use."
  (lfor [_ _ names] (os.walk place.folder) n names :if (.startswith n ".autolith-") n))

;; * What is kept

(defn [(pytest.mark.parametrize "bits" [0o2755 0o4711 0o600 0o644 0o777])] test-mode [place bits]
  "All mode bits survive an edit, set-id bits too."
  (setv path (.put place "run.sh" b"echo one\n"))
  (os.chmod path bits)
  (.change place "run.sh" (replaced 1 1 "echo two"))
  (assert (= (mode path) bits))
  (assert (= (.data place "run.sh") b"echo two\n"))
  (assert (= (leftovers place) [])))

(defn test-extended-attributes [place]
  "Extended attributes survive."
  (setv path (.put place "f" b"x\n"))
  (os.setxattr path "user.t" b"1")
  (.change place "f" (replaced 1 1 "y"))
  (assert (= (os.getxattr path "user.t") b"1")))

(defn test-owner [place]
  "Owner and group survive, where the editor may set them."
  (setv path (.put place "f" b"x\n"))
  (when (= (os.geteuid) 0)
    (os.chown path 12345 23456))
  (setv before (os.stat path))
  (.change place "f" (replaced 1 1 "y"))
  (setv now (os.stat path))
  (assert (= #(now.st-uid now.st-gid) #(before.st-uid before.st-gid))))

(defn test-never-readable-by-others [place monkeypatch]
  "The new content of a private file is never in a file that others may read."
  (setv path (.put place "f" b"secret\n") seen [])
  (os.chmod path 0o600)
  (setv real publish._take-after)
  (defn look [s info]
    (.append seen (mode (get s "spare")))
    (real s info)
    (.append seen (mode (get s "spare"))))
  (monkeypatch.setattr publish "_take_after" look)
  (.change place "f" (replaced 1 1 "secret too"))
  (assert (= seen [0o600 0o600])))

(defn test-hard-links [place]
  "A file with several names stays one file, and the outcome says that it was written in place."
  (setv path (.put place "a" b"one\ntwo\n"))
  (os.link path (.path place "b"))
  (os.chmod path 0o4755)
  (setv out (.edit place ["a" (get (.read place "a") "revision") (replaced 1 1 "1")]))
  (assert (= (.data place "b") b"1\ntwo\n"))
  (assert (= (. (os.stat path) st-nlink) 2))
  (assert (= (mode path) 0o4755))
  (assert (get out "changes" 0 "notes"))
  (assert (= (leftovers place) [])))

(defn test-symbolic-link [place]
  "An edit through a link changes its target, and the link stays."
  (os.mkdir (.path place "d"))
  (.put place "d/target" b"x\n")
  (os.symlink "d/target" (.path place "link"))
  (.change place "link" (replaced 1 1 "y"))
  (assert (= (os.readlink (.path place "link")) "d/target"))
  (assert (= (.data place "d/target") b"y\n")))

(defn test-retargeted-link [place]
  "When the link leads elsewhere by now, the revision does not fit what it leads to."
  (.put place "a" b"same\n")
  (.put place "b" b"same\n")
  (os.symlink "a" (.path place "link"))
  (setv revision (get (.read place "link") "revision"))
  (os.unlink (.path place "link"))
  (os.symlink "b" (.path place "link"))
  (with [(pytest.raises protocol.ResourceError)]
    (.edit place ["link" revision (replaced 1 1 "x")]))
  (assert (= (.data place "b") b"same\n")))

(defn [(pytest.mark.parametrize "umask,file_mode,folder_mode" [#(0o022 0o644 0o755) #(0o027 0o640 0o750) #(0o077 0o600 0o700)])]
  test-umask [place umask file-mode folder-mode]
  "New files and folders have the modes that the umask leaves, and the group of a set-group-id folder."
  (os.mkdir (.path place "shared"))
  (when (= (os.geteuid) 0) (os.chown (.path place "shared") -1 23456))
  (os.chmod (.path place "shared") 0o2777)
  (setv before (os.umask umask))
  (try
    (.edit place ["new.txt" (get (.read place "new.txt") "revision") (filled "x")]
                 ["shared/dir/new2.txt" (get (.read place "shared/dir/new2.txt") "revision") (filled "x")])
    (finally (os.umask before)))
  (assert (= (mode (.path place "new.txt")) file-mode))
  (assert (= (mode (.path place "shared/dir/new2.txt")) file-mode))
  (assert (= (& (mode (.path place "shared/dir")) 0o777) folder-mode))
  (assert (= (. (os.stat (.path place "shared/dir/new2.txt")) st-gid) (. (os.stat (.path place "shared")) st-gid))))

;; * Somebody else, in between

(defn racing [monkeypatch name act]
  "Let the step NAME of publication run after ACT, a function of the stage."
  (setv real (getattr publish name))
  (monkeypatch.setattr publish name (fn [s] (act s) (real s))))

(defn [(pytest.mark.parametrize "swap" [True False])] test-written-between-comparison-and-rename [place monkeypatch swap]
  "A write between the second comparison and the exchange of the files is noticed, and kept."
  (when (not swap) (monkeypatch.setattr exchange "swap" (fn [a b] False)))
  (setv path (.put place "f" b"one\ntwo\n"))
  (defn interfere [s]
    (setv info (os.stat path))
    (with [f (open path "r+b")] (.write f b"ONE"))
    (os.utime path :ns #(info.st-atime-ns info.st-mtime-ns)))
  (racing monkeypatch "displace" interfere)
  (with [e (pytest.raises protocol.ResourceError)] (.change place "f" (replaced 2 2 "TWO")))
  (assert (in "reread" (lfor [n #* _] e.value.restarts n)))
  (assert (= (.data place "f") b"ONE\ntwo\n"))
  (assert (= (leftovers place) [])))

(defn test-replaced-between-comparison-and-rename [place monkeypatch]
  "A file that somebody puts in the target's place at the last moment is kept."
  (setv path (.put place "f" b"one\n"))
  (racing monkeypatch "displace" (fn [s] (os.replace (.put place "theirs" b"theirs\n") path)))
  (with [(pytest.raises protocol.ResourceError)] (.change place "f" (replaced 1 1 "ours")))
  (assert (= (.data place "f") b"theirs\n"))
  (assert (= (leftovers place) [])))

(defn test-changed-before-second-comparison [place monkeypatch]
  "A change between the planning and the second comparison is noticed, in a file written in place as well."
  (for [link [False True]]
    (setv name f"f{link}" path (.put place name b"one\n"))
    (when link (os.link path (.path place "other")))
    (with [m (monkeypatch.context)]
      (racing m "compare" (fn [s] (.put place name b"two\n")))
      (with [(pytest.raises protocol.ResourceError)] (.change place name (replaced 1 1 "ours"))))
    (assert (= (.data place name) b"two\n"))
    (assert (= (leftovers place) []))))

(defn test-appears-before-creation [place monkeypatch]
  "Who creates a file first has it; the other's attempt fails and leaves nothing."
  (racing monkeypatch "_create" (fn [s] (.put place "d/new" b"theirs\n")))
  (setv revision (get (.read place "d/new") "revision"))
  (with [(pytest.raises protocol.ResourceError)] (.edit place ["d/new" revision (filled "ours\n")]))
  (assert (= (.data place "d/new") b"theirs\n"))
  (assert (= (leftovers place) [])))

(defn test-changed-right-after [place monkeypatch]
  "A write right after ours is left, and reported; what was there before is kept aside."
  (setv path (.put place "f" b"one\n"))
  (racing monkeypatch "verify" (fn [s] (.put place "f" b"theirs\n")))
  (with [e (pytest.raises protocol.ResourceError)] (.change place "f" (replaced 1 1 "ours")))
  (assert (= (.data place "f") b"theirs\n"))
  (setv [kept] (leftovers place))
  (assert (in kept e.value.message))
  (assert (= (.data place kept) b"one\n")))

(defn test-becomes-a-pipe [place monkeypatch]
  "A target that turns into a pipe at the last moment is not opened, and stays."
  (setv path (.put place "f" b"one\n"))
  (defn interfere [s] (os.unlink path) (os.mkfifo path))
  (racing monkeypatch "displace" interfere)
  (with [(pytest.raises protocol.ResourceError)] (.change place "f" (replaced 1 1 "ours")))
  (assert (stat.S-ISFIFO (. (os.stat path) st-mode)))
  (assert (= (leftovers place) [])))

;; * All or nothing

(defn three [place]
  "Return changes of a plain file, a hard-linked one and a new one, with the names."
  (.put place "a" b"1\n")
  (os.link (.put place "b" b"2\n") (.path place "b2"))
  [["a" (get (.read place "a") "revision") (replaced 1 1 "one")]
   ["b" (get (.read place "b") "revision") (replaced 1 1 "two")]
   ["d/e/c" (get (.read place "d/e/c") "revision") (filled "three\n")]
   ["z" (get (.read place "z") "revision") (filled "last\n")]])

(defn failing-at [monkeypatch name]
  "Let the publication of the file NAME fail as if the disk were full."
  (setv real publish.commit)
  (defn commit [s]
    (when (= (os.path.basename (get s "path")) name)
      (raise (OSError errno.ENOSPC "No space left on device" (get s "path"))))
    (real s))
  (monkeypatch.setattr publish "commit" commit))

(defn test-compensation [place monkeypatch]
  "When the last of several files fails, the others are put back, folders removed, and the failure says so."
  (setv changes (three place) inode (. (os.stat (.path place "a")) st-ino))
  (failing-at monkeypatch "z")
  (with [e (pytest.raises protocol.ResourceError)] (.edit place #* changes))
  (assert (in "put back" e.value.message))
  (assert (= #((.data place "a") (.data place "b2")) #(b"1\n" b"2\n")))
  (assert (= (. (os.stat (.path place "a")) st-ino) inode))
  (assert (= (sorted (os.listdir place.folder)) ["a" "b" "b2"])))

(defn test-compensation-in-reverse-order [place monkeypatch]
  "Files are put back in the reverse of the order in which they were published."
  (setv changes (three place) order [] real publish.undo)
  (failing-at monkeypatch "z")
  (monkeypatch.setattr publish "undo" (fn [s] (.append order (os.path.basename (get s "path"))) (real s)))
  (with [(pytest.raises protocol.ResourceError)] (.edit place #* changes))
  (assert (= order ["z" "c" "b" "a"])))

(defn test-unexpected-error [place monkeypatch]
  "An error that nobody expected puts everything back as well, and is raised as it is."
  (setv changes (three place) real publish.commit)
  (monkeypatch.setattr publish "commit" (fn [s] (if (.endswith (get s "path") "/z") (/ 1 0) (real s))))
  (with [(pytest.raises ZeroDivisionError)] (.edit place #* changes))
  (assert (= #((.data place "a") (.data place "b2")) #(b"1\n" b"2\n")))
  (assert (= (sorted (os.listdir place.folder)) ["a" "b" "b2"])))

(defn test-compensation-that-fails [place monkeypatch]
  "What cannot be put back is named with the state it is in and the place of its old content."
  (setv changes (three place) real publish._put-back)
  (failing-at monkeypatch "z")
  (defn put-back [s] (raise (OSError errno.EIO "Input/output error" (get s "path"))))
  (monkeypatch.setattr publish "_put_back" put-back)
  (with [e (pytest.raises protocol.ResourceError)] (.edit place #* changes))
  (setv [kept] (leftovers place))
  (for [part [(.path place "a") (.path place "b") "new content" "put back" kept]]
    (assert (in part e.value.message)))
  (assert (= (.data place "a") b"one\n"))
  (assert (= (.data place kept) b"1\n"))
  (assert (= (.data place "b") b"2\n")))

(defn test-later-change-is-not-rewound [place monkeypatch]
  "Putting back never goes over what somebody wrote after our publication."
  (setv changes (three place) real publish.commit)
  (defn commit [s]
    (when (= (os.path.basename (get s "path")) "z")
      (.put place "a" b"theirs\n")
      (.put place "b" b"theirs too\n")
      (raise (OSError errno.EIO "Input/output error" "z")))
    (real s))
  (monkeypatch.setattr publish "commit" commit)
  (with [e (pytest.raises protocol.ResourceError)] (.edit place #* changes))
  (assert (= #((.data place "a") (.data place "b2")) #(b"theirs\n" b"theirs too\n")))
  (assert (in "somebody else" e.value.message))
  (assert (= (sorted (gfor n (leftovers place) (.data place n))) [b"1\n" b"2\n"])))

(defn test-full-disk-in-place [place monkeypatch]
  "When writing in place breaks off, the old content is put back."
  (setv path (.put place "a" b"one\n") real disk.write-all times [])
  (os.link path (.path place "b"))
  (defn write [handle data where]
    (when (and (= where path) (.startswith (bytes data) b"new") (os.path.samestat (os.fstat handle) (os.stat path)))
      (real handle (cut data 2) where)
      (raise (disk.Full where "no room left")))
    (real handle data where))
  (monkeypatch.setattr publish.disk "write_all" write)
  (with [(pytest.raises protocol.ResourceError)] (.change place "a" (replaced 1 1 "new and longer")))
  (assert (= (.data place "b") b"one\n"))
  (assert (= (leftovers place) [])))

(defn test-full-disk-while-staging [place monkeypatch]
  "When there is no room for the new content beside the old, nothing has changed and nothing is left."
  (.put place "a" b"one\n")
  (setv revision (get (.read place "a") "revision"))
  (monkeypatch.setattr publish.disk "write_all" (fn [handle data path] (raise (disk.Full path "no room left"))))
  (with [e (pytest.raises protocol.ResourceError)] (.edit place ["a" revision (replaced 1 1 "x")]))
  (assert (in "Nothing was changed" e.value.message))
  (assert (= (os.listdir place.folder) ["a"])))

;; * A real lack of room, and a real kill

(defn in-child [f]
  "Run F in a child process; return the child's id."
  (setv child (os.fork))
  (when (= child 0)
    (try
      (f)
      (finally (os._exit 0))))
  child)

(defn [(pytest.mark.parametrize "links" [1 2])] test-no-room-for-real [place links]
  "When the system refuses to let a file grow, its content stays, in place or replaced, and nothing is left beside it."
  (setv path (.put place "f" b"old content\n"))
  (when (> links 1) (os.link path (.path place "g")))
  (defn attempt []
    (import resource)
    (resource.setrlimit resource.RLIMIT-FSIZE #(1000 1000))
    (try
      (publish.publish [{"path" path "expected" (snapshot.digest-of b"old content\n") "data" (* b"x" 5000)}])
      (except [publish.Failed] (.put place "refused" b""))))
  (os.waitpid (in-child attempt) 0)
  (assert (os.path.exists (.path place "refused")))
  (assert (= (.data place "f") b"old content\n"))
  (assert (= (leftovers place) [])))

(defn test-killed [place]
  "A process killed while it publishes leaves one whole content or the other."
  (setv contents (lfor i (range 10) (* (.encode f"line {i}\n") 20_000))
        path (.put place "f" (get contents 0)))
  (defn forever []
    (setv i 0)
    (while True
      (setv [old new] [(get contents (% i 10)) (get contents (% (+ i 1) 10))])
      (publish.publish [{"path" path "expected" (snapshot.digest-of old) "data" new}])
      (+= i 1)))
  (for [pause [0.02 0.05 0.031 0.043 0.06]]
    (.put place "f" (get contents 0))
    (setv child (in-child forever))
    (time.sleep pause)
    (os.kill child signal.SIGKILL)
    (os.waitpid child 0)
    (assert (in (.data place "f") contents))))

;; * Others' rights

(defn as-nobody [f]
  "Run F in a child process without rights, if this one has them all; return whether it was content."
  (setv child (os.fork))
  (when (= child 0)
    (setv status 1)
    (try
      (when (= (os.geteuid) 0) (os.setgroups []) (os.setgid 65534) (os.setuid 65534))
      (setv status (if (f) 0 1))
      (finally (os._exit status))))
  (= (get (os.waitpid child 0) 1) 0))

(defn [pytest.fixture] open-place []
  "A place that any user may enter."
  (import tempfile)
  (with [folder (tempfile.TemporaryDirectory)]
    (os.chmod folder 0o755)
    (yield (Place folder))))

(defn test-folder-that-may-not-change [open-place]
  "A file that may be written in a folder that may not be is written in place."
  (setv path (.put open-place "f" b"one\n"))
  (os.chmod path 0o666)
  (when (!= (os.geteuid) 0) (os.chmod open-place.folder 0o555))
  (defn attempt []
    (setv [s] (publish.publish [{"path" path "expected" (snapshot.digest-of b"one\n") "data" b"two\n"}]))
    (and (= (get s "way") "in-place") (bool (get s "notes"))))
  (assert (as-nobody attempt))
  (os.chmod open-place.folder 0o755)
  (assert (= (.data open-place "f") b"two\n"))
  (assert (= (leftovers open-place) [])))

(defn test-file-that-may-not-be-written [open-place]
  "A file without the right to write, in a folder without it, is refused and left."
  (setv path (.put open-place "f" b"one\n"))
  (os.chmod path 0o444)
  (when (!= (os.geteuid) 0) (os.chmod open-place.folder 0o555))
  (defn attempt []
    (try
      (publish.publish [{"path" path "expected" (snapshot.digest-of b"one\n") "data" b"two\n"}])
      False
      (except [publish.Failed] True)))
  (assert (as-nobody attempt))
  (os.chmod open-place.folder 0o755)
  (assert (= (.data open-place "f") b"one\n")))

(defn test-own-read-only-file [open-place]
  "A file whose owner took away the right to write is not replaced behind its back."
  (setv path (.put open-place "f" b"one\n"))
  (when (= (os.geteuid) 0) (os.chown path 65534 65534) (os.chown open-place.folder 65534 65534))
  (os.chmod path 0o444)
  (defn attempt []
    (try
      (publish.publish [{"path" path "expected" (snapshot.digest-of b"one\n") "data" b"two\n"}])
      False
      (except [e publish.Failed] (in "chmod" e.message))))
  (assert (as-nobody attempt))
  (assert (= (.data open-place "f") b"one\n"))
  (assert (= (leftovers open-place) [])))

(defn test-unreadable [open-place]
  "A file or folder without the right to read is refused as that, not as missing."
  (os.chmod (.put open-place "f" b"one\n") 0)
  (os.mkdir (.path open-place "d"))
  (.put open-place "d/g" b"x\n")
  (os.chmod (.path open-place "d") 0)
  (defn attempt []
    (for [name ["f" "d" "d/g"]]
      (try
        (.read open-place name)
        (return False)
        (except [e protocol.ResourceError]
          (when (not-in "permission" e.message) (return False)))))
    True)
  (assert (as-nobody attempt))
  (os.chmod (.path open-place "d") 0o755))

;; * Several processes

(setv WRITER #[[
(import sys asyncio)
(import autolith.resource [protocol workspace])
(setv [_ folder first] sys.argv  context (protocol.Context folder))
(defn :async once [i]
  (while True
    (setv page (await (protocol.read context "workspace:f" {"line_count" 1000})))
    (try
      (await (protocol.edit context [{"uri" "workspace:f" "base_revision" (:revision page)
                                      "operations" [{"op" "replace-lines" "start_line" i "end_line" i "content" f"done {i}"}]}]))
      (return)
      (except [protocol.ResourceError]))))
(for [i (range (int first) 41 2)] (asyncio.run (once i)))
]])

(defn test-two-processes [place tmp-path]
  "Two processes that edit one file at once lose nothing of each other's."
  (.put place "f" (.encode (.join "" (gfor i (range 1 41) f"{i}\n"))))
  (setv script (/ tmp-path "writer.hy"))
  (.write-text script WRITER)
  (setv children (lfor first ["1" "2"] (subprocess.Popen [(os.path.join sys.prefix "bin" "python") "-m" "hy" (str script) place.folder first]
                                                         :cwd (os.path.dirname (os.path.dirname (os.path.dirname __file__)))
                                                         :env {#** os.environ "PYTHONPATH" "."})))
  (assert (= (lfor c children (.wait c 60)) [0 0]))
  (assert (= (.data place "f") (.encode (.join "" (gfor i (range 1 41) f"done {i}\n")))))
  (assert (= (leftovers place) [])))

(defn test-waits-for-another-process [place monkeypatch]
  "While another process publishes and does not finish, an edit is refused and nothing is changed."
  (.put place "f" b"one\n")
  (monkeypatch.setattr publish "patience" 0)
  (with [_ (disk.lock (os.path.join (paths.ensure-folder (paths.state "leases")) "workspace.lock"))]
    (with [e (pytest.raises protocol.ResourceError)] (.change place "f" (replaced 1 1 "x"))))
  (assert (in "another process" e.value.message))
  (assert (= (.data place "f") b"one\n")))
