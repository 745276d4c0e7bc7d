"""The stable launcher: start the active image in a child, wait, and stand when it falls.

Standard library only, and nothing of ours before the fork, so that no damage to the package stops the
`autolith` command. The child finds two file descriptors in its environment: AUTOLITH_LIFELINE, whose end of
file (on Linux also a SIGTERM) means that the launcher is gone, and AUTOLITH_READY, which `ready` writes.
A third, AUTOLITH_DUMP, is where Python writes the stacks of all threads on a fatal signal and on SIGQUIT.
"""

import os
import sys

import _signal as sig  # `signal` itself imports enum and more

USAGE, CRASH = 64, 70
ORDERLY = {0, 1, USAGE, 75, 129, 130, 141, 143}  # statuses an image ends with by its own will
POLITE = {sig.SIGINT, sig.SIGTERM, sig.SIGHUP, sig.SIGPIPE}  # signals that are somebody's wish, not a fault
FORWARDED = [sig.SIGTERM, sig.SIGHUP, sig.SIGTSTP, sig.SIGUSR1, sig.SIGUSR2, sig.SIGQUIT]
WATCHED = [*FORWARDED, sig.SIGINT]
GRACE = {sig.SIGQUIT: 2.0, sig.SIGTERM: 10.0, sig.SIGHUP: 10.0}  # seconds before a frozen image is killed
QUIT_DELAY = 0.3  # seconds before a SIGQUIT that the launcher got is passed on
RESET = (b"\x1b[?2026l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?47l"
         b"\x1b[?25h\x1b[>4;0m\x1b[0m\r\n")

# Recovery runs from PACKAGE and RECOVERY, folders that are given; `autolith/__init__.py` is not executed.
BOOT = """
import sys, types
root, package, recovery = sys.argv[1:4]
sys.dont_write_bytecode = True
sys.path.insert(0, root)
for name, folder in (("autolith", package), ("autolith.recovery", recovery)):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__, module.__file__ = [folder], folder + "/__init__.py"
sys.modules["autolith"].recovery = sys.modules["autolith.recovery"]
from autolith.recovery.__main__ import main
sys.exit(main(sys.argv[4:]))
"""


# * What the image sees


when_ready = []  # what `ready` calls for a session, besides telling the launcher


def ready(session=False):
    """Tell the launcher that the image stands: what ends it from now on is no failed start.

    SESSION says that a person's session stands, not a single form or turn; then what waits in `when_ready` is called.
    """
    held = os.environ.pop("AUTOLITH_READY", None)
    if held:
        try:
            os.write(int(held), b"1")
            os.close(int(held))
        except (OSError, ValueError):
            pass
    while session and when_ready:
        when_ready.pop()()


def _end_with(lifeline):
    """Let the end of LIFELINE be a SIGTERM to this process, without a thread; where that cannot be, do nothing."""
    try:
        import fcntl

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, sig.SIGTERM)  # a SIGHUP might be ignored (nohup)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except (ImportError, AttributeError, OSError):
        pass


def _dump_into(dump):
    """Have fatal signals and SIGQUIT write the stacks of all threads to the descriptor DUMP."""
    import faulthandler

    faulthandler.enable(dump, all_threads=True)
    faulthandler.register(sig.SIGQUIT, dump, all_threads=True, chain=True)


def _child(image, lifeline, held, dump):
    """Run IMAGE in the forked child and end it; never returns."""
    os.environ["AUTOLITH_LIFELINE"], os.environ["AUTOLITH_READY"] = str(lifeline), str(held)
    try:
        _end_with(lifeline)
        if dump is not None:
            os.environ["AUTOLITH_DUMP"] = str(dump)
            _dump_into(dump)
    finally:
        os._exit(status_of(image))  # no interpreter teardown: 8 ms saved


def status_of(image):
    """Run IMAGE, a function that returns an exit status, and flush; return the status, whatever it raised.

    What escapes leaves a crash capsule, and 70. A reader that went away (`| head`) gives 141, Ctrl-C 130.
    """
    try:
        status = image()
        return _flushed((status or 0) & 0xFF)
    except SystemExit as e:
        status = _status(e.code)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        status = 141
    except BaseException as e:
        status = _crashed(e)
    try:
        _flush()
    except (OSError, KeyboardInterrupt):
        pass
    return status


def _flushed(status):
    """Flush the standard streams; STATUS, or 1 with the reason where what was printed could not be written."""
    try:
        _flush()
    except OSError as e:
        if isinstance(e, BrokenPipeError):
            raise
        print(f"autolith: the output could not be written: {e.strerror}", file=sys.stderr)
        return 1
    return status


def _flush():
    """Flush the standard streams; one whose reader went is pointed at nothing, so that no later flush fails."""
    for fd, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
            raise


