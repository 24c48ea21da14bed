"""How does the partition change? ``step`` maps (state, event) to a transition or a refusal.

The one entry to every state change. Leaders' changes live in ``leading``, followers' in
``following``, those that a controller's decision causes in ``electing``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.events import (
    BrokerDied,
    BrokerEvent,
    BrokerRemoved,
    BrokerReturned,
    DecisionReceived,
    DiskEvent,
    ElectionRequested,
    Event,
    FetchCompleted,
    HighWatermarkLost,
    IsrEvent,
    JoinAnswered,
    JoinCommitted,
    JoinRefused,
    LagPassed,
    LateFetchReceived,
    LinkEvent,
    LogTailLost,
    OperatorEvent,
    ReassignmentRequested,
    RecordsDeleted,
    RecordSent,
    RecordTurnedAway,
    RequestReceived,
    RequestSent,
    ResponseReceived,
    SettingsChanged,
    ShrinkAnswered,
    ShrinkCommitted,
    TopicDeleted,
)
from oracle.replication import decisions, electing, following, joining, lagging, leading
from oracle.state import FetchStage
from oracle.vocabulary import ReplicaRole

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState, ReplicaState


@dataclass(frozen=True, slots=True)
class Transition:
    """An event that the rules allow, and the state after it."""

    event: Event
    state: PartitionState


@dataclass(frozen=True, slots=True)
class Refusal:
    """An event that the rules do not allow in this state, and why."""

    event: Event
    reason: str


def step(state: PartitionState, event: Event, rules: RuleSet) -> Transition | Refusal:
    """Apply one event under a rule set."""
    result = _applied(state, event, rules)
    if isinstance(result, str):
        return Refusal(event, result)
    return Transition(event, result if result.reassignment is None else electing.advanced(result, rules))


def _applied(state: PartitionState, event: Event, rules: RuleSet) -> PartitionState | str:
    """Return the next state, or the reason why the rules do not allow the event."""
    match event:
        case RecordSent():
            if event.leader is not None and state.presumed_leader(event.leader) is None:
                return f"broker {event.leader} does not believe that it leads"
            return leading.append(state, event, rules)
        case RecordTurnedAway():
            return leading.turn_away(state, event)
        case BrokerDied() | BrokerRemoved() | BrokerReturned() | DecisionReceived():
            return _applied_to_broker(state, event, rules)
        case ElectionRequested() | ReassignmentRequested() | SettingsChanged() | RecordsDeleted() | TopicDeleted():
            return _applied_by_operator(state, event, rules)
        case LogTailLost() | HighWatermarkLost():
            return _applied_to_disk(state, event)
        case JoinCommitted() | JoinAnswered() | JoinRefused() | LagPassed() | ShrinkCommitted() | ShrinkAnswered():
            return _applied_to_isr(state, event, rules)
        case _:
            return _applied_to_link(state, event, rules)


def _applied_to_broker(state: PartitionState, event: BrokerEvent, rules: RuleSet) -> PartitionState | str:
    """End or start a broker, let the controller notice it, or let the broker hear what the controller decided."""
    match event:
        case BrokerDied(broker, graceful):
            if not state.replica(broker).alive:
                return f"broker {broker} is not running"
            return electing.shut_down(state, broker, rules) if graceful else electing.die(state, broker, graceful=False)
        case BrokerRemoved(broker):
            return electing.remove(state, broker, rules)
        case BrokerReturned(broker, clean):
            if state.replica(broker).alive and broker in state.controller.registered:
                return f"broker {broker} runs already"
            return electing.return_broker(state, broker, rules, clean=clean)
        case _:
            replica = state.replica(event.broker)
            if not replica.undelivered:
                return f"broker {event.broker} has heard every decision"
            return decisions.receive(state, replica, rules)


def _applied_by_operator(state: PartitionState, event: OperatorEvent, rules: RuleSet) -> PartitionState | str:
    """Do what an operator asks of the controller."""
    match event:
        case ElectionRequested(kind):
            return electing.request_election(state, kind, rules)
        case RecordsDeleted(offset):
            return leading.delete_records(state, offset)
        case ReassignmentRequested(replicas):
            return electing.begin(state, replicas, rules)
        case TopicDeleted():
            return leading.delete_topic(state)
        case _:
            return electing.change_settings(state, event.settings, rules)


def _applied_to_disk(state: PartitionState, event: DiskEvent) -> PartitionState | str:
    """Let the disk of a broker that is down forget something."""
    offset = event.offset if isinstance(event, LogTailLost) else None
    reason = following.why_not(state, event.broker, offset)
    if reason is not None:
        return reason
    if offset is not None:
        return following.lose_tail(state, event.broker, offset)
    return following.lose_high_watermark(state, event.broker)


def _applied_to_isr(state: PartitionState, event: IsrEvent, rules: RuleSet) -> PartitionState | str:
    """Let a leader look at its ISR, or the controller commit what a leader has asked for."""
    if isinstance(event, JoinAnswered | ShrinkAnswered):
        return _answered_late(state, event, rules)
    leader = state.serving_leader()
    match event:
        case JoinCommitted() | JoinRefused():
            if leader is None or event.follower not in leader.joining:
                return f"no leader has asked to add broker {event.follower}"
            return _joined(state, leader, event, rules)
        case LagPassed(followers):
            if leader is None or leader.broker in followers:
                return "no leader looks whether these replicas lag"
            return lagging.pass_lag(state, leader, followers, rules)
        case _:
            if leader is None or not leader.leaving:
                return "no leader has asked to remove a replica"
            return _left(state, leader, event, rules)


def _answered_late(state: PartitionState, event: JoinAnswered | ShrinkAnswered, rules: RuleSet) -> PartitionState | str:
    """Let a leader hear what was committed on its request, whatever has been decided since."""
    leader = state.serving_leader() if event.leader is None else state.presumed_leader(event.leader)
    if leader is None or leader.isr_answer is None:
        return "no answer to a leader's request is on its way"
    heard = joining.hear_late_answer(state, leader, leader.isr_answer)
    if isinstance(event, ShrinkAnswered):
        return lagging.raise_after_shrink(heard, leader.broker, rules)
    return leading.advance_high_watermark(heard, leader.broker, rules)


def _left(state: PartitionState, leader: ReplicaState, event: ShrinkCommitted, rules: RuleSet) -> PartitionState | str:
    """Commit a leader's wish to remove replicas."""
    if leader.leaving.isdisjoint(state.controller.isr):
        return "the replicas are out of the ISR already"
    refusal = joining.refusal(state, leader)
    return refusal or lagging.commit_shrink(state, rules, is_answered=event.is_answered)


