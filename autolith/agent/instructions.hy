"Find a workspace's instructions: the AGENTS.md files from the project's root down to the working directory.

Collected, they are [{\"path\" \"text\"} ...], the root's first, bounded together; what was cut says so."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  codecs
  hashlib
  json
  os
  stat)

(defparameter file-name "AGENTS.md" "The name of a file with instructions.")
(defparameter limit 16000 "How many characters of instructions the prompt takes.")
(defparameter most-levels 64 "How many folders up the root of a project is looked for.")

(defn project-root [directory]
  "Return the nearest folder from DIRECTORY up that holds .git, or None."
  (setv folder (os.path.abspath directory))
  (for [_ (range most-levels)]
    (when (os.path.lexists (os.path.join folder ".git"))
      (return folder))
    (setv parent (os.path.dirname folder))
    (when (= parent folder)
      (return None))
    (setv folder parent)))

(defn folders [directory]
  "Return the folders whose instructions hold in DIRECTORY, the root's first."
  (setv folder (os.path.abspath directory)
        root (or (project-root folder) folder)
        out [folder])
  (while (!= folder root)
    (setv folder (os.path.dirname folder))
    (.append out folder))
  (list (reversed out)))

(defn collect [directory]
  "Return the instructions that hold in DIRECTORY, [{\"path\" \"text\"} ...]."
  (setv room limit
        out [])
  (for [folder (folders directory)]
    (setv path (os.path.join folder file-name)
          text (read path (+ room 1)))
    (when text
      (.append out {"path" path "text" (_cut text room)})
      (setv room (max 0 (- room (len text))))))
  out)

(defn _cut [text room]
  "Return TEXT in ROOM characters, with a note where it was cut."
  (if (> (len text) room)
    (+ (cut text room) "\n[cut here: the instructions are longer than the system prompt takes; read the file for the rest]")
    text))

(defn read [path characters]
  "Return about the first CHARACTERS of the regular file PATH without the white space around them; nothing where it cannot be read."
  (try
    (setv fd (os.open path (| os.O-RDONLY os.O-NONBLOCK os.O-CLOEXEC)))
    (except [OSError] (return "")))
  (with [f (open fd "rb")]
    (if (stat.S-ISREG (. (os.fstat fd) st-mode))
      (.strip (cut (decode (.read f (* 4 characters)) :whole (not (.read f 1))) characters))
      "")))

(defn decode [data * [whole True]]
  "Return the bytes DATA as text: UTF-8, unless WHOLE perhaps cut in its last character, else Latin-1."
  (try
    (.removeprefix (.decode ((codecs.getincrementaldecoder "utf-8")) data whole) "\ufeff")
    (except [UnicodeDecodeError]
      (.decode data "latin-1"))))

(defn render [found]
  "Return the instructions FOUND as text, each file introduced by its path as JSON."
  (.join "\n\n" (gfor entry found f"Instructions in {(json.dumps (get entry "path"))}:\n\n{(get entry "text")}")))

(defn digest [found]
  "Return a short digest of the instructions FOUND."
  (cut (.hexdigest (hashlib.sha256 (.encode (render found) "utf-8" "surrogatepass"))) 16))
