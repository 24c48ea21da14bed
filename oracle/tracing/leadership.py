"""How high may a leader's high watermark be? What a leader can know of its followers, and its ISR.

The leader handles a fetch between the moment it reaches the leader and the moment its answer leaves. So
each follower has two ends: the one of its last answered fetch, which the leader has certainly recorded,
and the one of the fetch under way, which it may have. The high watermark is at most the lowest possible
end over the smallest possible ISR, and at least the lowest certain end over everybody who may count.

Sources: Partition.maybeIncrementLeaderHW, Partition.PartitionState (KIP-497), KAFKA-15583.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH
from oracle.replication.remote import RemoteReplica
from oracle.tracing.known_log import START, UNBOUNDED
from oracle.tracing.possibility import OffsetBounds

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.exchange import Exchange
    from oracle.tracing.invariants import TraceSettings
    from oracle.tracing.observed import LeadershipHeard
    from oracle.tracing.replica import TracedReplica
    from oracle.vocabulary import BrokerId, LeaderEpoch, Offset


HISTORY = 64
"""So many earlier lower bounds are kept, for measurements that took a while."""


class Leadership:
    """What is known of a broker's time as leader, whatever its epochs in a row."""

    def __init__(
        self, broker: BrokerId, rules: RuleSet, settings: TraceSettings, start: OffsetBounds, *, is_from_follower: bool
    ) -> None:
        """Begin with the high watermark that the broker had as a follower, or 0 in a new partition."""
        self.broker = broker
        self.low = start.low
        self.high = start.high
        self.thawed_high = start.high
        self.start = start
        self.is_from_follower = is_from_follower
        self.committed: list[frozenset[BrokerId]] = []
        self.leader_epoch: LeaderEpoch = NO_EPOCH
        self.announced: frozenset[BrokerId] = frozenset()
        self.proposed: frozenset[BrokerId] = frozenset()
        self.wished: frozenset[BrokerId] = frozenset()
        self.partition_epoch = -1
        self.replicas: tuple[BrokerId, ...] = ()
        self.known: frozenset[BrokerId] = frozenset()  # followers that it has applied, or answered, as assigned
        self.followers: dict[BrokerId, Follower] = {}
        self.began_at = 0
        self._small_until: int | None = None
        self._answered_at: int | None = None
        self._rules = rules
        self._settled_epoch: LeaderEpoch = NO_EPOCH
        self._now = 0
        self._raises: deque[tuple[int, Offset]] = deque(maxlen=HISTORY)
        self.settings = settings
        self._minimums = self._effective_minimums()

    def take_settings(self, settings: TraceSettings) -> None:
        """Note other settings: what stood still below the minimum may rise from now on."""
        self.settings = settings
        self._minimums = self._effective_minimums()
        self.raise_high()

    def follower(self, broker: BrokerId) -> Follower:
        """Return what is known of a follower."""
        known = self.followers.get(broker)
        if known is None:
            known = self.followers[broker] = Follower()
        return known

    def hear_isr(self, heard: LeadershipHeard) -> None:
        """Note an ISR that the leader was told: it may know it from now on."""
        self.known = self.known.intersection(heard.replicas) if self.replicas else frozenset(heard.replicas)
        self.replicas = heard.replicas
        self._minimums = self._effective_minimums()
        self.began_at = self.began_at or heard.at
        isr = frozenset(heard.isr)
        if not self.committed or self.committed[-1] != isr:
            self.committed.append(isr)
        self.proposed = frozenset()
        self.partition_epoch = max(self.partition_epoch, heard.partition_epoch or 0)
        if heard.leader_epoch != self.leader_epoch:
            self.leader_epoch = heard.leader_epoch
            self.announced = isr
            for broker in set(heard.replicas) - {self.broker}:
                self.follower(broker).may_join = False
                self.follower(broker).caught_up_at = heard.at if broker in isr else 0
        self.raise_high()

    def begin_epoch(self, applied: LeadershipHeard, at: int) -> None:
        """Note that the leader has begun an epoch for certain, with the ISR that it was told."""
        if self.broker == applied.leader and applied.leader_epoch == self.leader_epoch != self._settled_epoch:
            self._settled_epoch = applied.leader_epoch
            self.known = frozenset(applied.replicas)
            self._note_small(at)
            self.committed = [frozenset(applied.isr)]
            self.raise_high()

    def settle_isr(
        self, isr: Collection[BrokerId], partition_epoch: int | None, at: int, *, is_answer: bool = False
    ) -> None:
        """Note that the leader knows this ISR: nothing older counts, unless it may know a newer one already.

        Args:
            isr: the in-sync replicas.
            partition_epoch: of the change; None if nobody tells it.
            at: when it knows them.
            is_answer: the controller's answer came at that time, and the leader takes it a moment later: until it shows
                that it has, it may refuse records by the ISR before (AlterPartitionManager).
        """
        if partition_epoch is not None and partition_epoch < self.partition_epoch:
            return
        self._bound_by(frozenset(isr).difference(*self.committed))
        self._took_answer(at)
        self._note_small(at)
        self._answered_at = at if is_answer and self._small_until == at else None
        self.committed = [frozenset(isr)]
        self.proposed = self.wished = frozenset()
        self.raise_high()

    def propose(self, isr: Collection[BrokerId], at: int) -> None:
        """Note a wish: those it adds count from before it was sent, and what was answered before has been taken."""
        self._took_answer(at)
        wished = frozenset(isr)
        self._bound_by(wished.difference(*self.committed))
        self.committed = [known for known in self.committed if known <= wished or wished <= known] or self.committed
        self.proposed = self.wished = wished

    def was_too_small(self) -> None:
        """Note that the ISR was too small for acks=all: what the leader knew before that is past."""
        while len(self.committed) > 1 and self.suffices(self.committed[0]):
            del self.committed[0]

    def _note_small(self, at: int) -> None:
        if any(not self.suffices(isr) for isr in self.committed):
            self._small_until = at

    def sufficed(self, sent_at: int | None, at: int) -> None:
        """Note that a record that was sent at one time was appended with acks=all by another: the ISR sufficed."""
        if self._answered_at is not None and sent_at is not None and sent_at >= self._answered_at:
            self._took_answer(at)

    def _took_answer(self, at: int) -> None:
        if self._answered_at is not None:
            self._small_until, self._answered_at = at, None

    def was_small_since(self, moment: int | None) -> bool:
        """Return whether the ISR may have been too small for acks=all at some time since, and no longer is."""
        if self._answered_at is not None:
            return True
        return moment is not None and self._small_until is not None and self._small_until >= moment

    def give_up(self) -> None:
        """Note that the controller has refused the wish: it may be forgotten, or asked again."""
        self.proposed = frozenset()

    def maximal_isrs(self) -> list[frozenset[BrokerId]]:
        """Return every maximal ISR that the leader may count with."""
        return [isr | self.proposed for isr in self.committed]

    def largest_isrs(self) -> list[frozenset[BrokerId]]:
        """Return the ISRs that the leader may have, with whom it may have added without telling us (up to 2.6)."""
        if self._rules.asks_controller_to_join:
            return [isr | self.wished for isr in self.committed]
        joined = {broker for broker, known in self.followers.items() if known.may_join}
        return [isr | joined for isr in self.committed]

    def knows_start_only(self) -> bool:
        """Return whether a follower that leads now can have no other high watermark than it had before."""
        return self.is_from_follower and (self.low, self.high) == (self.start.low, self.start.high)

    def hear(self, told: Offset) -> None:
        """Note a high watermark that the leader told."""
        self._raise_low(told)

    def reach(self, end: Offset) -> None:
        """Note that the high watermark covers an offset."""
        self._raise_low(end)

    def pass_time(self, now: int) -> None:
        """Note that it is later: the leader may have shrunk the ISR itself without telling us (up to 2.6)."""
        self._now = now
        if self._rules.asks_controller_to_join:
            return
        for isr in list(self.committed):
            late = {b for b in isr if b != self.broker and now - self.follower(b).caught_up_at > self.settings.lag_ns}
            if late and isr - late not in self.committed:
                self.committed.append(isr - late)
                self.raise_high()

    def received(self, follower: BrokerId, offset: Offset, at: int) -> None:
        """Note that the leader may have recorded a follower's end from now on."""
        known = self.follower(follower)
        known.fetched_at = at
        known.peak = max(known.peak, offset)
        known.received = max(offset, START if known.received is None else known.received)
        self.raise_high()

    def recorded(self, follower: BrokerId, offset: Offset, leader_end: Offset) -> None:
        """Note that the leader has recorded a follower's end: everybody's lowest bounds from below."""
        self.known |= {follower}.intersection(self.replicas)
        known = self.follower(follower)
        known.recorded = known.received = offset
        if not self._may_stand_still():
            ends = [self.follower(broker).recorded for broker in self.replicas if broker != self.broker]
            lowest = leader_end
            for end in ends:
                if end is None:
                    return
                lowest = min(lowest, end)
            self._raise_low(lowest)

    def not_recorded(self, follower: BrokerId, before: Offset | None) -> None:
        """Note that a fetch was answered without being recorded."""
        self.follower(follower).received = before

    def appended(self, end: Offset, sent_at: int, dead: Collection[BrokerId]) -> None:
        """Note that the leader has appended up to an offset, and looked whether its high watermark may rise."""
        if self._may_stand_still() or not self.committed:
            return
        lowest = end
        for broker in self.replicas:
            if broker != self.broker and self._may_count(broker, sent_at, dead):
                recorded = self.follower(broker).recorded
                lowest = min(lowest, self.low if recorded is None else recorded)
        self._raise_low(lowest)

    def _raise_low(self, low: Offset) -> None:
        if low > self.low:
            self._raises.append((self._now, self.low))
            self.low = low

    def low_at(self, moment: int) -> Offset:
        """Return the lower bound of an earlier moment."""
        if self._raises.maxlen == len(self._raises) and moment < self._raises[0][0]:
            return START
        return next((before for at, before in self._raises if at > moment), self.low)

    def _may_count(self, broker: BrokerId, sent_at: int, dead: Collection[BrokerId]) -> bool:
        """Return whether a replica may hold the high watermark back: in the ISR, or outside but caught up."""
        if any(broker in isr for isr in self.largest_isrs()):
            return True
        fetched_at = self.follower(broker).fetched_at
        if fetched_at is not None and sent_at - fetched_at > self.settings.lag_ns:
            return False
        outside = RemoteReplica(broker, is_caught_up=True, is_this_incarnation=True)
        return self._rules.waits_for_caught_up(outside, broker not in dead)

    def may_suffice(self, isr: Collection[BrokerId]) -> bool:
        """Return whether an ISR may be as large as min.insync.replicas asks."""
        return len(isr) >= min(self._minimums)

    def suffices(self, isr: Collection[BrokerId]) -> bool:
        """Return whether an ISR is as large as min.insync.replicas asks, whichever value the leader goes by."""
        return len(isr) >= max(self._minimums)

    def _effective_minimums(self) -> list[int]:
        """Return what the leader may go by: a change takes effect some time after it was made."""
        values = (self.settings.min_insync_replicas, self.settings.min_insync_replicas_before)
        return [self._rules.effective_min_isr(value, len(self.replicas)) for value in values if value is not None]

    def _may_stand_still(self) -> bool:
        is_strict = self._rules.high_watermark_needs_min_isr
        return is_strict and not all(self.suffices(isr) for isr in self.committed)

    def is_frozen(self) -> bool:
        """Return whether the high watermark stands still for certain (KAFKA-15583)."""
        is_strict = self._rules.high_watermark_needs_min_isr
        return is_strict and not any(self.may_suffice(isr) for isr in self.committed)

    def begin_at_most_at(self, watermark: Offset) -> None:
        """Note that the high watermark that the leadership begins with may be as high as this."""
        self.start = OffsetBounds(self.start.low, max(self.start.high, watermark))
        self.high, self.thawed_high = max(self.high, watermark), max(self.thawed_high, watermark)

    def raise_high(self) -> None:
        """Raise the upper bound to what may be committed by now."""
        for isr in self.committed:
            lowest = self._lowest(isr | self.proposed)
            self.thawed_high = max(self.thawed_high, lowest)
            if not self._rules.high_watermark_needs_min_isr or self.may_suffice(isr):
                self.high = max(self.high, lowest)

    def _bound_by(self, joining: Collection[BrokerId]) -> None:
        """Bound a high watermark that a leader alone could raise unseen: who joins has reached it."""
        ends = [self.follower(broker).peak for broker in joining]
        if self.high >= UNBOUNDED and ends:
            self.high = self.thawed_high = max(self.low, *ends)

    def highest_without(self, exchange: Exchange) -> Offset:
        """Return the upper bound for an answer that was read before its own fetch was recorded."""
        follower = self.follower(exchange.request.follower)
        received, follower.received = follower.received, exchange.offset_before
        highest = exchange.high
        for isr in self.committed:
            if not self._rules.high_watermark_needs_min_isr or self.may_suffice(isr):
                highest = max(highest, self._lowest(isr | self.proposed))
        follower.received = received
        return highest

    def _lowest(self, isr: Collection[BrokerId]) -> Offset:
        """Return the lowest end that the leader may know of an ISR; what it has for certain if one is unknown."""
        lowest = UNBOUNDED
        for broker in isr:
            if broker != self.broker:
                received = self.follower(broker).received
                lowest = min(lowest, self.low if received is None else received)
        return lowest


