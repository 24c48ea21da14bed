"""The answers of the command line, in words and in their documented machine formats."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory
from conformance.registry import CATALOGUE
from conformance.schedules.schedule_file import schedule_text
from oracle.composite_steps import COMPOSITES
from oracle.schedule_format import decode_step
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold
from oracle.steps.step import STEP_CLASSES
from oracle.steps.waits import Checkpoint
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import change_run, read_json, write_json
from tests.oracle.open_races import answer_before_or_after_the_second_fetch, lost_or_kept
from tests.oracle.schedules import TWO, hold

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOMENT = {"step", "name", "replicas", "leader", "leadership", "isr", "elr", "remote_log_end_offsets"}
RECORD = {
    "id", "label", "fate", "was_committed", "outcome", "error", "offset", "leadership", "acks",
    "decided_by", "promise", "promise_reason",
}  # fmt: skip
NUMBERS = {"log_end_offset", "high_watermark", "alive"}


@pytest.fixture(autouse=True)
def own_sigterm() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


def answer(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    assert main([str(argument) for argument in arguments]) == code
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def answer_json(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> Any:  # noqa: ANN401
    return json.loads(answer(capsys, *arguments, "--json", code=code))


@pytest.mark.parametrize(("kafka", "lost"), [("0.10.2.2", ["m1"]), ("4.3.1", [])])
def test_a_prediction_has_its_documented_fields(
    capsys: pytest.CaptureFixture[str], kafka: str, lost: list[str]
) -> None:
    told = answer_json(capsys, "predict", "TR-01", "--kafka", kafka)

    assert set(told) == {
        "format", "scenario", "kafka", "metadata", "rules", "checkpoints", "records", "logs", "diverged", "steps",
        "races", "assumed", "alternatives", "promise", "promise_reason",
    }  # fmt: skip
    assert told["promise"] == ("BROKEN_AS_PREDICTED" if lost else "KEPT")
    assert told["promise_reason"].startswith("m1 lost: broker 2 had" if lost else "no committed record is lost")
    assert (told["kafka"], told["scenario"]) == (kafka, "truncation/restarted-follower-keeps-committed-record")
    assert all(set(moment) == MOMENT for moment in told["checkpoints"] + told["steps"])
    assert all(set(numbers) == NUMBERS for moment in told["steps"] for numbers in moment["replicas"].values())
    assert all(set(record) == RECORD for record in told["records"])
    assert all(set(entry) == {"offset", "label", "leadership"} for log in told["logs"].values() for entry in log)
    assert all(set(divergence) == {"offset", "replicas"} for divergence in told["diverged"])
    assert [record["label"] for record in told["records"] if record["fate"] == "lost"] == lost
    assert [moment["step"] for moment in told["steps"]] == list(range(17))


def test_several_predictions_are_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer_json(capsys, "predict", "EL-02*", "--kafka", "4.3.1")

    assert [one["scenario"] for one in told] == [s.schedule.id for s in CATALOGUE if s.name.startswith("EL-02")]


def test_a_prediction_reads_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(capsys, "predict", "TR-01", "--kafka", "0.10.2.2")

    assert "on Kafka 0.10.2.2 (zookeeper)" in said
    assert "checkpoint: follower restarted" in said
    assert "  broker 2: log end offset 1, high watermark 1" in said
    assert "broken: broker 2 had appended the record, cut it, and was elected (KAFKA-1211" in said


@pytest.mark.parametrize("name", ["TR-01", "EL-03/acks=all,min=3,unclean=off,replicas=2", "AC-04/unsafe"])
@pytest.mark.parametrize("kafka", ["0.10.2.2", "4.3.1"])
def test_a_prediction_says_of_the_promise_what_an_explanation_says(
    capsys: pytest.CaptureFixture[str], name: str, kafka: str
) -> None:
    predicted = answer(capsys, "predict", name, "--kafka", kafka).splitlines()
    explained = answer(capsys, "explain", name, "--kafka", kafka).splitlines()

    (line,) = (line for line in predicted if line.startswith("promise: "))
    assert f"  {line}" in explained


def test_an_empty_log_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(capsys, "predict", "EL-03/acks=all,min=3,unclean=off,replicas=2", "--kafka", "2.8.2")

    assert "\nlog of broker 1: empty\nlog of broker 2: empty\n" in said


def test_an_explained_prediction_tells_step_and_rule(capsys: pytest.CaptureFixture[str]) -> None:
    said = answer(capsys, "predict", "TR-01", "--kafka", "0.10.2.2", "--explain")
    told = answer_json(capsys, "predict", "TR-01", "--kafka", "0.10.2.2", "--explain")

    assert "\n  step 9 (start 2)\n    broker 2 cuts m1 at offset 1, following leader 1 [truncate-to-high-water" in said
    assert "\n  truncate-to-high-watermark: KAFKA-1211, ReplicaManager.makeFollowers\n" in said
    assert [one["label"] for one in told["explanation"]["records"]] == ["m0", "m1", "m2"]
    assert [one["name"] for one in told["explanation"]["checkpoints"]] == [one["name"] for one in told["checkpoints"]]


def test_an_open_race_is_shown_with_every_outcome(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "race.yaml"
    path.write_text(schedule_text(lost_or_kept()))
    said = answer(capsys, "predict", "--schedule", path, "--kafka", "0.10.2.2", "--explain")
    told = answer_json(capsys, "predict", "--schedule", path, "--kafka", "0.10.2.2", "--explain")

    table = [line.split("  ") for line in said.splitlines() if line.startswith(("a race is open", "record "))]
    assert [[cell.strip() for cell in row if cell] for row in table[1:]] == [
        ["a race is open; above: outcome 1", "outcome 1", "outcome 2"],
        ["record m0", "lost, acknowledged", "present at offset 0, acknowledged"],
        ["record m1", "present at offset 0, acknowledged", "present at offset 1, acknowledged"],
    ]
    assert "broken: in outcome 1: broker 2 had appended the record, cut it, and was elected" in said
    assert "\noutcome 2 if step 2 (produce m0): broker 3's fetch at offset 1 reaches leader 1 before" in said
    assert said.count("why each record ends as it does") == 2
    assert [set(one) for one in told["alternatives"]] == [
        {
            "race",
            "raced_steps",
            "checkpoints",
            "records",
            "logs",
            "diverged",
            "steps",
            "promise",
            "promise_reason",
            "explanation",
        }
    ] * 2
    assert [one["promise"] for one in told["alternatives"]] == ["BROKEN_AS_PREDICTED", "KEPT"]
    promises = [line for line in said.splitlines() if line.startswith("outcome ") and ": promise: " in line]
    assert promises[0].startswith("outcome 1: promise: BROKEN_AS_PREDICTED; m0 lost: broker 2 had appended the record")
    assert promises[1:] == ["outcome 2: promise: KEPT; no committed record is lost"]
    assert "\npromise: " not in said


def test_an_assumed_end_of_a_race_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "assumed.yaml"
    cut = (Kill(TWO), hold("cut", follower=TWO, fetch_offset=0), Start(TWO), AwaitHold("cut"), Checkpoint("end"))
    path.write_text(schedule_text(answer_before_or_after_the_second_fetch(*cut)))
    said = answer(capsys, "predict", "--schedule", path, "--kafka", "0.10.2.2")

    assert "\nassumed: step 11 (await_hold cut) assumes 1 of 2 outcomes: else hold 'cut' never catches" in said
    assert "a race is open" not in said


def test_the_list_names_every_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer_json(capsys, "list")

    assert [one["name"] for one in told] == [scenario.name for scenario in CATALOGUE]
    keys = {"name", "kind", "basis", "id", "requirement", "sources", "variant", "profiles", "where"}
    assert all(set(one) == keys for one in told)
    (tr_01,) = (one for one in told if one["name"] == "TR-01")
    assert answer(capsys, "list", "TR-01") == f"TR-01  {tr_01['requirement']}\n"


def test_an_explanation_can_be_written_down_as_a_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = answer_json(capsys, "explain", "TR-01")
    said = answer(capsys, "explain", "TR-01")

    assert [decode_step(i, step) for i, step in enumerate(told["schedule"]["steps"])] == [*_tr_01().steps]
    assert "Replicas:    1, 2 (the first one leads)" in said
    assert "   6. kill broker 2 (kill -9)" in said
    assert "min.insync.replicas=1, unclean.leader.election.enable=true" in said


def _tr_01() -> Any:  # noqa: ANN401 - a schedule
    return next(scenario.schedule for scenario in CATALOGUE if scenario.name == "TR-01")


def test_the_schedule_help_describes_every_step_and_field(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer_json(capsys, "schedule-help")["steps"]
    said = answer(capsys, "schedule-help")

    assert [one["step"] for one in told] == [*STEP_CLASSES, *COMPOSITES]
    assert all(one["help"] and set(one) == {"step", "help", "fields"} for one in told)
    fields = [field for one in told for field in one["fields"]]
    assert all(set(field) == {"name", "type", "required", "default", "help"} for field in fields)
    assert all(field["help"] and field["type"] for field in fields)
    acks = next(field for field in fields if field["name"] == "acks")
    assert (acks["type"], acks["default"]) == ("one of 0, 1, all", "all")
    (altered,) = (one["fields"] for one in told if one["step"] == "alter")
    assert [field["name"] for field in altered] == ["min.insync.replicas", "unclean.leader.election.enable"]
    assert "- kill:   (short: `kill: …`)" in said
    assert "fetch_offset: only a fetch at this offset (the follower's LEO) [default: none]" in said


def test_a_run_that_did_not_apply_is_judged_without_evidence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = RunDirectory.create(tmp_path, "one")
    change_run(run, not_run="0.10.2 has no eligible leader replicas")
    write_digests(run)

    assert answer(capsys, "judge", run.path) == "one: NOT_RUN: 0.10.2 has no eligible leader replicas\n"
    told = answer_json(capsys, "judge", run.path)
    assert (told["conformance"], told["promise"], told["scenario"]) == ("NOT_RUN", None, "TR-01")


def test_a_run_with_a_changed_prediction_is_a_harness_error_that_names_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = write_ideal_run(tmp_path)
    write_json(run, "prediction/prediction.json", read_json(run, "prediction/prediction.json") | {"kafka": "4.3.1"})
    said = answer(capsys, "judge", run.path, code=4)

    assert "HARNESS_ERROR" in said
    assert "the prediction has changed since it was frozen" in said


def test_a_report_is_written_where_it_was_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run, out = write_ideal_run(tmp_path), tmp_path / "page.html"

    assert answer_json(capsys, "report", run.path, "--out", out) == {"report": str(out)}
    assert "TR-01" in out.read_text(encoding="utf-8")
