"""How does a partition move to other brokers? New replicas join first; then those that are not wanted leave.

An operator names the replicas wanted. While any of them is not in sync, the partition has the old and the new ones.
Then the controller moves the leader if it is not wanted, takes the others out of the ISR and has them delete what they
hold. With ZooKeeper every one of these is a decision in a leader epoch of its own, and even the beginning and an end
without removals start one. In KRaft mode the record that makes the last wanted replica a member of the ISR also ends
the reassignment, and starts a leader epoch only if replicas leave. Up to 3.7 it waits for the added replicas alone:
wanted ones that were assigned before may be out of sync. From 3.8 to 4.2 it waits for all wanted ones (KAFKA-15665);
from 4.3 on again for the added ones alone, unless fewer replicas are added than leave (KAFKA-19975).

A new replica may fetch before its leader has heard that it is assigned. No leader counts it then. Up to 0.11 the whole
fetch fails. From 1.0 on (KAFKA-5758) it is to be answered without records; but such an answer waits for more, and then
is given what there is. With ZooKeeper a leader that checks the epoch (KIP-320) refuses it, since the decision to come
has a new one; from 3.3 on every leader does (KAFKA-13837), as it must in KRaft mode, where the epoch stays.

Without it replicas would leave before others have their records, and a leader would go on that has no log.

Sources: KafkaController.onPartitionReassignment (KIP-455), PartitionReassignmentReplicas,
PartitionChangeBuilder.completeReassignmentIfNeeded; ReplicaManager.updateFollowerLogReadResults, DelayedFetch,
Partition.followerReplicaOrThrow.

Mutant: ends-before-new-replicas-are-in-sync, which the story reassignment-on-3.9-zookeeper notices.
Mutant: counts-a-replica-of-which-it-has-not-heard, which a question between two steps notices.
Mutant: refuses-a-replica-of-which-it-has-not-heard, likewise.
Mutant: gives-records-to-a-replica-of-which-it-has-not-heard, likewise.
Mutant: fails-for-a-replica-of-which-it-has-not-heard, likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from oracle.rules.election import bumped, first_live, re_elected, shrunk, with_leader
from oracle.rules.eligible_leaders import with_isr_of_replicas
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.election import ElectedPartition, ElectionRules
    from oracle.rules.rule_set import RuleSet
    from oracle.state import ControllerView, Reassignment
    from oracle.vocabulary import BrokerId

    Completes = Callable[
        [ControllerView, ElectedPartition, tuple[BrokerId, ...], ElectionRules], tuple[ControllerView, ...]
    ]


@dataclass(frozen=True, slots=True)
class ReassignmentRules:
    """What a controller does about a reassignment.

    Attributes:
        begun: the view once old and new replicas are assigned, if some new one is not in sync yet.
        is_ready: whether the replicas that are not wanted may leave.
        completed: (view, partition as wanted, replicas that leave, election rules) -> the decisions, in order.
    """

    rule: Rule
    begun: Callable[[ControllerView], ControllerView]
    is_ready: Callable[[ControllerView, Reassignment], bool]
    completed: Completes


def unchanged(view: ControllerView) -> ControllerView:
    """Leave the leadership as it is."""
    return view


def wanted_in_sync(view: ControllerView, reassignment: Reassignment) -> bool:
    """Return whether every wanted replica is in the ISR."""
    return set(reassignment.target) <= set(view.isr)


def added_in_sync(view: ControllerView, reassignment: Reassignment) -> bool:
    """Return whether every added replica is in the ISR, and somebody there stays."""
    return reassignment.added <= set(view.isr) and not set(reassignment.target).isdisjoint(view.isr)


def wanted_in_sync_unless_reordered(view: ControllerView, reassignment: Reassignment) -> bool:
    """Return whether every wanted replica is in the ISR; one that changes nothing but the order waits for nobody."""
    return not (reassignment.added or reassignment.removed) or wanted_in_sync(view, reassignment)


def added_in_sync_unless_fewer(view: ControllerView, reassignment: Reassignment) -> bool:
    """Return whether every added replica is in the ISR, and every wanted one if fewer replicas are added than leave."""
    is_fewer = len(reassignment.added) < len(reassignment.removed)
    return added_in_sync(view, reassignment) and (not is_fewer or wanted_in_sync(view, reassignment))


def completed_in_steps(
    view: ControllerView, partition: ElectedPartition, removed: tuple[BrokerId, ...], _rules: ElectionRules
) -> tuple[ControllerView, ...]:
    """Move or confirm the leader, then take one replica after the other out of the ISR."""
    views = [_moved(view, partition)]
    for broker in removed:
        views.append(shrunk(views[-1], broker))
    return tuple(views)


def _moved(view: ControllerView, partition: ElectedPartition) -> ControllerView:
    if view.leader in partition.assignment:
        return bumped(view)
    elected = first_live(partition, view, view.isr)
    return view if elected is None else with_leader(view, elected, clean=True)


def completed_at_once(
    view: ControllerView, partition: ElectedPartition, removed: tuple[BrokerId, ...], rules: ElectionRules
) -> tuple[ControllerView, ...]:
    """Shrink the ISR to the wanted replicas and elect if the leader leaves, all in one record."""
    isr = tuple(broker for broker in view.isr if broker not in removed)
    view = replace(view, isr=isr, elr=frozenset())
    if view.leader in removed:
        return (re_elected(view, partition, rules.elect),)
    return (bumped(view) if removed else view,)


class UnknownReplica(Enum):
    """What a leader does with a fetch of a replica of which it has not heard yet that it is assigned."""

    FAILS_FETCH = auto()
    ANSWERED = auto()
    REFUSED = auto()


UNKNOWN_FAILS_FETCH = Rule(
    name="replica-unknown-to-leader-fails-the-fetch",
    source="KAFKA-5758, Partition.updateReplicaLogReadResult",
    says="A fetch fails, with all its partitions, if the leader has not heard of one replica.",
)
UNKNOWN_REFUSED = Rule(
    name="replica-unknown-to-leader-is-refused",
    source="KAFKA-13837, Partition.followerReplicaOrThrow",
    says="A leader refuses a new replica before it has heard of it.",
)
UNKNOWN_ANSWERED = Rule(
    name="replica-unknown-to-leader-is-given-records",
    source="KAFKA-5758, KAFKA-13837, DelayedFetch.onComplete",
    says="A leader gives records to a new replica before it has heard of it, and does not count it.",
)
IN_STEPS = ReassignmentRules(
    Rule(
        name="reassignment-in-steps",
        source="KafkaController.onPartitionReassignment",
        says="The controller takes a reassignment step by step, each in a leader epoch of its own.",
    ),
    begun=bumped,
    is_ready=wanted_in_sync,
    completed=completed_in_steps,
)
ADDED_ONLY = ReassignmentRules(
    Rule(
        name="reassignment-waits-for-added-replicas",
        source="PartitionReassignmentReplicas.maybeCompleteReassignment",
        says="A reassignment ends when all added replicas are in sync.",
    ),
    begun=unchanged,
    is_ready=added_in_sync,
    completed=completed_at_once,
)
IN_ONE_RECORD = replace(
    ADDED_ONLY,
    rule=Rule(
        name="reassignment-in-one-record",
        source="PartitionChangeBuilder.completeReassignmentIfNeeded",
        says="A reassignment ends when all wanted replicas are in sync.",
    ),
    is_ready=wanted_in_sync_unless_reordered,
)
ADDED_UNLESS_FEWER = replace(
    ADDED_ONLY,
    rule=Rule(
        name="reassignment-waits-for-all-if-it-leaves-fewer",
        source="KAFKA-19975",
        says="A reassignment ends when all added replicas are in sync; if more leave, when all wanted ones are.",
    ),
    is_ready=added_in_sync_unless_fewer,
)
REMOVED_STAYS_ELIGIBLE = Rule(
    name="removed-replica-stays-eligible",
    source="PartitionChangeBuilder.maybePopulateTargetElr",
    says="A replica that a reassignment removes stays an eligible leader replica if the ISR is below the old minimum.",
)
"""Is a replica that a reassignment removes an eligible leader replica? It is, though it is no replica any more.

