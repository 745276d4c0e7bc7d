"Conditions and restarts: decide what to do about an error where it arose, before the stack unwinds.

`(signal c)` runs the handlers of the dynamic context, innermost first, at the point of the error. A handler takes a
restart (`invoke-restart`), returns None to decline, or returns a Future of a decision. When all decline, `ask`, if the door
has set it, asks a person. Nobody decided: C is raised like any exception.

A decision is #(restart-name argument ...), or None or #() for \"not mine\". A choice is #(name sentence).
A frame is one `restart-case` in progress; `(offered)` lists #(name frame), innermost first.
The macros `restart-case` and `handler-bind` are in base/macros."

(eval-when-compile (require autolith.base.macros [defonce]))

(import
  inspect
  sys
  threading
  contextvars [ContextVar])

(defonce _handlers (ContextVar "handlers" :default #())
  "The handlers bound here, innermost last: #(types function).")

(defonce _restarts (ContextVar "restarts" :default #())
  "The frames in progress here, innermost last.")

(defonce ask None
  "The door's function of a condition and its choices, which gives a decision (or an awaitable of one, on the loop).
None: nobody can answer.")

(defonce _unattended (ContextVar "unattended" :default False)
  "Whether nobody is to be asked here.")


;; * Failures

(defclass AutolithError [Exception]
  "A failure that the program expects: MESSAGE says what was wrong, RESTARTS is the ways out, [#(name sentence) ...]."
  (defn __init__ [self [message ""] [restarts #()]]
    (.__init__ (super) message)
    (setv self.message message
          self.restarts (list restarts)))

  (defn __str__ [self]
    "Return the message."
    (str self.message)))

(defclass Unwind [BaseException]
  "The way from `invoke-restart` to the frame FRAME whose restart NAME was taken with ARGS.
No Exception, so that no `except Exception` on the way eats it."
  (defn __init__ [self frame name args]
    (.__init__ (super) name)
    (setv self.frame frame
          self.name name
          self.args args)))


;; * Restarts

(defclass Frame []
  "The restarts that one operation in progress offers.
CHOICES are names, or #(name sentence), or #(name sentence count), COUNT being how many values the restart takes."
  (defn __init__ [self #* choices]
    (setv rows (lfor c choices (if (isinstance c str) #(c "" None) #(#* c None)))
          self.names (tuple (gfor r rows (get r 0)))
          self.sentences (dfor r rows (get r 0) (get r 1))
          self.counts (dfor r rows (get r 0) (get r 2))
          self.token None))

  (defn enter [self]
    "Offer the restarts from here on."
    (setv self.token (.set _restarts (+ (.get _restarts) #(self)))))

  (defn leave [self]
    "Offer them no longer. Harmless when already left."
    (when self.token
      (setv token self.token
            self.token None)
      (.reset _restarts token)))

  (defn own [self error]
    "Return the Unwind meant for this frame that ERROR is, or that a task group has wrapped; else None."
    (cond
      (isinstance error Unwind) (when (is error.frame self) error)
      (isinstance error BaseExceptionGroup) (next (filter None (map self.own error.exceptions)) None)))

  (defn check [self name args]
    "Raise TypeError unless the restart NAME takes as many values as ARGS holds."
    (setv count (get self.counts name))
    (when (not-in count [None (len args)])
      (raise (TypeError f"the restart {name} takes {count} value(s), not {(len args)}")))))

(defn offered []
  "Return the restarts offered here, [#(name frame) ...], innermost first."
  (lfor frame (reversed (.get _restarts))
        name frame.names
        #(name frame)))

(defn choices []
  "Return the restarts offered here for people, [#(name sentence) ...], innermost first, each name once."
  (setv rows {})
  (for [[name frame] (offered)]
    (.setdefault rows name (.get frame.sentences name "")))
  (list (.items rows)))

(defn invoke-restart [name #* args]
  "Unwind to the innermost restart NAME and go on there with ARGS. Does not return."
  (setv wanted (hy.unmangle (str name)))
  (for [[n frame] (offered)]
    (when (= n wanted)
      (.check frame n args)
      (raise (Unwind frame n args))))
  (setv names (lfor [n _] (choices) n))
  (raise (LookupError (+ f"no restart {wanted} is offered here; "
                         (if names f"offered: {(.join ", " names)}" "none is")))))


;; * Handlers

(defn bind-handlers [#* pairs]
  "Bind PAIRS, #(types function), the first the innermost; return the token for `unbind-handlers`."
  (.set _handlers (+ (.get _handlers) (tuple (reversed pairs)))))

(defn unbind-handlers [token]
  "Undo the `bind-handlers` that gave TOKEN."
  (.reset _handlers token))

(defn _future? [x]
  "Tell whether X is a Future, without importing what defines one."
  (hasattr x "add_done_callback"))

(defn _answers [condition]
  "Run the handlers of CONDITION, innermost first, each with only the outer ones bound; yield the futures they return."
  (setv bound (.get _handlers))
  (for [i (reversed (range (len bound)))]
    (setv [types function] (get bound i))
    (when (isinstance condition types)
      (setv token (.set _handlers (cut bound i)))
      (try
        (setv answer (function condition))
        (finally (.reset _handlers token)))
      (when (_future? answer)
        (yield answer)))))

(defn _take [decision]
  "Invoke the restart that DECISION names, if it names one."
  (when decision
    (invoke-restart #* decision)))

(defn on-loop? []
  "Tell whether this is an event loop's thread, where nothing may wait. A loop that a form runs on main is the user's own."
  (setv asyncio (.get sys.modules "asyncio"))
  (and (is-not asyncio None)
       (is-not (asyncio._get-running-loop) None)
       (is-not (threading.current-thread) (threading.main-thread))))

(defn :async _outcome [future]
  "Wait on the loop for FUTURE, which any thread may fulfil."
  (await (hy.I.asyncio.wrap-future future)))

(defn _wait [future]
  "Return the decision FUTURE brings; main goes on serving other work while it waits."
  (setv threads (.get sys.modules "autolith.base.threads"))
  (if (or (.done future) (is threads None))
    (.result future)
    (threads.on-loop (_outcome future))))

(defn _mark [condition]
  "Note on CONDITION that everybody was asked, so that nobody is asked twice."
  (try
    (setv condition.autolith-declined True)
    (except [AttributeError]))
  condition)

(defn declined? [condition]
  "Tell whether CONDITION has been offered to everybody who might decide."
  (getattr condition "autolith_declined" False))

(defclass unattended []
  "A context in which `ask` asks nobody, as while init files load."
  (defn __enter__ [self]
    (setv self.token (.set _unattended True)))

  (defn __exit__ [self #* error]
    (.reset _unattended self.token)
    None))

(defn asked? []
  "Tell whether there is somebody to ask here."
  (and (is-not ask None) (not (.get _unattended))))

(defn signal [condition]
  "Let the handlers, then `ask`, decide where CONDITION arose; raise it if all decline.
On the loop's thread nobody can be waited for: there coroutines use `asignal`, and a handler that would have to wait counts as declining."
  (for [future (_answers condition)]
    (when (not (on-loop?))
      (_take (_wait future))))
  (when (and (asked?) (not (on-loop?)))
    (_take (ask condition (choices))))
  (raise (_mark condition)))

(defn :async asignal [condition]
  "Do as `signal` does, awaiting whoever has to be asked; for coroutines on the loop."
  (for [future (_answers condition)]
    (_take (await (_outcome future))))
  (when (asked?)
    (setv decision (ask condition (choices)))
    (_take (if (inspect.isawaitable decision) (await decision) decision)))
  (raise (_mark condition)))
