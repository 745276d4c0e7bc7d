"Settings: declared once, resolved in one order, checked everywhere, and the saved file keeps what it does not know."

(eval-when-compile (require autolith.state.settings [defsetting]))
(import
  os  pathlib [Path]
  pytest
  hypothesis [given settings :as limits HealthCheck strategies :as st]
  autolith.base [forms paths]
  autolith.state [settings])

(defn [(pytest.fixture :autouse True)] fresh [monkeypatch]
  "Give each test what a fresh process has: nothing explicit, the declared settings, a fixed few for tests."
  (monkeypatch.setattr settings "table" (dict settings.table))
  (monkeypatch.setattr settings "explicit" {})
  (settings.declare "test-limit" ["integer" 1 50] 10 "durable" "TEST_LIMIT" "A limit.")
  (settings.declare "test-word" ["string"] None "durable" "TEST_WORD" "A word.")
  (settings.declare "test-once" ["boolean"] False "process" "TEST_ONCE" "A flag.")
  (for [name ["TEST_LIMIT" "TEST_WORD" "TEST_ONCE"]] (monkeypatch.delenv name :raising False)))

(defn saved-text []
  "Return the text of the saved preferences."
  (with [f (open (settings.path))] (.read f)))

(defn write-saved [text]
  "Make TEXT the saved preferences, as another program would."
  (paths.ensure-folder (os.path.dirname (settings.path)))
  (with [f (open (settings.path) "w")] (.write f text)))

