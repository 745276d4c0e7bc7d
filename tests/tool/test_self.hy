"Forms that the model evaluates: results, failures, restarts, interruption."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  asyncio
  threading
  pytest
  autolith.base [threads]
  autolith.image [namespace]
  autolith.tool [context registry result]
  tests.tool.lib [call run tools])

(defn evaluate [form #** more]
  "Return the result of self.eval of FORM."
  (call "self.eval" {"form" form #** more}))

(defn values [form #** more]
  "Return the texts of the values of FORM."
  (get (. (evaluate form #** more) data) "values"))

(defn test-output-and-values []
  "Each section is there when it has something, with the values of all forms."
  (setv r (evaluate "(print \"out\") (setv zz-1 4) (+ zz-1 1) [zz-1]"))
  (assert r.ok r.text)
  (assert (= (get r.data "output") "out\n"))
  (assert (= (get r.data "values") ["5" "[4]"]))
  (assert (= (.splitlines r.text) ["Output" "out" "" "Values" "5" "[4]"]))
  (assert (not-in "Output" (. (evaluate "1") text)))
  (assert (. (evaluate "None") text)))

(defn test-runs-on-the-main-thread []
  "The forms run on the main thread, in autolith.user."
  (assert (= (values "(import threading) (is (threading.current-thread) (threading.main-thread))") ["True"]))
  (evaluate "(setv zz-2 77)")
  (assert (= (. (namespace.user) zz-2) 77)))

(defn test-failure-has-traceback-and-restarts []
  "A failed evaluation is a failed result with the user's own line, what ran before it, and the ways on."
  (setv r (evaluate "(setv zz-3 1)\n(print \"before\")\n(/ zz-3 0)"))
  (assert (not r.ok))
  (assert (in "(/ zz-3 0)" r.text))
  (assert (in "before" r.text))
  (assert (<= #{"retry" "use-value"} (set r.restarts)))
  (assert (= (. (namespace.user) zz-3) 1)))

(setv BAD ["(print 1" ")" "(raise (SystemExit 3))" "(defn f [] (f)) (f)" "(raise (KeyboardInterrupt))"
           "(defclass Rude [Exception] (defn __str__ [self] (/ 1 0))) (raise (Rude))"
           "(defmacro zz-bad [] (/ 1 0)) (zz-bad)"])

(defn [(pytest.mark.parametrize "form" BAD)]
  test-bad-forms-are-failed-results [form]
  "Unreadable, exiting, endlessly recursive, interrupted and rude forms are failed results, and the next one works."
  (assert (not (. (evaluate form) ok)))
  (assert (. (evaluate "(+ 1 1)") ok)))

(defn test-restart-with-a-value []
  "A named restart goes on at the failure with the value of the form given."
  (assert (= (values "(+ 20 zz-missing)" :restart "use-value" :restart_value "(* 2 11)") ["42"]))
  (setv r (evaluate "(do (setv zz-4 1) (+= zz-4 1) (+ zz-4 zz-5))" :restart "store-value" :restart_value "40"))
  (assert (= (get r.data "values") ["42"]))
  (assert (= (. (namespace.user) zz-5) 40))
  (assert (= (values "(/ 1 0)" :restart "use-value" :restart_value "9") ["9"])))

(defn test-retry-does-not-go-round []
  "Retrying what fails again is a failure, not a loop."
  (assert (not (. (evaluate "(/ 1 0)" :restart "retry") ok))))

(defn test-restart-that-is-not-offered []
  "A restart that nobody offers is named in the failure; one that was not needed does no harm."
  (setv r (evaluate "(/ 1 0)" :restart "explode"))
  (assert (and (not r.ok) (in "explode" r.text)))
  (assert (. (evaluate "1" :restart "use-value" :restart_value "2") ok)))

(defn test-tools-inside-forms [tools]
  "A form may call tools while the model's call waits; a failed tool inside is the form's condition."
  (deftool demo.twice [n] "Twice." (* 2 n))
  (setattr (namespace.user) "zz_demo" (registry.namespace "demo"))
  (assert (= (values "(. (zz-demo.twice 21) data)") ["42"]))
  (setv r (evaluate "(zz-demo.twice \"a\" \"b\")"))
  (assert (and (not r.ok) (in "demo.twice" r.text))))

(defn test-quoted-forms-are-accepted []
  "Code may give the form as text or quoted."
  (setv tool (registry.find "self.eval"))
  (assert (= (get (. (tool '(+ 1 2)) data) "values") ["3"])))

(defn test-long-output-is-stored []
  "Very much output is cut for the model and stored whole."
  (setv r (evaluate "(for [i (range 20000)] (print i))"))
  (assert (<= (len r.text) result.text-limit))
  (assert (.startswith r.stored "output:")))

(defn test-cancelling-interrupts-the-form []
  "Cancelling the call interrupts the form that runs, and the main thread goes on serving."
  (setv user (namespace.user) user.zz-started (threading.Event) user.zz-ended [])
  (setv form "(do (try (.set zz-started) (while True (setv zz-6 1)) (finally (.append zz-ended 1))))")
  (defn :async main []
    (setv task (asyncio.create-task (registry.call "self.eval" {"form" form} (context.ToolContext :origin "model"))))
    (while (not (.is-set user.zz-started)) (await (asyncio.sleep 0.005)))
    (.cancel task)
    (try (await task)
      (except [asyncio.CancelledError] "cancelled")))
  (assert (= (run (main)) "cancelled"))
  (assert (= user.zz-ended [1]))
  (assert (. (evaluate "1") ok)))

(defn test-cancelling-reaches-what-the-form-waits-for [tools]
  "Cancelling a form that waits for a tool cancels that tool."
  (setv user (namespace.user) user.zz-waiting (threading.Event) user.zz-cleaned [])
  (deftool demo.wait [] "Wait."
    (try
      (.set user.zz-waiting)
      (await (asyncio.sleep 30))
      (finally (.append user.zz-cleaned 1))))
  (setattr user "zz_demo" (registry.namespace "demo"))
  (defn :async main []
    (setv task (asyncio.create-task (registry.call "self.eval" {"form" "(zz-demo.wait)"} (context.ToolContext))))
    (while (not (.is-set user.zz-waiting)) (await (asyncio.sleep 0.005)))
    (.cancel task)
    (try (await task)
      (except [asyncio.CancelledError] "cancelled")))
  (assert (= (run (main)) "cancelled"))
  (assert (= user.zz-cleaned [1])))

(defn test-cancelled-before-it-runs []
  "A form that was cancelled while it waited for the main thread never runs."
  (setv user (namespace.user) user.zz-ran [])
  (defn started [form]
    (asyncio.create-task (registry.call "self.eval" {"form" form} (context.ToolContext))))
  (defn :async main []
    (setv first (started "(do (import time) (time.sleep 0.1))")
          second (started "(.append zz-ran 1)"))
    (await (asyncio.sleep 0.02))
    (.cancel second)
    (setv outcomes (await (asyncio.gather first second :return-exceptions True)))
    [(. (get outcomes 0) ok) (isinstance (get outcomes 1) asyncio.CancelledError)])
  (assert (= (run (main)) [True True]))
  (assert (= user.zz-ran [])))

(defn test-awaiting-forms []
  "A form that awaits, and one that gives something awaitable, give the value in the end."
  (assert (= (values "(import asyncio) (await (asyncio.sleep 0 5)) (asyncio.sleep 0 6)") ["5" "6"])))
