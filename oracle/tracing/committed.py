"""What does a partition hold in the end, by leader epoch, and what became of what some leader had appended?

Replicas are replayed event by event (``partition_replay``), and what their logs may be is kept as epochs between two
bounds. A record is known by its offset and the leader epoch in which it was appended: one leader appends in an epoch,
so no two records share both. Whoever reads, reads of the last leader: its log decides, and where its bounds leave it
open those of followers that have as much do. They may differ: cut to high watermarks, logs of replicas in sync diverge.

So a fate costs as much for a million records as for one: memory follows ranges.

Sources: KIP-101 (an epoch has one leader); Log, LeaderEpochFileCache.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, combinations, groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from oracle.log import NO_EPOCH
from oracle.replacing import replace
from oracle.tracing.known_log import UNBOUNDED
from oracle.tracing.observed import FetchAnswered, ObservedEpochRun
from oracle.vocabulary import BrokerId, LeaderEpoch, Offset, RangeFate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oracle.tracing.known_log import EpochLog, KnownLog
    from oracle.tracing.partition_replay import PartitionReplay
    from oracle.tracing.replica import TracedReplica


class FatedRange(NamedTuple):
    """Offsets ``first`` to ``last``, appended in a leader epoch, and what became of the records there."""

    leader_epoch: LeaderEpoch
    first: Offset
    last: Offset
    fate: RangeFate


Epochs = frozenset[LeaderEpoch]
"""The leader epochs in which something may have been appended: several where its leader led on in the next one."""


@dataclass(frozen=True, slots=True)
class FinalLog:
    """A partition's log at rest, as far as it is known.

    Attributes:
        replicas: of each replica that counts, the leader first, what its log may be: one or several possibilities.
        end: its log end offset: what every replica has for certain.
        leader: the broker of the newest leader epoch; None if nobody leads.
        why_open: why nothing is known of it, neither its epochs nor where it ends; then ``end`` is the end of what was
            seen of the partition, and any of it may be there or not. None if its replicas were followed to the end.
    """

    replicas: tuple[tuple[KnownLog, ...], ...]
    end: Offset
    leader: BrokerId | None
    why_open: str | None = None
    _fated: dict[Epochs, list[FatedRange]] = field(default_factory=dict, compare=False, repr=False)

    def fates(self, epochs: Epochs, first: Offset, last: Offset) -> Iterator[FatedRange]:
        """Yield what became of the records that a leader appended at these offsets in one of its epochs."""
        if epochs not in self._fated:
            self._fated[epochs] = list(self._all_fates(epochs))
        for _, start, end, fate in self._fated[epochs]:
            if start <= last and first <= end:
                yield FatedRange(max(epochs), max(start, first), min(end, last), fate)

    def _all_fates(self, epochs: Epochs) -> Iterator[FatedRange]:
        """Yield what became of all records of a leader in one of its epochs, wherever they may have been."""
        cuts = sorted({Offset(0), UNBOUNDED, *(offset for epoch in epochs for offset in self._bounds(epoch))})
        pieces = ((self._fate_in(epochs, start), start, following) for start, following in pairwise(cuts))
        for fate, alike in groupby(pieces, key=itemgetter(0)):
            (_, start, following), *others = alike
            end = others[-1][2] if others else following
            yield FatedRange(max(epochs), start, Offset(end - 1), fate)

    def spans(self) -> Iterator[FatedRange]:
        """Yield what the log holds from its begin to its end by epoch; what may be of either epoch is in both."""
        if self.why_open is not None and self.end:
            yield FatedRange(NO_EPOCH, Offset(0), Offset(self.end - 1), RangeFate.EITHER)
        epochs = sorted({entry.leader_epoch for logs in self.replicas for log in logs for entry in log.low.epochs})
        for epoch in epochs if self.end else ():
            for one in self.fates(frozenset((epoch,)), Offset(0), Offset(self.end - 1)):
                if one.fate is not RangeFate.LOST:
                    yield one

    def _bounds(self, epoch: LeaderEpoch) -> Iterator[Offset]:
        for log in chain.from_iterable(self.replicas):
            yield from _extent(log, epoch) or ()

    def _fate_in(self, epochs: Epochs, offset: Offset) -> RangeFate:
        """Return what became of a record that was appended in one of these epochs, by one leader."""
        fates = {self._fate(epoch, offset) for epoch in epochs}
        return next(fate for fate in (RangeFate.PRESENT, RangeFate.EITHER, RangeFate.LOST) if fate in fates)

    def _fate(self, epoch: LeaderEpoch, offset: Offset) -> RangeFate:
        told = (_told(logs, epoch, offset) for logs in self.replicas)
        return next((fate for fate in told if fate is not RangeFate.EITHER), RangeFate.EITHER)


class EpochExtent(NamedTuple):
    """Where an epoch has records: from ``certain_first`` to before ``certain_end`` for certain, else in the others."""

    first: Offset
    certain_first: Offset
    certain_end: Offset
    end: Offset


def _extent(log: KnownLog, epoch: LeaderEpoch) -> EpochExtent | None:
    place = log.low.place_of(epoch)
    if place is None:
        return None
    low, high = log.low.epochs, log.high.epochs
    is_last = place + 1 == len(low)
    certain_end = log.low.end if is_last else low[place + 1].start_offset
    end = log.high.end if is_last else high[place + 1].start_offset
    return EpochExtent(low[place].start_offset, high[place].start_offset, certain_end, end)


def _told(logs: Sequence[KnownLog], epoch: LeaderEpoch, offset: Offset) -> RangeFate:
    """Return what the possible logs of one replica say of a record."""
    extents = [_extent(log, epoch) for log in logs]
    if all(one is not None and one.certain_first <= offset < one.certain_end for one in extents):
        return RangeFate.PRESENT
    if any(one is not None and one.first <= offset < one.end for one in extents):
        return RangeFate.EITHER
    return RangeFate.LOST


def answers_with_epochs(leader: TracedReplica, answer: FetchAnswered) -> Iterator[FetchAnswered]:
    """Yield what an answer may bring whose batches carry no epochs: those that its leader's log may have there."""
    told = {
        tuple(_runs_of(bound, run) for run in answer.runs)
        for one in leader.possible
        if one.leader == leader.broker
        for bound in (one.log.low, one.log.high)
    }
    for runs in sorted(told):
        yield replace(answer, runs=tuple(chain.from_iterable(runs)))


