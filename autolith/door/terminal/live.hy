"Rows into the scrollback, above a prompt that stays: one write a frame, at most FPS frames a second.

`Painter` is given rows (lists of fragments); they leave together with the redrawn live region in one write(2), between the marks
of a synchronized update."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  asyncio
  prompt_toolkit.data_structures [Point]
  autolith.door.terminal [cells wrap])

(defparameter fps 30 "How many frames a second are painted while text streams.")

(setv BEGIN "\x1b[?2026h" END "\x1b[?2026l")

(defclass Painter []
  "Paints for APP on OUTPUT; DRAIN gives the rows that are final."

  (defn __init__ [self app output drain]
    (setv self.app app
          self.output output
          self.drain drain
          self.timer None
          self.looks {}
          self.stopped False))

  (defn soon [self]
    "Paint within one frame's time."
    (when (and (is self.timer None) (not self.stopped))
      (setv self.timer (.call-later (asyncio.get-running-loop) (/ 1 fps) self.paint))))

  (defn paint [self]
    "Write what became final, and redraw the live region under it."
    (when self.timer (.cancel self.timer))
    (setv self.timer None)
    (when self.stopped (return))
    (when self.app._running-in-terminal (return (.soon self)))
    (setv rows (self.drain))
    (if (and rows self.app.is-running)
      (.print self rows)
      (do (when rows (.write self rows) (.flush self.output))
          (.redraw self))))

  (defn redraw [self]
    "Let the renderer write its own difference."
    (when self.app.is-running (self.app._redraw)))

  (defn print [self rows]
    "Write ROWS above the live region: erase, rows and redraw in one write."
    (setv flush self.output.flush
          self.output.flush (fn []))
    (try
      (.write-raw self.output BEGIN)
      (erase self.app.renderer self.output)
      (.write self rows)
      (.redraw self)
      (.write-raw self.output END)
      (finally (setv self.output.flush flush)))
    (.flush self.output))

  (defn write [self rows]
    "Write ROWS in their styles; control characters in them come out as visible signs."
    (setv output self.output depth self.app.color-depth)
    (for [row rows]
      (for [[style text] (wrap.merged row)]
        (cond
          (.startswith style "mark:") (.write-raw output (+ "\x1b]133;" (cut style 5 None) "\x07"))
          style (do (.set-attributes output (.look self style) depth)
                    (.write output text)
                    (.reset-attributes output))
          True (.write output text)))
      (when (not (cells.only-marks? row)) (.write-raw output "\r\n"))))

  (defn look [self style]
    "Return what STYLE looks like."
    (when (not-in style self.looks)
      (setv (get self.looks style) (.get-attrs-for-style-str self.app.renderer.style style)))
    (get self.looks style))

  (defn stop [self]
    "Paint no more."
    (when self.timer (.cancel self.timer))
    (setv self.timer None self.stopped True)))

(defn erase [renderer output]
  "Take the live region that RENDERER drew off the screen; the cursor stands where it began."
  (setv at renderer._cursor-pos)
  (.cursor-backward output at.x)
  (.cursor-up output at.y)
  (.erase-down output)
  (.reset-attributes output)
  (.enable-autowrap output)
  (setv renderer._cursor-pos (Point :x 0 :y 0)
        renderer._last-screen None
        renderer._last-size None
        renderer._last-style None))
