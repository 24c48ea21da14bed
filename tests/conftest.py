"""What do all tests take for granted about the process they run in, and which of them share one?"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from xdist.scheduler import LoadFileScheduling

# A shell has its background jobs ignore SIGINT, and children inherit that: no Ctrl-C would reach a tester under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that is busy is no reason to fail: no example has a deadline of its own, and none is too slow to be made.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

TOGETHER = ("tests/conformance/reconcile/", "tests/integration/puppets/")
"""Folders whose files share what takes long to start: a Spark session; brokers that play every examination once."""


@pytest.hookimpl(optionalhook=True)  # without xdist the tests run one after the other, in one process
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling | None:
    """Keep the tests of one file in one lane, which starts their clusters once, and so those of some folders."""
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - xdist alone calls this

    class Lanes(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))

    return Lanes(config, log) if config.getvalue("dist") == "loadfile" else None
