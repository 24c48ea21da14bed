"""Whom does a controller elect? With ZooKeeper, in KRaft mode without eligible leader replicas, and on request.

Mutant: elects-a-dead-replica, which the story elr-off notices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.rules.rule import Rule
from oracle.vocabulary import ElectionKind, LeaderEpoch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class ElectedPartition:
    """What a controller decides about: the assignment and the topic's settings."""

    assignment: tuple[BrokerId, ...]
    settings: TopicSettings


@dataclass(frozen=True, slots=True)
class ElectionRules:
    """A controller's reactions, each from its view to its next view.

    Attributes:
        removed: a broker's registration is gone (session expired, fenced, controlled shutdown).
        returned: a broker is registered and unfenced again; the flag says whether it had shut down cleanly.
        joined: a leader's wish to add replicas to the ISR is committed.
        left: a leader's wish to remove replicas from the ISR is committed.
        elect: a leader for a partition that has none.
        heeding: the same with an eye on unclean.leader.election.enable, if these have none (KAFKA-12670).
    """

    rule: Rule
    removed: Callable[[ControllerView, ElectedPartition, BrokerId], ControllerView]
    returned: Callable[[ControllerView, ElectedPartition, BrokerId, bool], ControllerView]
    joined: Callable[[ControllerView, ElectedPartition, BrokerId], ControllerView]
    left: Callable[[ControllerView, ElectedPartition, Collection[BrokerId]], ControllerView]
    elect: Callable[[ControllerView, ElectedPartition], ControllerView]
    heeding: ElectionRules | None = None


def with_leader(view: ControllerView, leader: BrokerId, *, clean: bool) -> ControllerView:
    """Return the view with a new leader in the next leader epoch."""
    view = bumped(replace(view, leader=leader))
    return replace(view, leaderships=(*view.leaderships, (view.leader_epoch, leader, clean)))


def bumped(view: ControllerView) -> ControllerView:
    """Return the view in the next leader epoch."""
    return replace(view, leader_epoch=LeaderEpoch(view.leader_epoch + 1))


def re_elected(
    view: ControllerView,
    partition: ElectedPartition,
    elect: Callable[[ControllerView, ElectedPartition], ControllerView],
) -> ControllerView:
    """Return the view after its leader is gone: with another one, or with none, one epoch on."""
    view = replace(view, leader=None)
    elected = elect(view, partition)
    return bumped(view) if elected.leader is None else elected


def first_live(partition: ElectedPartition, view: ControllerView, among: Collection[BrokerId]) -> BrokerId | None:
    """Return the first registered replica in assignment order that is ``among`` (EL-04)."""
    live = (b for b in partition.assignment if b in view.registered and b in among)
    return next(live, None)


ZOOKEEPER_CONTROLLER = Rule(
    name="zookeeper-controller",
    source="kafka.controller.PartitionStateMachine, ReplicaStateMachine",
    says="The controller elects from the ISR, whose last member stays in it.",
)
"""How does a ZooKeeper-era controller elect? First live ISR member in assignment order.

With unclean election the first live replica takes over if no ISR member lives. The last ISR member stays in the ISR
although its broker is down (IS-07), but up to 1.0 not with unclean election. Removing a replica bumps the leader epoch.

Source: OfflinePartitionLeaderSelector, later Election; ReplicaStateMachine.

Mutant: elects-uncleanly-although-off, which the golden prediction of EL-01/safe notices.
"""

ZOOKEEPER_CONTROLLER_EMPTYING_ISR = Rule(
    name="zookeeper-controller-empties-isr",
    source="KafkaController.removeReplicaFromIsr",
    says="The controller elects from the ISR, which its last member leaves too if unclean election is on.",
)


def removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Elect without the broker if it led; else take it out of the ISR in a new epoch.

    If nobody can be elected it leaves the ISR all the same, where it is not the last: who is left there is down, too
    (``KafkaController.removeReplicasFromIsr``).
    """
    view = replace(view, registered=view.registered - {broker})
    if view.leader != broker:
        return shrunk(view, broker)
    return without(re_elected(view, partition, elect), broker)


def without(view: ControllerView, broker: BrokerId) -> ControllerView:
    """Take a replica out of the ISR, unless it is the last one there."""
    return replace(view, isr=tuple(b for b in view.isr if b != broker) or view.isr)


def removed_even_if_last(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """As ``removed``; with unclean election the last member leaves the ISR too, which is then empty."""
    view = removed(view, partition, broker)
    if view.leader is None and view.isr == (broker,) and partition.settings.unclean_leader_election:
        return replace(view, isr=())
    return view


def shrunk(view: ControllerView, broker: BrokerId) -> ControllerView:
    """Take a replica out of the ISR unless it is the last, bumping the epoch."""
    remaining = without(view, broker)
    return view if remaining == view else bumped(remaining)


def elect(view: ControllerView, partition: ElectedPartition) -> ControllerView:
    """Elect a live ISR member, else with unclean election any live replica, else nobody."""
    clean = first_live(partition, view, view.isr)
    if clean is not None:
        live_isr = tuple(b for b in view.isr if b in view.registered)
        return with_leader(replace(view, isr=live_isr), clean, clean=True)
    unclean = first_live(partition, view, partition.assignment)
    if unclean is not None and partition.settings.unclean_leader_election:
        return with_leader(replace(view, isr=(unclean,)), unclean, clean=False)
    return view


def returned(view: ControllerView, partition: ElectedPartition, broker: BrokerId, _clean: bool) -> ControllerView:
    """Register the broker; a leaderless partition is elected anew."""
    view = replace(view, registered=view.registered | {broker})
    return elect(view, partition) if view.leader is None else view


def joined(view: ControllerView, _partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Add a replica to the ISR; the leader epoch stays."""
    return replace(view, isr=(*view.isr, broker))


