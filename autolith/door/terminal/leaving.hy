"Leaving, stopping and drawing anew: what changes who owns the terminal."

(import
  os
  shlex
  signal
  subprocess
  termios
  threading
  prompt_toolkit.data_structures [Point]
  autolith.door.terminal [descriptors link live])

(setv EDITORS ["editor" "nano" "vi" "emacs"]
      BRACKETED-OFF "\x1b[?2004l" SHOW-CURSOR "\x1b[?25h")

(defn leave [desk status]
  "End the terminal with the exit STATUS; harmless when it is ending already."
  (when (and (is desk.leaving None) desk.app (not desk.app.is-done))
    (setv desk.leaving status)
    (.exit desk.app :result status)))

(defn saved-modes []
  "Return the modes of the terminal, or None where there is none."
  (try (termios.tcgetattr (get descriptors.terminal "in")) (except [termios.error] None)))

(defn set-modes [modes]
  "Put the terminal into MODES, keeping what was typed ahead."
  (when modes
    (try (termios.tcsetattr (get descriptors.terminal "in") termios.TCSANOW modes) (except [termios.error] None))))

(defn keep-isig []
  "In raw mode too, let the kernel make SIGINT of Ctrl-C; Ctrl-Z stays a key; lose no type-ahead."
  (setv a (saved-modes))
  (when a
    (setv (get a 3) (| (get a 3) termios.ISIG termios.NOFLSH)
          (get a 6 termios.VSUSP) b"\0")
    (set-modes a)))

(defn edited? [filename]
  "Let the user edit FILENAME in the editor of the settings, on the terminal itself; return whether that ended well."
  (setv streams (dfor [name stream] [["stdin" "in"] ["stdout" "out"] ["stderr" "error"]]
                      name (get descriptors.terminal stream)))
  (for [command (filter None [(link.setting "editor") #* (map os.environ.get ["VISUAL" "EDITOR"]) #* EDITORS])]
    (try
      (return (= (subprocess.call [#* (shlex.split command) filename] #** streams) 0))
      (except [[OSError ValueError]] None)))
  False)

(defn suspend [desk]
  "Give the terminal back as it was, stop every thread, and take it again when continued."
  (when desk.app._running-in-terminal
    (return (signal.pthread-kill (threading.get-ident) signal.SIGSTOP)))
  (setv raw (saved-modes))
  (live.erase desk.app.renderer desk.output)
  (.write-raw desk.output (+ BRACKETED-OFF SHOW-CURSOR))
  (.flush desk.output)
  (set-modes desk.modes)
  (signal.pthread-kill (threading.get-ident) signal.SIGSTOP)
  (set-modes raw)
  (setv desk.app.renderer._bracketed-paste-enabled False)
  (redraw desk))

(defn redraw [desk]
  "Draw the live region where the cursor is."
  (live.erase desk.app.renderer desk.output)
  (.paint desk.painter))

(defn resized [desk]
  "Draw the live region for the new size of the screen; what the terminal made of the old one is erased first."
  (when desk.app._running-in-terminal (return))     ; an editor has the terminal
  (setv renderer desk.app.renderer screen renderer._last-screen)
  (when screen
    (setv above (reflowed screen (.columns desk) renderer._cursor-pos.y)
          renderer._cursor-pos (Point :x renderer._cursor-pos.x :y above)))
  (redraw desk))

(defn reflowed [screen columns rows]
  "Return how many rows the first ROWS of SCREEN take when a terminal of COLUMNS has wrapped them anew."
  (sum (gfor y (range rows)
         (max 1 (- (// (- (row-size screen y)) columns))))))

(defn row-size [screen y]
  "Return the cells that the row Y of SCREEN fills."
  (setv row (get screen.data-buffer y))
  (next (gfor x (sorted row :reverse True) :if (.strip (. (get row x) char)) (+ x (. (get row x) width))) 0))
