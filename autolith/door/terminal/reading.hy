"`input` and `sys.stdin` for forms: what a form reads is a question to the user, answered on the prompt's own line.

A form of the model's, and whatever runs on the loop, reads the end of the input: there nobody can be waited for."

(import
  builtins
  io
  sys
  autolith.base [threads]
  autolith.door.terminal [link]
  autolith.image [namespace]
  autolith.tool [context])

(setv UNNAMED "a line for sys.stdin (Ctrl-D ends the input)")

(defclass Asked [io.TextIOBase]
  "A text stream whose lines the user types for SESSION when they are wanted."

  (defn __init__ [self session]
    (setv self.session session
          self.rest []))

  (defn ask [self text]
    "Return the next line without its end, asked for by TEXT; None is the end of the input."
    (when self.rest
      (return (.pop self.rest 0)))
    (when (or (threads.on-loop-thread?) (for-model?))
      (return None))
    (setv answer (link.ask-line self.session text))
    (when (is answer None)
      (return None))
    (setv [line #* self.rest] (.split answer "\n"))
    line)

  (defn readline [self [size -1]]
    "Return the next line, or nothing at the end."
    (setv line (.ask self UNNAMED))
    (cond
      (is line None) ""
      (or (is size None) (< size 0) (< (len line) size)) (+ line "\n")
      True (do (.insert self.rest 0 (cut line size None))
               (cut line size))))

  (defn read [self [size -1]]
    "Return everything up to the end of the input; with SIZE, at most so many characters of one line."
    (if (and (is-not size None) (>= size 0))
      (.readline self size)
      (.join "" (iter self.readline ""))))

  (defn readable [self]
    "It is."
    True)

  (defn isatty [self]
    "A person answers."
    True)

  (defn fileno [self]
    "Return the number of the descriptor that children read: it is at its end."
    0)

  (defn [property] encoding [self]
    "Return the encoding."
    "utf-8"))

(defn for-model? []
  "Is the caller a form of the for-model?"
  (setv caller (context.current.get))
  (bool (and caller (= caller.origin "model"))))

(defn install [session]
  "Let forms read from the user of SESSION; return the undo."
  (setv stream (Asked session) table (. (namespace.user) __builtins__)
        before #(sys.stdin builtins.input (.get table "input")))
  (defn input [[prompt ""] /]
    "Ask the user for a line, with PROMPT; end of input is EOFError."
    (setv line (.ask stream (or (.strip (str prompt)) "input")))
    (when (is line None)
      (raise (EOFError "end of input")))
    line)
  (setv sys.stdin stream builtins.input input (get table "input") input)
  (fn []
    (setv [sys.stdin builtins.input (get table "input")] before)))
