"""How is the course of a script of transactions written down? As plain values, in the names of the protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conformance.catalogue.questions import in_words
from conformance.record.transaction_course import (
    COORDINATOR,
    CourseAct,
    CourseBatch,
    CourseLog,
    CourseLook,
    CourseMoment,
    CourseProducer,
    CoursePromise,
    CourseRequest,
    TransactionCourse,
)
from oracle.transactions.course import ends_of, watch
from oracle.transactions.leader import last_stable_offset
from oracle.transactions.play import ABORT, COMMIT, GROUP, PARTITIONS, named
from oracle.transactions.promised import MISSING, PROMISED, STUCK, UNASKED
from oracle.transactions.script import ReadOffset, asked
from oracle.transactions.state import (
    NO_EPOCH,
    NO_SEQUENCE,
    AddPartitionToTxn,
    EndTxn,
    InitProducerId,
    ProduceBatch,
    TxnPhase,
    WriteTxnMarker,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.course import Known, PlayedAct, PlayedRequest
    from oracle.transactions.play import Play
    from oracle.transactions.script import Told, TransactionAct
    from oracle.transactions.state import Request

PHASES = {
    TxnPhase.EMPTY: "Empty",
    TxnPhase.ONGOING: "Ongoing",
    TxnPhase.PREPARE_COMMIT: "PrepareCommit",
    TxnPhase.PREPARE_ABORT: "PrepareAbort",
    TxnPhase.COMPLETE_COMMIT: "CompleteCommit",
    TxnPhase.COMPLETE_ABORT: "CompleteAbort",
}
"""Kafka's names of the states."""
KINDS = {MISSING: "missing", UNASKED: "unasked", STUCK: "stuck"}
GROUP_LANE = "group's offsets"
_PARTITION = re.compile(r" of partition (\d+)")


def course_of(acts: Sequence[TransactionAct], rules: TransactionRules) -> TransactionCourse:
    """Return the course of a script by a release's rules; pure."""
    played, play = watch(acts, rules)
    written = tuple(_act(one, play) for one in played)
    promised = sorted(play.promised.committed & play.promised.acknowledged)
    return TransactionCourse(tuple(_lanes(written)), written, tuple(promised), tuple(_promises(played)))


def _lanes(acts: Sequence[CourseAct]) -> Iterator[str]:
    """Yield producers, the coordinator, the topic's partitions, and the group's offsets where there are any."""
    senders = (one.sender for act in acts for one in act.requests if one.sender != COORDINATOR)
    yield from dict.fromkeys((*senders, COORDINATOR, *map(_log_lane, range(PARTITIONS))))
    seen = {one.receiver for act in acts for one in act.requests} | {look.at for act in acts for look in act.looks}
    yield from {GROUP_LANE} & seen


def _log_lane(partition: int) -> str:
    return GROUP_LANE if partition == GROUP else f"partition {partition}"


def _producer_lane(number: int) -> str:
    return "producer" if number == 0 else f"producer {number + 1}"


def _act(played: PlayedAct, play: Play) -> CourseAct:
    answered = dict(_answered(played))
    return CourseAct(
        number=played.number,
        text=played.act.text,
        requests=tuple(_request(one, play, answered.get(place)) for place, one in enumerate(played.requests)),
        looks=() if answered else tuple(_looks(played)),
        producers=tuple(CourseProducer(_producer_lane(number), epoch) for number, epoch in played.epochs),
        after=_moment(played.after, play),
    )


def _answered(played: PlayedAct) -> Iterator[tuple[int, Told]]:
    """Yield the places of those requests whose answer is asked for, and question and answer.

    A request that was told to wait is sent again: its last answer counts. Of markers that the coordinator writes by
    itself nobody asks.
    """
    requests = played.requests
    last = {id(one.request): place for place, one in enumerate(requests) if _is_asked_of(one)}
    if len(last) == len(played.told):
        yield from zip(sorted(last.values()), _questions(played), strict=True)


