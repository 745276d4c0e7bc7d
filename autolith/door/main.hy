"The command line's way in: parse, set up, and hand over to the door that was asked for.

`main` gives the exit status (design: 0 done, 1 the form or turn failed, 64 usage, 130 interrupted). Only what the chosen
door needs is imported."

(import
  os
  sys
  autolith
  autolith.base [conditions]
  autolith.door [options])

(setv USAGE 64 FAILED 1 INTERRUPTED 130
      SETTINGS {"provider" "provider"  "model" "model"  "effort" "effort"
                "permissions" "permission-mode"  "immutable" "immutable"})     ; option -> setting

(defn main [argv]
  "Do what ARGV, the words after the program's name, ask; return the exit status."
  (try
    (run (options.parse argv))
    (except [e options.UsageError] (complain e) USAGE)
    (except [e conditions.AutolithError] (complain e) FAILED)
    (except [KeyboardInterrupt] INTERRUPTED)))

(defn complain [e]
  "Print the error E on standard error, with its ways out."
  (import autolith.base [text])
  (print f"autolith: {(text.visible (str e))}" :file sys.stderr)
  (for [[name sentence] (getattr e "restarts" [])]
    (print f"  {name}: {sentence}" :file sys.stderr)))

(defn run [asked]
  "Do what ASKED, parsed options, says; return the exit status."
  (cond
    (in "version" asked) (do (print f"autolith {autolith.__version__}") 0)
    (in "help" asked) (do (print (options.help-text) :end "") 0)
    True (do (enter-directory asked) (choose-settings asked) (dispatch asked))))

(defn enter-directory [asked]
  "Go to the directory that ASKED names; one that is missing is a usage error."
  (try
    (when (in "cwd" asked) (os.chdir (os.path.expanduser (get asked "cwd"))))
    (os.getcwd)
    (except [e FileNotFoundError]
      (raise (options.UsageError (.format "the working directory {}is gone; cd to one that exists, or name one with --cwd DIR"
                                          (if (in "cwd" asked) (+ (get asked "cwd") " ") "")))))
    (except [e OSError]
      (raise (options.UsageError f"cannot work in {(.get asked "cwd" "this directory")}: {e.strerror}")))))

(defn choose-settings [asked]
  "Make the settings that ASKED names explicit for this process."
  (setv given (dfor [option name] (.items SETTINGS) :if (in option asked) name (get asked option)))
  (when given
    (import autolith.state [settings])
    (for [[name value] (.items given)]
      (try
        (settings.put name value)
        (except [e conditions.AutolithError] (raise (options.UsageError (str e))))))))

(defn dispatch [asked]
  "Go through the door that ASKED names. The launcher hears that we stand, before a form of the user's can end the process."
  (import autolith-launcher)
  (when (or (get asked "command") (in "eval" asked) (in "print" asked))
    (autolith-launcher.ready))
  (setv command (get asked "command"))
  (cond
    (in command ["auth" "models"])
      (do (import autolith.door [auth]) (auth.run command asked))
    (in command ["conversations" "doctor"])
      (do (import autolith.door [reports]) (reports.run command asked))
    (in "eval" asked)
      (do (import autolith.door [evaluate]) (evaluate.run asked))
    (in "print" asked)
      (do (import autolith.door [print :as printing]) (printing.run asked))
    True (interactive asked)))

(defn interactive [asked]
  "Start a session in the terminal."
  (when (not (and (os.isatty 0) (os.isatty 1)))
    (raise (options.UsageError "standard input and output have to be a terminal; -p asks once (use -p to read standard input), -e evaluates")))
  (import autolith.door [interactive :as door])
  (door.run asked))
