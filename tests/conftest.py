"""What do all tests take for granted about the process they run in, and which of them share one?"""

from __future__ import annotations

import signal

import pytest

# A shell has its background jobs ignore SIGINT, and children inherit that: no Ctrl-C would reach a tester under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of one file in one lane, which starts their clusters once; a file may name a larger group."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(item.config.rootpath).as_posix()))
