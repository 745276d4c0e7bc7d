"Paths: the XDG roots as the environment has them, folders private, and one name for each workspace."

(import
  os stat
  pytest
  autolith.base [disk paths])

(defn test-roots-follow-the-variables [roots]
  "Each root is the variable's folder with ours in it, read when asked."
  (for [[root name] [[paths.config "config"] [paths.data "data"] [paths.state "state"] [paths.cache "cache"]]]
    (assert (= (root "a" "b.hy") (str (/ roots name "autolith" "a" "b.hy"))))))

(defn test-roots-without-variables [monkeypatch tmp-path]
  "Without variables, or with relative ones, the roots are below the home folder."
  (monkeypatch.setenv "HOME" (str tmp-path))
  (for [value ["" "relative/path"]]
    (for [kind ["CONFIG" "DATA" "STATE" "CACHE"]] (monkeypatch.setenv f"XDG_{kind}_HOME" value))
    (assert (= (lfor root [paths.config paths.data paths.state paths.cache] (os.path.relpath (root) tmp-path))
               [".config/autolith" ".local/share/autolith" ".local/state/autolith" ".cache/autolith"]))))

(defn test-folders-are-private [tmp-path]
  "Every folder that is made on the way is its owner's alone; one that is there is left as it is."
  (setv old-mask (os.umask 0))
  (try
    (setv path (paths.ensure-folder (str (/ tmp-path "a" "b" "c"))))
    (finally (os.umask old-mask)))
  (for [p [path (os.path.dirname path)]]
    (assert (= (stat.S-IMODE (. (os.stat p) st-mode)) 0o700)))
  (os.chmod path 0o755)
  (assert (= (paths.ensure-folder path) path))
  (assert (= (stat.S-IMODE (. (os.stat path) st-mode)) 0o755)))

(defn test-a-file-in-the-way [tmp-path]
  "Where a file stands in the way of a folder, the failure names it."
  (setv path (str (/ tmp-path "x")))
  (.close (open path "w"))
  (for [p [path (os.path.join path "y")]]
    (with [e (pytest.raises disk.StorageError)] (paths.ensure-folder p))
    (assert (in path (str e.value)))))

(defn test-no-two-workspaces-share-a-name [tmp-path]
  "Folders with like names have different names, which are plain file names; a link has the name of its target."
  (setv folders ["/w/a-b" "/w/a/b" "/w/a b" "/w/a\nb" "/w/A-b" "/" "/w/ü"
                 (os.fsdecode b"/w/\xff") (+ "/w/" (* "x" 200)) "/w/..x"]
        names (lfor f folders (paths.workspace-name f)))
  (assert (= (len (set names)) (len folders)))
  (for [name names]
    (assert (<= (len (os.fsencode name)) 64))
    (assert (not (any (gfor c "/\n \0" (in c name)))))
    (assert (not (.startswith name "."))))
  (os.mkdir (/ tmp-path "real"))
  (os.symlink (/ tmp-path "real") (/ tmp-path "link"))
  (assert (= (paths.workspace-name (str (/ tmp-path "link"))) (paths.workspace-name (str (/ tmp-path "real" ""))))))

(defn test-short-paths [monkeypatch]
  "The home folder is shown as a tilde, and only where it is a whole part of the path."
  (monkeypatch.setenv "HOME" "/home/me")
  (assert (= (lfor p ["/home/me" "/home/me/src" "/home/meadow" "/x"] (paths.short p)) ["~" "~/src"
                                                                                       "/home/meadow" "/x"])))

(defn test-without-a-home-folder [monkeypatch]
  "Without a home folder, roots that need one fail and say what to set; roots with variables do not need it."
  (monkeypatch.setattr os.path "expanduser" (fn [path] path))
  (assert (paths.config))
  (monkeypatch.delenv "XDG_CONFIG_HOME")
  (with [e (pytest.raises disk.StorageError)] (paths.config))
  (assert (in "HOME" (str e.value))))
