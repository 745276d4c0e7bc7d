"""The active image: `main` runs the command line and returns the exit status for the shell."""

import os
import sys


def main(argv=None):
    """Run the program with the arguments ARGV; return its exit status.

    What escapes leaves a crash capsule, and 70. A reader that went away (`| head`) ends the program quietly with
    141, Ctrl-C with 130.
    """
    try:
        import autolith_launcher as launcher

        launcher.when_ready.append(_seal)
        try:
            from autolith.door import main as door

            status = door.main(sys.argv[1:] if argv is None else argv)
        finally:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None and not stream.closed:
                    stream.flush()
        launcher.ready()
        return 0 if status is None else status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _abandon_stdout()
        return 141
    except SystemExit as e:
        return _status(e.code)
    except BaseException as e:
        return _crashed(e)


def _seal():
    """Keep, in a while, a pristine copy of what has just proved to start."""
    import autolith
    from autolith.recovery import pristine

    pristine.later(autolith.__version__)


def _status(code):
    """The exit status that the argument CODE of SystemExit stands for."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _abandon_stdout():
    """Point standard output at nothing, so that no later flush finds the closed pipe again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except OSError:
        pass


def _crashed(error):
    """Leave a crash capsule about ERROR, show its traceback, and return 70."""
    import traceback

    import autolith_launcher as launcher

    launcher.capsule_of(error)
    try:
        traceback.print_exception(error)
    except Exception:
        pass
    return launcher.CRASH


if __name__ == "__main__":
    import autolith_launcher

    autolith_launcher.main()
