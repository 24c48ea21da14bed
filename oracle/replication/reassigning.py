"""What does a reassignment do to the replicas? The new ones start empty, the others are deleted at its end.

Sources: KafkaController.onPartitionReassignment, ReplicationControlManager.changePartitionReassignment,
ReplicaManager.stopReplicas; KIP-455.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.replication.electing import notify
from oracle.rules.election import Partition
from oracle.state import Decision, Reassignment

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState
    from oracle.vocabulary import BrokerId


def begin(state: PartitionState, target: tuple[BrokerId, ...], rules: RuleSet) -> PartitionState | str:
    """Assign the wanted replicas besides the old ones, or say why the controller refuses."""
    if state.reassignment is not None:
        return "a reassignment is under way"
    added = frozenset(target) - set(state.assignment)
    down = sorted(added - state.controller.registered)
    if down:
        return f"broker {down[0]} is down: it cannot get a replica"
    merged = tuple(dict.fromkeys((*target, *state.assignment)))
    reassignment = Reassignment(target, added)
    state = replace(state, assignment=merged, reassignment=reassignment)
    if rules.reassignment.is_ready(state.controller, reassignment):
        return state
    return notify(state, rules.reassignment.begun(state.controller), rules)


def advanced(state: PartitionState, rules: RuleSet) -> PartitionState:
    """End a reassignment as soon as the wanted replicas are in sync."""
    reassignment = state.reassignment
    assert reassignment is not None
    if not rules.reassignment.is_ready(state.controller, reassignment):
        return state
    target = reassignment.target
    removed = tuple(broker for broker in state.assignment if broker not in target)
    state = replace(state, assignment=target, reassignment=None)
    partition = Partition(target, state.settings)
    for decided in rules.reassignment.completed(state.controller, partition, removed, rules.election):
        state = notify(state, decided, rules)
    replicas = tuple(_told_to_stop(r, rules) if r.broker in removed and r.alive else r for r in state.replicas)
    return replace(state, replicas=replicas)


def _told_to_stop(replica: ReplicaState, rules: RuleSet) -> ReplicaState:
    """Return a replica on its way to which is the decision that it is not assigned any more."""
    stop = Decision(None, replica.leader_epoch, frozenset(), deletes=True)
    earlier = () if rules.delivery.merges else replica.undelivered
    return replace(replica, undelivered=(*earlier, stop))