def _status(code):
    """The exit status that the argument CODE of SystemExit stands for."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def _crashed(error):
    """Leave a crash capsule about ERROR, show its traceback, and return 70."""
    import traceback

    import autolith_capsule

    autolith_capsule.of(error)
    try:
        traceback.print_exception(error)
    except Exception:
        pass
    return CRASH


# * The launcher's own side


def _saved_terminal():
    """The modes of the terminal on standard input, with the module that can set them, or None."""
    try:
        import termios

        return termios, termios.tcgetattr(0)
    except Exception:
        return None


def _restore(saved):
    """Give the terminal back the modes SAVED, and undo what an image may have switched on."""
    if not saved:
        return
    before = sig.signal(sig.SIGTTOU, sig.SIG_IGN)  # we may have lost the foreground
    try:
        if os.isatty(1):
            os.write(1, RESET)
        saved[0].tcsetattr(0, saved[0].TCSADRAIN, saved[1])
    except Exception:
        pass
    finally:
        sig.signal(sig.SIGTTOU, before)


def _open_standard():
    """Fill the places of closed standard streams, so that no pipe of ours takes them."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free one, which is FD


def _dump_file():
    """A descriptor of a file without a name, or None."""
    try:
        return os.memfd_create("autolith-dump")
    except (AttributeError, OSError):
        pass
    try:
        path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"autolith-dump-{os.getpid()}")
        dump = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.unlink(path)
        return dump
    except OSError:
        return None


def _watch(child):
    """Pass signals on to CHILD; kill it if it does not end for them. Return the list of those that ask for its end."""
    asked, held_back = [], []

    def kill(n):
        try:
            os.kill(child, n)
        except ProcessLookupError:
            pass

    def forward(n, _):
        if n == sig.SIGQUIT:  # the key reaches the image by itself; a second one would cut its dump short
            held_back.append(n)
        else:
            kill(n)
        if n in GRACE:
            asked.append(n)
            kill(sig.SIGCONT)  # a stopped image hears of it too
            sig.setitimer(sig.ITIMER_REAL, QUIT_DELAY if held_back else GRACE[n])

    def insist(*_):
        if not held_back:
            return kill(sig.SIGKILL)
        held_back.clear()
        kill(sig.SIGQUIT)
        kill(sig.SIGCONT)
        sig.setitimer(sig.ITIMER_REAL, GRACE[sig.SIGQUIT])

    for n in FORWARDED:
        if sig.getsignal(n) != sig.SIG_IGN:  # what was to be ignored (nohup) stays ignored, by both
            sig.signal(n, forward)
    sig.signal(sig.SIGALRM, insist)
    sig.signal(sig.SIGINT, sig.SIG_IGN)
    return asked


def _wait(child):
    """Wait for the end of CHILD, stopping whenever it stops; return its wait status."""
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)  # restarted after handlers (PEP 475)
        if not os.WIFSTOPPED(status):
            sig.setitimer(sig.ITIMER_REAL, 0)
            return status
        os.kill(os.getpid(), sig.SIGSTOP)  # now the shell sees the job stop
        try:
            os.kill(child, sig.SIGCONT)  # and here it was continued
        except ProcessLookupError:
            pass


def _blank_environment():
    """Overwrite the environment that this process was given: /proc shows it, keys and all, to whatever the image runs.

    `os.environ` is a copy, and stays as it is.
    """
    try:
        with open("/proc/self/stat", "rb") as f:
            start, end = map(int, f.read().rpartition(b")")[2].split()[47:49])
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(bytes(end - start))
    except (OSError, ValueError, OverflowError):
        pass


def _read_all(fd):
    """What the file FD holds, at most the last 64 KiB, as text."""
    try:
        size = os.lseek(fd, 0, os.SEEK_END)
        os.lseek(fd, max(0, size - 65536), os.SEEK_SET)
        return os.read(fd, 65536).decode("utf-8", "replace")
    except (OSError, TypeError):
        return ""


