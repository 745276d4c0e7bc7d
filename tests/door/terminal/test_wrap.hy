"Wrapping and Markdown: rows that fit, pieces that make no difference."

(import
  hypothesis [given settings strategies :as st]
  autolith.door.terminal [cells markdown wrap])

(defn run-together [parts]
  "Return PARTS as one text."
  (.join "" parts))

(setv WIDTHS (st.sampled-from [1 2 3 5 8 13 20 40 80])
      PARTS (st.sampled-from ["word" "a" " " "  " "\n" "\n\n" "**" "*" "`" "```" "````" "~~~" "# " "- " "12. " "> " "你好" "🦀" "é"
                              "\\*" "| a | b |" "--- " "longlonglonglonglonglong" "x*y" "e\u0301" "\u3164" "\t" "👨‍👩‍👧" "❤️"])
      TEXTS (.map (st.lists PARTS :max-size 30) run-together))

(defn set-in-pieces [text sizes width]
  "Return the rows of TEXT at WIDTH, fed in pieces of SIZES characters, round and round."
  (setv stream (markdown.Stream width) rows [] at 0 i 0)
  (while (< at (len text))
    (setv size (get sizes (% i (len sizes))))
    (.extend rows (.feed stream (cut text at (+ at size))))
    (.live stream)
    (+= at size)
    (+= i 1))
  (.extend rows (.finish stream))
  (lfor row rows (wrap.merged (lfor f row :if (get f 1) f))))

(defn [(given TEXTS (st.lists (st.integers 1 9) :min-size 1 :max-size 4) WIDTHS) (settings :max-examples 150 :deadline None)]
      test-pieces-make-no-difference [text sizes width]
  "Markdown that streams in any pieces gives the rows of the whole text."
  (assert (= (set-in-pieces text sizes width) (set-in-pieces text [1000] width))))

(defn [(given TEXTS WIDTHS) (settings :max-examples 150 :deadline None)] test-rows-fit [text width]
  "No row of a message, final or live, is wider than the screen, at any width."
  (setv stream (markdown.Stream width) rows [])
  (for [c text]
    (.extend rows (.feed stream c))
    (.extend rows (.live stream)))
  (for [row (+ rows (.finish stream))]
    (assert (<= (cells.row-width row) width))))

(defn [(given (.map (st.lists (st.sampled-from ["word" "你好" "x" "loooooooooooong" " "]) :max-size 20) run-together) WIDTHS)
       (settings :max-examples 100 :deadline None)]
      test-nothing-is-lost [text width]
  "Wrapping loses blanks at line ends and nothing else, but for wide characters on a single cell."
  (setv rows (wrap.rows-of [#("" text)] width)
        kept (.join "" (map cells.row-text rows)))
  (when (> width 1)
    (assert (= (.replace kept " " "") (.replace text " " "")))))

(defn [(given TEXTS WIDTHS WIDTHS) (settings :max-examples 60 :deadline None)] test-resize-in-the-middle [text first second]
  "A screen that changes its size in the middle of a message costs no word and no exception."
  (setv stream (markdown.Stream first) rows [] half (// (len text) 2))
  (.extend rows (.feed stream (cut text half)))
  (.resize stream second)
  (for [row (.live stream)] (assert (<= (cells.row-width row) (max first second))))
  (.extend rows (.feed stream (cut text half None)))
  (.extend rows (.finish stream))
  (assert (isinstance (.join "" (map cells.row-text rows)) str)))

(defn text-of [source width]
  "Return SOURCE set at WIDTH as lines of text."
  (lfor row (set-in-pieces source [5] width) (cells.row-text row)))

(defn test-fences []
  "A fence is never shown as code, at the very end, in a list, with more ticks, or never closed; each line is shown once."
  (setv body (.join "\n" (gfor i (range 60) f"line {i} of the diagram")))
  (for [source [f"```mermaid\n{body}\n```" f"```mermaid\n{body}\n```\n" f"```\n{body}" f"- item\n  ```\n{body}\n  ```"
                f"~~~\n{body}\n~~~"]]
    (setv lines (text-of source 80))
    (for [i (range 60)]
      (assert (= (sum (gfor l lines (= (.strip l) f"line {i} of the diagram"))) 1)))
    (assert (not (any (gfor l lines (or (in "```" l) (in "~~~" l)))))))
  (setv lines (text-of "````\n```\ninside\n```\n````\nafter" 80))
  (assert (= (lfor l lines (.strip l)) ["```" "inside" "```" "after"])))

(defn test-unclosed-fence-ends-with-its-message []
  "A fence that is never closed does not swallow the next message."
  (setv stream (markdown.Stream 80))
  (.feed stream "```\ncode")
  (.finish stream)
  (setv rows (+ (.feed stream "prose with **strong** words\n") (.finish stream)))
  (assert (= (cells.row-text (get rows 0)) "  prose with strong words")))

(defn test-literal-stars []
  "Stars that are no marks stay as they are."
  (for [source ["2*3*4" "a ** b" "2 * 3 * 4" "**open to the end" "*" "snake_case_name" "\\*kept\\*"]]
    (assert (= (.strip (get (text-of source 80) 0)) (.replace source "\\" "")))))

(defn test-margin-is-the-programs []
  "Whatever the model writes begins in the text column."
  (for [line (text-of "❯ you\n✓ done\n! error\n\n❯ x\n```\n= 42\n```" 40)]
    (assert (or (= line "") (.startswith line "  ")))))

(defn test-disputed-width []
  "Characters whose width terminals dispute count as wide, so a full line never runs over."
  (for [row (set-in-pieces (+ "`" (* "\u3164\u3164\u2705" 20) "`") [3] 24)]
    (assert (<= (sum (gfor c (cells.row-text row) (if (in c "\u3164\u2705") 2 1))) 24))))

(defn [(given (.map (st.lists (st.sampled-from ["word" "a" " " "  " "   " "looooooooooooooooooooong" "xy" "." "12345678"]) :max-size 60)
                    run-together)
              (st.lists (st.integers 1 200) :min-size 1 :max-size 4) WIDTHS)
       (settings :max-examples 200 :deadline None)]
      test-long-text [text sizes width]
  "Long plain text is set row by row, and the rows are those of setting it word by word."
  (setv fast (wrap.Wrapper width [#("" "- ")] [#("" "  ")]) slow (wrap.Wrapper width [#("" "- ")] [#("" "  ")]) at 0 i 0)
  (.add-tokens slow text "")
  (while (< at (len text))
    (setv size (get sizes (% i (len sizes))))
    (.add-long fast (cut text at (+ at size)) "")
    (+= at size)
    (+= i 1))
  (assert (= (lfor row (.end fast) (wrap.merged row)) (lfor row (.end slow) (wrap.merged row)))))
