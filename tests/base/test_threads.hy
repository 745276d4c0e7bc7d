"The main thread, the loop thread and workers: values, errors and interrupts cross between them."

(import
  asyncio
  os
  pytest
  signal
  subprocess
  sys
  textwrap
  threading
  time
  autolith.base [threads])

(defn :async double [x]
  (await (asyncio.sleep 0))
  (* 2 x))

(defn test-value-comes-back []
  "A coroutine handed to the loop gives its value to the thread that waits."
  (assert (= (threads.on-loop (double 21)) 42)))

(defn test-error-comes-back []
  "What a coroutine raises is raised where it was handed over."
  (defn :async fail [] (raise (KeyError "x")))
  (with [(pytest.raises KeyError)]
    (threads.on-loop (fail))))

(defn test-on-loop-thread-gives-coroutine []
  "On the loop thread nothing waits for the loop: the coroutine itself comes back."
  (defn :async outer [] (await (threads.on-loop (double 4))))
  (assert (= (threads.on-loop (outer)) 8)))

(defn test-main-serves-while-waiting []
  "A form that waits for the loop runs the evaluations that the loop asks main for, at any depth."
  (defn :async inner [] (await (threads.on-main (fn [] (threads.on-loop (double 5))))))
  (defn :async outer []
    (setv where (await (threads.on-main threading.current-thread)))
    #(where (await (inner))))
  (assert (= (threads.on-loop (outer)) #((threading.main-thread) 10))))

(defn test-context-is-copied []
  "Context variables of the caller are seen on the loop and, from there, on main."
  (import contextvars)
  (setv v (contextvars.ContextVar "v" :default 0))
  (.set v 7)
  (defn :async look [] [(.get v) (await (threads.on-main v.get))])
  (assert (= (threads.on-loop (look)) [7 7])))

(defn test-interrupt-cancels-and-cleans-up []
  "Ctrl-C while main waits cancels the coroutine, whose clean-up has run when the interrupt goes on."
  (setv seen [])
  (defn :async long []
    (try (await (asyncio.sleep 30))
      (finally (await (asyncio.sleep 0.01)) (.append seen "cleaned"))))
  (setv timer (threading.Timer 0.2 (fn [] (os.kill (os.getpid) signal.SIGINT))))
  (.start timer)
  (with [(pytest.raises KeyboardInterrupt)]
    (threads.on-loop (long)))
  (assert (= seen ["cleaned"])))

(defn test-worker-deadline-interrupts-endless-loop []
  "User code in a worker that never ends raises TimeoutError at its deadline, and its thread ends."
  (setv ended (threading.Event))
  (defn spin []
    (try (while True (sum (range 100)))
      (finally (.set ended))))
  (defn :async run [] (await (threads.in-worker spin 0.2)))
  (with [(pytest.raises TimeoutError)]
    (threads.on-loop (run)))
  (assert (.wait ended 10)))

(defn test-worker-value-and-error []
  "A worker gives its thunk's value, or raises its error."
  (defn :async good [] (await (threads.in-worker (fn [] 3) 5)))
  (defn :async bad [] (await (threads.in-worker (fn [] (/ 1 0)) 5)))
  (assert (= (threads.on-loop (good)) 3))
  (with [(pytest.raises ZeroDivisionError)]
    (threads.on-loop (bad))))

(setv SERVER #[[
(import os signal sys threading time autolith.base [threads])
(defn spin [] (while True (sum (range 100))))
(defn say [x] (print x :flush True))
(defn interrupt-when-busy []
  (while (not (threads.main-busy)) (time.sleep 0.01))
  (os.kill (os.getpid) signal.SIGINT))
(setv failing (threads.submit spin :label "spin"))
(.start (threading.Thread :target interrupt-when-busy))
(.add-done-callback failing (fn [f]
  (say (. (type (.exception f)) __name__))
  (os.kill (os.getpid) signal.SIGINT)
  (.add-done-callback (threads.submit (fn [] "alive")) (fn [f] (say (.result f)) (threads.stop-main)))))
(threads.serve-main)
(say "served")
]])

(defn test-served-jobs-are-interrupted-alone [tmp-path]
  "SIGINT ends the job that runs and nothing else: a later signal is ignored, later jobs run, serving ends in order."
  (setv file (/ tmp-path "serve.hy"))
  (.write-text file SERVER)
  (setv done (subprocess.run [(getattr hy "sys_executable" sys.executable) "-m" "hy" (str file)]
                             :capture-output True :text True :timeout 60
                             :env (| (dict os.environ) {"PYTHONPATH" (os.getcwd)})))
  (assert (= (.split done.stdout) ["KeyboardInterrupt" "alive" "served"]) done.stderr))
