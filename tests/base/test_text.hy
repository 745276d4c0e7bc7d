"Text: nothing in it moves the terminal or breaks an encoding, cuts say what they left out, numbers have their words."

(import
  re unicodedata
  pytest
  hypothesis [given settings strategies :as st]
  autolith.base [text])

(setv ANY (st.text (st.characters :codec None) :max-size 200))

(defn [(given ANY) (settings :max-examples 200)] test-visible-text-is-harmless [s]
  "Whatever goes in, no control character but tab and newline comes out, and UTF-8 can hold it; a second pass changes nothing."
  (setv shown (text.visible s))
  (.encode shown "utf-8")
  (for [c shown]
    (assert (or (in c "\t\n") (not-in (unicodedata.category c) #("Cc" "Cs" "Zl" "Zp"))))
    (assert (not-in (unicodedata.bidirectional c) #("LRE" "RLE" "LRO" "RLO" "PDF" "LRI" "RLI" "FSI" "PDI"))))
  (assert (= (text.visible shown) shown)))

(defn [(pytest.mark.parametrize "hostile" ["\x1b]52;c;ZWNobyBoaQ==\x07" "\x1b]0;x\x07" "\x1b[2J" "\x1b[3J"
                                           "\x1b[?1049h" "\x9b31m" "\x1bPq\x1b\\" "a\rb" "\x7f" "\u202eabc"])]
  test-escapes-become-symbols [hostile]
  "Control sequences lose their power and keep their letters."
  (setv shown (text.visible hostile))
  (assert (not (re.search "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]" shown)))
  (for [letters (re.findall "[A-Za-z0-9;=]{2,}" hostile)]
    (assert (in letters shown))))

(defn test-what-turns-the-writing-is-shown []
  "Every character that turns the direction of writing, or ends a line unseen, is shown as its number."
  (for [c "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
    (assert (= (text.visible (+ "a" c "b")) (.format "a<U+{:04X}>b" (ord c))))))

(defn test-plain-text-stays []
  "Tabs, newlines, emoji with joiners and all scripts stay as they are; CRLF becomes a newline."
  (setv s "a\tb\nc 👨‍👩‍👧 ❤️ 中文 é e\u0301")
  (assert (= (text.visible s) s))
  (assert (= (text.visible "a\r\nb\r\n") "a\nb\n")))

(defn test-surrogates-are-repaired []
  "Halves that belong together are joined, lone ones replaced, the rest untouched."
  (assert (= (text.repair "\ud83d\ude00") "😀"))
  (assert (= (text.repair "a\ud83db\ude00") "a\ufffdb\ufffd"))
  (assert (= (text.repair "ü") "ü"))
  (assert (= (text.decode b"a\xff\xed\xa0\xbd") (+ "a" (* "\ufffd" 4)))))

(defn [(given (st.text :max-size 3000) (st.integers 120 1500) (st.sampled-from ["" "read output:abc"]))
       (settings :max-examples 200)]
  test-bounded-text-keeps-both-ends [s limit hint]
  "Bounded text is at most as long as allowed; if it was cut, it has head, tail, the hint, and counts that add up."
  (setv found (text.bounded s limit hint))
  (assert (<= (len found) limit))
  (if (<= (len s) limit)
    (assert (= found s))
    (do
      (setv m (re.search r"\[(\d+) characters?, (\d+) line ends? left out(?:; ([^\]]*))?\]" found))
      (assert m)
      (assert (= (or (.group m 3) "") hint))
      (setv head (cut found (.start m))  tail (cut found (+ (.end m) 1) None)  out (int (.group m 1)))
      (assert (.startswith s (.removesuffix head "\n")))
      (assert (.endswith s tail))
      (assert (<= (abs (- (+ (len head) (len tail) out) (len s))) 2)))))

(defn test-cuts-fall-at-line-ends []
  "Text of short lines is cut between lines."
  (setv s (.join "\n" (gfor i (range 1000) f"line {i}"))
        [head tail] (re.split r"\[.* left out\]\n" (text.bounded s 400)))
  (assert (.endswith head "\n"))
  (assert (.startswith tail "line "))
  (assert (.endswith tail "line 999")))

(defn test-one-line []
  "A preview is one bounded line, clean, with single spaces."
  (assert (= (text.one-line "  a\n\n b\tc ") "a b c"))
  (assert (= (len (text.one-line (* "word " 1000) 50)) 50))
  (assert (not-in "\x1b" (text.one-line "\x1b[2Jx"))))

(defn [(pytest.mark.parametrize "seconds,words" [#(0 "0 ms") #(0.0024 "2 ms") #(0.9999 "1.0 s") #(1.24 "1.2 s")
                                                 #(9.96 "10 s") #(41 "41 s") #(59.6 "1 min")
                                                 #(200 "3 min 20 s") #(3599.9 "1 h") #(7500 "2 h 5 min")
                                                 #(86400 "1 d") #(200000 "2 d 8 h") #(-1 "0 ms")])]
  test-durations [seconds words]
  "Durations have one or two units that fit them."
  (assert (= (text.duration seconds) words)))

(defn [(pytest.mark.parametrize "number,words" [#(0 "0 B") #(412 "412 B") #(999 "999 B") #(1000 "1 kB")
                                                #(1100 "1.1 kB") #(18000 "18 kB")
                                                #(999_600 "1 MB") #(2_500_000 "2.5 MB") #(3_000_000_000_000_000 "3000 TB")])]
  test-sizes [number words]
  "Sizes have the unit that keeps them short."
  (assert (= (text.size number) words)))

(defn test-tokens-and-counts []
  "Tokens count in thousands; one of a thing has no plural."
  (assert (= (lfor n [0 812 12345 999_999 1_200_000] (text.tokens n)) ["0" "812" "12.3k" "1M" "1.2M"]))
  (assert (= [(text.count 1 "line") (text.count 2 "line") (text.count 0 "entry" "entries")] ["1 line" "2 lines" "0 entries"])))
