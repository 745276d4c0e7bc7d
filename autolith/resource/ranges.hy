"Sets of line or column numbers, kept as sorted, disjoint lists [[first last] ...], both ends included. Pure."

(defn merge [ranges first last]
  "Return RANGES with FIRST to LAST added; neighbours grow together."
  (when (> first last)
    (return (list ranges)))
  (setv merged [])
  (for [[a b] (sorted [#* ranges [first last]])]
    (if (and merged (<= a (+ (get merged -1 1) 1)))
      (setv (get merged -1 1) (max b (get merged -1 1)))
      (.append merged [a b])))
  merged)

(defn covers? [ranges first last]
  "Tell whether RANGES holds every number from FIRST to LAST."
  (any (gfor [a b] ranges (<= a first last b))))

(defn missing [ranges first last]
  "Return the part of FIRST to LAST that RANGES does not hold."
  (setv gaps [] next-one first)
  (for [[a b] ranges]
    (when (> a last) (break))
    (when (> a next-one) (.append gaps [next-one (- a 1)]))
    (setv next-one (max next-one (+ b 1))))
  (when (<= next-one last)
    (.append gaps [next-one last]))
  gaps)

(defn text [ranges [most 12]]
  "Return RANGES for people, as \"1-40, 52\", or \"none\"; of more than MOST ranges the first ones and their number."
  (setv shown (lfor [a b] (cut ranges most) (if (= a b) (str a) f"{a}-{b}")))
  (when (> (len ranges) most)
    (.append shown f"... ({(len ranges)} ranges up to {(get ranges -1 1)})"))
  (or (.join ", " shown) "none"))
