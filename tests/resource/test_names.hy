"File names of any bytes and their URIs."

(import
  os
  pytest
  hypothesis [given settings strategies :as st]
  autolith.resource [names protocol]
  tests.resource.lib [Place])

(setv NAME (.map (st.binary :min-size 1 :max-size 12) (fn [b] (os.fsdecode (.replace (.replace b b"\0" b"") b"/" b"")))))

(defn [(settings :max-examples 200 :deadline None) (given NAME)] test-round-trip [name]
  "Every name comes back from its encoding, which is printable and has no blank."
  (setv shown (names.encode name))
  (assert (= (names.decode shown) name))
  (assert (or (not shown) (.isprintable shown)))
  (assert (not (any (gfor c shown (.isspace c))))))

(defn [pytest.fixture] place [tmp-path]
  (Place tmp-path))

(defn [(pytest.mark.parametrize "raw" [b"caf\xe9.txt" b"a b.txt" b"100%.txt" b"%41.txt" b"x\ny" b"\xe2\x80\xa8"
                                       b"~" b"~root" b"- d" b"#a?b" b"caf\xc3\xa9"])]
  test-listed-name-is-usable [place raw]
  "The name that a listing shows, and the URI that a read gives, read the same file again."
  (with [f (open (os.path.join (os.fsencode place.folder) raw) "wb")] (.write f b"inside\n"))
  (setv row (get (.read place ".") "lines" 0)
        listed (.read place (+ "./" (get row "name")))
        again (.read place (get listed "uri")))
  (assert (= (get listed "lines" 0 "text") "inside"))
  (assert (= (get again "revision") (get listed "revision")))
  (assert (in (get row "name") (get row "text")))
  (.edit place [(get again "uri") (get again "revision") {"op" "replace-lines" "start_line" 1 "end_line" 1 "content" "changed"}])
  (with [f (open (os.path.join (os.fsencode place.folder) raw) "rb")] (assert (= (.read f) b"changed\n"))))

(defn test-plain-spellings [place monkeypatch]
  "Blanks may stand for themselves, absolute paths, ~ and .. lead where they do in a shell, and relative names are shown so."
  (.put place "a b.txt" b"x\n")
  (os.mkdir (.path place "sub"))
  (monkeypatch.setenv "HOME" place.folder)
  (for [path ["a b.txt" "a%20b.txt" f"{place.folder}/a b.txt" "~/a b.txt" "sub/../a b.txt" "./a b.txt"]]
    (setv uri (+ "workspace:" path))
    (assert (= (get (.read place uri) "uri") "workspace:a%20b.txt"))))

(defn test-dots-behind-a-link [place]
  ".. behind a symbolic link is the parent of where it leads."
  (os.makedirs (.path place "deep/inner"))
  (.put place "deep/f" b"deep\n")
  (.put place "f" b"top\n")
  (os.symlink "deep/inner" (.path place "link"))
  (setv page (.read place "link/../f"))
  (assert (= (get page "lines" 0 "text") "deep"))
  (assert (= (get (.read place (get page "uri")) "lines" 0 "text") "deep")))

(defn [(pytest.mark.parametrize "uri"
         ["workspace:loop" "workspace:loop/x" "workspace:f/x" "workspace:f/" "workspace:%00" "workspace://f" (+ "workspace:" (* "n" 300))])]
  test-refused-names [place uri]
  "Loops, paths through a file, a file named as a directory, NUL, a doubled slash and overlong names are refused, not missing."
  (.put place "f" b"x\n")
  (os.symlink "loop" (.path place "loop"))
  (with [e (pytest.raises protocol.ResourceError)]
    (.read place uri))
  (assert e.value.message))

(defn test-vanished-workspace [tmp-path]
  "A working directory that is gone is said to be gone, not empty."
  (setv place (Place (/ tmp-path "gone")))
  (for [uri ["workspace:." "workspace:a.txt"]]
    (with [e (pytest.raises protocol.ResourceError)] (.read place uri))
    (assert (in "gone" e.value.message))))
