"""How does a KRaft controller elect without eligible leader replicas? Like ZooKeeper's, mostly.

A valid current leader is kept; else the first live ISR member in assignment order; else, with
unclean election, the first live replica. The last ISR member stays in the ISR. Metadata versions
before 3.6-IV0 bump the leader epoch on every ISR shrink (KAFKA-15021), later ones do not.

Source: PartitionChangeBuilder, ReplicationControlManager.

Mutant: bumps-the-epoch-on-shrink, which the story caught-up-on-3.9-kraft notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules import zookeeper_controller
from oracle.rules.election import ElectedPartition, ElectionRules, bumped, re_elected
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Collection

    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

RULE = Rule(
    name="kraft-controller",
    source="PartitionChangeBuilder, KAFKA-15021",
    says="The controller elects from the ISR; a shrink of the ISR starts no leader epoch.",
)
RULE_BUMPING = Rule(
    name="kraft-controller-bumps-epoch-on-shrink",
    source="PartitionChangeBuilder",
    says="The controller elects from the ISR; a shrink of the ISR starts a leader epoch.",
)


def removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Elect without the broker if it led; else take it out of the ISR in the same epoch."""
    view = replace(view, registered=view.registered - {broker})
    if view.leader == broker:
        return re_elected(view, partition, zookeeper_controller.elect)
    remaining = tuple(b for b in view.isr if b != broker)
    return replace(view, isr=remaining or view.isr)


def left_bumping(view: ControllerView, partition: ElectedPartition, brokers: Collection[BrokerId]) -> ControllerView:
    """Remove replicas from the ISR in a new leader epoch."""
    return bumped(zookeeper_controller.left(view, partition, brokers))


ELECTION = ElectionRules(
    rule=RULE,
    removed=removed,
    returned=zookeeper_controller.returned,
    joined=zookeeper_controller.joined,
    left=zookeeper_controller.left,
    elect=zookeeper_controller.elect,
)
ELECTION_BUMPING = replace(zookeeper_controller.ELECTION, rule=RULE_BUMPING, left=left_bumping)
