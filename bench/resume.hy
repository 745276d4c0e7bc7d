"What it costs to resume a long conversation and to list many: `python -m hy bench/resume.hy`.

A resume reads the newest segment only, so its comparison is reading that one file with `base/log`; a history ten times as long
must not change it. The list of 3,000 conversations is compared with opening and reading as many bytes as it needs of each."

(import
  os
  sys
  tempfile)
(.insert sys.path 0 (os.path.dirname (os.path.dirname (os.path.abspath __file__))))
(import
  autolith.base [log]
  autolith.state [conversation segment]
  bench [_measure :as measure])

(setv MANY 3000
      TEXT (* "(defn f [x] \"A line of a tool's result.\" (+ x 1))\n" 60))

(defn round-of [n]
  "Return the records of one round with a result of three thousand characters."
  [{"kind" "message" "role" "user" "content" f"question {n}"}
   {"kind" "item" "item" {"type" "function_call" "call_id" f"call_{n}" "name" "resource_read" "arguments" {"uri" "workspace:a.hy"}}}
   {"kind" "usage" "number" 1 "usage" {"input" 100 "output" 20}}
   {"kind" "result" "call_id" f"call_{n}" "tool" "resource.read" "ok" True "text" TEXT "content" [] "seconds" 0.01}
   {"kind" "item" "item" {"type" "message" "role" "assistant" "content" [{"type" "text" "text" f"answer {n}"}]}}
   {"kind" "usage" "number" 2 "usage" {"input" 200 "output" 30}}])

(defn conversation-of [segments rounds]
  "Return the id of a conversation of SEGMENTS segments with ROUNDS rounds in each."
  (setv c (conversation.create "/" :provider "p" :model "m" :effort None))
  (for [s (range segments)]
    (when s
      (conversation.append c {"kind" "summary" "through_seq" c.seq "content" "what was"} :sync False))
    (for [n (range rounds)]
      (conversation.append-all c (round-of (+ n (* s rounds))) :sync False)))
  (conversation.close c)
  c.id)

(defn resume [id]
  "Open, project and close the conversation ID."
  (setv c (conversation.open-conversation id))
  (conversation.items c)
  (conversation.close c))

(defn newest-segment [id]
  "Return the path of the newest segment of the conversation ID."
  (segment.path id (get (segment.starts id) -1)))

(defn fill [id]
  "Make many copies of the newest segment of the conversation ID under other ids."
  (with [f (open (newest-segment id) "rb")] (setv data (.read f)))
  (for [n (range MANY)]
    (setv name f"9bench{n :04d}")
    (os.makedirs (segment.folder name))
    (with [f (open (segment.path name 1) "wb")] (.write f data))))

(defn read-ends []
  "Read of each conversation the first and the last bytes of its newest segment, and nothing else."
  (for [entry (os.scandir (segment.root))]
    (setv path (newest-segment entry.name))
    (with [f (open path "rb")]
      (.read f 4096)
      (.seek f (max 0 (- (os.path.getsize path) 65536)))
      (.read f))))

(defn main []
  "Print every row; return 1 if a budget was not kept."
  (with [folder (tempfile.TemporaryDirectory)]
    (for [kind ["CONFIG" "DATA" "STATE" "CACHE"]]
      (setv (get os.environ f"XDG_{kind}_HOME") (os.path.join folder kind)))
    (setv long (conversation-of 1 2000)
          longer (conversation-of 10 200)
          short (conversation-of 1 200)
          size (/ (os.path.getsize (newest-segment long)) 1e6)
          kept [(measure.report f"resume of {size :.0f} MB in one segment" (fn [] (resume long))
                              (fn [] (log.read (newest-segment long))) 1.5 3)
                (measure.report "resume of ten segments, against one" (fn [] (resume longer))
                              (fn [] (resume short)) 1.3 7)])
    (fill (conversation-of 1 12))
    (.append kept (measure.report f"list of {MANY} conversations" (fn [] (conversation.listing None)) read-ends 6 3)))
  (int (not (all kept))))

(when (= __name__ "__main__")
  (sys.exit (main)))
