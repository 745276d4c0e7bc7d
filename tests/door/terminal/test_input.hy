"Editing in the real program: pastes, bursts, history, completion, clusters, what is typed too early."

(import
  tests.doubles [scripted]
  tests.door.terminal [lib])

(defn said [server]
  "Return what the user said in the newest request to SERVER."
  (setv message (get server.requests -1 "body" "input" -1))
  (.join "" (gfor block (get message "content") (get block "text"))))

(defn user-said [server]
  "Return the texts of all user messages in the newest request to SERVER."
  (lfor item (get server.requests -1 "body" "input")
        :if (= (.get item "role") "user")
        (if (isinstance (get item "content") str)
          (get item "content")
          (.join "" (gfor b (get item "content") (.get b "text" ""))))))

(defn test-bursts-and-pastes [tmp-path]
  "Lines that arrive at once are one draft, marked or not; nothing is sent before a lone Enter, and then the whole."
  (with [server (scripted.Server [(scripted.answer "one") (scripted.answer "two") (scripted.answer "three")])
         tty (lib.talking server tmp-path)]
    (.send tty "line one\rline two\rline three")
    (.until tty r"^❯ line one$\n^  line two$\n^  line three$" :quiet 0.2)
    (assert (= (len server.requests) 0))
    (.key tty "enter")
    (.until tty r"^  one$")
    (assert (in "line one\nline two\nline three" (user-said server)))
    (.send tty "\x1b[200~alpha\r\nbeta\x1b[201~")
    (.until tty r"^❯ alpha$\n^  beta$" :quiet 0.2)
    (assert (= (len server.requests) 1))
    (.key tty "enter")
    (.until tty r"^  two$")
    (assert (in "alpha\nbeta" (user-said server)))
    (setv long (.join "\n" (gfor i (range 400) f"row {i}")))
    (.send tty (+ "\x1b[200~" long "\x1b[201~"))
    (.until tty r"^❯ \[Paste #1: 400 lines, .*\]$")
    (.key tty "enter")
    (.until tty r"^  three$")
    (assert (in long (user-said server)))))

(defn test-modified-enter [tmp-path]
  "Enter with a modifier, as any terminal spells it, is a newline; only the plain one submits."
  (with [server (scripted.Server [(scripted.answer "one")]) tty (lib.talking server tmp-path)]
    (.type tty "abc")
    (.key tty "\x1b[13;2u" "\x1b[27;2;13~" "alt-enter" "newline")
    (.type tty "def")
    (.until tty r"^❯ abc$\n\n\n\n^  def$")
    (.key tty "enter")
    (.until tty r"^  one$")
    (assert (in "abc\n\n\n\ndef" (user-said server)))))

(defn test-history [tmp-path]
  "Up brings back what was typed, by its beginning; Ctrl-R finds it by any word, and Enter there sends it."
  (with [tty (lib.started tmp-path)]
    (for [form ["(+ 1 1)" "(* 3 3)" "(- 9 1)"]]
      (.line tty form)
      (.until tty lib.PROMPT))
    (.key tty "up" "up")
    (.until tty r"^\* \(\* 3 3\)$\n  \S")
    (.key tty "down" "down")
    (.until tty lib.PROMPT)
    (.type tty "(+")
    (.key tty "up")
    (.until tty r"^\* \(\+ 1 1\)$(?!\n= )")
    (.key tty "c-c" "c-r")
    (.until tty r"^\?$")
    (.send tty "3")
    (.until tty r"> \(\* 3 3\)$")
    (.key tty "enter")
    (.until tty r"(^= 9$[\s\S]*){2}")))

