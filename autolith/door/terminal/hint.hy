"The hint under a form: the signature of the call at the caret with the current argument marked, and what it is for."

(import
  autolith.door.terminal [cells completer editor style])

(defn rows [text operations width]
  "Return at most two rows about the call at the end of TEXT, with OPERATIONS known, in WIDTH columns."
  (setv place (editor.place text) name (or (get place "operator") (head-word place))
        signature (completer.signature name operations))
  (if (not signature)
    []
    (lfor row [(signature-row signature place)
               [#("class:faint" (cells.clean-line (completer.documentation name operations)))]]
          :if (cells.row-text row)
          [#("" (* " " (cells.margin width))) #* (in-sight row (- width (cells.margin width)))])))

(defn in-sight [row room]
  "Return ROW in ROOM cells, the marked argument in sight, with a sign where something is left out."
  (setv cut-sign (style.mark "cut") end 0)
  (when (<= (cells.row-width row) room) (return row))
  (for [[look text] row]
    (+= end (cells.width text))
    (when (= look "class:match") (break)))
  (when (and (= (len row) 3) (> (+ end 2) room))
    (setv row [#("" (+ cut-sign " ")) #* (cut row 1 None)]))
  (if (<= (cells.row-width row) room)
    row
    [#* (cells.fit-row row (max 0 (- room (cells.width cut-sign)))) #("" cut-sign)]))

(defn head-word [place]
  "Return the operator that is still being typed at PLACE, if it is one already."
  (when (get place "head") (get place "word")))

(defn signature-row [signature place]
  "Return SIGNATURE as fragments with the argument at PLACE marked."
  (setv signature (cells.clean-line signature) current (current-argument signature place))
  (for [[start kind token] (editor.tokens signature)]
    (when (and (= kind "atom") (= (.lstrip token ":") current) (> start 1))
      (return [#("" (cut signature start)) #("class:match" token) #("" (cut signature (+ start (len token)) None))])))
  [#("" signature)])

(defn current-argument [signature place]
  "Return the name of the parameter of SIGNATURE that the argument at PLACE is for, or None."
  (setv names (completer.parameters signature) items (get place "items") word (get place "word")
        before (if (or word (is-not (get place "string") None)) (cut items -1) items))
  (cond
    (get place "head") None
    (and word (.startswith word ":")) (when (in (cut word 1 None) names) (cut word 1 None))
    (and before (> (len before) 1) (.startswith (get before -1) ":")) (cut (get before -1) 1 None)
    True (do
           (setv at (positional (cut before 1 None)))
           (when (< at (len names)) (get names at)))))

(defn positional [items]
  "Return how many of ITEMS, arguments, were given by position."
  (setv count 0 skip False)
  (for [item items]
    (cond
      skip (setv skip False)
      (.startswith item ":") (setv skip True)
      True (+= count 1)))
  count)
