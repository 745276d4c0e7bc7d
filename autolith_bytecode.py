"""Byte-code for Hy: there before the first import, wherever it can be kept.

Compiling Hy costs about a millisecond a line, so the packages that are Hy (ours, Hy itself, Hyrule) must never
be compiled twice. Where byte-code lies beside the sources, nothing is done. Where it is missing, this compiles
what is missing once, with progress on standard error: beside the sources if that can be written, else into
`bytecode/TAG/` of our cache, from where those packages' imports read it from then on. The search for it is a
look at names and times; what is half-written or damaged is found when it is loaded, compiled anew and replaced.

Standard library only; `prepare` is called before `import hy`.
"""

import importlib.util
import os
import sys

SLACK = 5.0  # seconds by which byte-code may seem older than its source: an installer writes both, in any order
PACKAGES = ("hy", "autolith", "hyrule")  # in the order in which they need each other


def folders_of(name):
    """The folders that hold the package NAME, found without executing it, each mapped to its dotted name."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return {}
    if spec is None or not spec.submodule_search_locations:
        return {}
    top = os.path.abspath(list(spec.submodule_search_locations)[0])
    beside = os.path.join(os.path.dirname(top), "recovery")  # a checkout has it beside the package
    if name == "autolith" and os.path.exists(os.path.join(beside, "__main__.py")):
        return {top: name, beside: "autolith.recovery"}
    return {top: name}


def sources(folder, name):
    """Yield (os.DirEntry, dotted name) of each .hy module under FOLDER, which is the package NAME.

    Folders without `__init__.py` hold data.
    """
    try:
        with os.scandir(folder) as entries:
            entries = list(entries)
    except OSError:
        return
    deeper = []
    for entry in entries:
        if entry.name.endswith(".hy"):
            if entry.is_file() and entry.name != "init.hy":
                yield entry, f"{name}.{entry.name[:-3]}"
        elif "." not in entry.name and entry.name not in ("__pycache__", "roles", "skills") and entry.is_dir():
            deeper.append(entry)
    for entry in deeper:
        if os.path.exists(os.path.join(entry.path, "__init__.py")):
            yield from sources(entry.path, f"{name}.{entry.name}")


def missing(folders):
    """A map from path to dotted name of the .hy modules under FOLDERS that have no byte-code, or older byte-code."""
    found, kept = {}, {}
    for folder, package in folders.items():
        for entry, name in sources(folder, package):
            where, stem = entry.path[:-len(entry.name)], entry.name[:-3]
            if where not in kept:  # once a folder: where its byte-code lies, and how that is called
                at, example = os.path.split(importlib.util.cache_from_source(entry.path))
                kept[where] = example[len(stem):], _times(at)
            tail, times = kept[where]
            time = times.get(stem + tail)
            if time is None or time + SLACK < entry.stat().st_mtime:
                found[entry.path] = name
    return found


def _times(folder):
    """The modification time of each byte-code file in FOLDER, by name; empty ones are left out."""
    try:
        with os.scandir(folder) as entries:
            stats = [(e.name, e.stat()) for e in entries if e.name.endswith(".pyc")]
    except OSError:
        return {}
    return {name: stat.st_mtime for name, stat in stats if stat.st_size > 16}


def cache_root():
    """The folder of our cache for byte-code of this Python."""
    from autolith_capsule import roots

    return os.path.join(roots("cache"), "bytecode", sys.implementation.cache_tag)


# * Where byte-code is looked for


def redirect(folders, root):
    """Let byte-code of the modules under FOLDERS live under ROOT, for this process; all others stay where they are."""
    names = importlib.util.cache_from_source.__globals__  # of the import system, where every loader looks it up
    before, heads = importlib.util.cache_from_source, tuple(f + os.sep for f in folders)

    def cache_from_source(path, debug_override=None, *, optimization=None):
        cached = before(path, debug_override, optimization=optimization)
        return root + cached if os.fspath(path).startswith(heads) and not cached.startswith(root) else cached

    cache_from_source.__globals__["importlib"].util.cache_from_source = names["cache_from_source"] = cache_from_source


def forgive():
    """Let a damaged byte-code file be compiled anew from its source, instead of failing the import."""
    from importlib.machinery import SourceFileLoader

    before = SourceFileLoader.get_code
    if getattr(before, "forgives", False):
        return

    def get_code(self, fullname):
        try:
            return before(self, fullname)
        except (EOFError, ValueError, TypeError):  # what marshal raises
            path = self.get_filename(fullname)
            if not _drop(importlib.util.cache_from_source(path)):
                return self.source_to_code(self.get_data(path), path)
            return before(self, fullname)

    get_code.forgives = True
    SourceFileLoader.get_code = get_code


def _drop(path):
    """Remove the file PATH; True if it was there and is gone."""
    try:
        os.unlink(path)
        return True
    except OSError:
        return False


# * Compiling what is missing


def fill(modules, say=None):
    """Compile MODULES, a map from path to dotted name, to where imports will look; return how many cannot be kept.

    SAY is called with the number done. A source that does not compile is left to its import, which tells where.
    """
    import hy  # noqa: F401  from here on .hy files compile

    lost = 0
    for done, (path, name) in enumerate(modules.items()):
        if say:
            say(done)
        try:
            _write(importlib.util.cache_from_source(path), _copied(path) or _compiled(path, name))
        except OSError:
            lost += 1
        except Exception:
            pass
    if say:
        say(len(modules))
    return lost


def _compiled(path, name):
    """Byte-code, with the hash of its source, of the module NAME at PATH.

    Compiled under its own name: Hy looks for the module of a file, and would later take it for another's.
    """
    import marshal
    from importlib.machinery import SourceFileLoader

    loader = SourceFileLoader(name, path)
    source = loader.get_data(path)
    return _head(source) + marshal.dumps(loader.source_to_code(source, path))


def _head(source):
    """The 16 bytes that begin byte-code of the bytes SOURCE: magic number, `checked hash`, the hash."""
    return importlib.util.MAGIC_NUMBER + b"\3\0\0\0" + importlib.util.source_hash(source)


def _copied(path):
    """The valid byte-code of PATH that lies beside it, if it is to be kept elsewhere; else None."""
    folder, name = os.path.split(path)
    target = importlib.util.cache_from_source(path)
    beside = os.path.join(folder, "__pycache__", os.path.basename(target))
    if beside == target:
        return None
    try:
        with open(beside, "rb") as f, open(path, "rb") as g:
            data, source = f.read(), g.read()
        import marshal

        if data[:16] == _head(source) and marshal.loads(data[16:]):
            return data
    except (OSError, ValueError, EOFError, TypeError):
        pass
    return None


def _write(path, data):
    """Write the bytes DATA to the file PATH, whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = f"{path}.{os.getpid()}"
    try:
        with open(new, "wb") as f:
            f.write(data)
        os.replace(new, path)
    except OSError:
        _drop(new)
        raise


