"Show image files to the model.

`prepare` gives the image block that a message or a result carries."

(eval-when-compile (require autolith.tool.macros [deftool]))
(import
  os
  autolith.resource [names]
  autolith.tool [context images result])

(deftool fs.view-image [#^ str path]
  "Look at an image file: PNG, JPEG, WebP or GIF (its first frame). Large images are scaled down.

path: the file, absolute or relative to the working directory; a workspace: URI will do."
  {:effect "read" :child-safe True :beside True}
  (import asyncio)
  (setv caller (context.current.get)
        where (located path (if caller caller.cwd "."))
        image (await (asyncio.to-thread images.prepare where (when caller caller.conversation))))
  (result.ToolResult :text (described path image)
                     :data (dfor key ["source" "path" "mime" "width" "height" "changed"] key (get image key))
                     :content [(block image f"[Image {(os.path.basename where)}]")]))

(defn located [path cwd]
  "Return the absolute path that PATH, a name or a workspace: URI, means in the directory CWD."
  (setv name (if (.startswith path "workspace:")
               (names.decode (.removeprefix path "workspace:"))
               path))
  (os.path.abspath (os.path.join cwd (os.path.expanduser name))))

(defn described [path image]
  "Return the sentence about the prepared IMAGE of PATH."
  (setv [width height] (get image "original"))
  (+ f"{path}: {width} x {height} pixels, shown as {(get image "mime")}"
     (if (= #(width height) #((get image "width") (get image "height"))) "."
       f" scaled to {(get image "width")} x {(get image "height")}.")))

(defn block [image label]
  "Return the content block of the prepared IMAGE, called LABEL."
  {"type" "image" "mime" (get image "mime") "path" (get image "path") "label" label})

(defn prepare [path * [label None] [cwd "."] [conversation None]]
  "Return the block of the image file PATH, relative to CWD, called LABEL, kept beside the CONVERSATION of that id.
What is no image raises images.ImageError."
  (setv where (located path cwd))
  (block (images.prepare where conversation) (or label f"[Image {(os.path.basename where)}]")))
