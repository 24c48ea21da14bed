"""How does a ZooKeeper-era controller elect? First live ISR member in assignment order.

With unclean election the first live replica takes over if no ISR member lives. The last ISR member
stays in the ISR although its broker is down (IS-07), but up to 1.0 not with unclean election.
Removing a replica bumps the leader epoch.

Source: OfflinePartitionLeaderSelector, later Election; ReplicaStateMachine.

Mutant: elects-uncleanly-although-off, which the golden prediction of EL-01/safe notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.election import ElectedPartition, ElectionRules, bumped, first_live, re_elected, with_leader
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

RULE = Rule(
    name="zookeeper-controller",
    source="kafka.controller.PartitionStateMachine, ReplicaStateMachine",
    says="The controller elects from the ISR, whose last member stays in it.",
)

RULE_EMPTYING_ISR = Rule(
    name="zookeeper-controller-empties-isr",
    source="KafkaController.removeReplicaFromIsr",
    says="The controller elects from the ISR, which its last member leaves too if unclean election is on.",
)


def removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Elect without the broker if it led; else take it out of the ISR in a new epoch."""
    view = replace(view, registered=view.registered - {broker})
    if view.leader == broker:
        return re_elected(view, partition, elect)
    return shrunk(view, broker)


def removed_even_if_last(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """As ``removed``; with unclean election the last member leaves the ISR too, which is then empty."""
    view = removed(view, partition, broker)
    if view.leader is None and view.isr == (broker,) and partition.settings.unclean_leader_election:
        return replace(view, isr=())
    return view


def shrunk(view: ControllerView, broker: BrokerId) -> ControllerView:
    """Take a replica out of the ISR unless it is the last, bumping the epoch."""
    remaining = tuple(b for b in view.isr if b != broker)
    if broker not in view.isr or not remaining:
        return view
    return bumped(replace(view, isr=remaining))


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


def returned(view: ControllerView, partition: ElectedPartition, broker: BrokerId, _clean: bool) -> ControllerView:  # noqa: FBT001 - shape of ElectionRules
    """Register the broker; a leaderless partition is elected anew."""
    view = replace(view, registered=view.registered | {broker})
    return elect(view, partition) if view.leader is None else view


def joined(view: ControllerView, _partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Add a replica to the ISR; the leader epoch stays."""
    return replace(view, isr=(*view.isr, broker))


def left(view: ControllerView, _partition: ElectedPartition, brokers: Collection[BrokerId]) -> ControllerView:
    """Remove replicas from the ISR as its leader wrote it; the leader epoch stays."""
    return replace(view, isr=tuple(b for b in view.isr if b not in brokers))


ELECTION = ElectionRules(rule=RULE, removed=removed, returned=returned, joined=joined, left=left, elect=elect)
ELECTION_EMPTYING_ISR = replace(ELECTION, rule=RULE_EMPTYING_ISR, removed=removed_even_if_last)
