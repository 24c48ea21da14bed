"""What does a leader do? Appends, answers fetches, moves the high watermark, lets replicas join.

Sources: kafka.cluster.Partition, ReplicaManager.fetchMessages, DelayedProduce; HW-03 … HW-08.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, Entry, EpochEnd
from oracle.rules.election import Partition
from oracle.state import Fetch, FetchAnswer, FetchKind, FetchStage, ProduceState
from oracle.vocabulary import Acks, Offset, Outcome

if TYPE_CHECKING:
    from oracle.events import RecordSent
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState
    from oracle.vocabulary import BrokerId


def append(state: PartitionState, event: RecordSent, rules: RuleSet) -> PartitionState:
    """Append one produced record, or refuse it (AC-02, AC-04, HW-05)."""
    leader = state.serving_leader()
    if leader is None:
        return _refused(state, event, "LEADER_NOT_AVAILABLE")
    if event.acks is Acks.ALL and len(leader.isr) < state.settings.min_insync_replicas:
        return _refused(state, event, "NOT_ENOUGH_REPLICAS")
    log = leader.log.append([Entry(event.label, leader.leader_epoch)])
    outcome = _OUTCOME_AFTER_APPEND[event.acks]
    produce = ProduceState(event.label, event.acks, leader.broker, log.log_end_offset, outcome)
    leader = replace(leader, log=log, history_appended=leader.history_appended | {event.label})
    state = replace(state.with_replica(leader), produces=(*state.produces, produce))
    return advance_high_watermark(state, rules)


_OUTCOME_AFTER_APPEND = {
    Acks.NONE: Outcome.INDETERMINATE,
    Acks.LEADER: Outcome.ACKNOWLEDGED,
    Acks.ALL: None,
}


def _refused(state: PartitionState, event: RecordSent, error: str) -> PartitionState:
    produce = ProduceState(event.label, event.acks, None, None, Outcome.REFUSED, error)
    return replace(state, produces=(*state.produces, produce))


def advance_high_watermark(state: PartitionState, rules: RuleSet) -> PartitionState:
    """Raise the leader's high watermark to the lowest end offset of the maximal ISR (HW-07, HW-08)."""
    leader = state.serving_leader()
    if leader is None:
        return state
    target = _lowest_end_offset(leader)
    factor = len(state.assignment)
    allowed = rules.high_watermark_may_advance(len(leader.isr), state.settings.min_insync_replicas, factor)
    if target is None or target <= leader.high_watermark or not allowed:
        return state
    committed = {entry.label for entry in leader.log.entries[:target]}
    state = state.with_replica(replace(leader, high_watermark=target))
    state = replace(state, history_committed=state.history_committed | committed)
    return _completed_produces(state)


def _lowest_end_offset(leader: ReplicaState) -> Offset | None:
    followers = leader.maximal_isr() - {leader.broker}
    known = [leader.remote_log_end_offset(follower) for follower in followers]
    if any(offset is None for offset in known):
        return None
    return min([leader.log.log_end_offset, *(offset for offset in known if offset is not None)])


def _completed_produces(state: PartitionState) -> PartitionState:
    leader = state.serving_leader()
    assert leader is not None
    enough = len(leader.maximal_isr()) >= state.settings.min_insync_replicas

    def completed(produce: ProduceState) -> ProduceState:
        waits = produce.outcome is None and produce.required_offset is not None
        if not waits or leader.high_watermark < (produce.required_offset or 0):
            return produce
        if enough:
            return replace(produce, outcome=Outcome.ACKNOWLEDGED)
        error = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        return replace(produce, outcome=Outcome.INDETERMINATE, error=error)

    return replace(state, produces=tuple(completed(produce) for produce in state.produces))


