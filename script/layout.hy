"Read every source file and report what breaks the rules of this repository.

Run as `hy script/layout.hy [FILE ...]` from the root; prints `path:line: words` for each complaint and exits 1 if
there is any. A complaint is #(line words); a rule is a generator function from a Source to complaints. AGENTS.md
says why the rules are as they are."

(import
  keyword
  pathlib [Path]
  re
  subprocess
  sys
  hy
  hy.models [FComponent FString Keyword List Sequence String Symbol]
  hyrule
  rooms
  sources [Source everything head walk])

(setv ROOT (. (Path __file__) (resolve) parent parent)
      WIDTH 120
      PROSE-WIDTH 150                                    ; where it is a string or a remark that runs over, and in tests
      FUNCTION-LINES 60
      FILE-LINES 450
      DEFINERS #{"defn" "defclass" "defmacro"}
      USER-CODE #{"docs" "init.hy" "roles" "skills"}     ; runs in autolith.user, which knows every macro
      DOCUMENTED #{"autolith" "recovery" "script" "bench"}
      FORBIDDEN
      [#((re.compile (+ r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")) "an unfinished mark")
       #((re.compile r"(?<![\w.~}])/(work|farm|root)/") "a path of one machine")
       #((re.compile (+ r"py" r"pi\.(org|python)|python" r"hosted|npm" r"js\.org|crates\.io"))
         "a package registry host")])


;; * Text

