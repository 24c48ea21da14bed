"""What does a controller make of new settings, and of its own unclean election? Asked of releases on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    Event,
    ReassignmentRequested,
    RecordSent,
    SettingsChanged,
    TopicDeleted,
)
from oracle.log import ReplicaLog
from oracle.predict import initial_world
from oracle.rules import fencing
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.topic import Reassign
from oracle.transitions import Refusal, Transition, step
from oracle.vocabulary import Acks, BrokerId, Label, LeaderEpoch, MetadataMode, ReplicaRole
from tests.oracle.schedules import ONE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


def after(rules: RuleSet, min_isr: int, *events: Event) -> PartitionState:
    base = schedule(produce("m0"), replicas=(ONE, TWO), min_isr=min_isr)
    state = initial_world(base, rules, base.replicas).state
    for event in events:
        result = step(state, event, rules)
        assert isinstance(result, Transition), result
        state = result.state
    return state


def leaderless() -> tuple[Event, ...]:
    """Return events after which broker 2 is back, but only broker 1 was in sync."""
    gone = [event for broker in (TWO, ONE) for event in (BrokerDied(broker, graceful=False), BrokerRemoved(broker))]
    return (*gone, BrokerReturned(TWO, clean=False))


@pytest.mark.parametrize(
    ("version", "metadata", "elects"),
    [("2.0.1", ZOOKEEPER, False), ("2.1.1", ZOOKEEPER, True), ("3.8.1", KRAFT, False), ("3.9.2", KRAFT, True)],
)
def test_unclean_election_begins_when_it_is_allowed(version: str, metadata: MetadataMode, *, elects: bool) -> None:
    allowed = SettingsChanged(TopicSettings(1, unclean_leader_election=True))
    state = after(rules_for(version, metadata), 1, *leaderless(), allowed)
    assert (state.controller.leader == TWO) is elects


def test_settings_that_allow_nothing_elect_nobody() -> None:
    rules = rules_for("2.8.2", ZOOKEEPER)
    assert after(rules, 1, *leaderless(), SettingsChanged(TopicSettings(2))).controller.leader is None
    assert after(rules, 1, SettingsChanged(TopicSettings(1, unclean_leader_election=True))).controller.leader == ONE


@pytest.mark.parametrize(("minimum", "elr"), [(1, set()), (2, {ONE})])
def test_a_new_minimum_clears_who_is_eligible(minimum: int, elr: set[int]) -> None:
    rules = rules_for("4.3.1", KRAFT)
    state = after(rules, 2, *leaderless(), SettingsChanged(TopicSettings(minimum)))
    assert state.controller.elr == elr
    assert (state.controller.last_known_leader is None) is (minimum == 1)


CRASH = (BrokerDied(ONE, graceful=False), BrokerRemoved(ONE))


@pytest.mark.parametrize(("elr", "alive"), [(True, False), (False, True)])
def test_a_broker_that_was_eligible_cannot_register_once_its_topic_is_deleted(*, elr: bool, alive: bool) -> None:
    rules = rules_for("4.4.0", KRAFT, eligible_leader_replicas=elr)
    deleted = after(
        rules, 2, *CRASH, SettingsChanged(TopicSettings(1)), TopicDeleted(), BrokerReturned(ONE, clean=False)
    )
    assert deleted.replica(ONE).alive is alive
    assert (ONE in deleted.controller.registered) is alive


@pytest.mark.parametrize(
    "events",
    [
        (*CRASH, SettingsChanged(TopicSettings(1)), TopicDeleted(), BrokerReturned(ONE, clean=True)),
        (*CRASH, SettingsChanged(TopicSettings(2, unclean_leader_election=True)), TopicDeleted()),
        (*CRASH, TopicDeleted()),
        (*CRASH, SettingsChanged(TopicSettings(1))),
    ],
    ids=["clean shutdown", "same minimum", "still eligible", "topic still there"],
)
def test_otherwise_it_registers(events: tuple[Event, ...]) -> None:
    state = after(rules_for("4.4.0", KRAFT), 2, *events)
    returned = BrokerReturned(ONE, clean=False)
    if not state.replica(ONE).alive:
        result = step(state, returned, rules_for("4.4.0", KRAFT))
        assert isinstance(result, Transition)
        state = result.state
    assert state.replica(ONE).alive
    assert ONE in state.controller.registered


def test_a_deleted_topic_is_nowhere() -> None:
    state = after(rules_for("4.4.0", KRAFT), 2, TopicDeleted())
    assert (state.assignment, state.controller.leader, state.controller.isr) == ((), None, ())
    assert all(replica.role is ReplicaRole.NONE and replica.log == ReplicaLog() for replica in state.replicas)
    assert state.controller.registered == {ONE, TWO}


@pytest.mark.parametrize(
    "waiting", [RecordSent(Label("m1"), Acks.ALL), ReassignmentRequested((TWO, BrokerId(3)))], ids=["producer", "move"]
)
def test_what_a_deletion_does_to_those_who_wait_is_not_predicted(waiting: Event) -> None:
    rules = rules_for("4.4.0", KRAFT)
    base = schedule(produce("m0"), Reassign((TWO, BrokerId(3))), replicas=(ONE, TWO), min_isr=2)
    began = step(initial_world(base, rules, base.brokers).state, waiting, rules)
    assert isinstance(began, Transition)
    assert isinstance(step(began.state, TopicDeleted(), rules), Refusal)


@pytest.mark.parametrize(("version", "marked"), [("3.1.2", False), ("3.2.3", True)])
def test_an_uncleanly_elected_leader_recovers_until_somebody_joins(version: str, *, marked: bool) -> None:
    rules = rules_for(version, ZOOKEEPER)
    allowed = SettingsChanged(TopicSettings(1, unclean_leader_election=True))
    state = after(rules, 1, *leaderless(), allowed)
    assert state.controller.is_recovering is marked
    assert state.controller.isr == (TWO,)


def test_a_controller_that_was_replaced_is_refused() -> None:
    assert fencing.is_obeyed(4, 4)
    assert fencing.is_obeyed(5, 4)
    assert not fencing.is_obeyed(3, 4)
    assert fencing.is_news(LeaderEpoch(2), LeaderEpoch(1))
    assert not fencing.is_news(LeaderEpoch(1), LeaderEpoch(1))
