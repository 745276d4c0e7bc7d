"Looking at images: what is copied, what is scaled, what is refused."

(import
  io
  os
  stat
  struct
  zlib
  pytest
  PIL [Image]
  autolith.base [paths]
  autolith.state [conversation]
  autolith.tool [fs images]
  tests.tool.lib [call])

(defn make [path size [format "PNG"] [mode "RGB"] #** options]
  "Save an image of SIZE, MODE and FORMAT as PATH; return the path as text."
  (.save (Image.effect-noise size 40) path :format format)
  (with [image (Image.open path)]
    (setv converted (.convert image mode)))
  (.save converted path :format format #** options)
  (str path))

(defn view [path [cwd "/"]]
  "Return the result of looking at PATH from CWD."
  (call "fs.view-image" {"path" path} :cwd (str cwd)))

(defn shown [result]
  "Return the file and the Pillow image that RESULT shows."
  (setv [block] result.content)
  #((get block "path") (Image.open (get block "path"))))

(defn [(pytest.mark.parametrize "format,mime" [#("PNG" "image/png") #("JPEG" "image/jpeg") #("WEBP" "image/webp")])]
  test-within-limits-is-copied-unchanged [tmp-path format mime]
  "An image within the limits is copied byte for byte, read-only, into a private folder."
  (setv path (make (/ tmp-path "a") #(300 200) format) r (view path)
        [copy _] (shown r))
  (assert r.ok r.text)
  (assert (= (get r.content 0 "mime") mime))
  (with [a (open path "rb") b (open copy "rb")] (assert (= (.read a) (.read b))))
  (assert (.startswith copy (paths.data "images")))
  (assert (= (stat.S-IMODE (. (os.stat copy) st-mode)) 0o400))
  (assert (= (stat.S-IMODE (. (os.stat (os.path.dirname copy)) st-mode)) 0o700)))

(defn [(pytest.mark.parametrize "size" [#(5000 100) #(100 5000) #(2048 2048) #(4000 3000) #(9000 1) #(1 9000)])]
  test-large-images-are-scaled [tmp-path size]
  "A large image is scaled to the limits, keeps its proportions, and the text says so."
  (setv path (str (/ tmp-path "a.png")))
  (.save (Image.linear-gradient "L") path)
  (.save (.resize (Image.open path) size) path)
  (setv r (view path)
        [_ image] (shown r) [w h] image.size)
  (assert (images.fits? w h))
  (assert (get r.data "changed"))
  (setv scale (/ (max w h) (max size)))
  (for [[side original] (zip #(w h) size)]
    (assert (<= (abs (- side (max 1 (* original scale)))) 1)))
  (assert (in (str w) r.text)))

(defn test-scaling-uses-the-room []
  "The fitted size is as large as the limits allow, to a few pixels."
  (for [[w h] [#(4000 3000) #(3000 3000) #(2049 10) #(10000 2000)]]
    (setv [a b] (images.fitted w h))
    (assert (images.fits? a b))
    (assert (or (> a (* 0.9 images.side)) (> b (* 0.9 images.side)) (> (* a b) (* 0.85 images.patches 1024))))))

(defn [(pytest.mark.parametrize "format,mode" [#("GIF" "P") #("PNG" "P") #("PNG" "LA") #("PNG" "1") #("PNG" "I;16") #("JPEG" "CMYK") #("JPEG" "L")])]
  test-every-mode-can-be-shown [tmp-path format mode]
  "Palettes, grey, CMYK, sixteen bits and animations end as an image that decodes, also when scaled."
  (setv path (str (/ tmp-path "a")))
  (.save (Image.new mode #(2500 400)) path :format format)
  (setv [_ image] (shown (view path)))
  (.load image)
  (assert (in image.format #("PNG" "JPEG")))
  (assert (images.fits? #* image.size)))

(defn test-sixteen-bit-grey-keeps-its-tones [tmp-path]
  "Scaling a sixteen-bit image does not clip it to white."
  (setv path (str (/ tmp-path "a.png")) image (Image.new "I;16" #(2500 10) 32768))
  (.save image path)
  (setv [_ image] (shown (view path)))
  (assert (< 100 (get (.getpixel (.convert image "RGB") #(5 0)) 0) 156)))

(defn test-orientation-is-applied-when-scaled [tmp-path]
  "A photograph that says it lies on its side stands upright after scaling."
  (setv exif (Image.Exif) (get exif 0x0112) 6)
  (setv path (str (/ tmp-path "a.jpg")))
  (.save (Image.new "RGB" #(3000 1000)) path :exif exif)
  (setv [_ image] (shown (view path)))
  (assert (> image.height image.width)))

(defn test-heavy-images-are-made-sendable [tmp-path monkeypatch]
  "A file too heavy to send is encoded anew although its size in pixels fits."
  (.setattr monkeypatch images "most_sent" 60000)
  (setv r (view (make (/ tmp-path "a.png") #(400 400))) [path image] (shown r))
  (assert (get r.data "changed"))
  (assert (= image.size #(400 400)))
  (assert (= (get r.content 0 "mime") "image/jpeg")))

(defn test-names [tmp-path]
  "A path may be relative, absolute, in the home folder, or a workspace: URI with encoded characters."
  (make (/ tmp-path "a b.png") #(10 10))
  (for [name ["a b.png" (str (/ tmp-path "a b.png")) "workspace:a%20b.png"]]
    (assert (. (view name tmp-path) ok))))

(defn chunk [kind data]
  "Return a PNG chunk."
  (+ (struct.pack ">I" (len data)) kind data (struct.pack ">I" (zlib.crc32 (+ kind data)))))

(defn bomb [path]
  "Write a PNG of a few bytes that claims sixty thousand pixels on each side."
  (.write-bytes path (+ b"\x89PNG\r\n\x1a\n" (chunk b"IHDR" (struct.pack ">IIBBBBB" 60000 60000 8 2 0 0 0))
                        (chunk b"IDAT" (zlib.compress (* b"\0" 1000))) (chunk b"IEND" b""))))

(defn test-what-is-refused [tmp-path]
  "Missing files, directories, special files, other formats, damaged images and bombs are failed results that name the file."
  (os.mkfifo (/ tmp-path "pipe"))
  (.mkdir (/ tmp-path "folder"))
  (.write-text (/ tmp-path "text.png") "no image")
  (.save (Image.new "RGB" #(5 5)) (/ tmp-path "a.bmp"))
  (.save (Image.new "RGB" #(5 5)) (/ tmp-path "a.tiff"))
  (.write-bytes (/ tmp-path "empty.png") b"")
  (bomb (/ tmp-path "bomb.png"))
  (setv whole (.read-bytes (do (make (/ tmp-path "ok.png") #(300 300)) (/ tmp-path "ok.png"))))
  (.write-bytes (/ tmp-path "torn.png") (cut whole (// (len whole) 2)))
  (for [name ["missing.png" "pipe" "folder" "text.png" "a.bmp" "a.tiff" "empty.png" "bomb.png" "torn.png" "a\0b" "/dev/zero" "/dev/tty"]]
    (setv r (view name tmp-path))
    (assert (not r.ok) name)
    (assert (not r.content))
    (assert (in (.replace name "\0" "") (.replace r.text "\0" "")))))

(defn test-huge-files-are-not-read [tmp-path]
  "A file beyond the limit is refused by its size alone."
  (with [f (open (/ tmp-path "huge.png") "wb")] (.truncate f (+ images.most-bytes 1)))
  (assert (not (. (view "huge.png" tmp-path) ok))))

(defn test-same-image-is-kept-once [tmp-path]
  "Looking twice at the same image keeps one copy."
  (setv path (make (/ tmp-path "a.png") #(20 20)))
  (assert (= (get (shown (view path)) 0) (get (shown (view path)) 0)))
  (assert (= (len (os.listdir (paths.data "images"))) 1)))

(defn test-kept-beside-the-conversation [tmp-path]
  "The image of a message lies beside its conversation, private, and the conversation's listing is not disturbed by it."
  (setv block (fs.prepare (make (/ tmp-path "a.png") #(20 20)) :conversation "abcdefg"))
  (assert (= (os.path.dirname (get block "path")) (paths.data "conversations" "abcdefg" "images")))
  (assert (= (conversation.survey) {"rows" [] "notes" []})))

(defn [(pytest.mark.parametrize "format" ["GIF" "PNG" "WEBP"])] test-animations-stand-still [tmp-path format]
  "Of an animation the first frame is sent, as an image that does not move."
  (setv frames (lfor colour ["red" "blue" "green"] (Image.new "RGB" #(40 30) colour))
        path (str (/ tmp-path "a.img")))
  (.save (get frames 0) path :format format :save-all True :append-images (cut frames 1 None) :duration 100)
  (setv [_ image] (shown (view path))
        [r g b] (.getpixel (.convert image "RGB") #(5 5)))
  (assert (not (getattr image "is_animated" False)))
  (assert (and (> r 200) (< g 60) (< b 60))))

(defn [(pytest.mark.parametrize "format,ending" [#("PNG" "jpg") #("JPEG" "png") #("WEBP" "gif") #("GIF" "webp") #("PNG" "txt")])]
  test-content-decides-not-the-name [tmp-path format ending]
  "What an image is, its content says: a wrong ending does not matter, and the kind that is sent is the true one."
  (setv r (view (make (/ tmp-path f"a.{ending}") #(30 20) format))
        [_ image] (shown r))
  (assert r.ok r.text)
  (assert (= (get r.content 0 "mime") (Image.MIME.get image.format))))

(defn test-a-folder-that-cannot-be-made [tmp-path monkeypatch]
  "When the copy cannot be kept the result says why, and nothing half-written stays."
  (.write-text (/ tmp-path "file") "")
  (setv path (make (/ tmp-path "a.png") #(20 20)))
  (.setenv monkeypatch "XDG_DATA_HOME" (str (/ tmp-path "file")))
  (assert (not (. (view path) ok))))

(defn test-prepare-for-a-message [tmp-path]
  "The session gets the block of an image with the label it wants."
  (setv block (fs.prepare (make (/ tmp-path "a.png") #(20 20)) :label "[Image #1]"))
  (assert (= (set block) #{"type" "mime" "path" "label"}))
  (assert (= (get block "label") "[Image #1]")))
