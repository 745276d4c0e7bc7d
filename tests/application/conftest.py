"""A session connects itself with the lower rooms for the whole process; each test here takes that back."""

import pytest

import hy  # noqa: F401  so that .hy modules are found
from autolith.application import session
from autolith.base import conditions
from autolith.tool import context


@pytest.fixture(autouse=True)
def disconnected():
    """Leave nobody to ask, no context and no session behind: the next test would wait for an answer for ever."""
    ask, provide, current = conditions.ask, context.provide, dict(session.current)
    yield
    conditions.ask, context.provide = ask, provide
    session.current.clear()
    session.current.update(current)
