"""Is a trace replayed by the rules of its release, and is one that cannot be replayed never passed?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.line import line_named
from conformance.observation import check
from conformance.observation.check import check_trace
from conformance.record.directory import as_text
from oracle.tracing import replica
from tests.conformance.observation.healthy_runs import OWN, begin_run, healthy
from tests.conformance.run_files import read_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.record.directory import RunDirectory
    from conformance.record.trace_check import TraceResult
    from oracle.rules.rule_set import RuleSet
    from tests.conformance.observation.wire_files import WireFile


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return begin_run(tmp_path)


def checked(run: RunDirectory, wire: WireFile, rules_of: RuleSet | None = None) -> TraceResult:
    wire.write(run.path)
    result = check_trace(run, rules_of)
    assert read_json(run, "trace_check.json") == json.loads(as_text(result))
    return result


def test_a_trace_that_the_rules_allow_is_checked(run: RunDirectory) -> None:
    result = checked(run, healthy())
    assert (result.why_not, result.violation, result.rules_of) == (None, None, " ".join(OWN))
    assert (result.frames, dict(result.checked)) == (10, {"Fetch": 6, "LeaderAndIsr": 4})
    held = {invariant.number: invariant.held for invariant in result.invariants}
    assert held[14] > 0
    assert held[16] > 0
    assert held[22] == 0
    assert min(held) == 14


def test_a_high_watermark_beyond_the_follower_is_a_violation_at_its_frame(run: RunDirectory) -> None:
    result = checked(run, healthy((0, 1, 1)))
    violation = result.violation
    assert violation is not None
    assert (violation.invariant, violation.name, violation.frame) == (14, "high_watermark_of_leader", 8)
    assert [frame.seq for frame in violation.frames][-4:] == [7, 8, 9, 10]
    assert violation.text.startswith("frame 8: ")
    written = read_json(run, "trace_check.json")["violation"]
    assert written["frame"] == 8
    assert (
        "node 1 to node 2, answer to Fetch v12: the leader answers: high watermark 1" in written["frames"][-3]["text"]
    )


def test_the_rules_of_another_release_refuse_it(run: RunDirectory) -> None:
    result = checked(run, healthy(), line_named("0.10.2.2").rules)
    assert result.rules_of == "0.10.2.2 zookeeper"
    assert result.violation is not None


def test_a_partition_whose_creation_is_not_shown_is_not_checked(run: RunDirectory) -> None:
    result = checked(run, healthy(created=False))
    assert result.why_not == "it does not show how t-0 came to be"


def test_a_partition_that_is_left_open_is_not_checked(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "POSSIBLE_MAX", 1)
    why_not = checked(run, healthy()).why_not
    assert why_not is not None
    assert why_not.startswith("what it shows of t-0 was left open: more than 1 possibilities of what the replica of")


def without_trace(path: Path) -> None:
    path.unlink()


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def one_frame_less(path: Path) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:6] + lines[7:]))


def one_frame_undecoded(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[6]["decoded"] = None
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    ("doctor", "why_not"),
    [
        (without_trace, "wire.ndjson cannot be read: No such file or directory"),
        (cut_short, "wire.ndjson is cut short: it does not end with the line that ends a trace"),
        (one_frame_less, "wire.ndjson holds 9 lines of frames, it was ended with 10"),
        (one_frame_undecoded, "frame 7 (Fetch v12 request) was not decoded"),
    ],
)
def test_a_trace_that_is_not_whole_is_not_checked(
    run: RunDirectory, doctor: Callable[[Path], None], why_not: str
) -> None:
    doctor(healthy().write(run.path))
    assert check_trace(run).why_not == why_not


def test_what_missing_frames_may_have_allowed_is_no_violation(run: RunDirectory) -> None:
    path = healthy((0, 1, 1)).write(run.path)
    assert check_trace(run).violation is not None
    path.write_text(path.read_text().replace('"lines":10', '"lines":11'))
    result = check_trace(run)
    assert result.why_not == "wire.ndjson holds 10 lines of frames, it was ended with 11"
    assert result.violation is None


def test_a_check_that_breaks_down_passes_nothing(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(check.TraceCheck):
        def feed(self, event: Any) -> Any:  # noqa: ANN401
            raise ZeroDivisionError(type(event).__name__)

    monkeypatch.setattr(check, "TraceCheck", Broken)
    result = checked(run, healthy())
    assert result.why_not == "defect in the tester, at event 1: ZeroDivisionError('MinIsrSet')"
