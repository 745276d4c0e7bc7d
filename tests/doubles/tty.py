"""A program in a real pseudo-terminal, read back as the screen that a person would see.

Wait for what is on the screen, never for bytes and never for a time:

    with Tty(["autolith"], rows=24, columns=80) as tty:
        tty.until(r"^❯")
        tty.line("(+ 20 22)")
        tty.until(r"^= 42$")

Lines are stripped on the right, so an empty prompt `❯ ` is the pattern `^❯$`. Text and Enter
must not leave in one write: a burst with a carriage return is a paste, as in life. `line` types,
waits for the echo and only then presses Enter."""

import os
import re
import select
import signal
import termios
import time

import pexpect
import pyte

# pyte loses the rest of a chunk after these.
LOST = re.compile("[\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f]")

KEYS = {
    "enter": "\r", "escape": "\x1b", "tab": "\t", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C",
    "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F", "backspace": "\x7f", "delete": "\x1b[3~",
    "newline": "\n", "back-tab": "\x1b[Z", "alt-enter": "\x1b\r",
}


class Screen(pyte.HistoryScreen):
    """A screen with scrollback that survives what pyte cannot draw."""

    def draw(self, data):
        super().draw(LOST.sub("", data))

    def report_device_attributes(self, mode=0, **kwargs):
        if not kwargs:
            super().report_device_attributes(mode)

    def resize(self, lines=None, columns=None):
        """Change the size as terminals do: rows that no longer fit go to the scrollback."""
        lines = lines or self.lines
        surplus = max(0, self.cursor.y + 1 - lines)
        if surplus:
            for row in range(surplus):
                self.history.top.append(self.buffer[row])
            for row in range(self.lines):
                self.buffer[row] = self.buffer[row + surplus]
            self.cursor.y -= surplus
        if lines < self.lines:
            for row in range(lines, self.lines):
                self.buffer.pop(row, None)
            self.lines = lines
        row, column = self.cursor.y, self.cursor.x
        super().resize(lines, columns)
        self.cursor.y, self.cursor.x = min(row, self.lines - 1), min(column, self.columns - 1)


class Tty:
    """The program ARGV in a pseudo-terminal of ROWS by COLUMNS, with ENV added to the environment.

    A variable given as None is removed."""

    def __init__(self, argv, rows=24, columns=80, cwd=None, **env):
        self.screen = Screen(columns, rows, history=20000, ratio=0.5)
        self.stream, self.ended, self.raw = pyte.ByteStream(self.screen), False, bytearray()
        settings = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", **env}
        settings = {name: str(value) for name, value in settings.items() if value is not None}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        self.child = pexpect.spawn(str(argv[0]), [str(a) for a in argv[1:]], dimensions=(rows, columns), timeout=None,
                                   cwd=None if cwd is None else str(cwd), env=settings)
        self.child.delaybeforesend = None
        self.child.ptyproc.delayafterclose = self.child.ptyproc.delayafterterminate = 0.02
        # Answers to cursor and device queries.
        self.screen.write_process_input = self.send

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the program and everything in its group, and close the terminal."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        end = time.monotonic() + 5
        while self.child.isalive() and time.monotonic() < end:
            self.pump(0.01)
        self.child.close(force=True)

    # What arrives

    def pump(self, wait=0.0):
        """Feed what arrives within WAIT seconds to the screen; True if there was anything."""
        try:
            data = self.child.read_nonblocking(65536, wait)
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            self.ended = True
            return False
        self.raw += data
        self.stream.feed(data)
        return True

    def text(self):
        """What the screen shows, without blanks at the ends of lines and rows at its end."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def history(self):
        """The scrollback and the screen as one text."""
        above = ["".join(row[x].data for x in range(self.screen.columns)).rstrip() for row in self.screen.history.top]
        return "\n".join(above + [self.text()])

    def rows(self):
        """The scrollback and the screen as a list of lines."""
        return self.history().split("\n")

    def until(self, pattern, timeout=20.0, quiet=0.0, everywhere=False):
        """Wait until PATTERN is on the screen (EVERYWHERE: or in the scrollback).

        With QUIET, also wait until nothing more arrived for that many seconds."""
        end, since = time.monotonic() + timeout, None
        read = self.history if everywhere else self.text
        while True:
            fresh, now = self.pump(0.02), time.monotonic()
            hit = re.search(pattern, read(), re.M)
            since = None if not hit else now if fresh or since is None else since
            if hit and now - since >= quiet:
                return
            if now > end or (self.ended and not hit):
                raise AssertionError(f"no {pattern!r} on\n{read()}")

    def gone(self, pattern, timeout=20.0):
        """Wait until PATTERN is no longer on the screen."""
        end = time.monotonic() + timeout
        while re.search(pattern, self.text(), re.M):
            if time.monotonic() > end or self.ended:
                raise AssertionError(f"still {pattern!r} on\n{self.text()}")
            self.pump(0.02)

    def settle(self, quiet=0.2, timeout=20.0):
        """Wait until nothing arrived for QUIET seconds; return the screen."""
        self.until(r"", timeout=timeout, quiet=quiet)
        return self.text()

    def cursor(self):
        """The row and the column of the cursor, from 0."""
        return self.screen.cursor.y, self.screen.cursor.x

    # What is sent

    def send(self, text):
        """Write TEXT, a string or bytes, in one go if the terminal takes it, feeding the screen meanwhile."""
        data = text.encode() if isinstance(text, str) else bytes(text)
        while data:
            writable = select.select([], [self.child.child_fd], [], 0.05)[1]
            if writable:
                data = data[os.write(self.child.child_fd, data[:4096] if len(data) > 4096 else data):]
            if len(data) > 0:
                self.pump(0.0)

    def key(self, *names):
        """Press the keys NAMES one after another, each on its own; a letter with `c-` is with Control."""
        for name in names:
            self.send(KEYS.get(name) or (chr(ord(name[2].upper()) ^ 64) if name.startswith("c-") else name))
            self.rest()

    def rest(self, seconds=0.045):
        """Leave a pause as between two key presses, so that they are no burst."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump(0.01)

    def type(self, text):
        """Write TEXT, without a line end, and wait for its last part to be shown."""
        self.send(text)
        shown = r"(?:\n\s*)?".join(map(re.escape, text.split("\n")[-1].strip()[-12:]))  # it may be wrapped
        if shown:
            self.until(shown)
        self.rest()

    def line(self, text):
        """Type TEXT and press Enter as a key of its own."""
        self.type(text)
        self.key("enter")

    def resize(self, rows, columns):
        """Change the size of the terminal."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    # The process

    def kill(self, number):
        """Send the signal NUMBER to the program."""
        os.kill(self.child.pid, number)

    def status(self, timeout=20.0):
        """Wait for the end of the program; return its exit status, 128 more than a signal that ended it."""
        end = time.monotonic() + timeout
        while self.child.isalive():
            self.pump(0.02)
            if time.monotonic() > end:
                raise AssertionError(f"still running:\n{self.text()}")
        while self.pump(0.05):
            pass
        return self.child.exitstatus if self.child.signalstatus is None else 128 + self.child.signalstatus

    def modes(self):
        """The terminal's modes as a map: echo, canonical, signals, output."""
        attributes = termios.tcgetattr(self.child.child_fd)
        local, output = attributes[3], attributes[1]
        return {"echo": bool(local & termios.ECHO), "canonical": bool(local & termios.ICANON),
                "signals": bool(local & termios.ISIG), "output": bool(output & termios.OPOST)}
