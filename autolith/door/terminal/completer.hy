"What may stand at the caret. Pure but for reading one directory.

A candidate is {\"text\" what replaces the last SPAN characters before the caret, \"span\" int, \"show\" str, \"about\" str}. An operation
is {\"name\" \"kind\" command, tool or function \"signature\" \"doc\"}."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  builtins
  os
  re
  types
  autolith.base [text :as prose]
  autolith.door.terminal [editor]
  autolith.image [namespace])

(defparameter file-limit 500 "How many entries of one directory are looked at.")

(setv WORD (re.compile r"@([^\s]*)$")
      PATHLIKE (re.compile r"[./~]"))

(defn candidates [text operations directory]
  "Return the candidates at the end of TEXT, with OPERATIONS known and DIRECTORY the one that files are named from."
  (setv mention (.search WORD text)
        found (cond
                (.startswith text "/") (slash-candidates text operations)
                (editor.form? text) (form-candidates text operations directory)
                mention (files (get mention 1) directory)
                True []))
  (if (and (= (len found) 1) (.endswith text (get found 0 "text"))) [] found))

(defn slash-candidates [text operations]
  "Return the commands that TEXT, a slash and letters, may become."
  (if (re.search r"\s" text)
    []
    (lfor o operations
          :if (and (= (get o "kind") "command") (fits (cut text 1 None) (get o "name")))
          {"text" (+ "/" (get o "name")) "span" (len text) "show" (+ "/" (get o "name")) "about" (get o "doc")})))

(defn form-candidates [text operations directory]
  "Return what may stand at the end of TEXT, an unfinished form."
  (setv place (editor.place text) string (get place "string") word (get place "word"))
  (cond
    (is-not string None) (string-candidates string directory)
    (.startswith word ":") (keyword-candidates word place operations)
    True (name-candidates word operations)))

(defn string-candidates [string directory]
  "Return the files that STRING, unfinished, may name: after `workspace:`, or where it looks like a path."
  (cond
    (.startswith string "workspace:") (files (cut string 10 None) directory)
    (.search PATHLIKE string) (files string directory)
    True []))

(defn keyword-candidates [word place operations]
  "Return the keyword arguments of the call at PLACE that are not yet given and fit WORD."
  (setv given (lfor i (get place "items") :if (.startswith i ":") :if (!= i word) (cut i 1 None)))
  (lfor name (parameters (or (signature (get place "operator") operations) ""))
        :if (and (not-in name given) (.startswith name (cut word 1 None)))
        {"text" (+ ":" name) "span" (len word) "show" (+ ":" name) "about" ""}))

(defn name-candidates [word operations]
  "Return the operations and the names of the live image that fit WORD."
  (when (not word) (return []))
  (setv known (lfor o operations :if (fits word (get o "name"))
                    {"text" (get o "name") "span" (len word) "show" (get o "name") "about" (get o "doc")})
        seen (sfor c known (get c "text")))
  (+ (sorted known :key (fn [c] (rank word (get c "text"))))
     (lfor name (live-names word) :if (not-in name seen)
           {"text" name "span" (len word) "show" name "about" ""})))

(defn rank [word name]
  "Return how well NAME fits WORD, the best first."
  #((not (.startswith name word)) (len name) name))

(defn fits [query name]
  "Does NAME begin with QUERY, or each of its parts with the part of QUERY in its place? r.r fits resource.read."
  (setv query (.lower query))
  (or (.startswith name query)
      (and (re.search r"[.-]" query)
           (do (setv parts (re.split r"[.-]" query) names (re.split r"[.-]" name))
               (and (<= (len parts) (len names)) (all (gfor [p n] (zip parts names) (.startswith n p))))))))

(defn live-names [word]
  "Return the names of the live image that begin with WORD: the user's and Python's own, or members of a module."
  (setv [head dot last] (.rpartition word ".")
        table (if dot
                (do (setv owner (find head)) (if (isinstance owner types.ModuleType) (vars owner) {}))
                (| (vars builtins) (vars (namespace.user)))))
  (sorted (lfor key (list table)
                :setv name (hy.unmangle key)
                :if (and (.startswith name last) (or (not (.startswith name "_")) (.startswith last "_")))
                (+ head dot name))))

(defn find [name]
  "Return the object called NAME, dotted or not, that is already there; or None. Runs no code of the user's."
  (setv [first #* others] (lfor part (.split name ".") (hy.mangle (or part "_")))
        here (vars (namespace.user))
        object (if (in first here) (get here first) (.get (vars builtins) first)))
  (for [part others]
    (setv object (if (isinstance object types.ModuleType) (.get (vars object) part) None)))
  object)

(defn signature [name operations]
  "Return the call of NAME as (name a [b 1] ...), from OPERATIONS or from the live image; or None."
  (when (not name) (return None))
  (setv known (next (gfor o operations :if (= (get o "name") name) o) None))
  (if known (get known "signature") (live-signature name)))

(defn live-signature [name]
  "Return the call of NAME, a function of the live image; or None."
  (import inspect autolith.application [commands])
  (setv object (find name))
  (when (callable object)
    (try
      (commands.lambda-list name (inspect.signature object))
      (except [Exception] None))))

(defn documentation [name operations]
  "Return the first line of what is documented about NAME."
  (setv known (next (gfor o operations :if (= (get o "name") name) o) None)
        text (if known (get known "doc") (getattr (find name) "__doc__" None)))
  (if (isinstance text str) (get (.split (.strip text) "\n") 0) ""))

(defn parameters [signature]
  "Return the names of the parameters in SIGNATURE, in order; it is a lambda list, or a call by keyword: (f :a A [:b 1])."
  (setv items (words signature) names [] skip False)
  (for [item items]
    (cond
      skip (setv skip False)
      (in item ["*" "/" "#*" "#**"]) None
      (.startswith item ":") (do (.append names (cut item 1 None)) (setv skip True))
      True (.append names item)))
  names)

(defn words [signature]
  "Return the parameters of SIGNATURE as words: of a bracket, only its first one, and a blank after a keyword there."
  (setv out [] depth 0 fresh False)
  (for [[_ kind token] (editor.tokens (cut (.strip signature) 1 -1))]
    (match kind
      "open" (setv depth (+ depth 1) fresh (= depth 1))
      "close" (setv depth (- depth 1))
      (| "atom" "string") (when (or (= depth 0) fresh)
                            (.append out token)
                            (when (and fresh (.startswith token ":")) (.append out ""))
                            (setv fresh False))
      _ None))
  (cut out 1 None))

(defn files [prefix directory]
  "Return the entries of the directory that PREFIX, a path from DIRECTORY, is in, and that go on as it does."
  (setv [folder _ start] (.rpartition prefix "/")
        path (os.path.join directory (os.path.expanduser (if (= prefix (+ "/" start)) "/" folder))) found [])
  (try
    (with [entries (os.scandir path)]
      (for [[i entry] (enumerate entries)]
        (when (>= i file-limit) (break))
        (when (and (.startswith entry.name start) (or (.startswith start ".") (not (.startswith entry.name "."))))
          (.append found (file-candidate entry start)))))
    (except [OSError] None))
  (sorted found :key (fn [c] (get c "text"))))

(defn file-candidate [entry start]
  "Return the candidate for ENTRY of a directory, of which START is written already."
  (setv folder (.is-dir entry) name (prose.repair (+ entry.name (if folder "/" ""))))
  {"text" name "span" (len start) "show" name "about" (if folder "" (sized entry))})

(defn sized [entry]
  "Return the size of the file ENTRY in words."
  (try (prose.size (. (.stat entry) st-size)) (except [OSError] "")))
