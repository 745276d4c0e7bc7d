"A scripted provider on a real socket: it speaks all three wires, answers from a script and refuses bad requests.

    (import tests.doubles [scripted])
    (with [server (scripted.Server [[(scripted.reasoning \"hm\") (scripted.calls \"resource_read\" {\"uri\" \"workspace:.\"})]
                                    (scripted.answer \"All done.\")])]
      (setv form (server.provider \"responses\"))      ; a provider form; also chat-completions, anthropic-messages
      ...                                            ; send requests with it
      (assert (= (len server.requests) 2)))

Each request takes the next TURN of the script, whichever wire it comes by (the end of its path tells). A turn is a part, a
list of parts, or a function of the request's body that gives one of those. Parts, in the order in which they are sent:

    (answer text)             text, in word-sized deltas; :pieces [..] says which; :phase for Responses
    (calls name args ...)     tool calls; args a map, or a string that is sent as it is. (call name args :id id) is one
    (reasoning text)          thinking, signed with a hash; :signed False without
    (refusal text)            a refusal
    (usage :input n ...)      input cached output reasoning; else 100 0 20 0
    (limit)                   the response ends at its token limit; a call just before it is cut in its arguments
    (pause)                   pause_turn (Anthropic)
    (fault kind message)      an error event inside the stream, which ends there
    (cut)                     the connection breaks here, an item just before it unfinished; :clean True ends the body in good order
    (stall)                   nothing more is sent until the client goes away or the server stops; an item just before it unfinished
    (slow seconds)            from here on, that long between any two events
    (error status body headers)   an HTTP error (BODY a map or a string; None: the wire's own shape)
    (compacted)               what /responses/compact answers: the user's messages of the request and a compaction item
    (page text)               an HTML page with status 200
    (recorded path)           the bytes of a recorded stream

SERVER has `base-url`, `requests` (maps \"path\" \"headers\" (names in lower case) \"wire\" \"body\" \"data\" its bytes \"time\"),
`problems`, `disconnects` (how often a client went away in the middle) and `(provider wire)`. It is strict (see `strict.hy`):
a request that a real provider would refuse is
answered 400 with the reason, noted in `problems`, and raised as AssertionError when the `with` ends; a test that provokes
one empties `problems`. A request beyond the end of the script is a problem too."

(import
  http.server [BaseHTTPRequestHandler ThreadingHTTPServer]
  json
  re
  select
  socket
  threading
  time
  tests.doubles [strict wires])


;; * Parts

(defn answer [text * [pieces None] [phase None]]
  "Return the part that answers with TEXT."
  {"part" "text" "pieces" (or pieces (words text)) "phase" phase})

(defn call [name arguments * [id None]]
  "Return the part that calls NAME with ARGUMENTS, a map or the raw text."
  {"part" "call" "name" name "id" id
   "text" (if (isinstance arguments str) arguments (json.dumps arguments))})

(defn calls [#* pairs]
  "Return parts for calls from PAIRS: name, arguments, name, arguments ... (or one list of those)."
  (setv flat (if (and (= (len pairs) 1) (isinstance (get pairs 0) list)) (get pairs 0) pairs))
  (lfor i (range 0 (len flat) 2)
        (call (get flat i) (get flat (+ i 1)))))

(defn reasoning [text * [signed True]]
  "Return the part that thinks TEXT."
  {"part" "reasoning" "pieces" (words text) "signed" signed})

(defn refusal [text]
  "Return the part that refuses with TEXT."
  {"part" "refusal" "pieces" (words text)})

(defn usage [* [input 100] [cached 0] [output 20] [reasoning 0]]
  "Return the part that sets the usage."
  {"part" "usage" "usage" {"input" input "cached" cached "output" output "reasoning" reasoning}})

(defn limit []
  "Return the part that ends the response at its token limit."
  {"part" "limit"})

(defn pause []
  "Return the part that ends the response as paused."
  {"part" "pause"})

(defn fault [kind message]
  "Return the part that sends an error event of KIND with MESSAGE."
  {"part" "fault" "kind" kind "message" message})

(defn cut [* [clean False]]
  "Return the part that breaks the connection, or if CLEAN ends the body in good order."
  {"part" "cut" "clean" clean})

(defn stall []
  "Return the part that stays silent with the connection open."
  {"part" "stall"})

(defn slow [seconds]
  "Return the part that waits SECONDS before each later event."
  {"part" "slow" "seconds" seconds})

(defn error [status [body None] [headers None]]
  "Return the part that answers with the HTTP STATUS, BODY and HEADERS."
  {"part" "error" "status" status "body" body "headers" (or headers {})})

(defn page [text * [status 200] [content-type "text/html"]]
  "Return the part that answers with a page instead of events."
  {"part" "error" "status" status "body" text "headers" {"content-type" content-type}})

(defn compacted []
  "Return the part that compacts the history of a request to /responses/compact."
  {"part" "compacted"})

(defn recorded [path]
  "Return the part that sends the recorded stream in the file PATH."
  (with [f (open path "rb")]
    {"part" "bytes" "bytes" (.read f)}))

(defn words [text]
  "Return TEXT cut after each run of blanks."
  (re.findall r"\S*\s*" text))


;; * From a turn to frames

(defn flatten [turn body]
  "Return the list of the parts of TURN, asking it with BODY if it is a function."
  (cond
    (callable turn) (flatten (turn body) body)
    (isinstance turn dict) [turn]
    True (lfor entry turn part (flatten entry body) part)))

(defn frames [writer parts name-call]
  "Yield what WRITER sends for PARTS: frames, numbers of seconds to wait from then on, and the parts `cut` and `stall`."
  (setv counts (next (gfor p parts :if (= (:part p) "usage") (:usage p)) (:usage (usage))))
  (yield :from (writer.begin counts))
  (for [[part after] (zip parts [#* (cut-first parts) None])]
    (setv end (if after (:part after) None)
          whole (not-in end ["cut" "stall" "fault"]))
    (match (:part part)
      "text" (yield :from (writer.text (pieces-of part) whole (:phase part)))
      "reasoning" (yield :from (writer.reasoning (pieces-of part) whole (:signed part)))
      "refusal" (yield :from (writer.refusal (pieces-of part) whole))
      "call" (yield :from (writer.call (or (:id part) (name-call)) (:name part) (call-pieces part end) (and whole (!= end "limit"))))
      "fault" (do (yield :from (writer.fault (:kind part) (:message part)))
                  (return))
      "slow" (yield (:seconds part))
      "bytes" (do (yield (:bytes part))
                  (return))
      (| "cut" "stall") (do (yield part)
                            (return))
      _ None))
  (setv ends (lfor p parts :if (in (:part p) ["limit" "pause"]) (:part p)))
  (yield :from (writer.end (if ends (get ends 0) None) counts)))

(defn cut-first [parts]
  "Return PARTS without the first."
  (list (get parts (slice 1 None))))

(defn pieces-of [part]
  "Return the pieces of PART that are not empty."
  (lfor p (:pieces part) :if p p))

(defn call-pieces [part end]
  "Return the arguments of the call PART in pieces; only the first half of them when END cuts the call."
  (setv text (:text part))
  (when (in end ["limit" "cut" "stall"])
    (setv text (get text (slice 0 (// (+ (len text) 1) 2)))))
  (lfor i (range 0 (len text) 7) (get text (slice i (+ i 7)))))


;; * The server

(setv WIRES {"/responses/compact" "compact" "/responses" "responses" "/chat/completions" "chat-completions" "/messages" "anthropic-messages"})

(defn wire-of [path]
  "Return the wire that PATH belongs to, or None."
  (next (gfor [end wire] (.items WIRES) :if (.endswith (get (.split path "?") 0) end) wire) None))

(defn error-body [wire status message]
  "Return the error object of WIRE for STATUS and MESSAGE."
  (setv kind (.get {400 "invalid_request_error" 401 "authentication_error" 404 "not_found_error" 429 "rate_limit_error"
                    529 "overloaded_error"}
                   status "api_error"))
  (if (= wire "anthropic-messages")
      {"type" "error" "error" {"type" kind "message" message} "request_id" "req_scripted"}
      {"error" {"message" message "type" kind "param" None "code" None}}))


(defclass Handler [BaseHTTPRequestHandler]
  "Answer requests from the script of the server's owner."
  (setv protocol-version "HTTP/1.1"
        disable-nagle-algorithm True
        wbufsize 0)

  (defn log-message [self #* _arguments]
    "Print nothing."
    None)

  (defn do-GET [self]
    "Answer a request for models."
    (self.whole 200 {"object" "list" "data" [{"id" "scripted" "object" "model"}] "models" [{"name" "scripted"}]} {}))

  (defn do-POST [self]
    "Take the next turn and send it."
    (setv owner self.server.owner
          length (int (.get self.headers "content-length" 0))
          body (self.rfile.read length))
    (when (< (len body) length)            ; the client left before it had asked
      (+= owner.disconnects 1)
      (setv self.close-connection True)
      (return))
    (setv [wire parts] (owner.take self.path (dfor [k v] (.items self.headers) (.lower k) v) body))
    (try
      (setv kind (when parts (:part (get parts 0))))
      (cond
        (= kind "error") (self.failure wire (get parts 0))
        (and (= wire "compact") (= kind "stall")) (self.be-silent owner)
        (= wire "compact") (self.whole 200 (wires.compaction (:body (get owner.requests -1)) (len owner.requests)) {})
        True (self.stream wire parts owner))
      (except [[ConnectionError TimeoutError]]
        (+= owner.disconnects 1)
        (setv self.close-connection True))))

  (defn failure [self wire part]
    "Send the HTTP error or page PART."
    (setv body (:body part))
    (self.whole (:status part)
                (if (is body None) (error-body wire (:status part) "scripted failure") body)
                (:headers part)))

  (defn whole [self status body headers]
    "Send BODY (a map: as JSON) with STATUS and HEADERS."
    (setv data (.encode (if (isinstance body str) body (json.dumps body)))
          headers {"content-type" "application/json" #** headers})
    (self.send-response status)
    (for [[name value] (.items headers)]
      (self.send-header name (str value)))
    (self.send-header "content-length" (str (len data)))
    (self.end-headers)
    (self.wfile.write data))

  (defn stream [self wire parts owner]
    "Send PARTS as a stream of events."
    (self.send-response 200)
    (self.send-header "content-type" "text/event-stream; charset=utf-8")
    (self.send-header "x-request-id" f"req_{(len owner.requests)}")
    (self.send-header "transfer-encoding" "chunked")
    (self.end-headers)
    (setv pause 0
          model (.get (:body (get owner.requests -1)) "model" "scripted")
          writer ((get wires.WRITERS wire) model (len owner.requests)))
    (for [entry (frames writer parts owner.name-call)]
      (match entry
        (str) (self.chunk (.encode entry "utf-8" "surrogatepass") pause owner)
        (bytes) (self.chunk entry pause owner)
        {"part" "cut"} (return (self.break-off (:clean entry)))
        {"part" "stall"} (return (self.be-silent owner))
        _ (setv pause entry)))
    (self.wfile.write b"0\r\n\r\n"))

  (defn chunk [self data pause owner]
    "Send DATA as one chunk after PAUSE seconds."
    (when pause
      (.wait owner.stopping pause))
    (self.wfile.write (+ (.encode f"{(len data) :x}\r\n") data b"\r\n")))

  (defn break-off [self clean]
    "End the connection, in good order if CLEAN."
    (when clean
      (self.wfile.write b"0\r\n\r\n"))
    (setv self.close-connection True)
    (when (not clean)
      (self.connection.shutdown socket.SHUT-RDWR)))

  (defn be-silent [self owner]
    "Wait until the client closes the connection or the server stops."
    (while (not (.is-set owner.stopping))
      (setv [readable _ _] (select.select [self.connection] [] [] 0.02))
      (when (and readable (not (self.connection.recv 1 socket.MSG-PEEK)))
        (+= owner.disconnects 1)
        (break)))
    (setv self.close-connection True)))


(defclass Listener [ThreadingHTTPServer]
  "A threaded server that keeps quiet about clients that leave."
  (setv daemon-threads True
        block-on-close False
        request-queue-size 64)

  (defn handle-error [self request address]
    "Say nothing."
    None))


(defclass Server []
  "Serve the script TURNS while the `with` lasts; STRICT False takes any request."

  (defn __init__ [self turns * [strict True]]
    (setv self.turns (list turns)
          self.strict strict
          self.requests []
          self.problems []
          self.disconnects 0
          self.stopping (threading.Event)
          self.lock (threading.Lock)
          self.call-count 0
          self.listener (Listener #("127.0.0.1" 0) Handler)
          self.listener.owner self
          self.base-url f"http://127.0.0.1:{(get self.listener.server-address 1)}"))

  (defn __enter__ [self]
    (setv self.thread (threading.Thread :target (fn [] (self.listener.serve-forever 0.02)) :daemon True))
    (.start self.thread)
    self)

  (defn __exit__ [self kind value trace]
    (.set self.stopping)
    (.shutdown self.listener)
    (.server-close self.listener)
    (when (and (is kind None) self.problems)
      (raise (AssertionError (+ "the scripted provider refused: " (.join "; " self.problems)))))
    False)

  (defn provider [self wire #** more]
    "Return a provider form for WIRE that leads here, with the fields MORE."
    {"name" "scripted" "wire" wire "base_url" self.base-url "key_variable" None "base_url_variable" None "headers" {}
     "quirks" {} "models" ["scripted"] "default_model" "scripted" #** more})

  (defn add [self #* turns]
    "Append TURNS to the script."
    (with [_ self.lock]
      (.extend self.turns turns)))

  (defn name-call [self]
    "Return a fresh call id."
    (with [_ self.lock]
      (+= self.call-count 1)
      f"call_{self.call-count}"))

  (defn take [self path headers data]
    "Note the request and return its wire and the parts of the next turn."
    (setv wire (wire-of path))
    (try
      (setv body (json.loads (.decode data "utf-8")))
      (except [e ValueError]
        (setv body {} wire (or wire "responses"))
        (return #(wire (self.refuse f"the body is no JSON: {e}" wire path headers body)))))
    (when (is wire None)
      (return #("responses" (self.refuse f"unknown path {path}" wire path headers body 404))))
    (setv complaints (if self.strict (strict.check wire headers body) []))
    (when complaints
      (return #(wire (self.refuse (.join "; " complaints) wire path headers body))))
    (self.note wire path headers body data)
    (with [_ self.lock]
      (setv turn (when self.turns (.pop self.turns 0))))
    (when (is turn None)
      (.append self.problems "a request beyond the end of the script")
      (return #(wire [(error 400 (error-body wire 400 "the script has no more turns"))])))
    (setv parts (flatten turn body))
    (when (and (or (= wire "compact") (in (compacted) parts)) (not-in (:part (get parts 0)) ["error" "stall"])
               (not (and (= wire "compact") (= parts [(compacted)]))))
      (.append self.problems f"the script has {parts} for {path}")
      (return #(wire [(error 400 (error-body wire 400 "the script has another turn here"))])))
    #(wire parts))

  (defn note [self wire path headers body [data b""]]
    "Keep what was asked."
    (.append self.requests {"path" path "headers" headers "wire" wire "body" body "data" data "time" (time.time)}))

  (defn refuse [self reason wire path headers body [status 400]]
    "Note REASON as a problem and return the parts that say so."
    (self.note wire path headers body)
    (.append self.problems reason)
    [(error status (error-body wire status reason))]))
