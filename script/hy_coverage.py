"""Coverage of .hy files: a reporter for coverage.py, and the step that puts it in charge of them.

coverage.py records the lines of .hy files at full speed but leaves the files out of its reports. So the tests
run without a plugin; afterwards `python script/hy_coverage.py` marks what was recorded of .hy files as ours, adds
those that nobody imported, and `coverage report` (or html) with script/coverage.ini then counts them.
"""

import sys
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path

import hy  # noqa: F401  so that .hy files compile
from coverage import CoverageData, CoveragePlugin, FileReporter

ROOT = Path(__file__).resolve().parent.parent
NAME = "hy_coverage.HyPlugin"


class HyReporter(FileReporter):
    """Knows which lines of a .hy file hold code: those of its byte-code."""

    def lines(self):
        return set(code_lines(SourceFileLoader("_measured", self.filename).get_code("_measured")))


class HyPlugin(CoveragePlugin):
    """Reports the files that are marked with its name."""

    def file_reporter(self, filename):
        return HyReporter(filename)


def code_lines(code):
    """Yield the number of each line that CODE, or code inside it, was made of; docstrings and heads count once."""
    yield from (line for _, _, line in code.co_lines() if line)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from code_lines(const)


def mark(path):
    """Put the plugin in charge of the .hy files in the data file PATH, and add the modules that no test imported."""
    data = CoverageData(str(path))
    data.read()
    ours = {str(p) for folder in ("autolith", "recovery") for p in (ROOT / folder).rglob("*.hy")}
    seen = data.measured_files()
    data.add_file_tracers({p: NAME for p in ours & seen})
    data.touch_files(sorted(ours - seen), NAME)
    return len(ours & seen), len(ours - seen)


def coverage_init(registry, options):
    """Called by coverage.py."""
    registry.add_file_tracer(HyPlugin())


if __name__ == "__main__":
    measured, missed = mark(Path(sys.argv[1] if len(sys.argv) > 1 else ".coverage"))
    print(f"coverage: {measured} Hy modules measured, {missed} never imported")
