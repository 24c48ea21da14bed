"""Where a race is open, is a run held against one outcome, and is it said which one?"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from conformance.catalogue.scenario import Scenario
from conformance.judgement.open_outcomes import measured_prediction, write_measured_outcome
from conformance.reconcile.run_files import PREDICTED_RECORDS, PREDICTED_REPLICA_LOGS, predicted_divergences
from conformance.record.directory import RunDirectoryError
from conformance.record.prediction import check_frozen
from conformance.record.run import INTERRUPTED
from conformance.record.verdict import Conformance, PromiseKept
from oracle.schedule import Schedule
from oracle.steps.brokers import Kill, KillTogether, Start
from oracle.steps.frames import AwaitHold
from oracle.steps.waits import Checkpoint
from reports.load import load_run
from tests.conformance.ideal_runs import BASE, write_ideal_run
from tests.conformance.judgement.doctorings import freeze_as_before
from tests.conformance.run_files import change_run, ended_in, judged, read_json, read_lines, write_json, write_lines
from tests.oracle.open_races import answer_before_or_after_the_second_fetch, lost_or_kept
from tests.oracle.schedules import ONE, TWO, hold

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.directory import RunDirectory

RACE = Scenario("race", lost_or_kept(), "two followers, one high watermark")


def mark(event: str, step: int) -> dict[str, object]:
    return {"t_ns": step, "step": step, "event": event, "subject": "", "text": ""}


def number_of(run: RunDirectory) -> int | None:
    outcome = measured_prediction(run).measured_outcome
    return None if outcome is None else outcome.number


def run_of(runs: Path, outcome: int) -> RunDirectory:
    return write_ideal_run(runs, scenario=RACE, outcome=outcome)


@pytest.mark.parametrize(
    ("outcome", "promise"), [(0, PromiseKept.BROKEN_AS_PREDICTED), (1, PromiseKept.KEPT)], ids=["lost", "kept"]
)
def test_any_one_outcome_conforms_and_is_named(tmp_path: Path, outcome: int, promise: PromiseKept) -> None:
    verdict = judged(run_of(tmp_path, outcome))
    assert verdict.conformance is Conformance.CONFORMS
    assert f", outcome {outcome + 1} of 2: step 2 (produce m0): " in verdict.reason
    assert verdict.promise is promise


def test_the_records_that_do_not_end_alike_in_all_outcomes_are_open(tmp_path: Path) -> None:
    prediction = measured_prediction(run_of(tmp_path, 0))
    ends = [{record.label: record.end for record in outcome.records} for outcome in prediction.alternatives]
    assert [each["m0"][0] for each in ends] == ["lost", "present"]
    assert [each["m1"][0] for each in ends] == ["present", "present"]
    assert prediction.open_records == {"m0", "m1"}, "m1 takes the offset that m0 had"
    alike = replace(prediction, alternatives=prediction.alternatives[:1] * 2)
    assert alike.open_records == frozenset()


def test_checkpoints_of_one_outcome_with_logs_of_another_deviate(tmp_path: Path) -> None:
    run, other = run_of(tmp_path, 0), run_of(tmp_path, 1)
    first = next(o for o in read_lines(other, "observations.ndjson") if o.get("name") == "broker 2 has m0")
    mixed = [first if o.get("name") == "broker 2 has m0" else o for o in read_lines(run, "observations.ndjson")]
    write_lines(run, "observations.ndjson", mixed)
    verdict = judged(run)
    assert verdict.conformance is Conformance.DEVIATES
    assert verdict.reason.startswith("broker 2 has m0: broker 2 high watermark: predicted 0, measured 1")


def test_logs_alone_tell_outcomes_apart(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1)
    write_lines(run, "observations.ndjson", [])
    assert number_of(run) == 2


@pytest.mark.parametrize("outcome", [0, 1, 2])
def test_probes_tell_outcomes_apart_that_end_alike(tmp_path: Path, outcome: int) -> None:
    """Seed 7, schedule 1 on 4.4.0: two brokers are killed at once twice, and the first time decides who leads next."""
    together = KillTogether((ONE, TWO))
    steps = (together, Start(TWO), Start(ONE), together, Start(ONE), Start(TWO), Checkpoint("end"))
    schedule = Schedule("twice", "two brokers are killed at once, twice", (), (ONE, TWO), steps)
    run = write_ideal_run(tmp_path, "4.4.0", "kraft", Scenario("twice", schedule, "outcomes that end alike"), outcome)

    assert number_of(run) == outcome + 1
    assert judged(run).conformance is Conformance.CONFORMS


def test_the_outcome_that_fits_is_what_is_reconciled_and_reported(tmp_path: Path) -> None:
    run = run_of(tmp_path, 1)
    assert [path.parent.name for path in PREDICTED_RECORDS.paths(run.path)] == ["prediction"]
    write_measured_outcome(run)
    (records,) = PREDICTED_RECORDS.paths(run.path)
    (logs,) = PREDICTED_REPLICA_LOGS.paths(run.path)
    assert (records.parent.name, logs.parent.name) == ("outcome", "outcome")
    rows = pq.read_table(records).to_pylist()
    assert [(row["record_id"], row["fate"], row["offset"]) for row in rows] == [
        (BASE, "present", 0),
        (BASE + 1, "present", 1),
    ]
    assert predicted_divergences(run.path) == ()
    judged(run)
    report = load_run(run.path)
    assert [row.predicted_fate for row in report.records.rows] == ["present", "present"]
    assert "outcome/prediction.json" in {evidence.name for evidence in report.evidence}
    check_frozen(run)


def test_a_prediction_that_has_changed_chooses_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, 0)
    write_json(run, "prediction/prediction.json", {"alternatives": []})
    with pytest.raises(RunDirectoryError, match="has changed"):
        write_measured_outcome(run)


def test_a_prediction_that_leaves_nothing_open_is_taken_as_it_is(tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path)
    write_measured_outcome(run)
    assert not (run.path / "outcome").exists()
    assert "outcome" not in judged(run).reason


def test_a_prediction_of_format_1_is_judged_as_before(tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path)
    path = run.path / "prediction" / "prediction.json"
    known = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in known.items() if k not in ("format", "assumed", "alternatives")}))
    freeze_as_before(run)
    assert judged(run).conformance is Conformance.CONFORMS


def test_what_a_producer_is_told_as_a_run_is_ended_chooses_no_outcome(tmp_path: Path) -> None:
    """The negative control is the same outcome while a step is taken."""
    run = run_of(tmp_path, 1)
    frozen = read_json(run, "prediction/prediction.json")
    other = next(record for record in frozen["alternatives"][0]["records"] if record["label"] == "m0")
    told = {"kind": "outcome", "label": "m0", "error": None, "outcome": f"not {other['outcome']}"}
    change_run(run, harness_failure={"kind": "HARNESS_ERROR", "message": INTERRUPTED})
    first = read_lines(run, "observations.ndjson")[0]
    write_lines(run, "observations.ndjson", [first, told | {"step": None}])
    assert judged(run).conformance is Conformance.HARNESS_ERROR
    write_lines(run, "observations.ndjson", [first, told | {"step": 1}])
    assert judged(run).conformance is Conformance.DEVIATES


def test_what_was_seen_after_a_node_was_lost_chooses_no_outcome(tmp_path: Path) -> None:
    """The negative control is the same run whose steps all ended."""
    run = run_of(tmp_path, 1)
    shutil.rmtree(run.path / "replica_logs")
    seen = [one | {"step": 5} for one in read_lines(run, "observations.ndjson")]
    write_lines(run, "observations.ndjson", seen)
    change_run(run, harness_failure={"kind": "HARNESS_ERROR", "message": "broker-2 was killed", "lost_node": True})
    for finished, number in ((4, 1), (5, 2)):
        write_lines(run, "timeline.ndjson", [mark("step_finished", finished)])
        assert number_of(run) == number


@pytest.mark.parametrize(("step", "expected"), [(10, Conformance.INCONCLUSIVE), (8, Conformance.DEVIATES)])
def test_a_race_that_ends_otherwise_than_assumed_is_inconclusive(
    tmp_path: Path, step: int, expected: Conformance
) -> None:
    """Only at the await that assumed it; anywhere else a state that does not come is a deviation."""
    assuming = answer_before_or_after_the_second_fetch(
        Kill(TWO), hold("cut", follower=TWO, fetch_offset=0), Start(TWO), AwaitHold("cut"), Checkpoint("end")
    )
    run = write_ideal_run(tmp_path, scenario=Scenario("assumed", assuming, "the other follower comes too late"))
    ended_in(run, step, failure={"kind": "DEVIATES", "message": "it did not come"})
    verdict = judged(run)
    assert verdict.conformance is expected
    assert ("the race ended otherwise" in verdict.reason) is (expected is Conformance.INCONCLUSIVE)

    lost = {"kind": "HARNESS_ERROR", "message": "broker-2 was killed by signal 9", "lost_node": True}
    for ended in (lost, {"kind": "HARNESS_ERROR", "message": INTERRUPTED}):
        change_run(run, harness_failure=ended)
        assert judged(run).reason == ended["message"]
