"The draft as text: is it prose or a form, what operator is being typed, where a new line begins. Pure.

A place is {\"operator\" str or None \"argument\" int, of the call round the caret \"start\" int where it opens \"word\" str before the caret
\"string\" str or None, the unfinished string at the caret}."

(import
  re)

(setv OPEN "([{" CLOSE {")" "(" "]" "[" "}" "{"}
      BODY (re.compile (+ r"(def\w*|fn|when|unless|while|for|[lgsd]for|let|with|try|except\*?|finally|else|do|match|cond|if"
                          r"|handler-bind|restart-case|redefine)$"))
      TOKEN (re.compile r"\"(?:[^\"\\]|\\.)*(?P<quote>\")?|;[^\n]*|#\[(?P<fence>[^\[\]\s]*)\[|[\(\[\{\)\]\}]|[^\s\(\)\[\]\{\}\";]+|\s+" re.DOTALL)
      DOTTED (re.compile r"[^\s()\[\]{}\"';`~,]*$"))

(defn form? [text]
  "Is TEXT the beginning of a form rather than prose?"
  (.startswith (.lstrip text) "("))

(defn tokens [text]
  "Yield [START KIND TOKEN] of TEXT: open, close, string, open-string, comment, space or atom."
  (setv at 0)
  (while (< at (len text))
    (setv hit (.match TOKEN text at))
    (when (is hit None) (break))
    (setv [token end] [(get hit 0) (.end hit)] first (get token 0))
    (when (is-not (get hit "fence") None)
      (setv close (.find text (+ "]" (get hit "fence") "]") end)
            end (if (< close 0) (len text) (+ close 2 (len (get hit "fence"))))
            token (cut text at end)))
    (yield [at (cond
                 (is-not (get hit "fence") None) "string"
                 (= first "\"") (if (get hit "quote") "string" "open-string")
                 (= first ";") "comment"
                 (in first OPEN) "open"
                 (in first CLOSE) "close"
                 (.isspace first) "space"
                 True "atom")
            token])
    (setv at end)))

(defn place [text]
  "Return what stands round the caret at the end of TEXT."
  (setv stack [] string None word "")
  (for [[start kind token] (tokens text)]
    (setv word (if (= kind "atom") token "") string (when (= kind "open-string") (cut token 1 None)))
    (match kind
      "open" (do (count-argument stack) (.append stack {"start" start "bracket" token "items" []}))
      "close" (when stack (.pop stack))
      (| "atom" "string" "open-string") (when stack (.append (get stack -1 "items") token))
      _ None))
  (setv call (next (gfor frame (reversed stack) :if (= (get frame "bracket") "(") frame) None)
        items (if call (get call "items") []))
  {"operator" (when (and items (or (> (len items) 1) (not word))) (get items 0))
   "items" items
   "argument" (max 0 (- (len items) (if (or word string) 1 0) 1))
   "start" (when call (get call "start"))
   "head" (bool (and call (<= (len items) (if word 1 0))))
   "word" word
   "string" string})

(defn count-argument [stack]
  "Note in the innermost frame of STACK that a bracketed argument begins."
  (when stack (.append (get stack -1 "items") "(")))

(defn indentation [text]
  "Return how many blanks a line after TEXT, an incomplete form, begins with."
  (setv stack [])
  (for [[start kind token] (tokens text)]
    (match kind
      "open" (do (when (and stack (is (get stack -1 "second") None) (get stack -1 "head"))
                   (setv (get stack -1 "second") start))
                 (when (and stack (not (get stack -1 "head"))) (setv (get stack -1 "head") "("))
                 (.append stack {"start" start "bracket" token "head" "" "second" None}))
      "close" (when stack (.pop stack))
      (| "atom" "string") (note-item stack start token)
      _ None))
  (if stack (hang text (get stack -1)) 0))

(defn note-item [stack start token]
  "Note TOKEN at START in the innermost frame of STACK: its head, or its first argument."
  (when stack
    (setv frame (get stack -1))
    (cond
      (not (get frame "head")) (setv (get frame "head") token)
      (is (get frame "second") None) (setv (get frame "second") start))))

(defn hang [text frame]
  "Return the indentation under FRAME, the bracket of TEXT that is still open."
  (setv base (column text (get frame "start")) head (get frame "head") second (get frame "second"))
  (cond
    (!= (get frame "bracket") "(") (+ base 1)
    (or (not head) (= head "(")) (+ base 1)
    (BODY.match head) (+ base 2)
    (and second (= (.count text "\n" 0 second) (.count text "\n" 0 (get frame "start")))) (column text second)
    True (+ base 2)))

(defn column [text at]
  "Return the column of the position AT in TEXT."
  (- at (+ 1 (.rfind text "\n" 0 at))))

(defn partner [text caret]
  "Return the position of the bracket that belongs to the one at, or just before, CARET of TEXT, with that one's; or None."
  (setv stack [] pairs {})
  (for [[start kind token] (tokens text)]
    (match kind
      "open" (.append stack start)
      "close" (when stack
                (setv mate (.pop stack) (get pairs start) mate (get pairs mate) start))
      _ None))
  (setv at (next (gfor i [(- caret 1) caret] :if (in i pairs) i) None))
  (when (is-not at None) [at (get pairs at)]))