def left(view: ControllerView, _partition: ElectedPartition, brokers: Collection[BrokerId]) -> ControllerView:
    """Remove replicas from the ISR as its leader wrote it; the leader epoch stays."""
    return replace(view, isr=tuple(b for b in view.isr if b not in brokers))


ZOOKEEPER = ElectionRules(
    rule=ZOOKEEPER_CONTROLLER, removed=removed, returned=returned, joined=joined, left=left, elect=elect
)
ZOOKEEPER_EMPTYING_ISR = replace(ZOOKEEPER, rule=ZOOKEEPER_CONTROLLER_EMPTYING_ISR, removed=removed_even_if_last)

KRAFT_CONTROLLER = Rule(
    name="kraft-controller",
    source="PartitionChangeBuilder, KAFKA-15021",
    says="The controller elects from the ISR; a shrink of the ISR starts no leader epoch.",
)
"""How does a KRaft controller elect without eligible leader replicas? Like ZooKeeper's, mostly.

A valid current leader is kept; else the first live ISR member in assignment order; else, with unclean election, the
first live replica. The last ISR member stays in the ISR. Metadata versions before 3.6-IV0 bump the leader epoch on
every ISR shrink (KAFKA-15021), later ones do not.

Source: PartitionChangeBuilder, ReplicationControlManager.

Mutant: bumps-the-epoch-on-shrink, which the story caught-up-on-3.9-kraft notices.
"""
KRAFT_CONTROLLER_BUMPING = Rule(
    name="kraft-controller-bumps-epoch-on-shrink",
    source="PartitionChangeBuilder",
    says="The controller elects from the ISR; a shrink of the ISR starts a leader epoch.",
)


def removed_in_kraft_mode(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Elect without the broker if it led; else take it out of the ISR in the same epoch."""
    view = replace(view, registered=view.registered - {broker})
    return without(re_elected(view, partition, elect) if view.leader == broker else view, broker)


def left_bumping(view: ControllerView, partition: ElectedPartition, brokers: Collection[BrokerId]) -> ControllerView:
    """Remove replicas from the ISR in a new leader epoch."""
    return bumped(left(view, partition, brokers))


KRAFT = ElectionRules(
    rule=KRAFT_CONTROLLER,
    removed=removed_in_kraft_mode,
    returned=returned,
    joined=joined,
    left=left,
    elect=elect,
)
KRAFT_BUMPING = replace(ZOOKEEPER, rule=KRAFT_CONTROLLER_BUMPING, left=left_bumping)

PREFERRED_ON_REQUEST = Rule(
    name="preferred-election-on-request",
    source="KIP-183, PreferredReplicaPartitionLeaderSelector",
    says="The controller elects the preferred leader on request if it lives and is in sync.",
)
"""Which leader does an operator get who asks for an election? The preferred one, or one outside the ISR.

The preferred leader is the first assigned replica; it takes over only if it lives and is in sync, and the ISR stays as
it is. An unclean election is held for a partition that nobody leads, whatever unclean.leader.election.enable says.
Without the first the load stays where failures have put it; without the second a partition whose in-sync replicas are
gone for good never comes back. A release without unclean elections on request refuses to hold one.

Sources: PreferredReplicaPartitionLeaderSelector, Election.leaderForPreferredReplica,
ReplicationControlManager.electLeaders; KIP-183, KIP-460.

Mutant: prefers-a-replica-that-is-not-in-sync, which the story elections-on-request notices.
Mutant: elects-uncleanly-on-request-too-early, which a question to 2.3.1 notices.
"""
UNCLEAN_ON_REQUEST = Rule(
    name="unclean-election-on-request",
    source="KIP-460, ReplicationControlManager.electLeaders",
    says="The controller holds an unclean election on request.",
)


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
