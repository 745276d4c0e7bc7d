"The prompt_toolkit application of a desk: one for the whole session, drawn where the cursor is.

Top down: what is still open of the answer, the draft, and under the caret what `view.under` gives."

(import
  os
  prompt_toolkit.application [Application]
  prompt_toolkit.buffer [Buffer]
  prompt_toolkit.completion [Completer Completion]
  prompt_toolkit.data-structures [Size]
  prompt_toolkit.enums [EditingMode]
  prompt_toolkit.filters [Condition]
  prompt_toolkit.layout [ConditionalContainer HSplit Layout VerticalAlign Window]
  prompt_toolkit.layout.controls [BufferControl FormattedTextControl]
  prompt_toolkit.layout.dimension [Dimension]
  prompt_toolkit.layout.processors [TabsProcessor]
  prompt_toolkit.lexers [Lexer]
  prompt_toolkit.output [ColorDepth]
  prompt_toolkit.output.vt100 [Vt100-Output]
  autolith.door.terminal [cells completer editor highlight keys leaving link style view])

(defn output-on [stream]
  "Return the output to the terminal STREAM, which asks it nothing."
  (Vt100-Output stream (fn [] (size-of stream)) :term (.get os.environ "TERM") :enable-cpr False
                :default-color-depth (if (style.colourless?) ColorDepth.DEPTH-1-BIT None)))

(defn size-of [stream]
  "Return the size of the terminal STREAM; one that knows none has 24 rows of 80 columns."
  (try
    (setv size (os.get-terminal-size (.fileno stream)))
    (except [OSError] (return (Size :rows 24 :columns 80))))
  (Size :rows (or size.lines 24) :columns (or size.columns 80)))

