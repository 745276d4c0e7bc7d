"Name conversations and the like: seven Base58 characters that hold the time they were made.

An id is (seconds since 2020) * 512 + (a number below 512), written with seven of Bitcoin's 58 characters, which stand
in ASCII order; so ids sort by time. `4abcdef` is the id, `4-abcdef` is how people see it. The first character changes
every two years; the seventh digit is used up in 2156."

(import
  os
  threading
  time)

(setv ALPHABET "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
      LENGTH 7
      EPOCH 1577836800                                   ; 2020-01-01T00:00:00Z
      PER-SECOND 512)

(setv _guard (threading.Lock)
      _last 0)

(defn _encode [number]
  "Return NUMBER as an id."
  (setv digits [])
  (for [_ (range LENGTH)]
    (setv [number digit] (divmod number 58))
    (.append digits (get ALPHABET digit)))
  (.join "" (reversed digits)))

(defn _decode [id]
  "Return the number that ID stands for."
  (setv number 0)
  (for [c id]
    (setv number (+ (* number 58) (.index ALPHABET c))))
  number)

(defn _next []
  "Return a number for this moment, above every one that this process was given before."
  (global _last)
  (with [_ _guard]
    (setv second (- (int (time.time)) EPOCH)
          number (+ (* (max second 0) PER-SECOND) (% (int.from-bytes (os.urandom 2)) PER-SECOND))
          _last (if (> number _last) number (+ _last 1)))
    _last))

(defn new-id [[taken None]]
  "Return an id that this process has not made before and for which TAKEN, a function of an id, if given, is false."
  (while True
    (setv id (_encode (_next)))
    (when (not (and taken (taken id)))
      (return id))))

(defn id-time [id]
  "Return when ID was made, in seconds since 1970, to the second."
  (+ EPOCH (// (_decode (parse-id id)) PER-SECOND)))

(defn show-id [id]
  "Return ID as people see it, with a hyphen after its first character."
  (+ (cut id 1) "-" (cut id 1 None)))

(defn parse-id [text]
  "Return the id that TEXT means, with or without its hyphen; raise ValueError if it means none."
  (setv id (.strip text))
  (when (= (cut id 1 2) "-")
    (setv id (+ (cut id 1) (cut id 2 None))))
  (when (not (and (= (len id) LENGTH) (all (gfor c id (in c ALPHABET)))))
    (raise (ValueError (+ f"{text !r} is no id: an id is seven letters and digits without 0, O, I and l,"
                          " as in 4-abcdef"))))
  id)
