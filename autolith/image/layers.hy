"The init layers: files of forms that are evaluated in autolith.user at the start, lowest first, and again by `(reload)`.

They are the packaged init.hy, the site's ($AUTOLITH_SITE/init.hy), `.autolith/init.hy` of the trusted directories the working
directory is in, the outermost first, and the user's init.hy. Modules in the user's `lisp/` can be imported.

A fault is {\"file\" path \"line\" n \"message\" text}: the form there was skipped, the rest was loaded. What the files add to a
registry (image/registries) is noted, so that a reload begins without it."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  os
  re
  sys
  time
  types
  hy
  autolith
  autolith.base [paths]
  autolith.image [namespace registries])

(defonce loaded {"changes" {} "faults" [] "files" [] "user" True} "What the last load did.")

(defparameter load-seconds 20.0
  "How many seconds loading all init files may take; then the form that runs is stopped, and later ones get a second each.")

(defparameter largest-file 1000000
  "How many bytes an init file may have.")

(setv SCOPES 64  LONGEST 4096
      NO-CODE (re.compile r"(?:\s+|;[^\n]*)*")
      register-registry registries.register)


;; * Which files

(defn files [[user True] [directory None]]
  "Return the init files that exist for DIRECTORY, lowest first; only the packaged one unless USER. Faults are noted elsewhere."
  (get (_found user directory) 0))

