"""The files of a run as plain JSON, read and changed behind the typed record's back: what a doctoring does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.record.digests import write_digests
from conformance.stages import judging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.expectations import AcceptedFinding
    from conformance.record.directory import RunDirectory
    from conformance.record.verdict import Verdict


def read_json(run: RunDirectory, name: str) -> Any:  # noqa: ANN401 - a JSON value
    """Read a JSON file."""
    return json.loads((run.path / name).read_text(encoding="utf-8"))


def write_json(run: RunDirectory, name: str, value: object) -> None:
    """Write a JSON file."""
    path = run.path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


BEGUN: dict[str, object] = {
    "format": 2,
    "kafka": "4.3.1",
    "metadata": "kraft",
    "run": "20260101T000000-4.3.1-kraft-tr-01",
    "scenario": "TR-01",
    "explanation": "",
    "basis": "predicted",
    "backend": "process",
    "seed": 0,
    "started": "2026-01-01T00:00:00+00:00",
    "digests": {"jars": "0"},
    "environment": {"java": "17", "python": "3.11", "os": "Linux", "cores": 2, "tester": "0"},
}
"""What run.json says when a run begins."""


def change_run(run: RunDirectory, **fields: object) -> None:
    """Change fields of run.json, or begin it."""
    write_json(run, "run.json", (read_json(run, "run.json") if run.has("run.json") else BEGUN) | fields)


def read_lines(run: RunDirectory, name: str) -> list[dict[str, Any]]:
    """Read a file of one JSON value a line; none if it is not there."""
    path = run.path / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def write_lines(run: RunDirectory, name: str, lines: list[dict[str, Any]]) -> None:
    """Write one JSON value a line."""
    (run.path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def judged(run: RunDirectory, accepted: Sequence[AcceptedFinding] = ()) -> Verdict:
    """Judge a run whose files may have been changed, and their digests with them."""
    write_digests(run)
    return judging.judge_run(run, accepted)


def ended_in(run: RunDirectory, step: int, *, failure: dict[str, Any]) -> None:
    """Let a run have ended early, while it took a step."""
    change_run(run, harness_failure=failure, end_offset=None)
    marks = read_lines(run, "timeline.ndjson")
    kept = [one for one in marks if one.get("step") is not None and one["step"] < step]
    started = next(one for one in marks if (one.get("step"), one["event"]) == (step, "step_started"))
    write_lines(run, "timeline.ndjson", [*kept, started])
    seen = read_lines(run, "observations.ndjson")
    write_lines(run, "observations.ndjson", [one for one in seen if one["kind"] == "outcome" or one["step"] < step])
