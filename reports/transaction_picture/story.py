"""What is there to see? Three sentences, and the whole picture as a table, for those who read instead of looking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.transaction_picture.course import MISSING, STUCK, UNASKED
from reports.transaction_picture.lanes import log_words
from reports.transaction_picture.requests import request_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.record.transaction_course import CourseAct, CourseBatch, CourseLog, CourseMoment, CourseRequest
    from reports.transaction_picture.course import CourseView

Step = tuple["CourseAct", "CourseRequest | None", "CourseMoment", "CourseMoment | None"]


def told_story(view: CourseView) -> tuple[str, str, str]:
    """Return what is late, what comes of that, and what consumers are given in the end."""
    steps = list(view.steps())
    arrived = next((step for step in steps if _is_late(step[1])), None)
    if arrived is None:
        return _begun(view), _ended(view), _kept_or_broken(view)
    sent = next(step for step in steps if _is_sent(step[1], arrived[1]))
    return _waited(sent, arrived), _taken(arrived, sent[2]), _kept_or_broken(view)


def _is_late(request: CourseRequest | None) -> bool:
    return request is not None and request.answer is not None and bool(request.late or request.is_again)


def _is_sent(request: CourseRequest | None, late: CourseRequest | None) -> bool:
    """Return whether a request is the one that comes late, as it is sent."""
    if request is None or late is None or (request.late, request.receiver) != (late.late, late.receiver):
        return False
    return request.answer is None or (late.is_again and (request.kind, request.says) == (late.kind, late.says))


def _waited(sent: Step, arrived: Step) -> str:
    act, request, _, before = arrived
    assert request is not None, "it is late"
    assert before is not None, "it was sent before"
    said, by_then = f"{request.kind} ({request.says})", f"the coordinator is in {_state(before)} by then"
    if request.is_again:
        return f"The marker of act {sent[0].number}, {said}, arrives a second time in act {act.number}; {by_then}."
    return f"“{request.late}”, {said}, is kept back in act {sent[0].number} and arrives in act {act.number}; {by_then}."


def _state(moment: CourseMoment) -> str:
    return moment.phase if moment.epoch is None else f"{moment.phase} with epoch {moment.epoch}"


def _taken(step: Step, sent: CourseMoment) -> str:
    """Return what a late request has changed when its act is over.

    Args:
        step: in which it arrives.
        sent: what was known when it was sent.
    """
    act, request, _, before = step
    assert request is not None, "it is late"
    assert before is not None, "it was sent before"
    moved = f"has moved from {sent.epoch} to {before.epoch}" if sent.epoch != before.epoch else "is still the same"
    since = "A leader knows it by its epoch alone" if request.is_again else f"The coordinator's epoch {moved}"
    if request.is_refused:
        return f"{since}: it is refused, {request.answer}, and changes nothing."
    changes = list(_changes(before, act.after))
    return f"{since}: it is taken; {_listed(changes) or 'it changes nothing'}."


def _changes(before: CourseMoment | None, after: CourseMoment) -> Iterator[str]:
    """Yield which records were ended, and which were appended, in words."""
    former = {} if before is None else {log.at: log.batches for log in before.logs}
    for log in after.logs:
        had: Sequence[CourseBatch] = former.get(log.at, ())
        for now, then in zip(log.batches, had, strict=False):
            if now.end != then.end:
                yield f"it ends what is open, and {_named(log, now)} {_place(log)} is {now.end}"
        for now in log.batches[len(had) :]:
            if now.end is not None:
                yield f"{_named(log, now)} stands {_place(log)} and is {now.end} there"
        ends_nothing = all(now.end == then.end for now, then in zip(log.batches, had, strict=False))
        if ends_nothing and len(log.batches) > len(had) and all(one.end is None for one in log.batches[len(had) :]):
            yield f"{log.at} has one more marker, which ends nothing"


def _begun(view: CourseView) -> str:
    requests = [one for act in view.course.acts for one in act.requests if one.asked is not None]
    refused = sum(one.is_refused for one in requests)
    epochs = sorted({act.after.epoch for act in view.course.acts if act.after.epoch is not None})
    moves = f"goes from {epochs[0]} to {epochs[-1]}" if len(epochs) > 1 else "stays as it is"
    answered = f"{len(requests)} requests of producers are answered, {refused or 'none'} of them with an error"
    return f"{answered}, and none is late; the coordinator's epoch {moves}."


def _ended(view: CourseView) -> str:
    logs = view.course.acts[-1].after.logs if view.course.acts else ()
    ends = {end: [_named(log, one) for log in logs for one in log.batches if one.end == end] for end in _ENDS}
    told = [
        f"{_listed(records)} {'is' if len(records) == 1 else 'are'} {end}" for end, records in ends.items() if records
    ]
    return f"In the logs {'; '.join(told)}." if told else "In the logs there is no record."


def _named(log: CourseLog, batch: CourseBatch) -> str:
    return batch.holds if log.at.startswith("partition") else f"offset {batch.holds}"


def _place(log: CourseLog) -> str:
    return f"in {log.at}" if log.at.startswith("partition") else f"among the {log.at}"


_ENDS = ("committed", "aborted", "open")


def _kept_or_broken(view: CourseView) -> str:
    given = [record for records in view.given().values() for record in records]
    read = f"consumers of committed records are given {_listed(given) or 'nothing'}"
    broken = list(_broken(view))
    differing = sum(one.differs for one in view.asked.values())
    differs = f" {differing} of {len(view.asked)} answers of brokers differ from what is drawn." if differing else ""
    if broken:
        return f"The promise is broken: {read}; {'; '.join(broken)}.{differs}"
    return f"The promise is kept: {read}.{differs}"


def _broken(view: CourseView) -> Iterator[str]:
    if lost := view.broken_by(MISSING):
        yield f"{_listed(lost)}, acknowledged and committed, {'is' if len(lost) == 1 else 'are'} lost"
    if wrong := view.broken_by(UNASKED):
        yield f"nobody asked to commit {_listed(wrong)}"
    if stuck := view.broken_by(STUCK):
        yield f"{_listed(stuck)} is read no further, although no transaction goes on"


def _listed(words: Iterable[str]) -> str:
    """Return words with commas, and an ``and`` before the last."""
    *first, last = list(words) or [""]
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True, slots=True)
class CourseTableRow:
    """A request, or an act without one, as a row of a table.

    Attributes:
        act: number and words of the act; empty where it goes on.
        measured: what brokers answered: as predicted, otherwise in words, or empty if nobody asked them.
    """

    act: str
    request: str
    measured: str
    coordinator: str
    logs: tuple[str, ...]


def course_table(view: CourseView) -> tuple[CourseTableRow, ...]:
    """Return the picture's content, request by request."""
    rows: list[CourseTableRow] = []
    last: CourseAct | None = None
    for act, request, after, _ in view.steps():
        logs = tuple(log_words(log) for at in view.logs for log in after.logs if log.at == at)
        told = (
            [(f"{look.what} of {look.at}", look.asked) for look in act.looks]
            if request is None
            else [("", request.asked)]
        )
        measured = "; ".join(words for what, asked in told if (words := _measured(view, what, asked)))
        words = "" if request is None else request_words(request)
        rows.append(
            CourseTableRow("" if act is last else f"{act.number}. {act.text}", words, measured, _state(after), logs)
        )
        last = act
    return tuple(rows)


def _measured(view: CourseView, what: str, asked: str | None) -> str:
    instead = view.measured_instead(asked)
    said = f"{instead}" if instead else "✓ as predicted" if view.sign(asked) else ""
    return f"{what}: {said}" if what and said else said
