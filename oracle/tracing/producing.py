"""May a producer be told this? Invariant 15: what acks=all promises, and what it refuses.

Sources: Partition.appendRecordsToLeader, checkEnoughReplicasReachOffset; AC-02, AC-04.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.invariants import Invariant
from oracle.vocabulary import Acks, Offset

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from oracle.tracing.invariants import Judge
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.observed import Acknowledged, Refused
    from oracle.tracing.replica import Replica
    from oracle.vocabulary import BrokerId

NOT_ENOUGH_REPLICAS = frozenset({"NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"})
RULE = "acks-decides-when-the-producer-is-answered"


class Producing:
    """Checks what producers are told, and learns from it what leaders have."""

    def __init__(self, judge: Judge) -> None:
        """Report to a judge."""
        self._judge = judge
        self._newest_began_at = 0

    def begin(self, at: int) -> None:
        """Take note that a broker may lead from now on: producers may be answered by it."""
        self._newest_began_at = at

    def acknowledge(self, replicas: Iterable[Replica], told: Acknowledged, dead: Collection[BrokerId]) -> None:
        """Check a success, and note what the leader must have appended."""
        leaders = [one for one in replicas if told.leader in (None, one.broker) and _led_already(one, told)]
        views = _views(leaders, told.at)
        if told.acks is Acks.ALL and views:
            self._check_all(views, told)
        if told.last_offset is None or len(leaders) != 1:
            return
        end = Offset(told.last_offset + 1)
        _note_end(leaders[0], end)
        if told.acks is Acks.ALL:
            views[0].reach(end)
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

    def refuse(self, replicas: Iterable[Replica], told: Refused) -> None:
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


def _led_already(replica: Replica, told: Acknowledged) -> bool:
    """Tell whether a broker may lead, and may have when the records were sent."""
    return replica.leadership is not None and replica.leadership.began_at <= _sent_at(told)


def _sent_at(told: Acknowledged | Refused) -> int:
    """Return when the records were sent: not after the producer was told, if nothing else is known."""
    return told.at if told.sent_at is None else told.sent_at


def _views(replicas: Iterable[Replica], at: int) -> list[Leadership]:
    """Return what is known of the brokers that may lead, as of now."""
    views = [replica.leadership for replica in replicas if replica.leadership is not None]
    for view in views:
        view.pass_time(at)
    return views


def _note_end(leader: Replica, end: Offset) -> None:
    """Note that the log of a broker that leads reaches an offset, in whichever of its epochs."""
    reachable = leader.reachable()
    leader.keep(
        one.with_log(one.log.at_least(end)) if one.leader == leader.broker else one
        for one in reachable
        if one.leader != leader.broker or one.log.high.end >= end
    )
