"""What is known of a log that nobody shows in full? Its epochs and its end, between two bounds.

Records are not kept, only where each epoch starts and where the log ends: a log of a million records is as small as an
empty one. A leader appends what nobody sees, so its end has no upper bound, and neither has the start of an epoch in
which the same leader leads on, until an answer shows it. Every rule asks two logs, the lowest and the highest that are
possible; its answers grow with ends and starts, so the true answer lies between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from msgspec import Struct

from oracle.log import NO_EPOCH, EpochEntry, ReplicaLog
from oracle.replacing import replace
from oracle.vocabulary import LeaderEpoch, Offset

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.log import EpochEnd
    from oracle.tracing.observed import ObservedEpochRun

START = Offset(0)
"""Where every log begins."""
UNBOUNDED = Offset(2**62)
"""An end that nothing bounds from above."""


@dataclass(frozen=True, slots=True)
class EpochLog(ReplicaLog):
    """A log without its records: what truncation rules look at.

    Attributes:
        end: the log end offset.
        forgotten: the first offset whose epoch the cache can tell; records before it were deleted.
    """

    end: Offset = START
    forgotten: Offset = START

    @property
    def log_end_offset(self) -> Offset:  # type: ignore[explicit-override] # typing has it from 3.12 on
        """Offset of the next record."""
        return self.end

    def truncate_to(self, offset: Offset) -> Self:  # type: ignore[explicit-override] # typing has it from 3.12 on
        """Cut the log and its epoch cache so that ``offset`` is the log end offset at most."""
        if offset >= self.end and (not self.epochs or self.epochs[-1].start_offset < offset):
            return self
        kept = tuple(entry for entry in self.epochs if entry.start_offset < offset)
        return replace(self, epochs=kept, end=min(offset, self.end), forgotten=min(self.forgotten, offset))

    def ending_at(self, end: Offset) -> Self:
        """Return the log with another end; no epoch starts later."""
        if end == self.end:
            return self
        entries = (EpochEntry(entry.leader_epoch, min(entry.start_offset, end)) for entry in self.epochs)
        return replace(self, epochs=tuple(entries), end=end)

    def in_epoch(self, epoch: LeaderEpoch) -> Self:
        """Return the log with an epoch that starts at its end, unless the cache knows a later or equal one.

        An epoch without records that ends there must be gone before: ``KnownLog.settled``.
        """
        if epoch <= self.latest_epoch:
            return self
        return replace(self, epochs=(*self.epochs, EpochEntry(epoch, self.end)))

    def appended(self, run: ObservedEpochRun) -> Self:
        """Return the log with a run of records at its end."""
        log = self if run.leader_epoch is None else self.in_epoch(run.leader_epoch)
        return replace(log, end=Offset(max(log.end, run.last_offset + 1)))

    def place_of(self, epoch: LeaderEpoch) -> int | None:
        """Return the place of an epoch in the cache."""
        for place, entry in enumerate(self.epochs):
            if entry.leader_epoch == epoch:
                return place
        return None

    def start_of(self, epoch: LeaderEpoch) -> Offset:
        """Return where an epoch starts; the end if it is not in the cache."""
        place = self.place_of(epoch)
        return self.end if place is None else self.epochs[place].start_offset

    def beginning_in(self, place: int, start: Offset) -> Self:
        """Return the log if the epoch at a place is the first that its cache still has, and the log begins there."""
        starts = [max(entry.start_offset, Offset(start + 1)) for entry in self.epochs]
        if place < len(starts):
            starts[place] = start if place else max(self.epochs[0].start_offset, start)
        kept = zip(self.epochs[place:], starts[place:], strict=True)
        epochs = tuple(EpochEntry(entry.leader_epoch, begins) for entry, begins in kept)
        return replace(self, epochs=epochs, end=max(self.end, start), forgotten=start)

    def with_epoch_of_last_record(self) -> Self:
        """Return the log if its last record's epoch is in the cache again: that it was forgotten was not written."""
        if not self.epochs or not self.end or self.epochs[-1].start_offset < self.end:
            return self
        return self.starting(len(self.epochs) - 1, Offset(self.end - 1))

    def starting(self, place: int, start: Offset) -> Self:
        """Return the log with another start of one epoch."""
        entry = EpochEntry(self.epochs[place].leader_epoch, start)
        return replace(self, epochs=(*self.epochs[:place], entry, *self.epochs[place + 1 :]))


