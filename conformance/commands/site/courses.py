"""What course does a prediction take? Every replica's log at every checkpoint, and what becomes of every record.

Logs between two checkpoints are replayed from the prediction's chronicle: each append and each cut is told there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.questions import in_words
from conformance.commands.predicted_promise import predicted_promise
from conformance.judgement.comparison import answer_words
from conformance.record.verdict import PromiseKept
from oracle.predicting.wording import ChangeKind
from oracle.transactions.promised import PROMISED
from reports.site.model import CheckpointAt, GoneRecord, PredictedCourse, RecordEnd, ReplicaAt, ToldAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.record.transaction_course import TransactionCourse
    from conformance.stages.predicting import EntryPrediction
    from oracle.predicting.wording import Chronicle
    from oracle.prediction import Moment, Prediction, RecordPrediction
    from oracle.vocabulary import BrokerId

Logs = dict["BrokerId", tuple[str, ...]]
MAX_SAID = 3
"""So many differing numbers are named; of more, how many there are."""


@dataclass(frozen=True, slots=True)
class CourseOnLine:
    """What an entry comes to on one line.

    Attributes:
        course: without anchor, lines and reasons: equal on lines that do the same.
        says: what is lost or kept, and why.
        whys: of each record, which step and rule decided it.
    """

    course: PredictedCourse
    says: str = ""
    whys: tuple[str, ...] = ()


def courses_of(told: EntryPrediction) -> tuple[CourseOnLine, ...]:
    """Return what an entry comes to on one release: one course, or one for each outcome of an open race."""
    if told.not_run is not None:
        version = told.rules.version
        reason = told.not_run.replace(f"Kafka {version} leaders", "leaders").replace(f"Kafka {version} ", "this Kafka ")
        return (CourseOnLine(PredictedCourse("", "", not_run=reason)),)
    answers = tuple(ToldAnswer(one.what, in_words(one.value)) for one in told.answers)
    if told.course is not None:
        promise, says = _transactions_promise(told.course)
        return (CourseOnLine(PredictedCourse("", "", "", promise, answers=answers, transactions=told.course), says),)
    if told.prediction is None:
        return (CourseOnLine(PredictedCourse("", "", answers=answers), "answers only"),)
    if told.prediction.alternatives:
        return tuple(
            _course(one.prediction, answers, "; ".join(decision.text for decision in one.race))
            for one in told.prediction.alternatives
        )
    return (_course(told.prediction, answers, ""),)


def _transactions_promise(course: TransactionCourse) -> tuple[PromiseKept | None, str]:
    """Return what becomes of the promise of a script of transactions, and what breaks it; None if it is not asked."""
    if not course.promises:
        return None, "answers only"
    broken = {one.asked.removeprefix(PROMISED): one.broken_by for one in course.promises if one.broken_by}
    says = "; ".join(f"{what}: {', '.join(by)}" for what, by in broken.items())
    return PromiseKept.BROKEN_AS_PREDICTED if broken else PromiseKept.KEPT, says or "exactly once is kept"


def _course(prediction: Prediction, asked: tuple[ToldAnswer, ...], race: str) -> CourseOnLine:
    promise, says = predicted_promise(prediction)
    answers = [
        ToldAnswer(f"{one.step + 1}. {one.asked}", answer_words(one.as_json()["answer"])) for one in prediction.answers
    ]
    course = PredictedCourse(
        anchor="",
        lines="",
        promise=promise,
        race=race,
        checkpoints=tuple(checkpoints_of(prediction)),
        records=tuple(map(_record, prediction.records)),
        answers=(*answers, *asked),
    )
    return CourseOnLine(course, says, tuple(record.decided_by for record in prediction.records))


def _record(record: RecordPrediction) -> RecordEnd:
    outcome = record.outcome.value + (f": {record.error}" if record.error else "")
    return RecordEnd(record.label, outcome, record.fate.value, record.offset)


def checkpoints_of(prediction: Prediction) -> Iterator[CheckpointAt]:
    """Yield every checkpoint, and the end if it is another one, with the logs as they stand there."""
    moments = list(prediction.checkpoints)
    if prediction.moments and (not moments or _numbers(moments[-1]) != _numbers(prediction.moments[-1])):
        moments.append(prediction.moments[-1])
    before: Logs = {}
    for moment in moments:
        logs = logs_at(prediction.chronicle, moment)
        yield _checkpoint(moment, logs, before)
        before = logs


def _numbers(moment: Moment) -> tuple[object, ...]:
    return moment.leader, moment.isr, moment.replicas


def logs_at(chronicle: Chronicle, moment: Moment) -> Logs:
    """Return the labels in every replica's log after a step; a replica that was given up has an empty one."""
    logs: dict[BrokerId, list[str]] = {broker: [] for broker in moment.replicas}
    for change in chronicle:
        if change.step > moment.step or change.broker not in logs:
            continue
        if change.kind is ChangeKind.APPENDED:
            logs[change.broker].extend(change.records)
        elif change.kind is ChangeKind.CUT:
            for record in change.records:
                logs[change.broker].remove(record)
    ends = {broker: numbers.log_end_offset for broker, numbers in moment.replicas.items()}
    return {broker: tuple(log[: ends[broker]]) for broker, log in logs.items()}


