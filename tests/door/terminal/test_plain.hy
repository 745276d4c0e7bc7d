"The terminal as lines, for screen readers, logs and terminals that can do nothing else."

(import
  pytest
  tests.doubles [scripted]
  tests.door.terminal [lib])

(defn plain [tmp-path #** options]
  "Start the program in plain mode."
  (setv tty (lib.opened tmp-path #** {"AUTOLITH_PLAIN" "1" #** options}))
  (.until tty r"^you:\Z")
  tty)

(defn typed [tty line]
  "Type LINE and Enter, once one is awaited; here the kernel edits the line."
  (.until tty r"^(you:|choice:|value:|\.\.\.)\Z")
  (.send tty (+ line "\n"))
  (.rest tty))

(defn [(pytest.mark.parametrize "options" [{} {"AUTOLITH_PLAIN" None "TERM" "dumb"}])] test-plain [tmp-path options]
  "Prose, forms, several lines and errors work by lines, with words for marks, and without one escape sequence."
  (with [server (scripted.Server [[(scripted.answer "Looking.") (scripted.calls "search_files" {"query" "zzz"})] (scripted.answer "All\ndone.")])
         tty (plain tmp-path #** {"OPENAI_API_KEY" "k" "OPENAI_BASE_URL" server.base-url #** options})]
    (.until tty r"note: plain mode, from (AUTOLITH_PLAIN|TERM)")
    (typed tty "please look")
    (.until tty r"^answer: Looking\.$[\s\S]*^call: \(search\.files[\s\S]*^ok: [\s\S]*^answer: All$\n^  done\.$[\s\S]*^note: done")
    (typed tty "(+ 20 22)")
    (.until tty r"^value: 42$")
    (typed tty "(+ 1")
    (.until tty r"^\.\.\.$")
    (typed tty "2)")
    (.until tty r"^value: 3$")
    (typed tty "(+ 1))")
    (.until tty r"^error: .*line 1")
    (typed tty "(/ 1 0)")
    (.until tty r"division by zero[\s\S]*\d abort[\s\S]*^choice:$")
    (typed tty "2")
    (.until tty r"^value:$")
    (typed tty "99")
    (.until tty r"^value: 99$")
    (assert (not-in b"\x1b" tty.raw))
    (.send tty "\x04")
    (assert (= (.status tty) 0))))

(defn test-plain-paste [tmp-path]
  "Lines that arrive together are one input, sent by an empty line of its own."
  (with [server (scripted.Server [(scripted.answer "one")])
         tty (plain tmp-path #** {"OPENAI_API_KEY" "k" "OPENAI_BASE_URL" server.base-url})]
    (.send tty "alpha\nbeta\n")
    (.until tty r"2 lines pasted")
    (assert (= (len server.requests) 0))
    (.send tty "\n")
    (.until tty r"^answer: one$")
    (assert (in "alpha\\nbeta" (str (get server.requests 0 "body" "input"))))))

(defn test-plain-retry [tmp-path]
  "An answer that breaks off is printed as far as it came, then that it does not count, then the whole one."
  (with [server (scripted.Server [[(scripted.answer "half ") (scripted.cut)] (scripted.answer "whole")])
         tty (plain tmp-path #** {"OPENAI_API_KEY" "k" "OPENAI_BASE_URL" server.base-url})]
    (typed tty "go")
    (.until tty r"^answer: half$[\s\S]*1 of 5[\s\S]*^answer: whole$")))

(defn test-plain-interrupt [tmp-path]
  "Ctrl-C ends a form and a turn; twice on nothing it leaves with 130."
  (with [server (scripted.Server [[(scripted.answer "half ") (scripted.stall)]])
         tty (plain tmp-path #** {"OPENAI_API_KEY" "k" "OPENAI_BASE_URL" server.base-url})]
    (typed tty "(while True)")
    (.rest tty 0.5)
    (.key tty "c-c")
    (.until tty r"interrupted")
    (typed tty "go")
    (.rest tty 0.5)
    (.key tty "c-c")
    (.until tty r"^answer: half$[\s\S]*stopped by you")
    (typed tty "(+ 1 1)")
    (.until tty r"^value: 2$")
    (.key tty "c-c" "c-c")
    (assert (= (.status tty) 130))))