class KnownLog(Struct, frozen=True, gc=False):
    """A log between two bounds, of the same epochs.

    Attributes:
        low: the shortest that it may be, its epochs starting as early as they may.
        high: the longest that it may be, its epochs starting as late as they may.
    """

    low: EpochLog = EpochLog()
    high: EpochLog = EpochLog()

    def both(self, change: Callable[[EpochLog], EpochLog]) -> KnownLog:
        """Return the log with both bounds changed."""
        low = change(self.low)
        high = low if self.high is self.low else change(self.high)
        return self if low is self.low and high is self.high else KnownLog(low, high)

    def covers(self, other: KnownLog) -> bool:
        """Return whether this log may be all that another one may be, by bounds that are as wide or wider."""
        return _is_within(self.low, other.low) and _is_within(other.high, self.high)

    def opened(self) -> KnownLog:
        """Return a leader's log: it may grow unseen."""
        return KnownLog(self.low, replace(self.high, end=UNBOUNDED))

    def ending_at(self, end: Offset) -> KnownLog:
        """Return the log now that its end is known."""
        return self.both(lambda log: log.ending_at(end))

    def cut_to(self, offset: Offset) -> tuple[KnownLog, ...]:
        """Return what the log may be after a cut: two, if it may have dropped an epoch or not."""
        cut = self.both(lambda log: log.truncate_to(offset))
        if len(cut.low.epochs) == len(cut.high.epochs):
            return (cut,)
        return (KnownLog(cut.low, cut.low), KnownLog(cut.high, cut.high))

    def settled(self) -> tuple[KnownLog, ...]:
        """Return what the log may be once an epoch without records at its end is gone.

        It goes when a broker starts, and when a later epoch starts at the same offset.
        """
        if not self.low.epochs:
            return (self,)
        first, last = self.low.epochs[-1].start_offset, self.high.epochs[-1].start_offset
        without = self.both(lambda log: replace(log, epochs=log.epochs[:-1]))
        if first >= self.high.end:
            return without.settled()
        kept = self.at_least(Offset(first + 1))
        return (kept,) if last < self.low.end else (*without.settled(), kept)

    def restarted(self, start: Offset, *, is_written: bool) -> tuple[KnownLog, ...]:
        """Return what the log may be once its broker has started, if its first record was at an offset.

        Deleting records moves the start of an epoch with the log's start; where that is the log's end the epoch has
        no records left, and loading the log drops it (LeaderEpochFileCache.truncateFromStart, truncateFromEnd;
        clearAndFlushEarliest, clearAndFlushLatest before 2.4).

        Args:
            start: the log start offset at the broker's end.
            is_written: the cache was on disk for certain; a broker that is killed may not have got to it.
        """
        if start < self.low.end or not start:
            return self.settled()
        bare = EpochLog(end=start)
        emptied = KnownLog(bare, bare)
        if is_written and self.high.end <= start:
            return (emptied,)
        return (emptied, *self.both(EpochLog.with_epoch_of_last_record).settled())

    def with_epoch_read_again(self, epoch: LeaderEpoch) -> tuple[KnownLog, ...]:
        """Return what else the log of a killed broker may be whose cache is empty: its disk has deleted records still.

        Recovery reads them, and their epoch is news to such a cache (LogSegment.recover).
        """
        if epoch == NO_EPOCH or self.low.epochs or not self.low.end:
            return ()
        low, high = (EpochEntry(epoch, Offset(start)) for start in (0, self.high.end - 1))
        return (KnownLog(replace(self.low, epochs=(low,)), replace(self.high, epochs=(high,))),)

    def starting_at(self, start: Offset) -> tuple[KnownLog, ...]:
        """Return what the log may be now that it is known to begin at an offset.

        Its cache has forgotten the epochs that end before (``ReplicaLog.starting_at``): there is one answer for each
        epoch that may be the first left.
        """
        if start <= self.low.forgotten:
            return (self,)
        first, last = (
            max(sum(entry.start_offset <= start for entry in log.epochs) - 1, 0) for log in (self.high, self.low)
        )
        return tuple(self._beginning_in(place, start) for place in range(first, last + 1))

    def _beginning_in(self, place: int, start: Offset) -> KnownLog:
        return self.both(lambda log: log.beginning_in(place, start))

    def is_end(self, offset: Offset) -> bool:
        """Return whether the log may end there."""
        return self.low.end <= offset <= self.high.end

    def at_least(self, end: Offset) -> KnownLog:
        """Return a leader's log now that it is known to reach an offset."""
        return self if end <= self.low.end else KnownLog(replace(self.low, end=end), self.high)

    def may_hold(self, run: ObservedEpochRun) -> bool:
        """Return whether records of an epoch may lie at these offsets."""
        if run.leader_epoch is None or run.last_offset >= self.high.end:
            return run.leader_epoch is None
        place = self.low.place_of(run.leader_epoch)
        if place is None:
            return run.last_offset < self.low.forgotten
        if self.low.epochs[place].start_offset > max(run.first_offset, self.low.forgotten):
            return False
        is_last = place + 1 == len(self.high.epochs)
        return is_last or self.high.epochs[place + 1].start_offset > run.last_offset

    def holding(self, run: ObservedEpochRun) -> KnownLog:
        """Return the log now that a run of its records was seen; ``may_hold`` must tell that it may."""
        log = self.at_least(Offset(run.last_offset + 1))
        place = None if run.leader_epoch is None else log.low.place_of(run.leader_epoch)
        if place is None:
            return log
        low, high = log.low, log.high
        if high.epochs[place].start_offset > max(run.first_offset, high.forgotten):
            high = high.starting(place, max(run.first_offset, high.forgotten))
        if place + 1 < len(low.epochs) and low.epochs[place + 1].start_offset <= run.last_offset:
            low = low.starting(place + 1, Offset(run.last_offset + 1))
        return KnownLog(low, high)

    def ends_of(
        self, end_offset_for: Callable[[ReplicaLog, LeaderEpoch], EpochEnd], epoch: LeaderEpoch
    ) -> tuple[EpochEnd, EpochEnd]:
        """Return the answers about an epoch that the two bounds give."""
        return end_offset_for(self.low, epoch), end_offset_for(self.high, epoch)

    def with_end_of(self, epoch: LeaderEpoch, end: Offset) -> KnownLog:
        """Return the log now that it is known where an epoch ends."""
        following = (place for place, entry in enumerate(self.low.epochs) if entry.leader_epoch > epoch)
        place = next(following, None)
        if place is None:
            return self.at_least(end)
        return self.both(lambda log: log.starting(place, end))


def _is_within(lower: EpochLog, higher: EpochLog) -> bool:
    """Return whether two logs have the same epochs, and one nothing that ends or starts later than in the other."""
    if lower.end > higher.end or lower.forgotten != higher.forgotten or len(lower.epochs) != len(higher.epochs):
        return False
    return all(
        one.leader_epoch == other.leader_epoch and one.start_offset <= other.start_offset
        for one, other in zip(lower.epochs, higher.epochs, strict=True)
    )
