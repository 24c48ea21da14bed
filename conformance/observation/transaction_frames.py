"""Which frames of a script of transactions do the rules not allow? Read from the run's wire, of its transactional id.

Requests of producers and markers of coordinators, each with its answer: by when each left the gate, and its answer came
there; a marker also by when its coordinator sent it. What a leader asks of the coordinator before it appends is part of
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.wire import PRODUCE
from oracle.error_codes import ErrorCode
from oracle.transactions.frames import FrameReplay
from oracle.transactions.play import GROUP
from oracle.transactions.state import (
    NO_EPOCH,
    NO_SEQUENCE,
    AddPartitionToTxn,
    Answer,
    EndTxn,
    InitProducerId,
    ProduceBatch,
    Record,
    WriteTxnMarker,
)
from oracle.vocabulary import CONSUMER_OFFSETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.record.wire import FrameEntry, TracedFrame
    from oracle.rules.transactions import TransactionRules
    from oracle.transactions.state import Request

INIT_PRODUCER_ID, END_TXN, MARKERS = "InitProducerId", "EndTxn", "WriteTxnMarkers"
ADD_PARTITIONS, ADD_OFFSETS, COMMIT_OFFSET = "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit"
OF_PRODUCERS = frozenset({PRODUCE, INIT_PRODUCER_ID, ADD_PARTITIONS, ADD_OFFSETS, END_TXN, COMMIT_OFFSET})
LONE = "aborted"
"""The outcome of an answer that nobody hears."""


def refused_frame(frames: Iterable[TracedFrame], rules: TransactionRules) -> str | None:
    """Return the first frame that the rules do not allow, in words; None if they allow all.

    Args:
        frames: of a run, each once, with its fate; there is one transactional id.
        rules: the release's.
    """
    replay = _TransactionalWire(rules)
    for _, is_sent, frame in sorted(_moments(frames), key=lambda one: one[:2]):
        why = replay.sent(frame) if is_sent else replay.take(frame)
        if why is not None:
            return f"frame {frame.seq}, {frame.api} {frame.direction}: {why}"
    return None if replay.requests else "no request of a producer is on the wire"


def _moments(frames: Iterable[TracedFrame]) -> Iterator[tuple[int, bool, TracedFrame]]:
    """Yield requests when they left the gate, and answers when they came there; markers first when they were sent."""
    for frame in frames:
        if frame.api not in OF_PRODUCERS | {MARKERS}:
            continue
        if frame.direction == "response":
            yield frame.arrived_ns, False, frame
            continue
        if frame.api == MARKERS:
            yield frame.arrived_ns, True, frame
        if frame.forwarded_ns is not None:
            yield frame.forwarded_ns, False, frame


class _TransactionalWire:
    """The frames of one transactional id, as the replay takes them."""

    def __init__(self, rules: TransactionRules) -> None:
        self._replay = FrameReplay(rules)
        self._under_way: dict[tuple[int, int | None], dict[tuple[str, int], int]] = {}
        self._producer_ids: set[int] = set()
        self._first_coordinator_epoch: int | None = None
        self.requests = 0

    def sent(self, frame: TracedFrame) -> str | None:
        """Take markers that a coordinator has sent; return why they are refused, None if they are not."""
        refused = (self._replay.marker(marker) for _, marker in self._markers(frame.said.entries))
        return next((why for why in refused if why is not None), None)

    def take(self, frame: TracedFrame) -> str | None:
        """Take a frame; return why it is refused, None if it is not, or is not one of these."""
        if frame.direction == "response":
            return self._answered(frame)
        numbers: dict[tuple[str, int], int] = {}
        for name, request in self._requests(frame):
            self.requests += 1
            numbers[name] = self.requests
            self._replay.request(self.requests, request)
        if numbers:
            self._under_way[frame.connection, frame.correlation_id] = numbers
        return None

    def _answered(self, frame: TracedFrame) -> str | None:
        numbers = self._under_way.pop((frame.connection, frame.correlation_id), {})
        if frame.api == INIT_PRODUCER_ID and numbers and not frame.said.error:
            self._producer_ids.add(frame.said.producer_id)
        for (topic, partition), number in numbers.items():
            error, epoch = _told(frame, topic, partition)
            why = self._replay.answer(number, Answer(ErrorCode(error), epoch), is_heard=frame.outcome != LONE)
            if why is not None:
                return why
        return None

    def _requests(self, frame: TracedFrame) -> Iterator[tuple[tuple[str, int], Request]]:
        said = frame.said
        if frame.api == MARKERS:
            yield from self._markers(said.entries)
        elif frame.link != "client":
            return
        elif frame.api == INIT_PRODUCER_ID:
            yield ("", 0), InitProducerId(said.producer_epoch if said.producer_epoch != NO_EPOCH else None)
        elif frame.api == END_TXN:
            yield ("", 0), EndTxn(said.producer_epoch, bool(said.commits))
        elif frame.api == ADD_OFFSETS:
            yield ("", 0), AddPartitionToTxn(said.producer_epoch, GROUP)
        else:
            for entry in said.entries:
                yield (entry.topic or "", entry.partition), self._of_partition(frame, entry)

    def _of_partition(self, frame: TracedFrame, entry: FrameEntry) -> Request:
        if frame.api == ADD_PARTITIONS:
            return AddPartitionToTxn(entry.producer_epoch, entry.partition)
        if frame.api == PRODUCE:
            record = Record(self.requests + 1, entry.partition)
            return ProduceBatch(entry.producer_epoch, entry.base_sequence, record)
        return ProduceBatch(frame.said.producer_epoch, NO_SEQUENCE, Record(self.requests + 1, GROUP))

    def _markers(self, entries: Iterable[FrameEntry]) -> Iterator[tuple[tuple[str, int], WriteTxnMarker]]:
        for entry in entries:
            if entry.producer_id not in self._producer_ids:
                continue
            if self._first_coordinator_epoch is None:
                self._first_coordinator_epoch = entry.coordinator_epoch
            partition = entry.partition if entry.topic != CONSUMER_OFFSETS else GROUP
            epoch = entry.coordinator_epoch - self._first_coordinator_epoch
            marker = WriteTxnMarker(entry.producer_epoch, partition, bool(entry.commits), epoch)
            yield (entry.topic or "", entry.partition), marker


def _told(frame: TracedFrame, topic: str, partition: int) -> tuple[int, int]:
    """Return error and epoch of an answer about a partition."""
    of_partition = [entry.error for entry in frame.said.entries if (entry.topic, entry.partition) == (topic, partition)]
    return frame.said.error or next(iter(of_partition), 0), frame.said.producer_epoch
