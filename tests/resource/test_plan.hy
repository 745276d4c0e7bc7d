"Operations on lines, against a byte-level model."

(import
  pytest
  hypothesis [assume given settings strategies :as st]
  autolith.resource [lines plan]
  tests.resource.lib :as lib)

(setv WORD (st.text :alphabet "ab é\x0c\u2028" :max-size 4)
      END (st.sampled-from ["\n" "\r\n"])
      final lib.final-newline
      CODECS ["utf-8" "utf-8-sig" "utf-16" "latin-1"])

(defn [st.composite] texts [draw]
  "Return a text of lines with mixed ends, with or without a final newline."
  (setv rows (draw (st.lists (st.tuples WORD END) :max-size 12))
        text (.join "" (gfor [w e] rows (+ w e))))
  (if (draw (st.booleans)) text (+ text (draw WORD))))

(defn [st.composite] edits [draw total]
  "Return operations on TOTAL lines that do not touch each other."
  (setv operations [] at 1)
  (while (and (<= at total) (draw (st.booleans)))
    (setv a (draw (st.integers at total))
          b (draw (st.integers a (min total (+ a 3))))
          content (.join "\n" (draw (st.lists WORD :max-size 3))))
    (.append operations
      (match (draw (st.integers 0 3))
        0 (lib.replaced a b content)
        1 (lib.deleted a b)
        2 (lib.before a (or content "\n"))
        _ (lib.after a (or content "\n"))))
    (setv at (+ (max a b) 1)))
  operations)