(defn plain-text [source]
  "Complain of tabs, trailing blanks, wrong line ends, a missing last newline, and lines that are too wide."
  (when (and source.text (not (.endswith source.text "\n")))
    (yield #((len source.lines) "no newline at the end of the file")))
  (when (.endswith source.text "\n\n")
    (yield #((- (len source.lines) 1) "blank line at the end of the file")))
  (for [[number line] (enumerate source.lines 1)]
    (when (in "\t" line) (yield #(number "tab")))
    (when (in "\r" line) (yield #(number "carriage return")))
    (when (!= line (.rstrip line)) (yield #(number "trailing blank")))
    (when (and (> (len line) WIDTH) (not (and (<= (len line) PROSE-WIDTH) (prose? source number))))
      (yield #(number f"{(len line)} columns, at most {WIDTH}")))))

(defn prose? [source number]
  "Tell whether it is a string or a remark that makes line NUMBER of SOURCE run over the width, or a test does."
  (or
    (= (get source.parts 0) "tests")
    (.startswith (.lstrip (get source.lines (- number 1))) ";")
    (any (gfor form (everything source)
               :if (isinstance form #(String FString))
               (or (< form.start-line number form.end-line)
                   (and (= number form.start-line form.end-line) (< form.start-column WIDTH form.end-column))
                   (and (= number form.start-line) (< number form.end-line) (< form.start-column WIDTH))
                   (and (= number form.end-line) (> number form.start-line) (> form.end-column WIDTH)))))))

(defn forbidden [source]
  "Complain of words that must not be left in the tree."
  (for [[number line] (enumerate source.lines 1)
        [pattern words] FORBIDDEN]
    (when (.search pattern line)
      (yield #(number f"{words}: {(.group (.search pattern line))}")))))

(defn file-length [source]
  "Complain of a file that is too long."
  (when (and (> (len source.lines) FILE-LINES) (!= (get source.parts 0) "tests"))
    (yield #(1 f"{(len source.lines)} lines, at most {FILE-LINES}"))))

(defn unreadable [source]
  "Complain of a Hy file that cannot be read."
  (when source.fault
    (yield source.fault)))


;; * Shape

(defn indent [line]
  "Return the number of spaces that LINE begins with."
  (- (len line) (len (.lstrip line))))

(defn misplaced [form lines]
  "Yield each form in FORM that begins one of LINES no deeper than FORM's line."
  (when (isinstance form #(FString FComponent))
    (return))
  (setv outer (indent (get lines (- form.start-line 1))))
  (for [child form]
    (when (hasattr child "start_line")
      (setv column (- child.start-column 1))
      (when (and (> child.start-line form.start-line)
                 (= column (indent (get lines (- child.start-line 1))))
                 (<= column outer))
        (yield child)))
    (when (isinstance child Sequence)
      (yield :from (misplaced child lines)))))

(defn shape [source]
  "Complain where the layout of SOURCE contradicts its parentheses."
  (for [form source.forms]
    (when (and (> form.start-column 1)
               (= (- form.start-column 1) (indent (get source.lines (- form.start-line 1)))))
      (yield #(form.start-line "top-level form is indented")))
    (when (isinstance form Sequence)
      (for [child (misplaced form source.lines)]
        (yield #(child.start-line "form begins left of its parent"))))))

(defn string-lines [source]
  "Return the numbers of the lines that lie inside strings of several lines."
  (setv found (set))
  (for [form (everything source)]
    (when (isinstance form #(String FString))
      (.update found (range (+ form.start-line 1) (+ form.end-line 1)))))
  found)

(defn lonely-brackets [source]
  "Complain of closing brackets on a line of their own."
  (setv suspects (sfor [number line] (enumerate source.lines 1)
                       :if (re.fullmatch r"\s*[\])}]+\s*(;.*)?" line)
                       number))
  (when suspects
    (for [number (- suspects (string-lines source))]
      (yield #(number "closing brackets on a line of their own")))))


;; * Definitions

(defn definition-name [form]
  "Return the name that the definition FORM defines, or None; options, decorators and annotations are skipped."
  (for [part (cut form 1 None)]
    (cond
      (isinstance part #(Keyword List)) None
      (isinstance part Symbol) (return (str part))
      (= (head part) "annotate") (return (str (get part 1)))
      True (return None))))

(defn body-of [form]
  "Return what follows the parameters (or bases) in the definition FORM."
  (setv rest (list (cut form 1 None)))
  (while (and rest (isinstance (get rest 0) #(Keyword List)))
    (.pop rest 0))
  (cut rest 2 None))

(defn documented? [form]
  "Tell whether the definition FORM has a docstring; a function that is only a string has none."
  (setv body (body-of form))
  (and body (isinstance (get body 0) String)
       (or (> (len body) 1) (in (head form) #("defclass" "defmacro")))))

(defn docstrings [source]
  "Complain of public definitions, modules and tests without a docstring."
  (setv tests (= (get source.parts 0) "tests"))
  (when (and (in (get source.parts 0) DOCUMENTED) source.forms (not (isinstance (get source.forms 0) String)))
    (yield #(1 "the module has no docstring")))
  (for [form source.forms :if (in (head form) DEFINERS)]
    (setv name (or (definition-name form) "_"))
    (when (and (if tests (.startswith name "test-") (not (.startswith name "_")))
               (not (documented? form)))
      (yield #(form.start-line f"{name} has no docstring")))))

(defn function-length [source]
  "Complain of functions that are too long, blank lines not counted."
  (for [form (everything source) :if (in (head form) #("defn" "defmacro" "deftool" "defcommand"))]
    (setv body (cut source.lines (- form.start-line 1) form.end-line)
          count (sum (gfor line body :if (.strip line) 1)))
    (when (> count FUNCTION-LINES)
      (yield #(form.start-line f"{(definition-name form)} has {count} lines, at most {FUNCTION-LINES}")))))

(defn parameters [form]
  "Yield the names of the parameters of the definition FORM."
  (setv rest (list (cut form 1 None)))
  (while (and rest (isinstance (get rest 0) #(Keyword List)))
    (.pop rest 0))
  (when (and (> (len rest) 1) (isinstance (get rest 1) List))
    (for [part (get rest 1)]
      (setv part (cond (and (isinstance part List) part) (get part 0)
                       (in (head part) #("unpack-iterable" "unpack-mapping" "annotate")) (get part 1)
                       True part))
      (when (isinstance part Symbol)
        (yield (str part))))))

(defn names [source]
  "Complain of names that mangle badly."
  (for [form (everything source) :if (in (head form) #("defn" "defmacro" "defclass"))]
    (setv name (or (definition-name form) ""))
    (when (or (.endswith name "!") (in "->" (cut name 1 None)) (re.fullmatch r"\*.+\*|-\w.*" name))
      (yield #(form.start-line f"name {name}: no `!`, `->`, earmuffs or leading hyphen")))
    (when (!= (head form) "defclass")
      (for [parameter (parameters form)]
        (when (or (re.search r".[?!]$" parameter) (keyword.iskeyword parameter))
          (yield #(form.start-line f"parameter {parameter} of {name} cannot be a keyword argument")))))))


;; * Macros

(defn required-names [source]
  "Return the names of the macros that SOURCE requires, and whether it requires all of some module."
  (setv found (set)  all False)
  (for [form (everything source) :if (= (head form) "require")]
    (for [part (cut form 1 None)]
      (cond
        (isinstance part List) (.update found (gfor p part :if (isinstance p Symbol) (str p)))
        (= part (Symbol "*")) (setv all True))))
  #(found all))

(defn bound-names [source]
  "Return every name that SOURCE might bind: definitions, parameters, targets, imports."
  (setv found (set))
  (for [form (everything source)]
    (cond
      (in (head form) #("defn" "defmacro" "defclass" "deftool" "defcommand" "defonce" "defparameter"))
      (do (.add found (definition-name form))
          (.update found (parameters form)))
      (in (head form) #("fn" "setv" "setx" "let" "for" "lfor" "gfor" "sfor" "dfor" "with" "import" "match" "except"))
      (.update found (gfor f (walk form) :if (isinstance f Symbol)
                           :if (not (in (str f) (gfor g (walk form) (head g)))) (str f)))))
  found)

(defn unrequired [source macros]
  "Complain of calls of names that are known MACROS but that SOURCE does not require; they would run as functions."
  (setv [required all] (required-names source)
        heads (lfor form (everything source) :if (in (head form) macros) form))
  (when (or all (not heads))
    (return))
  (setv known (| required (bound-names source)))
  (for [form heads :if (not-in (head form) known)]
    (yield #(form.start-line f"macro {(head form)} is used but not required"))))

(defn run-time-require [source]
  "Complain of a `require` that runs when the module is imported: it walks the stack, for milliseconds each."
  (when (not-in (get source.parts 0) #("autolith" "recovery"))
    (return))
  (for [form source.forms :if (= (head form) "require")]
    (yield #(form.start-line "require at run time; write (eval-when-compile (require ...))"))))

(defn known-macros [sources]
  "Return the names of the macros of Hyrule and of those that SOURCES define, less Hy's own."
  (setv core (sfor name (. hy core macros _hy_macros) (hy.unmangle name))
        ours (sfor source sources
                   :if (!= (get source.parts 0) "tests")
                   form source.forms
                   :if (= (head form) "defmacro")
                   (definition-name form)))
  (- (| (sfor name hyrule._hy-macros (hy.unmangle name)) ours) core))


;; * The whole

(setv TEXT-RULES [plain-text forbidden file-length unreadable]
      HY-RULES [shape lonely-brackets docstrings function-length names run-time-require])

(defn files [root]
  "Return the source files under ROOT that git knows or would add, as relative paths."
  (setv output (. (subprocess.run ["git" "ls-files" "--cached" "--others" "--exclude-standard"]
                                  :cwd root :capture-output True :text True :check True)
                  stdout))
  (sorted (gfor path (.split output "\n")
                :if (re.search r"\.(hy|py|sh)$|^script/\w+$|^\.ci/" path)
                :if (.exists (/ root path))
                path)))

(defn check [sources]
  "Yield #(path line words) for everything that is wrong with SOURCES, which are all of the tree."
  (setv modules (rooms.known-modules sources)
        macros (known-macros sources))
  (for [source sources]
    (setv found [])
    (for [rule TEXT-RULES] (.extend found (rule source)))
    (when source.hy
      (for [rule HY-RULES] (.extend found (rule source)))
      (when (not-in (get source.parts 0) USER-CODE)
        (.extend found (unrequired source macros))))
    (when (or source.hy (.endswith source.path ".py"))
      (.extend found (rooms.imports source modules)))
    (for [[line words] (sorted found)]
      (yield #(source.path line words))))
  (yield :from (rooms.cycles sources modules)))

(defn load [root paths]
  "Return the Source of each of PATHS under ROOT."
  (lfor path paths (Source path (.read-text (/ root path) :encoding "utf-8"))))

(defn main [arguments]
  "Check the tree and print the complaints, those of the files ARGUMENTS only if there are any; return how many."
  (setv found (lfor complaint (check (load ROOT (files ROOT)))
                    :if (or (not arguments) (in (get complaint 0) arguments))
                    complaint))
  (for [[path line words] found]
    (print f"{path}:{line}: {words}"))
  (print f"layout: {(len found)} complaints" :file (if found sys.stderr sys.stdout))
  (len found))

(when (= __name__ "__main__")
  (sys.exit (if (main (cut sys.argv 1 None)) 1 0)))
