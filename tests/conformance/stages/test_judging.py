"""A run is judged from its files alone: an ideal one conforms, each doctored one is red and says why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conformance.interruption import GIVEN_UP
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.replica_logs import REPLICA_LOGS_FILE
from conformance.record.run import INTERRUPTED
from conformance.record.verdict import Conformance, PromiseKept
from conformance.stages.judging import judge_unreadable
from oracle.predict import NotOnReleaseError
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import change_run, ended_in, judged, read_json, read_lines, write_json, write_lines
from tests.conformance.selected import select_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.catalogue.scenario import Scenario

CONFORMS, DEVIATES, HARNESS_ERROR = Conformance.CONFORMS, Conformance.DEVIATES, Conformance.HARNESS_ERROR
Line = dict[str, Any]
FOUNDATION = select_scenarios(profile="quick")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return write_ideal_run(tmp_path)


def change_lines(run: RunDirectory, change: Callable[[list[Line]], object]) -> None:
    lines = read_lines(run, "observations.ndjson")
    change(lines)
    write_lines(run, "observations.ndjson", lines)


def change_json(run: RunDirectory, name: str, **fields: Any) -> None:  # noqa: ANN401
    write_json(run, name, read_json(run, name) | fields)


def checkpoints(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line["kind"] == "checkpoint"]


def outcome(lines: list[Line], label: str) -> Line:
    return next(line for line in lines if line.get("label") == label)


@pytest.mark.parametrize(("kafka", "metadata"), [("0.10.2.2", "zookeeper"), ("2.8.2", "zookeeper"), ("4.3.1", "kraft")])
@pytest.mark.parametrize("scenario", FOUNDATION, ids=lambda scenario: scenario.name)
def test_brokers_that_do_as_predicted_conform(tmp_path: Path, kafka: str, metadata: str, scenario: Scenario) -> None:
    try:
        run = write_ideal_run(tmp_path, kafka, metadata, scenario)
    except NotOnReleaseError:
        pytest.skip("the release has no such point")

    assert judged(run).conformance is CONFORMS


def test_the_textbook_loss_conforms_and_breaks_the_promise_as_predicted(run: RunDirectory) -> None:
    verdict = judged(run)

    assert (verdict.conformance, verdict.promise) == (CONFORMS, PromiseKept.BROKEN_AS_PREDICTED)
    assert verdict.findings == ()
    assert [loss.label for loss in verdict.losses] == ["m1"]


def test_the_verdict_is_written_beside_the_evidence(run: RunDirectory) -> None:
    verdict = judged(run)
    written = read_json(run, "verdict.json")

    assert written["conformance"] == verdict.conformance.value
    assert written["reason"] == verdict.reason
    assert set(written) >= {
        "scenario", "kafka", "metadata", "backend", "conformance", "promise", "reason", "findings", "losses", "seconds",
    }  # fmt: skip
    compared = json.loads((run.path / "reconciliation/checkpoints.json").read_text())
    assert [checkpoint["name"] for checkpoint in compared][-1] == "end"
    assert all(row["agrees"] for checkpoint in compared for row in checkpoint["rows"])


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (
            lambda lines: checkpoints(lines)[1]["replicas"]["2"].update(log_end_offset=2),
            "follower restarted: broker 2 log end offset: predicted 1, measured 2",
        ),
        (lambda lines: checkpoints(lines)[2].update(isr=[1]), "end: isr: predicted [1, 2], measured [1]"),
        (lambda lines: checkpoints(lines)[2].update(leader=1), "end: leader: predicted 2, measured 1"),
        (
            lambda lines: outcome(lines, "m1").update(outcome="refused"),
            "outcome of m1: predicted acknowledged, measured refused",
        ),
        (
            lambda lines: lines.remove(outcome(lines, "m1")),
            "outcome of m1: predicted acknowledged, measured None",
        ),
        (
            lambda lines: checkpoints(lines)[2].update(leader_epoch=0),
            "leader epoch 4 belongs to leadership 0, but the lower epoch 0 belongs to 1",
        ),
    ],
)
def test_one_changed_observation_is_named(
    run: RunDirectory, change: Callable[[list[Line]], object], finding: str
) -> None:
    change_lines(run, change)
    verdict = judged(run)

    assert verdict.conformance is DEVIATES
    assert finding in [f.text for f in verdict.findings]
    assert verdict.findings[0].text in verdict.reason


def test_a_checkpoint_that_was_never_measured_is_no_pass(run: RunDirectory) -> None:
    change_lines(run, lambda lines: lines.remove(checkpoints(lines)[1]))
    verdict = judged(run)

    assert verdict.conformance is HARNESS_ERROR
    assert verdict.reason == "never measured: checkpoint follower restarted"


def test_another_end_offset_is_named(run: RunDirectory) -> None:
    change_run(run, end_offset=3)
    verdict = judged(run)

    assert verdict.conformance is DEVIATES
    (finding,) = verdict.findings
    assert finding.text == "leader's high watermark before the topic was read: predicted 2, measured 3"


def test_an_epoch_in_a_log_that_another_leadership_had_is_named(tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path, "4.3.1", "kraft")
    path = run.path / REPLICA_LOGS_FILE
    table = pq.read_table(path)
    rows = [row | {"leader_epoch": 4} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)

    verdict = judged(run)
    assert verdict.conformance is DEVIATES
    assert verdict.reason.startswith("leader epoch 4 stands for leaderships 0 and 1")


def test_a_deviating_record_is_named(run: RunDirectory) -> None:
    deviation = {"kind": "record", "label": "m1", "expected": "not in the topic", "measured": "at offset 1"}
    counts, kept = read_json(run, "reconciliation/counts.json"), {"lost": 0, "diverged": 0, "kept": 3}
    change_json(run, "reconciliation/counts.json", deviations=1, classes=counts["classes"] | kept)
    change_json(run, "reconciliation/samples.json", deviations=[deviation], lost=[])
    verdict = judged(run)

    assert (verdict.conformance, verdict.promise) == (DEVIATES, PromiseKept.KEPT)
    assert verdict.reason == "m1: expected not in the topic, measured at offset 1"


def test_a_run_without_reconciliation_is_no_pass(run: RunDirectory) -> None:
    (run.path / "reconciliation" / "counts.json").unlink()
    change_run(run, end_offset=None)

    assert judged(run).conformance is HARNESS_ERROR


def forget_outcomes(run: RunDirectory) -> None:
    """Let the tester have ended before it wrote down what its producers were told."""
    for path in (run.path / "ledger").glob("outcomes-*.parquet"):
        path.unlink()


def interrupted(run: RunDirectory, kind: str, message: str) -> None:
    """Let a run end at its second checkpoint, with m2 never sent."""
    ended_in(run, len(read_json(run, "schedule.json")["steps"]) - 1, failure={"kind": kind, "message": message})
    forget_outcomes(run)
    (run.path / "reconciliation" / "counts.json").unlink()
    change_lines(run, lambda lines: lines.remove(outcome(lines, "m2")))


@pytest.mark.parametrize("kind", ["HARNESS_ERROR", "INCONCLUSIVE", "DEVIATES"])
def test_what_ended_a_run_early_is_its_reason(run: RunDirectory, kind: str) -> None:
    interrupted(run, kind, "hold 'gap' caught nothing")
    verdict = judged(run)

    assert (verdict.conformance.value, verdict.promise) == (kind, None)
    assert verdict.reason == "hold 'gap' caught nothing"


@pytest.mark.parametrize(
    "cut_off",
    [
        pytest.param({"outcome": "indeterminate", "error": GIVEN_UP}, id="given up"),
        pytest.param({"outcome": "refused", "error": "_PURGE_QUEUE"}, id="purged from the client's queue"),
        pytest.param({"outcome": "indeterminate", "error": "REQUEST_TIMED_OUT"}, id="its hold never released"),
    ],
)
@pytest.mark.parametrize("kind", ["HARNESS_ERROR", "INCONCLUSIVE"])
def test_a_producer_cut_off_at_an_early_end_is_no_deviation(run: RunDirectory, kind: str, cut_off: Line) -> None:
    """Negative control: the same outcome, learned while a step was taken, is one."""
    interrupted(run, kind, INTERRUPTED)
    change_lines(run, lambda lines: outcome(lines, "m1").update(cut_off, step=None))
    assert judged(run).conformance.value == kind

    change_lines(run, lambda lines: outcome(lines, "m1").update(step=3))
    assert judged(run).conformance is DEVIATES


def test_a_checkpoint_that_differed_before_an_early_end_is_a_deviation(run: RunDirectory) -> None:
    interrupted(run, "HARNESS_ERROR", "hold 'gap' caught nothing")
    change_lines(run, lambda lines: checkpoints(lines)[0].update(leader=2))
    verdict = judged(run)

    assert verdict.conformance is DEVIATES
    assert verdict.reason.endswith("leader: predicted 1, measured 2; ended early: hold 'gap' caught nothing")


def test_a_changed_prediction_is_refused(run: RunDirectory) -> None:
    path = run.path / "prediction" / "prediction.json"
    path.write_bytes(path.read_bytes().replace(b'"lost"', b'"kept"', 1))

    with pytest.raises(RunDirectoryError, match="the prediction has changed"):
        judged(run)


def test_a_run_that_cannot_be_judged_has_a_verdict_all_the_same(run: RunDirectory) -> None:
    verdict = judge_unreadable(run, "the prediction has changed")

    assert verdict.conformance is HARNESS_ERROR
    assert read_json(run, "verdict.json")["reason"] == "the prediction has changed"


def test_a_scenario_that_does_not_apply_needs_no_evidence(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "one")
    change_run(run, not_run="0.10.2 followers do not ask")

    assert judged(run).conformance is Conformance.NOT_RUN
    assert read_json(run, "verdict.json")["reason"] == "0.10.2 followers do not ask"


def test_a_run_whose_tester_ended_before_it_is_incomplete_and_gets_no_verdict(run: RunDirectory) -> None:
    change_json(run, "run.json", finished=None)
    (run.path / "reconciliation" / "counts.json").unlink()

    with pytest.raises(RunDirectoryError, match="incomplete, the tester ended before the run did"):
        judged(run)
    assert not (run.path / "verdict.json").exists()


def test_a_run_that_does_not_say_where_its_topic_ended_is_no_pass(run: RunDirectory) -> None:
    change_run(run, end_offset=None)
    verdict = judged(run)

    assert verdict.conformance is HARNESS_ERROR
    assert verdict.reason == "never measured: where the topic ended before it was read"


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("kafka", "99.9", r"says Kafka 99\.9 \(zookeeper\), predicted was Kafka 0\.10\.2\.2"),
        ("metadata", "kraft", r"\(kraft\), predicted was"),
        ("kind", "examination", "says kind examination"),
        ("not_run", "does not exist", "says not_run, although a prediction was frozen"),
    ],
)
def test_a_field_that_contradicts_what_was_frozen_is_refused(
    run: RunDirectory, field: str, value: str, told: str
) -> None:
    change_run(run, **{field: value})

    with pytest.raises(RunDirectoryError, match=told):
        judged(run)
    assert not (run.path / "verdict.json").exists()


def lost_at_the_last_checkpoint(run: RunDirectory) -> None:
    """Let somebody kill a broker in the step of the last checkpoint."""
    message = "broker-2 was killed by signal 9, not by the tester"
    last = len(read_json(run, "schedule.json")["steps"]) - 1
    seen = checkpoints(read_lines(run, "observations.ndjson"))[-1]
    ended_in(run, last, failure={"kind": "HARNESS_ERROR", "message": message, "lost_node": True})
    forget_outcomes(run)
    change_lines(run, lambda lines: lines.append(seen))
    change_lines(run, lambda lines: lines.sort(key=lambda line: line["t_ns"]))


def test_what_was_seen_after_somebody_killed_a_broker_is_not_held_against_the_brokers(run: RunDirectory) -> None:
    lost_at_the_last_checkpoint(run)
    change_lines(run, lambda lines: checkpoints(lines)[-1].update(isr=[1]))
    change_lines(run, lambda lines: outcome(lines, "m2").update(outcome="refused", step=None))
    verdict = judged(run)

    assert verdict.conformance is HARNESS_ERROR
    assert verdict.reason == "broker-2 was killed by signal 9, not by the tester"


def test_what_was_seen_before_somebody_killed_a_broker_is(run: RunDirectory) -> None:
    lost_at_the_last_checkpoint(run)
    change_lines(run, lambda lines: checkpoints(lines)[0].update(leader=2))

    assert judged(run).conformance is DEVIATES
