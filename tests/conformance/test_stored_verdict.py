"""Is a verdict that takes another's place named, and the other one kept? Does a trace name one that it contradicts?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from conformance.cli import main
from conformance.commands.judgement import ended_otherwise
from conformance.record.digests import write_digests
from conformance.record.directory import as_text
from conformance.record.trace_check import TraceResult, TraceViolation
from conformance.record.verdict import Verdict
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.observation.healthy_runs import begin_run, healthy
from tests.conformance.run_files import change_run, read_json, write_json

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.directory import RunDirectory

ALLOWED = TraceResult("2.8.2 zookeeper", frames=7)
UNCHECKED = replace(ALLOWED, why_not="wire.ndjson is cut short")
VIOLATED = replace(
    ALLOWED, violation=TraceViolation(14, "high_watermark_of_leader", 9, 1.5, "it falls to 3", "4 or more", "a-rule")
)
CONFORMED = {"conformance": "CONFORMS", "promise": "KEPT", "reason": "35 numbers as predicted", "findings": []}
DEVIATED = {
    "conformance": "DEVIATES",
    "promise": "KEPT",
    "reason": "frame 9: it falls",
    "findings": [{"kind": "trace", "text": "frame 9: it falls"}],
}
NOT_CHECKED = {
    "conformance": "HARNESS_ERROR",
    "promise": None,
    "reason": "the wire trace was not checked: wire.ndjson is cut short",
    "findings": [],
}
ENDED_EARLY = {"conformance": "INCONCLUSIVE", "promise": None, "reason": "never at rest", "findings": []}


def whole(verdict: dict[str, Any]) -> Any:  # noqa: ANN401 - a JSON value
    """Return a verdict with everything that one has."""
    return json.loads(as_text(msgspec.convert(verdict, Verdict)))


@pytest.fixture
def unfinished(tmp_path: Path) -> RunDirectory:
    """Return a run that ended before its records were read, which is judged without Spark."""
    run = write_ideal_run(tmp_path)
    change_run(run, end_offset=None, harness_failure={"kind": "INCONCLUSIVE", "message": "never at rest"})
    (run.path / "reconciliation/counts.json").unlink()
    write_digests(run)
    return run


@pytest.fixture
def traced(tmp_path: Path) -> RunDirectory:
    run = begin_run(tmp_path)
    healthy().write(run.path)
    return run


def judged(run: RunDirectory, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["judge", str(run.path), *options]) == 3
    return capsys.readouterr().out


@pytest.mark.parametrize("as_json", [False, True])
def test_files_that_cannot_be_judged_leave_the_verdict_and_name_it(
    unfinished: RunDirectory, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    write_json(unfinished, "verdict.json", CONFORMED)
    (unfinished.path / "prediction/prediction.json").write_text("{}")
    assert main(["judge", str(unfinished.path), *(["--json"] if as_json else [])]) == 4

    said = capsys.readouterr().out
    assert stored(unfinished) == CONFORMED
    assert befores(unfinished) == []
    if as_json:
        assert json.loads(said)["before"] == {"kept_as": "verdict.json", **whole(CONFORMED)}
    else:
        assert said.splitlines()[-1] == "  verdict.json is left as it was: CONFORMS + KEPT (35 numbers as predicted)"


def stored(run: RunDirectory) -> dict[str, Any]:
    told: dict[str, Any] = read_json(run, "verdict.json")
    return told


def befores(run: RunDirectory) -> list[str]:
    return sorted(path.name for path in run.path.glob("verdict.before*"))


def test_a_verdict_that_stays_as_it_was_is_not_kept_twice(
    unfinished: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = judged(unfinished, capsys), judged(unfinished, capsys)

    assert first == second == f"{unfinished.path.name}: INCONCLUSIVE: never at rest\n"
    assert befores(unfinished) == []


def test_a_verdict_that_lacked_a_field_is_not_another(
    unfinished: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    judged(unfinished, capsys)
    stored = read_json(unfinished, "verdict.json")
    write_json(unfinished, "verdict.json", {name: told for name, told in stored.items() if name != "codes"})

    assert "judged before" not in judged(unfinished, capsys)
    assert befores(unfinished) == []


def test_another_verdict_is_named_and_kept(unfinished: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    judged(unfinished, capsys)
    now = read_json(unfinished, "verdict.json")
    before = now | DEVIATED
    write_json(unfinished, "verdict.json", before)
    said = judged(unfinished, capsys).splitlines()

    was = "DEVIATES + KEPT (frame 9: it falls)"
    assert said[-1] == f"  was {was} when it was judged before: kept as verdict.before.json"
    assert read_json(unfinished, "verdict.before.json") == whole(before)
    assert read_json(unfinished, "verdict.json") == now
    assert "judged before" not in judged(unfinished, capsys)
    assert befores(unfinished) == ["verdict.before.json"]


def test_no_verdict_of_before_is_lost(unfinished: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(unfinished, "verdict.json", DEVIATED)
    judged(unfinished, capsys)
    write_json(unfinished, "verdict.json", CONFORMED)
    told = json.loads(judged(unfinished, capsys, "--json"))

    assert told["conformance"] == "INCONCLUSIVE"
    assert told["before"] == {"kept_as": "verdict.before-2.json", **whole(CONFORMED)}
    assert read_json(unfinished, "verdict.before.json") == whole(DEVIATED)
    assert read_json(unfinished, "verdict.before-2.json") == whole(CONFORMED)


@pytest.mark.parametrize("damaged", ["{", "[]", None])
def test_a_run_without_a_verdict_that_can_be_read_is_judged(
    unfinished: RunDirectory, capsys: pytest.CaptureFixture[str], damaged: str | None
) -> None:
    if damaged is not None:
        (unfinished.path / "verdict.json").write_text(damaged, encoding="utf-8")

    assert judged(unfinished, capsys) == f"{unfinished.path.name}: INCONCLUSIVE: never at rest\n"
    assert read_json(unfinished, "verdict.json")["conformance"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("stored", "result", "differs"),
    [
        (CONFORMED, ALLOWED, False),
        (CONFORMED, VIOLATED, True),
        (CONFORMED, UNCHECKED, True),
        (DEVIATED, ALLOWED, True),
        (DEVIATED, VIOLATED, False),
        (DEVIATED, UNCHECKED, True),
        (NOT_CHECKED, ALLOWED, True),
        (NOT_CHECKED, VIOLATED, True),
        (NOT_CHECKED, UNCHECKED, False),
        (ENDED_EARLY, ALLOWED, False),
        (ENDED_EARLY, VIOLATED, True),
        (ENDED_EARLY, UNCHECKED, False),
    ],
)
def test_a_verdict_differs_from_a_trace_by_what_it_says_of_the_wire(
    traced: RunDirectory, stored: dict[str, Any], result: TraceResult, *, differs: bool
) -> None:
    assert ended_otherwise(traced, result) is None
    write_json(traced, "verdict.json", stored)

    assert (ended_otherwise(traced, result) is not None) is differs


def test_a_trace_names_the_verdict_that_it_contradicts(
    traced: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(traced, "verdict.json", DEVIATED)
    assert main(["trace", str(traced.path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main(["trace", str(traced.path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["trace", str(traced.path), "--rules-of", "2.8.2"]) == 0

    assert lines[-2] == "every event is one that the rules allow"
    was = "DEVIATES + KEPT (frame 9: it falls)"
    assert lines[-1] == f"its verdict says otherwise: {was}; `judge` judges the run again"
    assert told["judged_otherwise"] == was
    assert "otherwise" not in capsys.readouterr().out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_trace_that_cannot_be_read_names_the_verdict_that_was_reached(
    traced: RunDirectory, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    write_json(traced, "verdict.json", CONFORMED)
    (traced.path / "wire.ndjson").unlink()
    code = main(["trace", str(traced.path), *options])
    said = capsys.readouterr()

    assert code == 4
    assert "its verdict says otherwise: CONFORMS + KEPT (35 numbers as predicted)" in told_of(said.out, said.err)


def told_of(answer: str, complaint: str) -> str:
    """Return what was told of the verdict, in words or as JSON."""
    if not answer:
        return complaint
    return f"its verdict says otherwise: {json.loads(answer)['judged_otherwise']}"


def test_a_trace_that_a_verdict_agrees_with_says_nothing_of_it(
    traced: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(traced, "verdict.json", CONFORMED)
    assert main(["trace", str(traced.path)]) == 0

    assert capsys.readouterr().out.splitlines()[-1] == "every event is one that the rules allow"


@pytest.mark.parametrize("kind", ["scenario", "examination"])
def test_a_run_that_was_not_run_has_no_trace_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    run = begin_run(tmp_path)
    change_run(run, not_run="exists since Kafka 2.4.0: none before", kind=kind)
    (run.path / "schedule.json").unlink()
    assert main(["trace", str(run.path)]) == 0
    told = capsys.readouterr()
    assert main(["trace", str(run.path), "--json"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert main(["trace", str(run.path), "--events"]) == 0
    events = capsys.readouterr()

    assert (told.out, told.err) == ("run was not run: exists since Kafka 2.4.0: none before\n", "")
    assert as_json == {"is_checked": False, "not_run": "exists since Kafka 2.4.0: none before"}
    assert (events.out, events.err) == ("", f"kafka-conformance: {told.out}")
