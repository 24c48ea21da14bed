"""What may happen to the brokers under search, within which bounds, and what is not visited on its own?"""

from __future__ import annotations

import pytest

from oracle.brokers.answers import actions_of, schedule_of, search
from oracle.brokers.model import BrokerAction, Brokers
from oracle.brokers.questions import SearchBounds
from oracle.events import BrokerRemoved, JoinRefused
from oracle.explorer.model import Exploration, SearchVerdict
from oracle.explorer.search import Limits
from oracle.properties import ALWAYS
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.state import FetchStage, PartitionState
from oracle.vocabulary import Acks, BrokerId, HighWatermarkCheckpoint, MetadataMode

ONE, TWO = BrokerId(1), BrokerId(2)
NEWEST = rules_for("4.3.1", MetadataMode.KRAFT)
WITH_LATE_JOINS = rules_for("2.8.2", MetadataMode.ZOOKEEPER)


def led(brokers: Brokers, *words: str) -> PartitionState:
    """Follow a path given in words."""
    (state,) = brokers.initial_states()
    for step in words:
        possible = {str(action): after for action, after in brokers.actions(state)}
        assert step in possible, f"{step} is not among {list(possible)}"
        state = possible[step]
    return state


def words(brokers: Brokers, state: PartitionState) -> set[str]:
    return {str(action) for action in brokers.possible(state)}


def test_at_the_start_a_record_is_sent_or_a_broker_dies() -> None:
    brokers = Brokers(NEWEST, SearchBounds(stops=True))
    (state,) = brokers.initial_states()
    ends = {"broker 1 is killed", "broker 1 is stopped", "broker 2 is killed", "broker 2 is stopped"}
    assert words(brokers, state) == {"m0 is sent with acks=all", *ends}


def test_an_append_completes_the_parked_fetch_and_the_follower_sends_the_next_at_once() -> None:
    brokers = Brokers(NEWEST, SearchBounds())
    state = led(brokers, "m0 is sent with acks=all")
    fetch = state.replica(TWO).fetch
    assert fetch is not None
    assert fetch.stage is FetchStage.ANSWERED
    state = led(brokers, "m0 is sent with acks=all", "the answer reaches broker 2")
    fetch = state.replica(TWO).fetch
    assert fetch is not None
    assert (fetch.stage, fetch.offset) == (FetchStage.REQUESTED, 1)


def test_records_end_at_their_bound_and_those_that_would_be_refused_are_not_sent() -> None:
    bounds = SearchBounds(records=1, acks=Acks.LEADER, settings=TopicSettings(2))
    sent = led(Brokers(NEWEST, bounds), "m0 is sent with acks=1")
    assert not any("m1" in one for one in words(Brokers(NEWEST, bounds), sent))
    for acks, is_sent in ((Acks.ALL, False), (Acks.LEADER, True)):
        brokers = Brokers(NEWEST, SearchBounds(acks=acks, settings=TopicSettings(2)))
        alone = led(brokers, "broker 2 is killed")
        assert any("m0 is sent" in one for one in words(brokers, alone)) is is_sent
    nobody = led(Brokers(NEWEST, bounds), "broker 2 is killed", "broker 1 is killed")
    assert words(Brokers(NEWEST, bounds), nobody) == {"broker 1 starts", "broker 2 starts"}


def test_one_power_failure_takes_any_tail_and_no_second_one_comes() -> None:
    bounds = SearchBounds(records=1, kills=False, power_failure=True)
    brokers = Brokers(NEWEST, bounds)
    path = ("m0 is sent with acks=all", "broker 1 is killed, the disk of broker 1 loses what is at offset 0 and above")
    state = led(brokers, *path)
    assert not state.replica(ONE).log.entries
    assert words(brokers, state) == {"broker 1 starts"}


def test_a_late_join_is_a_step_of_its_own() -> None:
    path = ["broker 2 is killed", "broker 2 starts"]
    at_once = Brokers(WITH_LATE_JOINS, SearchBounds())
    state = led(at_once, *path, "the request of broker 2 reaches its leader")
    assert state.controller.isr == (ONE, TWO)
    late = Brokers(WITH_LATE_JOINS, SearchBounds(late_joins=True))
    state = led(late, *path, "the request of broker 2 reaches its leader")
    assert state.controller.isr == (ONE,)
    assert "broker 2 joins the ISR" in words(late, state)