(defn _found [user directory]
  "Return the init files that exist, lowest first, and the faults met in looking for them."
  (setv faults []
        candidates [(packaged)])
  (when user
    (+= candidates [#* (_site faults) #* (_trusted (or directory (os.getcwd)) faults) (paths.config "init.hy")]))
  [(lfor path candidates :if (os.path.lexists path) path) faults])

(defn packaged []
  "Return the path of the packaged init.hy: in the package, or beside it in a checkout."
  (setv folder (get autolith.__path__ 0)
        inside (os.path.join folder "init.hy"))
  (if (os.path.exists inside) inside (os.path.join (os.path.dirname folder) "init.hy")))

(defn _site [faults]
  "Return the site's init file, as AUTOLITH_SITE says."
  (setv root (.get os.environ "AUTOLITH_SITE" ""))
  (cond
    (not root) []
    (os.path.isabs root) [(os.path.join root "init.hy")]
    True (do (.append faults (_fault "AUTOLITH_SITE" 1 f"{root} is not an absolute path; the site's init file is left out")) [])))

(defn _trusted [directory faults]
  "Return the init files of the trusted directories that DIRECTORY is in, the outermost first."
  (setv here (os.path.realpath directory)
        anchors (sfor anchor (trusted-directories faults)
                      :if (or (= here anchor) (.startswith here (+ (.rstrip anchor os.sep) os.sep)))
                      anchor))
  (lfor anchor (sorted anchors :key len) (os.path.join anchor ".autolith" "init.hy")))

(defn trusted-directories [[faults None]]
  "Return the real paths of the directories that the user trusts, from directory-scopes.hy; append what is wrong to FAULTS."
  (setv path (paths.config "directory-scopes.hy")
        faults (if (is faults None) [] faults))
  (when (not (os.path.lexists path)) (return []))
  (import autolith.base [forms])
  (try
    (setv text (_text path)
          table (forms.read-one text)
          entries (.get table "directories" []))
    (when (not (isinstance entries list)) (raise (ValueError "directories is a list of paths")))
    (when (> (len entries) SCOPES) (raise (ValueError f"more than {SCOPES} directories")))
    (except [e Exception]
      (.append faults (_fault path (or (getattr e "line" None) 1)
                              (+ f"{e}; no directory is trusted. It has to be "
                                 "{:version 1 :directories [\"~/project\"]}")))
      (return [])))
  (lfor entry entries
        :setv anchor (_anchor entry)
        :if (or anchor (.append faults (_fault path 1 f"{entry !r} is left out: a directory that exists, absolute or from ~/")))
        anchor))

(defn _anchor [entry]
  "Return the real path of the trusted directory ENTRY, or None if it is not one."
  (when (and (isinstance entry str) (<= (len entry) LONGEST) (or (os.path.isabs entry) (.startswith entry "~/")))
    (setv path (os.path.realpath (os.path.expanduser entry)))
    (when (os.path.isdir path) path)))


;; * Reading

(defn _fault [path line message]
  "Return the fault MESSAGE at LINE of the file PATH."
  {"file" path "line" line "message" message})

(defn _text [path]
  "Return the text of the file at PATH; ValueError, with the line in `line`, or OSError if it cannot be read as text."
  (when (not (os.path.isfile path))
    (raise (OSError (if (os.path.exists path) "not a regular file" "a link that leads nowhere"))))
  (with [f (open path "rb")]
    (setv data (.read f (+ largest-file 1))))
  (when (> (len data) largest-file)
    (raise (ValueError f"larger than {largest-file} bytes")))
  (_checked data))

(defn _checked [data]
  "Return DATA as text; a ValueError names the line of what is not UTF-8."
  (setv spot (.find data b"\0"))
  (when (>= spot 0)
    (raise (_at data spot "a NUL byte; save the file as UTF-8 text")))
  (try
    (.decode data "utf-8-sig")
    (except [e UnicodeDecodeError]
      (raise (_at data e.start f"the byte {(hex (get data e.start))} is not UTF-8; save the file as UTF-8")))))

(defn _at [data spot message]
  "Return a ValueError of MESSAGE that knows the line of the offset SPOT in DATA."
  (setv error (ValueError message)
        error.line (+ 1 (.count data b"\n" 0 spot)))
  error)

(defn blank? [text]
  "Tell whether TEXT holds no form: nothing but space and comments."
  (= (.end (.match NO-CODE text)) (len text)))


;; * Loading

(defn load [* [user True] [directory None]]
  "Load the init layers for DIRECTORY, else the working directory; without USER, the packaged one only. Return the faults."
  (setv (get loaded "user") user)
  (_load user directory))

(defn _load [user directory]
  "Load the layers, noting in `loaded` what they did; return the faults."
  (_know-lisp user)
  (setv [found faults] (_found user directory)
        deadline (+ (time.monotonic) load-seconds))
  (for [path found]
    (+= faults (load-file path :deadline deadline)))
  (setv (get loaded "files") found
        (get loaded "faults") faults)
  (list faults))

(defn lisp-folder []
  "Return the folder of the user's modules."
  (paths.config "lisp"))

(defn _know-lisp [user]
  "Let the user's modules be imported, unless USER is false."
  (setv folder (lisp-folder))
  (when (and user (not-in folder sys.path) (os.path.isdir folder))
    (.append sys.path folder)))

(defn load-file [path * [deadline None]]
  "Evaluate the forms of the file at PATH one by one in autolith.user, until DEADLINE; return the faults."
  (try
    (setv text (_text path))
    (except [e [OSError ValueError]]
      (setv reason (or (getattr e "strerror" None) (str e)))
      (return [(_fault path (getattr e "line" 1) f"cannot be read: {reason}")])))
  (if (blank? text) [] (_load-text path text (or deadline (+ (time.monotonic) load-seconds)))))

(defn _load-text [path text deadline]
  "Evaluate the forms of TEXT, of the file PATH, until DEADLINE; return the faults."
  (import autolith.image [layer-forms :as forms])
  (setv token (.set registries.origin path)
        faults [])
  (try
    (for [step (forms.steps path text faults deadline)]
      (setv before (registries.take)
            modules (set sys.modules)
            fault (forms.attempt step path (max 1.0 (- deadline (time.monotonic)))))
      (when fault (.append faults fault))
      (_note-changes before modules))
    (finally (.reset registries.origin token)))
  faults)

(defn _note-changes [before modules]
  "Note what a form changed since registries were BEFORE and sys.modules had MODULES, as the init files' doing."
  (setv change (registries.difference before (registries.take))
        came (sfor m sys.modules
                   :if (and (not-in m modules) (.startswith m "autolith.") (not (.startswith m "autolith.image.")))
                   m))
  (when came
    (setv change (dfor [name entries] (.items change)
                       name (dfor [path [old new]] (.items entries)
                                  :if (not (_came? new came))
                                  path #(old new)))))
  (setv (get loaded "changes") (registries.combined (get loaded "changes") change)))

(defn _came? [value modules]
  "Tell whether VALUE came with the import of MODULES: it holds functions that one of them defined, and none of the user's."
  (setv homes (set (_homes value)))
  (and (bool (& homes modules)) (not-in "autolith.user" homes)))

(defn _homes [value [depth 0]]
  "Yield the modules of the functions and classes that VALUE is or holds."
  (cond
    (isinstance value #(type types.FunctionType)) (yield value.__module__)
    (> depth 3) None
    True (for [part (_parts value)] (yield :from (_homes part (+ depth 1))))))

(defn _parts [value]
  "Return what VALUE holds, of a collection or an object."
  (list (cond
          (isinstance value dict) (.values value)
          (isinstance value #(tuple list)) value
          (hasattr value "__dict__") (.values (vars value))
          True [])))


;; * Loading again

(defn reload [* [directory None]]
  "Load the init files anew in place of what they defined before: all of them or, when a form fails, none, and the old
definitions are back. Return {\"ok\" bool \"faults\" [fault ...] \"files\" [path ...]}, which prints as a report."
  (setv saved (registries.take)
        old (dict loaded)
        modules (_forget-lisp-modules))
  (try
    (registries.take-back (get loaded "changes"))
    (setv (get loaded "changes") {}
          faults (_load (get old "user") directory)
          ok (not faults))
    (except [BaseException]
      (_bring-back saved old modules)
      (raise)))
  (setv result (Report {"ok" ok "faults" faults "files" (list (get loaded "files"))}))
  (when (not ok) (_bring-back saved old modules))
  (namespace.forget-found)
  result)

(defn _bring-back [saved old modules]
  "Make registries what they were when SAVED, the record of loads OLD, and put MODULES back."
  (registries.give saved)
  (.update loaded old)
  (.update sys.modules modules))

(defn _forget-lisp-modules []
  "Forget the modules that came from the user's folder, with their bytecode, so that they are imported anew; return them."
  (setv folder (+ (os.path.realpath (lisp-folder)) os.sep)
        gone (dfor [name module] (list (.items sys.modules))
                   :setv file (getattr module "__file__" None)
                   :if (and (isinstance file str) (.startswith (os.path.realpath file) folder))
                   name module))
  (for [[name module] (.items gone)]
    (del (get sys.modules name))
    (try
      (os.unlink (. module __cached__))
      (except [[OSError AttributeError TypeError]])))
  gone)

(defclass Report [dict]
  "What a reload did; it prints as text."
  (defn __autolith_text__ [self]
    "Return the report as text."
    (report self)))

(defn report [result]
  "Return what RESULT, of `reload`, says to people."
  (setv lines (lfor f (get result "faults") f"{(paths.short (get f "file"))}:{(get f "line")}: {(get f "message")}"))
  (cond
    lines (.join "\n" ["nothing was reloaded; what was defined before is in force. Correct this and (reload):"
                       #* lines])
    (get result "files") (+ "reloaded " (.join ", " (map paths.short (get result "files"))))
    True "there is no init file"))


;; * The names of autolith.user, as registries

(setv KEPT (| #{"hy" "__builtins__" "_hy_macros" "_hy_reader_macros" "_lent_macros"}
              (sfor name namespace.HISTORY (hy.mangle name))))

(defn _names []
  "Return what the user's module binds."
  (setv module (namespace.user))
  {"names" (dfor [k v] (.items (vars module)) :if (not (or (in k KEPT) (.startswith k "_hy_"))) k v)
   "macros" (dict module._hy-macros)
   "readers" (dict module._hy-reader-macros)})

(defn _restore-names [state]
  "Make the user's module bind what STATE says."
  (setv module (namespace.user)
        names (.get state "names" {}))
  (for [k (get (_names) "names")]
    (when (not-in k names) (delattr module k)))
  (for [[k v] (.items names)] (setattr module k v))
  (for [[table key] [[module._hy-macros "macros"] [module._hy-reader-macros "readers"]]]
    (.clear table)
    (.update table (.get state key {}))))

(defn _offers []
  "Return what is offered in the user's module."
  {"names" (dict namespace.offers) "macros" (dict namespace.offered-macros)})

(defn _restore-offers [state]
  "Make STATE what is offered."
  (setv names (.get state "names" {}))
  (for [[key [name _]] (list (.items namespace.offers))]
    (when (not (registries.same? (.get names key) (get namespace.offers key)))
      (namespace.withdraw name)))
  (.update namespace.offers names)
  (.clear namespace.offered-macros)
  (.update namespace.offered-macros (.get state "macros" {})))

(registries.register "names" _names _restore-names)
(registries.register "offers" _offers _restore-offers)