def receive(state: PartitionState, follower: ReplicaState, rules: RuleSet) -> PartitionState:
    """Handle a follower's request: look an epoch up, or record its end offset and answer or park it."""
    fetch = follower.fetch
    leader = state.serving_leader()
    assert fetch is not None
    if leader is None or leader.broker != fetch.leader:
        return state.with_replica(replace(follower, fetch=None))
    if not rules.serves_epoch(fetch.leader_epoch, leader.leader_epoch):
        return state.with_replica(replace(follower, fetch=None))
    if fetch.kind is FetchKind.EPOCH_LOOKUP:
        answer = rules.truncation.end_offset_for(leader.log, fetch.last_epoch)
        return _answered(state, follower, fetch, answer)
    return _receive_fetch(state, follower, fetch, leader, rules)


def _receive_fetch(
    state: PartitionState, follower: ReplicaState, fetch: Fetch, leader: ReplicaState, rules: RuleSet
) -> PartitionState:
    before = leader.high_watermark
    diverging = _diverging(leader, fetch, rules)
    if diverging is not None:
        return _answered(state, follower, fetch, FetchAnswer((), before, diverging))
    if fetch.offset > leader.log.log_end_offset:
        return _answered(state, follower, fetch, FetchAnswer((), before, out_of_range=True))
    state = _recorded(state, leader, fetch, follower, rules)
    if fetch.offset == leader.log.log_end_offset:
        return state.with_replica(replace(follower, fetch=replace(fetch, stage=FetchStage.PARKED)))
    current = state.replica(leader.broker)
    high_watermark = current.high_watermark if rules.answers_new_high_watermark else before
    return _answered(state, follower, fetch, FetchAnswer(current.log.entries[fetch.offset :], high_watermark))


def complete(state: PartitionState, follower: ReplicaState) -> PartitionState:
    """Read a parked fetch again and answer it with what the leader has now (HW-11)."""
    fetch = follower.fetch
    leader = state.serving_leader()
    assert fetch is not None
    if leader is None or leader.broker != fetch.leader:
        return state.with_replica(replace(follower, fetch=None))
    answer = FetchAnswer(leader.log.entries[fetch.offset :], leader.high_watermark)
    return _answered(state, follower, fetch, answer)


def _answered(
    state: PartitionState, follower: ReplicaState, fetch: Fetch, answer: FetchAnswer | EpochEnd
) -> PartitionState:
    answered = replace(fetch, stage=FetchStage.ANSWERED, answer=answer)
    return state.with_replica(replace(follower, fetch=answered))


def _diverging(leader: ReplicaState, fetch: Fetch, rules: RuleSet) -> EpochEnd | None:
    if not rules.truncation.checks_on_fetch or fetch.last_epoch < 0:
        return None
    end = rules.truncation.end_offset_for(leader.log, fetch.last_epoch)
    if end == UNDEFINED or end.leader_epoch is None or end.end_offset is None:
        return None
    is_prefix = end.leader_epoch == fetch.last_epoch and end.end_offset >= fetch.offset
    return None if is_prefix else end


def _recorded(
    state: PartitionState, leader: ReplicaState, fetch: Fetch, follower: ReplicaState, rules: RuleSet
) -> PartitionState:
    leader = leader.with_remote(follower.broker, fetch.offset)
    joins = rules.joins_isr(fetch.offset, leader.high_watermark, leader.epoch_start_offset)
    is_outside = follower.broker not in leader.maximal_isr()
    state = state.with_replica(leader)
    if is_outside and joins and follower.broker in state.controller.registered:
        leader = replace(leader, joining=leader.joining | {follower.broker})
        state = state.with_replica(leader)
        if not rules.asks_controller_to_join:
            state = commit_join(state, follower.broker, rules)
    return advance_high_watermark(state, rules)


def commit_join(state: PartitionState, follower: BrokerId, rules: RuleSet) -> PartitionState:
    """Add a replica that the leader asked for to the committed ISR (IS-02, KIP-497)."""
    leader = state.serving_leader()
    assert leader is not None
    partition = Partition(state.assignment, state.settings)
    controller = rules.election.joined(state.controller, partition, follower)
    leader = replace(leader, isr=frozenset(controller.isr), joining=leader.joining - {follower})
    state = replace(state.with_replica(leader), controller=controller)
    return advance_high_watermark(state, rules)
