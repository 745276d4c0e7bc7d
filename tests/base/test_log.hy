"Logs: what was appended is there after any damage; what is damaged is set aside and named; nothing is written where it would be lost."

(import
  errno fcntl os resource shutil signal subprocess sys
  pytest
  hypothesis [given settings HealthCheck strategies :as st]
  autolith.base [disk forms log])

(defn fill [path n [start 0]]
  "Append to the log PATH the records from START, N of them; return them."
  (setv records (lfor i (range start (+ start n)) {"kind" "message"  "seq" i  "text"
                                                   f"line {i}\nwith \"more\", ü and 😀"}))
  (with [l (log.Log path)]
    (for [r records] (.append l r)))
  records)

(defn raw [path]
  "Return the bytes of the file PATH."
  (with [f (open path "rb")] (.read f)))

(defn put [path data]
  "Make DATA the bytes of the file PATH."
  (with [f (open path "wb")] (.write f data)))

(defn [pytest.fixture] path [tmp-path]
  "The path of a log that is not there yet."
  (str (/ tmp-path "log.hy")))


;; * Reading what is whole

(defn test-appended-records-are-read-back [path]
  "Records come back in order, each on one line of valid Hy, from a file only its owner may read."
  (setv records (fill path 3))
  (assert (= (log.read path) {"records" records "faults" [] "torn" False}))
  (assert (= (.count (raw path) b"\n") 3))
  (assert (= (lfor f (hy.read-many (.decode (raw path))) (forms.plain f)) records))
  (assert (= (& (. (os.stat path) st-mode) 0o777) 0o600)))

(defn test-appending-goes-on-after-reopening [path]
  "A log that was closed is continued where it ended."
  (setv records (+ (fill path 2) (fill path 2 2)))
  (assert (= (:records (log.read path)) records)))

(defn test-only-maps-are-records [path]
  "What is no map, or cannot be written, is refused and leaves no trace."
  (with [l (log.Log path)]
    (for [bad [[1] "x" None {"k" (object)}]]
      (with [(pytest.raises forms.Unwritable)] (.append l bad)))
    (.append l {"a" 1}))
  (assert (= (:records (log.read path)) [{"a" 1}])))

(defn test-unsynced-records-are-there-too [path]
  "A record that need not be synced is in the file all the same."
  (with [l (log.Log path)]
    (.append l {"a" 1} :sync False)
    (assert (= (:records (log.read path)) [{"a" 1}]))))

(defn test-a-missing-log-says-so [path]
  "Reading a log that is not there fails with its name."
  (with [e (pytest.raises disk.StorageError)] (log.read path))
  (assert (in path (str e.value))))


;; * Torn ends

