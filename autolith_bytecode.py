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
    """The folders that hold the package NAME, found without executing it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    if spec is None or not spec.submodule_search_locations:
        return []
    top = os.path.abspath(list(spec.submodule_search_locations)[0])
    beside = os.path.join(os.path.dirname(top), "recovery")  # a checkout has it beside the package
    if name == "autolith" and os.path.exists(os.path.join(beside, "__main__.py")):
        return [top, beside]
    return [top]


def sources(folder):
    """Yield the os.DirEntry of each .hy module under FOLDER, a package; folders without `__init__.py` are data."""
    try:
        with os.scandir(folder) as entries:
            entries = list(entries)
    except OSError:
        return
    deeper = []
    for entry in entries:
        if entry.name.endswith(".hy"):
            if entry.is_file() and entry.name != "init.hy":
                yield entry
        elif "." not in entry.name and entry.name not in ("__pycache__", "roles", "skills") and entry.is_dir():
            deeper.append(entry.path)
    for path in deeper:
        if os.path.exists(os.path.join(path, "__init__.py")):
            yield from sources(path)


def missing(folders):
    """The paths of the .hy modules under FOLDERS that have no byte-code, or older byte-code."""
    found, cached = [], {}
    for folder in folders:
        for entry in sources(folder):
            target = importlib.util.cache_from_source(entry.path)
            kept = os.path.dirname(target)
            if kept not in cached:
                cached[kept] = _times(kept)
            time = cached[kept].get(os.path.basename(target))
            if time is None or time + SLACK < entry.stat().st_mtime:
                found.append(entry.path)
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
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "autolith", "bytecode", sys.implementation.cache_tag)


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


def fill(paths, say=None):
    """Compile each of PATHS into the place where imports will look for it; return how many could not be kept.

    SAY is called with the number done. A source that does not compile is left to its import, which tells where.
    """
    import py_compile

    import hy  # noqa: F401  from here on .hy files compile

    failed = 0
    for done, path in enumerate(paths):
        if say:
            say(done)
        if not _copied(path):
            try:
                py_compile.compile(path, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
            except OSError:
                failed += 1
            except Exception:
                pass
    if say:
        say(len(paths))
    return failed


def _copied(path):
    """Copy valid byte-code of PATH from beside it, if there is any and it belongs elsewhere; True if so."""
    folder, name = os.path.split(path)
    target = importlib.util.cache_from_source(path)
    beside = os.path.join(folder, "__pycache__", os.path.basename(target))
    if beside == target:
        return False
    try:
        with open(beside, "rb") as f, open(path, "rb") as g:
            data, source = f.read(), g.read()
        import _imp
        import marshal

        magic = importlib.util.MAGIC_NUMBER
        if data[:4] != magic or data[4:8] != b"\x03\0\0\0" or data[8:16] != _imp.source_hash(
                int.from_bytes(magic, "little"), source):
            return False
        marshal.loads(data[16:])
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        with open(f"{target}.{os.getpid()}", "wb") as f:
            f.write(data)
        os.replace(f"{target}.{os.getpid()}", target)
        return True
    except (OSError, ValueError, EOFError, TypeError):
        return False


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
    """What has no byte-code: a list of [folders paths] for each of PACKAGES that lacks any."""
    found = []
    for name in PACKAGES:
        folders = folders_of(name)
        paths = missing(folders)
        if paths:
            found.append((folders, paths))
    return found


def prepare():
    """See that every Hy module has byte-code that imports will find; quick when it has."""
    forgive()
    root = cache_root()
    needed = _needed()
    if not needed:
        return
    elsewhere = [(folders, paths) for folders, paths in needed
                 if sys.dont_write_bytecode or not _writable(paths)]
    for folders, _ in elsewhere:
        redirect(folders, root)
    if elsewhere and not _needed():  # an earlier start has filled the cache
        return
    with _Turn(root):
        paths = [path for _, paths in _needed() for path in paths]
        if not paths:
            return
        small = len(paths) < 8
        lost = fill(paths, None if small else _progress(len(paths)))
    if lost:
        _tell(f"autolith: {lost} compiled modules could not be kept (neither beside the program nor in {root}); "
              "every start will compile them again. Set XDG_CACHE_HOME to a folder that can be written.\n")


if __name__ == "__main__":
    prepare()
