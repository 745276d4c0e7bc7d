"""Recovery: say what crashed and what is left, and offer ways to go on. Changes nothing.

Plain Python, so that it runs where Hy does not; what lies in data forms is read through Hy where that works.
"""

import os
import sys

import autolith_capsule as capsule
import autolith_launcher as launcher

USAGE = """usage: autolith --recovery [--list] [--capsule PATH] [--status CODE] [--no-init] [-- ARGUMENTS]

  --list            list conversations, newest first, each with the command that resumes it
  --capsule PATH    show this crash capsule instead of the newest
  --status CODE     the status that the crashed image ended with; leaving recovery returns it
  --original-argument ARG   an argument the crashed image was started with (repeatable)
  --no-init         start a session without init.hy at once, with the ARGUMENTS after `--`
  --help            this text

Without options, on a terminal, recovery shows the last crash and the conversations, and asks how to go on."""

START = """
import sys
root, sys.dont_write_bytecode, before = sys.argv.pop(1), True, sys.dont_write_bytecode
sys.path.insert(0, root)
import autolith_launcher, autolith_bytecode
sys.dont_write_bytecode = before
autolith_launcher.main()
"""


class Usage(Exception):
    """The command line cannot be understood."""


def options(argv):
    """The map of options that ARGV gives."""
    given = {"list": False, "no_init": False, "help": False, "capsule": None, "status": None, "original": [],
             "rest": []}
    argv = list(argv)
    while argv:
        name, equals, value = argv.pop(0).partition("=")
        if name == "--":
            given["rest"] = argv
            break
        if name in ("--list", "--no-init", "--help", "-h") and not equals:
            given["help" if name == "-h" else name[2:].replace("-", "_")] = True
        elif name in ("--capsule", "--status", "--original-argument"):
            if not equals:
                if not argv:
                    raise Usage(f"{name} needs a value")
                value = argv.pop(0)
            if name == "--original-argument":
                given["original"].append(value)
            elif name == "--capsule":
                given["capsule"] = value
            elif value.isdigit() and int(value) < 256:
                given["status"] = int(value)
            else:
                raise Usage(f"--status needs a number from 0 to 255, not {value}")
        else:
            raise Usage(f"unknown option {name}")
    return given


# * What happened


def read_form(text):
    """The data form TEXT as a map, or None where it or the reader is damaged."""
    try:
        import hy  # noqa: F401
        from autolith.base import forms

        value = forms.read_one(text)
        return value if isinstance(value, dict) else None
    except Exception:
        return None


def clean(text, most):
    """TEXT without control characters, which a terminal would obey, at most MOST characters."""
    text = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in str(text))
    return text if len(text) <= most else text[:most] + " ..."


