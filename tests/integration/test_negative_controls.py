"""RC-03: whatever is doctored in a real run turns the verdict red, and the verdict names what was doctored.

One real run of TR-01 on 0.10.2.2, where the brokers lose m1 and the prediction says so, serves most tests.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from conformance.clients.producer import send
from conformance.examining import doctoring
from conformance.examining.doctoring import FOREIGN_ID
from conformance.line import line_named
from conformance.pipeline import Pipeline
from conformance.reconcile.errors import ReconcileError
from conformance.record.directory import RunDirectoryError
from conformance.record.prediction import check_frozen
from conformance.record.verdict import Conformance, PromiseKept, Verdict
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.stages.repredict import repredict
from fault_injection.wire.points import Point
from oracle.vocabulary import Acks
from tests.conformance.run_files import judged, read_json, read_lines
from tests.integration import more_doctoring
from tests.integration.real_runs import copied, judged_again
from tests.oracle.schedules import without_holds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.pipeline import Finished
    from conformance.record.directory import RunDirectory
    from conformance.stages.on_brokers import BrokerRun
    from tests.integration.real_runs import Releases

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(300)]
CONFORMS, DEVIATES, HARNESS_ERROR = Conformance.CONFORMS, Conformance.DEVIATES, Conformance.HARNESS_ERROR


@pytest.fixture(scope="module")
def pipeline(releases: Releases, tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    return releases.pipeline("0.10.2.2", tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def real(pipeline: Pipeline) -> Finished:
    return pipeline.run(RESTARTED_FOLLOWER)


@pytest.fixture
def run(real: Finished, tmp_path: Path) -> RunDirectory:
    return copied(real.run, tmp_path)


def texts(verdict: Verdict) -> str:
    return "\n".join(finding.text for finding in verdict.findings)


def test_the_run_itself_conforms(real: Finished) -> None:
    assert (real.verdict.conformance, real.verdict.promise) == (CONFORMS, PromiseKept.BROKEN_AS_PREDICTED)
    assert [loss.label for loss in real.verdict.losses] == ["m1"]


def test_an_undoctored_copy_conforms_again(run: RunDirectory, pipeline: Pipeline) -> None:
    assert judged_again(run, pipeline.spark).conformance is CONFORMS


@pytest.mark.parametrize(
    ("doctor", "promise", "named"),
    [
        (doctoring.topic_loses_m2, PromiseKept.BROKEN, "m2: expected "),
        (doctoring.topic_gains_a_foreign_record, PromiseKept.BROKEN, f"record {FOREIGN_ID}: expected "),
        (more_doctoring.topic_keeps_m1, PromiseKept.BROKEN_AS_PREDICTED, "m1: expected "),
        (doctoring.topic_changes_a_value, PromiseKept.BROKEN, "m0: expected "),
        (doctoring.ledger_forgets_m2, PromiseKept.BROKEN, "m2: expected attempted, measured not in the ledger"),
        (doctoring.ledger_flips_the_outcome_of_m2, PromiseKept.BROKEN, "m2: expected "),
        (
            more_doctoring.replica_log_of_2_loses_m2,
            PromiseKept.BROKEN_AS_PREDICTED,
            "log of broker 2, offset 1: expected m2",
        ),
        (
            more_doctoring.checkpoint_shows_a_higher_watermark,
            PromiseKept.BROKEN_AS_PREDICTED,
            "end: broker 1 high watermark: predicted 2, measured 3",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_doctored_run_deviates_and_names_what_was_doctored(
    run: RunDirectory,
    pipeline: Pipeline,
    doctor: Callable[[RunDirectory], None],
    promise: PromiseKept,
    named: str,
) -> None:
    doctor(run)
    verdict = judged_again(run, pipeline.spark)

    assert (verdict.conformance, verdict.promise) == (DEVIATES, promise)
    assert named in texts(verdict)
    assert read_json(run, "verdict.json")["conformance"] == "DEVIATES"


@pytest.mark.parametrize(
    ("doctor", "named"),
    [
        (more_doctoring.wire_tells_a_higher_watermark, "wire invariant 14, high watermark of leader"),
        (more_doctoring.wire_moves_a_fetch_back, "wire invariant 16, fetch offset"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_doctored_frame_deviates_at_that_frame(
    run: RunDirectory, doctor: Callable[[RunDirectory], None], named: str
) -> None:
    doctor(run)
    verdict = judged(run)

    assert (verdict.conformance, verdict.promise) == (DEVIATES, PromiseKept.BROKEN_AS_PREDICTED)
    assert verdict.codes == ("trace",)
    assert named in texts(verdict)
    assert read_json(run, "trace_check.json")["violation"]["frames"]


@pytest.mark.parametrize(
    ("doctor", "why"),
    [
        (more_doctoring.wire_is_gone, "wire.ndjson cannot be read"),
        (more_doctoring.wire_is_cut_short, "wire.ndjson is cut short"),
        (more_doctoring.wire_misses_a_frame, "it was ended with"),
        (more_doctoring.wire_has_an_undecoded_frame, "was not decoded"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_wire_trace_that_was_not_checked_is_a_harness_error(
    run: RunDirectory, doctor: Callable[[RunDirectory], None], why: str
) -> None:
    doctor(run)
    verdict = judged(run)

    assert (verdict.conformance, verdict.promise) == (HARNESS_ERROR, None)
    assert verdict.reason.startswith("the wire trace was not checked: ")
    assert why in verdict.reason
    assert read_json(run, "trace_check.json")["why_not"] is not None


def test_the_wire_of_a_real_run_exercises_what_its_release_can_do(run: RunDirectory) -> None:
    judged(run)
    checked = read_json(run, "trace_check.json")
    held = {invariant["number"]: invariant["held"] for invariant in checked["invariants"]}

    assert (checked["why_not"], checked["violation"], checked["rules_of"]) == (None, None, "0.10.2.2 zookeeper")
    assert all(held[number] > 0 for number in (14, 15, 16, 18, 21, 23))


def test_an_outcome_of_a_record_never_attempted_discredits_the_ledger(run: RunDirectory, pipeline: Pipeline) -> None:
    more_doctoring.ledger_forgets_the_attempt_of_m2(run)
    verdict = judged_again(run, pipeline.spark)

    assert (verdict.conformance, verdict.promise) == (HARNESS_ERROR, None)
    assert verdict.reason.startswith("the reconciliation's own counts do not add up: m2: expected ")


def test_a_damaged_topic_file_cannot_be_judged(run: RunDirectory, pipeline: Pipeline) -> None:
    damaged = more_doctoring.topic_is_damaged(run)

    with pytest.raises(ReconcileError, match=damaged):  # Spark's own words are one of two: the file stands in both
        judged_again(run, pipeline.spark)


def test_one_byte_of_the_prediction_is_refused_by_name(run: RunDirectory) -> None:
    more_doctoring.prediction_changes_one_byte(run)

    with pytest.raises(RunDirectoryError, match="the prediction has changed since it was frozen"):
        judged(run)


def test_a_prediction_changed_during_the_run_is_a_harness_error(pipeline: Pipeline, run: RunDirectory) -> None:
    more_doctoring.prediction_changes_one_byte(run)
    verdict = pipeline.judge(run)

    assert (verdict.conformance, verdict.promise) == (HARNESS_ERROR, None)
    assert "the prediction has changed" in verdict.reason


def test_the_rules_of_another_release_deviate(run: RunDirectory, pipeline: Pipeline) -> None:
    first = read_json(run, "verdict.json")
    second, verdict = repredict(run, pipeline.spark, line_named("4.3.1").rules)

    assert (verdict.conformance, verdict.promise) == (DEVIATES, PromiseKept.BROKEN)
    assert "follower restarted: broker 2 log end offset: predicted 2, measured 1" in texts(verdict)
    assert "m1: expected " in texts(verdict)
    assert "lost (m1)" in verdict.reason
    assert read_json(run, "verdict.json") == first
    assert read_json(run, f"verdict-{second.path.name}.json")["rules_of"] == "4.3.1"
    checked = read_json(second, "trace_check.json")
    assert (checked["rules_of"], checked["violation"]["invariant"]) == ("4.3.1 kraft", 24)
    assert read_json(run, "trace_check.json")["violation"] is None
    check_frozen(run)


def test_its_own_rules_predict_the_same_again(run: RunDirectory, pipeline: Pipeline) -> None:
    assert repredict(run, pipeline.spark)[1].conformance is CONFORMS


def test_the_command_line_says_the_same(run: RunDirectory) -> None:
    command = [sys.executable, "-m", "conformance.cli", "judge", str(run.path), "--rules-of", "4.3.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 1, done.stderr
    assert "DEVIATES + BROKEN" in done.stdout


def test_a_killed_spark_is_a_harness_error(run: RunDirectory) -> None:
    command = [sys.executable, "-m", "tests.integration.judge_with_killed_spark", str(run.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 4, done.stderr
    assert "HARNESS_ERROR" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


class _Meddling(Pipeline):
    """Produces a record behind the ledger's back, between the steps and the reading of the topic."""

    @override
    def note_replicas(self, stage: BrokerRun) -> None:
        leader = stage.rest.view().leader
        assert leader is not None
        sending = send(stage.cluster.client_address(leader), stage.topic, 0, FOREIGN_ID, Acks.ALL)
        assert sending.await_delivery(30).offset is not None
        sending.close()
        super().note_replicas(stage)


