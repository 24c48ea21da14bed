"""Questions of a scenario: predicted and frozen before the run, measured from its files, compared one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from conformance.catalogue.questions import NotSeenError, QuestionAnswer, ScheduleQuestion, agrees, in_words, measure
from conformance.record.answers import Between, PredictedAnswer, read_compared
from conformance.record.directory import RunDirectoryError
from conformance.record.prediction import FrozenPrediction, check_frozen
from conformance.record.verdict import Conformance
from conformance.scenarios.truncation import RESTARTED_FOLLOWER
from oracle.vocabulary import MetadataMode
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import change_run, judged, read_json, read_lines, write_json, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.catalogue.questions import Expected
    from conformance.record.answers import Value
    from conformance.record.directory import RunDirectory
    from oracle.rules.rule_set import RuleSet

CONFORMS, DEVIATES = Conformance.CONFORMS, Conformance.DEVIATES


def _checkpoints(rules: RuleSet, prediction: FrozenPrediction) -> Expected:
    assert rules.metadata is MetadataMode.ZOOKEEPER
    return [checkpoint.name for checkpoint in prediction.checkpoints]


def _measured_checkpoints(run: RunDirectory) -> Value:
    return [line["name"] for line in read_lines(run, "observations.ndjson") if line["kind"] == "checkpoint"]


def _last_epoch(run: RunDirectory) -> Value:
    epochs = [
        int(line["leader_epoch"]) for line in read_lines(run, "observations.ndjson") if line["kind"] == "checkpoint"
    ]
    if not epochs:
        raise NotSeenError("no checkpoint was observed")
    return epochs[-1]


NAMES = ScheduleQuestion("names of the checkpoints", _checkpoints, _measured_checkpoints)
EPOCH = ScheduleQuestion("leader epoch at the end", lambda _rules, _prediction: Between(5, 7, "epochs"), _last_epoch)
ASKING = replace(RESTARTED_FOLLOWER, questions=(NAMES, EPOCH))


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return write_ideal_run(tmp_path, scenario=ASKING)


def findings(run: RunDirectory) -> list[str]:
    return [finding.text for finding in judged(run).findings]


def test_answers_as_predicted_are_counted_in_the_reason(run: RunDirectory) -> None:
    measure(run, ASKING.questions)
    verdict = judged(run)

    assert verdict.conformance is CONFORMS
    assert "numbers, 2 answers and 3 records as predicted" in verdict.reason
    assert [one["agrees"] for one in read_json(run, "reconciliation/questions.json")["questions"]] == [True, True]


def test_what_is_asked_is_frozen_with_the_prediction(run: RunDirectory) -> None:
    measure(run, ASKING.questions)
    check_frozen(run)
    questions = read_json(run, "prediction/questions.json")
    assert [one["predicted"] for one in questions["questions"]][1] == {"low": 5, "high": 7, "unit": "epochs"}

    write_json(run, "prediction/questions.json", {"questions": questions["questions"][:1]})
    with pytest.raises(RunDirectoryError, match="changed since it was frozen"):
        judged(run)


def test_a_run_that_was_never_measured_deviates(run: RunDirectory) -> None:
    assert judged(run).conformance is DEVIATES
    assert "leader epoch at the end: predicted 5 to 7 epochs, measured nothing" in findings(run)


def test_a_wrong_answer_deviates(run: RunDirectory) -> None:
    measure(run, (NAMES, replace(EPOCH, measure=lambda _: 8)))
    verdict = judged(run)

    assert verdict.conformance is DEVIATES
    assert verdict.codes == ("question",)
    assert verdict.reason == "leader epoch at the end: predicted 5 to 7 epochs, measured 8 epochs; m1 lost: " + (
        verdict.losses[0].reason
    )


def test_of_a_wrong_list_it_is_written_down_which_part_is_wrong(run: RunDirectory) -> None:
    measure(run, ASKING.questions)
    lines = read_lines(run, "answers.ndjson")
    (names,) = [line for line in lines if line["what"] == NAMES.what]
    names["value"][1] = "another"
    write_lines(run, "answers.ndjson", lines)
    judged(run)

    compared = {one.what: one for one in read_compared(run)}
    assert compared[NAMES.what].parts == tuple(number != 1 for number in range(len(names["value"])))
    assert compared[EPOCH.what].parts == ()


def test_an_answer_that_cannot_be_found_deviates_and_says_what_was_sought(run: RunDirectory) -> None:
    write_lines(
        run, "observations.ndjson", [o for o in read_lines(run, "observations.ndjson") if o["kind"] == "outcome"]
    )
    measure(run, ASKING.questions)

    assert "leader epoch at the end: predicted 5 to 7 epochs, no checkpoint was observed" in findings(run)


def test_measuring_again_takes_the_place_of_what_was_measured_before(run: RunDirectory) -> None:
    measure(run, (replace(NAMES, measure=lambda _: []), EPOCH))
    assert judged(run).conformance is DEVIATES

    measure(run, ASKING.questions)
    assert judged(run).conformance is CONFORMS
    assert len(read_lines(run, "answers.ndjson")) == 2


def test_of_a_run_that_ended_early_nothing_is_missing(run: RunDirectory) -> None:
    change_run(run, harness_failure={"kind": "HARNESS_ERROR", "message": "a broker was lost"})

    assert judged(run).conformance is Conformance.HARNESS_ERROR


@pytest.mark.parametrize(
    ("expected", "measured", "is_right"),
    [
        (1, 1, True),
        (1, True, False),
        (False, 0, False),
        (None, None, True),
        (None, 0, False),
        ([1, "a"], [1, "a"], True),
        ([1, 2], [2, 1], False),
        (Between(1, 3, "ms"), 1, True),
        (Between(1, 3, "ms"), 3, True),
        (Between(1, 3, "ms"), 4, False),
        (Between(0, 1, "ms"), True, False),
        (Between(0, 1, "ms"), None, False),
    ],
)
def test_answers_agree_by_value_and_kind(expected: Expected, measured: Value, *, is_right: bool) -> None:
    assert agrees(expected, measured) is is_right
    stored = msgspec.json.encode(QuestionAnswer("x", expected).predicted)
    assert msgspec.json.decode(stored, type=PredictedAnswer).predicted == expected


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (None, "none"),
        (True, "yes"),
        (0, "0"),
        ([], "[]"),
        ([1, [2, "x"]], "[1, [2, x]]"),
        (Between(1, 2, "s"), "1 to 2 s"),
    ],
)
def test_answers_read_in_words(expected: Expected, words: str) -> None:
    assert in_words(expected) == words
