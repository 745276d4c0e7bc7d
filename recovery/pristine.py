"""The pristine copy: the released source as it was at the first healthy start, sealed by a manifest of digests.

It lies in our data folder under `pristine/VERSION-DIGEST/`, laid out as in an installed package. Recovery runs
from it, so that no later damage to the installed package reaches recovery. The launcher verifies it at each use.
"""

import hashlib
import os
import shutil

import autolith_capsule as capsule
import autolith_launcher as launcher

KEEP = 3  # copies; a checkout makes a new one whenever its source changed
SUFFIXES = (".py", ".hy", ".md", ".forms", ".json", ".txt")
ROOT_MODULES = ("autolith_launcher.py", "autolith_bytecode.py", "autolith_capsule.py")


def sources(root, package):
    """Map each path in the copy to the file it comes from; PACKAGE is our package's folder, ROOT the launcher's."""
    found = {}
    for name in ROOT_MODULES:
        if os.path.exists(os.path.join(root, name)):
            found[name] = os.path.join(root, name)
    beside = os.path.dirname(package)
    trees = [(package, "autolith")]
    for name in ("recovery", "roles", "skills"):
        if not os.path.isdir(os.path.join(package, name)) and os.path.isdir(os.path.join(beside, name)):
            trees.append((os.path.join(beside, name), os.path.join("autolith", name)))
    for top, target in trees:
        for at, folders, names in os.walk(top):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    path = os.path.join(at, name)
                    found[os.path.normpath(os.path.join(target, os.path.relpath(path, top)))] = path
    init = os.path.join("autolith", "init.hy")
    if init not in found and os.path.exists(os.path.join(beside, "init.hy")):
        found[init] = os.path.join(beside, "init.hy")
    return found


def _look(found):
    """A digest of names, sizes and times of the files FOUND: cheap, and enough to see that nothing changed."""
    digest = hashlib.sha256()
    for name, path in sorted(found.items()):
        stat = os.stat(path)
        digest.update(f"{name} {path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def ensure(version):
    """See that a verified copy of what is installed as VERSION exists; return its folder, or None where none can be."""
    import importlib.util

    package = list(importlib.util.find_spec("autolith").submodule_search_locations)[0]
    top = os.path.join(capsule.roots("data"), "pristine")
    try:
        if os.path.dirname(os.path.abspath(package)).startswith(top + os.sep):  # we run from one
            return os.path.dirname(os.path.abspath(package))
        found = sources(os.path.dirname(os.path.abspath(launcher.__file__)), os.path.abspath(package))
        look = _look(found)
        copy = _known(top, look)
        if copy is None:
            copy = _make(top, version, found)
            _note(top, look, copy)
            _prune(top, copy)
        return copy
    except OSError:
        return None


def later(version, seconds=3.0):
    """Call `ensure` for VERSION in a while, in a thread that keeps nobody."""
    import threading

    timer = threading.Timer(seconds, ensure, [version])
    timer.daemon = True
    timer.start()


def _known(top, look):
    """The copy under TOP that was made of what still looks like LOOK, or None."""
    try:
        with open(os.path.join(top, ".seen"), encoding="utf-8") as f:
            seen, name = f.read().split()
    except (OSError, ValueError):
        return None
    copy = os.path.join(top, name)
    return copy if seen == look and os.path.exists(os.path.join(copy, "manifest")) else None


def _note(top, look, copy):
    """Remember that COPY was made of what looks like LOOK."""
    path = os.path.join(top, f".seen-{os.getpid()}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"{look} {os.path.basename(copy)}\n")
    os.replace(path, os.path.join(top, ".seen"))


def _make(top, version, found):
    """Copy the files FOUND to a new folder under TOP, verify it, and give it its name; return the path."""
    os.makedirs(top, 0o700, exist_ok=True)
    making = os.path.join(top, f".making-{os.getpid()}")
    shutil.rmtree(making, ignore_errors=True)
    lines = []
    for name, path in sorted(found.items()):
        with open(path, "rb") as f:
            data = f.read()
        target = os.path.join(making, name)
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "wb") as f:
            f.write(data)
        lines.append(f"{hashlib.sha256(data).hexdigest()}  {name}\n")
    manifest = "".join(lines)
    with open(os.open(os.path.join(making, "manifest"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "w",
              encoding="utf-8") as f:
        f.write(manifest)
    if not launcher.sealed(making):
        shutil.rmtree(making, ignore_errors=True)
        raise OSError("the copy does not read back as it was written")
    copy = os.path.join(top, f"{version}-{hashlib.sha256(manifest.encode()).hexdigest()[:12]}")
    if os.path.exists(copy) and not launcher.sealed(copy):
        shutil.rmtree(copy)
    try:
        os.rename(making, copy)
    except OSError:  # it was there, or another process was faster
        shutil.rmtree(making, ignore_errors=True)
        if not launcher.sealed(copy):
            raise
        os.utime(copy)
    return copy


def _prune(top, current):
    """Remove all but the newest KEEP copies under TOP, never CURRENT, and what killed processes left half made."""
    names = [n for n in os.listdir(top) if not n.startswith(".")]
    names.sort(key=lambda n: os.path.getmtime(os.path.join(top, n)), reverse=True)
    for name in names[KEEP:]:
        if os.path.join(top, name) != current:
            shutil.rmtree(os.path.join(top, name), ignore_errors=True)
    for name in os.listdir(top):
        pid = name.removeprefix(".making-")
        if pid != name and pid.isdigit() and not os.path.exists(f"/proc/{pid}") and os.path.isdir("/proc"):
            shutil.rmtree(os.path.join(top, name), ignore_errors=True)