(defn test-the-order-of-sources [monkeypatch]
  "Explicit goes before the variable, that before the saved preference, that before the default; each says where it is from."
  (setv seen [])
  (defn note [] (.append seen #((settings.value "test-limit") (settings.source "test-limit"))))
  (note)
  (write-saved "{:test-limit 20}") (note)
  (monkeypatch.setenv "TEST_LIMIT" "30") (note)
  (settings.put "test-limit" 40) (note)
  (settings.put "test-limit" None) (note)
  (assert (= seen [#(10 "default") #(20 "saved") #(30 "variable") #(40 "explicit") #(30 "variable")])))

(defn test-an-empty-variable-is-unset [monkeypatch]
  "A variable that is set to nothing does not count."
  (monkeypatch.setenv "TEST_LIMIT" "")
  (assert (= (settings.source "test-limit") "default"))
  (assert (= (settings.problems) [])))

(defn test-saving-holds-for-the-next-process [monkeypatch]
  "A saved value holds now and, read anew, later; None forgets it."
  (assert (= (settings.save "test_limit" "12") 12))
  (settings.explicit.clear)
  (assert (= (settings.value "test-limit") 12))
  (settings.save "test-limit" None)
  (assert (= #((settings.value "test-limit") (settings.source "test-limit")) #(10 "default")))
  (assert (not-in "test-limit" (saved-text))))

(defn test-unknown-preferences-survive []
  "Preferences that nobody declared, of a newer version for instance, are kept when others are saved or forgotten."
  (write-saved "{:version 9\n :from-the-future [1 {:a \"b\"}]\n \"odd key\" 2\n :test-limit 5}")
  (settings.save "test-word" "hello")
  (settings.save "test-limit" None)
  (assert (= (forms.read-one (saved-text)) {"version" 9  "from_the_future" [1 {"a" "b"}]  "odd key" 2  "test_word" "hello"})))

(defn [(pytest.mark.parametrize "text" ["{:test-limit" "[1 2]" "\0\0" "words" ""])]
  test-a-malformed-file-costs-a-warning [text]
  "A malformed file gives the defaults and a sentence with its name; saving then keeps the old text aside."
  (write-saved text)
  (assert (= (settings.value "test-limit") 10))
  (assert (= (len (settings.problems)) 1))
  (assert (in (settings.path) (get (settings.problems) 0)))
  (settings.save "test-limit" 3)
  (assert (= (settings.problems) []))
  (settings.explicit.clear)
  (assert (= (settings.value "test-limit") 3)))

(defn test-what-does-not-fit-is-passed-over-and-told [monkeypatch]
  "A variable or a preference of the wrong kind is passed over for the next source, and named."
  (write-saved "{:test-limit 500 :test-word \"ok\"}")
  (monkeypatch.setenv "TEST_LIMIT" "many")
  (assert (= #((settings.value "test-limit") (settings.source "test-limit")) #(10 "default")))
  (assert (= (settings.value "test-word") "ok"))
  (setv told (settings.problems))
  (assert (= (len told) 2))
  (assert (any (gfor t told (in "TEST_LIMIT" t))))
  (settings.save "test-word" "x")
  (assert (= (:test-limit (forms.read-one (saved-text))) 500)))

(defn [(pytest.mark.parametrize "kind,good,bad" [#(["boolean"] [#("yes" True) #("OFF" False)
                                                                #(True True) #(0 False) #('true True)]
                                                   ["maybe" 2 "" None [1]])
                                                 #(["integer"] [#("7" 7) #(-3 -3)] ["x" 1.5 True "" [1]])
                                                 #(["integer" 1 5] [#(1 1) #("5" 5)] [0 6 "0"])
                                                 #(["string"] [#("a b" "a b") #('word "word") #(" x " "x")] ["" "  " 3])
                                                 #(["choice" "emacs" "vi"] [#("vi" "vi") #('emacs "emacs")
                                                                            #(':vi "vi")] ["VI" "nano" "" 1 "choice"])
                                                 #(["path"] [#("/a/../b" "/b")] ["" 3])])]
  test-types [kind good bad]
  "Each type takes what it means, also as text, as plain values, and refuses the rest with the setting's name and what it takes."
  (settings.declare "test-kind" kind None "durable" None "A kind.")
  (for [[given expected] good]
    (setv found (settings.put "test-kind" given))
    (assert (= #(found (type found)) #(expected (type expected)))))
  (for [given bad :if (is-not given None)]
    (with [e (pytest.raises settings.SettingError)] (settings.put "test-kind" given))
    (assert (in "test-kind" (str e.value)))
    (assert (in (settings.describe kind) (str e.value)))))

(defn test-a-path-is-made-absolute [monkeypatch tmp-path]
  "A path may be relative or begin at the home folder; it is kept absolute."
  (settings.declare "test-path" ["path"] None "durable" None "A path.")
  (monkeypatch.chdir tmp-path)
  (monkeypatch.setenv "HOME" "/home/me")
  (assert (= (settings.put "test-path" "x/y") (str (/ tmp-path "x" "y"))))
  (assert (= (settings.put "test-path" "~/z") "/home/me/z")))

(defn test-an-unknown-setting-names-its-neighbours []
  "A misspelled name is refused, everywhere, with the names that are near."
  (for [f [settings.value settings.source (fn [n] (settings.put n 1)) (fn [n] (settings.save n 1))]]
    (with [e (pytest.raises settings.SettingError)] (f "test-limti"))
    (assert (in "test-limit" (str e.value)))))

(defn test-process-settings-and-some-values-are-not-saved []
  "What holds for one process is not written, nor are values that must not outlive it."
  (with [(pytest.raises settings.SettingError)] (settings.save "test-once" True))
  (for [mode ["full" "sandbox"]]
    (with [(pytest.raises settings.SettingError)] (settings.save "permission-mode" mode))
    (assert (= (settings.put "permission-mode" mode) mode)))
  (assert (not (os.path.exists (settings.path))))
  (assert (= (settings.save "permission-mode" "auto") "auto")))

(defn test-a-process-setting-ignores-the-file []
  "A process setting that somebody wrote into the file does not hold."
  (write-saved "{:test-once True}")
  (assert (is (settings.value "test-once") False)))

(defn test-declaring-from-outside []
  "`defsetting` declares from any module, replaces an earlier declaration, and keeps what was put."
  (defsetting test-note (integer 1 50) 10 durable "TEST_NOTE" "How many notes are sent.")
  (settings.put "test-note" 20)
  (defsetting test-note (choice a b) "a" durable None "Which note." :unsaved ["b"])
  (assert (= (settings.value "test-note") "a"))
  (with [(pytest.raises settings.SettingError)] (settings.save "test-note" "b"))
  (with [(pytest.raises settings.SettingError)] (settings.declare "test-odd" ["colour"] None "durable" None "Odd.")))

(defn test-every-setting-is-described []
  "Each setting has a row with its value and source, a sentence, and a default that its own type takes; no two share a variable."
  (setv rows (settings.rows))
  (assert (= (lfor r rows (:name r)) (sorted settings.table)))
  (for [r rows]
    (assert (>= (set r) #{"name" "type" "value" "default" "source" "scope" "variable" "doc"}))
    (assert (.endswith (:doc r) "."))
    (when (is-not (:default r) None)
      (assert (= (settings.convert r (:default r)) (:default r)))))
  (setv variables (lfor r rows :if (:variable r) (:variable r)))
  (assert (= (len variables) (len (set variables)))))

(defn [(given (st.dictionaries (st.from-regex r"[a-z][a-z_]{0,8}" :fullmatch True)
                                (st.one-of (st.integers) (st.text) (st.booleans)) :max-size 5)
              (st.integers 1 50))
       (limits :max-examples 40 :deadline None :suppress-health-check [HealthCheck.function-scoped-fixture])]
  test-any-preferences-survive-a-save [others number]
  "Whatever else the file holds, saving one setting changes that one alone."
  (.pop others "test_limit" None)
  (write-saved (forms.write others))
  (settings.save "test-limit" number)
  (setv found (forms.read-one (saved-text)))
  (assert (= (.pop found "test_limit") number))
  (assert (= {"version" 1 #** others} {"version" 1 #** found})))

(defn test-the-page-lists-every-setting []
  "The page about settings has one row for each setting that the program declares, with its variable and its sentence."
  (setv page (.read-text (/ (. (Path __file__) parent parent parent) "docs" "settings.md") :encoding "utf-8")
        rows (dfor line (.splitlines page)
                   :if (.startswith line "| `")
                   :setv cells (lfor c (cut (.split line " | ")) (.strip c "| "))
                   (.strip (get cells 0) "`") cells)
        declared (lfor r (settings.rows) :if (not (.startswith (:name r) "test-")) r))
  (assert (= (sorted rows) (lfor r declared (:name r))))
  (for [r declared]
    (setv cells (get rows (:name r)))
    (assert (= #((get cells 1) (get cells 3) (get cells 4))
               #((settings.describe (:type r)) f"`{(:variable r)}`" (:doc r))))))
