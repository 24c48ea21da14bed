"""What became of the batches that are no plain case? Each is followed over the wire, by the ids of its records.

A plain case is a batch that was sent once, and whose acknowledgement says where it is in the log at rest. All others
are told apart here: what was acknowledged and is lost, or may be; what nobody was told of; what was sent again. Every
record in the log at rest of several replicas was in some answer to a follower, so a batch that no answer brought, and
that nobody acknowledged, is not there.

Source: ``ReplicaManager.fetchMessages``: followers get what leaders have as it is, batch by batch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.observation.wire_moments import WireMoments, request_key
from conformance.record.attached import IDS_MAX
from conformance.record.soak import WIRE_FILE
from conformance.record.soak_prediction import ACKNOWLEDGED, UNANSWERED, BatchRow
from conformance.record.wire import FETCH, NONE, PRODUCE
from conformance.soak.open_batches import Copy, OpenBatches, SentBatch, pieces
from conformance.soak.stream import told_of
from conformance.wire_trace.partition import TopicOfInterest
from oracle.error_codes import error_name
from oracle.guarantees import judge_loss
from oracle.schedule import TopicSettings
from oracle.state import LostRecord
from oracle.vocabulary import Acks, BrokerId, Label, LeaderEpoch, Offset, ProduceOutcome, RangeFate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conformance.observation.wire_moments import WireMoment
    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.wire import BatchOfIds, FrameEntry
    from conformance.soak.lineage import Lineage
    from conformance.soak.open_batches import IdsSentAgain
    from oracle.tracing.committed import Epochs, FatedRange, FinalLog
    from oracle.tracing.observed import RequestKey, TopicPartition


UNKNOWN_EPOCH = "its leader epoch is not known"


class FollowedBatches:
    """Goes through the frames of producers and followers once, and yields what is no plain case.

    Args:
        run: the soak.
        soak: of it.
        lineage: replayed to its end.
        again: noted of the whole trace.
        tell: told every few seconds how far it is.
    """

    def __init__(
        self,
        run: RunDirectory,
        soak: Soak,
        lineage: Lineage,
        again: IdsSentAgain,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._soak = soak
        self._tell = tell
        self._moments = WireMoments(run.path / WIRE_FILE)
        self._topic = TopicOfInterest(soak.topic, soak.topic_id)
        self._lineage = lineage
        self._again = again
        self._final: Mapping[TopicPartition, FinalLog] = lineage.final
        self._open = OpenBatches(soak)
        self._spans: dict[TopicPartition, list[FatedRange]] = {}
        self._left_open = JoinedRows()
        self._asked: dict[RequestKey, list[SentBatch]] = {}

    def rows(self) -> Iterator[BatchRow]:
        """Yield the rows; those of batches that stay unanswered, or were sent again, come at the end."""
        for moment in told_of(self._moments, self._soak, self._tell, "followed batches through", "frames"):
            frame = moment.frame
            if moment.is_delivery:
                continue
            if frame.is_request(PRODUCE):
                self._sent(moment)
            elif frame.is_answer(PRODUCE):
                yield from self._answered(moment)
            elif frame.is_answer(FETCH) and frame.link == "replication":
                self._fetched(moment)
        yield from self._left_open.rest()
        for batches in self._open.left():
            yield from joined(self._left(batches))

    def _sent(self, moment: WireMoment) -> None:
        frame = moment.frame
        for entry in frame.said.entries:
            partition = self._topic.partition_of(entry)
            if partition is None:
                continue
            for batch in pieces(entry, self._soak.partitions):
                is_again = self._again.has(entry.partition, batch.first_id, batch.count)
                sent = SentBatch(
                    partition, batch.first_id, batch.count, BrokerId(frame.destination), frame.said.acks or 0,
                    batch.base_offset, is_again,
                )  # fmt: skip
                self._open.add(sent)
                self._asked.setdefault(request_key(frame), []).append(sent)

    def _answered(self, moment: WireMoment) -> Iterator[BatchRow]:
        given = {self._topic.partition_of(entry): entry for entry in moment.frame.said.entries}
        for sent in self._asked.pop(request_key(moment.frame), ()):
            entry = given.get(sent.partition)
            if entry is None:
                continue
            if entry.error or entry.base_offset < 0:
                sent.answer = error_name(entry.error)
                continue
            sent.answer = ACKNOWLEDGED
            yield from self._acknowledged(sent, Offset(entry.base_offset + sent.place), moment.at)

    def _acknowledged(self, sent: SentBatch, base: Offset, at: int) -> Iterator[BatchRow]:
        epochs = self._lineage.epochs_of(sent.partition, sent.leader, at)
        copy = Copy(epochs, base, sent.first_id, sent.count)
        if epochs:
            sent.note(copy, is_carried=True)
        if sent.is_sent_again:
            return
        self._open.close(sent)
        why_open = self._final[sent.partition].why_open
        if why_open is not None:
            yield from self._left_open.add(self._either(sent, None, why_open))
            return
        if not epochs:
            yield self._either(sent, base, UNKNOWN_EPOCH)
        for row in self._rows_of(sent, copy) if epochs else ():
            if row.fate != RangeFate.PRESENT:
                yield row

    def _fetched(self, moment: WireMoment) -> None:
        for entry in moment.frame.said.entries:
            partition = self._topic.partition_of(entry)
            for batch in pieces(entry, self._soak.partitions) if partition is not None else ():
                for sent in self._open.around(entry.partition, batch):
                    self._note_copy(sent, entry, batch, moment)

    def _note_copy(self, sent: SentBatch, entry: FrameEntry, batch: BatchOfIds, moment: WireMoment) -> None:
        """Note the records of a batch that an answer to a follower brings."""
        step = self._soak.partitions
        skipped, rest = divmod(sent.first_id - batch.first_id, step)
        first, end = max(skipped, 0), min(skipped + sent.count, batch.count)
        if rest or first >= end or batch.first_id < 0:
            return
        base = Offset(batch.base_offset + first)
        carried = _carried(entry, base)
        epochs = carried or self._lineage.led_at(sent.partition, BrokerId(moment.frame.destination), moment.at)
        if epochs:
            sent.note(Copy(epochs, base, batch.first_id + first * step, end - first), is_carried=bool(carried))

    def _left(self, batches: list[SentBatch]) -> Iterator[BatchRow]:
        """Yield what became of batches that stay unanswered, were refused, or sent again: each copy once."""
        told: set[Copy] = set()
        for sent in sorted(batches, key=lambda one: (one.first_id, one.answer != ACKNOWLEDGED)):
            sent.is_kept = any(self._is_kept(sent.partition, copy) for copy in sent.copies)
            for copy in sent.copies:
                if copy not in told:
                    told.add(copy)
                    yield from self._rows_of(sent, copy)
            if not sent.copies:
                yield self._unseen(sent)

    def _is_kept(self, partition: TopicPartition, copy: Copy) -> bool:
        fates = self._final[partition].fates(copy.epochs, copy.base_offset, Offset(copy.end - 1))
        return any(one.fate is RangeFate.PRESENT for one in fates)

    def _unseen(self, sent: SentBatch) -> BatchRow:
        if self._soak.replicas > 1:
            why = "no follower was ever given it, so that no log at rest has it"
            return self._row(sent, None, NONE, sent.first_id, sent.count, RangeFate.LOST, why)
        why = "it did not answer" if sent.answer == UNANSWERED else f"it answered {sent.answer}"
        return self._either(sent, None, f"nobody fetches from the only replica, and {why}")

    def _either(self, sent: SentBatch, base: Offset | None, why: str) -> BatchRow:
        return self._row(sent, base, NONE, sent.first_id, sent.count, RangeFate.EITHER, why)

    def _rows_of(self, sent: SentBatch, copy: Copy) -> Iterator[BatchRow]:
        final, step = self._final[sent.partition], self._soak.partitions
        last = Offset(copy.end - 1)
        for one in final.fates(copy.epochs, copy.base_offset, last):
            first_id = copy.first_id + (one.first - copy.base_offset) * step
            why = self.why(sent.partition, one.leader_epoch, one.fate)
            yield self._row(sent, one.first, one.leader_epoch, first_id, one.last - one.first + 1, one.fate, why)

    def why(self, partition: TopicPartition, epoch: LeaderEpoch, fate: RangeFate) -> str:
        """Return why records of a leader epoch are lost, or may be; empty if they are present."""
        if fate is RangeFate.PRESENT:
            return ""
        if (why_open := self._final[partition].why_open) is not None:
            return why_open
        if partition not in self._spans:
            self._spans[partition] = list(self._final[partition].spans())
        following = min((one for one in self._spans[partition] if one.leader_epoch > epoch), default=None)
        if following is None:
            return "nothing shows where the log ended"
        leader = self._lineage.leaders.get((partition, following.leader_epoch), NONE)
        begun = f"leader epoch {following.leader_epoch} began at offset {following.first} on broker {leader}"
        return f"{begun}, which had no more of epoch {epoch}" if fate is RangeFate.LOST else f"{begun}, or later"

    def _row(
        self, sent: SentBatch, base: int | None, epoch: int, first_id: int, count: int, fate: RangeFate, why: str
    ) -> BatchRow:
        return BatchRow(
            partition=sent.partition.partition,
            producer=(sent.first_id - self._soak.base) // IDS_MAX,
            first_id=first_id,
            count=count,
            step=self._soak.partitions,
            base_offset=base,
            leader_epoch=epoch,
            acks=sent.acks,
            answer=sent.answer,
            fate=fate.value,
            rule="" if fate is RangeFate.PRESENT else self._lineage.rules.truncation.rule.name,
            reason=why,
            promise="" if fate is RangeFate.PRESENT or sent.is_kept else self._promise_of(sent),
        )

    def _promise_of(self, sent: SentBatch) -> str:
        """Return what the loss of a batch is to its promise, if it was acknowledged: a soak's elections are clean."""
        if sent.answer != ACKNOWLEDGED:
            return ""
        settings = TopicSettings(self._soak.min_insync_replicas, unclean_leader_election=False)
        loss = LostRecord(Label(""), sent.leader, was_clean=True, had_appended=False)
        source = self._lineage.rules.truncation.rule.source
        return judge_loss(Acks(sent.acks), ProduceOutcome.ACKNOWLEDGED, settings, loss, source).verdict.value


