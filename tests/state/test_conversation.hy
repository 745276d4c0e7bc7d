"Conversations: durable, resumable, repaired, listed cheaply, open once."

(import
  errno
  fcntl
  os
  socket
  subprocess
  sys
  time
  pytest
  hypothesis [given settings strategies :as st]
  autolith.base [forms log paths]
  autolith.provider [anthropic chat responses]
  autolith.state [conversation lease listings projection segment]
  tests.doubles [strict])

(defn message [text #** more]
  {"kind" "message" "role" "user" "content" text #** more})

(defn call [id [name "x_y"]]
  {"kind" "item" "item" {"type" "function_call" "call_id" id "name" name "arguments" {"a" 1}}})

(defn result [id [text "fine"]]
  {"kind" "result" "call_id" id "tool" "x.y" "ok" True "text" text "content" [] "seconds" 0.1})

(defn said [text]
  {"kind" "item" "item" {"type" "message" "role" "assistant" "content" [{"type" "text" "text" text}]}})

(defn begun [[directory "/"] #* records]
  "Return an open conversation with RECORDS."
  (setv c (conversation.create directory :provider "p" :model "m" :effort None))
  (for [r records] (conversation.append c r))
  c)

(defn reopened [c]
  "Return C after it was closed and opened again."
  (conversation.close c)
  (conversation.open-conversation c.id))

(defn texts [c]
  "Return the text of each item of C."
  (lfor i (conversation.items c)
        (if (in "content" i) (get i "content" -1 "text") (get i "call_id"))))

(setv WIRES {"responses" responses "chat-completions" chat "anthropic-messages" anthropic})

(defn complaints [items]
  "Return what the strict doubles of all wires say against a request with ITEMS."
  (lfor [wire module] (.items WIRES)
        :setv form {"name" "s" "wire" wire "base_url" "http://x" "quirks" {} "headers" {} "key_variable" None}
        :setv asked (module.encode {"provider" form "model" "scripted" "effort" None "system" "s" "items" items "context" "c"
                                    "tools" [] "cache_key" "k" "max_output" None})
        complaint (strict.check wire {"content-type" "application/json" #** (get asked "headers")} (get asked "body"))
        f"{wire}: {complaint}"))

;; * Beginning

(defn test-nothing-before-the-first-record []
  "A conversation leaves no trace on disk before its first record, and then header and record are there together."
  (setv c (begun))
  (assert (not (os.path.exists (paths.data))))
  (assert (not (os.path.exists (paths.state))))
  (conversation.append c (message "hello"))
  (setv found (get (log.read (segment.path c.id 1)) "records"))
  (assert (= (lfor r found (get r "kind")) ["conversation" "message"]))
  (assert (= (. (os.stat (segment.path c.id 1)) st-mode) 0o100600))
  (conversation.close c))

(defn test-stamps []
  "Records are numbered from 1 and carry a time, whatever the caller put there."
  (setv c (begun "/" (message "a" :seq 77) (message "b"))
        rows (conversation.history-page c))
  (assert (= (lfor r rows (get r "seq")) [1 2]))
  (assert (all (gfor r rows (.endswith (get r "time") "Z"))))
  (conversation.close c))

(defn test-resume-gives-the-same-history []
  "What was said before a resume is said after it, by an id with a hyphen or by a prefix of it."
  (setv c (begun "/" (message "do it") (call "a") (result "a") (said "done")
                 {"kind" "configuration" "provider" "q" "model" "n" "effort" "high"})
        before (conversation.items c))
  (conversation.close c)
  (for [name [c.id f"{(cut c.id 1)}-{(cut c.id 1 None)}" (cut c.id 6)]]
    (setv again (conversation.open-conversation name))
    (assert (= (conversation.items again) before))
    (assert (= (conversation.configuration again) {"provider" "q" "model" "n" "effort" "high" "directory" "/"}))
    (assert (= again.warnings []))
    (conversation.close again)))

(setv plain (st.recursive (st.one-of (st.none) (st.booleans) (st.integers) (st.text) (st.floats :allow-nan False))
                          (fn [inner] (st.one-of (st.lists inner :max-size 4)
                                                 (st.dictionaries (st.text :max-size 8) inner :max-size 4)))
                          :max-leaves 8))

(defn [(settings :max-examples 60 :deadline None)
       (given (st.lists (st.dictionaries (st.sampled-from ["a" "b_c" "b-c" "#"]) plain) :min-size 1 :max-size 5))]
  test-any-data-survives [maps]
  "Whatever data a record holds is there again after a resume."
  (setv c (begun "/" #* (lfor m maps {"kind" "note" "data" m}))
        c (reopened c))
  (assert (= (lfor r c.records (get r "data")) maps))
  (conversation.close c))

(defn test-surrogates-are-replaced []
  "A lone surrogate in any string of a record neither stops the log nor reaches a wire."
  (setv c (begun "/" (message "\ud83d x") (call "a" "x_y") {#** (result "a" "\ude00") "content" []}
                 {"kind" "item" "item" {"type" "message" "role" "assistant" "content" [{"type" "text" "text" "\ud83d\ude00"}]}})
        c (reopened c))
  (assert (= (texts c) ["\ufffd x" "a" "\ufffd" "😀"]))
  (assert (= (complaints (conversation.items c)) []))
  (conversation.close c))

(defn test-values-that-are-no-data []
  "An object that is no data is recorded as its printed form, and a form of Hy as what it is."
  (setv c (begun "/" {"kind" "note" "data" [(object) '(+ 1 "a") 'x :k #{1}]})
        c (reopened c))
  (assert (.startswith (get c.records 0 "data" 0) "<object"))
  (assert (= (get c.records 0 "data" 3) :k))
  (conversation.close c))

;; * One process

(setv HOLDER "
import os, sys, time, hy
from autolith.state import conversation
c = conversation.open_conversation(sys.argv[1])
print('open', flush=True)
time.sleep(60)
")

(defn test-second-process-is-told-who-has-it []
  "A second process is refused with the pid and host of the first, and gets the conversation when that is killed."
  (setv c (begun "/" (message "x")))
  (conversation.close c)
  (setv child (subprocess.Popen [sys.executable "-c" HOLDER c.id] :stdout subprocess.PIPE))
  (try
    (assert (= (.readline child.stdout) b"open\n"))
    (with [e (pytest.raises conversation.InUse)]
      (conversation.open-conversation c.id))
    (assert (in (str child.pid) (str e.value)))
    (assert (= (get e.value.holder "pid") child.pid))
    (assert (= (lfor r (conversation.listing) (get r "in_use")) [True]))
    (finally
      (.kill child)
      (.wait child)
      (.close child.stdout)))
  (assert (= (lfor r (conversation.listing) (get r "in_use")) [False]))
  (conversation.close (conversation.open-conversation c.id)))

(defn test-two-conversations-beside-each-other []
  "Two conversations of one directory are open at the same time."
  (setv a (begun "/" (message "a"))
        b (begun "/" (message "b")))
  (assert (!= a.id b.id))
  (assert (= (len (conversation.listing "/")) 2))
  (conversation.close a)
  (conversation.close b))

(defn [(pytest.mark.parametrize "code" [errno.ENOLCK errno.EOPNOTSUPP])] test-without-locks [monkeypatch code]
  "Where the file system has no locks a file stands in: it warns, refuses a second opener, and gives way when its process is gone."
  (defn refuse [#* _] (raise (OSError code "no locks")))
  (setv c (begun "/" (message "x")))
  (conversation.close c)
  (monkeypatch.setattr fcntl "flock" refuse)
  (setv c (conversation.open-conversation c.id))
  (assert c.warnings)
  (with [_ (pytest.raises conversation.InUse)]
    (conversation.open-conversation c.id))
  (conversation.append c (message "y"))
  (conversation.close c)
  (assert (= (lease.held) (set)))
  (with [f (open (os.path.join (lease.folder) f"{c.id}.lock.holder") "w")]
    (.write f f"{(os.getpid)} {(socket.gethostname)} anearlierprocess"))
  (setv c (conversation.open-conversation c.id))
  (assert (= (texts c) ["x" "y"]))
  (conversation.close c))

;; * Repair

(defn test-each-call-gets-one-result []
  "Calls without a result get a durable one, once: a second resume adds none, and every provider accepts the request."
  (setv c (begun "/" (message "go") (call "a") (call "b") (call "c") (result "a"))
        c (reopened c)
        count c.seq)
  (assert (= (texts c) ["go" "a" "b" "c" "fine" projection.UNKNOWN projection.UNKNOWN]))
  (conversation.append c (message "hi"))
  (assert (= (complaints (conversation.items c)) []))
  (setv c (reopened c))
  (assert (= c.seq (+ count 1)))
  (assert (= (len (lfor r c.records :if (= (get r "kind") "result") r)) 3))
  (conversation.close c))

(defn test-duplicates-and-orphans []
  "A second result, a result without a call, a repeated call and a repeated record change nothing."
  (setv c (begun "/" (message "go") (call "a") (result "a" "first") (result "a" "late") (result "nowhere") (call "a") (said "end")))
  (conversation.close c)
  (setv path (segment.path c.id 1))
  (with [f (open path "rb")] (setv lines (.readlines f)))
  (with [f (open path "ab")] (.write f (get lines 1)))
  (setv c (conversation.open-conversation c.id))
  (assert (= (texts c) ["go" "a" "first" "end"]))
  (assert (= (complaints (conversation.items c)) []))
  (conversation.close c))

(defn test-results-come-in-call-order []
  "Results stand directly behind the calls of their response, in the order of the calls, however they were recorded."
  (setv c (begun "/" (message "go") (call "a") (call "b") (result "b" "B") (message "steer") (result "a" "A")))
  (assert (= (texts c) ["go" "a" "b" "A" "B" "steer"]))
  (assert (= (complaints (conversation.items c)) []))
  (conversation.close c))

(defn test-what-providers-refuse-is-left-out []
  "Reasoning that nothing follows and messages without a word do not enter history."
  (setv c (begun "/" (message "go") {"kind" "item" "item" {"type" "reasoning" "text" "hm" "origin" "s/scripted" "raw" {"type" "reasoning"}}}
                 (message "  ") (said "") (message "on")
                 {"kind" "failure" "cause" "interrupted" "text" "t" "partial" "half"}
                 {"kind" "user-operation" "operation" "form" "source" "(+ 1 1)" "status" "ok" "result" "2"}))
  (assert (= (texts c) ["go" "on"]))
  (assert (= (complaints (conversation.items c)) []))
  (conversation.close c))

;; * Damage

(defn forty []
  "Return the path of a closed conversation of forty messages, and its id."
  (setv c (begun "/" #* (lfor n (range 1 41) (message f"message {n}"))))
  (conversation.close c)
  #((segment.path c.id 1) c.id))

(setv DAMAGE {"nul" (+ (* b"\0" 300) b"\n")
              "garbage" b"\xff\xfe\x00 \x80((( \n"
              "half" b"{:kind \"message\" :seq 3 :role \"us\n"
              "no map" b"[1 2 3]\n"
              "no record" b"{:a 1}\n"})

(defn [(pytest.mark.parametrize "name" (list DAMAGE))] test-damage-in-the-middle [name]
  "Damage between records costs at most itself: the rest loads, the file stays as it is, and a warning names file and line."
  (setv [path id] (forty))
  (with [f (open path "rb")] (setv lines (.readlines f)))
  (setv data (.join b"" [#* (cut lines 11) (get DAMAGE name) #* (cut lines 11 None)]))
  (with [f (open path "wb")] (.write f data))
  (setv c (conversation.open-conversation id))
  (assert (= (texts c) (lfor n (range 1 41) f"message {n}")))
  (assert (in path (get c.warnings 0)))
  (when (!= name "no record")
    (assert (in "12" (get c.warnings 0))))
  (conversation.append c (message "on"))
  (conversation.close c)
  (with [f (open path "rb")] (assert (.startswith (.read f) data))))

(defn test-carriage-returns []
  "A record that ends in CRLF is a record."
  (setv [path id] (forty))
  (with [f (open path "rb")] (setv data (.read f)))
  (with [f (open path "wb")] (.write f (.replace data b"\n" b"\r\n")))
  (setv c (conversation.open-conversation id))
  (assert (= (len (texts c)) 40))
  (conversation.close c))

(defn test-cut-at-every-byte []
  "A log that ends after any of its bytes opens with every whole record, takes another, and opens again."
  (setv c (begun "/" (message "one") (message "two")))
  (conversation.close c)
  (setv path (segment.path c.id 1))
  (with [f (open path "rb")] (setv data (.read f)))
  (setv ends (lfor [n byte] (enumerate data 1) :if (= byte 10) n))
  (for [size (range (get ends 1) (len data))]
    (with [f (open path "wb")] (.write f (cut data size)))
    (setv c (conversation.open-conversation c.id)
          whole (sum (gfor e (cut ends 1 None) (>= size (- e 1)))))
    (assert (= (len (texts c)) whole) size)
    (conversation.append c (message "three"))
    (setv c (reopened c))
    (assert (= (get (texts c) -1) "three") size)
    (assert (= (len (texts c)) (+ whole 1)) size)
    (conversation.close c)))

(setv HEADERS {"half" (fn [line] (+ (cut line 20) b"\n"))
               "late half" (fn [line] (+ (cut line -20) b"\n"))
               "middle" (fn [line] (.replace line b":created" b"\xff(( :created"))
               "empty" (fn [line] b"\n")
               "missing" (fn [line] b"")
               "nul" (fn [line] (+ (* b"\0" (len line)) b"\n"))})

(defn damaged [directory how [text "message"]]
  "Return the id of a closed conversation of DIRECTORY whose header HOW has damaged."
  (setv c (begun directory (message text) (said "answer")))
  (conversation.close c)
  (with [f (open c.path "rb")] (setv lines (.readlines f)))
  (with [f (open c.path "wb")] (.write f (.join b"" [((get HEADERS how) (get lines 0)) #* (cut lines 1 None)])))
  c.id)

(defn [(pytest.mark.parametrize "how" (list HEADERS))] test-damaged-header [tmp-path monkeypatch how]
  "A conversation whose header is damaged opens with a warning, is listed with a note, and is the newest again once it was opened."
  (setv here (str (/ tmp-path "a \"b\""))
        id (do (os.mkdir here) (damaged here how))
        found (conversation.survey))
  (assert (= (lfor r (get found "rows") [(get r "id") (get r "preview") (get r "turns")]) [[id "message" 1]]))
  (assert (in id (get found "notes" 0)))
  (.chdir monkeypatch here)
  (setv c (conversation.open-conversation id))
  (assert (= (texts c) ["message" "answer"]))
  (assert c.warnings)
  (assert (= (get (conversation.configuration c) "directory") here))
  (conversation.append c (message "on"))
  (conversation.close c)
  (assert (= (conversation.latest here) {"id" id "notes" []}))
  (assert (= (get (conversation.survey here) "rows" 0 "id") id)))

(defn [(pytest.mark.parametrize "how" (list HEADERS))] test-newest-with-a-damaged-header [tmp-path how]
  "The newest of a directory is opened though its header is damaged, or a note says that it was passed over and how to open it."
  (setv here (str tmp-path)
        old (begun here (message "old")))
  (conversation.close old)
  (time.sleep 0.005)
  (setv id (damaged here how)
        found (conversation.latest here))
  (if (in how ["late half" "middle"])
    (assert (= found {"id" id "notes" []}))
    (do (assert (= (get found "id") old.id))
        (assert (in f"autolith resume {id}" (get found "notes" 0)))))
  (assert (in id (.join " " (get (conversation.survey here) "notes")))))

(defn test-a-damaged-header-is-made-up-for-by-the-preamble [tmp-path]
  "Where the header says nothing, the records near the beginning tell the directory."
  (setv c (begun (str tmp-path) (message "x") {"kind" "preamble" "directory" (str tmp-path)} (said "a") (said "b") (said "c")))
  (conversation.close c)
  (with [f (open c.path "rb")] (setv lines (.readlines f)))
  (with [f (open c.path "wb")] (.write f (.join b"" [b"\n" #* (cut lines 1 None)])))
  (assert (= (conversation.newest (str tmp-path)) c.id)))

(defn test-a-conversation-without-a-record-is-passed-over [tmp-path]
  "A newest conversation with nothing readable in it is named in a note, and the one before it is opened."
  (setv old (begun (str tmp-path) (message "old")))
  (conversation.close old)
  (os.makedirs (segment.folder "4abcdef"))
  (with [f (open (segment.path "4abcdef" 1) "wb")] (.write f (* b"\0" 4096)))
  (setv found (conversation.latest (str tmp-path)))
  (assert (= (get found "id") old.id))
  (assert (in "4abcdef" (get found "notes" 0)))
  (assert (in "4abcdef" (get (conversation.survey) "notes" 0))))

(defn test-empty-segment-is-set-aside []
  "A newest segment without a record gives way to the one before it and stays on disk under another name."
  (setv c (begun "/" (message "one")))
  (conversation.close c)
  (setv broken (segment.path c.id 2))
  (with [_ (open broken "wb")])
  (setv c (conversation.open-conversation c.id))
  (assert (= (texts c) ["one"]))
  (assert (in broken (get c.warnings 0)))
  (assert (os.path.exists (+ broken ".unreadable")))
  (conversation.close c))

(defn test-newer-version-is-left-alone []
  "A conversation of a newer program is refused, and not a byte of it changes."
  (setv [path id] (forty))
  (with [f (open path "rb")] (setv data (.replace (.read f) b":version 1" b":version 2" 1)))
  (with [f (open path "wb")] (.write f data))
  (with [e (pytest.raises conversation.TooNew)]
    (conversation.open-conversation id))
  (assert (in path (str e.value)))
  (with [f (open path "rb")] (assert (= (.read f) data)))
  (assert (= (lease.held) (set))))

;; * While it runs

(defn test-deleted-while-running []
  "A conversation whose file, or whole folder, is deleted while it runs is written anew, whole, and says so."
  (import shutil)
  (setv c (begun "/" (message "one") (message "two")))
  (for [[n remove] (enumerate [(fn [] (os.unlink c.path)) (fn [] (shutil.rmtree (os.path.dirname c.path)))
                               (fn [] (os.rename c.path (+ c.path ".away")))])]
    (remove)
    (conversation.append c (message f"after {n}"))
    (assert (in c.path (get (conversation.take-warnings c) 0))))
  (setv c (reopened c))
  (assert (= (texts c) ["one" "two" "after 0" "after 1" "after 2"]))
  (assert (= c.warnings []))
  (conversation.close c))

(defn test-replaced-or-closed-while-running []
  "A conversation whose file is replaced by a folder or made unreadable stops with a reason, and goes on when that is undone."
  (setv c (begun "/" (message "one"))
        away (+ c.path ".away"))
  (os.rename c.path away)
  (os.mkdir c.path)
  (with [_ (pytest.raises conversation.StorageFailed)]
    (conversation.append c (message "refused")))
  (for [record [(said "kept") (message "accepted before" :steering True)]]
    (with [_ (pytest.raises conversation.StorageFailed)]
      (conversation.append c record)))
  (os.rmdir c.path)
  (os.rename away c.path)
  (os.chmod c.path 0)
  (with [_ (pytest.raises conversation.StorageFailed)]
    (conversation.append c (message "refused too")))
  (os.chmod c.path 0o600)
  (conversation.append c (message "two"))
  (setv c (reopened c))
  (assert (= (texts c) ["one" "kept" "accepted before" "two"]))
  (assert (= (lfor r c.records (get r "seq")) [1 2 3 4]))
  (conversation.close c))

(setv FULL "
import resource, signal, sys, hy
from autolith.state import conversation
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
c = conversation.open_conversation(sys.argv[1])
size = __import__('os').path.getsize(c.path)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
message = lambda t: {'kind': 'message', 'role': 'user', 'content': t}
said = lambda t: {'kind': 'item', 'item': {'type': 'message', 'role': 'assistant', 'content': [{'type': 'text', 'text': t}]}}
for record in [message('refused' * 50), said('kept' * 50), said('kept too'), message('refused again')]:
    try:
        conversation.append(c, record)
        print('accepted')
    except conversation.StorageFailed as e:
        print('full:', e)
print(len(conversation.items(c)))
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
conversation.append(c, message('space again'))
conversation.close(c)
")

(defn test-full-disk []
  "A full disk refuses input and keeps what has happened, in order; with space again the missing records are written."
  (setv c (begun "/" (message "one")))
  (conversation.close c)
  (setv out (subprocess.run [sys.executable "-c" FULL c.id] :capture-output True :text True :check True)
        lines (.splitlines out.stdout))
  (assert (= (lfor l (cut lines 4) (get (.partition l ":") 0)) ["full" "full" "full" "full"]) out.stdout)
  (assert (= (get lines 4) "3"))
  (setv c (conversation.open-conversation c.id))
  (assert (= (texts c) ["one" (* "kept" 50) "kept too" "space again"]))
  (assert (= (lfor r c.records (get r "seq")) [1 2 3 4]))
  (assert (= c.warnings []))
  (conversation.close c))

(setv NO-ROOM "
import os, resource, signal, sys, hy
from autolith.base import paths
from autolith.state import conversation
how, root = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if how == 'full':
    limit, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
elif how == 'closed':
    os.makedirs(root, 0o700)
    os.chmod(root, 0o500)
    if not os.getuid():
        os.chown(root, 65534, -1)
        os.seteuid(65534)
elif how == 'file':
    open(root, 'w').close()
message = lambda t: {'kind': 'message', 'role': 'user', 'content': t}
c = conversation.create('/', provider='p', model='m', effort=None)
for text in ['one', 'two']:
    try:
        conversation.append(c, message(text))
        print('accepted')
    except conversation.StorageFailed as e:
        print('refused:', e)
print(c.seq, c.turns, len(c.records), len(c.unwritten))
if how == 'full':
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
elif how == 'closed':
    os.chmod(root, 0o700)
else:
    os.unlink(root)
conversation.append(c, message('three'))
print(len(conversation.take_warnings(c)))
conversation.close(c)
c = conversation.open_conversation(c.id)
print([r['content'] for r in c.records], c.seq, c.warnings)
")

(defn no-room [how root]
  "Return the lines of a new conversation in a process where ROOT, below a folder that all may enter, is HOW."
  (setv out (subprocess.run [sys.executable "-c" NO-ROOM how root] :capture-output True :text True))
  (assert (= out.returncode 0) out.stderr)
  (.splitlines out.stdout))

(defn open-to-all [folder]
  "Let everybody enter FOLDER and what is above it in the test's own folders."
  (for [place [folder #* folder.parents]]
    (when (= (. (os.stat place) st-uid) (os.getuid))
      (os.chmod place (| (. (os.stat place) st-mode) 0o055)))))

(defn [(pytest.mark.parametrize "how" ["full" "closed" "file"])] test-no-room-for-the-first-message [tmp-path monkeypatch how]
  "Where the first message of a new conversation cannot be kept, that is said, with the path; with room again it begins at one."
  (setv data (/ tmp-path "data"))
  (monkeypatch.setenv "XDG_DATA_HOME" (str data))
  (open-to-all tmp-path)
  (when (= how "closed")
    (.mkdir (/ tmp-path "state"))
    (os.chmod (/ tmp-path "state") 0o777)
    (monkeypatch.setenv "XDG_STATE_HOME" (str (/ tmp-path "state"))))
  (setv lines (no-room how (str data)))
  (assert (= (lfor l (cut lines 2) (get (.partition l ":") 0)) ["refused" "refused"]) lines)
  (assert (in (str data) (get lines 0)))
  (assert (= (get lines 2) "0 0 0 0"))
  (assert (= (get lines 4) "['three'] 1 []")))

(defn [(pytest.mark.parametrize "how" ["closed" "file"])] test-no-room-for-the-lease [tmp-path monkeypatch how]
  "Where no lease can be written the conversation goes on, and the warning says which file and why, not that it is in use."
  (setv state (/ tmp-path "state"))
  (monkeypatch.setenv "XDG_STATE_HOME" (str state))
  (open-to-all tmp-path)
  (.mkdir (/ tmp-path "data"))
  (os.chmod (/ tmp-path "data") 0o777)
  (monkeypatch.setenv "XDG_DATA_HOME" (str (/ tmp-path "data")))
  (setv lines (no-room how (str state)))
  (assert (= (cut lines 2) ["accepted" "accepted"]))
  (assert (= (get lines 2) "2 2 2 0"))
  (assert (= (get lines 3) "1"))
  (assert (= (get lines 4) "['one', 'two', 'three'] 3 []")))

(defn test-a-lease-that-cannot-be-signed [monkeypatch]
  "A lease whose file takes no bytes is a lease all the same: a warning says why, and a second opener is refused."
  (defn full [#* _] (raise (OSError errno.ENOSPC "no space left on device")))
  (setv c (begun "/" (message "x")))
  (conversation.close c)
  (monkeypatch.setattr os "pwrite" full)
  (setv c (conversation.open-conversation c.id))
  (assert (in c.id (get c.warnings 0)))
  (with [e (pytest.raises conversation.InUse)]
    (conversation.open-conversation c.id))
  (assert (not-in "unknown" (str e.value)))
  (conversation.close c)
  (assert (= (lease.held) (set))))

(defn test-without-a-lease-the-log-is-guarded [tmp-path monkeypatch]
  "Where there is no lease, the second of two processes is still kept from writing, with the reason."
  (setv c (begun "/" (message "x")))
  (conversation.close c)
  (.write-text (/ tmp-path "file") "")
  (monkeypatch.setenv "XDG_STATE_HOME" (str (/ tmp-path "file")))
  (setv a (conversation.open-conversation c.id)
        b (conversation.open-conversation c.id))
  (conversation.append a (message "a"))
  (with [_ (pytest.raises conversation.StorageFailed)]
    (conversation.append b (message "b")))
  (conversation.close a)
  (conversation.close b)
  (setv c (conversation.open-conversation c.id))
  (assert (= (texts c) ["x" "a"]))
  (conversation.close c))

;; A record that no disk could hold

(defn test-a-record-that-cannot-be-written [monkeypatch]
  "A record that is too large for a form is left out with a reason, and does not stand in the way of the next one."
  (setv c (begun "/" (message "one")))
  (with [m (monkeypatch.context)]
    (m.setattr forms "MAX_SIZE" 1000)
    (with [_ (pytest.raises conversation.StorageFailed)]
      (conversation.append c (said (* "x" 2000))))
    (conversation.append c (said "two")))
  (setv c (reopened c))
  (assert (= (texts c) ["one" "two"]))
  (conversation.close c))

;; * Segments

(defn summarised []
  "Return an open conversation of three segments and eleven records."
  (begun "/" #* (lfor n (range 1 5) (message f"old {n}"))
         {"kind" "user-operation" "operation" "form" "source" "(f)" "status" "ok" "result" "1"}
         {"kind" "summary" "through_seq" 5 "content" "what was"}
         (message "middle") (call "a") (result "a")
         {"kind" "summary" "through_seq" 9 "content" "all that was"}
         (message "new")))

(defn test-resume-reads-the-newest-segment-only []
  "A resume after a summary needs the newest segment only, and knows turns and operations of those before."
  (setv c (summarised))
  (conversation.close c)
  (assert (= (segment.starts c.id) [1 6 10]))
  (for [start [1 6]]
    (os.unlink (segment.path c.id start))
    (os.mkdir (segment.path c.id start)))
  (setv c (conversation.open-conversation c.id))
  (assert (= (cut (texts c) 1 None) ["new"]))
  (assert (in "all that was" (get (texts c) 0)))
  (assert (= c.turns 6))
  (assert (= (lfor o (conversation.operations c) (get o "source")) ["(f)"]))
  (assert (= c.seq 11))
  (conversation.close c))

(defn test-older-records-by-page []
  "Pages of older records reach over the bounds of segments without a gap or a repetition."
  (setv c (reopened (summarised))
        before None
        found [])
  (while (setx page (conversation.history-page c before 4))
    (setv found [#* page #* found]
          before (get page 0 "seq"))
    (assert (<= (len page) 4)))
  (assert (= (lfor r found (get r "seq")) (list (range 1 12))))
  (conversation.close c))

(defn test-held-records []
  "A held record is part of history until it is released, and never on disk."
  (setv c (begun "/" (message "look")))
  (conversation.append-all c [{#** (call "e") "held" True} (call "d")])
  (conversation.append-all c [{#** (result "e" "picture") "held" True} (result "d")])
  (assert (= (texts c) ["look" "e" "d" "picture" "fine"]))
  (conversation.release c)
  (assert (= (texts c) ["look" "d" "fine"]))
  (setv c (reopened c))
  (assert (= (texts c) ["look" "d" "fine"]))
  (conversation.close c))

;; * Finding

(defn test-find-names-the-candidates []
  "A prefix of several ids is refused with the candidates, an unknown name and a path with a reason."
  (for [id ["4abcdef" "4abcxyz"]]
    (os.makedirs (segment.folder id)))
  (with [e (pytest.raises conversation.Unknown)] (conversation.find "4-abc"))
  (assert (in "4abcxyz" (str e.value)))
  (assert (= (conversation.find " 4-abcd ") "4abcdef"))
  (for [name ["" "zz" "../../etc" "4abcdefg" "-"]]
    (with [_ (pytest.raises conversation.Unknown)] (conversation.find name)))
  (with [_ (pytest.raises conversation.Unknown)] (conversation.open-conversation "4abcdef")))

(defn test-listing [tmp-path]
  "The list of a directory is newest first with preview, turns and size, also through a symbolic link; others are not in it."
  (setv here (/ tmp-path "a-b")
        there (/ tmp-path "a" "b"))
  (.mkdir here)
  (.mkdir there :parents True)
  (.symlink-to (/ tmp-path "link") here)
  (setv ids [])
  (for [[directory text] [[here "first\nquestion"] [there "other"] [here "second"]]]
    (setv c (begun (str directory) (message text) (said "answer") (message "more")
                   {"kind" "usage" "number" 1 "usage" None}))
    (conversation.close c)
    (.append ids c.id)
    (time.sleep 0.002))
  (setv rows (conversation.listing (str (/ tmp-path "link"))))
  (assert (= (lfor r rows (get r "id")) [(get ids 2) (get ids 0)]))
  (assert (= (lfor r rows (get r "preview")) ["second" "first question"]))
  (assert (= (lfor r rows (get r "turns")) [2 2]))
  (assert (all (gfor r rows (> (get r "bytes") 0))))
  (assert (= (conversation.newest (str there)) (get ids 1)))
  (assert (= (conversation.newest (str (/ tmp-path "link"))) (get ids 2)))
  (assert (is (conversation.newest (str tmp-path)) None))
  (assert (= (len (conversation.listing)) 3)))

(defn test-listing-reads-ends-of-files-only [monkeypatch]
  "The list of many conversations reads a small part of each, however long it is, and names a broken one in a note."
  (setv long-text (* "long line " 400)
        paths-of [])
  (for [n (range 12)]
    (setv c (begun "/" (message f"question {n}") #* (lfor _ (range 60) (said long-text))))
    (conversation.close c)
    (.append paths-of c.path))
  (with [f (open (get paths-of 3) "r+b")] (.write f b"{{{{"))
  (setv read-sizes []
        real forms.read-all)
  (defn counted [text]
    (.append read-sizes (len text))
    (real text))
  (monkeypatch.setattr forms "read_all" counted)
  (setv found (conversation.survey))
  (assert (= (len (get found "rows")) 12))
  (assert (= (len (get found "notes")) 1))
  (assert (< (sum read-sizes) (// (sum (map os.path.getsize paths-of)) 3))))

(defn test-directory-that-vanished [tmp-path]
  "A conversation whose directory was moved or deleted is found by id from anywhere, and says that the directory is gone."
  (setv old (/ tmp-path "foo"))
  (.mkdir old)
  (setv c (begun (str old) (message "x")))
  (conversation.close c)
  (.rename old (/ tmp-path "bar"))
  (setv c (conversation.open-conversation c.id))
  (assert (= (get (conversation.configuration c) "directory") (str old)))
  (assert (in (str old) (get c.warnings 0)))
  (conversation.append c {"kind" "configuration" "directory" (str (/ tmp-path "bar"))})
  (setv c (reopened c))
  (assert (= c.warnings []))
  (conversation.close c)
  (assert (= (conversation.newest (str (/ tmp-path "bar"))) c.id)))

(defn test-directory-with-a-newline [tmp-path]
  "A directory whose name holds a newline is a directory like any other."
  (setv odd (/ tmp-path "a\nb"))
  (.mkdir odd)
  (setv c (begun (str odd) (message "x")))
  (conversation.close c)
  (assert (= (conversation.newest (str odd)) c.id)))

(defn test-closed-conversation-refuses []
  "A closed conversation takes no record."
  (setv c (begun "/" (message "x")))
  (conversation.close c)
  (conversation.close c)
  (with [_ (pytest.raises conversation.StorageFailed)]
    (conversation.append c (message "y"))))
