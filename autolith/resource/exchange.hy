"Swap two names in one step, where the kernel can: what was displaced can then be looked at, and put back.

`(swap a b)` makes each of the paths A and B name what the other named; `(move-new a b)` renames A to B only if there is no B.
Both return False where the system or the file system cannot do it, and raise OSError for every other failure."

(eval-when-compile (require autolith.base.macros [defonce]))
(import
  errno
  os
  sys)

(defonce _calls {} "The C functions found so far, by name; None for one that is not there.")

(setv UNABLE #{errno.ENOSYS errno.EINVAL errno.ENOTSUP errno.EOPNOTSUPP errno.EPERM}
      AT-FDCWD (if (= sys.platform "darwin") -2 -100))

(defn _function [name]
  "Return the C function NAME, or None."
  (when (not-in name _calls)
    (import ctypes)
    (setv (get _calls name) (getattr (ctypes.CDLL None :use-errno True) name None)))
  (get _calls name))

(defn _rename [a b linux-flag mac-flag]
  "Rename the path A to B with the flag of this system; tell whether the system could."
  (import ctypes)
  (setv mac (= sys.platform "darwin")
        f (_function (if mac "renameatx_np" "renameat2")))
  (when (is f None)
    (return False))
  (ctypes.set-errno 0)
  (setv status (f AT-FDCWD (ctypes.c-char-p (os.fsencode a)) AT-FDCWD (ctypes.c-char-p (os.fsencode b))
                  (ctypes.c-uint (if mac mac-flag linux-flag)))
        code (ctypes.get-errno))
  (cond
    (= status 0) True
    (in code UNABLE) False
    True (raise (OSError code (os.strerror code) a None b))))

(defn swap [a b]
  "Make the paths A and B name each other's file; False where that cannot be done in one step."
  (_rename a b 2 2))

(defn move-new [a b]
  "Rename the path A to B unless there is a B; False where that cannot be done in one step."
  (_rename a b 1 4))