def _runs_of(log: EpochLog, run: ObservedEpochRun) -> tuple[ObservedEpochRun, ...]:
    """Return the runs of equal epoch that a log has at the offsets of a run; its last epoch goes on beyond its end."""
    starts = [entry.start_offset for entry in log.epochs]
    ends = [*starts[1:], UNBOUNDED]
    return tuple(
        ObservedEpochRun(entry.leader_epoch, max(start, run.first_offset), min(Offset(end - 1), run.last_offset))
        for entry, start, end in zip(log.epochs, starts, ends, strict=True)
        if start <= run.last_offset and run.first_offset < end
    )


def final_log(replay: PartitionReplay) -> FinalLog:
    """Return what a partition's log is at rest, once every event was replayed.

    The leader of the newest epoch counts, and of its followers those that have certainly all that it has.
    """
    if replay.left_open is not None:
        return FinalLog((), Offset(replay.shown), None, replay.left_open)
    leaders = [one for one in replay.replicas if one.leadership is not None]
    if not leaders:
        return FinalLog((), Offset(0), None)
    leader = max(leaders, key=lambda one: max(one.epochs()))
    end = Offset(min(one.log.low.end for one in leader.possible))
    followers = [one for one in replay.replicas if one is not leader and _has_all(one, leader.broker, end)]
    known = tuple(tuple(possible.log for possible in one.possible) for one in (leader, *followers))
    return FinalLog(known, end, leader.broker)


def _has_all(follower: TracedReplica, leader: BrokerId, end: Offset) -> bool:
    return all(one.leader == leader and one.log.low.end >= end for one in follower.possible)


def appended_in(leader: TracedReplica, first: Offset) -> Epochs:
    """Return the leader epochs in which a broker may have appended what its log has at an offset."""
    leading = (one.log for one in leader.possible if one.leader == leader.broker)
    return frozenset(epoch for log in leading for epoch in _epochs_at(log, first))


def _epochs_at(log: KnownLog, offset: Offset) -> Iterator[LeaderEpoch]:
    for entry in log.low.epochs:
        extent = _extent(log, entry.leader_epoch)
        if extent is not None and extent.first <= offset < extent.end:
            yield entry.leader_epoch


# What do the replicas hold at rest, next to one another?


class ReplicasApart(NamedTuple):
    """Offsets ``first`` to ``last`` at which the logs of two brokers have, or may have, records of other leader epochs.

    Attributes:
        epochs: in which the record of each may have been appended.
    """

    brokers: tuple[BrokerId, BrokerId]
    first: Offset
    last: Offset
    epochs: tuple[Epochs, Epochs]

    @property
    def is_certain(self) -> bool:
        """Return whether they differ for certain: no epoch may be that of both."""
        return not self.epochs[0] & self.epochs[1]


def replica_logs(replay: PartitionReplay) -> dict[BrokerId, tuple[KnownLog, ...]]:
    """Return of each broker that was heard of what its log may be, once every event was replayed."""
    return {one.broker: tuple(possible.log for possible in one.possible) for one in replay.replicas}


def replicas_apart(known: Mapping[BrokerId, Sequence[KnownLog]], end: Offset) -> Iterator[ReplicasApart]:
    """Yield where replicas differ, or may, below the log's end at rest: a record's offset and epoch say which it is.

    An offset that a log may not reach counts as what it has if it does: whether a tail is there is another question.
    """
    for brokers in combinations(sorted(known), 2):
        for first, last, epochs in _side_by_side(known[brokers[0]], known[brokers[1]], end):
            is_alike = epochs[0] == epochs[1] and len(epochs[0]) == 1
            if all(epochs) and not is_alike:
                yield ReplicasApart(brokers, first, last, epochs)


def _side_by_side(
    one: Sequence[KnownLog], other: Sequence[KnownLog], end: Offset
) -> Iterator[tuple[Offset, Offset, tuple[Epochs, Epochs]]]:
    """Yield the offsets, first and last, at which each of two logs is of the same epochs all along, with these."""
    bounds = {bound for log in (*one, *other) for bound in _all_bounds(log) if 0 < bound < end}
    cuts = sorted({Offset(0), end, *bounds})
    pieces = [((_epochs_of(one, start), _epochs_of(other, start)), start, after) for start, after in pairwise(cuts)]
    for epochs, alike in groupby(pieces, key=itemgetter(0)):
        (_, start, after), *others = alike
        yield start, Offset((others[-1][2] if others else after) - 1), epochs


def _all_bounds(log: KnownLog) -> Iterator[Offset]:
    for bound in (log.low, log.high):
        yield bound.end
        for entry in bound.epochs:
            yield entry.start_offset


def _epochs_of(logs: Sequence[KnownLog], offset: Offset) -> Epochs:
    return frozenset(epoch for log in logs for epoch in _epochs_at(log, offset))
