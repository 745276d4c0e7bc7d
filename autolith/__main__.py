"""The active image: `main` runs the command line and returns the exit status for the shell."""

import sys

import autolith_launcher as launcher


def main(argv=None):
    """Run the program with the arguments ARGV; return its exit status. What escapes leaves a crash capsule, and 70."""
    return launcher.status_of(lambda: _image(sys.argv[1:] if argv is None else argv))


def _image(argv):
    """Run the command line ARGV."""
    launcher.when_ready.append(_seal)
    from autolith.door import main as door

    return door.main(argv)


def _seal():
    """Keep, in a while, a pristine copy of what has just proved to start."""
    import autolith
    from autolith.recovery import pristine

    pristine.later(autolith.__version__)


if __name__ == "__main__":
    launcher.main()