class JoinedRows:
    """Rows, those that go on where the one before ends as one with it: what stays open may be very much."""

    def __init__(self) -> None:
        self._last: dict[tuple[int, int], BatchRow] = {}

    def add(self, row: BatchRow) -> Iterator[BatchRow]:
        """Add a row; yield the one before it, of its partition and producer, if it does not go on there."""
        key = row.partition, row.producer
        last = self._last.get(key)
        if last is not None and row == _after(last, row.count):
            row = replace(last, count=last.count + row.count)
        elif last is not None:
            yield last
        self._last[key] = row

    def rest(self) -> Iterator[BatchRow]:
        """Yield the rows after which none has come."""
        yield from self._last.values()


def joined(rows: Iterator[BatchRow]) -> Iterator[BatchRow]:
    """Yield rows, those that go on where the one before ends as one with it."""
    together = JoinedRows()
    for row in rows:
        yield from together.add(row)
    yield from together.rest()


def _after(row: BatchRow, count: int) -> BatchRow:
    """Return the row of so many records that goes on where another one ends."""
    base = None if row.base_offset is None else row.base_offset + row.count
    return replace(row, first_id=row.first_id + row.count * row.step, base_offset=base, count=count)


def _carried(entry: FrameEntry, offset: Offset) -> Epochs:
    """Return the leader epoch that a batch in an answer carries; none where batches carry none."""
    for run in entry.epochs:
        first = offset if run.first_offset is None else run.first_offset
        if run.leader_epoch is not None and first <= offset <= run.last_offset:
            return frozenset((LeaderEpoch(run.leader_epoch),))
    return frozenset()
