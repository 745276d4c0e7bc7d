"The `workspace:` scheme, editing: compare with what was shown, plan, publish, and show what came of it.

A draft is one file's change before it is published: {\"uri\" \"path\" \"key\" \"before\" bytes or None \"after\" bytes \"encoding\" \"plan\"
\"digest\" of before \"rebased\" True if earlier edits had moved its lines}. The outcome of one file is {\"uri\" \"revision\" \"kind\" \"operations\"
sentences \"added\" \"removed\" \"diff\" rows \"visible\" \"elided\" \"lines\" \"total\" \"notes\" sentences}."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  os
  autolith.resource [delimiters diff lines names page plan protocol publish ranges snapshot window])

(defparameter outcome-room 7200 "How many characters the differences and windows of one edit take together.")
(defparameter most-shown 120 "The most lines that an edit shows of a file afterwards.")

(setv MISSING "missing")

(defn :async edit [context changes]
  "Apply CHANGES to files, all or none, and return the outcome. Once begun it ends, whoever is cancelled meanwhile."
  (import asyncio)
  (setv work (asyncio.ensure-future (asyncio.to-thread edit-now context changes)))
  (try
    (await (asyncio.shield work))
    (except [asyncio.CancelledError]
      (await (asyncio.wait [work]))
      (raise))))

(defn edit-now [context changes]
  "Do what `edit` does, on this thread."
  (try
    (with [(publish.exclusively)]
      (setv drafts (prepare-all context changes)
            stages (_published (lfor d drafts :if (!= (get d "before") (get d "after")) d)))
      (for [d drafts]
        (.step context.observations (get d "key") (get d "digest") (snapshot.digest-of (get d "after")) (get d "plan" "kept"))))
    (except [e publish.Failed]
      (raise (protocol.ResourceError (str e) [protocol.REREAD]) :from e)))
  (setv notes (dfor s stages (get s "path") (get s "notes")))
  (_outcome context drafts notes))

(defn _published [drafts]
  "Publish DRAFTS; return the stages."
  (try
    (publish.publish (lfor d drafts {"path" (get d "path") "data" (get d "after")
                                     "expected" (when (is-not (get d "before") None) (get d "digest"))}))
    (except [e publish.Conflict]
      (setv uri (next (gfor d drafts :if (= (get d "path") e.path) (get d "uri")) None))
      (raise (protocol.ResourceError f"{(or uri e.path)}: {(.removeprefix (str e) (+ e.path ": "))}. Nothing was changed"
                                     [protocol.REREAD] :uri uri) :from e))))

;; * Preparing

(defn prepare-all [context changes]
  "Return the drafts of CHANGES; refuse when two name the same file."
  (setv drafts [] seen {})
  (for [change changes]
    (try
      (setv draft (prepare context change))
      (except [e protocol.ResourceError]
        (setv e.change change)
        (raise)))
    (for [mark (_marks draft)]
      (when (in mark seen)
        (raise (protocol.ResourceError (+ f"{(get seen mark)} and {(get draft "uri")} are the same file;"
                                          " put its operations into one change") :uri (get draft "uri"))))
      (setv (get seen mark) (get draft "uri")))
    (.append drafts draft))
  drafts)