def _is_asked_of(one: PlayedRequest) -> bool:
    """Return whether somebody asks what a request was answered: of a late marker once it has been delivered."""
    return one.sender is not None or one.is_again or bool(one.late and one.answer is not None)


def _questions(played: PlayedAct) -> Iterator[Told]:
    yield from ((asked(played.number, played.act, what), told) for what, told in played.told)


def _looks(played: PlayedAct) -> Iterator[CourseLook]:
    """Yield what is read; whether a promise is kept is no look."""
    for (what, told), (question, _) in zip(played.told, _questions(played), strict=True):
        partition = _PARTITION.search(what)
        lane = GROUP_LANE if isinstance(played.act, ReadOffset) else ""
        at = _log_lane(int(partition[1])) if partition else lane
        if not what.startswith(PROMISED):
            yield CourseLook(at, _PARTITION.sub("", what), question, in_words(told))  # type: ignore[arg-type]


def _request(one: PlayedRequest, play: Play, question: Told | None) -> CourseRequest:
    kind, says, receiver = _said(one.request, play)
    return CourseRequest(
        sender=COORDINATOR if one.sender is None else _producer_lane(one.sender),
        receiver=receiver,
        kind=kind,
        says=says,
        late=one.late,
        is_again=one.is_again,
        answer=None if one.answer is None else named(one.answer) if question is None else str(question[1]),
        is_refused=one.answer is not None and bool(one.answer.error),
        asked=None if question is None else question[0],
        after=_moment(one.after, play),
    )


def _said(request: Request, play: Play) -> tuple[str, str, str]:
    """Return kind, content and receiver of a request."""
    match request:
        case InitProducerId():
            epoch = "" if request.expected is None else f"after epoch {request.expected}"
            return "InitProducerId", epoch, COORDINATOR
        case AddPartitionToTxn(partition=partition) if partition == GROUP:
            return "AddOffsetsToTxn", f"epoch {request.epoch}", COORDINATOR
        case AddPartitionToTxn():
            return "AddPartitionsToTxn", f"{request.partition}, epoch {request.epoch}", COORDINATOR
        case EndTxn():
            return "EndTxn", f"{'commit' if request.commits else 'abort'}, epoch {request.epoch}", COORDINATOR
        case WriteTxnMarker():
            says = f"{COMMIT if request.commits else ABORT}, epoch {request.epoch}"
            return "WriteTxnMarkers", says, _log_lane(request.partition)
        case ProduceBatch(record=record) if record.partition == GROUP:
            return "TxnOffsetCommit", f"offset {play.labels[record]}, epoch {request.epoch}", GROUP_LANE
        case ProduceBatch(record=record):
            says = f"{play.labels[record]}, epoch {request.epoch}, sequence {request.sequence}"
            return "Produce", says, _log_lane(record.partition)


def _moment(known: Known, play: Play) -> CourseMoment:
    epoch = known.coordinator.epoch
    return CourseMoment(
        PHASES[known.coordinator.phase],
        None if epoch == NO_EPOCH else epoch,
        tuple(map(_log_lane, known.coordinator.partitions)),
        tuple(_log(partition, known, play) for partition in range(len(known.logs))),
    )


def _log(partition: int, known: Known, play: Play) -> CourseLog:
    log = known.logs[partition]
    ends = ends_of(log.batches)
    sequences = (None if one.sequence == NO_SEQUENCE else one.sequence for one in log.batches)
    batches = tuple(
        CourseBatch(play.worded(log, offset), batch.epoch, sequence, end)
        for offset, (batch, sequence, end) in enumerate(zip(log.batches, sequences, ends, strict=True))
    )
    return CourseLog(_log_lane(partition), batches, last_stable_offset(log.batches))


def _promises(played: Sequence[PlayedAct]) -> Iterator[CoursePromise]:
    """Yield each promise that the script ends with."""
    for what, told in (one for act in played for one in act.told):
        if what in KINDS and isinstance(told, list):
            names = (_log_lane(one) if what == STUCK else str(one) for one in told)
            yield CoursePromise(KINDS[what], what, tuple(names))
