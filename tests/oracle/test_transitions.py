"""Are events refused that no rule allows, with the reason? The search and the trace check rely on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    Event,
    FetchCompleted,
    JoinCommitted,
    RequestLost,
    RequestReceived,
    RequestSent,
    ResponseReceived,
)
from oracle.log import ModelRecord, ReplicaLog
from oracle.predict import initial_world
from oracle.rules.by_version import rules_for
from oracle.state import FetchAnswer
from oracle.transitions import Refusal, Transition, step
from oracle.vocabulary import Label, LeaderEpoch, MetadataMode, Offset
from tests.oracle.schedules import ONE, THREE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.state import PartitionState

RULES = rules_for("3.9.2", MetadataMode.ZOOKEEPER)


def at_rest() -> PartitionState:
    """Three replicas, broker 1 leads; both followers' fetches are parked."""
    base = schedule(produce("m0"), replicas=(ONE, TWO, THREE))
    return initial_world(base, RULES, base.replicas).state


def after(*events: Event) -> PartitionState:
    state = at_rest()
    for event in events:
        result = step(state, event, RULES)
        assert isinstance(result, Transition), result
        state = result.state
    return state


APPENDED = ReplicaLog().append([ModelRecord(Label("m0"), LeaderEpoch(0))])

REFUSED: list[tuple[PartitionState, Event, str]] = [
    (at_rest(), RequestSent(ONE), "broker 1 is not a running follower"),
    (at_rest(), RequestSent(TWO), "broker 2 has a request under way"),
    (after(BrokerDied(TWO, graceful=False)), RequestSent(TWO), "broker 2 is not a running follower"),
    (at_rest(), RequestReceived(TWO), "broker 2 has no request that is requested"),
    (at_rest(), ResponseReceived(TWO), "broker 2 has no request that is answered"),
    (after(FetchCompleted(TWO)), FetchCompleted(TWO), "broker 2 has no request that is parked"),
    (after(RequestLost(TWO)), RequestLost(TWO), "broker 2 has no request under way"),
    (after(RequestLost(TWO)), ResponseReceived(TWO), "broker 2 has no request under way"),
    (at_rest(), JoinCommitted(TWO), "no leader has asked to add broker 2"),
    (after(BrokerDied(ONE, graceful=False)), JoinCommitted(TWO), "no leader has asked to add broker 2"),
    (after(BrokerDied(TWO, graceful=True)), BrokerDied(TWO, graceful=True), "broker 2 is not running"),
    (at_rest(), BrokerReturned(TWO, clean=True), "broker 2 runs already"),
]


@pytest.mark.parametrize(("state", "event", "reason"), REFUSED, ids=lambda value: getattr(value, "__name__", None))
def test_impossible_event_is_refused(state: PartitionState, event: Event, reason: str) -> None:
    assert step(state, event, RULES) == Refusal(event, reason)


def test_stopped_fetcher_sends_nothing() -> None:
    state = after(RequestLost(TWO))
    stuck = state.with_replica(replace(state.replica(TWO), stuck=True))
    assert step(stuck, RequestSent(TWO), RULES) == Refusal(RequestSent(TWO), "the fetcher of broker 2 has stopped")


@pytest.mark.parametrize(("version", "ends"), [("0.10.2.2", False), ("0.11.0.0", True), ("2.0.0", True)])
def test_a_follower_in_sync_that_gives_up_leaves_the_isr_at_once(version: str, *, ends: bool) -> None:
    answer = FetchAnswer((), Offset(0), out_of_range=True)
    state = after(FetchCompleted(TWO))
    replica = state.replica(TWO)
    assert replica.fetch is not None
    told = replace(replica, log=APPENDED, high_watermark=Offset(1), fetch=replace(replica.fetch, answer=answer))
    event = ResponseReceived(TWO)
    result = step(state.with_replica(told), event, rules_for(version, MetadataMode.ZOOKEEPER))
    assert isinstance(result, Transition)
    ended, view = result.state.replica(TWO), result.state.controller
    assert (ended.alive, ended.stuck, TWO in view.registered, TWO in view.isr) == (False, not ends, False, False)
    assert ended.log == APPENDED
    assert (ended.checkpointed_high_watermark, ended.shut_down_cleanly) == (Offset(int(ends)), ends)
    assert result.state.replica(ONE).undelivered, "the leader is told of its smaller ISR"


def test_a_dead_leader_is_not_told_of_its_followers_removal() -> None:
    """The controller may notice a follower's end before it notices the leader's."""
    state = after(BrokerDied(ONE, graceful=False), BrokerDied(THREE, graceful=False), BrokerRemoved(THREE))
    assert state.controller.leader == ONE
    assert not state.replica(ONE).alive
    assert state.serving_leader() is None


def test_a_request_to_a_leader_that_just_died_is_refused_there() -> None:
    state = after(RequestLost(TWO), RequestSent(TWO))
    fetch = state.replica(TWO).fetch
    dead = after(BrokerDied(ONE, graceful=False))
    sent = dead.with_replica(replace(dead.replica(TWO), fetch=fetch))
    result = step(sent, RequestReceived(TWO), RULES)
    assert isinstance(result, Transition)
    assert result.state.replica(TWO).fetch is None
