"""Does ``compare`` say in what two runs differ, and where their wires part?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.cli import main
from tests.conformance.judgement.recorded_runs import unpacked
from tests.conformance.observation.healthy_runs import begin_run, healthy
from tests.conformance.observation.wire_files import MS
from tests.conformance.run_files import change_run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from conformance.record.directory import RunDirectory

STEP = {"t_ns": 6 * MS, "step": 0, "event": "step_started", "subject": "checkpoint", "text": "checkpoint end"}


def run_in(directory: Path, frames: int | None = None, **about: object) -> RunDirectory:
    directory.mkdir()
    run = begin_run(directory)
    wire = healthy()
    wire.entries = wire.entries[:frames]
    wire.write(run.path)
    (run.path / "timeline.ndjson").write_text(json.dumps(STEP) + "\n")
    change_run(run, **about)
    return run


def compared(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["compare", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_two_runs_that_went_alike_do_not_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = compared(capsys, run_in(tmp_path / "a").path, run_in(tmp_path / "b").path)
    assert code == 0
    assert told.splitlines()[-1] == "the wires say the same, and nothing else differs"


def test_settings_and_the_first_other_word_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user = {"imposed": {}, "user": {"min.insync.replicas": "2"}}
    whole, cut = run_in(tmp_path / "a"), run_in(tmp_path / "b", frames=8, settings=user)
    code, told = compared(capsys, whole.path, cut.path)
    assert code == 1
    assert "\nsetting min.insync.replicas\n  A: nothing\n  B: 2\n" in told
    assert told.endswith(
        "\nthe wires part first between broker 2 and its leader 1\n"
        "  A: broker 2 fetches at broker 1 from offset 1 (epoch 0, last fetched epoch 0) (step 1: checkpoint end)\n"
        "  B: nothing new after: broker 1 answers: high watermark 0, records at 0 of epoch 0 (step 1: checkpoint end)\n"
    )
    _, as_json = compared(capsys, whole.path, cut.path, "--json")
    answer = json.loads(as_json)
    assert answer["differences"][0]["what"] == "setting min.insync.replicas"
    assert answer["partings"][0]["conversation"] == "broker 2 and its leader 1"


def test_what_one_run_alone_says_was_never_said_in_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, cut = run_in(tmp_path / "a"), run_in(tmp_path / "b", frames=4)
    _, told = compared(capsys, whole.path, cut.path)
    assert "  B: nothing in the whole run\n" in told


def test_a_record_that_was_acknowledged_at_another_offset_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = (unpacked(f"{version}-tr-01", tmp_path / version) for version in ("0.10.2.2", "4.4.0"))
    _, told = compared(capsys, old.path, new.path)
    assert ("\nrecord m2\n  A: acknowledged at offset 1, present\n  B: acknowledged at offset 2, present\n") in told
    assert "\nrecord m0\n" not in told
    producers = told[told.index("in what producers are told") :].splitlines()[1:3]
    assert [line.split(" (step 14")[0] for line in producers] == [
        f"  {run}: a producer's record is acknowledged at {offset} (acks=all)" for run, offset in (("A", 1), ("B", 2))
    ]


def test_a_wire_that_cannot_be_read_is_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, broken = run_in(tmp_path / "a"), run_in(tmp_path / "b")
    (trace,) = broken.path.glob("wire.ndjson*")
    trace.unlink()
    assert main(["compare", str(whole.path), str(broken.path)]) == 4
    assert "a wire trace cannot be read" in capsys.readouterr().err


def test_a_note_that_the_tester_does_not_write_is_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = run_in(tmp_path / "a"), run_in(tmp_path / "b")
    killed = {"t_ns": 7 * MS, "event": "broker_killed", "subject": "two", "text": "broker two is killed"}
    (broken.path / "timeline.ndjson").write_text("".join(json.dumps(mark) + "\n" for mark in (STEP, killed)))
    assert main(["compare", str(whole.path), str(broken.path)]) == 4
    assert "a wire trace cannot be read" in capsys.readouterr().err


def test_what_was_not_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, other = run_in(tmp_path / "a"), run_in(tmp_path / "b", not_run="it does not apply")
    assert main(["compare", str(whole.path), str(other.path)]) == 2
    assert "was not run: it does not apply" in capsys.readouterr().err
    assert main(["compare", str(whole.path), str(tmp_path)]) == 2
