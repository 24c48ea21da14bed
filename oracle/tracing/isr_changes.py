"""May a leader change the ISR like this? Invariants 19 and 20: who has fetched enough joins, who lags leaves.

From 2.7 a leader asks the controller, and the wish is on the wire. Before, it writes the ISR itself, and
the controller announces it later: in the same leader epoch, because its own changes bump the epoch.

Sources: Partition.maybeExpandIsr, maybeShrinkIsr; KIP-497, KAFKA-7128.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.tracing.invariants import Invariant
from oracle.tracing.speech import in_words

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.invariants import Judge
    from oracle.tracing.leadership import Leadership
    from oracle.tracing.observed import IsrAnnounced, IsrProposed
    from oracle.tracing.replica import Replica
    from oracle.tracing.speech import Speech
    from oracle.tracing.trace_settings import TraceSettings
    from oracle.vocabulary import BrokerId

MS = 1_000_000


class IsrChanges:
    """Checks what leaders make of the ISR."""

    def __init__(self, rules: RuleSet, speech: Speech, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._speech = speech
        self._judge = judge

    def propose(self, leader: Replica, proposed: IsrProposed, settings: TraceSettings) -> None:
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
        view.propose(wished)

    def announce(self, leader: Replica, announced: IsrAnnounced, settings: TraceSettings) -> None:
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
