"Where keys are kept: the private file, the system keyring when there is one, and what happens when either misbehaves."

(import
  os
  pathlib [Path]
  sys
  threading
  types
  pytest
  autolith.base [paths]
  autolith.provider [credentials keyring-store registry])

(setv KEY "sk-kept-0123456789abcdef")

(defn [(pytest.fixture :autouse True)] clean []
  "Begin and end without keys."
  (credentials.forget)
  (.clear keyring-store._fetched)
  (yield)
  (credentials.forget)
  (.clear keyring-store._fetched))

(setv RING "import json, os
class Ring:
    priority = float(os.environ.get('RING_PRIORITY', '5'))
def get_keyring():
    return Ring()
def _all():
    try:
        return json.load(open(os.environ['RING_FILE']))
    except FileNotFoundError:
        return {}
def _check():
    if os.environ.get('RING_LOCKED'):
        raise RuntimeError('the collection is locked')
def set_password(service, name, value):
    _check()
    json.dump({**_all(), service + ' ' + name: value}, open(os.environ['RING_FILE'], 'w'))
def get_password(service, name):
    _check()
    return _all().get(service + ' ' + name)
def delete_password(service, name):
    json.dump({k: v for k, v in _all().items() if k != service + ' ' + name}, open(os.environ['RING_FILE'], 'w'))
")

(defn [pytest.fixture] ring [tmp-path monkeypatch]
  "A package `keyring` that keeps what it is given in a file."
  (.write-text (/ tmp-path "keyring.py") RING)
  (monkeypatch.syspath-prepend (str tmp-path))
  (monkeypatch.setenv "RING_FILE" (str (/ tmp-path "ring.json")))
  (.pop sys.modules "keyring" None)
  (yield (/ tmp-path "ring.json"))
  (.pop sys.modules "keyring" None))

(defn test-file []
  "Without a keyring the key is in a private file, found by every provider of that variable, and gone when forgotten."
  (assert (in "credentials.hy" (keyring-store.keep "OPENAI_API_KEY" "key" KEY)))
  (assert (= (& (. (os.stat (keyring-store.path)) st-mode) 0o777) 0o600))
  (for [name ["openai" "openai-chat"]]
    (assert (= (credentials.key (registry.find name)) KEY)))
  (assert (= (credentials.redact KEY) "[redacted]"))
  (assert (keyring-store.drop "OPENAI_API_KEY"))
  (assert (not (keyring-store.drop "OPENAI_API_KEY")))
  (assert (is (credentials.key (registry.find "openai")) None)))

(defn test-keyring [ring]
  "With a keyring the file holds no value, and to see that there is a key the keyring is not asked."
  (assert (in "keyring" (keyring-store.keep "OPENAI_API_KEY" "key" KEY)))
  (assert (in KEY (.read-text ring)))
  (assert (not-in KEY (.read-text (Path (keyring-store.path)))))
  (.clear keyring-store._fetched)
  (.pop sys.modules "keyring" None)
  (assert (= (credentials.source (registry.find "openai")) "kept"))
  (assert (not-in "keyring" sys.modules))
  (assert (= (credentials.key (registry.find "openai")) KEY))
  (keyring-store.drop "OPENAI_API_KEY")
  (assert (not-in KEY (.read-text ring))))

(defn test-keyring-that-fails [ring monkeypatch]
  "A locked keyring, and one that has lost the key, are told in a sentence; one that is no real one is not used."
  (keyring-store.keep "OPENAI_API_KEY" "key" KEY)
  (.clear keyring-store._fetched)
  (monkeypatch.setenv "RING_LOCKED" "1")
  (with [e (pytest.raises keyring-store.NotKept)]
    (credentials.key (registry.find "openai")))
  (assert (in "locked" (str e.value)))
  (monkeypatch.delenv "RING_LOCKED")
  (.unlink ring)
  (with [_ (pytest.raises keyring-store.NotKept)]
    (credentials.key (registry.find "openai")))
  (monkeypatch.setenv "RING_PRIORITY" "-1")
  (.pop sys.modules "keyring" None)
  (assert (in "credentials.hy" (keyring-store.keep "OPENAI_API_KEY" "key" KEY))))

(defn test-wanted-place [ring monkeypatch]
  "The user can say that keys go into the file, or into nothing but a keyring."
  (monkeypatch.setattr keyring-store "place" "file")
  (assert (in "credentials.hy" (keyring-store.keep "A" "key" KEY)))
  (monkeypatch.setattr keyring-store "place" "keyring")
  (monkeypatch.setenv "RING_PRIORITY" "0")
  (.pop sys.modules "keyring" None)
  (with [_ (pytest.raises keyring-store.NotKept)]
    (keyring-store.keep "A" "key" KEY)))

(defn test-written-by-others [tmp-path]
  "What another process keeps is seen at once, and two that write at once lose nothing."
  (defn write [n] (for [i (range 5)] (keyring-store.keep f"K{n}-{i}" "key" f"value-{n}-{i}")))
  (setv threads (lfor n (range 3) (threading.Thread :target write :args #(n))))
  (for [t threads] (.start t))
  (for [t threads] (.join t))
  (assert (= (len (keyring-store.entries)) 15)))

(defn [(pytest.mark.parametrize "content" ["" "{:version 1" "7" "{:kept 5}" "{:version 1 :kept {\"A\" 7}}"])] test-damaged [content]
  "A damaged file is no key and a sentence; keeping one mends it and leaves the old one beside it."
  (paths.ensure-folder (paths.state))
  (.write-text (Path (keyring-store.path)) content)
  (assert (= (keyring-store.entries) {}))
  (keyring-store.keep "A" "key" KEY)
  (assert (= (keyring-store.fetch "A") KEY)))
