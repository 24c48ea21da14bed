"""How does the partition change? ``step`` maps (state, event) to a transition or a refusal.

The one entry to every state change. Leaders' changes live in ``leading``, followers' in
``following``, those that a controller's decision causes in ``electing``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle import electing, following, leading
from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    Event,
    FetchCompleted,
    JoinCommitted,
    LinkEvent,
    RecordSent,
    RequestLost,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.state import FetchStage
from oracle.vocabulary import Role

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
    reason = _refusal(state, event)
    if reason is not None:
        return Refusal(event, reason)
    return Transition(event, _apply(state, event, rules))


def _apply(state: PartitionState, event: Event, rules: RuleSet) -> PartitionState:
    match event:
        case RecordSent():
            return leading.append(state, event, rules)
        case BrokerDied(broker, graceful):
            return electing.die(state, broker, graceful=graceful)
        case BrokerRemoved(broker):
            return electing.remove(state, broker, rules)
        case BrokerReturned(broker, clean):
            return electing.return_broker(state, broker, rules, clean=clean)
        case JoinCommitted(follower):
            return leading.commit_join(state, follower, rules)
        case _:
            return _apply_to_link(state, event, rules)


def _apply_to_link(state: PartitionState, event: LinkEvent, rules: RuleSet) -> PartitionState:
    follower = state.replica(event.follower)
    match event:
        case RequestSent():
            return following.send_request(state, follower)
        case RequestReceived():
            return leading.receive(state, follower, rules)
        case FetchCompleted():
            return leading.complete(state, follower)
        case ResponseReceived():
            return following.receive(state, follower, rules)
        case RequestLost():
            return following.lose_request(state, follower)


def _refusal(state: PartitionState, event: Event) -> str | None:
    match event:
        case RequestSent(follower):
            return _cannot_send(state.replica(follower))
        case RequestReceived(follower):
            return _not_at(state.replica(follower), FetchStage.REQUESTED)
        case FetchCompleted(follower):
            return _not_at(state.replica(follower), FetchStage.PARKED)
        case ResponseReceived(follower):
            return _not_at(state.replica(follower), FetchStage.ANSWERED)
        case RequestLost(follower):
            return None if state.replica(follower).fetch else f"broker {follower} has no request under way"
        case BrokerDied(broker):
            return None if state.replica(broker).alive else f"broker {broker} is not running"
        case BrokerReturned(broker):
            return f"broker {broker} runs already" if state.replica(broker).alive else None
        case JoinCommitted(follower):
            leader = state.serving_leader()
            is_asked = leader is not None and follower in leader.joining
            return None if is_asked else f"no leader has asked to add broker {follower}"
        case _:
            return None


def _cannot_send(replica: ReplicaState) -> str | None:
    if not replica.alive or replica.role is not Role.FOLLOWER or replica.leader is None:
        return f"broker {replica.broker} is not a running follower"
    if replica.stuck:
        return f"the fetcher of broker {replica.broker} has stopped"
    return None if replica.fetch is None else f"broker {replica.broker} has a request under way"


def _not_at(replica: ReplicaState, stage: FetchStage) -> str | None:
    at_stage = replica.fetch is not None and replica.fetch.stage is stage
    return None if at_stage else f"broker {replica.broker} has no request that is {stage.value}"
