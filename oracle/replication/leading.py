"""What does a leader do? Appends, answers fetches, moves the high watermark, lets replicas join.

Sources: kafka.cluster.Partition, ReplicaManager.fetchMessages, DelayedProduce; HW-03 … HW-08.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH, EpochEnd, ModelRecord
from oracle.replacing import replace
from oracle.replication import joining
from oracle.rules import eligible_leaders
from oracle.rules.reassignment import UnknownReplica
from oracle.state import FetchAnswer, FetchInFlight, FetchKind, FetchStage, ProduceState, ReplicaState
from oracle.vocabulary import Acks, Offset, ProduceOutcome

if TYPE_CHECKING:
    from oracle.events import LateFetchReceived, RecordSent, RecordTurnedAway
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState
    from oracle.vocabulary import BrokerId


def append(state: PartitionState, event: RecordSent, rules: RuleSet) -> PartitionState:
    """Append one produced record, or refuse it (AC-02, AC-04, HW-05)."""
    leader = state.serving_leader() if event.leader is None else state.presumed_leader(event.leader)
    if leader is None:
        return _refused(state, event, "LEADER_NOT_AVAILABLE")
    if not can_lead(leader):
        return _refused(state, event, "OFFSET_OUT_OF_RANGE")
    if event.acks is Acks.ALL and len(leader.isr) < _min_isr(state, rules):
        return _refused(state, event, "NOT_ENOUGH_REPLICAS")
    log = leader.log.append([ModelRecord(event.label, leader.leader_epoch, rules.truncation.stamps_epochs)])
    outcome = _OUTCOME_AFTER_APPEND[event.acks]
    end, epoch = log.log_end_offset, leader.leader_epoch
    produce = ProduceState(event.label, event.acks, leader.broker, end, epoch, outcome)
    leader = replace(leader, log=log, history_appended=leader.history_appended | {event.label})
    state = replace(state.with_replica(leader), produces=(*state.produces, produce))
    return advance_high_watermark(state, leader.broker, rules)


def can_lead(replica: ReplicaState) -> bool:
    """Tell whether a replica finds its high watermark in its log: where it does not, leading it fails (KAFKA-9491)."""
    return replica.high_watermark >= replica.log_start_offset


_OUTCOME_AFTER_APPEND = {
    Acks.NONE: ProduceOutcome.INDETERMINATE,
    Acks.LEADER: ProduceOutcome.ACKNOWLEDGED,
    Acks.ALL: None,
}


def _refused(state: PartitionState, event: RecordSent, error: str) -> PartitionState:
    produce = ProduceState(event.label, event.acks, None, None, None, ProduceOutcome.REFUSED, error)
    return replace(state, produces=(*state.produces, produce))


def turn_away(state: PartitionState, event: RecordTurnedAway) -> PartitionState:
    """Refuse one record whose request no log has seen (AC-01, AC-07); with acks=0 its producer hears nothing."""
    heard = event.acks != Acks.NONE
    outcome = ProduceOutcome.REFUSED if heard else ProduceOutcome.INDETERMINATE
    error = event.error if heard else None
    produce = ProduceState(event.label, event.acks, None, None, None, outcome, error)
    return replace(state, produces=(*state.produces, produce))


def _min_isr(state: PartitionState, rules: RuleSet) -> int:
    return rules.effective_min_isr(state.settings.min_insync_replicas, len(state.assignment))


def advance_high_watermark(state: PartitionState, broker: BrokerId, rules: RuleSet) -> PartitionState:
    """Raise a leader's high watermark to the lowest end offset that counts (HW-07, HW-08)."""
    leader = state.presumed_leader(broker)
    if leader is None or not can_lead(leader):
        return state
    if rules.high_watermark_needs_min_isr and len(leader.isr) < _min_isr(state, rules):
        return state
    target = _lowest_end_offset(state, leader, rules)
    if target is None or target <= leader.high_watermark:
        return state
    committed = {entry.label for entry in leader.log.entries[:target]}
    state = state.with_replica(replace(leader, high_watermark=target))
    state = replace(state, history_committed=state.history_committed | committed)
    return _completed_produces(state, leader, target, rules)


def _lowest_end_offset(state: PartitionState, leader: ReplicaState, rules: RuleSet) -> Offset | None:
    """Return the lowest end offset of the maximal ISR and of caught-up replicas; None while one is unknown."""
    lowest = leader.log.log_end_offset
    for remote in leader.remotes:
        is_registered = remote.broker in state.controller.registered
        if remote.broker in leader.maximal_isr() or rules.waits_for_caught_up(remote, is_registered):
            if remote.log_end_offset is None:
                return None
            lowest = min(lowest, remote.log_end_offset)
    return lowest


