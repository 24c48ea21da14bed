"""What does a broker make of a controller's decision? It leads, follows, or steps down.

A decision reaches each broker on its own. Until it does, the broker keeps the role it had: a leader
that has not heard of its successor goes on as a zombie.

Sources: ReplicaManager.becomeLeaderOrFollower / applyDelta, Partition.makeLeader; LE-01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.replication.following import become_follower
from oracle.replication.leading import advance_high_watermark
from oracle.replication.remote import RemoteReplica
from oracle.state import LostRecord, ReplicaState
from oracle.vocabulary import ProduceOutcome, ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.state import ControllerDecision, PartitionState, ProduceState
    from oracle.vocabulary import BrokerId


def receive(state: PartitionState, replica: ReplicaState, rules: RuleSet) -> PartitionState:
    """Let a broker hear the oldest decision it has not heard yet."""
    decision, *later = replica.undelivered
    replica = replace(replica, undelivered=tuple(later))
    if decision.leader == replica.broker:
        return _make_leader(state, replica, decision, rules)
    if not decision.deletes or rules.answers_when_stopped:
        state = step_down(state, replica.broker)
    if replica.role is ReplicaRole.LEADER:
        state = with_losses(state)
    if decision.deletes:
        return state.with_replica(ReplicaState(replica.broker, history_appended=replica.history_appended))
    if decision.leader is None:
        return state.with_replica(_without_leader(replica, decision))
    return become_follower(state, replica, decision.leader, decision.leader_epoch, rules)


def _make_leader(
    state: PartitionState, replica: ReplicaState, decision: ControllerDecision, rules: RuleSet
) -> PartitionState:
    if replica.leader_epoch == decision.leader_epoch:
        replica = replace(replica, isr=decision.isr, joining=frozenset(), leaving=frozenset(), isr_answer=None)
        return advance_high_watermark(state.with_replica(replica), replica.broker, rules)
    log = replica.log.with_epoch(decision.leader_epoch) if rules.writes_epoch_on_election else replica.log
    leader = replace(
        replica,
        log=log,
        role=ReplicaRole.LEADER,
        leader=replica.broker,
        leader_epoch=decision.leader_epoch,
        epoch_start_offset=replica.log.log_end_offset,
        isr=decision.isr,
        joining=frozenset(),
        leaving=frozenset(),
        isr_answer=None,
        remotes=tuple(_remotes(state, replica, decision, rules)),
        truncating=False,
        truncated_to=None,
        stuck=False,
        fetch=None,
        session=None,
    )
    state = advance_high_watermark(state.with_replica(leader), leader.broker, rules)
    return with_losses(state)


def _remotes(
    state: PartitionState, replica: ReplicaState, decision: ControllerDecision, rules: RuleSet
) -> Iterator[RemoteReplica]:
    """Return what the leader of a new epoch knows: nothing yet, unless it led before."""
    trusts = rules.trusts_last_fetch_on_re_election
    for broker in sorted(set(state.assignment) - {replica.broker}):
        in_sync = broker in decision.isr
        if replica.role is ReplicaRole.LEADER:
            end = replica.log.log_end_offset
            yield replica.remote(broker).in_new_epoch(end, is_in_sync=in_sync, trusts_last_fetch=trusts)
        else:
            yield RemoteReplica(broker, is_caught_up=in_sync)


def _without_leader(replica: ReplicaState, decision: ControllerDecision) -> ReplicaState:
    """Return a replica that follows nobody in the decision's epoch."""
    return replace(
        replica,
        role=ReplicaRole.FOLLOWER,
        leader=None,
        leader_epoch=decision.leader_epoch,
        isr=frozenset(),
        joining=frozenset(),
        leaving=frozenset(),
        isr_answer=None,
        remotes=(),
        fetch=None,
        session=None,
        truncating=False,
        truncated_to=None,
        stuck=False,
    )


def step_down(state: PartitionState, broker: BrokerId) -> PartitionState:
    """End the produces that wait at a leader which leads no more; their records are in its log."""
    if not any(produce.outcome is None for produce in state.produces):
        return state

    def ended(produce: ProduceState) -> ProduceState:
        if produce.outcome is not None or produce.leader != broker:
            return produce
        return replace(produce, outcome=ProduceOutcome.INDETERMINATE, error="NOT_LEADER_OR_FOLLOWER")

    return replace(state, produces=tuple(map(ended, state.produces)))


def with_losses(state: PartitionState) -> PartitionState:
    """Write down the records that the elected leader does not serve although they were promised to somebody.

    Judged when a leader takes its role, and when one that had not heard of its successor gives it up.
    """
    view = state.controller
    if view.leader is None:
        return state
    leader = state.replica(view.leader)
    was_clean = view.leaderships[-1][2]
    served = {entry.label for entry in leader.log.entries}
    known = {loss.label for loss in state.history_losses}
    acknowledged = {p.label for p in state.produces if p.outcome is ProduceOutcome.ACKNOWLEDGED}
    missing = (state.history_committed | acknowledged) - served - known
    if not missing:
        return state
    losses = (
        LostRecord(label, leader.broker, was_clean, label in leader.history_appended) for label in sorted(missing)
    )
    return replace(state, history_losses=(*state.history_losses, *losses))
