"Keep keys and sign-ins on this machine: in the system keyring if there is one, else in a private file.

The file credentials.hy below the state root, mode 0600, is {\"version\" 1 \"kept\" {slot entry}}. A slot is the variable of a key,
as OPENAI_API_KEY, or `sign-in NAME`. An entry is {\"kind\" key or sign-in \"value\" v \"stamp\" n}; where the value is in the keyring it has
\"keyring\" True instead of one. The keyring is used through the package `keyring`, if that can be imported and has a real backend."

(eval-when-compile (require autolith.base.macros [defonce defparameter]))

(import
  os
  autolith.base [conditions disk forms paths snapshot])

(defparameter place "auto"
  "Where what is kept goes: auto (the system keyring if there is one), keyring, or file.")

(setv SERVICE "autolith"
      EMPTY {"version" 1 "kept" {}})

(defonce _read {"stamp" None "kept" {} "faults" []} "The file as it was read last.")
(defonce _fetched {} "Values from the keyring, by (slot, stamp).")

(defclass NotKept [conditions.AutolithError]
  "A key could not be kept, or not be fetched.")

(defn path []
  "Return the path of the file."
  (paths.state "credentials.hy"))

(defn _stamp []
  "Return what changes when the file does; None as its second part where there is no file."
  (setv name (path))
  (try
    (setv info (os.stat name))
    #(name info.st-mtime-ns info.st-size info.st-ino)
    (except [OSError] #(name None))))

(defn entries []
  "Return what is kept, entries by slot; the file is read again only if it has changed."
  (setv stamp (_stamp))
  (when (!= stamp (get _read "stamp"))
    (setv faults []
          found (if (is (get stamp 1) None) EMPTY (snapshot.read (path) EMPTY :faults faults)))
    (.update _read {"stamp" stamp "faults" faults "kept" (_checked found faults)}))
  (get _read "kept"))

(defn _checked [found faults]
  "Return the entries in FOUND, the value of the file; what has another shape goes to FAULTS."
  (setv kept (if (isinstance found dict) (.get found "kept") None))
  (when (not (isinstance kept dict))
    (.append faults f"{(path)}: not what Autolith writes there; sign in again, the old file will be kept beside it")
    (return {}))
  (dfor [slot entry] (.items kept)
        :if (and (isinstance entry dict) (in (.get entry "kind") ["key" "sign-in"]))
        slot entry))

(defn faults []
  "Return what is wrong with the file, as sentences."
  (entries)
  (list (get _read "faults")))

(defn kind [slot]
  "Return the kind of what is kept in SLOT, key or sign-in, or None; asks no keyring."
  (.get (.get (entries) slot {}) "kind"))

(defn where [slot]
  "Return where SLOT's value is, in words."
  (if (.get (get (entries) slot) "keyring") "in the system keyring" f"in {(paths.short (path))}"))

(defn fetch [slot]
  "Return the value kept in SLOT, or None; raise NotKept if the keyring does not give it."
  (setv entry (.get (entries) slot))
  (cond
    (is entry None) None
    (.get entry "keyring") (_from-keyring slot (.get entry "stamp"))
    True (.get entry "value")))

(defn values []
  "Return the values that need no keyring to be read, or have been fetched from it."
  (+ (lfor e (.values (entries)) :if (in "value" e) (get e "value")) (list (.values _fetched))))

(defn keep [slot kind value]
  "Keep VALUE, a text or a map, of KIND in SLOT; return where it is, in words."
  (import time)
  (setv ring (keyring)
        stamp (time.time-ns)
        entry {"kind" kind "stamp" stamp #** (if ring {"keyring" True} {"value" value})})
  (when ring
    (_ring ring.set-password SERVICE slot (forms.write value))
    (setv (get _fetched #(slot stamp)) value))
  (_change (fn [kept] (setv (get kept slot) entry)))
  (where slot))

(defn drop [slot]
  "Forget what is kept in SLOT; return whether there was anything."
  (setv entry (.get (entries) slot))
  (when (is entry None)
    (return False))
  (when (.get entry "keyring")
    (setv ring (keyring :wanted True))
    (when ring
      (try (ring.delete-password SERVICE slot) (except [Exception]))))
  (_change (fn [kept] (.pop kept slot None)))
  (for [old (lfor k _fetched :if (= (get k 0) slot) k)]
    (.pop _fetched old))
  True)

(defn _change [f]
  "Let F change the map of entries in the file, while no other process can."
  (defn changed [found]
    (setv whole (if (and (isinstance found dict) (isinstance (.get found "kept") dict)) found {#** EMPTY "kept" {}}))
    (f (get whole "kept"))
    whole)
  (paths.ensure-folder (os.path.dirname (path)))
  (snapshot.update (path) {#** EMPTY "kept" {}} changed :faults [])
  (setv (get _read "stamp") None))

;; * The keyring

(defn keyring [* [wanted False]]
  "Return the package `keyring` if values are to be kept there (or if they are WANTED from there) and it works; else None."
  (import importlib.util)
  (when (or (and (= place "file") (not wanted)) (is (importlib.util.find-spec "keyring") None))
    (when (= place "keyring")
      (raise (NotKept "the package keyring is not installed; install it, or keep keys in the file")))
    (return None))
  (try
    (import keyring :as ring)
    (setv usable (> (. (ring.get-keyring) priority) 0))    ; the backends that fail or forget have 0 and less
    (except [Exception] (setv usable False)))
  (cond
    usable ring
    (= place "keyring") (raise (NotKept "the system has no keyring that works; keep keys in the file"))
    True None))

(defn _from-keyring [slot stamp]
  "Return the value of SLOT, written at STAMP, from the keyring."
  (when (in #(slot stamp) _fetched)
    (return (get _fetched #(slot stamp))))
  (setv ring (keyring :wanted True))
  (when (is ring None)
    (raise (NotKept f"{slot} is in the system keyring, which cannot be reached; unlock it, or store the key again")))
  (setv text (_ring ring.get-password SERVICE slot))
  (when (is text None)
    (raise (NotKept f"{slot} is no more in the system keyring; store it again")))
  (setv (get _fetched #(slot stamp)) (forms.read-one text))
  (get _fetched #(slot stamp)))

(defn _ring [f #* args]
  "Call F, of the keyring, with ARGS; its failures become NotKept."
  (try
    (f #* args)
    (except [e Exception]
      (setv why (or (str e) (. (type e) __name__)))
      (raise (NotKept f"the system keyring refused: {why}; unlock it and try again") :from e))))