(defn test-completion [tmp-path]
  "Tools, their keyword arguments, commands and files complete; the hint names the call at the caret."
  (.write-text (/ tmp-path "unusual-name.txt") "text\n")
  (with [tty (lib.started tmp-path)]
    (.type tty "(r.rea")
    (.until tty r"resource\.read  ")
    (.key tty "tab")
    (.until tty r"^\* \(resource\.read$")
    (.send tty " :u")
    (.until tty r"\(resource\.read :uri")
    (.key tty "tab")
    (.until tty r"^\* \(resource\.read :uri$")
    (.type tty " \"workspace:unu")
    (.key tty "tab")
    (.until tty r"^\* \(resource\.read :uri \"workspace:unusual-name\.txt$")
    (.send tty "\")")
    (.rest tty)
    (.key tty "enter")
    (.until tty r"^= [\s\S]*unusual-name")
    (.type tty "/hel")
    (.key tty "tab")
    (.until tty r"^❯ /help$")
    (.key tty "c-c")
    (.line tty "(keys \"M-a\")")
    (.until tty r"M-a +answer-list")
    (.type tty "look at @unu")
    (.key tty "tab")
    (.until tty r"^❯ look at @unusual-name\.txt$")))

(defn test-editor [tmp-path]
  "C-x C-e gives the draft to $EDITOR and takes back what it saved; nothing is sent, and the prompt goes on."
  (setv script (/ tmp-path "edit.sh"))
  (.write-text script "#!/bin/sh\nprintf '(+ 40 2)\\n' > \"$1\"\n")
  (.chmod script 0o755)
  (with [tty (lib.started tmp-path :EDITOR (str script) :VISUAL None)]
    (.type tty "(+ 1 1)")
    (.key tty "c-x" "c-e")
    (.until tty r"^\* \(\+ 40 2\)$")
    (.key tty "enter")
    (.until tty r"^= 42$")
    (.line tty "(* 2 3)")
    (.until tty r"^= 6$")))

(defn test-clusters [tmp-path]
  "One key moves over, or deletes, one character as it is seen; an untouched draft is sent byte for byte."
  (with [server (scripted.Server [(scripted.answer "one") (scripted.answer "two")]) tty (lib.talking server tmp-path)]
    (setv text "👨‍👩‍👧 ❤️ 🇯🇵🇩🇪 e\u0301 中文!")
    (.send tty (+ "\x1b[200~" text "\x1b[201~"))
    (.until tty "中 ?文 ?!")
    (.rest tty)
    (.key tty "enter")
    (.until tty r"^  one$")
    (assert (in text (user-said server)))
    (.send tty (+ "\x1b[200~" text "\x1b[201~"))
    (.rest tty 0.2)
    (for [_ (range 8)] (.key tty "backspace"))
    (.type tty "x")
    (.key tty "enter")
    (.until tty r"^  two$")
    (assert (in "👨‍👩‍👧 ❤️ x" (user-said server)))))

(defn test-typed-one-by-one [tmp-path]
  "A wide character put into the middle of a line that was typed stands there once."
  (with [server (scripted.Server [(scripted.answer "one")]) tty (lib.talking server tmp-path)]
    (for [c "你好世界abcdef"] (.key tty c))
    (for [_ (range 6)] (.key tty "left"))
    (.key tty "，")
    (.key tty "enter")
    (.until tty r"^  one$")
    (assert (in "你好世界，abcdef" (user-said server)))))

(defn test-too-early [tmp-path]
  "What is typed before the prompt is up is in the draft, and nothing of it is lost or sent."
  (with [server (scripted.Server [(scripted.answer "one")])
         tty (lib.opened tmp-path #** {"OPENAI_API_KEY" "k" "OPENAI_BASE_URL" server.base-url})]
    (.send tty "early words")
    (.until tty r"^❯ early words$")
    (assert (= (len server.requests) 0))
    (.key tty "enter")
    (.until tty r"^  one$")))

(defn test-huge-paste [tmp-path]
  "Megabytes in a paste that is never closed leave a program that answers Ctrl-C."
  (with [tty (lib.started tmp-path)]
    (.send tty (+ "\x1b[200~" (* "a" 1500000)))
    (.until tty r"Paste #1" :timeout 30)
    (.key tty "c-c")
    (.until tty lib.PROMPT)
    (.line tty "(+ 1 1)")
    (.until tty r"^= 2$")))
