"Ids: seven characters that hold their time, sort by it, and read back however they are written."

(import
  threading time
  pytest
  hypothesis [given settings strategies :as st]
  autolith.base [ids])

(defn test-an-id-has-its-time []
  "An id is seven Base58 characters and tells when it was made."
  (setv before (int (time.time))  id (ids.new-id))
  (assert (= (len id) 7))
  (assert (all (gfor c id (in c ids.ALPHABET))))
  (assert (<= (- before 1) (ids.id-time id) (+ (int (time.time)) 2))))

(defn test-ids-of-one-process-differ-and-sort []
  "Thousands of ids made at once by several threads are all different, and each thread's sort in the order of their making."
  (setv made [])
  (defn work []
    (setv mine (lfor _ (range 300) (ids.new-id)))
    (.append made mine))
  (setv threads (lfor _ (range 4) (threading.Thread :target work)))
  (for [t threads] (.start t))
  (for [t threads] (.join t))
  (assert (= (len (sfor mine made id mine id)) 1200))
  (for [mine made] (assert (= mine (sorted mine)))))

(defn [(given (st.integers 0 (- (** 58 7) 1)) (st.integers 0 (- (** 58 7) 1))) (settings :max-examples 200)]
  test-encoding-is-exact-and-ordered [a b]
  "Every number below 58 to the seventh has its id, and ids order as their numbers do."
  (setv x (ids._encode a)  y (ids._encode b))
  (assert (= (ids._decode x) a))
  (assert (= (< a b) (< x y)))
  (assert (= (ids.parse-id (ids.show-id x)) (ids.parse-id x) x)))

(defn [(pytest.mark.parametrize "text" ["" "abc" "0abcdef" "Oabcdef" "Iabcdef" "labcdef" "abcdefgh" "ab-cdefg"
                                        "-abcdefg" "../../x" "abcdef\n1" "ábcdefg"])]
  test-what-is-no-id-is-refused [text]
  "Text of another length, or with characters that Base58 leaves out, is no id."
  (with [(pytest.raises ValueError)] (ids.parse-id text)))

(defn test-a-taken-id-is-not-given []
  "An id that is taken is passed over."
  (setv refused [])
  (defn taken [id]
    (when (< (len refused) 3)
      (.append refused id)
      True))
  (assert (not-in (ids.new-id taken) refused)))
