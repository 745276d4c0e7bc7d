"A workspace to read and edit in tests, in few words."

(import
  asyncio
  os
  autolith.resource [protocol workspace])

(defclass Place []
  "A folder, and a reader of it."

  (defn __init__ [self folder]
    (setv self.folder (str folder)
          self.context (protocol.Context self.folder)))

  (defn path [self name]
    "Return the path of NAME in the folder."
    (os.path.join self.folder name))

  (defn put [self name data]
    "Write the bytes DATA to NAME and return its path."
    (setv path (.path self name))
    (with [f (open path "wb")] (.write f data))
    path)

  (defn data [self name]
    "Return the bytes of NAME."
    (with [f (open (.path self name) "rb")] (.read f)))

  (defn read [self name #** window]
    "Return the page of NAME; WINDOW is keyword arguments."
    (asyncio.run (protocol.read self.context (uri-of name) window)))

  (defn edit [self #* changes]
    "Apply CHANGES, each [name revision operation ...], and return the outcome."
    (asyncio.run (protocol.edit self.context
                   (lfor [name revision #* operations] changes
                         {"uri" (uri-of name) "base_revision" revision "operations" operations}))))

  (defn change [self name #* operations]
    "Read NAME, apply OPERATIONS to it, and return its bytes afterwards."
    (.edit self [name (get (.read self name :line-count 1000) "revision") #* operations])
    (.data self name)))

(defn uri-of [name]
  "Return NAME as a URI; one that is a URI already stays."
  (if (in ":" name) name (+ "workspace:" name)))

(defn replaced [a b content]
  "Return the operation that replaces the lines A to B by CONTENT."
  {"op" "replace-lines" "start_line" a "end_line" b "content" content})

(defn deleted [a b]
  "Return the operation that deletes the lines A to B."
  {"op" "delete-lines" "start_line" a "end_line" b})

(defn before [line content]
  "Return the operation that inserts CONTENT before LINE."
  {"op" "insert-before" "line" line "content" content})

(defn after [line content]
  "Return the operation that inserts CONTENT after LINE."
  {"op" "insert-after" "line" line "content" content})

(defn filled [content]
  "Return the operation that gives a missing or empty file CONTENT."
  {"op" "replace-empty" "content" content})

(defn final-newline [present]
  "Return the operation that makes the newline at the end be there or not, as PRESENT says."
  {"op" "final-newline" "present" present})

(defn texts [page]
  "Return the texts of the lines that PAGE shows."
  (lfor row (get page "lines") (get row "text")))