def _writable(paths):
    """True if byte-code of PATHS can be written beside them."""
    for folder in {os.path.dirname(importlib.util.cache_from_source(p)) for p in paths}:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            return False
        probe = os.path.join(folder, f".probe-{os.getpid()}")  # the mode bits do not know of read-only mounts
        try:
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            os.unlink(probe)
        except OSError:
            return False
    return True


class _Turn:
    """One process at a time compiles; a second one waits, says so, and then finds the work done."""

    def __init__(self, root):
        self.path, self.file = os.path.join(root, "lock"), None

    def __enter__(self):
        try:
            import fcntl

            os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _tell("autolith: another start is compiling; waiting for it\n")
                fcntl.flock(self.file, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # without a lock both compile; every file is still replaced as a whole

    def __exit__(self, *_):
        if self.file is not None:
            os.close(self.file)


def _tell(text):
    """Write TEXT to standard error, if there is one."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except Exception:
        pass


def _progress(total):
    """A function that shows, on standard error, how many of TOTAL are done: a line that changes, on a terminal."""
    try:
        live = os.isatty(2)
    except OSError:
        live = False
    if not live:
        _tell(f"autolith: compiling {total} modules, once\n")
        return None

    def say(done):
        width = 30 * done // max(1, total)
        _tell(f"\rautolith: compiling, once  [{'#' * width}{'.' * (30 - width)}] {done}/{total}"
              + ("\r\x1b[K" if done == total else ""))

    return say


def _needed():
    """What has no byte-code: a list of (folders, modules) for each of PACKAGES that lacks any."""
    found = []
    for name in PACKAGES:
        folders = folders_of(name)
        modules = missing(folders)
        if modules:
            found.append((folders, modules))
    return found


def prepare():
    """See that every Hy module has byte-code that imports will find; quick when it has."""
    forgive()
    needed = _needed()
    if not needed:
        return
    root = cache_root()
    elsewhere = [folders for folders, modules in needed if sys.dont_write_bytecode or not _writable(modules)]
    for folders in elsewhere:
        redirect(folders, root)
    if elsewhere and not _needed():  # an earlier start has filled the cache
        return
    with _Turn(root):
        modules = {path: name for _, modules in _needed() for path, name in modules.items()}
        lost = fill(modules, _progress(len(modules)) if len(modules) >= 8 else None) if modules else 0
    if lost:
        _tell(f"autolith: {lost} compiled modules could not be kept (neither beside the program nor in {root}); "
              "every start will compile them again. Set XDG_CACHE_HOME to a folder that can be written.\n")


if __name__ == "__main__":
    prepare()
