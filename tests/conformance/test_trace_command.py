"""Does ``trace`` tell the wire of a run, and answer what the model says of it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from oracle.tracing.observed import FetchSent
from tests.conformance.observation.event_reading import event_from_json
from tests.conformance.observation.healthy_runs import begin_run, healthy
from tests.conformance.observation.wire_files import MS

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.directory import RunDirectory

NOTES = (
    {"t_ns": 4 * MS, "step": 0, "event": "step_started", "subject": "hold", "text": "hold the next FETCH"},
    {"t_ns": 5 * MS, "step": 0, "event": "hold_caught", "subject": "gap", "text": "gap: caught at fetch offset 0"},
)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = begin_run(tmp_path)
    healthy().write(run.path)
    (run.path / "timeline.ndjson").write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    return run


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["trace", *arguments])
    return code, capsys.readouterr().out


def test_the_wire_is_told_step_by_step(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = answer(capsys, str(run.path))
    assert code == 0
    lines = told.splitlines()
    step = lines.index("step 1: hold the next FETCH")
    assert "    0.000 #1      broker 1 hears: broker 1 leads, epoch 0, ISR [1, 2], partition epoch 0" in lines[:step]
    assert lines[step + 1].strip() == "hold gap: caught at fetch offset 0"
    assert "    0.004 #5      broker 2 fetches at broker 1 from offset 0 (epoch 0)" in lines[step:]
    assert "    0.007 #8        broker 1 answers broker 2: high watermark 0, records at 0 of epoch 0" in lines
    assert "  (1 more fetch of broker 2 at broker 1, no news)" in told
    assert "10 frames, of which the model was shown 6 Fetch, 4 LeaderAndIsr; " in told
    assert "  22    never exercised  the high watermark stands still" in told
    assert lines[-1] == "every event is one that the rules allow"


def test_all_tells_what_is_no_news(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    _, told = answer(capsys, str(run.path), "--all")
    assert told.count("broker 2 fetches at broker 1 from offset 0") == 2
    assert "the leader has the request" in told


def test_the_rules_of_another_release_refuse_it_at_a_frame(
    run: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = answer(capsys, str(run.path), "--rules-of", "0.10.2")
    assert code == 1
    assert "^ no rule allows this" in told
    assert "\nnot allowed: frame 5: " in told
    assert "\n>     0.004 #5     node 2 to node 1, Fetch v12" in told
    assert "\nby the rules of 0.10.2.2 zookeeper, until the check stopped at frame 5:\n" in told
    assert "  15      not looked at  acks=all succeeds" in told
    assert "  24             broken  a broker sends only requests" in told
    assert "never exercised" not in told
    assert told.endswith(
        "\nthe check stopped at frame 5, where these rules expect version 3; nothing after it was looked at\n"
    )
    _, as_json = answer(capsys, str(run.path), "--rules-of", "0.10.2", "--json")
    assert json.loads(as_json)["is_whole"] is False


def test_json_is_what_the_check_writes(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = answer(capsys, str(run.path), "--json")
    said = json.loads(told)
    assert (code, said["is_checked"], said["violation"], said["frames"]) == (0, True, None, 10)
    assert not (run.path / "trace_check.json").exists()


def test_the_events_alone(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = answer(capsys, str(run.path), "--events")
    events = [event_from_json(json.loads(line)) for line in told.splitlines()]
    assert code == 0
    assert [event.fetch_offset for event in events if isinstance(event, FetchSent)] == [0, 0, 1]


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--events",)])
def test_a_trace_cut_short_is_not_checked(
    run: RunDirectory, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    path = run.path / "wire.ndjson"
    path.write_bytes(path.read_bytes()[:-10])
    code, _ = answer(capsys, str(run.path), *arguments)
    assert code == 4


def test_a_trace_that_misses_a_frame_is_told_and_not_checked(
    run: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = run.path / "wire.ndjson"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:8] + lines[9:]))
    code, told = answer(capsys, str(run.path))
    assert code == 4
    assert "not checked: wire.ndjson holds 9 lines of frames, it was ended with 10" in told
    assert ", as far as the trace could be checked:" in told
    assert "  22      not looked at  the high watermark stands still" in told


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--events",)])
def test_a_frame_with_other_fields_is_not_checked(
    run: RunDirectory, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    path = run.path / "wire.ndjson"
    frames = [json.loads(line) for line in path.read_text().splitlines()]
    frames[6]["decoded"] = {"replicas": []}
    path.write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    code = main(["trace", str(run.path), *arguments])
    assert code == 4
    assert "Traceback" not in capsys.readouterr().err