def _joined(
    state: PartitionState, leader: ReplicaState, event: JoinCommitted | JoinRefused, rules: RuleSet
) -> PartitionState | str:
    """Commit or refuse a leader's wish to add a replica."""
    if isinstance(event, JoinCommitted):
        return _commit_join(state, leader, event, rules)
    if joining.is_eligible(state, leader, event.follower, rules):
        return f"broker {event.follower} is eligible to join the ISR"
    return joining.give_up(state, leader, event.follower)


def _commit_join(
    state: PartitionState, leader: ReplicaState, event: JoinCommitted, rules: RuleSet
) -> PartitionState | str:
    committed = joining.commit(state, leader, event.follower, rules)
    if isinstance(committed, str):
        return committed
    if event.is_answered:
        heard = joining.hear_answer(committed, leader, event.follower)
        return leading.advance_high_watermark(heard, leader.broker, rules)
    told = electing.notify(committed, committed.controller, rules) if rules.delivery.tells_joins else committed
    return joining.answer_later(told, leader.broker)


def _applied_to_link(state: PartitionState, event: LinkEvent, rules: RuleSet) -> PartitionState | str:
    """Send a follower's request, or move the one that it has under way."""
    replica = state.replica(event.follower)
    if isinstance(event, RequestSent):
        return _send(state, replica, rules)
    if isinstance(event, LateFetchReceived):
        return leading.receive_late(state, event, rules)
    fetch = replica.fetch
    if fetch is None:
        return f"broker {replica.broker} has no request under way"
    stage = _STAGE_OF.get(type(event), fetch.stage)
    if fetch.stage is not stage:
        return f"broker {replica.broker} has no request that is {stage.value}"
    match event:
        case RequestReceived():
            return leading.receive(state, replica, fetch, rules)
        case FetchCompleted():
            return leading.complete(state, replica, fetch, rules)
        case ResponseReceived():
            received = following.receive(state, replica, fetch, rules)
            return electing.end_by_itself(received, replica.broker, rules)
        case _:
            return following.lose_request(state, replica)


_STAGE_OF = {
    RequestReceived: FetchStage.REQUESTED,
    FetchCompleted: FetchStage.PARKED,
    ResponseReceived: FetchStage.ANSWERED,
}


def _send(state: PartitionState, replica: ReplicaState, rules: RuleSet) -> PartitionState | str:
    if not replica.alive or replica.role is not ReplicaRole.FOLLOWER or replica.leader is None:
        return f"broker {replica.broker} is not a running follower"
    if replica.stuck:
        return f"the fetcher of broker {replica.broker} has stopped"
    if replica.fetch is not None:
        return f"broker {replica.broker} has a request under way"
    return following.send_request(state, replica, replica.leader, rules)
