"""What does a leader do about a follower that lags? Its ISR check, without a clock.

Kafka notes when a follower last had everything, and looks every half replica.lag.time.max.ms whose
note is older than that. The model has the event that so much time went by: the followers it names
lose their notes, then the leader looks. Before 2.7 the leader writes the smaller ISR itself, in the
same leader epoch; since then it asks the controller, and counts the old ISR until that has agreed.

Sources: Partition.maybeShrinkIsr, getOutOfSyncReplicas; IS-03, IS-05, KIP-497.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.replication.electing import notify
from oracle.replication.joining import answer_later, refusal
from oracle.replication.leading import advance_high_watermark
from oracle.rules.election import ElectedPartition

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState
    from oracle.vocabulary import BrokerId


def pass_lag(
    state: PartitionState, leader: ReplicaState, followers: tuple[BrokerId, ...], rules: RuleSet
) -> PartitionState:
    """Let the lag time pass for some followers, then let the leader remove who is out of sync.

    While an earlier change of the ISR is under way the leader does not look. One that writes the ISR itself
    fails if the partition has changed since it last heard of it.
    """
    for follower in followers:
        leader = leader.with_remote(leader.remote(follower).lagged())
    leaving = frozenset(follower for follower in followers if _is_out_of_sync(leader, follower, rules))
    if not leaving or leader.has_isr_request:
        return state.with_replica(leader)
    asking = state.with_replica(replace(leader, leaving=leaving))
    if rules.asks_controller_to_join:
        return asking
    return state.with_replica(leader) if refusal(state, leader) else commit_shrink(asking, rules)


def _is_out_of_sync(leader: ReplicaState, follower: BrokerId, rules: RuleSet) -> bool:
    end = leader.remote_log_end_offset(follower)
    return follower in leader.isr and rules.leaves_isr(end, leader.log.log_end_offset)


def commit_shrink(state: PartitionState, rules: RuleSet, *, is_answered: bool = True) -> PartitionState:
    """Remove the replicas that the leader asked to remove from the committed ISR (IS-05, KAFKA-13091)."""
    leader = state.serving_leader()
    assert leader is not None
    partition = ElectedPartition(state.assignment, state.settings)
    decided = rules.election.left(state.controller, partition, leader.leaving)
    if decided.leader_epoch != leader.leader_epoch:
        return notify(state.with_replica(replace(leader, leaving=frozenset())), decided, rules)
    if is_answered:
        return hear_shrink(replace(state, controller=decided), leader, rules)
    told = notify(state, decided, rules) if rules.delivery.tells_joins else replace(state, controller=decided)
    return answer_later(told, leader.broker)


def hear_shrink(state: PartitionState, leader: ReplicaState, rules: RuleSet) -> PartitionState:
    """Tell the leader that the replicas it asked to remove are out of the ISR."""
    leader = replace(leader, isr=frozenset(state.controller.isr), leaving=frozenset())
    return raise_after_shrink(state.with_replica(leader), leader.broker, rules)


def raise_after_shrink(state: PartitionState, leader: BrokerId, rules: RuleSet) -> PartitionState:
    """Let a leader look at its high watermark when its ISR has shrunk, where the release does (KAFKA-13091)."""
    return advance_high_watermark(state, leader, rules) if rules.raises_high_watermark_on_shrink else state
