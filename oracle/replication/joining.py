"""How does a replica get into the committed ISR? Its leader wishes it, the controller commits it.

Up to 2.6 the leader writes the ISR itself, and the write fails if the partition has changed since
the leader last heard of it. From 2.7 it asks the controller, one request at a time; a request of a
leader that has not heard the latest decision is refused, and stays pending until it hears it. The
answer to one that is granted travels by itself, beside the decisions (``oracle.rules.isr``: ``KIP_497``).

Sources: Partition.expandIsr, AlterPartitionManager, ReplicationControlManager.alterPartition; KIP-497.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.rules.election import ElectedPartition
from oracle.state import ControllerDecision

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState
    from oracle.vocabulary import BrokerId


def may_wish(state: PartitionState, leader: ReplicaState, follower: BrokerId, rules: RuleSet) -> bool:
    """Return whether a leader may ask for a replica: for one at a time, and for none that it knows to be ineligible.

    It looks by the rules of the controller, which it knows as soon as it has heard every decision
    (Partition.isReplicaIsrEligible, since 3.3).
    """
    knows = not leader.undelivered
    return not leader.has_isr_request and (not knows or is_eligible(state, leader, follower, rules))


def wish(state: PartitionState, leader: ReplicaState, follower: BrokerId, rules: RuleSet) -> PartitionState:
    """Let a leader ask for a replica that is in sync, or write the ISR itself (IS-02)."""
    if rules.asks_controller_to_join:
        return state.with_replica(replace(leader, joining=leader.joining or frozenset({follower})))
    if refusal(state, leader) is not None:
        return state
    return hear_answer(_committed(state, follower, rules), leader, follower)


def refusal(state: PartitionState, leader: ReplicaState) -> str | None:
    """Return why the controller refuses a leader's change of the ISR, or None."""
    if state.controller.leader != leader.broker:
        return f"broker {leader.broker} does not lead any more"
    if leader.undelivered:
        return f"leader {leader.broker} has not heard the controller's latest decision"
    return None


def commit(state: PartitionState, leader: ReplicaState, follower: BrokerId, rules: RuleSet) -> PartitionState | str:
    """Commit a leader's wish, or say why the controller refuses it."""
    refused = refusal(state, leader)
    if refused is not None:
        return refused
    if follower in state.controller.isr:
        return f"broker {follower} is in the ISR already"
    if not is_eligible(state, leader, follower, rules):
        return f"broker {follower} is not eligible to join the ISR"
    return _committed(state, follower, rules)


def is_eligible(state: PartitionState, leader: ReplicaState, follower: BrokerId, rules: RuleSet) -> bool:
    """Return whether the controller lets a replica join that its leader believes to be in sync."""
    return rules.may_join(follower in state.controller.registered, leader.remote(follower))


def _committed(state: PartitionState, follower: BrokerId, rules: RuleSet) -> PartitionState:
    partition = ElectedPartition(state.assignment, state.settings)
    joined = rules.election.joined(state.controller, partition, follower)
    return replace(state, controller=replace(joined, is_recovering=False))


def answer_later(state: PartitionState, leader: BrokerId) -> PartitionState:
    """Send a leader what was committed for it; it hears it in its own time."""
    replica = state.replica(leader)
    answer = ControllerDecision(leader, replica.leader_epoch, frozenset(state.controller.isr))
    return state.with_replica(replace(replica, isr_answer=answer))


def hear_late_answer(state: PartitionState, leader: ReplicaState, answer: ControllerDecision) -> PartitionState:
    """Tell the leader what was committed when its request was; the metadata log has no news in it any more."""
    known = tuple(decision for decision in leader.undelivered if decision != answer)
    none: frozenset[BrokerId] = frozenset()
    heard = replace(leader, isr=answer.isr, joining=none, leaving=none, isr_answer=None, undelivered=known)
    return state.with_replica(heard)


def hear_answer(state: PartitionState, leader: ReplicaState, follower: BrokerId) -> PartitionState:
    """Tell the leader that its wish is committed."""
    isr = frozenset(state.controller.isr)
    return state.with_replica(replace(leader, isr=isr, joining=leader.joining - {follower}))


def give_up(state: PartitionState, leader: ReplicaState, follower: BrokerId) -> PartitionState:
    """Return the leader to the committed ISR: the controller has refused its wish for good (INELIGIBLE_REPLICA)."""
    return state.with_replica(replace(leader, joining=leader.joining - {follower}))
