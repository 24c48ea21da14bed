"""What a run writes and answers when no broker ever answers it: NOT_RUN, a harness error, a defect of ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest

from conformance.commands.running import as_json, summarise
from conformance.console import Console
from conformance.interruption import AwaitedStateMissingError, HarnessError, InconclusiveError
from conformance.record.digests import check_digests
from conformance.record.directory import RunDirectory
from conformance.record.prediction import check_frozen
from conformance.record.run import INTERRUPTED, Run, update_run
from conformance.record.verdict import Conformance
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from conformance.stages.judging import judge_run
from fault_injection.cluster.backend import ClusterError
from fault_injection.faults.account import NotHealedError
from oracle.schedule_format import decode
from tests.conformance.brokerless import ASKS_THE_LEADER, WithoutBrokers, brokerless_pipeline
from tests.conformance.run_files import read_json

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.cluster_pool import ClusterPool
    from conformance.pipeline import Finished, Pipeline


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return brokerless_pipeline(tmp_path)


def failing(pipeline: Pipeline, failure: BaseException) -> Finished:
    cast("WithoutBrokers", pipeline.cluster_pool).failure = failure
    return pipeline.run(RESTARTED_FOLLOWER)


def test_a_point_that_the_release_lacks_is_not_run_and_says_why(pipeline: Pipeline) -> None:
    finished = pipeline.run(ASKS_THE_LEADER)

    assert finished.verdict.conformance is Conformance.NOT_RUN
    assert finished.verdict.reason == "Kafka 0.10.2.2 followers do not send OffsetsForLeaderEpoch"
    assert read_json(finished.run, "verdict.json")["conformance"] == "NOT_RUN"


@pytest.mark.parametrize(
    ("failure", "conformance", "reason"),
    [
        (ClusterError("broker-2 ended"), "HARNESS_ERROR", "ClusterError: broker-2 ended"),
        (HarnessError("hold 'gap' caught nothing"), "HARNESS_ERROR", "hold 'gap' caught nothing"),
        (InconclusiveError("it moves"), "INCONCLUSIVE", "it moves"),
        (AwaitedStateMissingError("broker 2 never led"), "DEVIATES", "broker 2 never led"),
        (ZeroDivisionError("oops"), "HARNESS_ERROR", "defect in the tester, see traceback.txt: "),
    ],
)
def test_what_ends_a_run_early_becomes_its_verdict(
    pipeline: Pipeline, failure: Exception, conformance: str, reason: str
) -> None:
    finished = failing(pipeline, failure)

    assert (finished.verdict.conformance.value, finished.verdict.promise) == (conformance, None)
    assert finished.verdict.reason.startswith(reason)
    assert (finished.run.path / "traceback.txt").exists() is isinstance(failure, ZeroDivisionError)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(143)])
def test_a_person_who_interrupts_is_obeyed(pipeline: Pipeline, interruption: BaseException) -> None:
    with pytest.raises(type(interruption)):
        failing(pipeline, interruption)

    (run,) = (RunDirectory(path) for path in pipeline.runs.iterdir())
    verdict = read_json(run, "verdict.json")
    assert (verdict["conformance"], verdict["reason"]) == ("HARNESS_ERROR", INTERRUPTED)
    assert read_json(run, "run.json")["finished"]


def test_an_interruption_before_the_prediction_is_frozen_is_written_down_too(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.stages.predicting.predict", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pipeline.run(RESTARTED_FOLLOWER)

    (run,) = pipeline.runs.iterdir()
    assert read_json(RunDirectory(run), "verdict.json")["reason"] == INTERRUPTED


def test_who_interrupts_the_judging_leaves_a_run_that_can_be_judged(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.pipeline.judge_run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        failing(pipeline, HarnessError("no broker"))

    (run,) = (RunDirectory(path) for path in pipeline.runs.iterdir())
    check_digests(run)
    assert read_json(run, "verdict.json")["reason"] == judge_run(run).reason == "no broker"


def test_a_run_has_its_end_and_its_digests_at_once(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    def watched(run: RunDirectory, **fields: object) -> Run:
        about = update_run(run, **fields)
        ended.append(about.evidence is not None)
        assert (about.finished is not None) is ended[-1]
        return about

    monkeypatch.setattr("conformance.record.digests.update_run", watched)
    failing(pipeline, HarnessError("no broker"))
    with pytest.raises(KeyboardInterrupt):
        failing(pipeline, KeyboardInterrupt())

    assert ended == [True] * 2


def test_the_prediction_is_frozen_before_a_broker_is_asked_for(pipeline: Pipeline) -> None:
    run = failing(pipeline, HarnessError("no broker")).run
    about = read_json(run, "run.json")

    check_frozen(run)
    assert about["harness_failure"] == {"kind": "HARNESS_ERROR", "message": "no broker", "lost_node": False}
    assert about["settings"]["user"] == {
        "replication.factor": "2",
        "min.insync.replicas": "1",
        "unclean.leader.election.enable": "true",
    }
    assert about["record_id_base"] == pipeline.record_id_base == 5 << 16
    assert decode(read_json(run, "schedule.json")) == RESTARTED_FOLLOWER.schedule


def test_runs_are_answered_as_json_and_in_words(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    finished = [pipeline.run(ASKS_THE_LEADER), failing(pipeline, HarnessError("no broker"))]
    told = as_json(finished)
    summarise(Console(), finished, pipeline.runs / "report.html", seed=5)
    lines = capsys.readouterr().out.splitlines()

    assert told["summary"] == {"NOT_RUN": 1, "HARNESS_ERROR": 1}
    assert set(told["runs"][0]) >= {
        *("scenario", "kafka", "metadata", "backend", "conformance", "promise", "reason", "seconds", "run"),
    }
    assert lines[0].startswith("LE-99  NOT_RUN ")
    assert lines[1].startswith("TR-01  HARNESS_ERROR ")
    assert lines[2] == f"seed 5; report: {pipeline.runs / 'report.html'}"


def test_rules_that_are_not_the_release_s_own_are_named(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    finished = [failing(pipeline, HarnessError("no broker"))]
    update_run(finished[0].run, rules_of="0.10.2.2", rules_metadata="zookeeper")
    summarise(Console(), finished, pipeline.runs / "report.html", seed=5)
    last = capsys.readouterr().out.splitlines()[-1]

    assert last.startswith("seed 5; judged by the rules of 0.10.2.2 ZooKeeper; report: ")
    assert as_json(finished)["runs"][0]["rules_of"] == "0.10.2.2"


def test_the_same_seed_gives_the_same_record_ids_and_another_seed_others(pipeline: Pipeline) -> None:
    def other(seed: int) -> Pipeline:
        return replace(pipeline, seed=seed)

    assert other(5).record_id_base == pipeline.record_id_base
    assert other(6).record_id_base >= pipeline.record_id_base + 2**16
    assert 0 <= other(2**40 + 1).record_id_base < 2**62


def test_a_cluster_that_cannot_be_ended_keeps_no_other_scenario_from_running(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(_: ClusterPool) -> None:
        raise ClusterError("the supervisor is gone")

    monkeypatch.setattr(WithoutBrokers, "discard_cluster", stuck)
    first = failing(pipeline, HarnessError("hold 'gap' caught nothing"))
    second = failing(pipeline, InconclusiveError("it moves"))

    assert [one.verdict.reason for one in (first, second)] == ["hold 'gap' caught nothing", "it moves"]


def test_a_whole_measurement_outlives_a_cluster_that_cannot_be_healed(pipeline: Pipeline) -> None:
    run = pipeline.begin(RESTARTED_FOLLOWER)
    with pipeline._keeping_the_measurement(run) as finished:
        finished.append("t")
        raise NotHealedError(["broker 2 ended again when it was started"])

    assert read_json(run, "run.json")["not_healed"] == "broker 2 ended again when it was started"
    with pytest.raises(NotHealedError), pipeline._keeping_the_measurement(run):
        raise NotHealedError(["broker 2 ended again when it was started"])
