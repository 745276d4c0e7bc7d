"One function made of advice and what it advises: a layer for each row, of the kind that the advised function is.

A row is as in image/advice. A layer that fails by its own fault has its key noted on the error; an observer's fault is reported to
ROW's \"report\" and the layer is left out."

(import inspect)

(defclass Watch []
  "What the function INNER did, as seen by the advice of ROW around it."
  (defn __init__ [self row inner]
    (setv self.row row
          self.inner inner
          self.called False
          self.value None
          self.raised None))

  (defn __call__ [self #* args #** kwargs]
    "Call the function, noting what it gives."
    (try
      (setv self.value (self.inner #* args #** kwargs)
            self.called True)
      self.value
      (except [e BaseException] (.note-raised self e) (raise))))

  (defn :async awaited [self #* args #** kwargs]
    "Call and await the function, noting what it gives."
    (try
      (setv self.value (await (self.inner #* args #** kwargs))
            self.called True)
      self.value
      (except [e BaseException] (.note-raised self e) (raise))))

  (defn iterated [self #* args #** kwargs]
    "Yield from the function, noting that it began and what it gives."
    (setv self.called True)
    (try
      (setv self.value (yield :from (self.inner #* args #** kwargs)))
      (return self.value)
      (except [e BaseException] (.note-raised self e) (raise))))

  (defn :async streamed [self #* args #** kwargs]
    "Yield what the asynchronous generator function yields, noting that it began."
    (setv self.called True)
    (try
      (for [:async x (self.inner #* args #** kwargs)] (yield x))
      (except [e BaseException] (.note-raised self e) (raise))))

  (defn note-raised [self error]
    "Note that the function raised ERROR."
    (setv self.raised error))

  (defn left-out? [self error]
    "Tell whether the advice, in which ERROR was raised, is left out; name its key on an error of its own that is not."
    (setv row self.row)
    (cond
      (or (is error self.raised) (not (isinstance error Exception))) False
      (get row "observer") (do ((get row "report") row error) True)
      True (do (_blame row error) False)))

  (defn again [self]
    "Raise what the function raised; tell whether it has still to be called."
    (when (is-not self.raised None) (raise self.raised))
    (not self.called)))

(defn _blame [row error]
  "Add the key of ROW to what ERROR says, once."
  (setv note f"raised by the advice {(get row "key") !r} (:{(get row "how")}) of {(get row "target")}")
  (when (not-in note (or (getattr error "__notes__" None) []))
    (.add-note error note)))

(defn :async given [x]
  "Return X or, if it is awaitable, what awaiting it gives."
  (if (inspect.isawaitable x) (await x) x))


;; * Plain functions

(defn plain-layer [row f]
  "Return a function that runs the advice of ROW and the function F."
  (defn call [#* args #** kwargs]
    (setv watch (Watch row f))
    (try
      (_plain (get row "how") (get row "function") watch args kwargs)
      (except [e BaseException]
        (when (not (.left-out? watch e)) (raise))
        (if (.again watch) (f #* args #** kwargs) watch.value))))
  call)

(defn _plain [how g f args kwargs]
  "Do with G what HOW says, around the call of F with ARGS and KWARGS."
  (cond
    (= how "around") (g f #* args #** kwargs)
    (= how "before") (do (g #* args #** kwargs) (f #* args #** kwargs))
    (= how "after") (do (setv value (f #* args #** kwargs)) (g value #* args #** kwargs) value)
    (= how "filter-arguments") (do (setv [args kwargs] (g #* args #** kwargs)) (f #* args #** kwargs))
    True (g (f #* args #** kwargs))))


;; * Coroutine functions

(defn coroutine-layer [row f]
  "Return a coroutine function that runs the advice of ROW, which may be one, and the coroutine function F."
  (defn :async call [#* args #** kwargs]
    (setv watch (Watch row f))
    (try
      (await (_coroutine (get row "how") (get row "function") watch.awaited args kwargs))
      (except [e BaseException]
        (when (not (.left-out? watch e)) (raise))
        (if (.again watch) (await (f #* args #** kwargs)) watch.value))))
  call)

(defn :async _coroutine [how g f args kwargs]
  "Do with G what HOW says, around the awaited call of F with ARGS and KWARGS."
  (cond
    (= how "around") (await (given (g f #* args #** kwargs)))
    (= how "before") (do (await (given (g #* args #** kwargs))) (await (f #* args #** kwargs)))
    (= how "after") (do (setv value (await (f #* args #** kwargs)))
                        (await (given (g value #* args #** kwargs)))
                        value)
    (= how "filter-arguments") (do (setv [args kwargs] (await (given (g #* args #** kwargs))))
                                   (await (f #* args #** kwargs)))
    True (await (given (g (await (f #* args #** kwargs)))))))


;; * Generator functions

(defn generator-layer [row f]
  "Return a generator function that runs the advice of ROW and the generator function F."
  (defn call [#* args #** kwargs]
    (setv watch (Watch row f))
    (try
      (return (yield :from (_generator (get row "how") (get row "function") watch.iterated args kwargs)))
      (except [e BaseException]
        (when (not (.left-out? watch e)) (raise))
        (return (if (.again watch) (yield :from (f #* args #** kwargs)) watch.value)))))
  call)

(defn _generator [how g f args kwargs]
  "Do with G what HOW says, around what F yields when called with ARGS and KWARGS."
  (when (= how "before") (g #* args #** kwargs))
  (when (= how "filter-arguments") (setv [args kwargs] (g #* args #** kwargs)))
  (setv value (yield :from (cond (= how "around") (g f #* args #** kwargs)
                                 (= how "filter-result") (g (f #* args #** kwargs))
                                 True (f #* args #** kwargs))))
  (when (= how "after") (g value #* args #** kwargs))
  (return value))


;; * Asynchronous generator functions

(defn stream-layer [row f]
  "Return an asynchronous generator function that runs the advice of ROW and the asynchronous generator function F."
  (defn :async call [#* args #** kwargs]
    (setv watch (Watch row f)
          again False)
    (try
      (for [:async x (_stream (get row "how") (get row "function") watch.streamed args kwargs)] (yield x))
      (except [e BaseException]
        (when (not (.left-out? watch e)) (raise))
        (setv again (.again watch))))
    (when again
      (for [:async x (f #* args #** kwargs)] (yield x))))
  call)

(defn :async _stream [how g f args kwargs]
  "Do with G what HOW says, around what F, asynchronous, yields when called with ARGS and KWARGS."
  (when (= how "before") (await (given (g #* args #** kwargs))))
  (when (= how "filter-arguments") (setv [args kwargs] (await (given (g #* args #** kwargs)))))
  (setv source (cond (= how "around") (g f #* args #** kwargs)
                     (= how "filter-result") (g (f #* args #** kwargs))
                     True (f #* args #** kwargs)))
  (for [:async x source] (yield x))
  (when (= how "after") (await (given (g None #* args #** kwargs)))))

(defn layer-for [f]
  "Return the function that makes a layer around F, by the kind of function that F is."
  (cond
    (inspect.isasyncgenfunction f) stream-layer
    (inspect.iscoroutinefunction f) coroutine-layer
    (inspect.isgeneratorfunction f) generator-layer
    True plain-layer))

(defn chain [rows f]
  "Return the function that runs the advice of ROWS, outermost first, and in the end F."
  (setv layer (layer-for f))
  (for [row (reversed rows)]
    (setv f (layer row f)))
  f)