def _checkpoint(moment: Moment, logs: Logs, before: Logs) -> CheckpointAt:
    replicas = tuple(_replica(moment, broker, logs, before) for broker in moment.replicas)
    isr = tuple(int(broker) for broker in moment.isr)
    leader = None if moment.leader is None else int(moment.leader)
    return CheckpointAt(moment.step + 1, moment.name or "after the last step", leader, isr, replicas)


def _replica(moment: Moment, broker: BrokerId, logs: Logs, before: Mapping[BrokerId, tuple[str, ...]]) -> ReplicaAt:
    numbers = moment.replicas[broker]
    end = numbers.log_end_offset
    gone = [GoneRecord(offset, one) for offset, one in enumerate(before.get(broker, ()))]
    replaced = (one for one in gone if one.offset < len(logs[broker]) and logs[broker][one.offset] != one.label)
    return ReplicaAt(
        broker=int(broker),
        labels=logs[broker],
        log_end_offset=end,
        high_watermark=numbers.high_watermark,
        log_start_offset=numbers.log_start_offset,
        is_leader=broker == moment.leader,
        is_in_sync=broker in moment.isr,
        is_alive=numbers.alive,
        is_hung=broker in moment.hung,
        ghosts=tuple(one for one in gone if one.offset >= end),
        replaced=tuple(replaced),
    )


# In what does one course differ from another? Numbers at checkpoints, records, answers: each as a sentence.


def differences(course: PredictedCourse, newest: PredictedCourse) -> tuple[str, ...]:
    """Return in what a course differs from that of the newest line, in words."""
    found = [*_in_checkpoints(course, newest), *_in_records(course, newest), *_in_answers(course, newest)]
    if len(found) > MAX_SAID:
        return (*found[:MAX_SAID], f"and {len(found) - MAX_SAID} more")
    return tuple(found)


def _in_checkpoints(course: PredictedCourse, newest: PredictedCourse) -> Iterator[str]:
    for one, other in zip(course.checkpoints, newest.checkpoints, strict=False):
        where = f"at \N{LEFT DOUBLE QUOTATION MARK}{one.name}\N{RIGHT DOUBLE QUOTATION MARK}"
        if one.leader != other.leader:
            yield f"{where} the leader is {one.leader_words}, not {other.leader_words}"
        if one.isr != other.isr:
            yield f"{where} the ISR is {one.isr_words}, not {other.isr_words}"
        for mine, theirs in zip(one.replicas, other.replicas, strict=False):
            yield from (f"{where} broker {mine.broker}: {words}" for words in _in_replica(mine, theirs))


def _in_replica(mine: ReplicaAt, theirs: ReplicaAt) -> Iterator[str]:
    if mine.is_alive != theirs.is_alive:
        yield f"is {mine.role}, not {theirs.role}"
    if mine.log_end_offset != theirs.log_end_offset:
        yield f"LEO {mine.log_end_offset}, not {theirs.log_end_offset}"
    if mine.high_watermark != theirs.high_watermark:
        yield f"HW {mine.high_watermark}, not {theirs.high_watermark}"
    if mine.labels != theirs.labels and mine.log_end_offset == theirs.log_end_offset:
        yield f"has {', '.join(mine.labels)}, not {', '.join(theirs.labels)}"


def _in_records(course: PredictedCourse, newest: PredictedCourse) -> Iterator[str]:
    for one, other in zip(course.records, newest.records, strict=False):
        if one.fate != other.fate:
            yield f"{one.label} is {one.fate}, not {other.fate}"
        if one.outcome != other.outcome:
            yield f"{one.label} is {one.outcome}, not {other.outcome}"


def _in_answers(course: PredictedCourse, newest: PredictedCourse) -> Iterator[str]:
    known = {one.asked: one.answer for one in newest.answers}
    for one in course.answers:
        if one.asked in known and known[one.asked] != one.answer:
            yield f"{one.asked}: {one.answer}, not {known[one.asked]}"
    asked = {one.asked for one in course.answers}
    missing = sum(one not in asked for one in known) + sum(one not in known for one in asked)
    if missing:
        yield "other questions are asked"