The record that ends a reassignment shrinks the ISR, and every member of the ISR before that is not in it any more
becomes eligible, if the ISR is smaller than min.insync.replicas, or than the replicas that there were, which count the
removed ones still. Nobody elects a broker that is no replica. But while anybody is eligible the last known leader is
not elected: a partition whose only replica has crashed stays without a leader when that replica is back.

Without the rule the removed replicas are eligible no more, and the minimum is at most the number of replicas wanted.

Sources, as the class files of 4.0.2, 4.1.2 and 4.4.0 have them: PartitionChangeBuilder.maybePopulateTargetElr,
canElectLastKnownLeader; ReplicationControlManager.getTopicEffectiveMinIsr. Open upstream.

Mutant: removed-replica-is-forgotten, which a question after a reassignment notices.
"""


def without_the_removed(
    view: ControllerView, partition: ElectedPartition, removed: tuple[BrokerId, ...], rules: ElectionRules
) -> tuple[ControllerView, ...]:
    """End a reassignment in one record: who is removed is not eligible."""
    after = _completed_among(len(partition.assignment), view, partition, removed, rules)
    return (replace(after, elr=after.elr.difference(removed)),)


def with_the_removed(
    view: ControllerView, partition: ElectedPartition, removed: tuple[BrokerId, ...], rules: ElectionRules
) -> tuple[ControllerView, ...]:
    """End a reassignment in one record: who is removed stays eligible, and counts for the minimum."""
    return (_completed_among(len(partition.assignment) + len(removed), view, partition, removed, rules),)


def _completed_among(
    replicas: int,
    view: ControllerView,
    partition: ElectedPartition,
    removed: tuple[BrokerId, ...],
    rules: ElectionRules,
) -> ControllerView:
    """End a reassignment in one record, with who is eligible in a partition of so many replicas."""
    (after,) = completed_at_once(view, partition, removed, rules)
    return replace(after, elr=with_isr_of_replicas(view, partition, after.isr, replicas).elr)


def forgetting_the_removed(rules: RuleSet) -> RuleSet:
    """Return a rule set with eligible leader replicas in which a removed replica is none."""
    return replace(rules, reassignment=replace(rules.reassignment, completed=without_the_removed))


def keeping_the_removed(rules: RuleSet) -> RuleSet:
    """Return a rule set in which a removed replica stays an eligible leader replica."""
    return replace(rules, reassignment=replace(rules.reassignment, completed=with_the_removed))