(defn [st.composite] cases [draw]
  "Return a text with at least one line and operations on it."
  (setv text (draw (.filter (texts) bool)))
  #(text (.filter (edits (len (lines.split text))) bool)))

(defn encoded [text encoding]
  "Return TEXT in ENCODING; where that cannot be, leave the example."
  (try
    (lines.encode text encoding)
    (except [UnicodeEncodeError] (assume False))))

(defn addressed [o]
  "Return the lines [a b] that the operation O replaces; none where b is a - 1."
  (match (get o "op")
    "insert-before" [(get o "line") (- (get o "line") 1)]
    "insert-after" [(+ (get o "line") 1) (get o "line")]
    _ [(get o "start_line") (get o "end_line")]))

(defn [(settings :max-examples 200 :deadline None) (given (st.data) (.filter (texts) bool) (st.sampled-from CODECS))]
  test-other-bytes-stay [data text codec]
  "One operation leaves all bytes before and after the lines that it addresses as they were, in every encoding."
  (setv raw (.encode text codec "ignore")
        encoding (lines.encoding-of raw)
        text (lines.decode raw encoding)
        old (lines.split text))
  (assume old)
  (setv [o #* _] (.draw data (.filter (edits (len old)) bool))
        made (plan.make text (plan.checked [o]))
        new (encoded (get made "text") encoding)
        [a b] (addressed o)
        content (lines.of-content (.get o "content" ""))
        head (lines.encode (.join "" (cut old (- a 1))) encoding)
        tail (.encode (.join "" (cut old b None)) (get encoding "codec") (get encoding "errors")))
  (if (< b (len old))
    (do
      (assert (.startswith new head))
      (assert (.endswith new tail))
      (setv middle (.decode (cut new (len head) (- (len new) (len tail))) (get encoding "codec") (get encoding "errors")))
      (assert (= (lfor line (lines.split middle) (lines.bare line)) content)))
    (assert (.startswith new (cut head (- (len head) (* 2 (get encoding "unit")))))))
  (assert (= (lfor line (cut (get made "lines") (- a 1) (+ a -1 (len content))) (lines.bare line)) content)))

(defn [(settings :max-examples 200 :deadline None) (given (st.data) (.filter (texts) bool))]
  test-at-once-is-one-by-one [data text]
  "All operations at once give what they give one by one from the last to the first, and what they say they kept is kept."
  (setv old (lines.split text)
        operations (.draw data (edits (len old))))
  (assume operations)
  (setv at-once (plan.make text (plan.checked operations)) one-by-one text)
  (for [o (reversed operations)]
    (setv one-by-one (get (plan.make one-by-one (plan.checked [o])) "text")))
  (assert (= (lfor r (get at-once "lines") (lines.bare r)) (lfor r (lines.split one-by-one) (lines.bare r))))
  (for [[a b shift] (get at-once "kept")]
    (assert (= (lfor r (cut old (- a 1) b) (lines.bare r))
               (lfor r (cut (get at-once "lines") (+ a -1 shift) (+ b shift)) (lines.bare r))))))

(defn [(settings :max-examples 200 :deadline None) (given (st.data) (.filter (texts) bool))]
  test-final-newline-stays [data text]
  "Whatever is edited, a text that had a final newline has one, and one that had none has none, but for an empty last line."
  (setv operations (.draw data (edits (len (lines.split text)))))
  (assume operations)
  (setv new (get (plan.make text (plan.checked operations)) "text"))
  (when (and new (lines.bare (get (lines.split new) -1)))
    (assert (= (.endswith new "\n") (.endswith text "\n")))))

(defn made [text #* operations]
  "Return TEXT with OPERATIONS applied."
  (get (plan.make text (plan.checked operations)) "text"))

(defn test-ends-of-neighbours []
  "A new line ends as the one it replaces, and a further one as its neighbour."
  (assert (= (made "alpha\nbeta\r\ngamma\n" (lib.replaced 1 2 "A\nB")) "A\nB\r\ngamma\n"))
  (assert (= (made "a\r\nb\nc\r\n" (lib.replaced 1 1 "A")) "A\r\nb\nc\r\n"))
  (assert (= (made "a\r\nb\nc\r\n" (lib.after 1 "x\ny")) "a\r\nx\r\ny\r\nb\nc\r\n"))
  (assert (= (made "a\nb\r\n" (lib.before 2 "x")) "a\nx\r\nb\r\n"))
  (assert (= (made "a\r\n" (lib.replaced 1 1 "x\ny\n")) "x\r\ny\r\n")))

(defn test-last-line-without-newline []
  "A last line without newline stays so: replaced, followed, preceded or deleted."
  (assert (= (made "a\nb" (lib.replaced 2 2 "B")) "a\nB"))
  (assert (= (made "a\nb" (lib.replaced 2 2 "B\n")) "a\nB"))
  (assert (= (made "a\nb" (lib.after 2 "c")) "a\nb\nc"))
  (assert (= (made "a" (lib.before 1 "c")) "c\na"))
  (assert (= (made "a\r\nb" (lib.after 2 "c")) "a\r\nb\r\nc"))
  (assert (= (made "a\nb" (lib.deleted 2 2)) "a"))
  (assert (= (made "a\nb" (lib.deleted 1 2)) ""))
  (assert (= (made "\na" (lib.deleted 2 2)) "\n"))
  (assert (= (made "a" (lib.after 1 "\n")) "a\n\n")))

(defn test-final-newline []
  "The final newline is added and removed when asked, alone or with other operations."
  (assert (= (made "a\r\nb" (final True)) "a\r\nb\r\n"))
  (assert (= (made "a\nb\n" (final False)) "a\nb"))
  (assert (= (made "a\nb\n" (final False) (lib.replaced 1 1 "A")) "A\nb"))
  (assert (= (made "a" (final True)) "a\n")))


(defn [(pytest.mark.parametrize "operations"
         [[] [{"op" "rename"}] [{"op" "delete-lines" "start_line" 1}]
          [(lib.replaced 2 1 "x")] [(lib.replaced 0 1 "x")] [(lib.replaced 1 9 "x")] [(lib.after 9 "x")]
          [(lib.after 1 "")] [(lib.replaced 1 2 "x") (lib.deleted 2 3)] [(lib.before 1 "x") (lib.after 1 "y")]
          [(lib.after 1 "x") (lib.after 1 "y")] [(lib.filled "x")] [(lib.filled "x") (lib.after 1 "y")]
          [{"op" "delete-lines" "start_line" 1 "end_line" 1 "content" "x"}] [(lib.deleted True 1)]
          [{"op" "replace-lines" "start_line" "1" "end_line" 1 "content" "x"}] [(lib.replaced 1 1 5)]
          [(final True) (final False)]])]
  test-refused [operations]
  "What cannot be applied without doubt is refused."
  (with [e (pytest.raises plan.Refused)]
    (plan.make "a\nb\nc\n" (plan.checked operations)))
  (assert e.value.message))
