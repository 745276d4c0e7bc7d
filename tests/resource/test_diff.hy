"Differences as rows and text."

(import
  hypothesis [given settings strategies :as st]
  autolith.resource [diff lines])

(setv ROWS (st.lists (st.sampled-from ["a\n" "b\n" "c\r\n" "\n"]) :max-size 25))

(defn rebuilt [old blocks new]
  "Return OLD with BLOCKS taken from NEW."
  (setv out [] at 0)
  (for [[a b c d] blocks]
    (.extend out (+ (cut old at a) (cut new c d)))
    (setv at b))
  (+ out (cut old at None)))

(defn [(settings :max-examples 150 :deadline None) (given ROWS ROWS)] test-blocks-rebuild [old new]
  "The blocks turn the old lines into the new, in order and without overlap."
  (setv blocks (diff.blocks old new))
  (assert (= (rebuilt old blocks new) new))
  (assert (all (gfor [[_ b _ d] [a _ c _]] (zip blocks (cut blocks 1 None)) (and (<= b a) (<= d c))))))

(defn [(settings :max-examples 150 :deadline None) (given ROWS ROWS)] test-rows-agree [old new]
  "Rows bear the numbers of the lines they show, all removed and added lines are among them, and counts count them."
  (setv blocks (diff.blocks old new) rows (diff.rows blocks old new))
  (for [row rows :if (!= (get row "kind") "gap")]
    (when (get row "old") (assert (= (get row "text") (lines.bare (get old (- (get row "old") 1))))))
    (when (get row "new") (assert (= (get row "text") (lines.bare (get new (- (get row "new") 1)))))))
  (setv kinds (lfor row rows (get row "kind")))
  (assert (= (diff.counts blocks) #((.count kinds "added") (.count kinds "removed"))))
  (setv numbers (lfor row rows :if (get row "old") (get row "old")))
  (assert (= numbers (sorted (set numbers)))))

(defn test-gap []
  "Far changes are shown with three lines around each and a gap between."
  (setv old (lfor i (range 50) f"{i}\n") new (list old))
  (setv (get new 5) "x\n" (get new 40) "y\n")
  (setv rows (diff.rows (diff.blocks old new) old new))
  (assert (= (.count (lfor r rows (get r "kind")) "gap") 1))
  (assert (= (len rows) 17)))

(defn test-no-newline []
  "A last line without newline says so, and one that gains it differs."
  (setv rows (diff.rows (diff.blocks ["a"] ["a\n"]) ["a"] ["a\n"]))
  (assert (= (lfor r rows (get r "kind")) ["removed" "added"]))
  (assert (!= (get rows 0 "text") (get rows 1 "text"))))

(defn test-text-is-bounded []
  "A long difference, or one with a giant line, is cut with a note."
  (setv new (lfor i (range 5000) f"line {i}\n"))
  (assert (< (len (diff.text (diff.rows (diff.blocks [] new) [] new) 2000)) 2100))
  (setv giant [(+ (* "x" 100000) "\n")] text (diff.text (diff.rows (diff.blocks [] giant) [] giant) 2000))
  (assert (< (len text) 2100))
  (assert (in "left out" text)))

(defn test-large-replacement-is-quick []
  "Where too many lines changed to compare one by one, they count as replaced."
  (setv old (lfor i (range 20000) f"{i}\n") new (lfor i (range 20000) f"{(* i 7)}\n"))
  (assert (= (rebuilt old (diff.blocks old new) new) new)))
