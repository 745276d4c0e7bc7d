"The terminal's input for prompt_toolkit, with the sieve before its parser."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  re
  select
  time
  prompt_toolkit.input.vt100 [Vt100Input]
  prompt_toolkit.key-binding.key-processor [KeyPress]
  prompt_toolkit.keys [Keys]
  autolith.door.terminal [sieve])

(defparameter paste-patience 2.0 "Seconds without a byte, after which a paste that was not closed counts as closed.")

(setv CHUNK 65536
      CONTROL (re.compile r"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]?|\x1bO.|[\x00-\x08\x0b-\x1f\x7f-\x9f]"))

(defclass Intake [Vt100Input]
  "Keys from the terminal STDIN. ON-LATE is called with keys that a timer released; ON-DROPPED with a count of characters."

  (defn __init__ [self stdin]
    (.__init__ (super) stdin)
    (setv self.sieve (sieve.Sieve)
          self.timer None
          self.on-late None
          self.on-dropped None))

  (defn read-keys [self]
    "Return the keys that arrived."
    (.sort self (.feed self.sieve (.read self.stdin-reader CHUNK) (time.monotonic)))
    (.watch-paste self)
    (.collected self))

  (defn ahead [self]
    "Return what was typed before anything read here, as text without control characters and without its last line end."
    (setv text "")
    (while (and (get (select.select [self._fileno] [] [] 0) 0) (< (len text) CHUNK))
      (setv data (.read self.stdin-reader CHUNK))
      (when (not data) (break))
      (+= text data))
    (.rstrip (.sub CONTROL "" (sieve.lines text)) "\n"))

  (defn flush-keys [self]
    "Return the keys that were held for what might have followed."
    (.sort self (.idle self.sieve))
    (.flush self.vt100-parser)
    (.collected self))

  (defn sort [self pieces]
    "Hand PIECES to the parser, or enter them as pastes."
    (for [[kind text] pieces]
      (if (= kind "keys")
        (.feed self.vt100-parser text)
        (.append self._buffer (KeyPress Keys.BracketedPaste text)))))

  (defn collected [self]
    "Return the keys collected and forget them."
    (setv keys self._buffer self._buffer [])
    (when (and self.sieve.dropped (is self.sieve.paste None) self.on-dropped)
      (self.on-dropped self.sieve.dropped)
      (setv self.sieve.dropped 0))
    keys)

  (defn watch-paste [self]
    "Release an open paste when nothing arrives for a while."
    (when self.timer (.cancel self.timer))
    (setv self.timer None)
    (when (is-not self.sieve.paste None)
      (setv self.timer (.call-later (asyncio.get-running-loop) paste-patience self.release))))

  (defn release [self]
    "End the open paste as it is."
    (setv self.timer None)
    (.sort self (.release self.sieve))
    (when self.on-late (self.on-late (.collected self)))))
