"What a summary is made from: the transcript that a model is given, and the facts that the program states by itself.

Facts are a map {\"messages\" \"files\" \"outputs\" \"unknown\" \"returned\" \"broken\" \"sections\"}: the user's last messages as
{\"content\" \"images\"}, URIs changed by resource.edit, stored outputs that are still there, calls whose outcome is unknown, what the
last calls returned, how far the last answer came, and [name text] of each registered section. `carry` registers a section, a
function of the conversation that gives text or None: plans, goals, jobs state there what is open and what is over."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))
(import
  json
  re
  autolith.base [text]
  autolith.image [registries]
  autolith.state [conversation output projection]
  autolith.tool [call-form registry])

(defonce sections {} "Name: function of a conversation that gives what a summary must state of it, or None.")
(defparameter message-limit 12000 "How many characters of one message the transcript shows.")
(defparameter result-limit 3000 "How many characters of one result the transcript shows.")
(defparameter arguments-limit 1500 "How many characters of a call's arguments the transcript shows.")
(defparameter carried-files 100 "How many changed files a summary names, the newest.")
(defparameter carried-outputs 30 "How many stored outputs a summary names, the newest.")
(defparameter returned-limit 8000 "How many characters of what the last calls returned a summary repeats.")

(setv URI (re.compile r"output:[0-9a-f]{24}"))

;; * The transcript

(defn transcript [c room]
  "Return what happened in the conversation C as text of about ROOM characters: the beginning and the end where it has more."
  (.join "\n\n" (fit (entries (history c)) room)))

(defn history [c [items None]]
  "Return the items of C (ITEMS, where they are at hand) but for those messages at its end that `last-messages` keeps whole, and
for what only a provider can read of a summary."
  (setv own (sfor item (native c) (id item))
        items (lfor item (if (is items None) (conversation.items c) items) :if (not-in (id item) own) item))
  (for [_ (last-messages c {})]
    (when (and items (= (.get (get items -1) "role") "user") (not (summary? (get items -1))))
      (.pop items)))
  items)

(defn native [c]
  "Return the items of a provider's own compaction with which the history of C begins."
  (lfor record c.records
        :if (= (get record "kind") "summary")
        item (or (.get record "native") [])
        item))

(defn summary? [item]
  "Tell whether ITEM, a message, stands for what was before."
  (setv content (.get item "content"))
  (and content (= (.get (get content 0) "text") projection.summary-bridge)))

(defn entries [items]
  "Return the text of each of ITEMS that says something."
  (list (filter None (map entry items))))

(defn entry [item]
  "Return ITEM as a paragraph of the transcript, or None."
  (match (.get item "type")
    "message" (if (summary? item)
                (+ "[summary of what was before]\n" (blocks-text (cut (get item "content") 1 None)))
                f"[{(get item "role")}]\n{(text.bounded (blocks-text (get item "content")) message-limit)}")
    "function_call" f"[call {(tool-name item)}]\n{(text.bounded (arguments-text item) arguments-limit)}"
    "function_call_output" (.format "[result, {}]\n{}" (if (.get item "ok") "ok" "failed")
                                    (text.bounded (blocks-text (get item "content")) result-limit))
    "hosted" f"[the provider's own tool]\n{(text.bounded (json.dumps (.get item "raw") :default str) arguments-limit)}"
    _ None))

(defn blocks-text [content]
  "Return the text of the blocks CONTENT; images are named."
  (if (isinstance content str)
    content
    (.join "\n" (gfor b content
                      (if (= (.get b "type") "image") (or (.get b "label") "[image]") (.get b "text" ""))))))

(defn tool-name [item]
  "Return the name by which the tool of the call ITEM goes."
  (setv tool (registry.find (.get item "name" "")))
  (if tool tool.name (.get item "name" "")))

(defn arguments-text [item]
  "Return the arguments of the call ITEM as text."
  (if (in "arguments" item)
    (json.dumps (get item "arguments") :ensure-ascii False :default str)
    (.get item "arguments_text" "")))

(defn fit [paragraphs room]
  "Return PARAGRAPHS of about ROOM characters: all, or the first fifth and the last of them around a word about the rest."
  (when (<= (sum (map len paragraphs)) room)
    (return paragraphs))
  (setv paragraphs (lfor p paragraphs (text.bounded p (max 400 (// room 4))))
        head (leading paragraphs (// room 5))
        tail (list (reversed (leading (list (reversed (cut paragraphs (len head) None))) (- room (// room 5)))))
        left (- (len paragraphs) (len head) (len tail)))
  [#* head #* (if left [f"[{left} entries are left out here]"] []) #* tail])

(defn leading [paragraphs room]
  "Return as many of the first PARAGRAPHS as have room in ROOM characters."
  (setv out [])
  (for [p paragraphs]
    (-= room (len p))
    (when (< room 0)
      (break))
    (.append out p))
  out)

;; * The facts

(defn carry [name f]
  "State in every summary, under NAME, what F says of the conversation; F gives text or None. Return F."
  (setv (get sections name) f)
  f)

(defn facts [c]
  "Return what the program itself knows of the conversation C and a summary must not lose."
  (setv before (or (next (gfor r c.records :if (= (get r "kind") "summary") r) None) {}))
  {"messages" (last-messages c before)
   "files" (cut (newest-last (+ (.get before "files" []) (edited c))) (- carried-files) None)
   "outputs" (cut (lfor uri (newest-last (+ (.get before "outputs" []) (mentioned c))) :if (kept? uri) uri)
                  (- carried-outputs) None)
   "unknown" (cut (lfor r c.records :if (.get r "unknown") (call-words c (get r "call_id"))) -20 None)
   "returned" (returned c)
   "broken" (broken-answer c)
   "sections" (stated c)})

(defn newest-last [names]
  "Return the distinct NAMES in the order in which each came last."
  (list (reversed (dict.fromkeys (reversed names)))))

(defn last-messages [c before]
  "Return the user's last message in C and what steered after it, or what the summary BEFORE kept."
  (setv found [])
  (for [record c.records]
    (when (= (get record "kind") "message")
      (when (not (.get record "steering"))
        (.clear found))
      (.append found record)))
  (when (or (not found) (.get (get found 0) "steering"))
    (setv found [#* (.get before "messages" []) #* found]))
  (lfor r found {"content" (get r "content") #** (if (.get r "images") {"images" (get r "images")} {})}))

(defn calls-of [c]
  "Return the calls among the records of C by id."
  (dfor r c.records
        :setv item (.get r "item")
        :if (and (isinstance item dict) (= (.get item "type") "function_call"))
        (get item "call_id") item))

(defn edited [c]
  "Return the URIs that calls of resource.edit changed in C, the model's and those that the user typed."
  (setv calls (calls-of c)
        uris [])
  (for [record c.records]
    (match (get record "kind")
      "result" (when (.get record "ok")
                 (.extend uris (edit-targets (.get calls (.get record "call_id") {}))))
      "user-operation" (.extend uris (typed-edit record))
      _ None))
  uris)

(defn edit-targets [item]
  "Return the URIs that the call ITEM edits, if it is one of resource.edit."
  (setv arguments (.get item "arguments"))
  (if (and (= (.get item "name") "resource_edit") (isinstance arguments dict))
    (lfor change [arguments #* (or (.get arguments "also") [])]
          :if (and (isinstance change dict) (isinstance (.get change "uri") str))
          (get change "uri"))
    []))

(defn typed-edit [record]
  "Return the URIs that the form of RECORD, an operation of the user's, edited."
  (setv source (or (.get record "source") ""))
  (if (and (= (.get record "status") "ok") (in "resource.edit" source))
    (do (setv [name arguments] (or (call-form.literal-call source) #("" {})))
        (edit-targets {"name" (.replace name "." "_") "arguments" arguments}))
    []))

(defn mentioned [c]
  "Return the URIs of stored outputs that the records of C mention, in order."
  (lfor r c.records
        :if (in (get r "kind") ["message" "item" "result"])
        uri (.findall URI (json.dumps (dfor k ["content" "item" "text"] :if (in k r) k (get r k)) :default str))
        uri))

(defn kept? [uri]
  "Tell whether the stored output URI can still be read."
  (try
    (bool (output.path (.removeprefix uri output.SCHEME)))
    (except [output.NoOutput] False)))

(defn call-words [c id]
  "Return the call ID of C as one line."
  (setv item (.get (calls-of c) id {}))
  f"{(tool-name item)} {(text.one-line (arguments-text item) 300)}")

(defn returned [c]
  "Return what the calls of the newest response in C returned, which the model has not taken up yet, as text."
  (setv out [])
  (for [record (reversed c.records)]
    (match (get record "kind")
      "result" (.append out record)
      (| "item" "usage" "message" "summary") (break)
      _ None))
  (setv each (// returned-limit (max 1 (len out))))
  (.join "\n\n" (gfor r (reversed out)
                      f"{(call-words c (get r "call_id"))}\n{(text.bounded (or (.get r "text") "") (max 300 each))}")))

(defn broken-answer [c]
  "Return how far the answer came that broke off last in C, or an empty text."
  (setv last (next (gfor r (reversed c.records) :if (in (get r "kind") ["failure" "usage" "summary"]) r) {}))
  (text.bounded (or (.get last "partial") "") 4000))

(defn stated [c]
  "Return [name text] of each registered section that has something to say of C; one that fails says that."
  (setv out [])
  (for [[name f] (.items sections)]
    (try
      (setv said (f c))
      (except [e Exception]
        (setv said f"(this could not be told: {(. (type e) __name__)}: {e})")))
    (when said
      (.append out [name (text.bounded (str said) 6000)])))
  out)

(defn render [facts]
  "Return FACTS, but for the user's messages, as the text that follows a model's summary."
  (.join "\n\n"
    (filter None
      [#* (lfor [name said] (get facts "sections") f"{name}:\n{said}")
       (listed "Files changed with resource.edit" (get facts "files"))
       (listed "Stored outputs that resource.read can still read" (get facts "outputs"))
       (listed "Calls whose outcome is unknown; inspect before repeating one" (get facts "unknown"))
       (titled "Your last answer broke off; the user has seen this much of it" (get facts "broken"))
       (titled "What the last calls returned" (get facts "returned"))])))

(defn listed [title names]
  "Return NAMES as a list under TITLE, or None if there are none."
  (when names
    (.join "\n" [f"{title}:" #* (lfor n names f"- {n}")])))

(defn titled [title said]
  "Return SAID under TITLE, or None if it is empty."
  (when said
    f"{title}:\n{said}"))

(defn snapshot []
  "Return the registered sections, for `restore`."
  (dict sections))

(defn restore [before]
  "Bring the registered sections back to the snapshot BEFORE."
  (.clear sections)
  (.update sections before))

(registries.register "handoff" snapshot restore)
