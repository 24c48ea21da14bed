"""What do brokers make of a controller's decision? Roles, epochs, and what an election loses.

Sources: ReplicaManager.becomeLeaderOrFollower / applyDelta, Partition.makeLeader; LE-01, HW-13.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.following import become_follower
from oracle.leading import advance_high_watermark
from oracle.remote import RemoteReplica
from oracle.rules.election import Partition
from oracle.state import Loss, ReplicaState
from oracle.vocabulary import Acks, Offset, Outcome, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.state import ControllerView, PartitionState, ProduceState
    from oracle.vocabulary import BrokerId


def die(state: PartitionState, broker: BrokerId, *, graceful: bool) -> PartitionState:
    """End a broker's process: its log stays, its high watermark is what the checkpoint file says.

    Every connection to it breaks, and with it the requests that others have under way.
    """
    replica = state.replica(broker)
    checkpointed = replica.high_watermark if graceful else replica.checkpointed_high_watermark
    dead = ReplicaState(
        broker,
        alive=False,
        log=replica.log.truncate_to(replica.log.log_end_offset),
        high_watermark=min(checkpointed, replica.log.log_end_offset),
        checkpointed_high_watermark=checkpointed,
        shut_down_cleanly=graceful,
        history_appended=replica.history_appended,
    )
    others = tuple(_without(other, broker) for other in state.replicas)
    produces = tuple(_cut_off(produce, broker) for produce in state.produces)
    return replace(state, replicas=others, produces=produces).with_replica(dead)


def _without(replica: ReplicaState, broker: BrokerId) -> ReplicaState:
    """Return a replica after another broker's end: no request to it, no trust in its last fetch."""
    fetch = replica.fetch if replica.fetch is not None and replica.fetch.leader != broker else None
    remotes = tuple(remote.restarted() if remote.broker == broker else remote for remote in replica.remotes)
    return replace(replica, fetch=fetch, remotes=remotes)


def _cut_off(produce: ProduceState, broker: BrokerId) -> ProduceState:
    if produce.outcome is None and produce.leader == broker:
        return replace(produce, outcome=Outcome.INDETERMINATE)
    return produce


def remove(state: PartitionState, broker: BrokerId, rules: RuleSet) -> PartitionState:
    """Let the controller react to a broker that is gone."""
    partition = Partition(state.assignment, state.settings)
    return notify(state, rules.election.removed(state.controller, partition, broker), rules)


def return_broker(state: PartitionState, broker: BrokerId, rules: RuleSet, *, clean: bool) -> PartitionState:
    """Start a broker with its old files and let the controller react (HW-13)."""
    state = state.with_replica(replace(state.replica(broker), alive=True))
    partition = Partition(state.assignment, state.settings)
    return notify(state, rules.election.returned(state.controller, partition, broker, clean), rules)


def notify(state: PartitionState, decided: ControllerView, rules: RuleSet) -> PartitionState:
    """Tell every live replica the controller's decision, the leader first."""
    is_new_leader = decided.leaderships != state.controller.leaderships
    state = replace(state, controller=decided)
    if decided.leader is None:
        return state
    leader = state.replica(decided.leader)
    if leader.alive:
        state = _make_leader(state, leader, rules)
    if is_new_leader:
        state = replace(state, history_losses=(*state.history_losses, *_losses(state)))
    for replica in state.replicas:
        if replica.alive and replica.broker != decided.leader and replica.leader_epoch < decided.leader_epoch:
            state = become_follower(state, replica, decided.leader, decided.leader_epoch, rules)
    return state


def _make_leader(state: PartitionState, replica: ReplicaState, rules: RuleSet) -> PartitionState:
    decided = state.controller
    if replica.leader_epoch == decided.leader_epoch:
        replica = replace(replica, isr=frozenset(decided.isr))
        return advance_high_watermark(state.with_replica(replica), rules)
    log = replica.log.with_epoch(decided.leader_epoch) if rules.writes_epoch_on_election else replica.log
    replica = replace(
        replica,
        log=log,
        role=Role.LEADER,
        leader=replica.broker,
        leader_epoch=decided.leader_epoch,
        epoch_start_offset=replica.log.log_end_offset,
        isr=frozenset(decided.isr),
        joining=frozenset(),
        remotes=tuple(_remotes(state, replica, rules)),
        truncating=False,
        stuck=False,
        fetch=None,
    )
    return advance_high_watermark(state.with_replica(replica), rules)


def _remotes(state: PartitionState, replica: ReplicaState, rules: RuleSet) -> Iterator[RemoteReplica]:
    """Return what the leader of a new epoch knows: nothing yet, unless it led before."""
    trusts = rules.trusts_last_fetch_on_re_election
    for broker in sorted(set(state.assignment) - {replica.broker}):
        in_sync = broker in state.controller.isr
        if replica.role is Role.LEADER:
            end = replica.log.log_end_offset
            yield replica.remote(broker).in_new_epoch(end, is_in_sync=in_sync, trusts_last_fetch=trusts)
        else:
            yield RemoteReplica(broker, is_caught_up=in_sync)


def _losses(state: PartitionState) -> list[Loss]:
    """Return the records that the new leader does not serve although they were promised to somebody."""
    _, leader, was_clean = state.controller.leaderships[-1]
    replica = state.replica(leader)
    served = {entry.label for entry in replica.log.entries}
    known = {loss.label for loss in state.history_losses}
    acknowledged = {p.label for p in state.produces if p.outcome is Outcome.ACKNOWLEDGED}
    missing = (state.history_committed | acknowledged) - served - known
    return [Loss(label, leader, was_clean, label in replica.history_appended) for label in sorted(missing)]


def time_out(produce: ProduceState) -> ProduceState:
    """End a parked acks=all produce by its timeout; its record stays in the log (AC-03)."""
    assert produce.acks is Acks.ALL
    return replace(produce, outcome=Outcome.INDETERMINATE, error="REQUEST_TIMED_OUT")


def checkpoint_high_watermarks(state: PartitionState) -> PartitionState:
    """Write every live replica's high watermark to its checkpoint file."""
    replicas = tuple(
        replace(r, checkpointed_high_watermark=Offset(r.high_watermark)) if r.alive else r for r in state.replicas
    )
    return replace(state, replicas=replicas)
