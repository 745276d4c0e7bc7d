;; Project notes: what NOTES.md of the working directory says travels with each request.
;;
;; A context contributor gives text that comes after the conversation, so that the cached prefix of the request stays the
;; same when the notes change. Its evidence is marked as untrusted data for the model.

(import os)

(defcontext project-notes [request]
  "Put the notes of the working directory into each request."
  (setv path (os.path.join (get request "cwd") "NOTES.md"))
  (when (os.path.exists path)
    {"instruction" "The user keeps notes on this project; mind them where they bear on the task."
     "evidence" (cut (read-file path) 2000)
     "priority" 30}))
