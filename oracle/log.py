"""What does one replica's log hold? Entries by offset and the leader-epoch cache beside them.

Immutable: every operation returns a new log. The cache is kept apart from the entries because
Kafka keeps it in a file of its own, filled at different moments by different releases.

Sources: KIP-101 (LeaderEpochFileCache), KIP-279, kafka.log.UnifiedLog.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.vocabulary import Label, LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Iterable

NO_EPOCH = LeaderEpoch(-1)


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One record: its label, the leader epoch it was written in, and whether its batch says so.

    Attributes:
        is_stamped: the batch carries the epoch: not in message formats before 0.11.
    """

    label: Label
    leader_epoch: LeaderEpoch
    is_stamped: bool = True


@dataclass(frozen=True, slots=True)
class EpochEntry:
    """A line of leader-epoch-checkpoint: the first offset written in an epoch."""

    leader_epoch: LeaderEpoch
    start_offset: Offset


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """An answer to OffsetsForLeaderEpoch; both fields None when the leader cannot tell."""

    leader_epoch: LeaderEpoch | None
    end_offset: Offset | None


UNDEFINED = EpochEnd(None, None)


@dataclass(frozen=True, slots=True)
class ReplicaLog:
    """An immutable replica log.

    Attributes:
        entries: records from offset 0 on; appends and truncation move its end.
            Invariant: leader epochs never decrease along the log.
        epochs: the leader-epoch cache.
            Invariant: strictly increasing in the epoch, never decreasing in the start offset.
    """

    entries: tuple[ModelRecord, ...] = ()
    epochs: tuple[EpochEntry, ...] = ()

    @property
    def log_end_offset(self) -> Offset:
        """Offset of the next record (HW-01)."""
        return Offset(len(self.entries))

    @property
    def latest_epoch(self) -> LeaderEpoch:
        """Last epoch of the cache, or NO_EPOCH."""
        return self.epochs[-1].leader_epoch if self.epochs else NO_EPOCH

    def append(self, entries: Iterable[ModelRecord]) -> ReplicaLog:
        """Append records; an epoch that a batch carries and was not seen before enters the cache (LE-07)."""
        log = self
        for entry in entries:
            cached = log.with_epoch(entry.leader_epoch) if entry.is_stamped else log
            log = replace(cached, entries=(*cached.entries, entry))
        return log

    def with_epoch(self, epoch: LeaderEpoch) -> ReplicaLog:
        """Record that ``epoch`` starts at the log end, unless the cache knows a later or equal one."""
        if epoch <= self.latest_epoch:
            return self
        start = self.log_end_offset
        kept = tuple(entry for entry in self.epochs if entry.start_offset < start)
        return replace(self, epochs=(*kept, EpochEntry(epoch, start)))

    def truncate_to(self, offset: Offset) -> ReplicaLog:
        """Cut the log and its epoch cache so that ``offset`` is the log end offset at most."""
        return ReplicaLog(self.entries[:offset], tuple(e for e in self.epochs if e.start_offset < offset))

    def starting_at(self, offset: Offset) -> ReplicaLog:
        """Forget the epochs that end before a new log start; the one that it lies in begins there.

        Source: LeaderEpochFileCache.truncateFromStart; clearAndFlushEarliest up to 2.0.0.
        """
        before = [entry for entry in self.epochs if entry.start_offset <= offset]
        if not before:
            return self
        kept = (entry for entry in self.epochs if entry.start_offset > offset)
        return replace(self, epochs=(EpochEntry(before[-1].leader_epoch, offset), *kept))

    def end_offset_for(self, epoch: LeaderEpoch) -> EpochEnd:
        """Return the largest epoch not above ``epoch`` and where it ends (KIP-279)."""
        if epoch == NO_EPOCH or epoch > self.latest_epoch:
            return UNDEFINED
        if epoch == self.latest_epoch:
            return EpochEnd(epoch, self.log_end_offset)
        following = next(entry for entry in self.epochs if entry.leader_epoch > epoch)
        earlier = [entry.leader_epoch for entry in self.epochs if entry.leader_epoch <= epoch]
        return EpochEnd(earlier[-1] if earlier else None, following.start_offset)
