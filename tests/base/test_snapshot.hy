"Snapshots: replaced whole or not at all, private, and a damaged one costs a sentence, not the file."

(import
  os subprocess sys threading
  pytest
  hypothesis [given settings HealthCheck strategies :as st]
  autolith.base [disk forms snapshot])

(defn [pytest.fixture] path [tmp-path]
  "The path of a snapshot that is not there yet."
  (str (/ tmp-path "store.hy")))

(defn content [path]
  "Return the text of the file PATH."
  (with [f (open path :encoding "utf-8")] (.read f)))

(defn put [path text]
  "Make TEXT the content of the file PATH."
  (with [f (open path "w" :encoding "utf-8")] (.write f text)))

(defn test-a-value-comes-back [path]
  "What was written is read, from a file that only its owner may read and that is laid out over lines."
  (setv value {"version" 1  "items" (lfor i (range 30) {"id" i  "text" f"some text {i}"})})
  (snapshot.write path value)
  (assert (= (snapshot.read path) value))
  (assert (= (& (. (os.stat path) st-mode) 0o777) 0o600))
  (assert (> (.count (content path) "\n") 10))
  (snapshot.write path {"version" 2})
  (assert (= (snapshot.read path) {"version" 2}))
  (assert (= (sorted (os.listdir (os.path.dirname path))) ["store.hy" "store.hy.lock"])))

(defn test-a-missing-file-gives-the-default [path]
  "A file that is not there gives the default without a word."
  (setv faults [])
  (assert (= (snapshot.read path {"a" 1} :faults faults) {"a" 1}))
  (assert (= faults [])))

(defn [(pytest.mark.parametrize "text" ["" "{:a" "{:a 1} {:b 2}" "words here" "{:a 'b}" "\0\0\0"])]
  test-a-damaged-file-gives-the-default-and-is-kept [path text]
  "A damaged file gives the default and one sentence that names it, and survives the next write beside it."
  (put path text)
  (setv faults [])
  (assert (= (snapshot.read path 7 :faults faults) 7))
  (assert (= (len faults) 1))
  (assert (in path (get faults 0)))
  (snapshot.write path {"a" 2})
  (assert (= (snapshot.read path) {"a" 2}))
  (assert (= (content (+ path ".damaged")) text))
  (put path text)
  (snapshot.write path {"a" 3})
  (assert (= (content (+ path ".damaged.2")) text)))

(defn test-bytes-that-are-no-text [path]
  "A file that is not UTF-8 is damaged, not fatal; one with a byte-order mark and CRLF is fine."
  (with [f (open path "wb")] (.write f b"{:a \"\xff\"}"))
  (setv faults [])
  (assert (is (snapshot.read path :faults faults) None))
  (assert (= (len faults) 1))
  (with [f (open path "wb")] (.write f b"\xef\xbb\xbf{:a 1\r\n :b 2}\r\n"))
  (assert (= (snapshot.read path) {"a" 1 "b" 2})))

(defn test-a-fault-warns-when-nobody-collects [path]
  "Without a list for faults, a damaged file is a warning."
  (put path "{")
  (with [(pytest.warns UserWarning :match "store.hy")]
    (assert (= (snapshot.read path 1) 1))))

(defn test-an-unwritable-value-touches-nothing [path]
  "A value that has no form is refused before the file is touched."
  (snapshot.write path {"a" 1})
  (with [(pytest.raises forms.Unwritable)] (snapshot.write path {"a" (object)}))
  (assert (= (snapshot.read path) {"a" 1})))

(defn test-a-failed-write-keeps-the-old-file [path monkeypatch]
  "When the disk is full half way, the old value stands and no draft is left."
  (snapshot.write path {"a" 1})
  (setv write os.write)
  (defn half [descriptor data]
    (write descriptor (bytes (cut data 3)))
    (raise (OSError 28 "No space left on device")))
  (monkeypatch.setattr os "write" half)
  (with [(pytest.raises disk.Full)] (snapshot.write path {"a" 2}))
  (monkeypatch.undo)
  (assert (= (snapshot.read path) {"a" 1}))
  (assert (= (sorted (os.listdir (os.path.dirname path))) ["store.hy" "store.hy.lock"])))

(defn test-a-missing-folder-says-so [tmp-path]
  "Writing into a folder that is not there fails with the path."
  (with [e (pytest.raises disk.StorageError)] (snapshot.write (str (/ tmp-path "no" "x.hy")) 1))
  (assert (in "x.hy" (str e.value))))

(defn test-a-link-stays-a-link [path tmp-path]
  "Writing through a symbolic link changes what it points to and keeps the link."
  (setv real (str (/ tmp-path "real.hy")))
  (put real "{:a 1}")
  (os.symlink real path)
  (snapshot.write path {"a" 2})
  (assert (os.path.islink path))
  (assert (= (snapshot.read real) {"a" 2})))

(setv ADD "
import sys, hy
from autolith.base import snapshot
for i in range(20):
    snapshot.update(sys.argv[1], {}, lambda v: {**v, f'{sys.argv[2]}{i}': i})
")

(defn test-updates-of-two-processes-are-not-lost [path]
  "Two processes that each change one value many times lose none of their changes."
  (setv children (lfor name "ab" (subprocess.Popen [(getattr hy "sys_executable" sys.executable) "-c" ADD path name])))
  (assert (= (lfor c children (.wait c 60)) [0 0]))
  (assert (= (len (snapshot.read path)) 40)))

(defn test-a-reader-never-sees-half [path]
  "A reader during many writes sees whole values only."
  (snapshot.write path {"n" 0 "text" (* "x" 5000)})
  (setv seen [] done (threading.Event))
  (defn look []
    (while (not (.is-set done))
      (.append seen (snapshot.read path))))
  (setv reader (threading.Thread :target look))
  (.start reader)
  (for [n (range 1 30)] (snapshot.write path {"n" n "text" (* "y" 5000)}))
  (.set done)
  (.join reader)
  (assert (all (gfor v seen (and v (= (len (:text v)) 5000))))))

(defn test-a-writer-waits-only-so-long [path monkeypatch]
  "While another one holds the lock, a write gives up after its patience and says who is in the way."
  (monkeypatch.setattr snapshot "PATIENCE" 0.05)
  (with [_ (disk.lock (+ path ".lock"))]
    (with [(pytest.raises disk.Busy)] (snapshot.write path 1)))
  (snapshot.write path 1)
  (assert (= (snapshot.read path) 1)))

(defn test-a-file-that-may-not-be-read [path monkeypatch]
  "A file that cannot be opened gives the default and a sentence, as a damaged one does."
  (os.mkdir path)
  (setv faults [])
  (assert (= (snapshot.read path 1 :faults faults) 1))
  (assert (in path (get faults 0))))

(defn test-without-hard-links [path monkeypatch]
  "Where the file system has no hard links, a damaged file is kept all the same."
  (put path "{")
  (defn refuse [source target] (raise (OSError 1 "not permitted")))
  (monkeypatch.setattr os "link" refuse)
  (snapshot.write path {"a" 1})
  (assert (= (content (+ path ".damaged")) "{"))
  (assert (= (snapshot.read path) {"a" 1})))
