"""What does a controller make of new settings, and of its own unclean election? Asked of releases on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.events import BrokerDied, BrokerRemoved, BrokerReturned, Event, SettingsChanged
from oracle.predict import initial_world
from oracle.rules import controller_epoch
from oracle.rules.by_version import rules_for
from oracle.schedule import Settings
from oracle.transitions import Transition, step
from oracle.vocabulary import LeaderEpoch, MetadataMode
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
    allowed = SettingsChanged(Settings(1, unclean_leader_election=True))
    state = after(rules_for(version, metadata), 1, *leaderless(), allowed)
    assert (state.controller.leader == TWO) is elects


def test_settings_that_allow_nothing_elect_nobody() -> None:
    rules = rules_for("2.8.2", ZOOKEEPER)
    assert after(rules, 1, *leaderless(), SettingsChanged(Settings(2))).controller.leader is None
    assert after(rules, 1, SettingsChanged(Settings(1, unclean_leader_election=True))).controller.leader == ONE


@pytest.mark.parametrize(("minimum", "elr"), [(1, set()), (2, {ONE})])
def test_a_new_minimum_clears_who_is_eligible(minimum: int, elr: set[int]) -> None:
    rules = rules_for("4.3.1", KRAFT)
    state = after(rules, 2, *leaderless(), SettingsChanged(Settings(minimum)))
    assert state.controller.elr == elr
    assert (state.controller.last_known_leader is None) is (minimum == 1)


@pytest.mark.parametrize(("version", "marked"), [("3.1.2", False), ("3.2.3", True)])
def test_an_uncleanly_elected_leader_recovers_until_somebody_joins(version: str, *, marked: bool) -> None:
    rules = rules_for(version, ZOOKEEPER)
    allowed = SettingsChanged(Settings(1, unclean_leader_election=True))
    state = after(rules, 1, *leaderless(), allowed)
    assert state.controller.is_recovering is marked
    assert state.controller.isr == (TWO,)


def test_a_controller_that_was_replaced_is_refused() -> None:
    assert controller_epoch.is_obeyed(4, 4)
    assert controller_epoch.is_obeyed(5, 4)
    assert not controller_epoch.is_obeyed(3, 4)
    assert controller_epoch.is_news(LeaderEpoch(2), LeaderEpoch(1))
    assert not controller_epoch.is_news(LeaderEpoch(1), LeaderEpoch(1))
