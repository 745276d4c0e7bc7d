"Inputs that were accepted and have not run: state/pending-inputs/<conversation id>.hy.

The file is one form {:version 1 :items [{:kind str :text str :images [{:path str :label str} ...] :running bool} ...]}; it is gone
when nothing waits. An item that is running was begun when the file was written; a process that finds it so knows that it did not end in order."

(import
  os
  autolith.base [paths snapshot])

(setv VERSION 1)

(defn path [id]
  "Return where the waiting inputs of the conversation ID are kept."
  (str (paths.state "pending-inputs" f"{id}.hy")))

(defn save [id items]
  "Make ITEMS, maps with kind, text and images, what waits for the conversation ID."
  (setv file (path id))
  (if items
    (do (paths.ensure-folder (os.path.dirname file))
        (snapshot.write file {"version" VERSION "items" (list items)}))
    (when (os.path.exists file)
      (os.unlink file)))
  None)

(defn load [id]
  "Return the items that wait for the conversation ID; a file of a newer version or a damaged one gives none."
  (setv value (snapshot.read (path id) {}))
  (if (and (isinstance value dict) (= (.get value "version") VERSION))
    (lfor item (.get value "items" []) :if (isinstance item dict) item)
    []))
