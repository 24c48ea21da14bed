"""An examination conforms only if every predicted answer came, once and as predicted; it leaves nothing behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.questions import NotSeenError, QuestionAnswer
from conformance.catalogue.where import Where
from conformance.commands.judgement import JudgeOptions, judge_again
from conformance.console import Console
from conformance.interruption import InconclusiveError
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.run import INTERRUPTED
from conformance.record.verdict import Conformance, PromiseKept
from fault_injection.cluster.backend import ClusterError
from fault_injection.releases import JarSet
from tests.conformance.brokerless import brokerless_pipeline
from tests.conformance.examinations import MEASURED, Table, examination
from tests.conformance.run_files import judged, read_json, read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.pipeline import Finished, Pipeline

CONFORMS, DEVIATES, HARNESS_ERROR = Conformance.CONFORMS, Conformance.DEVIATES, Conformance.HARNESS_ERROR


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return brokerless_pipeline(tmp_path)


def examined(pipeline: Pipeline, *measured: QuestionAnswer) -> Finished:
    return pipeline.run(examination(Table(measured)))


def test_answers_as_predicted_conform_and_nothing_was_promised(pipeline: Pipeline) -> None:
    finished = examined(pipeline, *MEASURED)
    verdict = read_json(finished.run, "verdict.json")

    assert (finished.verdict.conformance, finished.verdict.promise) == (CONFORMS, PromiseKept.NO_PROMISE)
    assert verdict["reason"] == "3 answers as predicted"
    assert read_json(finished.run, "run.json")["steps"] == ["start one broker", "count its connections"]
    assert [line["value"] for line in read_lines(finished.run, "answers.ndjson")] == [3, 14_900, True]


@pytest.mark.parametrize(
    ("measured", "finding"),
    [
        (
            (QuestionAnswer("connections of broker 2", 4), *MEASURED[1:]),
            "connections of broker 2: predicted 3, measured 4",
        ),
        (MEASURED[1:], "connections of broker 2: predicted 3, measured nothing"),
        (
            (*MEASURED, QuestionAnswer("connections of broker 3", 1)),
            "connections of broker 3: measured 1, which nobody predicted",
        ),
        ((*MEASURED, MEASURED[0]), "connections of broker 2: predicted 3, answered 2 times"),
        (
            (MEASURED[0], QuestionAnswer("milliseconds from the last fetch to the shrink", 20_001), MEASURED[2]),
            "milliseconds from the last fetch to the shrink: predicted 10000 to 20000 ms, measured 20001 ms",
        ),
        (
            (*MEASURED[:2], QuestionAnswer("is the stale request refused", 1)),
            "is the stale request refused: predicted yes, measured 1",
        ),
    ],
    ids=["different", "missing", "unexpected", "twice", "outside of the range", "a number is no truth value"],
)
def test_any_other_answer_deviates(pipeline: Pipeline, measured: tuple[QuestionAnswer, ...], finding: str) -> None:
    verdict = examined(pipeline, *measured).verdict

    assert verdict.conformance is DEVIATES
    assert [one.text for one in verdict.findings][:1] == [finding]
    assert verdict.codes == ("question",)
    assert finding in verdict.reason


@pytest.mark.parametrize(
    ("failure", "conformance", "reason"),
    [
        (ClusterError("broker-1 ended"), HARNESS_ERROR, "ClusterError: broker-1 ended"),
        (NotSeenError("no fetch of broker 2 in 10 s"), DEVIATES, "no fetch of broker 2 in 10 s"),
        (InconclusiveError("it moves"), Conformance.INCONCLUSIVE, "it moves"),
        (ZeroDivisionError("oops"), HARNESS_ERROR, "defect in the tester, see traceback.txt: "),
    ],
)
def test_what_ends_an_examination_early_becomes_its_verdict(
    pipeline: Pipeline, failure: Exception, conformance: Conformance, reason: str
) -> None:
    subject = Table(MEASURED[:1], failure)
    verdict = pipeline.run(examination(subject)).verdict

    assert (verdict.conformance, verdict.promise) == (conformance, None)
    assert verdict.reason.startswith(reason)
    assert verdict.findings == (), "what was never reached speaks against nobody"
    assert not subject.contexts[0].exists()


def test_a_wrong_answer_before_the_tester_failed_still_deviates(pipeline: Pipeline) -> None:
    wrong = QuestionAnswer("connections of broker 2", 4)
    verdict = pipeline.run(examination(Table((wrong,), ClusterError("broker-1 ended")))).verdict

    assert verdict.conformance is DEVIATES
    assert verdict.reason.endswith("predicted 3, measured 4; ended early: ClusterError: broker-1 ended")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interrupted_examination_leaves_nothing_but_its_verdict(
    pipeline: Pipeline, interruption: BaseException
) -> None:
    subject = Table(MEASURED[:2], interruption)
    with pytest.raises(type(interruption)):
        pipeline.run(examination(subject))

    (run,) = (RunDirectory(path) for path in pipeline.runs.iterdir())
    assert read_json(run, "verdict.json")["reason"] == INTERRUPTED
    assert len(read_lines(run, "answers.ndjson")) == 2
    assert subject.closed == 1
    assert not subject.contexts[0].exists()


def test_a_subject_ends_what_it_started_when_an_answer_cannot_be_noted(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("conformance.stages.examining.add_measured", full)
    subject = Table()
    verdict = pipeline.run(examination(subject)).verdict

    assert verdict.conformance is HARNESS_ERROR
    assert subject.closed == 1


def test_an_examination_that_the_release_cannot_have_says_why(pipeline: Pipeline) -> None:
    finished = pipeline.run(examination(Table(), Where(since="2.2.0", why="brokers have no epoch")))

    assert finished.verdict.conformance is Conformance.NOT_RUN
    assert finished.verdict.reason == "exists since Kafka 2.2.0: brokers have no epoch"


def test_an_examination_with_a_broker_of_its_own_is_not_run_on_an_image(pipeline: Pipeline) -> None:
    subject = Table(MEASURED)
    finished = pipeline.run(examination(subject, Where(needs_jars=True)))

    assert finished.verdict.conformance is Conformance.NOT_RUN
    assert "the brokers' image brings their jars" in finished.verdict.reason
    assert subject.contexts == []


def test_an_examination_with_a_broker_of_its_own_is_held_where_the_jars_are(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.cluster_pool.jars = JarSet(tmp_path, (tmp_path / "kafka.jar",), "0")

    assert pipeline.run(examination(Table(MEASURED), Where(needs_jars=True))).verdict.conformance is CONFORMS


def test_a_prediction_changed_after_it_was_frozen_judges_nothing(pipeline: Pipeline) -> None:
    run = examined(pipeline, *MEASURED).run
    questions = run.path / "prediction" / "questions.json"
    questions.write_text(questions.read_text().replace("true", "false"))

    with pytest.raises(RunDirectoryError, match="changed since it was frozen"):
        judged(run)


@pytest.mark.parametrize(("value", "code"), [(3, 0), (4, 1)], ids=["as it was", "doctored"])
def test_it_is_judged_again_from_its_files(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str], value: int, code: int
) -> None:
    run = examined(pipeline, *MEASURED).run
    lines = read_lines(run, "answers.ndjson")
    lines[0]["value"] = value
    (run.path / "answers.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    write_digests(run)

    assert judge_again(Console(), JudgeOptions(run.path)) == code
    assert ("CONFORMS" if code == 0 else "DEVIATES") in capsys.readouterr().out
