"The command line is parsed from one table, and every mistake is named."

(import
  pytest
  autolith.door [options])

(defn test-forms-may-be-repeated []
  "-e takes forms in the order given, with either spelling."
  (assert (= (get (options.parse ["-e" "1" "--eval=(+ 1 2)"]) "eval") ["1" "(+ 1 2)"])))

(defn [(pytest.mark.parametrize "argv,text" [#(["-p"] "") #(["-p" "hello"] "hello") #(["-p" "--events"] "")
                                            #(["-p" "-"] "-") #(["--print=-x"] "-x")])]
      test-print-takes-text-or-nothing [argv text]
  "-p may be followed by its text, by another option, or by nothing."
  (assert (= (get (options.parse argv) "print") text)))

(defn test-resume-with-and-without-id []
  "resume is a command with at most one argument, and goes together with -p and -e."
  (assert (= (get (options.parse ["resume"]) "command") "resume"))
  (setv asked (options.parse ["resume" "abc" "-p" "go on"]))
  (assert (= [(get asked "arguments") (get asked "print")] [["abc"] "go on"])))

(defn test-events-formats []
  "--events prints forms, or JSON where that is said."
  (assert (= (get (options.parse ["-p" "x" "--events"]) "events") ""))
  (assert (= (get (options.parse ["-p" "x" "--events" "json"]) "events") "json")))

(defn [(pytest.mark.parametrize "argv" [["--modell" "x"] ["-z"] ["frobnicate"] ["resume" "a" "b"] ["--model"] ["--version=1"]
                                       ["--events"] ["-p" "x" "--events=xml"] ["-p" "x" "-e" "1"] ["--permissions" "never"]])]
      test-mistakes-are-named [argv]
  "Whatever cannot be understood raises UsageError, whose message names the word that was wrong."
  (with [e (pytest.raises options.UsageError)]
    (options.parse argv))
  (assert (any (gfor word argv (in (get (.partition (.lstrip word "-") "=") 0) (str e.value))))))

(defn test-near-miss-is-suggested []
  "A misspelt option names its neighbour."
  (with [e (pytest.raises options.UsageError :match "--model")]
    (options.parse ["--modle" "x"])))

(defn test-help-names-everything []
  "The help text names every option and command of the tables."
  (setv text (options.help-text))
  (for [row (+ options.OPTIONS options.COMMANDS)]
    (assert (in (get row 0) text))))
