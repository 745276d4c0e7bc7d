"Markdown as it comes: each finished line is set at once and for good, the unfinished one is shown live.

`Stream` takes the text in any pieces, gives complete rows, and holds back only what later text could still change: the last
row, an unclosed inline span, a line that may turn out to be a fence. The pieces make no difference to the rows."

(import
  re
  autolith.door.terminal [cells wrap])

(setv HOLD 400                          ; an inline span closes within so many characters, or is none
      LIVE-ROWS 5
      SPECIAL (re.compile r"[`*\\]")
      HEADING (re.compile r"#{1,6} ")
      ITEM (re.compile r"(\s*)([-*+]|\d{1,9}[.)])( +)")
      QUOTE (re.compile r"\s*> ?")
      FENCE (re.compile r"( *)(`{3,}|~{3,})([^`]*)$")
      UNDECIDED (re.compile r"(\s*|#{1,7}|\s*[-*+]\s*|\s*\d{1,9}[.)]?\s*|\s*>\s*|\s*`{1,}[^`]*|\s*~{1,2}|\s*~{3,}.*)$"))

(defclass Stream []
  "One message of the model, set in rows of WIDTH columns that begin after the margin."

  (defn __init__ [self width]
    (setv self.width width
          self.margin [#("" (* " " (cells.margin width)))]
          self.rows []
          self.pending ""
          self.wrapper None
          self.style ""
          self.before ""
          self.fence None
          self.blank 0
          self.begun False))

  (defn feed [self text]
    "Take TEXT, the next piece; return the rows it completed."
    (setv [#* lines last] (.split (+ self.pending text) "\n"))
    (for [line lines]
      (setv self.pending line)
      (.finish-line self))
    (setv self.pending last)
    (when last (.progress self))
    (.take self))

  (defn finish [self]
    "Complete the message; return its last rows."
    (when (or self.pending self.wrapper) (.finish-line self))
    (setv self.fence None self.blank 0)
    (.take self))

  (defn take [self]
    "Return the complete rows and forget them."
    (setv rows self.rows self.rows [])
    rows)

  (defn resize [self width]
    "Go on in WIDTH columns; what is complete stays as it is."
    (when (!= width self.width)
      (setv self.width width
            self.margin [#("" (* " " (cells.margin width)))])
      (when self.wrapper (.narrow self.wrapper width))))

  (defn split [self]
    "Complete the row that is open, so that something else may be printed; the line goes on in a new one. Return rows."
    (when self.wrapper
      (.push self (.end self.wrapper))
      (setv self.wrapper (wrap.Wrapper self.width self.margin self.margin)
            self.wrapper.lean True))
    (.take self))

  (defn mid-line [self]
    "Is a line unfinished, or a fence open?"
    (bool (or self.pending self.wrapper self.fence)))

  (defn live [self]
    "Return the rows that are shown but not final, at most the last five."
    (setv rows (cond
                 self.wrapper (.peek self.wrapper self.pending self.style)
                 (not self.pending) []
                 self.fence (if (FENCE.match self.pending) [] (.code-rows self self.pending))
                 (.startswith (.lstrip self.pending) "```") []
                 True (wrap.rows-of [#("" self.pending)] self.width self.margin self.margin)))
    (cut rows (- LIVE-ROWS) None))

  ;; * Lines

  (defn finish-line [self]
    "Set the pending line, which is whole."
    (setv line self.pending fence (when (not self.wrapper) (FENCE.match line)))
    (cond
      self.fence (.code-line self line fence)
      fence (setv self.fence {"mark" (get fence 2) "indent" (len (get fence 1))})
      (and (not self.wrapper) (not (.strip line))) (+= self.blank 1)
      True (do (.open-line self)
               (.consume self True)
               (.push self (.end self.wrapper))
               (setv self.wrapper None)))
    (setv self.pending ""))

  (defn progress [self]
    "Set what is already certain of the pending line."
    (when (or self.fence (and (not self.wrapper) (UNDECIDED.match self.pending)))
      (return))
    (.open-line self)
    (.consume self False)
    (setv rows (.take self.wrapper))
    (when rows (.push self rows)))

  (defn open-line [self]
    "Begin the pending line: find what it is, and take its mark off."
    (when self.wrapper (return))
    (setv [first rest style length] (lead self.pending self.width)
          self.style style
          self.before ""
          self.pending (cut self.pending length None)
          self.wrapper (wrap.Wrapper self.width (+ self.margin first) (+ self.margin rest))))

  (defn code-line [self line fence]
    "Set LINE inside a fence; FENCE is its match if it looks like one."
    (if (and fence (.startswith (get fence 2) (get self.fence "mark")) (not (.strip (get fence 3))))
      (setv self.fence None)
      (.push self (.code-rows self line))))

  (defn code-rows [self line]
    "Return LINE of code as rows, indented under the text around it."
    (setv indent (get self.fence "indent")
          blank (- (len line) (len (.lstrip line " ")))
          lead (+ self.margin [#("" (* " " (min (+ 2 indent) (max 0 (- self.width 10)))))]))
    (wrap.hard (cut line (min indent blank) None) self.width lead lead "class:code"))

  (defn push [self rows]
    "Append ROWS after the blank line that is due."
    (when (and self.blank self.begun) (.append self.rows []))
    (setv self.blank 0 self.begun True)
    (.extend self.rows rows))

  ;; * Spans

  (defn consume [self final]
    "Hand the pending text to the wrapper, up to a span that is still open unless the line is FINAL."
    (while self.pending
      (setv hit (SPECIAL.search self.pending)
            at (if hit (.start hit) (len self.pending)))
      (when at
        (.add self.wrapper (cut self.pending at) self.style)
        (setv self.before (get self.pending (- at 1))
              self.pending (cut self.pending at None)))
      (when self.pending
        (setv found (span self.pending self.before final))
        (when (is found None) (break))
        (setv [text style length] found)
        (.add self.wrapper text (.strip f"{self.style} {style}"))
        (setv self.before (get self.pending (- length 1))
              self.pending (cut self.pending length None))))))

(defn lead [line width]
  "Return what LINE begins with: fragments of its first row, of the others, the style, and the length of its mark."
  (setv item (ITEM.match line) quote (QUOTE.match line))
  (cond
    (HEADING.match line) [[] [] "class:strong" 0]
    item (indented (cut (get item 0) (max 0 (- width 10))) (.end item))
    quote [[#("class:faint" "> ")] [#("class:faint" "> ")] "" (.end quote)]
    True (indented (* " " (min (- (len line) (len (.lstrip line))) (max 0 (- width 12))))
                   (- (len line) (len (.lstrip line))))))

(defn indented [mark length]
  "Return the lead of a line that begins with MARK and goes on under its text."
  [(if mark [#("" mark)] []) (if mark [#("" (* " " (len mark)))] []) "" length])

(defn span [text before final]
  "Return [SHOWN STYLE LENGTH] of the span that TEXT, after the character BEFORE, begins with; None while it is open
and the line not FINAL."
  (match (get text 0)
    "\\" (escaped text final)
    "`" (code-span text final)
    _ (emphasis text before final)))

(defn escaped [text final]
  "Return the character that a backslash at the start of TEXT protects."
  (cond
    (> (len text) 1) (if (in (get text 1) "`*_\\#[]<>|-") [(get text 1) "" 2] ["\\" "" 1])
    final ["\\" "" 1]))

(defn code-span [text final]
  "Return the code span that TEXT begins with, its marks kept; they say what it is without colour."
  (setv ticks (- (len text) (len (.lstrip text "`"))))
  (cond
    (and (= ticks (len text)) (not final)) None
    True (closing text (re.compile (+ "(?<!`)" (* "`" ticks) "(?!`)")) ticks final "class:code" False)))

(defn emphasis [text before final]
  "Return the strong or stressed span that TEXT, after the character BEFORE, begins with, without its marks."
  (setv stars (min 2 (- (len text) (len (.lstrip text "*"))))
        after (if (> (len text) stars) (get text stars) None))
  (cond
    (and (is after None) (not final)) None
    (or (is after None) (.isspace after) (and (= stars 1) (.isalnum before))) [(* "*" stars) "" stars]
    True (closing text (re.compile (+ r"(?<=[^\s*])" (re.escape (* "*" stars)) (if (= stars 1) r"(?![*\w])" r"(?!\*)")))
                  stars final (if (= stars 2) "class:strong" "class:stress") True)))

(defn closing [text pattern size final style bare]
  "Return the span of TEXT between marks of SIZE, the closing one found by PATTERN within reach; BARE drops the marks."
  (setv hit (.search pattern (cut text HOLD) size))
  (cond
    (and hit (or final (< (.end hit) (len text)) (>= (len text) HOLD)))
      [(if bare (cut text size (.start hit)) (cut text (.end hit))) style (.end hit)]
    (and (not hit) (or final (>= (len text) HOLD))) [(cut text size) "" size]))
