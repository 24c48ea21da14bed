"""When is the topic of a ledger at rest? When brokers tell that all that can be there is below the high watermarks.

One broker's word is not enough. A leader that is cut off from the others still names itself, with an old high watermark
and an old ISR. So every broker is asked for its metadata, the newest leader epoch counts, and its leader is asked with
that epoch (KIP-320). What is read up to a high watermark is all there is

- if that stands where the log of the leader ended at the first look at it (OffsetForLeaderEpoch), and
- if either all acknowledged offsets are below it, or every broker that has the partition names the same leader.

A record that was acknowledged without an offset (a DUPLICATE_SEQUENCE_NUMBER tells none) is below no high watermark.
Where no log end is told, all acknowledged offsets below the high watermark are enough; else, so long as every broker
names the same leader and a full ISR that no follower could be in any more without having all. What cannot be told is
not at rest.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conformance.attach.one_at_a_time import GRACE_S
from conformance.probes.topic_of_clients import EARLIEST, OFFSET_FOR_LEADER_EPOCH, NotAnsweredError
from fault_injection.waiting import NotYetError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from conformance.probes.topic_of_clients import TopicOfClients, TopicSeenByClients
    from conformance.record.attached import Attached, PartitionWatched

STABLE_LOOKS = 3
"""So many looks in a row must see the same high watermark, where nobody else writes."""


class NotAtRestError(Exception):
    """The cluster did not come to a state in which everything can be read; the ledger is whole, and can be resumed."""


@dataclass(frozen=True, slots=True)
class PartitionTold:
    """What brokers told of one partition at one look.

    Attributes:
        seen: as of its newest leader epoch, with the high watermark that its leader told.
        replicas: how many it is to have.
        is_agreed: whether every broker that is to have it answered, and named the same leader and leader epoch.
        log_end: None if it was not told.
        has_log_end: whether its leader can tell a log end, so that a missing one is to be waited for.
    """

    seen: PartitionWatched
    replicas: int
    is_agreed: bool
    log_end: int | None
    has_log_end: bool


class PartitionRest:
    """What looks have seen of one partition until now.

    Args:
        acknowledged_end: the offset after the greatest acknowledged one.
        has_unplaced: whether a record was acknowledged without an offset.
    """

    def __init__(self, acknowledged_end: int, *, has_unplaced: bool = False) -> None:
        self._acknowledged_end, self._has_unplaced = acknowledged_end, has_unplaced
        self._told: PartitionTold | None = None
        self._same_looks = 0
        self._awaited_end: int | None = None
        self._in_sync_since_s: float | None = None

    def look(self, told: PartitionTold, now_s: float) -> None:
        """Take what was told at a moment of the monotonic clock."""
        before = self._told
        is_led_alike = before is not None and _led(before) == _led(told)
        has_fallen = before is not None and (told.seen.high_watermark or 0) < (before.seen.high_watermark or 0)
        if not is_led_alike or self._awaited_end is None:
            self._awaited_end = told.log_end
        is_same = before is not None and is_led_alike and told.seen.high_watermark == before.seen.high_watermark
        self._same_looks = self._same_looks + 1 if is_same else 1
        is_in_sync = told.is_agreed and len(told.seen.isr) >= told.replicas
        if not is_in_sync:
            self._in_sync_since_s = None
        elif not is_led_alike or has_fallen or self._in_sync_since_s is None:
            self._in_sync_since_s = now_s
        self._told = told

    def forget(self) -> None:
        """Take nothing that was told for what the topic is like now."""
        self._told, self._awaited_end, self._in_sync_since_s = None, None, None

    @property
    def is_still(self) -> bool:
        """Return whether the high watermark was the same at several looks in a row."""
        return self._same_looks >= STABLE_LOOKS

    def why_unread(self, now_s: float) -> str | None:
        """Return why a record may be missed by who reads up to the high watermark; None if none is."""
        told = self._told
        if told is None or told.seen.high_watermark is None:
            is_led = told is not None and told.seen.leader is not None
            return f"has {'a leader that does not answer' if is_led else 'no leader'}"
        if told.has_log_end and told.log_end is None:
            return "has a leader that does not tell where its log ends"
        if self._awaited_end is not None and told.seen.high_watermark < self._awaited_end:
            return "has records beyond the high watermark"
        if told.seen.high_watermark < self._acknowledged_end:
            return self._why_doubted(told, now_s, "acknowledged offsets beyond the high watermark")
        if self._has_unplaced:
            return self._why_doubted(told, now_s, "records that were acknowledged without an offset")
        return None

    def _why_doubted(self, told: PartitionTold, now_s: float, beyond: str) -> str | None:
        """Return why its end is in doubt although something acknowledged is, or may be, beyond it."""
        if not told.is_agreed:
            return f"has {beyond}, and not every broker that is to have it names the same leader"
        if self._awaited_end is not None:
            return None
        if self._in_sync_since_s is None or now_s - self._in_sync_since_s < GRACE_S:
            return f"has {beyond}, no log end is told, and not every replica was in sync for {GRACE_S:g} s"
        return None

    def why_out_of_sync(self) -> str | None:
        """Return which replicas are missing from the ISR; None if none is."""
        if self._told is None or len(self._told.seen.isr) >= self._told.replicas:
            return None
        return f"has {len(self._told.seen.isr)} of {self._told.replicas} replicas in sync"


class TopicRest:
    """Looks at a topic until nothing moves any more.

    Args:
        topic: that is looked at.
        attached: its ledger.
        acknowledged_ends: the offset after the greatest acknowledged one of each partition that has one.
        unplaced: the partitions with records that were acknowledged without an offset.
        clock: of what a partition was like how long, in seconds.

    Attributes:
        partitions: as the last look saw them.
        log_starts: of each partition whose leader tells it.
    """

    def __init__(
        self,
        topic: TopicOfClients,
        attached: Attached,
        acknowledged_ends: Mapping[int, int],
        unplaced: Collection[int] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._topic, self._attached, self._clock = topic, attached, clock
        self._states = [
            PartitionRest(acknowledged_ends.get(number, 0), has_unplaced=number in unplaced)
            for number in range(attached.partitions)
        ]
        self._silent_about: set[str] = set()
        self.partitions: tuple[PartitionWatched, ...] = ()
        self.log_starts: dict[int, int] = {}

    @property
    def ends(self) -> dict[int, int]:
        """Return the high watermark of each partition whose leader tells it."""
        return {one.partition: one.high_watermark for one in self.partitions if one.high_watermark is not None}

    @property
    def can_be_read(self) -> bool:
        """Return whether every partition has a leader that tells where it begins and ends, and that stands still."""
        count = self._attached.partitions
        return len(self.ends) == len(self.log_starts) == count and self._are_still

    @property
    def _are_still(self) -> bool:
        return self._attached.beside_others or all(one.is_still for one in self._states)

    @property
    def unread(self) -> str | None:
        """Return of which partition records may be missed, and why; None if of none."""
        now_s = self._clock()
        whys = ((number, one.why_unread(now_s)) for number, one in enumerate(self._states))
        return next((f"partition {number} {why}" for number, why in whys if why is not None), None)

    @property
    def not_told(self) -> tuple[str, ...]:
        """Return what brokers do not tell, in sentences."""
        return tuple(sorted(self._silent_about))

    def is_whole(self) -> bool:
        """Look; return True once everything can be read, and every replica is in sync.

        Raises:
            NotYetError: it is not; says why.
        """
        try:
            told = self._told_by_each()
            self._look(told)
        except NotAnsweredError as error:
            self._forget()
            raise NotYetError(str(error)) from error
        if why := self._why_not():
            raise NotYetError(why)
        return True

    def _told_by_each(self) -> dict[int, TopicSeenByClients]:
        there = {one: seen for one, seen in self._topic.seen_by_each().items() if seen is not None}
        why = next(filter(None, (why_another(seen, self._attached) for seen in there.values())), None)
        if not there:
            why = "there is no such topic any more"
        if why is not None:
            self._forget()
            raise NotYetError(why)
        return there

    def _forget(self) -> None:
        self.partitions, self.log_starts = (), {}
        for one in self._states:
            one.forget()

    def _look(self, told: Mapping[int, TopicSeenByClients]) -> None:
        newest = [_newest(told, number) for number in range(self._attached.partitions)]
        watermarks, log_ends = self._topic.offsets(newest), self._log_ends(newest)
        self.log_starts = self._topic.offsets(newest, EARLIEST)
        self.partitions = tuple(replace(one, high_watermark=watermarks.get(one.partition)) for one in newest)
        self._silent_about = set(_untold_ids(told.values()))
        for one, state in zip(self.partitions, self._states, strict=True):
            end = log_ends.get(one.partition)
            has_log_end = log_ends.get(one.partition, 0) is not None
            if not has_log_end:
                self._silent_about.add("where logs end: it is gone by acknowledged offsets, replicas in sync and time")
            is_agreed = _is_agreed(told, one)
            state.look(PartitionTold(one, len(one.assigned), is_agreed, end, has_log_end), self._clock())

    def _log_ends(self, newest: list[PartitionWatched]) -> dict[int, int | None]:
        """Return each log end that was told; None where none is to be had; nothing of a leader that is waited for."""
        if not self._topic.knows(OFFSET_FOR_LEADER_EPOCH):
            return dict.fromkeys(range(len(newest)))
        return {one.partition: None for one in newest if one.leader_epoch is None} | self._topic.log_ends(newest)

    def _why_not(self) -> str | None:
        out_of_sync = (
            f"partition {number} {why}" for number, one in enumerate(self._states) if (why := one.why_out_of_sync())
        )
        why = self.unread or next(out_of_sync, None)
        return why or (
            None if self.can_be_read else "high watermarks move, or a leader does not tell where a log begins"
        )


def why_another(seen: TopicSeenByClients, attached: Attached) -> str | None:
    """Return why a topic is not that of a ledger, as far as brokers tell ids; None if it may be."""
    if None not in (seen.cluster, attached.cluster) and seen.cluster != attached.cluster:
        return f"the cluster that answers is {seen.cluster}, and not {attached.cluster}, to which it was written"
    if None not in (seen.topic_id, attached.topic_id) and seen.topic_id != attached.topic_id:
        return f"topic {attached.topic} is another one by now: it was deleted and created again"
    if len(seen.partitions) < attached.partitions:
        return f"topic {attached.topic} has {len(seen.partitions)} partitions, and had {attached.partitions}"
    return None


def _untold_ids(told: Iterable[TopicSeenByClients]) -> Iterator[str]:
    seen = list(told)
    if all(one.cluster is None for one in seen):
        yield "a cluster id: whether it is the cluster that was written to"
    if all(one.topic_id is None for one in seen):
        yield "a topic id: whether the topic was deleted and created again meanwhile"


def _led(told: PartitionTold) -> tuple[int | None, int | None]:
    return told.seen.leader, told.seen.leader_epoch


def _newest(told: Mapping[int, TopicSeenByClients], number: int) -> PartitionWatched:
    """Return a partition as of the newest leader epoch that any broker tells, with the smallest ISR that is told of it.

    Without epochs the leader that most brokers name is taken.
    """
    seen = [one.partitions[number] for one in told.values()]
    named = Counter(one.leader for one in seen)
    return max(seen, key=lambda one: (_epoch(one), one.leader is not None, named[one.leader], -len(one.isr)))


def _epoch(one: PartitionWatched) -> int:
    return -1 if one.leader_epoch is None else one.leader_epoch


def _is_agreed(told: Mapping[int, TopicSeenByClients], newest: PartitionWatched) -> bool:
    views = [told[broker].partitions[newest.partition] for broker in newest.assigned if broker in told]
    same = [one for one in views if (one.leader, one.leader_epoch) == (newest.leader, newest.leader_epoch)]
    return len(same) == len(newest.assigned)