def launch(image):
    """Run IMAGE, a function that returns an exit status, in a child.

    Return three things: the status for the shell; what happened in words, or None where nothing is to be
    recovered; and the path of the crash capsule, or None.
    """
    _open_standard()
    saved, dump = _saved_terminal(), _dump_file()
    (lifeline, held), (told, tell) = os.pipe(), os.pipe()
    before = sig.pthread_sigmask(sig.SIG_BLOCK, WATCHED)  # none may come before somebody is there to hear it
    child = os.fork()
    if child == 0:
        sig.pthread_sigmask(sig.SIG_SETMASK, before)
        os.close(held)
        os.close(told)
        _child(image, lifeline, tell, dump)
    os.close(lifeline)
    os.close(tell)
    _blank_environment()
    asked = _watch(child)
    sig.pthread_sigmask(sig.SIG_SETMASK, before)
    status = _wait(child)
    os.set_blocking(told, False)
    try:
        stood = os.read(told, 1) == b"1"
    except BlockingIOError:  # a process that the image left behind holds the other end
        stood = False
    if os.WIFEXITED(status) and (os.WEXITSTATUS(status) in ORDERLY or stood and os.WEXITSTATUS(status) != CRASH):
        return os.WEXITSTATUS(status), None, None
    _restore(saved)
    n = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if n == sig.SIGKILL and asked:  # it was too frozen to hear
        n = asked[-1]
    if n in POLITE:
        return 128 + n, None, None
    import autolith_capsule as capsule

    return CRASH, *capsule.fallen(child, status, n, CRASH, _read_all(dump))


# * Recovery


def sealed(folder):
    """True if the pristine copy FOLDER holds exactly the files of its manifest, unchanged."""
    import hashlib

    try:
        with open(os.path.join(folder, "manifest"), encoding="utf-8") as f:
            expected = dict(reversed(line.rstrip("\n").split("  ", 1)) for line in f)
        found = {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}
        if not expected or found - {"manifest"} != set(expected):
            return False
        for name, digest in expected.items():
            with open(os.path.join(folder, name), "rb") as f:
                if hashlib.sha256(f.read()).hexdigest() != digest:
                    return False
        return True
    except (OSError, ValueError):
        return False


def pristine():
    """The newest whole pristine copy, or None."""
    from autolith_capsule import roots

    top = os.path.join(roots("data"), "pristine")
    try:
        copies = [os.path.join(top, name) for name in os.listdir(top) if not name.startswith(".")]
        copies.sort(key=os.path.getmtime, reverse=True)
    except OSError:
        return None
    return next((c for c in copies if sealed(c)), None)


def _places():
    """Yield [root package recovery] folders that recovery may run from, best first."""
    copy = pristine()
    if copy:
        yield [copy, os.path.join(copy, "autolith"), os.path.join(copy, "autolith", "recovery")]
    import importlib.util

    try:
        spec = importlib.util.find_spec("autolith")  # finds it, executes nothing
        package = list(spec.submodule_search_locations)[0]
    except Exception:
        return
    root = os.path.dirname(package)
    for recovery in (os.path.join(package, "recovery"), os.path.join(root, "recovery")):
        if os.path.exists(os.path.join(recovery, "__main__.py")):
            yield [root, package, recovery]


def recover(arguments):
    """Become recovery, with ARGUMENTS; return a status only where no recovery can be found."""
    for place in _places():
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        for n in (*WATCHED, sig.SIGTTOU):
            sig.signal(n, sig.default_int_handler if n == sig.SIGINT else sig.SIG_DFL)
        os.execve(sys.executable, [sys.executable, "-P", "-c", BOOT, *place, *arguments], dict(os.environ))
    from autolith_capsule import roots

    print("autolith: neither the package nor a pristine copy of it can be found; install it again. Your work is in\n"
          f"  {roots('data')}\n  {roots('state')}", file=sys.stderr)
    return CRASH


def _image():
    """Start the active image; runs in the child."""
    import autolith_bytecode

    autolith_bytecode.prepare()
    from autolith.__main__ import main as image

    return image(sys.argv[1:])


def main():
    """The `autolith` command: never returns."""
    arguments = sys.argv[1:]
    _stand_in()
    if arguments[:1] == ["--recovery"]:
        os._exit(recover(arguments[1:]))
    again = os.environ.pop("AUTOLITH_RECOVERED", None)  # started by recovery: never start recovery from here again
    code, happened, capsule = launch(_image)
    if happened:
        code = _fallen(code, happened, capsule, arguments, again)
    try:
        sys.stderr.flush()
    except Exception:
        pass
    os._exit(code)


def _stand_in():
    """Put /dev/null where a standard stream was closed (`>&-`), so that no file opened later takes its place."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), fd)
            setattr(sys, name, open(fd, "w" if fd else "r", closefd=False))


def _fallen(code, happened, capsule, arguments, again):
    """Say that the image HAPPENED to fall and where recovery is; start it where somebody can answer."""
    lines = [f"autolith: the image {happened}."]
    if capsule:
        lines.append(f"  what is known: {capsule}")
    lines.append("  to look at it and go on: autolith --recovery")
    print("\n".join(lines), file=sys.stderr)
    if again is not None or not all(os.isatty(fd) for fd in (0, 1, 2)):
        return code
    told = ["--status", str(code)] + (["--capsule", capsule] if capsule else [])
    for argument in arguments:
        told += ["--original-argument", argument]
    return recover(told)


if __name__ == "__main__":
    main()
