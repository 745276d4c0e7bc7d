"""Collect test_*.hy files, explain their failed assertions, and keep every test inside folders of its own."""

import ast
import os
import sys
import types
from pathlib import Path

import hy
import pytest
from _pytest.assertion import rewrite
from hy.compiler import hy_compile
from hy.reader import read_many


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".hy" and file_path.name.startswith("test_"):
        return pytest.Module.from_parent(parent, path=file_path)


def parse(source, filename="<unknown>", *args, **kwargs):
    """ast.parse, but of Hy where the file is Hy."""
    if not str(filename).endswith(".hy"):
        return ast.parse(source, filename, *args, **kwargs)
    text = source.decode()
    return hy_compile(read_many(text, filename=filename, skip_shebang=True),
                      types.ModuleType("hy_test"), filename=filename, source=text)


rewrite.ast = types.SimpleNamespace(**{**vars(ast), "parse": parse})

SECRET_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


@pytest.fixture(autouse=True)
def roots(monkeypatch, tmp_path_factory):
    """Give each test XDG roots of its own, and no credentials of the machine's."""
    base = tmp_path_factory.mktemp("xdg")
    for kind in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(base / kind.lower()))
    for name in list(os.environ):
        if name.startswith("AUTOLITH_") or name in SECRET_VARIABLES:
            monkeypatch.delenv(name)
    return base


@pytest.fixture(autouse=True)
def nobody_asked():
    """Leave no session behind that later tests would ask, or be answered by, and no names in the user's module."""
    known = set(vars(sys.modules.get("autolith.user", sys)))
    yield
    user = sys.modules.get("autolith.user")
    for name in [] if user is None else [n for n in vars(user) if n not in known and not n.startswith(("_hy", "__"))]:
        delattr(user, name)
    for name, attribute in (("base.conditions", "ask"), ("tool.context", "provide")):
        module = sys.modules.get(f"autolith.{name}")
        if module is not None:
            setattr(module, attribute, None)
    session = sys.modules.get("autolith.application.session")
    if session is not None:
        session.current["session"] = None
