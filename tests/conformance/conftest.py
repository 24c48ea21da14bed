"""What every test of the tester shares: an ideal run has no wire, so its trace is taken as checked.

kafka-python leaves the socket of a connection that was refused to the garbage collector: it is collected here, in tests
of what connects by it.
"""

from __future__ import annotations

import gc
import warnings
from typing import TYPE_CHECKING

import pytest

from conformance.observation.check import check_trace
from conformance.record.run import read_run
from conformance.record.trace_check import TraceResult, write_trace_check
from conformance.stages import judging
from tests.conformance.ideal_runs import IDEAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.directory import RunDirectory

IDEAL_FRAMES = 7
UNCLOSED = "ignore:.*unclosed <s"
CONNECTING = ("/audit/", "/attach/", "/clients/test_connecting.py")


def connects(item: pytest.Item) -> bool:
    return any(part in item.path.as_posix() for part in CONNECTING)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in filter(connects, items):
        item.add_marker(pytest.mark.filterwarnings(f"{UNCLOSED}:ResourceWarning"))


@pytest.fixture(autouse=True)
def refused_connections_are_collected(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if connects(request.node):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@pytest.fixture(autouse=True)
def ideal_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the trace of an ideal run count as checked; any other run is checked."""

    def checked(run: RunDirectory) -> TraceResult:
        about = read_run(run)
        if about.explanation != IDEAL:
            return check_trace(run)
        result = TraceResult(" ".join(about.rules), frames=IDEAL_FRAMES)
        write_trace_check(run, result)
        return result

    monkeypatch.setattr(judging, "check_trace", checked)
