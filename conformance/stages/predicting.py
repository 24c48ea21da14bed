"""What does the model say of a catalogue entry on one release? Its prediction, its answers, or why it is not run.

Needs no brokers: the one place that running, predicting and explaining ask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.catalogue.examination import Examination, Pictured
from conformance.catalogue.questions import predicted_answers
from conformance.record.answers import write_predicted
from conformance.record.directory import as_plain
from conformance.record.prediction import freeze, frozen_form, write_prediction
from conformance.record.transaction_course import write_course
from oracle.predict import NotOnReleaseError, predict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.catalogue.examination import Entry, ExaminationSubject
    from conformance.catalogue.questions import QuestionAnswer
    from conformance.record.directory import RunDirectory
    from conformance.record.transaction_course import TransactionCourse
    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class EntryPrediction:
    """What is known of an entry before any broker starts.

    Attributes:
        not_run: why the release cannot have it; then nothing is predicted.
        prediction: numbers and records; None of an examination.
        answers: what else must be answered, with the predicted answers.
        course: of a script of transactions, what each request does.
    """

    entry: Entry
    rules: RuleSet
    not_run: str | None = None
    prediction: Prediction | None = None
    answers: tuple[QuestionAnswer, ...] = ()
    course: TransactionCourse | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the machine format: prediction.json, and what is asked besides if anything is."""
        if self.prediction is not None:
            value = self.prediction.as_json()
            return value | {"questions": self.questions()} if self.answers else value
        rules = self.rules
        value = {"scenario": self.entry.id, "kafka": rules.version, "metadata": rules.metadata.value}
        return value | ({"questions": self.questions()} if self.not_run is None else {"not_run": self.not_run})

    def questions(self) -> list[dict[str, Any]]:
        """Return every question with its predicted answer."""
        return [{"what": answer.what, "predicted": as_plain(answer.value)} for answer in self.answers]


def predict_entry(entry: Entry, rules: RuleSet) -> EntryPrediction:
    """Predict a catalogue entry on a release.

    Raises:
        ScheduleError: a schedule that no rule of the release can satisfy.
    """
    reason = entry.where.reason_not_to_run(rules.version, rules.metadata)
    if reason is not None:
        return EntryPrediction(entry, rules, reason)
    if isinstance(entry, Examination):
        subject = entry.subject
        return EntryPrediction(entry, rules, answers=subject.predict(rules), course=course_by(subject, rules))
    try:
        prediction = predict(entry.schedule, rules)
    except NotOnReleaseError as unavailable:
        return EntryPrediction(entry, rules, str(unavailable))
    answers = predicted_answers(entry.questions, rules, frozen_form(prediction.as_json())) if entry.questions else ()
    return EntryPrediction(entry, rules, None, prediction, answers)


def course_by(subject: ExaminationSubject, rules: RuleSet) -> TransactionCourse | None:
    """Return the course of an examination by a release's rules; None if it has none."""
    return subject.course(rules) if isinstance(subject, Pictured) else None


def freeze_prediction(
    run: RunDirectory, prediction: object, record_id_base: int, answers: Sequence[QuestionAnswer] = ()
) -> None:
    """Write what is predicted of a scenario and freeze it.

    Args:
        run: where it goes.
        prediction: what ``Prediction.as_json`` returns.
        record_id_base: the id of the run's first record.
        answers: what else the run must answer.
    """
    write_prediction(run, prediction, record_id_base)
    if answers:
        write_predicted(run, [answer.predicted for answer in answers])
    freeze(run)


def freeze_answers(run: RunDirectory, answers: Sequence[QuestionAnswer], course: TransactionCourse | None) -> None:
    """Write what is predicted of an examination and freeze it."""
    write_predicted(run, [answer.predicted for answer in answers])
    if course is not None:
        write_course(run, course)
    freeze(run)