def about_capsule(path):
    """Lines that say what the crash capsule PATH holds."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read(1 << 20)
    except OSError as e:
        return [f"  the crash report {path} cannot be read: {e.strerror}"]
    crash = read_form(text)
    if crash is None:
        return ["  " + line for line in clean(text, 4000).splitlines()] + [f"  ({path})"]
    lines = [f"  {crash.get('time', '')}  {_headline(crash)}"]
    for error in crash.get("errors") or []:
        lines.append(f"  {clean(error.get('type', ''), 100)}: {clean(error.get('message', ''), 500)}")
        for frame in (error.get("frames") or [])[-5:]:
            lines.append(f"    {frame.get('file')}:{frame.get('line')} in {frame.get('function')}")
    dump = clean(crash.get("dump") or "", 100_000).splitlines()
    lines += ["    " + line for line in dump[:24]]
    return lines + [f"  whole report: {path}"]


def _headline(crash):
    """One line on the map CRASH."""
    if crash.get("kind") == "signal":
        return f"the image was ended by {crash.get('signal')}"
    if crash.get("kind") == "start":
        return f"the image ended with status {crash.get('status')} before it was ready"
    return "the image crashed"


# * What is left


def conversations(count):
    """At most COUNT conversations, newest first, as maps; where Hy does not run, only id and time."""
    folder = os.path.join(capsule.roots("data"), "conversations")
    try:
        import hy  # noqa: F401
        from autolith.recovery import conversations as reader

        return reader.newest(folder, count)
    except Exception:
        pass
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.stat().st_mtime, reverse=True)
    except OSError:
        return []
    return [{"id": e.name, "time": "", "preview": "", "directory": None} for e in entries[:count] if e.is_dir()]


def listed(found):
    """Lines that list the conversations FOUND with their resume commands."""
    if not found:
        return ["  none"]
    lines = []
    for one in found:
        lines.append(f"  {str(one['time'])[:16].replace('T', ' '):16}  {clean(one['preview'], 60) or '(nothing said)'}")
        where = f"cd {_quoted(one['directory'])} && " if one["directory"] else ""
        lines.append(f"    {where}autolith resume {one['id']}")
    return lines


def _quoted(text):
    """TEXT as one word for a shell, with control characters shown."""
    import shlex

    return shlex.quote(clean(text, 4096))


def _command(arguments):
    """The command line that starts the program with ARGUMENTS."""
    return " ".join(["autolith", *map(_quoted, arguments)])


# * Ways to go on


def choices(found, original):
    """A list of [words arguments] for ways to go on, given the conversations FOUND and the ORIGINAL arguments."""
    ways = []
    if found:
        newest = found[0]["id"]
        ways.append((f"go on with conversation {newest}, without init.hy", ["--no-init", "resume", newest],
                     found[0]["directory"]))
    ways.append(("start a new session, without init.hy", ["--no-init"], None))
    ways.append(("start again as before", list(original), None))
    return ways


def start(arguments, directory=None):
    """Become a new image started with ARGUMENTS, in DIRECTORY if it still exists; the code comes from where we run."""
    if directory and os.path.isdir(directory):
        os.chdir(directory)
    root = os.path.dirname(os.path.abspath(launcher.__file__))
    os.environ["AUTOLITH_RECOVERED"] = "1"
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-c", START, root, *arguments])


def ask(ways):
    """Ask which of WAYS to go; return it, or None to leave."""
    for number, (words, arguments, _) in enumerate(ways, 1):
        print(f"  {number}  {words}   ({_command(arguments)})")
    print("  q  leave")
    while True:
        try:
            answer = input("recovery> ").strip().lower()
        except (EOFError, KeyboardInterrupt):
            print()
            return None
        if answer in ("q", "quit", "exit"):
            return None
        if answer.isdigit() and 1 <= int(answer) <= len(ways):
            return ways[int(answer) - 1]
        print(f"Type a number from 1 to {len(ways)}, or q.")


def show(given, found):
    """Print what happened and what is left."""
    path = given["capsule"] or capsule.newest()
    print("autolith recovery: reads, and changes nothing")
    print("\nWhat happened")
    if given["status"] is not None:
        print(f"  the image ended with status {given['status']}")
    if path is None:
        print("  no crash was recorded")
    else:
        print("\n".join(about_capsule(path)))
    print("\nConversations, newest first (everything said and done is on disk)")
    print("\n".join(listed(found)))


def main(argv):
    """Run recovery with the arguments ARGV; return the exit status."""
    try:
        given = options(argv)
    except Usage as e:
        print(f"autolith --recovery: {e}\n\n{USAGE}", file=sys.stderr)
        return 64
    if given["help"]:
        print(USAGE)
        return 0
    if given["no_init"]:
        start(["--no-init", *given["rest"]])
    try:
        if given["list"]:
            print("\n".join(listed(conversations(1000))))
            return 0
        return _guide(given)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141


def _guide(given):
    """Show everything and, on a terminal, ask how to go on; return the exit status."""
    found = conversations(8)
    show(given, found)
    ways = choices(found, given["original"] + given["rest"])
    print("\nTo go on")
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        for words, arguments, directory in ways:
            print(f"  {words}: {_command(arguments)}")
        return given["status"] or 0
    chosen = ask(ways)
    if chosen is not None:
        start(chosen[1], chosen[2])
    return given["status"] or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
