"What is printed by nobody in particular, a thread that user code left behind: as output above the prompt, not through it."

(import
  io
  sys
  autolith.image [output])

(defclass Stray [io.TextIOBase]
  "A text stream whose writes go to the function TELL; everything else is the stream REAL's."

  (defn __init__ [self tell real]
    (setv self.tell tell self.real real))

  (defn write [self text]
    "Hand TEXT on; return its length."
    (when text (self.tell text))
    (len text))

  (defn flush [self]
    "Nothing is held back."
    None)

  (defn writable [self]
    "It is."
    True)

  (defn isatty [self]
    "What is written is a terminal's in the end."
    (.isatty self.real))

  (defn fileno [self]
    "Return the number of the real stream, for children."
    (.fileno self.real))

  (defn [property] encoding [self]
    "Return the encoding of the real stream."
    self.real.encoding)

  (defn [property] buffer [self]
    "Return the real stream's buffer."
    self.real.buffer))

(defn install [tell]
  "Send what is printed to no sink of its own to TELL; return the undo."
  (output.install)
  (setv before {})
  (for [name ["stdout" "stderr"]]
    (setv router (getattr sys name)
          (get before name) #(router router.real)
          router.real (Stray tell router.real)))
  (fn []
    (for [[router real] (.values before)]
      (setv router.real real))))
