"Path filters as people and models write them: `*.py src/ !tests/`.

A Filter says which of ripgrep's options approximate the filter (`roots` to search, `options`), and `keeps?` says exactly whether
a path belongs. Kinds of filter are combined by and: a path is kept if it is under one of the folders, matches
one of the patterns, and none of those that begin with `!`. Patterns without a slash match a name in any folder."

(import
  os
  re
  shlex
  autolith.base [conditions])

(defclass Malformed [conditions.AutolithError]
  "A path filter cannot be understood, or leads out of the workspace.")

(defclass Filter []
  "ROOTS are folders to search, WANTED and REFUSED pairs #(pattern regular-expression)."
  (defn __init__ [self roots wanted refused]
    (setv self.roots roots
          self.wanted wanted
          self.refused refused))

  (defn keeps? [self path]
    "Does the relative PATH belong?"
    (and (or (not self.wanted) (any (gfor [_ r] self.wanted (.match r path))))
         (not (any (gfor [_ r] self.refused (.match r path))))))

  (defn options [self]
    "Return ripgrep's options that leave out at least a part of what does not belong, and nothing that does."
    (setv names (lfor [pattern _] self.wanted (last-name pattern)))
    (+ (if (and names (not-in None names))
         [#* (gfor name names word ["--type-add" f"wanted:{name}"] word) "--type" "wanted"]
         [])
       (lfor [pattern _] self.refused f"--glob=!{pattern}")))

  (defn hidden? [self]
    "Do the filters name hidden files or folders?"
    (any (gfor text [#* self.roots #* (gfor [p _] self.wanted p)]
               part (.split text "/")
               (and (.startswith part ".") (not-in part #("." "..")))))))

(defn parse [text cwd]
  "Return the Filter that TEXT, filters separated by spaces, means in the directory CWD."
  (setv roots [] wanted [] refused [])
  (for [word (_words text) :if (not-in word #("." "./" "/"))]
    (setv negated (.startswith word "!")
          pattern (_inside (if negated (cut word 1 None) word)))
    (cond
      negated (.append refused #(pattern (compiled (_folder-pattern pattern cwd) True)))
      (_folder? pattern cwd) (.append roots (.strip pattern "/"))
      True (.append wanted #(pattern (compiled pattern)))))
  (Filter (_outermost roots) wanted refused))

(defn _outermost [roots]
  "Return ROOTS, each once, without those that lie in another."
  (setv roots (sorted (set roots)))
  (lfor r roots :if (not (any (gfor o roots (.startswith r (+ o "/"))))) r))

(defn _words [text]
  "Return the words of TEXT; quotes keep spaces in one."
  (try
    (shlex.split text)
    (except [ValueError] (.split text))))

(defn _inside [pattern]
  "Return PATTERN without a leading `./`; refuse one that leads out of the workspace."
  (setv pattern (re.sub r"^(\./)+" "" pattern))
  (when (or (not pattern) (in "\0" pattern) (in ".." (.split pattern "/")))
    (raise (Malformed f"the filter {pattern !r} is no path inside the workspace; filters look like *.py src/ !tests/")))
  pattern)

(defn _folder? [pattern cwd]
  "Does PATTERN name a folder in CWD?"
  (and (not (re.search r"[*?\[{]" pattern))
       (os.path.isdir (os.path.join cwd (.strip pattern "/")))))

(defn _folder-pattern [pattern cwd]
  "Return PATTERN, ending in a slash if it names a folder in CWD, so that everything in it is meant."
  (if (and (not (.endswith pattern "/")) (_folder? pattern cwd)) (+ pattern "/") pattern))

(defn last-name [pattern]
  "Return a pattern for the file names that PATTERN can match, or None if that cannot be said."
  (setv name (get (.rsplit (.rstrip pattern "/") "/" 1) -1))
  (when (and (not (.endswith pattern "/"))
             (not (re.search r"\*\*|[{}\[\]:,\\]" pattern)))
    name))

;; * Patterns

(defn compiled [pattern [deep False]]
  "Return the regular expression of the relative paths that PATTERN matches; DEEP: and of all that is beneath them."
  (re.compile (expression pattern deep) re.DOTALL))

(defn expression [pattern [deep False]]
  "Return PATTERN as the text of a regular expression for relative paths, DEEP as in `compiled`."
  (setv folder (.endswith pattern "/")
        body (.strip pattern "/")
        anchored (or (.startswith pattern "/") (in "/" body)))
  (+ (if (or (not anchored) (.startswith body "**/")) "(?:.*/)?" "")
     (_translated (.removeprefix body "**/"))
     (cond folder "/.*" deep "(?:/.*)?" True "")
     r"\Z"))

(setv TOKEN (re.compile (+ r"(?P<deep>\*\*/)|(?P<all>\*\*)|(?P<star>\*)|(?P<any>\?)|(?P<set>\[[!^]?\]?[^\]]*\])"
                           r"|(?P<open>\{)|(?P<shut>\})|(?P<comma>,)|\\(?P<quoted>.)|(?P<plain>.)")
                        re.DOTALL))

(defn _translated [body]
  "Return the regular expression of BODY, a pattern without leading or trailing slashes."
  (setv out [] depth 0)
  (for [m (.finditer TOKEN body)]
    (setv kind m.lastgroup text (.group m))
    (cond
      (= kind "open") (do (+= depth 1) (.append out "(?:"))
      (and (= kind "shut") (> depth 0)) (do (-= depth 1) (.append out ")"))
      (and (= kind "comma") (> depth 0)) (.append out "|")
      True (.append out (_token kind text (.group m "quoted")))))
  (when depth
    (raise (Malformed f"the pattern {body !r} has a brace that is not closed")))
  (.join "" out))

(defn _token [kind text quoted]
  "Return the regular expression of the token TEXT of KIND; QUOTED is the character after a backslash."
  (match kind
    "deep" "(?:.*/)?"
    "all" ".*"
    "star" "[^/]*"
    "any" "[^/]"
    "set" (_set text)
    "quoted" (re.escape quoted)
    _ (re.escape text)))

(defn _set [text]
  "Return the character set TEXT, as `[!a-z]`, for a regular expression."
  (setv body (cut text 1 -1)
        negated (in (cut body 1) #("!" "^"))
        members (.replace (.replace (if negated (cut body 1 None) body) "\\" "\\\\") "[" "\\["))
  (try
    (re.compile (+ "[" members "]"))
    (except [re.error] (return (re.escape text))))
  (if negated f"[^/{members}]" f"[{members}]"))
