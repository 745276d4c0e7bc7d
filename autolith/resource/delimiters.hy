"Find unbalanced delimiters in Lisp source, and the line where the mistake likely is. Pure.

A dialect is hy, lisp, scheme, elisp or clojure. A problem is {\"line\" \"column\" \"message\"}. Only what matters for delimiters is read:
strings, comments, character literals, |symbols|, bracket strings and the code inside format strings of Hy."

(import
  os
  re)

(setv DIALECTS {".hy" "hy"
                ".lisp" "lisp"  ".lsp" "lisp"  ".cl" "lisp"  ".asd" "lisp"
                ".scm" "scheme"  ".ss" "scheme"  ".sld" "scheme"  ".rkt" "scheme"
                ".el" "elisp"
                ".clj" "clojure"  ".cljs" "clojure"  ".cljc" "clojure"  ".edn" "clojure"}
      CLOSERS {"(" ")" "[" "]" "{" "}"}
      OPENERS (dfor [a b] (.items CLOSERS) b a))

(setv LINE-COMMENT (re.compile r";[^\n]*")
      STRING (re.compile r"\"(?:[^\"\\]|\\.)*\"" re.DOTALL)
      BARS (re.compile r"\|(?:[^|\\]|\\.)*\|" re.DOTALL)
      SHARP-CHARACTER (re.compile r"#\\(?:[A-Za-z][A-Za-z0-9-]*|.)" re.DOTALL)
      SLASH-CHARACTER (re.compile r"\\(?:[A-Za-z][A-Za-z0-9]*|.)" re.DOTALL)
      QUESTION-CHARACTER (re.compile r"\?(?:\\(?:[CMSHAs]-\\?)*.|.)" re.DOTALL)
      BRACKET-STRING (re.compile r"#\[([^\[\]\n]*)\[.*?\]\1\]" re.DOTALL)
      BRACKET-START (re.compile r"#\[[^\[\]()\s]*\[")
      FORMAT-START (re.compile r"[rb]?f[rb]?\"")
      DATUM-COMMENT (re.compile "#;")
      HERE-STRING (re.compile r"#<<([^\n]*)\n.*?\n\1(?=\n|$)" re.DOTALL)
      HY-INTEREST (re.compile r"[;\"()\[\]{}#]|(?<![A-Za-z0-9_*+!<>=/$%&.:-])[rb]?f[rb]?\"")
      INTEREST (re.compile r"[;\"()\[\]{}#|\\?]")
      SYMBOL-TAIL (re.compile r"[A-Za-z0-9_*+!<>=/$%&.:-]"))

(defn dialect-of [path]
  "Return the dialect of the file PATH, or None if it is no Lisp."
  (.get DIALECTS (.lower (get (os.path.splitext path) 1))))

(defn note [path text [before None]]
  "Return a sentence on the unbalanced delimiters of TEXT, the Lisp file PATH, or None; BEFORE is its text until now."
  (setv dialect (dialect-of path))
  (when (is dialect None)
    (return None))
  (setv problem (check text dialect))
  (when problem
    (+ f"unbalanced delimiters, likely at line {(get problem "line")}: {(get problem "message")}"
       (if (and before (check before dialect)) " (the file was unbalanced before this edit, too)" ""))))

(defn check [text dialect]
  "Return the first problem of TEXT in DIALECT, or None when its delimiters balance."
  (setv state (Reader text dialect))
  (while (and (< state.at (len text)) (is state.problem None))
    (.step state))
  (cond
    state.problem state.problem
    (is-not state.unfinished None) (_problem text state.unfinished "a string or comment that begins here never ends")
    state.formats (_problem text (get state.formats -1 1) "a field of the format string that begins here never ends")
    state.open (_unclosed state)
    True None))

(defn _problem [text at message]
  "Return the problem MESSAGE at the position AT of TEXT."
  {"line" (+ 1 (.count text "\n" 0 at)) "column" (- at (.rfind text "\n" 0 at)) "message" message})

(defclass Reader []
  "Walks over the source TEXT: `open` are positions of open delimiters, `suspects` those still open at a form in column 1."

  (defn __init__ [self text dialect]
    (setv self.text text  self.dialect dialect  self.at 0
          self.open []  self.suspects []  self.formats []  self.problem None  self.unfinished None))

  (defn step [self]
    "Go to the next character that may matter, and read what it begins."
    (setv m (.search (if (= self.dialect "hy") HY-INTEREST INTEREST) self.text self.at))
    (when (is m None)
      (setv self.at (len self.text))
      (return))
    (setv self.at (.start m)
          c (get self.text self.at))
    (cond
      (.skip self c) None
      (in c CLOSERS) (.enter self)
      (in c OPENERS) (.leave self c)
      True (+= self.at 1)))

  (defn skip [self c]
    "Pass over what begins with C here, if it hides delimiters; tell whether it did."
    (setv pattern (.hiding self c))
    (cond
      (is pattern None) False
      (= pattern FORMAT-START) (do (setv m (.match pattern self.text self.at)
                                         self.at (.end m))
                                   (.read-format self (.start m))
                                   True)
      (setx m (.match pattern self.text self.at)) (do (setv self.at (.end m)) True)
      (in c "\"|#") (do (setv self.unfinished self.at self.at (len self.text)) True)
      True False))

  (defn hiding [self c]
    "Return the pattern of what C begins here, or None."
    (setv d self.dialect text self.text at self.at after (cut text (+ at 1) (+ at 2)))
    (cond
      (= c ";") LINE-COMMENT
      (and (= d "hy") (in c "rbf") (not (.within-symbol? self)) (.match FORMAT-START text at)) FORMAT-START
      (= c "\"") STRING
      (and (= c "|") (in d #("lisp" "scheme"))) BARS
      (and (= c "#") (= d "hy") (.match BRACKET-START text at)) BRACKET-STRING
      (and (= c "#") (= d "scheme") (= after ";")) DATUM-COMMENT
      (and (= c "#") (in d #("lisp" "scheme")) (= after "|")) (.block-comment self)
      (and (= c "#") (in d #("lisp" "scheme")) (= after "\\")) SHARP-CHARACTER
      (and (= c "#") (= d "scheme") (.startswith text "#<<" at)) HERE-STRING
      (and (= c "\\") (= d "clojure")) SLASH-CHARACTER
      (and (= c "\\") (in d #("lisp" "elisp" "scheme"))) SLASH-CHARACTER
      (and (= c "?") (= d "elisp") (not (.within-symbol? self))) QUESTION-CHARACTER
      True None))

  (defn within-symbol? [self]
    "Tell whether the character before this one belongs to a symbol."
    (and (> self.at 0) (bool (.match SYMBOL-TAIL self.text (- self.at 1)))))

  (defn block-comment [self]
    "Return a pattern that matches the block comment here, however deep it nests; one that never matches if it has no end."
    (setv depth 0 end None)
    (for [m (.finditer (re.compile r"#\||\|#") self.text self.at)]
      (+= depth (if (= (.group m) "#|") 1 -1))
      (when (= depth 0)
        (setv end (.end m))
        (break)))
    (if end (re.compile (+ "(?s).{" (str (- end self.at)) "}")) (re.compile "(?!)")))

  (defn enter [self]
    "Open the delimiter here; one in column 1 casts suspicion on all that are open."
    (when (and self.open (not self.suspects) (not self.formats)
               (or (= self.at 0) (= (get self.text (- self.at 1)) "\n")))
      (setv self.suspects [#((list self.open) self.at)]))
    (.append self.open self.at)
    (+= self.at 1))

  (defn leave [self c]
    "Close with C the innermost open delimiter, or note the problem."
    (setv wanted (when self.open (get CLOSERS (get self.text (get self.open -1)))))
    (cond
      (and self.formats (= c "}") (= (len self.open) (get self.formats -1 0)))
        (do (+= self.at 1)
            (.read-format self (get (.pop self.formats) 1)))
      (is wanted None)
        (setv self.problem (_problem self.text self.at f"{c} closes nothing"))
      (!= wanted c)
        (setv self.problem (_mismatch self c wanted))
      True
        (do (.pop self.open)
            (when (and self.suspects (not self.open)) (setv self.suspects []))
            (+= self.at 1))))

  (defn read-format [self start]
    "Read on in the format string that began at START, up to its end or the code in its next field."
    (while (< self.at (len self.text))
      (setv c (get self.text self.at) pair (cut self.text self.at (+ self.at 2)))
      (cond
        (= c "\\") (+= self.at 2)
        (in pair #("{{" "}}")) (+= self.at 2)
        (= c "\"") (do (+= self.at 1) (return))
        (= c "{") (do (+= self.at 1)
                      (.append self.formats #((len self.open) start))
                      (return))
        True (+= self.at 1)))
    (setv self.unfinished start)))

(defn _mismatch [reader c wanted]
  "Return the problem that C stands where READER wanted WANTED."
  (setv text reader.text at (get reader.open -1) opener (get text at))
  (if reader.suspects
    (_unclosed reader)
    (_problem text reader.at f"{c} where {wanted} should close the {opener} of line {(+ 1 (.count text "\n" 0 at))}")))

(defn _unclosed [reader]
  "Return the problem of the delimiters that READER found open: before the first form in column 1 that they swallowed."
  (setv [open end] (if reader.suspects (get reader.suspects 0) #(reader.open (len reader.text)))
        text reader.text
        at (get open -1)
        last (len (.rstrip (cut text end)))
        n (len open)
        closers (.join "" (gfor o (reversed open) (get CLOSERS (get text o)))))
  {#** (_problem text (max 0 (- last 1)) "")
   "message" (+ f"{n} not closed before " (if reader.suspects f"the form in line {(+ 1 (.count text "\n" 0 end))}" "the end")
                f"; {(cut closers 20)} is missing, the innermost open {(get text at)} is in line {(+ 1 (.count text "\n" 0 at))}")})
