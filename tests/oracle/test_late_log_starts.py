"""What happens to replicas whose logs begin late, or are told so? Rules that only questions between two steps reach."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from oracle.events import RecordSent, ResponseReceived
from oracle.log import NO_EPOCH, ModelRecord, ReplicaLog
from oracle.predict import initial_world
from oracle.replication.leading import advance_high_watermark
from oracle.rules import consumers, diverging_log, fencing, leader_epoch
from oracle.rules.by_version import rules_for
from oracle.state import FetchAnswer, FetchStage, PartitionState
from oracle.transitions import Transition, step
from oracle.vocabulary import Acks, Label, LeaderEpoch, MetadataMode, Offset, ProduceOutcome
from tests.oracle.schedules import ONE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet

RULES = rules_for("2.4.1", MetadataMode.ZOOKEEPER)
LEFT_BELOW = rules_for("2.4.0", MetadataMode.ZOOKEEPER)
LOG = ReplicaLog().append(ModelRecord(Label(f"m{i}"), LeaderEpoch(0)) for i in range(3))


def out_of_range() -> PartitionState:
    """Broker 1's log is m0 to m2 and begins at 2; it has answered broker 2, which has nothing, with out of range."""
    base = schedule(produce("m9"), replicas=(ONE, TWO))
    state = initial_world(base, RULES, base.replicas).state
    leader = replace(state.replica(ONE), log=LOG, log_start_offset=Offset(2), high_watermark=Offset(3))
    follower = state.replica(TWO)
    assert follower.fetch is not None
    answer = FetchAnswer((), Offset(3), out_of_range=True)
    fetch = replace(follower.fetch, stage=FetchStage.ANSWERED, answer=answer)
    return state.with_replica(leader).with_replica(replace(follower, fetch=fetch))


@pytest.mark.parametrize(("rules", "high_watermark"), [(RULES, 2), (LEFT_BELOW, 0)])
def test_a_follower_below_its_leader_s_log_begins_where_that_begins(rules: RuleSet, high_watermark: int) -> None:
    result = step(out_of_range(), ResponseReceived(TWO), rules)

    assert isinstance(result, Transition)
    follower = result.state.replica(TWO)
    assert (follower.log_start_offset, follower.log.log_end_offset) == (2, 2)
    assert follower.high_watermark == high_watermark


def test_a_leader_whose_high_watermark_is_below_its_log_takes_no_record_and_raises_nothing() -> None:
    state = out_of_range()
    state = state.with_replica(replace(state.replica(ONE), high_watermark=Offset(0)))
    result = step(state, RecordSent(Label("m3"), Acks.LEADER), LEFT_BELOW)

    assert isinstance(result, Transition)
    (produce_state,) = result.state.produces
    assert (produce_state.outcome, produce_state.error) == (ProduceOutcome.REFUSED, "OFFSET_OUT_OF_RANGE")
    assert advance_high_watermark(result.state, ONE, LEFT_BELOW) is result.state


def test_a_waiting_fetch_is_woken_by_a_higher_high_watermark_in_2_4_and_2_5_only() -> None:
    low, high = Offset(1), Offset(2)
    assert [consumers.wakes_for_news(low, high), consumers.wakes_for_news(high, high)] == [True, False]
    assert not consumers.waits_for_records(low, high)


def test_the_epoch_of_the_last_record_is_told_or_forgotten() -> None:
    assert leader_epoch.last_epoch_remembered(LeaderEpoch(3)) == 3
    assert leader_epoch.last_epoch_forgotten(LeaderEpoch(3)) == NO_EPOCH


def test_the_high_watermark_moves_to_where_the_log_begins_or_stays_below() -> None:
    assert diverging_log.moved_to_start(Offset(1), Offset(2)) == 2
    assert diverging_log.left_below(Offset(1), Offset(2)) == 1


@pytest.mark.parametrize(
    ("decided", "anyway", "newer", "same"),
    [(4, True, False, False), (5, True, False, True), (6, True, True, True), (int(NO_EPOCH), True, True, True)],
)
def test_a_replica_is_stopped_by_a_decision_that_is_late_enough(
    decided: int, anyway: bool, newer: bool, same: bool
) -> None:
    asked, known = LeaderEpoch(decided), LeaderEpoch(5)
    assert fencing.stops_in_any_epoch(asked, known) is anyway
    assert fencing.stops_in_a_newer_epoch(asked, known) is newer
    assert fencing.stops_in_the_same_epoch(asked, known) is same
