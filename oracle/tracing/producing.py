"""May a producer be told this? Invariant 15: what acks=all promises, and what it refuses.

Sources: Partition.appendRecordsToLeader, checkEnoughReplicasReachOffset; AC-02, AC-04.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.answering import OF_FOLLOWER, OF_LEADER, STRICT
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import ObservedEpochRun
from oracle.tracing.possibility import OffsetBounds
from oracle.tracing.sending import in_words
from oracle.vocabulary import Acks, Offset

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.invariants import Judge, TraceSettings
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.observed import Acknowledged, IsrAnnounced, IsrProposed, Refused, ReplicaMeasured
    from oracle.tracing.replica import TracedReplica
    from oracle.tracing.sending import SentVersions
    from oracle.vocabulary import BrokerId


NOT_ENOUGH_REPLICAS = frozenset({"NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"})
RULE = "acks-decides-when-the-producer-is-answered"


class ProducingChecks:
    """Checks what producers are told, and learns from it what leaders have."""

    def __init__(self, judge: Judge) -> None:
        """Report to a judge."""
        self._judge = judge
        self._newest_began_at = 0

    def begin(self, at: int) -> None:
        """Note that a broker may lead from now on: producers may be answered by it."""
        self._newest_began_at = at

    def acknowledge(self, replicas: Iterable[TracedReplica], told: Acknowledged, dead: Collection[BrokerId]) -> None:
        """Check a success, and note what the leader must have appended."""
        leaders = [one for one in replicas if told.leader in (None, one.broker) and _led_already(one, told)]
        views = _views(leaders, told.at)
        if told.acks is Acks.ALL and views:
            self._check_all(views, told)
        if told.last_offset is None or len(leaders) != 1:
            return
        end = Offset(told.last_offset + 1)
        _note_end(leaders[0], end)
        _note_epoch(leaders[0], told.base_offset, told.last_offset)
        if told.acks is Acks.ALL:
            views[0].reach(end)
            views[0].sufficed(told.sent_at, told.at)
        elif told.sent_at is not None:
            views[0].appended(end, told.sent_at, dead)

    def _check_all(self, views: list[Leadership], told: Acknowledged) -> None:
        end = None if told.last_offset is None else told.last_offset + 1
        is_covered = end is None or any(view.high >= end for view in views)
        if not self._judge.keeps(Invariant.ACKNOWLEDGEMENT, is_covered):
            highest = max(view.high for view in views)
            observed = f"acks=all up to offset {told.last_offset} is acknowledged"
            raise self._refusal(observed, f"up to the high watermark, which is {highest} at most")
        is_enough = any(view.may_suffice(isr) for view in views for isr in view.largest_isrs())
        if not self._judge.keeps(Invariant.ACKNOWLEDGEMENT, is_enough):
            observed = "acks=all is acknowledged below min.insync.replicas"
            raise self._refusal(observed, "NOT_ENOUGH_REPLICAS")

    def refuse(self, replicas: Iterable[TracedReplica], told: Refused) -> None:
        """Check an error: too few in-sync replicas is told only where the ISR may be too small.

        A record that was sent before the newest leadership began may have been refused by a leader of before, of which
        nothing is known any more: that error is taken as it is.
        """
        views = _views(replicas, told.at)
        if told.error not in NOT_ENOUGH_REPLICAS or not views or _sent_at(told) < self._newest_began_at:
            return
        is_small = any(not view.suffices(isr) for view in views for isr in view.maximal_isrs())
        is_small_still = any(not view.suffices(isr) for view in views for isr in view.committed)
        was_small = any(view.was_small_since(told.sent_at) for view in views)
        is_allowed = told.acks is Acks.ALL and (is_small or is_small_still or was_small)
        if not self._judge.keeps(Invariant.ACKNOWLEDGEMENT, is_allowed):
            raise self._refusal(f"a record is refused with {told.error}", "with acks=all, below min.insync.replicas")
        if len(views) == 1 and not was_small:
            views[0].was_too_small()

    def _refusal(self, observed: str, allowed: str) -> Exception:
        return self._judge.refusal(Invariant.ACKNOWLEDGEMENT, observed, allowed, RULE)


def _led_already(replica: TracedReplica, told: Acknowledged) -> bool:
    """Return whether a broker may lead, and may have when the records were sent."""
    return replica.leadership is not None and replica.leadership.began_at <= _sent_at(told)


def _sent_at(told: Acknowledged | Refused) -> int:
    """Return when the records were sent: not after the producer was told, if nothing else is known."""
    return told.at if told.sent_at is None else told.sent_at


def _views(replicas: Iterable[TracedReplica], at: int) -> list[Leadership]:
    """Return what is known of the brokers that may lead, as of now."""
    views = [replica.leadership for replica in replicas if replica.leadership is not None]
    for view in views:
        view.pass_time(at)
    return views


def _note_end(leader: TracedReplica, end: Offset) -> None:
    """Note that the log of a broker that leads reaches an offset, in whichever of its epochs."""
    reachable = leader.reachable()
    leader.keep(
        one.with_log(one.log.at_least(end)) if one.leader == leader.broker else one
        for one in reachable
        if one.leader != leader.broker or one.log.high.end >= end
    )


def _note_epoch(leader: TracedReplica, first: Offset | None, last: Offset) -> None:
    """Note where an epoch has records, if the broker leads in one alone and its log has begun it by then."""
    leading = [one for one in leader.possible if one.leader == leader.broker]
    epochs = [*{one.leader_epoch for one in leading}]
    if first is None or len(epochs) != 1 or len(leading) < len(leader.possible):
        return
    run = ObservedEpochRun(epochs[0], first, last)
    if all(one.log.may_hold(run) for one in leading):
        leader.keep(one.with_log(one.log.holding(run)) for one in leading)


# Does a probe find what the replica may have? Invariants 14, 16 and 21 against measured numbers.


class Measuring:
    """Checks measured numbers."""

    def __init__(self, judge: Judge) -> None:
        """Report to a judge."""
        self._judge = judge

    def check(self, replica: TracedReplica, measured: ReplicaMeasured) -> None:
        """Check one measurement."""
        reachable = replica.reachable()
        earlier = [held for held in replica.history if held.until >= measured.since]
        ends = [OffsetBounds(one.log.low.end, one.log.high.end) for one in reachable] + [held.end for held in earlier]
        watermarks = [one.high_watermark for one in reachable] + [held.high_watermark for held in earlier]
        invariant, rule = Invariant.HIGH_WATERMARK_OF_FOLLOWER, OF_FOLLOWER
        if replica.leadership is not None:
            replica.leadership.pass_time(measured.at)
            invariant, rule = self._of_leader(replica.leadership, measured.high_watermark)
            watermarks.append(OffsetBounds(replica.leadership.low_at(measured.since), replica.leadership.high))
        end = "follower-appends-what-it-fetched"
        self._compare(
            Invariant.FETCH_OFFSET, f"broker {measured.broker} log end offset", measured.log_end_offset, ends, end
        )
        watermark = measured.high_watermark
        self._compare(invariant, f"broker {measured.broker} high watermark", watermark, watermarks, rule)

    def _of_leader(self, view: Leadership, number: int | None) -> tuple[Invariant, str]:
        """Return which invariant a leader's high watermark would break: what only a frozen one must not be, or any."""
        if view.knows_start_only():
            return Invariant.HIGH_WATERMARK_OF_FOLLOWER, OF_FOLLOWER
        if not view.is_frozen() or number is None:
            return Invariant.HIGH_WATERMARK_OF_LEADER, OF_LEADER
        if view.high < number <= view.thawed_high:
            return Invariant.FROZEN_HIGH_WATERMARK, STRICT
        self._judge.keeps(Invariant.FROZEN_HIGH_WATERMARK, holds=True)
        return Invariant.HIGH_WATERMARK_OF_LEADER, OF_LEADER

    def _compare(
        self, invariant: Invariant, name: str, number: Offset | None, bounds: Iterable[OffsetBounds], rule: str
    ) -> None:
        if number is None:
            return
        if not self._judge.keeps(invariant, any(bound.has(number) for bound in bounds)):
            allowed = " or ".join(dict.fromkeys(f"{bound.low} to {bound.high}" for bound in bounds))
            raise self._judge.refusal(invariant, f"{name} is {number}", allowed, rule)