def test_a_record_produced_behind_the_ledger_is_a_phantom(pipeline: Pipeline, real: Finished) -> None:
    meddling = _Meddling(pipeline.cluster_pool, pipeline.spark, pipeline.runs, pipeline.seed, pipeline.progress)
    verdict = meddling.run(RESTARTED_FOLLOWER).verdict

    assert real.verdict.conformance is CONFORMS
    assert (verdict.conformance, verdict.promise) == (DEVIATES, PromiseKept.BROKEN)
    assert "leader's high watermark before the topic was read: predicted 2, measured 3" in texts(verdict)
    assert f"record {FOREIGN_ID}: expected " in texts(verdict)
    assert "phantom: not predicted" in verdict.reason


def test_a_gate_that_never_fires_says_what_came_instead(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(name: str, **fields: Any) -> Point:  # noqa: ANN401
        return Point(name, **(fields | {"topic": "elsewhere"}))

    monkeypatch.setattr("conformance.running.holding.Point", elsewhere)
    monkeypatch.setattr("conformance.running.holding.CATCH_DEADLINE_S", 4.0)
    verdict = pipeline.run(RESTARTED_FOLLOWER).verdict

    assert (verdict.conformance, verdict.promise) == (HARNESS_ERROR, None)
    assert "hold 'gap' to catch a frame: not within 4 s" in verdict.reason
    assert "armed for fetch_response of broker 2 at broker 1, fetch offset 2" in verdict.reason
    assert "last fetch offsets on that link: [2, 2" in verdict.reason


def test_without_its_holds_the_scenario_predicts_and_measures_something_else(
    pipeline: Pipeline, real: Finished
) -> None:
    schedule = without_holds(RESTARTED_FOLLOWER.schedule)
    baseline = pipeline.run(replace(RESTARTED_FOLLOWER, name="TR-01 without holds", schedule=schedule))

    assert baseline.verdict.conformance is CONFORMS
    assert baseline.verdict.promise is PromiseKept.KEPT
    for part in ("records", "checkpoints", "logs"):
        assert _predicted(baseline)[part] != _predicted(real)[part]
    assert _measured(baseline) != _measured(real)
    assert _classes(baseline)["lost"] == 0
    assert _classes(real)["lost"] == 1


def _predicted(finished: Finished) -> dict[str, Any]:
    return read_json(finished.run, "prediction/prediction.json")


def _measured(finished: Finished) -> list[Any]:
    lines = read_lines(finished.run, "observations.ndjson")
    return [line["replicas"] for line in lines if line["kind"] == "checkpoint"]


def _classes(finished: Finished) -> dict[str, int]:
    with suppress(RunDirectoryError):
        return dict(read_json(finished.run, "reconciliation/counts.json")["classes"])
    return {}