def _completed_produces(
    state: PartitionState, leader: ReplicaState, high_watermark: Offset, rules: RuleSet
) -> PartitionState:
    """End the leader's parked acks=all produces that the high watermark has passed (AC-02, AC-05)."""
    enough = len(leader.maximal_isr()) >= _min_isr(state, rules)

    def completed(produce: ProduceState) -> ProduceState:
        if produce.outcome is not None or produce.leader != leader.broker or produce.required_offset is None:
            return produce
        if high_watermark < produce.required_offset:
            return produce
        if enough:
            return replace(produce, outcome=ProduceOutcome.ACKNOWLEDGED)
        error = "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        return replace(produce, outcome=ProduceOutcome.INDETERMINATE, error=error)

    return replace(state, produces=tuple(completed(produce) for produce in state.produces))


def receive(state: PartitionState, follower: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> PartitionState:
    """Handle a follower's request: refuse it, look an epoch up, or record its end offset and answer or park it."""
    leader = _serving(state, fetch, rules)
    if leader is None:
        return _turned_away(state, follower, fetch, rules)
    if fetch.kind is FetchKind.EPOCH_LOOKUP:
        answer = rules.truncation.end_offset_for(leader.log, fetch.last_epoch)
        return _answered(state, follower, fetch, answer)
    is_answered = knows_replica(leader, follower.broker) or rules.unknown_replica is UnknownReplica.ANSWERED
    if not is_answered:
        return _turned_away(state, follower, fetch, rules)
    return _receive_fetch(state, follower, fetch, leader, rules)


def _serving(state: PartitionState, fetch: FetchInFlight, rules: RuleSet) -> ReplicaState | None:
    """Return the leader that serves a request: the one it was sent to, in the request's epoch."""
    leader = state.presumed_leader(fetch.leader)
    if leader is None:
        return None
    return leader if is_served(fetch, leader, rules) else None


def knows_replica(leader: ReplicaState, follower: BrokerId) -> bool:
    """Return whether a leader has heard that a follower's replica is assigned: it counts no other one."""
    return not any(follower in decision.added for decision in leader.undelivered)


def is_served(fetch: FetchInFlight, leader: ReplicaState, rules: RuleSet) -> bool:
    """Return whether a leader serves a request, by the epoch that it names."""
    return fetch.leader_epoch is None or rules.serves_epoch(fetch.leader_epoch, leader.leader_epoch)


def _turned_away(state: PartitionState, follower: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> PartitionState:
    """Refuse a request: the follower asks anew, or it has stopped until the next decision (KAFKA-7786).

    A fenced follower waits for the decision that it has not heard; one that has heard it meanwhile waits for another
    where it does not see that the refused lookup was one of an earlier epoch.
    """
    has_moved_on = fetch.leader_epoch != follower.leader_epoch
    is_stale = fetch.kind is FetchKind.EPOCH_LOOKUP and has_moved_on
    stops = is_stale and not rules.drops_stale_lookups and state.presumed_leader(fetch.leader) is not None
    session = None if fetch.kind is FetchKind.FETCH else follower.session
    return state.with_replica(replace(follower, fetch=None, stuck=follower.stuck or stops, session=session))


def _receive_fetch(
    state: PartitionState, follower: ReplicaState, fetch: FetchInFlight, leader: ReplicaState, rules: RuleSet
) -> PartitionState:
    before = leader.high_watermark
    diverging = _diverging(leader, fetch, rules)
    if diverging is not None:
        if rules.counts_diverging_fetch:
            state = _recorded(state, leader, fetch, follower, rules)
        answer = FetchAnswer((), before, diverging, leader.log_start_offset)
        return _answered(state, follower, fetch, answer)
    if not leader.log_start_offset <= fetch.offset <= leader.log.log_end_offset:
        return _answered(state, follower, fetch, FetchAnswer((), before, out_of_range=True))
    state = _recorded(state, leader, fetch, follower, rules)
    if fetch.offset == leader.log.log_end_offset:
        return state.with_replica(replace(follower, fetch=replace(fetch, stage=FetchStage.PARKED)))
    current = state.replica(leader.broker)
    high_watermark = current.high_watermark if rules.answers_new_high_watermark else before
    start = current.log_start_offset
    answer = FetchAnswer(current.log.entries[fetch.offset :], high_watermark, log_start_offset=start)
    return _answered(state, follower, fetch, answer)


def receive_late(state: PartitionState, event: LateFetchReceived, rules: RuleSet) -> PartitionState:
    """Handle a fetch that outlived its connection as any other, but for the answer, which reaches nobody.

    The follower goes on with what it has under way. A fetch of an earlier start tells nothing of the replica's present
    start, and from 3.7 on counts no more (KAFKA-15221); nobody counts one of a replica that is not assigned any more.
    """
    is_refused = event.is_of_earlier_start and not rules.counts_fetch_of_earlier_start
    if is_refused or event.follower not in state.assignment:
        return state
    before = state.replica(event.follower)
    received = receive(state, before, event.fetch, rules)
    after = received.replica(event.follower)
    after = replace(after, fetch=before.fetch, stuck=before.stuck, session=before.session)
    received = received.with_replica(after)
    return _of_earlier_start(received, event) if event.is_of_earlier_start else received


def _of_earlier_start(state: PartitionState, event: LateFetchReceived) -> PartitionState:
    leader = state.presumed_leader(event.fetch.leader)
    return (
        state if leader is None else state.with_replica(leader.with_remote(leader.remote(event.follower).restarted()))
    )


def complete(state: PartitionState, follower: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> PartitionState:
    """Read a parked fetch again and answer it with what the leader has now (HW-11)."""
    leader = _serving(state, fetch, rules)
    if leader is None:
        return _turned_away(state, follower, fetch, rules)
    return _answered(state, follower, fetch, answer_now(leader, fetch))


def answer_now(leader: ReplicaState, fetch: FetchInFlight) -> FetchAnswer:
    """Return what a leader answers a parked fetch by what it has now."""
    entries = leader.log.entries[fetch.offset :]
    return FetchAnswer(entries, leader.high_watermark, log_start_offset=leader.log_start_offset)


def _answered(
    state: PartitionState, follower: ReplicaState, fetch: FetchInFlight, answer: FetchAnswer | EpochEnd
) -> PartitionState:
    answered = replace(fetch, stage=FetchStage.ANSWERED, answer=answer)
    return state.with_replica(replace(follower, fetch=answered))


def _diverging(leader: ReplicaState, fetch: FetchInFlight, rules: RuleSet) -> EpochEnd | None:
    if not rules.truncation.checks_on_fetch or fetch.last_epoch == NO_EPOCH:
        return None
    end = rules.truncation.end_offset_for(leader.log, fetch.last_epoch)
    assert end.end_offset is not None, "a leader's own epoch is in its cache: it can tell every earlier one"
    is_prefix = end.leader_epoch == fetch.last_epoch and end.end_offset >= fetch.offset
    return None if is_prefix else end


def _recorded(
    state: PartitionState, leader: ReplicaState, fetch: FetchInFlight, follower: ReplicaState, rules: RuleSet
) -> PartitionState:
    """Record a known follower's end offset; let it join the ISR if it may; raise the high watermark."""
    if not knows_replica(leader, follower.broker):
        return state
    end_before = leader.remote_log_end_offset(follower.broker)
    leader = leader.with_remote(leader.remote(follower.broker).fetched(fetch.offset, leader.log.log_end_offset))
    may_join = rules.joins_isr(fetch.offset, leader.high_watermark, leader.epoch_start_offset)
    is_outside = follower.broker not in leader.maximal_isr()
    state = state.with_replica(leader)
    if is_outside and may_join and joining.may_wish(state, leader, follower.broker, rules):
        state = joining.wish(state, leader, follower.broker, rules)
    has_moved = end_before != fetch.offset
    return advance_high_watermark(state, leader.broker, rules) if has_moved or rules.checks_every_fetch else state


# What does a request to delete do? Of records: the leader's log starts later; followers learn it from their fetches.
#
# The records stay in the active segment; nobody is served them any more. Where the log starts is written to disk at a
# graceful stop (and every minute, which the tester puts off): a broker that is killed serves them again, until a
# leader tells it better.
#
# Of a topic: nobody has the partition any more, on disk or in the controller's mind; what the controller keeps of it
# elsewhere is in ``oracle.rules.eligible_leaders``.
#
# Sources are KIP-107; ReplicaManager.deleteRecordsOnLocalLog, UnifiedLog.maybeIncrementLogStartOffset,
# ReplicaFetcherThread.processPartitionData and LogManager.checkpointLogStartOffsets. The leader epoch cache forgets
# what ends before the log's start, and has that on disk at once.


def delete_records(state: PartitionState, offset: Offset) -> PartitionState | str:
    """Let the leader's log start at an offset, or say why it does not."""
    leader = state.serving_leader()
    if leader is None:
        return "nobody leads: there is no leader to delete records"
    if offset > leader.high_watermark:
        return f"the high watermark of leader {leader.broker} is {leader.high_watermark}: nothing above it is deleted"
    if offset <= leader.log_start_offset:
        return f"the log of leader {leader.broker} starts at {leader.log_start_offset} already"
    short = [r.broker for r in state.assigned() if r.log.log_end_offset < offset]
    if short:
        return f"the log of broker {short[0]} ends before {offset}: how it would go on is not predicted"
    return state.with_replica(replace(leader, log=leader.log.starting_at(offset), log_start_offset=offset))


def delete_topic(state: PartitionState) -> PartitionState | str:
    """Delete the partition on every broker, or say why that is not predicted."""
    if state.reassignment is not None or any(produce.outcome is None for produce in state.produces):
        return "a reassignment or a producer waits: how it would end is not predicted"
    replicas = tuple(
        ReplicaState(
            r.broker, alive=r.alive, shut_down_cleanly=r.shut_down_cleanly, history_appended=r.history_appended
        )
        for r in state.replicas
    )
    return replace(state, assignment=(), replicas=replicas, controller=eligible_leaders.without_topic(state.controller))