def begun_by(replica: TracedReplica, rules: RuleSet, settings: TraceSettings) -> Leadership:
    """Return a leadership that begins with the high watermark that the broker has as a follower."""
    start = _watermark_as_follower(replica)
    is_new = all(one.log.high.end == 0 for one in replica.possible)
    return Leadership(replica.broker, rules, settings, start, is_from_follower=not is_new)


def took_as_follower(replica: TracedReplica) -> None:
    """Note that a broker that was told to lead may have taken one more answer before it does: it begins with that."""
    if replica.leadership is not None:
        replica.leadership.begin_at_most_at(_watermark_as_follower(replica).high)


def _watermark_as_follower(replica: TracedReplica) -> OffsetBounds:
    watermarks = [one.high_watermark for one in replica.reachable()]
    return OffsetBounds(min(one.low for one in watermarks), max(one.high for one in watermarks))


# What can a leader know of a follower? Where it ends, for certain and perhaps, and when it was seen.


@dataclass(slots=True)
class Follower:
    """What a leader can know of one follower.

    Attributes:
        recorded: its end, as certainly recorded; None before its first answered fetch.
        received: the highest of the ends that the leader may have recorded last; None before the first.
        peak: the highest of the ends that it ever showed.
        may_join: a fetch has come that lets it join the ISR.
        caught_up_at: the latest moment at which it certainly had everything.
        fetched_at: when its last fetch was received; None before the first.
    """

    recorded: Offset | None = None
    received: Offset | None = None
    peak: Offset = START
    may_join: bool = False
    caught_up_at: int = 0
    fetched_at: int | None = None
