"""Crash capsules: what is known of a crash, as one data form in a file of its own, for recovery and for people.

A capsule is a map with crash (its version), time, pid, kind (exception, signal or start), status, python, platform
and, by kind: errors, a list of type, message and frames (file, line, function; no values of variables); or signal and
dump, the stacks of all threads. Standard library only.
"""

import os
import sys

WORDS = {"SIGQUIT": "was ended by Ctrl-\\ (SIGQUIT)", "SIGKILL": "was killed (SIGKILL; out of memory perhaps)"}


def roots(kind):
    """The folder of ours of the XDG root KIND: config, data, state or cache."""
    base = os.environ.get(f"XDG_{kind.upper()}_HOME", "")
    if not os.path.isabs(base):  # empty or relative is to be ignored, says the standard
        home = {"config": ".config", "data": ".local/share", "state": ".local/state", "cache": ".cache"}[kind]
        base = os.path.join(os.path.expanduser("~"), home)
    return os.path.join(base, "autolith")


def form(value):
    """VALUE, of maps, lists, strings, integers, booleans and None, as one data form."""
    if isinstance(value, dict):
        return "{" + " ".join(f":{k.replace('_', '-')} {form(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(form(v) for v in value) + "]"
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
        text = text.replace("\n", "\\n").replace("\t", "\\t")
        safe = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else "?" for c in text)
        return f'"{safe}"'
    return repr(value)


def write(fields):
    """Write the map FIELDS as a new crash capsule; return its path, or None where nothing can be written."""
    import time

    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime(now)) + f".{int(now % 1 * 1e6):06d}"
    whole = {"crash": 1, "time": stamp[:10] + "T" + stamp[11:19].replace("-", ":") + "Z", "pid": os.getpid(), **fields,
             "python": sys.version.split()[0], "platform": sys.platform}
    try:
        folder = os.path.join(roots("state"), "crashes")
        os.makedirs(folder, 0o700, exist_ok=True)
        path = os.path.join(folder, f"{stamp}-{os.getpid()}.hy")
        with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as f:
            f.write(form(whole) + "\n")
        os.rename(path + ".new", path)
        return path
    except OSError:
        return None


def of(error):
    """Write a capsule about the exception ERROR: where it was raised and what it says, but no values of variables."""
    chain, seen = [], set()
    while error is not None and id(error) not in seen and len(chain) < 6:
        seen.add(id(error))
        frames, tb = [], error.__traceback__
        while tb is not None:
            code = tb.tb_frame.f_code
            frames.append({"file": code.co_filename, "line": tb.tb_lineno or 0, "function": code.co_name})
            tb = tb.tb_next
        try:
            message = str(error)
        except Exception as e:
            message = f"(its message could not be made: {type(e).__name__})"
        chain.append({"type": type(error).__name__, "message": _redacted(message)[:2000], "frames": frames[-40:]})
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return write({"kind": "exception", "status": 70, "errors": chain, "versions": _versions()})


def _redacted(text):
    """TEXT without what looks like a credential."""
    import re

    return re.sub(r"\b(sk|pk|key|gsk|xai|ghp)-[\w-]{8,}|(?<=Bearer )\S+", "[redacted]", text)


def _versions():
    """The versions of what runs, as far as it is loaded."""
    known = {}
    for name in ("autolith", "hy", "prompt_toolkit", "httpx"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            known[name] = version
    return known


def newest(pid=None):
    """The path of the newest capsule, or of the newest that the process PID wrote, or None."""
    try:
        folder = os.path.join(roots("state"), "crashes")
        found = sorted(n for n in os.listdir(folder) if n.endswith(".hy" if pid is None else f"-{pid}.hy"))
        return os.path.join(folder, found[-1]) if found else None
    except OSError:
        return None


def fallen(image, status, n, crash, dump):
    """Say in words how the process IMAGE fell; return them and the path of the capsule that tells of it.

    STATUS is its wait status, N the signal that ended it or None, CRASH the exit status of one that left a capsule
    itself, DUMP the stacks of its threads.
    """
    about = {"status": crash, "image": image, "dump": dump}
    if n is not None:
        name = signal_name(n)
        return WORDS.get(name, f"was ended by {name}"), write({"kind": "signal", "signal": name, **about})
    code = os.WEXITSTATUS(status)
    if code == crash:
        return "crashed", newest(image)
    return f"ended with status {code} before it was ready", write({"kind": "start", **about, "status": code})


def signal_name(number):
    """The name of the signal NUMBER."""
    import _signal

    names = [k for k, v in vars(_signal).items() if v == number and k.startswith("SIG") and k[3] != "_"]
    return next((k for k in sorted(names) if k not in ("SIGIOT", "SIGCLD", "SIGPOLL")), f"signal {number}")
