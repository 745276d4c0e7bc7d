"A server that lists models, to those who have the key; on a real socket."

(import
  json
  threading
  http.server [BaseHTTPRequestHandler ThreadingHTTPServer])

(defclass Server []
  "Lists MODELS, ids or maps, to who has KEY (None: to all) as a bearer or x-api-key; PAGES are other answers by path: a value or bytes."

  (defn __init__ [self key models [pages None] [delay 0]]
    (setv self.key key self.models models self.pages (or pages {}) self.delay delay self.paths [] self.headers []))

  (defn __enter__ [self]
    (setv outer self)
    (defclass Handler [BaseHTTPRequestHandler]
      (defn log-message [self #* _] None)
      (defn do-GET [self] (outer.serve self)))
    (setv self.http (ThreadingHTTPServer #("127.0.0.1" 0) Handler)
          self.root f"http://127.0.0.1:{(get self.http.server-address 1)}"
          self.url (+ self.root "/v1"))
    (.start (threading.Thread :target self.http.serve-forever :args #(0.02) :daemon True))
    self)

  (defn __exit__ [self #* _]
    (.shutdown self.http)
    (.server-close self.http)
    None)

  (defn serve [self handler]
    "Answer the request of HANDLER."
    (import time)
    (time.sleep self.delay)
    (.append self.paths handler.path)
    (.append self.headers (dict handler.headers))
    (setv given (or (.get handler.headers "x-api-key") (.removeprefix (.get handler.headers "authorization" "") "Bearer "))
          [status value] (cond
            (in handler.path self.pages) #(200 (get self.pages handler.path))
            (not (.startswith handler.path "/v1/models")) #(404 {"error" {"message" "no such page"}})
            (and self.key (!= given self.key)) #(401 {"error" {"message" "Incorrect API key provided" "type" "invalid_request_error"}})
            True #(200 {"object" "list" "data" (lfor m self.models (if (isinstance m str) {"id" m "object" "model"} m))}))
          body (if (isinstance value bytes) value (.encode (json.dumps value))))
    (.send-response handler status)
    (.send-header handler "Content-Type" "application/json")
    (.send-header handler "Content-Length" (str (len body)))
    (.end-headers handler)
    (try (.write handler.wfile body) (except [OSError]))
    None))
