"What arrives from the terminal is sorted into keys and pastes, whatever the chunks."

(import
  pytest
  hypothesis [given settings strategies :as st]
  autolith.door.terminal [sieve])

(defn run [#* chunks [gap 0.001]]
  "Return the pieces of CHUNKS, which came GAP seconds apart, neighbours of a kind joined."
  (setv s (sieve.Sieve) out [] now 100.0)
  (for [chunk chunks]
    (.extend out (.feed s chunk now))
    (+= now gap)
    (when (> gap 0.03) (.extend out (.idle s))))
  (joined (+ out (.idle s) (.release s))))

(defn joined [pieces]
  "Return PIECES with neighbouring keys joined."
  (setv out [])
  (for [[kind text] pieces]
    (if (and out (= kind "keys" (get out -1 0)))
      (setv (get out -1) [kind (+ (get out -1 1) text)])
      (.append out [kind text])))
  out)

(defn test-burst-is-one-edit []
  "Text with carriage returns that arrives at once, or faster than anyone types, is one edit and no submission."
  (assert (= (run "line one\rline two\rline three") [["paste" "line one\nline two\nline three"]]))
  (assert (not-in "\r" (.join "" (gfor [kind text] (run #* "line one\rline two\r" :gap 0.004) text)))))

(defn test-typing-submits []
  "A carriage return on its own, after typing at a person's pace, stays a key."
  (assert (= (run #* "yes\r" :gap 0.1) [["keys" "yes\r"]]))
  (assert (= (run "y\r") [["keys" "y\r"]]))
  (assert (= (run "\r") [["keys" "\r"]])))

(defn test-marked-paste []
  "A marked paste is one edit wherever it is cut, and ends where it says."
  (setv data "a\x1b[200~one\r\ntwo\x1b[201~b")
  (for [i (range 1 (len data))]
    (assert (= (run (cut data i) (cut data i None)) [["keys" "a"] ["paste" "one\ntwo"] ["keys" "b"]]))))

(defn test-modified-enter []
  "Modified Enter, in every spelling, is a newline; nothing of its escape sequence is left."
  (assert (= (run "abc" "\x1b[13;2u" "\x1b[27;2;13~" "\x1b\r" "\n" "def" "\r" :gap 0.1) [["keys" "abc\n\n\n\ndef\r"]])))

(defn [(pytest.mark.parametrize "data" [(+ "\x1b[200~" (* "a" 20000000)) (+ "\x1b[" (* "1" 200000)) (* "word " 200000)
                                        (* "\x1b[" 50000) (* "a\r" 300000)])]
      test-linear [data]
  "Malformed, unclosed and huge input is gone through once (else this would not end), and what is kept of it is bounded."
  (setv out (run #* (gfor i (range 0 (len data) 4096) (cut data i (+ i 4096)))))
  (for [[_ text] out] (assert (<= (len text) (+ sieve.paste-limit 8192)))))

(defn [(given (st.text :alphabet "ab\r\n\x1b[20~1;u" :max-size 40) (st.integers 1 7)) (settings :max-examples 150 :deadline None)]
      test-any-input [text size]
  "Any bytes in any chunks are sorted without an exception, and no paste holds a carriage return."
  (for [[kind piece] (run #* (gfor i (range 0 (len text) size) (cut text i (+ i size))))]
    (assert (in kind ["keys" "paste"]))
    (when (= kind "paste") (assert (not-in "\r" piece)))))

(defn test-released []
  "A paste that is never closed is given after a while, and what follows are keys again."
  (setv s (sieve.Sieve))
  (assert (= (.feed s "\x1b[200~abc" 1.0) []))
  (assert (= (.release s) [["paste" "abc"]]))
  (assert (= (.feed s "x" 9.0) [["keys" "x"]])))