# May a leader change the ISR like this? Invariants 19 and 20: who has fetched enough joins, who lags leaves.
#
# From 2.7 a leader asks the controller, and the wish is on the wire. Before, it writes the ISR itself, and
# the controller announces it later: in the same leader epoch, because its own changes bump the epoch.
#
# Sources: Partition.maybeExpandIsr, maybeShrinkIsr; KIP-497, KAFKA-7128.


MS = 1_000_000


class IsrChanges:
    """Checks what leaders make of the ISR."""

    def __init__(self, rules: RuleSet, speech: SentVersions, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._speech = speech
        self._judge = judge

    def propose(self, leader: TracedReplica, proposed: IsrProposed, settings: TraceSettings) -> None:
        """Check a leader's wish."""
        versions = self._speech.alter_partition
        if not self._judge.keeps(Invariant.REQUEST_OF_RELEASE, proposed.api_version in versions):
            observed = f"broker {proposed.leader} sends AlterPartition version {proposed.api_version}"
            self._judge.object_to(Invariant.REQUEST_OF_RELEASE, observed, in_words(versions), "maximal-isr")
        view = leader.leadership
        if view is None:
            return
        wished = frozenset(proposed.isr)
        self._check_growth(view, wished.difference(*view.committed))
        removed = frozenset.intersection(*view.committed) - wished if view.committed else frozenset()
        self._check_shrink(view, removed, proposed.at, settings)
        view.propose(wished, proposed.at)

    def announce(self, leader: TracedReplica, announced: IsrAnnounced, settings: TraceSettings) -> None:
        """Check a change that a leader has made itself: in its epoch, and before 2.7."""
        view = leader.leadership
        if self._rules.asks_controller_to_join or view is None:
            return
        if leader.epochs() != {announced.leader_epoch}:
            return
        isr, before = frozenset(announced.isr), view.announced
        self._check_growth(view, isr - before)
        self._check_shrink(view, before - isr, announced.at, settings)
        view.announced = isr
        view.settle_isr(isr, announced.partition_epoch, announced.at)

    def _check_growth(self, view: Leadership, joining: Collection[BrokerId]) -> None:
        for broker in sorted(joining):
            if self._judge.keeps(Invariant.ISR_EXPANSION, view.follower(broker).may_join):
                continue
            observed = f"leader {view.broker} adds broker {broker} to the ISR"
            allowed = f"once it has fetched from offset {view.low} or later, in this leader epoch"
            rule = next(rule.name for rule in self._rules.rules if rule.name.startswith("join-isr"))
            raise self._judge.refusal(Invariant.ISR_EXPANSION, observed, allowed, rule)

    def _check_shrink(self, view: Leadership, leaving: Collection[BrokerId], at: int, settings: TraceSettings) -> None:
        for broker in sorted(leaving):
            late_ns = at - view.follower(broker).caught_up_at
            if self._judge.keeps(Invariant.ISR_SHRINK, late_ns > settings.lag_ns):
                continue
            observed = f"leader {view.broker} removes broker {broker}, caught up {late_ns // MS} ms ago, from the ISR"
            allowed = f"after {settings.lag_time_max_ms} ms"
            rule = next(rule.name for rule in self._rules.rules if rule.name.endswith("-leaves-isr"))
            raise self._judge.refusal(Invariant.ISR_SHRINK, observed, allowed, rule)
