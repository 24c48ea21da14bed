"""What every test of the tester shares: an ideal run has no wire, so its trace is taken as checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.observation.check import check_trace, own_rules
from conformance.observation.trace_result import TRACE_CHECK_FILE, TraceResult
from conformance.stages import judging

if TYPE_CHECKING:
    from conformance.run_directory import RunDirectory

IDEAL_FRAMES = 7


@pytest.fixture(autouse=True)
def ideal_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the trace of an ideal run count as checked; any other run is checked."""

    def checked(run: RunDirectory) -> TraceResult:
        about = run.read_json("run.json")
        if not about.get("is_ideal"):
            return check_trace(run)
        result = TraceResult(" ".join(own_rules(about)), frames=IDEAL_FRAMES)
        run.write_json(TRACE_CHECK_FILE, result.as_json())
        return result

    monkeypatch.setattr(judging, "check_trace", checked)
