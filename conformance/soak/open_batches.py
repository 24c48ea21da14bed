"""Which batches have left their producers, and may have copies still to be seen? Kept by the ids of their records."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from conformance.record.attached import IDS_MAX
from conformance.record.soak_prediction import UNANSWERED
from conformance.record.wire import BatchOfIds
from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.soak import Soak
    from conformance.record.wire import FrameEntry
    from oracle.tracing.committed import Epochs
    from oracle.tracing.observed import TopicPartition
    from oracle.vocabulary import BrokerId


def pieces(entry: FrameEntry, step: int) -> Iterator[BatchOfIds]:
    """Yield the ids of an entry, in pieces in which they grow by one step."""
    for batch in entry.batches:
        if batch.count == 1 or batch.step == step:
            yield batch
        else:
            for place in range(batch.count):
                yield BatchOfIds(batch.base_offset + place, 1, batch.first_id + place * batch.step)


class Copy(NamedTuple):
    """Some records of a batch, as they lie in a log.

    Attributes:
        epochs: the leader epoch in which they were appended, or several of one leader that it may have been.
    """

    epochs: Epochs
    base_offset: Offset
    first_id: int
    records: int

    @property
    def end(self) -> Offset:
        """Return the offset after the last of them."""
        return Offset(self.base_offset + self.records)

    def covers(self, other: Copy, *, of_any_epoch: bool) -> bool:
        """Return whether all records of another copy are among these, at the same offsets."""
        is_same = of_any_epoch or bool(self.epochs & other.epochs)
        return is_same and self.base_offset <= other.base_offset and other.end <= self.end


@dataclass(slots=True)
class SentBatch:
    """A batch that left its producer, once.

    Attributes:
        first_id, count: its ids: ``first_id``, and on by the number of partitions.
        leader: the broker that it was sent to.
        place: of its first record among those that were sent with it: a batch from which ids are missing has pieces.
        answer: ``acknowledged``, the name of an error, or ``none``.
        copies: where it lies, as far as answers to followers and its own acknowledgement show.
        is_kept: whether the log at rest has one of several copies, so that another may be lost.
    """

    partition: TopicPartition
    first_id: int
    count: int
    leader: BrokerId
    acks: int
    place: int = 0
    is_sent_again: bool = False
    answer: str = UNANSWERED
    copies: list[Copy] = field(default_factory=list)
    is_kept: bool = False

    def note(self, copy: Copy, *, is_carried: bool) -> None:
        """Note where some of its records lie, unless that is known.

        Args:
            copy: where.
            is_carried: whether the batch itself tells its leader epoch; else it is that of the first who sent it.
        """
        if not any(one.covers(copy, of_any_epoch=not is_carried) for one in self.copies):
            self.copies = [one for one in self.copies if not copy.covers(one, of_any_epoch=False)]
            self.copies.append(copy)


class IdsSentAgain:
    """Which ids left their producer more than once? As ranges, by partition and producer."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        self._following: dict[tuple[int, int], int] = {}
        self._again: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)

    def sent(self, partition: int, first_id: int, count: int) -> int:
        """Note a batch that leaves its producer; return how many of its records do for the first time."""
        key = (partition, (first_id - self._soak.base) // IDS_MAX)
        end = first_id + count * self._soak.partitions
        following = self._following.get(key, first_id)
        if first_id < following:
            self._again[key].append((first_id, min(end, following)))
        self._following[key] = max(end, following)
        return max(end - max(first_id, following), 0) // self._soak.partitions

    @property
    def are_none(self) -> bool:
        """Return whether every id left its producer once."""
        return not self._again

    def has(self, partition: int, first_id: int, count: int) -> bool:
        """Return whether some record of a batch is sent more than once, by the end."""
        key = (partition, (first_id - self._soak.base) // IDS_MAX)
        end = first_id + count * self._soak.partitions
        return any(first < end and first_id < last for first, last in self._again.get(key, ()))


class OpenBatches:
    """The batches that may have copies still to be seen, by partition and producer in the order of their ids."""

    def __init__(self, soak: Soak) -> None:
        self._soak = soak
        self._batches: defaultdict[tuple[int, int], list[SentBatch]] = defaultdict(list)
        self._longest = 0

    def _of(self, partition: int, first_id: int) -> list[SentBatch]:
        return self._batches[partition, (first_id - self._soak.base) // IDS_MAX]

    def add(self, sent: SentBatch) -> None:
        """Keep a batch that leaves its producer."""
        self._longest = max(self._longest, sent.count * self._soak.partitions)
        insort(self._of(sent.partition.partition, sent.first_id), sent, key=_first_id)

    def close(self, sent: SentBatch) -> None:
        """Forget a batch of which nothing more is to be seen."""
        batches = self._of(sent.partition.partition, sent.first_id)
        place = bisect_left(batches, sent.first_id, key=_first_id)
        while batches[place] is not sent:
            place += 1
        del batches[place]

    def around(self, partition: int, batch: BatchOfIds) -> Iterator[SentBatch]:
        """Yield the batches that may share ids with one that an answer brings."""
        if batch.first_id < 0:
            return
        batches = self._of(partition, batch.first_id)
        place = bisect_right(batches, batch.first_id - self._longest, key=_first_id)
        end = batch.first_id + batch.count * self._soak.partitions
        while place < len(batches) and batches[place].first_id < end:
            yield batches[place]
            place += 1

    def left(self) -> Iterator[list[SentBatch]]:
        """Yield what is left, by partition and producer."""
        for _, batches in sorted(self._batches.items()):
            yield batches


def _first_id(sent: SentBatch) -> int:
    return sent.first_id
