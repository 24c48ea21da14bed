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
    result = _applied(state, event, rules)
    return Refusal(event, result) if isinstance(result, str) else Transition(event, result)


def _applied(state: PartitionState, event: Event, rules: RuleSet) -> PartitionState | str:
    """Return the next state, or the reason why the rules do not allow the event."""
    match event:
        case RecordSent():
            return leading.append(state, event, rules)
        case BrokerDied(broker, graceful):
            if not state.replica(broker).alive:
                return f"broker {broker} is not running"
            return electing.die(state, broker, graceful=graceful)
        case BrokerRemoved(broker):
            return electing.remove(state, broker, rules)
        case BrokerReturned(broker, clean):
            if state.replica(broker).alive:
                return f"broker {broker} runs already"
            return electing.return_broker(state, broker, rules, clean=clean)
        case JoinCommitted(follower):
            leader = state.serving_leader()
            if leader is None or follower not in leader.joining:
                return f"no leader has asked to add broker {follower}"
            return leading.commit_join(state, follower, rules)
        case _:
            return _applied_to_link(state, event, rules)


def _applied_to_link(state: PartitionState, event: LinkEvent, rules: RuleSet) -> PartitionState | str:
    """Send a follower's request, or move the one that it has under way."""
    replica = state.replica(event.follower)
    if isinstance(event, RequestSent):
        return _send(state, replica)
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
            return following.receive(state, replica, fetch, rules)
        case _:
            return following.lose_request(state, replica)


_STAGE_OF = {
    RequestReceived: FetchStage.REQUESTED,
    FetchCompleted: FetchStage.PARKED,
    ResponseReceived: FetchStage.ANSWERED,
}


def _send(state: PartitionState, replica: ReplicaState) -> PartitionState | str:
    if not replica.alive or replica.role is not Role.FOLLOWER or replica.leader is None:
        return f"broker {replica.broker} is not a running follower"
    if replica.stuck:
        return f"the fetcher of broker {replica.broker} has stopped"
    if replica.fetch is not None:
        return f"broker {replica.broker} has a request under way"
    return following.send_request(state, replica, replica.leader)
