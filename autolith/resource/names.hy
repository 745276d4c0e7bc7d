"File names and the identifiers of `workspace:` URIs: percent-encoding both ways, and what an identifier leads to.

A target is {\"uri\" canonical \"path\" the real path, symbolic links followed \"kind\" file, directory or missing \"info\" its stat or None
\"through\" the path as named, where links led elsewhere, else None}. Names may hold any bytes; what UTF-8 or people cannot read is %XX."

(import
  errno
  os
  re
  stat
  urllib.parse
  autolith.resource [protocol snapshot])

(setv PLAIN (re.compile r"[A-Za-z0-9_.~/@:,;=+!$&()'*\[\]{}^?#-]"))

(defn encode [name]
  "Return the file name or path NAME as it stands in a URI; `decode` gives NAME again."
  (.join "" (gfor c (os.fsdecode name) (if (_readable? c) c (_escaped c)))))

(defn _readable? [c]
  "Tell whether the character C may stand for itself."
  (if (.isascii c)
    (bool (.fullmatch PLAIN c))
    (and (.isprintable c) (not (.isspace c)))))

(defn _escaped [c]
  "Return the bytes of the character C as %XX each."
  (.join "" (gfor b (.encode c "utf-8" "surrogateescape") f"%{b :02X}")))

(defn decode [identifier]
  "Return the path that IDENTIFIER of a URI stands for; a % before anything but two hexadecimal digits is a % sign."
  (os.fsdecode (urllib.parse.unquote-to-bytes (.encode identifier "utf-8" "surrogateescape"))))

(defn uri-of [path cwd]
  "Return the canonical workspace: URI of the absolute PATH: relative where it lies in CWD."
  (setv base cwd)
  (when (in ".." (.split path "/"))                      ; behind a link, `x/..` is not where it seems to be
    (setv path (os.path.realpath path)
          base (os.path.realpath cwd)))
  (setv path (os.path.normpath path)
        base (os.path.normpath base))
  (cond
    (= path base) "workspace:."
    (.startswith path (+ (.rstrip base "/") "/"))
      (do
        (setv relative (encode (os.path.relpath path base)))
        (+ "workspace:" (if (.startswith relative "~") "./" "") relative))
    True (+ "workspace:" (encode path))))

;; * What is there

(defn resolve [identifier cwd]
  "Return the target of IDENTIFIER, relative names starting from CWD."
  (setv named (_absolute identifier cwd)
        path (os.path.realpath named)
        uri (uri-of named cwd))
  (try
    (setv info (os.stat path :follow-symlinks False))
    (except [FileNotFoundError] (setv info None))
    (except [e OSError] (raise (failure uri e) :from e)))
  (when (and (is info None) (not (os.path.isdir cwd)) (.startswith path (os.path.realpath cwd)))
    (raise (protocol.ResourceError f"the working directory {(encode cwd)} is not there any more; go to another one, (cwd PATH)"
                                   :uri uri)))
  (setv kind (if info (_kind info uri) "missing"))
  (when (and (.endswith named "/") (= kind "file"))
    (raise (protocol.ResourceError f"{uri} is a file, not a directory; leave out the / at its end" :uri uri)))
  {"uri" uri "path" path "kind" kind "info" info
   "through" (when (!= path (os.path.normpath named)) named)})

(defn _absolute [identifier cwd]
  "Return the absolute path that IDENTIFIER names from CWD."
  (when (.startswith identifier "//")
    (setv relative (or (.lstrip identifier "/") "."))
    (raise (protocol.ResourceError (+ f"workspace:{identifier} is malformed: for a relative path write"
                                      f" workspace:{relative}, for an absolute one a single /"))))
  (setv path (decode identifier))
  (when (in "\0" path)
    (raise (protocol.ResourceError f"workspace:{identifier} is malformed: no file name holds a NUL byte")))
  (when (.startswith identifier "~")
    (setv path (os.path.expanduser path)))
  (os.path.join (os.path.abspath cwd) path))

(defn _kind [info uri]
  "Return the kind of the stat INFO of URI: file or directory; anything else is refused."
  (cond
    (stat.S-ISDIR info.st-mode) "directory"
    (stat.S-ISREG info.st-mode) "file"
    (stat.S-ISLNK info.st-mode) (raise (failure uri (OSError errno.ELOOP "")))
    True (raise (protocol.ResourceError (+ f"{uri} is {(snapshot.special info.st-mode)}, which is never opened here;"
                                           " use a command if you must") :uri uri))))

(setv REASONS {errno.ELOOP "its symbolic links go round in a circle; look with `ls -l` where they lead"
               errno.EACCES "permission denied; choose another file, or have its owner or mode changed"
               errno.EPERM "permission denied; choose another file, or have its owner or mode changed"
               errno.ENOTDIR "a part of the path before its end is a file, not a directory"
               errno.ENAMETOOLONG "the name is too long for the file system"
               errno.ENOENT "it is gone; read it again to see what is there"
               errno.EIO "the disk or device failed to read it"})

(defn failure [uri error]
  "Return the ResourceError for URI that the OSError ERROR is."
  (protocol.ResourceError f"{uri}: {(.get REASONS error.errno (or error.strerror (str error)))}" :uri uri))