(defn test-a-log-cut-anywhere-keeps-every-whole-record [path]
  "Cut after any of its bytes, a log reads, opens and goes on with every record that was whole; the rest is kept aside."
  (setv records (fill path 3)  whole (raw path))
  (for [n (range (+ (len whole) 1))]
    (put path (cut whole n))
    (setv kept (.count (cut whole n) b"\n")
          ends-whole (= (cut whole n (+ n 1)) b"\n")     ; only the newline is missing
          expected (cut records (if ends-whole (+ kept 1) kept))
          found (log.read path)
          torn (not (or ends-whole (= n 0) (= (cut whole (- n 1) n) b"\n"))))
    (assert (= (:records found) expected))
    (assert (= (:torn found) torn))
    (assert (= (:faults found) []))
    (with [l (log.Log path)]
      (.append l {"after" True}))
    (assert (= (log.read path) {"records" [#* expected {"after" True}] "faults" [] "torn" False}))
    (setv aside (+ path ".torn"))
    (assert (= (os.path.exists aside) torn))
    (when torn
      (assert (= (raw aside) (+ (get (.rsplit (cut whole n) b"\n" 1) -1) b"\n")))
      (os.unlink aside))))

(defn test-a-torn-end-longer-than-a-block [path]
  "A torn record of several blocks is cut off whole."
  (setv records (fill path 2))
  (with [f (open path "ab")] (.write f (+ b"{:text \"" (* b"x" 200_000))))
  (with [l (log.Log path)] (assert (= (len l.warnings) 1)))
  (assert (= (:records (log.read path)) records)))


;; * Damage in the middle

(defn [(pytest.mark.parametrize "damage,faults" [#((* b"\0" 300) 1) #(b"\xff\xfe\xfd" 1) #(b"{:half \"a rec" 1)
                                                 #(b"words in prose" 1)
                                                 #(b"(os.abort" 1) #(b"{:a 1}}" 1) #(b"" 0)
                                                 #(b"; a remark" 0) #(b"[1 2]" 1) #(b"#reader {}" 1)])]
  test-damage-in-the-middle-costs-only-itself [path damage faults]
  "Around a damaged line every record is loaded, the fault has its line, and the file is not changed by reading or appending."
  (setv first (fill path 10))
  (with [f (open path "ab")] (.write f (+ damage b"\n")))
  (setv before (raw path)
        rest (fill path 30 10)
        found (log.read path))
  (assert (= (:records found) (+ first rest)))
  (assert (= (lfor f (:faults found) (:line f)) (cut [11] faults)))
  (assert (not (:torn found)))
  (assert (.startswith (raw path) before)))

(defn test-a-record-behind-nul-bytes-is-saved [path]
  "A record that follows a run of NUL bytes on its line loads; the run is reported."
  (put path (+ b"{:a 1}\n" (* b"\0" 4096) b"{:a 2}\n{:a 3}\n"))
  (setv found (log.read path))
  (assert (= (:records found) [{"a" 1} {"a" 2} {"a" 3}]))
  (assert (= (lfor f (:faults found) (:line f)) [2])))

(defn test-nul-bytes-at-the-end-are-torn [path]
  "A file that ends in NUL bytes, as after a power cut, has a torn end that the next opening sets aside."
  (setv records (fill path 2))
  (with [f (open path "ab")] (.write f (* b"\0" 1000)))
  (assert (:torn (log.read path)))
  (assert (= (+ records (fill path 1 2)) (:records (log.read path))))
  (assert (= (:faults (log.read path)) [])))

(defn test-crlf-mark-and-duplicates [path]
  "CRLF line ends and a byte-order mark do no harm, and a record that stands twice is read twice."
  (put path b"\xef\xbb\xbf{:a 1}\r\n{:a 1}\r\n{:b \"x\\r\\ny\"}\r\n")
  (assert (= (log.read path) {"records" [{"a" 1} {"a" 1} {"b" "x\r\ny"}] "faults" [] "torn" False})))

(defn test-two-records-on-a-line [path]
  "Records that share a line, because a newline was lost, are both read, and that is reported."
  (put path b"{:a 1}{:a 2}\n{:a 3}\n")
  (setv found (log.read path))
  (assert (= (:records found) [{"a" 1} {"a" 2} {"a" 3}]))
  (assert (= (len (:faults found)) 1)))

(defn [(given (st.integers 0 10_000) (st.binary :min-size 1 :max-size 40))
       (settings :max-examples 60 :deadline None :suppress-health-check [HealthCheck.function-scoped-fixture])]
  test-any-damage-keeps-the-other-lines [tmp-path at junk]
  "Bytes written over any place cost at most the lines they touch."
  (setv path (str (/ tmp-path "fuzz.hy")))
  (when (os.path.exists path) (os.unlink path))
  (setv records (fill path 12)  data (raw path)  at (% at (len data))
        hurt (+ (cut data at) junk (cut data (+ at (len junk)) None)))
  (put path hurt)
  (setv found (log.read path)
        first (.count (cut data at) b"\n")
        last (.count (cut data (+ at (len junk))) b"\n"))
  (assert (= (cut records first) (cut (:records found) first)))
  (setv after (cut records (+ last 1) None))
  (assert (or (not after) (= after (cut (:records found) (- (len after)) None)))))


;; * Parts

(defn test-head-and-tail [path]
  "The first and the last records are had without the rest, also when there are fewer, or damage between."
  (setv records (fill path 50))
  (with [f (open path "ab")] (.write f b"\0\0\0\n{:torn"))
  (assert (= (log.head path 3) (cut records 3)))
  (assert (= (log.tail path 3) (cut records -3 None)))
  (assert (= (log.head path 100) (log.tail path 100) records))
  (put path b"")
  (assert (= (log.head path 1) (log.tail path 1) [])))

(defn test-head-and-tail-are-bounded [path]
  "Of a log with a record of many megabytes, the ends are read in a bounded part."
  (fill path 2)
  (with [f (open path "ab")] (.write f (+ b"{:text \"" (* b"x" 8_000_000) b"\"}\n")))
  (setv last (fill path 2 2))
  (assert (= (log.tail path 2) last))
  (assert (= (len (log.head path 2)) 2))
  (assert (= (log.tail path 5) last)))


;; * Alone

(setv HOLD "
import sys, hy
from autolith.base import log
l = log.Log(sys.argv[1])
print('held', flush=True)
sys.stdin.read()
")

(defn holder [path]
  "Start a process that holds the log PATH; return it when it does."
  (setv child (subprocess.Popen [(getattr hy "sys_executable" sys.executable) "-c" HOLD path] :stdin
                subprocess.PIPE :stdout subprocess.PIPE))
  (.readline child.stdout)
  child)

(defn test-a-second-writer-is-refused [path]
  "While another process has the log, opening it for appending is refused, and reading works; after a kill it is free."
  (fill path 1)
  (setv child (holder path))
  (try
    (with [(pytest.raises disk.Busy)] (log.Log path))
    (assert (= (len (:records (log.read path))) 1))
    (finally (.kill child) (.wait child)))
  (assert (fill path 1)))

(defn test-a-second-opening-here-is-refused-too [path]
  "The same process cannot open a log twice; after a close it can, and closing twice is harmless."
  (setv l (log.Log path))
  (with [(pytest.raises disk.Busy)] (log.Log path))
  (.close l)
  (.close l)
  (with [(pytest.raises disk.StorageError)] (.append l {"a" 1}))
  (assert (fill path 1)))

(defn [(pytest.mark.parametrize "code" [errno.ENOLCK errno.EOPNOTSUPP])]
  test-without-kernel-locks [path monkeypatch code]
  "Where the file system has no locks, the log opens with a warning, and a second writer is still refused."
  (defn refuse [descriptor operation] (raise (OSError code (os.strerror code))))
  (monkeypatch.setattr fcntl "flock" refuse)
  (with [l (log.Log path)]
    (assert (= (len l.warnings) 1))
    (.append l {"a" 1})
    (with [(pytest.raises disk.Busy)] (log.Log path)))
  (assert (not (os.path.exists (+ path ".holder"))))
  (assert (fill path 1)))

(defn test-a-dead-holder-is-no-holder [path monkeypatch]
  "A holder file left by a process that is gone does not keep anybody out."
  (defn refuse [descriptor operation] (raise (OSError errno.ENOLCK "no locks")))
  (monkeypatch.setattr fcntl "flock" refuse)
  (setv child (subprocess.Popen ["true"]))
  (.wait child)
  (put (+ path ".holder") (.encode f"{child.pid} {(. (os.uname) nodename)}"))
  (assert (fill path 1))
  (put (+ path ".holder") (.encode f"{child.pid} another-machine"))
  (with [(pytest.raises disk.Busy)] (log.Log path))
  (put (+ path ".holder") b"no number")
  (assert (fill path 1)))


;; * The file under our feet

(defn _delete [path] (os.unlink path))
(defn _rename [path] (os.rename path (+ path ".away")))
(defn _replace [path] (shutil.copy path (+ path ".new")) (os.replace (+ path ".new") path))
(defn _folder [path] (os.unlink path) (os.mkdir path))
(defn _forbid [path] (os.chmod path 0))
(defn _cut-off [path] (os.truncate path 0))
(defn _write-to [path] (with [f (open path "ab")] (.write f b"{:foreign 1}\n")))

(defn [(pytest.mark.parametrize "harm" [_delete _rename _replace _folder _forbid _cut-off _write-to])]
  test-a-file-that-changed-hands-is-noticed [path harm]
  "Deleted, renamed, replaced, closed to its owner, cut or written by another: the next append fails and makes nothing."
  (with [l (log.Log path)]
    (.append l {"a" 1})
    (harm path)
    (setv before (when (os.path.isfile path) (raw path)))
    (for [_ (range 2)]
      (with [e (pytest.raises disk.Lost)] (.append l {"a" 2}))
      (assert (in path (str e.value))))
    (assert (= before (when (os.path.isfile path) (raw path))))))


;; * A full disk

(setv FULL "
import sys, resource, hy
from autolith.base import log, disk
path, room = sys.argv[1], int(sys.argv[2])
l = log.Log(path)
l.append({'n': 0})
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
try:
    l.append({'n': 1, 'text': 'x' * 500})
    print('written')
except disk.Full as e:
    print('full')
size = len(open(path, 'rb').read())
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
l.append({'n': 2})
l.close()
print(size)
")

(defn [(pytest.mark.parametrize "room" [7 8 20 200 500])] test-a-full-disk [path room]
  "Out of room, an append fails clearly and leaves no part of its record; with room again, the next one works."
  (setv done (subprocess.run [(getattr hy "sys_executable" sys.executable) "-c" FULL path (str room)]
                             :capture-output True :text True :check True)
        [word size] (.split done.stdout))
  (assert (= word "full"))
  (assert (= (int size) 7))
  (assert (= (log.read path) {"records" [{"n" 0} {"n" 2}] "faults" [] "torn" False})))

(defn test-a-tail-that-could-not-be-cut-is-cut-later [path monkeypatch]
  "When the failed record cannot even be cut off, the next append does it first."
  (with [l (log.Log path)]
    (.append l {"n" 0})
    (setv write os.write  truncate os.ftruncate)
    (defn half [descriptor data] (write descriptor (bytes (cut data 3))) (raise (OSError errno.ENOSPC "no space")))
    (defn refuse [descriptor size] (raise (OSError errno.EIO "input/output error")))
    (monkeypatch.setattr os "write" half)
    (monkeypatch.setattr os "ftruncate" refuse)
    (with [(pytest.raises disk.Full)] (.append l {"n" 1}))
    (monkeypatch.setattr os "write" write)
    (monkeypatch.setattr os "ftruncate" truncate)
    (.append l {"n" 2}))
  (assert (= (log.read path) {"records" [{"n" 0} {"n" 2}] "faults" [] "torn" False})))

(defn test-lone-surrogates-are-kept [path]
  "Text with lone surrogates, from odd file names and cut pairs, is written as UTF-8 and reads back as it was."
  (setv record {"text" (+ (.decode b"\xff" "utf-8" "surrogateescape") "\ud83d" " \ude00")})
  (with [l (log.Log path)] (.append l record))
  (.decode (raw path) "utf-8")
  (assert (= (:records (log.read path)) [record])))
