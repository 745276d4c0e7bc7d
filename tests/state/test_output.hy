"The output store: by content, private, and pruned by the settings."

(import
  os
  stat
  subprocess
  sys
  pytest
  hypothesis [HealthCheck given settings :as with-settings strategies :as st]
  autolith.base [paths]
  autolith.state [output settings])

(defn digest-of [uri]
  "Return the digest in URI."
  (.removeprefix uri output.SCHEME))

(defn content [uri]
  "Return the text stored under URI."
  (with [f (open (output.path (digest-of uri)) :encoding "utf-8" :newline "")] (.read f)))

(defn [(with-settings :max-examples 60 :deadline None :suppress-health-check [HealthCheck.function-scoped-fixture]) (given (st.text))]
  test-round-trip [text]
  "Every text comes back from its URI, the same text has the same one."
  (setv uri (output.store text))
  (assert (= (content uri) text))
  (assert (= (output.store text) uri)))

(defn test-private []
  "Stored outputs and their folder are the owner's alone, whatever the umask."
  (setv before (os.umask 0))
  (try
    (setv path (output.path (digest-of (output.store "secret"))))
    (finally (os.umask before)))
  (assert (= (stat.S-IMODE (. (os.stat path) st-mode)) 0o600))
  (assert (= (stat.S-IMODE (. (os.stat (os.path.dirname path)) st-mode)) 0o700)))

(defn test-unencodable []
  "A text that UTF-8 cannot hold is stored all the same."
  (assert (in "ud800" (content (output.store "a\ud800b")))))

(defn test-other-process []
  "Another process finds the output, after this one is gone too."
  (setv code #[[(do (import autolith.state [output]) (print (output.store "from afar")))]]
        done (subprocess.run [(os.path.join sys.prefix "bin" "python") "-m" "hy" "-c" code] :capture-output True :text True
                             :cwd (os.path.dirname (os.path.dirname (os.path.dirname __file__)))
                             :env {#** os.environ "PYTHONPATH" "."}))
  (assert (= (content (.strip done.stdout)) "from afar")))

(defn aged [text days]
  "Store TEXT as if DAYS ago; return its digest."
  (setv digest (digest-of (output.store text)) path (output.path digest)
        then (- (. (os.stat path) st-mtime) (* days 86400)))
  (os.utime path #(then then))
  digest)

(defn test-prune-by-age []
  "What is older than the setting goes, and its absence is explained; the rest stays."
  (setv old (aged "old" 40) young (aged "young" 20))
  (assert (= (output.prune) [old]))
  (assert (output.path young))
  (with [e (pytest.raises output.NoOutput)] (output.path old))
  (assert (in "pruned" e.value.message))
  (with [e (pytest.raises output.NoOutput)] (output.path (* "0" 24)))
  (assert (not-in "pruned" e.value.message)))

(defn test-prune-by-size []
  "When outputs take more than the setting, the oldest go first."
  (setv digests (lfor i (range 4) (aged (* (str i) 1000) (- 10 i))))
  (settings.put "output-retention-bytes" 2500)
  (try
    (assert (= (set (output.prune)) (set (cut digests 2))))
    (finally (settings.put "output-retention-bytes" None)))
  (assert (= (get (output.total) "files") 2)))

(defn test-storing-again-renews []
  "An output that is stored again counts as new."
  (setv digest (aged "again" 40))
  (output.store "again")
  (assert (= (output.prune) [])))

(defn test-pruned-and-stored-again []
  "What was pruned and is stored again is there again."
  (setv digest (aged "back" 40))
  (output.prune)
  (output.store "back")
  (assert (output.path digest)))

(defn test-storing-prunes [monkeypatch]
  "Storing prunes now and then, but never what was just stored."
  (setv old (aged "old" 40))
  (monkeypatch.setitem output._last-prune "time" 0.0)
  (output.store "new")
  (with [(pytest.raises output.NoOutput)] (output.path old)))

(defn test-leftovers []
  "What a writer that died left behind goes after a day."
  (output.store "x")
  (setv spare (os.path.join (output.folder) "0123.tmp"))
  (with [f (open spare "w")] (.write f "half"))
  (output.prune)
  (assert (os.path.exists spare))
  (os.utime spare #(1 1))
  (output.prune)
  (assert (not (os.path.exists spare))))
