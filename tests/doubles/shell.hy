"A job-control shell in a real pseudo-terminal, as a person has before them.

`(Shell environment)` starts bash; `.run line` types a line; `.until pattern` waits for what a program says; `.status`
gives the exit status of the last line; `.modes` the terminal's own."

(import
  os
  termios
  time
  pexpect)

(defclass Shell []
  "An interactive bash in a pseudo-terminal, with ENVIRONMENT added to this process's."

  (defn __init__ [self environment]
    (setv self.count 0
          self.child (pexpect.spawn "bash" ["--norc" "--noprofile" "-i"]
                                    :env {#** os.environ  #** environment  "PS1" "$ "  "TERM" "xterm-256color"}
                                    :encoding "utf-8" :codec-errors "replace" :timeout 20 :echo False))
    (setv self.child.delaybeforesend None)
    (.run self "set -m; stty sane -echo; bind 'set enable-bracketed-paste off' 2>/dev/null")
    (.settle self)
    None)

  (defn run [self line]
    "Type LINE and Enter."
    (.sendline self.child line))

  (defn key [self letter]
    "Press Ctrl and LETTER."
    (.send self.child (if (= letter "\\") "\x1c" (chr (& (ord letter) 0x1f)))))

  (defn until [self pattern]
    "Wait until PATTERN comes; return the match."
    (.expect self.child pattern)
    self.child.match)

  (defn settle [self]
    "Wait until the shell itself answers, with all that was printed before."
    (+= self.count 1)
    (.run self f"echo \"<\"{self.count}\":$?>\"")
    (setv found (.until self f"<{self.count}:(\\d+)>"))
    #(self.child.before (int (.group found 1))))

  (defn status [self]
    "Return the exit status of the last line."
    (get (.settle self) 1))

  (defn modes [self]
    "Return the terminal's modes, as `stty -g` prints them."
    (.run self "echo \"[$(stty -g)]\"")
    (.group (.until self r"\[([0-9a-f:]{20,})\]") 1))

  (defn raw [self]
    "Wait until a program reads the terminal key by key while the kernel still makes signals of keys."
    (for [_ (range 2000)]
      (setv flags (get (termios.tcgetattr self.child.child-fd) 3))
      (when (and (& flags termios.ISIG) (not (& flags termios.ICANON)))
        (return))
      (time.sleep 0.01))
    (raise (TimeoutError "no program took the terminal")))

  (defn __enter__ [self] self)

  (defn __exit__ [self #* _]
    (.close self.child :force True)))
