"""Which leader does an operator get who asks for an election? The preferred one, or one outside the ISR.

The preferred leader is the first assigned replica; it takes over only if it lives and is in sync,
and the ISR stays as it is. An unclean election is held for a partition that nobody leads, whatever
unclean.leader.election.enable says. Without the first the load stays where failures have put it;
without the second a partition whose in-sync replicas are gone for good never comes back. A release
without unclean elections on request refuses to hold one.

Sources: PreferredReplicaPartitionLeaderSelector, Election.leaderForPreferredReplica,
ReplicationControlManager.electLeaders; KIP-183, KIP-460.

Mutant: prefers-a-replica-that-is-not-in-sync, which the story elections-on-request notices.
Mutant: elects-uncleanly-on-request-too-early, which a question to 2.3.1 notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.election import ElectedPartition, ElectionRules, with_leader
from oracle.rules.rule import Rule
from oracle.vocabulary import ElectionKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet
    from oracle.state import ControllerView

PREFERRED = Rule(
    name="preferred-election-on-request",
    source="KIP-183, PreferredReplicaPartitionLeaderSelector",
    says="The controller elects the preferred leader on request if it lives and is in sync.",
)
UNCLEAN = Rule(
    name="unclean-election-on-request",
    source="KIP-460, ReplicationControlManager.electLeaders",
    says="The controller holds an unclean election on request.",
)


def why_missing(kind: ElectionKind, rules: RuleSet) -> str | None:
    """Return why a release holds no such election on request, or None if it does."""
    has_it = kind is ElectionKind.PREFERRED or rules.elects_uncleanly_on_request
    return None if has_it else f"Kafka {rules.version} holds no unclean election on request: 2.4 is the first that does"


def preferred(view: ControllerView, partition: ElectedPartition, _rules: ElectionRules) -> ControllerView | str:
    """Elect the first assigned replica if it is not the leader yet, lives and is in sync."""
    first = partition.assignment[0]
    if view.leader == first:
        return f"broker {first} leads already"
    if first not in view.registered or first not in view.isr:
        return f"broker {first}, the preferred leader, is not in sync"
    return with_leader(view, first, clean=True)


def unclean(view: ControllerView, partition: ElectedPartition, rules: ElectionRules) -> ControllerView | str:
    """Elect any live replica of a leaderless partition."""
    if view.leader is not None:
        return f"broker {view.leader} leads: an unclean election is for a partition without a leader"
    allowed = replace(partition, settings=replace(partition.settings, unclean_leader_election=True))
    elected = rules.elect(view, allowed)
    return "no replica lives" if elected.leader is None else elected


BY_KIND: dict[ElectionKind, Callable[[ControllerView, ElectedPartition, ElectionRules], ControllerView | str]] = {
    ElectionKind.PREFERRED: preferred,
    ElectionKind.UNCLEAN: unclean,
}
