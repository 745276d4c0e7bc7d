"Prepare image files for a model: check, scale, and keep a copy that nobody changes.

A prepared image is {\"path\" \"mime\" \"width\" \"height\" \"source\" \"original\" #(width height) \"changed\" bool}, PATH a read-only file
named by the digest of its content: beside its conversation, in conversations/ID/images, or else in images/ below the data root."

(eval-when-compile (require autolith.base.macros [defparameter]))
(import
  hashlib
  io
  math
  os
  stat
  autolith.base [conditions paths text])

(defparameter most-bytes (* 1024 1024 1024) "How large a source file may be.")
(defparameter most-pixels 100000000 "How many pixels a source may have, decoded.")
(defparameter side 2000 "How many pixels a prepared image may have on a side: what all providers take, also of many images.")
(defparameter patches 2500 "How many squares of 32 by 32 pixels a prepared image may cover.")
(defparameter most-sent 3750000 "How many bytes a prepared image may have: 5 MB once encoded in a request.")

(setv FORMATS ["PNG" "JPEG" "WEBP" "GIF"]
      MIMES {"PNG" "image/png" "JPEG" "image/jpeg" "WEBP" "image/webp"}
      ENDINGS {"image/png" ".png" "image/jpeg" ".jpg" "image/webp" ".webp"})

(defclass ImageError [conditions.AutolithError]
  "A file cannot be shown to a model as an image.")

;; * Reading

(defn content [path]
  "Return the bytes of the image file PATH; special files are not opened."
  (try
    (setv info (os.stat path))
    (_check-kind path info)
    (setv descriptor (os.open path (| os.O-RDONLY os.O-NONBLOCK os.O-CLOEXEC)))
    (with [f (open descriptor "rb")]
      (_check-kind path (os.fstat descriptor))
      (.read f (+ most-bytes 1)))
    (except [e [OSError ValueError]]
      (raise (ImageError f"{path} cannot be read: {(or (getattr e "strerror" None) e)}; check the name") :from e))))

(defn _check-kind [path info]
  "Refuse PATH, whose stat is INFO, unless it is a regular file of a bearable size."
  (cond
    (stat.S-ISDIR info.st-mode) (raise (ImageError f"{path} is a directory; name an image file in it"))
    (not (stat.S-ISREG info.st-mode)) (raise (ImageError f"{path} is a special file, which is not opened; name a regular file"))
    (> info.st-size most-bytes)
      (raise (ImageError f"{path} has {(text.size info.st-size)}, more than {(text.size most-bytes)}; make a smaller copy"))))

(defn opened [data path]
  "Return the Pillow image that the bytes DATA of PATH hold, its pixels not yet decoded."
  (import PIL [Image UnidentifiedImageError])
  (try
    (setv image (Image.open (io.BytesIO data) :formats FORMATS))
    (except [UnidentifiedImageError]
      (raise (ImageError f"{path} is no PNG, JPEG, WebP or GIF image; convert it to one") :from None))
    (except [e Exception] (raise (_damaged path e) :from e)))
  (when (> (* image.width image.height) most-pixels)
    (raise (ImageError f"{path} has {image.width} x {image.height} pixels, too many to decode; make a smaller copy")))
  image)

(defn _damaged [path error]
  "Return the condition that the image PATH does not decode, because of ERROR."
  (ImageError f"{path} is damaged: {(text.one-line (str error))}"))

;; * Fitting

(defn fits? [width height]
  "May an image of WIDTH and HEIGHT be shown as it is?"
  (and (<= width side) (<= height side)
       (<= (* (math.ceil (/ width 32)) (math.ceil (/ height 32))) patches)))

(defn fitted [width height]
  "Return the largest #(width height) with the proportions of WIDTH and HEIGHT that may be shown."
  (setv scale (min 1.0 (/ side (max width height))
                   (math.sqrt (/ (* patches 1024) (* width height)))))
  (while True
    (setv w (max 1 (round (* width scale)))
          h (max 1 (round (* height scale))))
    (when (fits? w h) (return #(w h)))
    (*= scale 0.99)))

(defn _plain [image]
  "Return IMAGE upright, in eight-bit RGB, or RGBA where it is transparent."
  (import PIL [ImageOps])
  (setv image (or (ImageOps.exif-transpose image) image))
  (cond
    (in image.mode #("RGB" "RGBA" "L")) image
    (.startswith image.mode "I") (.convert (.point (.convert image "I") (fn [v] (/ v 256))) "L")
    (or (in "A" image.mode) (in "transparency" image.info)) (.convert image "RGBA")
    True (.convert image "RGB")))

(defn encoded [image]
  "Return #(bytes mime size) of IMAGE scaled to fit, as PNG or, where that is too large to send, JPEG."
  (import PIL [Image])
  (setv image (_plain image) size (fitted #* image.size))
  (when (!= size image.size)
    (setv image (.resize image size Image.Resampling.BILINEAR)))
  (setv data (_saved image "PNG"))
  (if (<= (len data) most-sent)
    #(data "image/png" size)
    #((_saved (.convert image "RGB") "JPEG" :quality 85) "image/jpeg" size)))

(defn _saved [image format #** options]
  "Return IMAGE as bytes in FORMAT."
  (setv out (io.BytesIO))
  (.save image out :format format #** options)
  (.getvalue out))

;; * Preparing

(defn prepare [path [conversation None]]
  "Return the prepared image made of the file PATH, which is absolute, kept beside the CONVERSATION of that id."
  (setv data (content path)
        image (opened data path)
        original image.size
        whole (and (in image.format MIMES) (fits? #* original) (<= (len data) most-sent)
                   (not (getattr image "is_animated" False))))
  (try
    (.load image)
    (setv [kept mime size] (if whole #(data (get MIMES image.format) original) (encoded image)))
    (except [e Exception] (raise (_damaged path e) :from e)))
  {"path" (_keep kept mime (folder conversation)) "mime" mime "width" (get size 0) "height" (get size 1)
   "source" path "original" original "changed" (not whole)})

(defn folder [conversation]
  "Return the folder of the images of the CONVERSATION of that id, or of None; it is made where it is missing."
  (paths.ensure-folder (if conversation
                         (paths.data "conversations" conversation "images")
                         (paths.data "images"))))

(defn _keep [data mime folder]
  "Store the bytes DATA of kind MIME, read-only, in FOLDER; return the path."
  (setv path (os.path.join folder (+ (cut (.hexdigest (hashlib.sha256 data)) 32) (get ENDINGS mime)))
        part f"{path}.{(os.getpid)}-{(id data)}.part")
  (when (os.path.exists path) (return path))
  (try
    (with [f (open (os.open part (| os.O-WRONLY os.O-CREAT os.O-EXCL os.O-CLOEXEC) 0o400) "wb")]
      (.write f data))
    (os.replace part path)
    (except [e OSError]
      (try (os.unlink part) (except [OSError]))
      (raise (ImageError f"the image cannot be kept in {folder}: {e.strerror}; make room there") :from e)))
  path)
