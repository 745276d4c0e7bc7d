"What the tutor can teach: one declaration a lesson, with the phrases that start it, what it does, and what it says.

A lesson is {\"name\" \"example\" (a phrase that starts it) \"does\" (what then happens) \"patterns\" [regular expression ..] \"plan\" generator
function}. The plan gets the match and the declared tools, yields calls (see autolith.provider.tutor) and returns an answer."

(eval-when-compile (require autolith.base.macros [defonce]))

(import
  re
  autolith.base [text])

(defonce table {}
  "The lessons by name, in the order in which they are tried and listed.")

(setv QUOTES "\"'`“”‘’"
      NO-MODEL "I am the tutor: a fixed program inside of Autolith, not a model. I know a few phrases and nothing else."
      PAGES 25)                                          ; the most pages that an edit reads

(defn lesson [name example does #* patterns]
  "Return a decorator that enters a plan as the lesson NAME: EXAMPLE starts it, DOES says what happens, PATTERNS match what is typed."
  (fn [plan]
    (setv (get table name)
          {"name" name  "example" example  "does" does  "plan" plan
           "patterns" (lfor p patterns (re.compile (+ "(?:" p r")\Z") (| re.IGNORECASE re.DOTALL)))})
    plan))

(defn start [asked tools]
  "Return the plan, begun, of the lesson that the text ASKED starts, given the declared TOOLS."
  (setv phrase (_phrase asked))
  (for [row (list (.values table))]
    (for [pattern (:patterns row)]
      (when (setx m (.match pattern phrase))
        (return ((:plan row) m tools)))))
  (_unknown phrase))

(defn _phrase [asked]
  "Return the text ASKED without politeness, its white space at the ends, and a closing mark."
  (setv phrase (re.sub r"(?i)\A(?:please|now|then|ok|okay|could you|can you|would you)[\s,]+" "" (.strip asked)))
  (when (in ":" phrase)                                  ; what stands after it may be content, to the last mark
    (return phrase))
  (.strip (re.sub r"(?i)(?:[\s,]+(?:please|for me))?[.!?\s]*\Z" "" phrase)))


;; * Calls and what comes back

(defn _call [tool words * [may-fail False] #** arguments]
  "Return the call of TOOL, announced by WORDS, with ARGUMENTS. With MAY-FAIL, the lesson itself deals with a failure."
  {"tool" tool  "words" words  "arguments" arguments  "may_fail" may-fail})

(defn _parameter [tools tool #* names]
  "Return the parameter of TOOL that its declaration among TOOLS calls by one of NAMES, else the first of NAMES."
  (setv shape (.get (.get tools tool {}) "parameters" {})
        known (list (.get shape "properties" {})))
  (or (next (gfor n names :if (in n known) n) None)
      (next (gfor n (.get shape "required" []) n) None)
      (get names 0)))

(defn _eval [tools words source]
  "Return the call that evaluates SOURCE in the image, announced by WORDS."
  (_call "self_eval" words #** {(_parameter tools "self_eval" "form" "source" "code")  source}))

(defn _form [tool arguments]
  "Return the Hy form that calls TOOL with ARGUMENTS."
  (.join "" ["(" tool #* (lfor [k v] (.items arguments) f" :{(hy.unmangle k)} {(hy.repr v)}") ")"]))

(defn _dotted [tool]
  "Return the name of the tool with the wire name TOOL as people write it."
  (.replace (.replace tool "_" "." 1) "_" "-"))

(defn _bare [name]
  "Return the file NAME without quotes, marks and the workspace's scheme."
  (.removeprefix (.lstrip (.strip (.strip name) QUOTES) "@") "workspace:"))

(defn _uri [name]
  "Return the URI of the file or folder NAME."
  (+ "workspace:" (or (_bare name) ".")))

(defn _field [page name]
  "Return the value of the header field NAME of PAGE, the text of a read; None if it has none."
  (when (setx m (re.search rf"^{name}: (.*)$" (get (.partition page "\nContent:\n") 0) re.MULTILINE))
    (.group m 1)))

(defn _rows [page]
  "Return the numbered lines of PAGE, the text of a read, as #(number text)."
  (lfor m (re.finditer r"^ *(\d+)  (.*)$" (get (.partition page "\nContent:\n") 2) re.MULTILINE)
        #((int (.group m 1)) (.group m 2))))

(defn _shown [output [limit 600]]
  "Return the text of OUTPUT as a quotation in Markdown, bounded to LIMIT characters."
  (setv shown (text.bounded (text.visible (.strip (:text output))) limit))
  f"````\n{shown}\n````")


;; * Answers for every lesson

(defn _menu []
  "Return the list of what can be typed."
  (.join "\n" (lfor row (.values table) f"- `{(:example row)}` {(:does row)}")))

(defn _file-in [phrase]
  "Return the first word of PHRASE that looks like a file, or None."
  (next (gfor word (.split phrase)
              :setv name (.rstrip word ".,;:")
              :if (re.search r"[\w-]\.[A-Za-z]{1,5}\Z|/" name)
              (_bare name))
        None))

(defn _unknown [phrase]
  "Answer PHRASE, which starts no lesson."
  (setv name (_file-in phrase)
        hint (if name f"\n\nYou named a file; type `read {name}` and I read it." ""))
  (return (+ f"{NO-MODEL} `{(text.one-line phrase 60)}` is none of them.{hint}\n\n"
             f"Type one of these:\n\n{(_menu)}\n\n{(to-a-model)}"))
  (yield None))

(defn to-a-model []
  "Return the sentence that says how to get a model."
  (+ "For a model, set OPENAI_API_KEY or ANTHROPIC_API_KEY before you start, or run a local server such as ollama;"
     " then `(model)` shows what there is."))

(defn no-images []
  "Return the answer to a message of images alone."
  f"{NO-MODEL} I cannot look at images. `what can you do` lists the phrases.")

(defn failed [call output]
  "Return the answer after CALL failed with OUTPUT."
  (+ f"`{(_dotted (:tool call))}` did not succeed. It said:\n\n{(_shown output)}\n\n"
     "A real model reads this text just as you do, and tries again. Nothing else was done."))

(defn missing [call]
  "Return the answer when the tool of CALL is not declared."
  f"This lesson needs the tool `{(_dotted (:tool call))}`, and this session does not have it. `(help)` lists the tools that it has.")

(defn tutor-greeting []
  "Return what the tutor says to a greeting. The lesson `redefine` replaces this function in the running program."
  "Hello. I am the tutor.")


;; * Talk

(defn [(lesson "help" "what can you do" "lists what I understand"
               r"help" r"h(?:elp)? me" r"commands" r"how does this work"
               r"what (?:can|do) (?:you|i) (?:do|say|type|understand|ask)(?: here)?")]
  help-lesson [m tools]
  "List the lessons."
  (return (+ NO-MODEL " What I do, I do with the real tools; you see each call as the Hy form that does the same. Type:"
             f"\n\n{(_menu)}\n\n"
             "Anything that begins with `(` is yours: it is evaluated in this running program. Try `(+ 20 22)` or `(help)`.\n\n"
             (to-a-model)))
  (yield None))

(defn [(lesson "hello" "hello" "greets you; the lesson `redefine` changes how"
               r"hello\b.*" r"hi(?: there| tutor)?" r"hey\b.*" r"good (?:morning|day|evening).*")]
  hello-lesson [m tools]
  "Greet, by the function that another lesson redefines."
  (return (+ (tutor-greeting) " I am a fixed program, not a model. `what can you do` lists the phrases;"
             " `tutorial` is a tour of six steps."))
  (yield None))

(defn [(lesson "model" "are you a model" "says what I am and how to get a model"
               r"(?:are|aren't) you (?:a|an|the)? ?(?:model|ai|llm|human|person|real|gpt|claude).*" r"(?:who|what) are you.*"
               r"(?:which|what) model.*" r"how do i (?:get|use|set up|choose|connect) (?:a|the|another) model.*")]
  model-lesson [m tools]
  "Say what the tutor is."
  (return f"{NO-MODEL} I need no key and no network.\n\n{(to-a-model)}")
  (yield None))


;; * Looking

(defn [(lesson "read" "read README.md" "reads a file with `resource.read`; also `read lines 10 to 20 of FILE`"
               (+ r"(?:read|show|open|cat|view|print|display)(?: me)?"
                  r"(?: lines? (?P<first>\d+)(?: ?(?:-|to|until) ?(?P<last>\d+))? (?:of|in|from))?(?: (?:the )?file)?"
                  r" (?P<file>\S+|[\"'`“][^\n]+|[^\n]*[./][^\n]*)"))]
  read-lesson [m tools]
  "Read a file, or some lines of it."
  (setv uri (_uri (.group m "file"))
        first (int (or (.group m "first") 1))
        count (+ 1 (- (int (or (.group m "last") first)) first))
        window (if (.group m "first") {"start_line" first  "line_count" (max 1 count)} {})
        page (:text (yield (_call "resource_read" f"I read {(_bare (.group m "file"))}." :uri uri #** window)))
        revision (_field page "Revision"))
  (when (= (_field page "Kind") "missing")
    (return f"There is no {(_bare (.group m "file"))} in this folder. `list` shows what is there, `find NAME` looks below it."))
  (+ f"Read. {(_page-words page)}\n\n"
     (if revision f"The revision `{revision}` names what was shown; an edit has to give it, so that nobody overwrites what he has not seen. " "")
     f"You can make the same call: `{(_form "resource.read" {"uri" uri #** window})}`."))

(defn _page-words [page]
  "Return what PAGE showed, in words."
  (setv visible (_field page "Visible lines")  elided (_field page "Elided"))
  (cond
    (not visible) "The result is above."
    (in elided #(None "none")) f"All of it was shown: lines {visible}."
    True f"Lines {visible} were shown; left out: {elided}."))

(defn [(lesson "list" "list" "lists this folder; also `list FOLDER`"
               r"(?:list|ls|dir)(?: (?:the )?(?:files|folder|directory))?(?: (?:in|of|under))?(?: (?P<folder>[^\n]+))?"
               r"(?:what|which) files are (?:here|there)(?: in (?P<other>[^\n]+))?")]
  list-lesson [m tools]
  "List a folder."
  (setv folder (or (next (gfor g (.groups m) :if g g) None) ".")
        uri (_uri (if (in (.lower (.strip folder)) #("here" "this" "this folder")) "." folder)))
  (yield (_call "resource_read" "I list the folder." :uri uri))
  f"A folder is read like a file: `(resource.read :uri \"{uri}\")`. Now `read` one of its files.")

(defn [(lesson "search" "search import" "searches the contents of the files with `search.content`; also `search TEXT in FOLDER`"
               r"(?:search|grep|look)(?: for)? (?P<text>.+?)(?: in (?:the )?(?:folder )?(?P<folder>\S+))?"
               r"where is (?P<text>.+)")]
  search-lesson [m tools]
  "Search the contents of the files."
  (setv wanted (.strip (.group m "text") QUOTES)
        folder (.get (.groupdict m) "folder")
        scope (if folder (_scope tools "search_content" (_bare folder)) {})
        query (_parameter tools "search_content" "query" "pattern"))
  (yield (_call "search_content" f"I search for {(text.one-line wanted 60)}." #** {query wanted #** scope}))
  (+ f"That was `{(_form "search.content" {query wanted #** scope})}`. "
     "The numbers are lines: `read lines 10 to 20 of FILE` shows what stands around one."))

(defn _scope [tools tool folder]
  "Return the argument of TOOL, as a map, that bounds it to FOLDER, if its declaration among TOOLS has one."
  (setv known (.get (.get (.get tools tool {}) "parameters" {}) "properties" {}))
  (cond
    (in "constraints" known) {"constraints" (+ (.rstrip folder "/") "/")}
    (in "path" known) {"path" folder}
    (in "uri" known) {"uri" (_uri folder)}
    True {}))

(defn [(lesson "find" "find lexer" "finds files by a part of their name with `search.files`"
               r"find(?: (?:the )?files?)?(?: (?:named|called|like))? (?P<name>.+)")]
  find-lesson [m tools]
  "Find files by name."
  (setv wanted (.strip (.group m "name") QUOTES)
        glob (and (re.search r"[*?\[]" wanted) (in "search_glob" tools))
        tool (if glob "search_glob" "search_files")
        key (if glob (_parameter tools tool "pattern" "glob") (_parameter tools tool "query" "name")))
  (yield (_call tool f"I look for files named {(text.one-line wanted 60)}." #** {key wanted}))
  f"That was `{(_form (_dotted tool) {key wanted})}`. `read` one of them.")


;; * Changing files

(defn [(lesson "edit" "edit notes.txt: replace one with two" "reads a file, then changes the lines that it saw with `resource.edit`"
               (+ r"(?:edit|change|in) (?P<file>[^\n]+?)\s*[:,]"
                  r"\s*(?:replace|change) (?P<old>.+?) (?:with|by|to|into) (?P<new>.+)")
               r"(?:replace|change) (?P<old>.+?) (?:with|by|to|into) (?P<new>.+?) in (?P<file>\S+)")]
  edit-lesson [m tools]
  "Replace text in every line of a file that has it."
  (setv name (_bare (.group m "file"))  old (_unquoted (.group m "old"))  new (_unquoted (.group m "new"))
        uri (_uri name)
        page (:text (yield (_call "resource_read" f"I read {name} first: an edit needs the revision and the lines that it changes." :uri uri)))
        revision (_field page "Revision")
        rows (_rows page))
  (for [_ (range PAGES)]
    (setv further (re.search r"go on with start-line (\d+)\)" (or (_field page "Elided") "")))
    (when (not further)
      (break))
    (setv line (int (.group further 1))
          page (:text (yield (_call "resource_read" "The file goes on; so do I." :uri uri :start-line line))))
    (.extend rows (_rows page)))
  (setv operations (lfor [n line] rows :if (in old line)
                         {"op" "replace-lines"  "start_line" n  "end_line" n  "content" (.replace line old new)}))
  (when (not (and operations revision))
    (return f"No line of {name} that I was shown has `{old}`, so I changed nothing. `search {old}` finds where it is."))
  (yield (_edit tools f"I replace it in {(_lines operations)}." uri revision operations))
  (+ f"Changed {(_lines operations)} of {name}. The edit named revision `{revision}` and only lines that were shown;"
     " had the file changed in between, it would have been refused and nothing would be written."))

(defn _unquoted [phrase]
  "Return PHRASE without one pair of quotes around it."
  (setv phrase (.strip phrase))
  (if (and (> (len phrase) 1) (in (get phrase 0) QUOTES) (in (get phrase -1) QUOTES)) (cut phrase 1 -1) phrase))

(defn _lines [operations]
  "Return which lines OPERATIONS change, in words."
  (setv numbers (lfor o operations (str (:start-line o))))
  (if (> (len numbers) 6)
    (text.count (len numbers) "line")
    (+ (if (= (len numbers) 1) "line " "lines ") (.join ", " numbers))))

(defn _edit [tools words uri revision operations]
  "Return the call, announced by WORDS, that makes OPERATIONS on revision REVISION of URI, in the shape that TOOLS declare."
  (setv change {"uri" uri  "base_revision" revision  "operations" operations}
        known (.get (.get (.get tools "resource_edit" {}) "parameters" {}) "properties" {}))
  (_call "resource_edit" words #** (if (and (in "changes" known) (not-in "operations" known)) {"changes"
                                                                                               [change]} change)))

(defn [(lesson "create" "create notes.txt: one line of text" "makes a new file; an existing one is left alone"
               (+ r"(?:create|make|write)(?: (?:a|the))?(?: new)?(?: file)?(?: (?:called|named))? (?P<file>(?!tool\b)[^\s:]+)"
                  r"\s*(?::| with| saying| containing)\s*(?P<content>.+)"))]
  create-lesson [m tools]
  "Make a new file, after reading that it is missing."
  (setv name (_bare (.group m "file"))  uri (_uri name)
        content (_unquoted (.group m "content"))
        page (:text (yield (_call "resource_read" f"I look whether {name} is there." :uri uri)))
        revision (_field page "Revision"))
  (when (or (_rows page) (not revision))
    (return f"{name} is there already, and I do not overwrite it. `edit {name}: replace A with B` changes it."))
  (yield (_edit tools "It is not; I make it." uri revision [{"op" "replace-empty"  "content" (+ content "\n")}]))
  f"Made {name}. Reading a missing file gives a revision too: it says that the file was missing, so two writers cannot both make it.")


;; * Changing the program

(defn [(lesson "eval" "eval (+ 20 22)" "evaluates a form in this running program with `self.eval`"
               r"(?:eval|evaluate|run|compute)(?: the form)?:? (?P<form>\(.+\))")]
  eval-lesson [m tools]
  "Evaluate a form."
  (setv form (.group m "form"))
  (yield (_eval tools "I evaluate it where you could: in the running program." form))
  f"You need nobody for that: type `{(text.one-line form 80)}` at the prompt.")

(defn [(lesson "tool" "define a tool" "adds a tool to this program with `deftool`, then calls it"
               r"(?:define|make|create|add|write)(?: me)? a(?: new)? tool(?: .*)?" r"deftool")]
  tool-lesson [m tools]
  "Define a tool in the image, then call it."
  (setv source (+ "(deftool tutor.word-count [text]\n"
                  "  \"Return how many words TEXT has.\"\n"
                  "  {\"effect\" \"read\"}\n"
                  "  (str (len (.split text))))")
        phrase "a tool is a documented function")
  (yield (_eval tools "I define one: its parameters and its documentation are all that a tool needs." source))
  (yield (if (in "tutor_word_count" tools)
           (_call "tutor_word_count" "It is there. I call it like any other." :text phrase)
           (_eval tools "It is there. I call it as you would." f"(tutor.word-count :text \"{phrase}\")")))
  (+ "The new tool is `tutor.word-count`. A model sees it from its next request on; you call it as "
     f"`(tutor.word-count :text \"...\")`. Written into init.hy, the definition stays:\n\n```hy\n{source}\n```"))

(defn [(lesson "redefine" "redefine" "replaces a function of the running program, harmlessly"
               r"redefine(?: .*)?" r"change (?:yourself|your code|the program|a function)")]
  redefine-lesson [m tools]
  "Replace the greeting in the running program."
  (setv source (+ "(redefine\n"
                  "  (defn tutor-greeting []\n"
                  "    \"Return what the tutor says to a greeting, after its redefinition.\"\n"
                  "    \"Hello again. These words were put in while I was running.\"))"))
  (yield (_eval tools "I replace the function that greets you, in the running program." source))
  (+ "Done: type `hello` and read the new words. Every caller reaches the new function; nothing was restarted. `undo` takes it back. "
     f"The form was:\n\n```hy\n{source}\n```"))

(defn [(lesson "undo" "undo" "takes back the last redefinition"
               r"undo(?: .*)?" r"(?:take|put) (?:it|that) back")]
  undo-lesson [m tools]
  "Take back the last redefinition."
  (setv output (yield {#** (_eval tools "I take back the last redefinition." "(undo)")  "may_fail" True}))
  (when (not (:ok output))
    (return (+ f"Nothing was taken back. It said:\n\n{(_shown output)}\n\n"
               "`redefine` replaces a function in this process; then there is something to undo.")))
  (setv said (get [#* (.splitlines (.strip (:text output))) ""] (if (.strip (:text output)) -2 0)))
  f"Taken back. It said: {(text.one-line said 200)}. `hello` shows it, if it was the greeting.")


;; * The tour

(setv TOUR
  [#("looking around"  "list"
     "The first step of the tour: a folder.")
   #("reading"  "find README"
     "The second step: a file found by its name. `read` it with `read README.md`.")
   #("the prompt is Lisp"  "eval (sum (lfor n (range 10) (* n n)))"
     "The third step: what begins with `(` is evaluated in this program. Prose is short for `(prompt \"...\")`.")
   #("a tool of your own"  "define a tool"
     "The fourth step: tools are functions.")
   #("changing the program"  "redefine"
     "The fifth step: the program changes while it runs.")
   #("and back"  "undo"
     "The last step: what was changed is taken back. Also try `edit FILE: replace A with B` on a file of your own.")])

(defn [(lesson "tutorial" "tutorial" "takes a tour of six steps; `tutorial 2` is its second"
               r"(?:the )?(?:tutorial|tour)(?: (?:step )?(?P<step>\d+))?" r"teach me.*" r"(?:start|show me) (?:the |a )?(?:tutorial|tour)"
               r"how do i (?:start|begin)")]
  tutorial-lesson [m tools]
  "Do one step of the tour by the lesson it names."
  (setv number (int (or (.get (.groupdict m) "step") 1)))
  (when (not (<= 1 number (len TOUR)))
    (return f"The tour has the steps 1 to {(len TOUR)}: {(_steps)}."))
  (setv [_ phrase words] (get TOUR (- number 1))
        answer (yield :from (start phrase tools)))
  (+ f"{words}\n\n{answer}\n\n"
     (if (< number (len TOUR))
       f"Step {number} of {(len TOUR)}. Type `tutorial {(+ number 1)}` for the next: {(get TOUR number 0)}."
       f"That was the tour. `what can you do` lists the phrases. {(to-a-model)}")))

(defn _steps []
  "Return the steps of the tour on one line."
  (.join ", " (lfor [i [name #* _rest]] (enumerate TOUR 1) f"{i} {name}")))
