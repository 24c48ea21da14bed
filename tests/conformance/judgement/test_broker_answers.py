"""Does a broker's answer that is not the predicted one turn the verdict red, and only that?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.scenario import Scenario
from conformance.judgement.comparison import NEVER_ASKED, answer_rows, answer_words, compare_broker_answers
from conformance.record.observations import BrokerAnswer, MeasuredNumbers
from conformance.record.prediction import PredictedBrokerAnswer, PredictedNumbers
from conformance.record.verdict import Conformance
from oracle.steps.questions import Consume
from oracle.vocabulary import BrokerId
from reports.load import load_run
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import judged, read_lines, write_lines
from tests.conformance.selected import select_scenarios
from tests.oracle.open_races import answer_before_or_after_the_second_fetch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conformance.record.answers import AnswerValue
    from conformance.record.directory import RunDirectory
    from conformance.record.observations import Observation

(SCENARIO,) = select_scenarios(["HW-02/leader"])
PREDICTED = PredictedNumbers(
    checkpoints=(),
    records=(),
    logs={},
    diverged=(),
    steps=(),
    answers=(PredictedBrokerAnswer(4, "consume", {"error": None, "records": ["m0"]}),),
)
NUMBERS = MeasuredNumbers(replicas={}, leader=1, leader_epoch=0, isr=(), step=4)


def told(**answer: AnswerValue) -> list[Observation]:
    return [BrokerAnswer(broker=1, step=4, answer=answer), NUMBERS]


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return write_ideal_run(tmp_path, "4.3.1", "kraft", SCENARIO)


def doctor(run: RunDirectory, change: Callable[[list[dict[str, Any]]], object]) -> None:
    lines = read_lines(run, "observations.ndjson")
    change([line for line in lines if line["kind"] == "answer"])
    write_lines(run, "observations.ndjson", [line for line in lines if not line.get("is_gone")])


def test_answers_as_predicted_conform_and_stand_in_the_report(run: RunDirectory) -> None:
    assert judged(run).conformance is Conformance.CONFORMS
    asked = load_run(run.path).asked
    assert [(one.what, one.measured) for one in asked[:2]] == [
        ("step 6: consume from the leader from offset 0 on", "records m0, high watermark 1"),
        ("step 7: consume from the leader from offset 1 on", "records none, high watermark 1"),
    ]


def test_a_record_that_is_shown_too_early_deviates(run: RunDirectory) -> None:
    doctor(run, lambda answers: answers[0]["answer"]["records"].append("m1"))
    verdict = judged(run)

    assert (verdict.conformance, verdict.codes) == (Conformance.DEVIATES, ("question",))
    assert "predicted records m0, high watermark 1, measured records m0 m1, high watermark 1" in verdict.reason


def test_a_question_that_was_never_asked_deviates(run: RunDirectory) -> None:
    doctor(run, lambda answers: answers[0].update(is_gone=True))
    assert NEVER_ASKED in judged(run).reason


def test_an_interrupted_run_answers_for_what_it_asked_only() -> None:
    assert compare_broker_answers(PREDICTED, [], is_complete=False) == []
    (never,) = compare_broker_answers(PREDICTED, [], is_complete=True)
    assert (never.agrees, never.measured, never.why_not) == (False, None, NEVER_ASKED)
    (wrong,) = compare_broker_answers(PREDICTED, told(error="NOT_LEADER_OR_FOLLOWER"), is_complete=False)
    assert (wrong.agrees, wrong.measured) == (False, "NOT_LEADER_OR_FOLLOWER")


def test_every_value_is_a_row_of_its_own() -> None:
    rows = list(answer_rows(PREDICTED, told(error=None, records=["m1"])))
    assert [(row.what, row.agrees) for row in rows] == [
        ("step 5: consume: error", True),
        ("step 5: consume: records", False),
    ]
    assert list(answer_rows(replace(PREDICTED, answers=()), told())) == []


@pytest.mark.parametrize("outcome", [0, 1])
def test_an_answer_tells_which_outcome_of_a_race_came(tmp_path: Path, outcome: int) -> None:
    schedule = answer_before_or_after_the_second_fetch(Consume(BrokerId(2)))
    schedule = replace(schedule, steps=(*schedule.steps[:6], schedule.steps[7]))
    run = write_ideal_run(tmp_path, "2.4.1", "zookeeper", Scenario("race", schedule, "x"), outcome)
    verdict = judged(run)

    assert verdict.conformance is Conformance.CONFORMS
    assert f"outcome {outcome + 1} of 2" in verdict.reason


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"error": "X", "offset": None}, "X"),
        ({"error": None, "offset": 3}, "offset 3"),
        ({"error": None, "leadership": None, "end_offset": 2}, "leadership none, end offset 2"),
        ({"answer": "no answer", "offset": None, "written": True}, "no answer, offset none, written yes"),
        ({"answer": "acknowledged", "offset": 0, "written": False}, "acknowledged, offset 0, written no"),
        ({"error": None, "records": [], "high_watermark": 0}, "records none, high watermark 0"),
    ],
)
def test_an_answer_in_words(answer: dict[str, Any], words: str) -> None:
    assert answer_words(answer) == words
