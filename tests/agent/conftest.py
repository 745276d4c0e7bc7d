"""Give every test of this folder the tools of the namespace `lab`, and take them away again."""

import hy  # noqa: F401 - makes .hy importable
import pytest


@pytest.fixture(autouse=True)
def laboratory(roots):
    from autolith.tool import registry
    from tests.agent import lib

    before = registry.snapshot()
    lib.install()
    lib.reset()
    yield
    registry.restore(before)
