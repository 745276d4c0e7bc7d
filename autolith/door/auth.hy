"The doors of autolith auth and autolith models: the commands of the same names, for a shell."

(import
  sys
  autolith.application [startup])

(defn run [command asked]
  "Do COMMAND, auth or models, for ASKED, parsed options; return the exit status."
  (startup.prepare asked)
  (import autolith.application [builtin-auth])
  (setv given (get asked "arguments"))
  (print (if (= command "auth")
           (builtin-auth.auth #* given)
           (builtin-auth.models-text (if given (get given 0) None) (in "refresh" asked))))
  (startup.close)
  0)
