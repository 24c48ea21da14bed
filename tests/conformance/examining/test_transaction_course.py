"""Does a course say what is predicted, is it frozen with that, and is a file that is broken named?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.line import line_named
from conformance.record.directory import RunDirectory, RunDirectoryError
from conformance.record.prediction import check_frozen
from conformance.record.run import Run, write_run
from conformance.record.transaction_course import COURSE_FILE, read_course, write_course
from conformance.registry import select
from conformance.stages.predicting import freeze_answers, predict_entry

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.transaction_course import TransactionCourse
    from conformance.stages.predicting import EntryPrediction

TRANSACTIONS = tuple(select(["TX"]))
LATE_ABORT, OFFSETS = "TX-05/late-abort", "TX-08/in-its-transaction"


def told(name: str, line: str) -> EntryPrediction:
    (entry,) = (one for one in TRANSACTIONS if one.name == name)
    return predict_entry(entry, line_named(line).rules)


def course_on(name: str, line: str) -> TransactionCourse:
    course = told(name, line).course
    assert course is not None
    return course


@pytest.mark.parametrize("line", ["2.8.2", "3.9.2/kraft", "4.0.0", "4.4.0"])
@pytest.mark.parametrize("name", [entry.name for entry in TRANSACTIONS])
def test_every_predicted_answer_stands_in_the_course_once(name: str, line: str) -> None:
    predicted = told(name, line)
    if predicted.not_run is not None:
        assert predicted.course is None
        return
    course = course_on(name, line)
    requests = [one for act in course.acts for one in act.requests if one.asked is not None]
    looks = [look for act in course.acts for look in act.looks]
    whats = [*(one.asked for one in requests), *(one.asked for one in looks), *(one.asked for one in course.promises)]
    answers = {one.what: one.predicted for one in predicted.answers}
    assert sorted(str(what) for what in whats) == sorted(answers)
    assert {one.asked: one.answer or "kept back" for one in requests} == {
        one.asked: answers[str(one.asked)].predicted for one in requests
    }
    assert {one.asked: one.predicted for one in looks} == {one.asked: answers[one.asked].in_words for one in looks}


@pytest.mark.parametrize(
    ("line", "missing", "end", "epochs"),
    [("3.9.2/kraft", ("a2",), "aborted", {0}), ("4.4.0", (), "committed", {0, 1, 2})],
)
def test_the_record_that_a_late_abort_loses_is_told(
    line: str, missing: tuple[str, ...], end: str, epochs: set[int]
) -> None:
    course = course_on(LATE_ABORT, line)
    assert course.promised == ("a2", "b2")
    assert {one.kind: one.broken_by for one in course.promises} == {"missing": missing, "unasked": (), "stuck": ()}
    log = course.acts[-1].after.logs[0]
    assert [(one.holds, one.end) for one in log.batches if one.holds == "a2"] == [("a2", end)]
    assert {act.producers[0].epoch for act in course.acts} == epochs


def test_a_partition_that_is_read_no_further_is_called_as_its_lane() -> None:
    course = course_on("TX-06/after-its-abort", "3.5.2/kraft")
    assert {one.kind: one.broken_by for one in course.promises}["stuck"] == ("partition 0",)
    assert "partition 0" in course.lanes


def test_lanes_stand_from_producers_to_logs() -> None:
    rest = ("coordinator", "partition 0", "partition 1")
    assert course_on(LATE_ABORT, "4.4.0").lanes == ("producer", *rest)
    assert course_on("TX-01/taken-over", "4.4.0").lanes == ("producer", "producer 2", *rest)
    assert course_on(OFFSETS, "4.4.0").lanes == ("producer", *rest, "group's offsets")


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = RunDirectory(tmp_path)
    (tmp_path / "prediction").mkdir()
    write_run(run, Run(run="r", scenario=LATE_ABORT, kafka="3.9.2", metadata="kraft"))
    return run


def test_a_course_is_read_as_it_was_written(run: RunDirectory) -> None:
    assert read_course(run) is None
    course = course_on(OFFSETS, "3.9.2/kraft")
    write_course(run, course)
    assert read_course(run) == course


def test_a_file_that_is_no_course_is_named(run: RunDirectory) -> None:
    write_course(run, course_on(LATE_ABORT, "3.9.2/kraft"))
    file = run.path / COURSE_FILE
    file.write_text(file.read_text().replace('"phase"', '"stage"', 1))
    with pytest.raises(RunDirectoryError, match=rf"{COURSE_FILE} cannot be read: .*phase"):
        read_course(run)


def test_a_course_that_was_changed_after_it_was_frozen_is_refused(run: RunDirectory) -> None:
    predicted = told(LATE_ABORT, "3.9.2/kraft")
    freeze_answers(run, predicted.answers, predicted.course)
    check_frozen(run)
    file = run.path / COURSE_FILE
    file.write_text(file.read_text().replace('"aborted"', '"committed"', 1))
    with pytest.raises(RunDirectoryError, match="the prediction has changed"):
        check_frozen(run)


def test_an_examination_without_a_course_has_no_such_file(run: RunDirectory) -> None:
    (other,) = select(["RM-06/open-transaction"])
    predicted = predict_entry(other, line_named("4.4.0").rules)
    assert predicted.course is None
    freeze_answers(run, predicted.answers, predicted.course)
    assert not run.has(COURSE_FILE)