def test_a_fetch_that_is_parked_in_an_old_epoch_is_sent_again_in_the_new_one() -> None:
    state = led(Brokers(WITH_LATE_JOINS, SearchBounds(replicas=3)), "broker 3 is killed")
    fetch = state.replica(TWO).fetch
    assert fetch is not None
    assert (fetch.stage, fetch.leader_epoch) == (FetchStage.REQUESTED, 1)


@pytest.mark.parametrize("checkpointing", HighWatermarkCheckpoint)
def test_high_watermarks_are_on_disk_at_once_or_never(checkpointing: HighWatermarkCheckpoint) -> None:
    brokers = Brokers(NEWEST, SearchBounds(checkpointing=checkpointing))
    state = led(
        brokers,
        "m0 is sent with acks=all",
        "the answer reaches broker 2",
        "the request of broker 2 reaches its leader",
    )
    leader = state.replica(ONE)
    assert leader.high_watermark == 1
    assert leader.checkpointed_high_watermark == (1 if checkpointing is HighWatermarkCheckpoint.PROMPT else 0)


def test_the_search_goes_on_up_to_the_bound_of_epochs() -> None:
    brokers = Brokers(WITH_LATE_JOINS, SearchBounds(epochs=0))
    (state,) = brokers.initial_states()
    assert brokers.is_within_bounds(state)
    assert not brokers.is_within_bounds(led(brokers, "broker 2 is killed"))


@pytest.mark.parametrize(("version", "times"), [("3.6.2", 1), ("4.3.1", 0)])
def test_a_minimum_above_the_replicas_refuses_records_only_where_the_rules_do(version: str, times: int) -> None:
    brokers = Brokers(rules_for(version, MetadataMode.KRAFT), SearchBounds(settings=TopicSettings(3)))
    (state,) = brokers.initial_states()
    brokers.successors(state)
    assert brokers.occurrences()["produce refused"] == times
    brokers.successors(led(brokers, "broker 2 is killed"))
    assert brokers.occurrences()["produce refused"] > times


def test_an_isr_that_has_grown_again_in_the_same_epoch_is_seen() -> None:
    bounds = SearchBounds(records=1, epochs=0)
    found = search(Brokers(rules_for("3.9.2", MetadataMode.KRAFT), bounds))
    assert found.verdict is SearchVerdict.HOLDS
    assert "ISR grown again" not in found.never_seen
    with_epochs = search(Brokers(rules_for("3.9.2", MetadataMode.ZOOKEEPER), bounds))
    assert "ISR grown again" in with_epochs.never_seen


def test_states_with_one_key_differ_only_in_what_reports_read() -> None:
    brokers = Brokers(WITH_LATE_JOINS, SearchBounds())
    state = led(brokers, "m0 is sent with acks=all")
    assert brokers.key(state) == brokers.key(led(brokers, "m0 is sent with acks=all"))
    assert brokers.key(state) != brokers.key(led(brokers))


@pytest.mark.parametrize("mode", MetadataMode)
def test_every_invariant_holds_on_newer_releases_with_clean_elections(mode: MetadataMode) -> None:
    rules = rules_for("3.9.2", mode)
    bounds = SearchBounds(records=1, epochs=2, settings=TopicSettings(2), late_joins=True)
    found = search(Brokers(rules, bounds), tuple(ALWAYS), Limits())
    assert found.verdict is SearchVerdict.HOLDS
    assert {"clean election", "truncation", "produce refused", "ISR grown again"}.isdisjoint(found.never_seen)


def test_a_property_that_shows_nothing_at_rest_has_no_schedule() -> None:
    brokers = Brokers(rules_for("0.10.2.2", MetadataMode.ZOOKEEPER), SearchBounds(replicas=3, records=1, epochs=1))
    found = search(brokers, ("CandidatesAreComplete",))
    assert found.verdict is SearchVerdict.VIOLATED
    assert actions_of(found)
    assert schedule_of(brokers, found) is None


def test_an_action_says_only_what_is_worth_saying() -> None:
    assert not str(BrokerAction((BrokerRemoved(ONE),)))
    assert str(BrokerAction((JoinRefused(TWO),))) == "the controller does not let broker 2 join the ISR"
    unknown: Exploration[PartitionState] = Exploration("Brokers", SearchVerdict.HOLDS, None, 1, 1, 1)
    assert actions_of(unknown) == ()
