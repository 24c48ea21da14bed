"""What every test of the tester shares: an ideal run has no wire, so its trace is taken as checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.observation.check import check_trace
from conformance.record.run import read_run
from conformance.record.trace_check import TraceResult, write_trace_check
from conformance.stages import judging
from tests.conformance.ideal_runs import IDEAL

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

IDEAL_FRAMES = 7


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
