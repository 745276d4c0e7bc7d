"Turn image blocks into what the wires want: base64 of the prepared file, or a note where the file is gone or the model sees none."

(import
  autolith.provider [items models])

(defn encoded [block]
  "Return the base64 text of the image BLOCK's file, or None if it cannot be read."
  (import base64)
  (try
    (with [f (open (get block "path") "rb")]
      (.decode (base64.b64encode (.read f)) "ascii"))
    (except [OSError] None)))

(defn data-url [block data]
  "Return the data URL of the image BLOCK whose base64 text is DATA."
  f"data:{(get block "mime")};base64,{data}")

(defn label [block]
  "Return the words that stand before the image BLOCK, so that the model can name it."
  (or (.get block "label") "[Image]"))

(defn expand [content]
  "Return the blocks CONTENT with each image as #(label data block), label and missing files as text blocks."
  (setv result [])
  (for [block content]
    (if (!= (get block "type") "image")
      (.append result block)
      (do
        (setv data (encoded block))
        (if data
          (.extend result [(items.text-block (label block)) #(data block)])
          (.append result (items.text-block f"{(label block)} (there is no file {(get block "path")} any more)"))))))
  result)

(defn without [content]
  "Return the blocks CONTENT with the images replaced by their labels."
  (lfor b content (if (= (get b "type") "image") (items.text-block (label b)) b)))

(defn for-model [request]
  "Return the items of REQUEST as its model can take them: a note stands in place of each image for one that sees none."
  (setv history (get request "items")
        model (get request "model"))
  (if (get (models.find model) "images")
    history
    (lfor item history
          (if (any (gfor b (or (.get item "content") []) (= (get b "type") "image")))
            {#** item "content" (lfor b (get item "content") (if (= (get b "type") "image") (unseen b model) b))}
            item))))

(defn unseen [block model]
  "Return the block of text for the image BLOCK, which MODEL cannot see."
  (items.text-block (+ f"{(label block)} (left out: the model {model} takes no images; the file is {(get block "path")}. "
                       "Say so if it matters; another model may be chosen that sees it.)")))