(defn _marks [draft]
  "Return what tells the file of DRAFT from others: its path and, if it exists, its device and inode."
  (setv info (get draft "info"))
  [(get draft "path") #* (if info [#(info.st-dev info.st-ino)] [])])

(defn prepare [context change]
  "Return the draft of CHANGE, compared with what CONTEXT was shown and with what is there now."
  (setv target (names.resolve (get change "identifier") context.cwd)
        uri (get target "uri"))
  (when (= (get target "kind") "directory")
    (raise (protocol.ResourceError f"{uri} is a directory, which has no lines to edit; name a file in it" :uri uri)))
  (try
    (setv operations (plan.checked (get change "operations"))
          before (_content target)
          [base operations moved] (_base context target change before operations)
          draft (_planned target base operations))
    (except [e plan.Refused]
      (raise (protocol.ResourceError f"{uri}: {e}" :uri uri) :from e)))
  {#** draft "before" before "rebased" moved
   "digest" (if (is before None) MISSING (snapshot.digest-of before))})

(defn _content [target]
  "Return the bytes of TARGET as they are now, None if there is no such file."
  (when (= (get target "kind") "missing")
    (return None))
  (try
    (snapshot.read-bytes (get target "path") snapshot.edit-size)
    (except [e OSError] (raise (names.failure (get target "uri") e) :from e))
    (except [e snapshot.Unreadable]
      (raise (protocol.ResourceError f"{(get target "uri")}: {e}" :uri (get target "uri")) :from e))))

(defn _base [context target change before operations]
  "Return #(the bytes that OPERATIONS apply to, the operations as they apply now, moved): what was shown, compared with BEFORE."
  (setv revision (get change "base_revision")
        entry (.find context.observations revision)
        forced (and (.get change "create") (is before None)))
  (cond
    (and (is entry None) forced (_filling? operations)) #(b"" operations False)
    (is entry None) (raise (_unknown target revision operations))
    (!= (get entry "key") (+ "workspace:" (get target "path")))
      (raise (protocol.ResourceError f"revision {revision} belongs to {(get entry "uri")}, not to {(get target "uri")}"
                                     [protocol.REREAD] :uri (get target "uri")))
    (and forced (is-not (get entry "data") None) (!= (get entry "kind") "missing"))
      (do (_check-shown entry operations)
          #((get entry "data") operations False))
    (and forced (_filling? operations)) #(b"" operations False)
    True (_compared context target entry before operations)))

(defn _filling? [operations]
  "Tell whether OPERATIONS are a single replace-empty."
  (and (= (len operations) 1) (= (get operations 0 "op") "replace-empty")))

(defn _unknown [target revision operations]
  "Return the failure that REVISION of TARGET was never shown, or long ago."
  (setv uri (get target "uri")
        missing (and (= (get target "kind") "missing") (_filling? operations)))
  (protocol.ResourceError (+ f"revision {revision} of {uri} is not known here (it was never shown in this session, or too long ago);"
                             " read it again and repeat the edit with the revision that gives")
                          [protocol.REREAD #* (if missing [protocol.CREATE] [])] :uri uri))

(defn _compared [context target entry before operations]
  "Return what `_base` returns, for the observation ENTRY of TARGET, whose bytes are BEFORE now."
  (setv digest (if (is before None) MISSING (snapshot.digest-of before)))
  (when (= digest (get entry "digest"))
    (_check-shown entry operations)
    (return #((or before b"") operations False)))
  (setv steps (when (is-not before None)
                (.path context.observations (get entry "key") (get entry "digest") digest)))
  (when (or (is steps None) (= (get entry "kind") "missing"))
    (raise (_stale target entry before operations)))
  (_check-shown entry operations)
  (setv now (lfor o operations (plan.moved o steps (get entry "total"))))
  (when (in None now)
    (raise (protocol.ResourceError (+ f"{(get target "uri")}: an earlier edit in this session changed the lines that this one addresses;"
                                      " read them again and repeat it with the new revision")
                                   [protocol.REREAD] :uri (get target "uri"))))
  #(before now True))

(defn _check-shown [entry operations]
  "Refuse OPERATIONS on lines that were not shown under ENTRY."
  (setv total (get entry "total") uri (get entry "uri"))
  (for [[a b] (plan.anchors operations total)]
    (when (> b total)
      (raise (plan.Refused f"line {b} is beyond the end: there are {total} lines")))
    (setv hidden (ranges.missing (get entry "visible") a b))
    (when hidden
      (setv first (get hidden 0 0) count (- (+ (get hidden -1 1) 1) first))
      (raise (protocol.ResourceError
               (+ f"{uri}: lines {(ranges.text hidden)} were not shown under revision {(get entry "alias")}"
                  f" (shown: {(ranges.text (get entry "visible"))}); read start-line {first}, line-count {count}, then repeat the edit."
                  " A line too long to be shown whole must be read to its end with start-column, or changed with a command")
               [protocol.REREAD] :uri uri)))))

(defn _stale [target entry before operations]
  "Return the failure that TARGET is not as ENTRY has it; BEFORE is its content now, None if there is none."
  (setv uri (get target "uri") alias (get entry "alias"))
  (cond
    (is before None)
      (protocol.ResourceError
        f"{uri} was deleted since revision {alias}; nothing was changed"
        (if (or (is-not (get entry "data") None) (_filling? operations))
          [protocol.REREAD protocol.CREATE]
          [protocol.REREAD])
        :uri uri)
    (= (get entry "kind") "missing")
      (protocol.ResourceError f"{uri} did not exist at revision {alias}, and now it does; nothing was changed. Read it, then edit its lines"
                              [protocol.REREAD] :uri uri)
    True
      (protocol.ResourceError (+ f"{uri} has changed since revision {alias}; nothing was changed. Read it again and repeat the edit."
                                 (_what-changed (get entry "data") before)) [protocol.REREAD] :uri uri)))

(defn _what-changed [old new]
  "Return what is different between the bytes OLD, None if they are not kept, and NEW, for people."
  (setv now (lines.encoding-of new) before (when (is-not old None) (lines.encoding-of old)))
  (cond
    (is now None) " It is no text now."
    (is before None) " What it was before is not kept any more."
    True (+ (if (= (get now "name") (get before "name"))
              ""
              f" It was {(get before "name")} and is {(get now "name")} now.")
            (_different-lines (lines.split (lines.decode old before)) (lines.split (lines.decode new now))
                              before now))))

(defn _different-lines [old new before now]
  "Return the difference between the lines OLD, in the encoding BEFORE, and NEW, in NOW, for people; nothing if none."
  (setv blocks (diff.blocks old new))
  (if blocks
    (+ " What changed (old and new line numbers):\n"
       (diff.text (_marked (diff.rows blocks old new :context 1) before now) 2000))
    ""))

(defn _marked [rows before now]
  "Return the ROWS of a difference between texts in the encodings BEFORE and NOW, with marks for undecodable bytes."
  (lfor row rows {#** row "text" (lines.shown (get row "text") (if (= (get row "kind") "removed") before now))}))

(defn _planned [target base operations]
  "Return the draft for TARGET that OPERATIONS make of the bytes BASE."
  (setv uri (get target "uri") encoding (lines.encoding-of base))
  (when (is encoding None)
    (raise (protocol.ResourceError f"{uri} is no text; change it with a command" :uri uri)))
  (_check-contents uri encoding operations)
  (setv text (lines.decode base encoding)
        made (plan.make text operations))
  {"uri" uri "path" (get target "path") "key" (+ "workspace:" (get target "path")) "info" (get target "info")
   "encoding" encoding "plan" made "old" (lines.split text) "after" (lines.encode (get made "text") encoding)})

(defn _check-contents [uri encoding operations]
  "Refuse what OPERATIONS would write if ENCODING, that of URI, does not hold it, or if it has marks of undecodable bytes."
  (for [content (lfor o operations :if (in "content" o) (get o "content"))]
    (setv wrong (lines.foreign content encoding)
          mark (lines.marks-in content encoding))
    (when (is-not wrong None)
      (raise (protocol.ResourceError
               (+ f"{uri} is {(get encoding "name")}, which has no character U+{(ord wrong) :04X}"
                  (if (<= 0xd800 (ord wrong) 0xdfff) " (half of a surrogate pair)" f" ({wrong})")
                  "; nothing was changed. Write it in other characters, or convert the file first (iconv)")
               :uri uri)))
    (when mark
      (raise (protocol.ResourceError
               (+ f"{uri}: the content holds {mark}, which only stands for a byte that is no UTF-8 and cannot be written as text;"
                  " nothing was changed. Leave such lines as they are and edit others; or give the whole line without the mark"
                  " (the byte is then gone); or change the bytes with a command (sed under LC_ALL=C, a script)")
               :uri uri)))))

;; * The outcome

(defn _outcome [context drafts notes]
  "Return the outcome of DRAFTS; NOTES are sentences of the publication by path."
  (setv room (max 600 (// outcome-room (len drafts)))
        parts (lfor d drafts (_part context d (.get notes (get d "path") []) room)))
  {"changes" (lfor [row _] parts row)
   "text" (.join "\n\n" (lfor [_ text] parts text))})

(defn _part [context draft notes room]
  "Return #(row text) of the published DRAFT in about ROOM characters, with NOTES and its own."
  (setv old (get draft "old") new (get draft "plan" "lines")
        blocks (diff.refine (get draft "plan" "blocks") old new)
        [added removed] (diff.counts blocks)
        rows (_marked (diff.rows blocks old new) (get draft "encoding") (get draft "encoding"))
        text (diff.text rows (int (* room 0.4)))
        shown (_fresh context draft (get draft "plan" "blocks") (max 300 (- room (len text) 300)))
        remarks (+ notes (_remarks draft))
        verb (if (is (get draft "before") None) "Created" "Edited"))
  #({"uri" (get draft "uri") "revision" (get shown "revision") "kind" "file" "operations" (get draft "plan" "titles")
     "added" added "removed" removed "diff" rows "visible" (get shown "visible") "elided" (get shown "elided")
     "lines" (get shown "lines") "total" (get shown "total") "notes" remarks}
     (.join "\n" [f"{verb} {(get draft "uri")}: +{added} -{removed}"
                  #* (lfor title (get draft "plan" "titles") f"  {title}")
                  #* (if text ["Difference (old and new line numbers):" text] [])
                  (get shown "text")
                  #* (lfor remark remarks f"Note: {remark}")])))

(defn _fresh [context draft blocks room]
  "Return the page around BLOCKS of the published DRAFT in ROOM characters, under its new revision."
  (setv seen (snapshot.scan-bytes (get draft "after"))
        first (max 1 (- (min (gfor [_ _ c _] blocks (+ c 1)) :default 1) 2))
        first (min first (max 1 (get seen "total")))
        last (+ (max (gfor [_ _ _ d] blocks d) :default 1) 3)
        kept (get seen "data"))
  (setv (get seen "data") (get draft "after")
        shown (_fitting seen first (+ first 2) last room)
        entry (.note context.observations (get draft "key") :uri (get draft "uri") :kind "file"
                     :digest (get seen "digest") :total (get seen "total") :data kept))
  (page.observe context entry shown)
  (page.build entry shown :header (page.encoding-header seen) :empty "(the file is empty)"))

(defn _fitting [seen first changed last room]
  "Return the window of the snapshot SEEN from FIRST to LAST in ROOM characters; begin later, but not after CHANGED,
where a line before it is so long that nothing else would be shown."
  (while True
    (setv shown (window.read seen first (min most-shown (+ 1 (- last first))) room))
    (when (or (not (get shown "cut")) (>= first changed) (>= first (get seen "total")))
      (return shown))
    (+= first 1)))

(defn _remarks [draft]
  "Return sentences about DRAFT that its reader should know."
  (setv now (lines.encoding-of (get draft "after"))
        before (get draft "encoding")
        same (= (get draft "before") (get draft "after"))
        warning (delimiters.note (get draft "path") (get draft "plan" "text") (.join "" (get draft "old"))))
  (+ (if same ["the file already was like that; it was not written"] [])
     (if (get draft "rebased") ["earlier edits had moved these lines; the change was made where they are now"] [])
     (if (or (is now None) (!= (get now "codec") (get before "codec")))
       (if (.isascii (get draft "after")) [] [f"the file was {(get before "name")} and reads as {(if now (get now "name") "no text")} now"])
       [])
     (_gone draft)
     (if warning [warning] [])))

(defn _gone [draft]
  "Return what to say of undecodable bytes that DRAFT replaced, in a list."
  (setv n (if (get draft "encoding" "bad")
            (- (get draft "encoding" "bad") (lines.undecodable (get draft "plan" "text")))
            0))
  (cond
    (= n 0) []
    (= n 1) ["1 undecodable byte went with the line that was replaced or deleted"]
    True [f"{n} undecodable bytes went with the lines that were replaced or deleted"]))