(defclass Colours [Lexer]
  "Colours the draft: prose as it is, a form as Hy, the bracket at the caret and its partner marked."

  (defn __init__ [self desk]
    (setv self.desk desk))

  (defn invalidation-hash [self]
    "Return what the colours depend on besides the text."
    self.desk.draft.cursor-position)

  (defn lex-document [self document]
    "Return the function from a line's number to its fragments; colours that fail are left out."
    (try
      (setv lines (if (editor.form? document.text) (marked document) None))
      (except [Exception] (setv lines None)))
    (fn [number]
      (cond
        (is lines None) [#("" (get document.lines number))]
        (< number (len lines)) (get lines number)
        True []))))

(defn marked [document]
  "Return the lines of DOCUMENT, a form, in colour, with the brackets at the caret marked."
  (setv lines (highlight.lines document.text)
        pair (when (< (len document.text) 20000) (editor.partner document.text document.cursor-position)))
  (for [at (or pair [])]
    (setv [row column] (.translate-index-to-position document at))
    (when (< row (len lines))
      (setv (get lines row) (mark-at (get lines row) column))))
  lines)

(defn mark-at [fragments column]
  "Return FRAGMENTS with the character at COLUMN marked."
  (setv out [] at 0)
  (for [[look text] fragments]
    (setv i (- column at))
    (if (<= 0 i (- (len text) 1))
      (.extend out [#(look (cut text i)) #("class:match" (get text i)) #(look (cut text (+ i 1) None))])
      (.append out #(look text)))
    (+= at (len text)))
  (lfor f out :if (get f 1) f))

(defclass Candidates [Completer]
  "Completes from the operations of the desk and the live image."

  (defn __init__ [self desk]
    (setv self.desk desk))

  (defn get-completions [self document event]
    "Yield the candidates at the caret; a failing source has none."
    (try
      (setv found (completer.candidates document.text-before-cursor self.desk.operations (.directory self.desk)))
      (except [Exception] (setv found [])))
    (for [c found]
      (yield (Completion (get c "text") :start-position (- (get c "span"))
                         :display (get c "show") :display-meta (get c "about"))))))

(defn opens-itself? [desk]
  "Does the menu open without being asked for: after / and @, and at the second letter after a bracket?"
  (setv text desk.draft.document.text-before-cursor)
  (cond
    (!= desk.mode "draft") False
    (.startswith text "/") True
    (editor.form? text) (do
                          (setv place (editor.place text) word (get place "word") string (get place "string"))
                          (or (and (get place "head") (>= (len word) 2))
                              (and (is-not string None) (.startswith string "workspace:"))
                              (and (.startswith word ":") (>= (len word) 2))))
    True (bool (completer.WORD.search text))))

(defclass Draft [Buffer]
  "The draft of DESK: a buffer that is edited elsewhere by the editor of the settings, on the terminal itself."

  (defn __init__ [self desk #** options]
    (setv self.desk desk)
    (.__init__ (super) #** options))

  (defn _open-file-in-editor [self filename]
    "Edit FILENAME; return whether what was saved is wanted."
    (leaving.edited? filename)))

(defn draft-of [desk]
  "Return the draft's buffer."
  (Draft desk :multiline True :completer (Candidates desk)
          :complete-while-typing (Condition (fn [] (opens-itself? desk)))
          :tempfile-suffix (fn [] (if (editor.form? desk.draft.text) ".hy" ".txt"))
          :on-text-changed (fn [_] (.edited desk))))

(defn fragments [rows]
  "Return ROWS as one formatted text."
  (setv out [])
  (for [[i row] (enumerate rows)]
    (when i (.append out #("" "\n")))
    (.extend out row))
  out)

(defn once-a-frame [desk name]
  "Return a function that gives the rows of the function NAME of `view`, calling it once a frame of DESK's application."
  (setv seen {"frame" None "rows" []})
  (fn []
    (setv frame desk.app.render-counter)
    (when (!= frame (get seen "frame"))
      (.update seen {"frame" frame "rows" (view.guarded name desk)}))
    (get seen "rows")))

(defn adopt-settings [desk]
  "Let DESK have the keys that the setting edit-mode names."
  (setv mode (if (= (link.setting "edit-mode") "vi") EditingMode.VI EditingMode.EMACS))
  (when (!= desk.app.editing-mode mode)
    (.reset desk.app.vi-state)
    (setv desk.app.editing-mode mode)))

(defn rows-window [f]
  "Return a window of the rows that F gives, gone while there are none."
  (setv control (FormattedTextControl (fn [] (fragments (f))) :show-cursor False))
  (ConditionalContainer
    (Window control :dont-extend-height True :height (fn [] (Dimension :min 0 :preferred (len (f)))) :wrap-lines False)
    :filter (Condition (fn [] (bool (f))))))

(defn draft-window [desk]
  "Return the window of the draft, with the margin before it."
  (setv lead (fn [line wrap]
               (if (or line wrap)
                 [(view.blank (.columns desk))]
                 (view.guarded "lead" desk))))
  (Window (BufferControl desk.draft :lexer (Colours desk) :input-processors [(TabsProcessor :char1 " " :char2 " ")])
          :get-line-prefix lead :wrap-lines True :dont-extend-height True
          :height (fn [] (Dimension :min 1 :max (view.draft-height desk)))))

(defn query-window [desk]
  "Return the window of the history's search, there while one searches."
  (ConditionalContainer
    (Window (BufferControl desk.query) :height 1
            :get-line-prefix (fn [line wrap] [#("class:accent" (cut "? " (cells.margin (.columns desk))))]))
    :filter (Condition (fn [] (= desk.mode "search")))))

(defn build [desk input]
  "Return the Application of DESK with INPUT; enter it, the draft and the query into DESK."
  (setv desk.draft (draft-of desk)
        desk.query (Buffer :multiline False))
  (setv layout (Layout
                 (HSplit [(rows-window (once-a-frame desk "above"))
                          (ConditionalContainer (draft-window desk) :filter (Condition (fn [] (!= desk.mode "search"))))
                          (query-window desk)
                          (rows-window (once-a-frame desk "under"))]
                   :align VerticalAlign.TOP)
                 :focused-element desk.draft)
        desk.app (Application :layout layout :input input :output desk.output :style (style.sheet)
                              :key-bindings None :full-screen False :erase-when-done True :mouse-support False))
  (setv desk.app.key-bindings (keys.table desk)
        desk.app.ttimeoutlen 0.03
        desk.app.timeoutlen 1.0
        desk.app.terminal-size-polling-interval None)
  (adopt-settings desk)
  desk.app)
