"""Can each property fail? A state that breaks it, made by hand from one that keeps them all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from oracle.brokers.model import Brokers
from oracle.brokers.questions import SearchBounds
from oracle.log import EpochEntry, ModelRecord, ReplicaLog
from oracle.properties import ALWAYS, ASKED, SOMETIMES
from oracle.rules.by_version import rules_for
from oracle.state import FetchAnswer, FetchKind, FetchStage, LostRecord, PartitionState, ProduceState, ReplicaState
from oracle.vocabulary import Acks, BrokerId, Label, LeaderEpoch, MetadataMode, Offset, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

ONE, TWO, THREE = map(BrokerId, (1, 2, 3))
M0, M1 = Label("m0"), Label("m1")
ZERO, FIRST, SECOND = map(LeaderEpoch, (0, 1, 2))
START = Brokers(rules_for("2.0.1", MetadataMode.ZOOKEEPER), SearchBounds(replicas=3)).initial_states()[0]


def log(*entries: tuple[Label, LeaderEpoch]) -> ReplicaLog:
    """Return a log with its epoch cache."""
    return ReplicaLog().append(ModelRecord(label, epoch) for label, epoch in entries)


def with_log(state: PartitionState, broker: BrokerId, held: ReplicaLog, high_watermark: int = 0) -> PartitionState:
    """Return the state with another log on one replica."""
    changed = replace(state.replica(broker), log=held, high_watermark=Offset(high_watermark))
    return state.with_replica(changed)


def lost(acks: Acks, *, was_clean: bool, had_appended: bool = False) -> PartitionState:
    """Return a state in which m0 was acknowledged and is lost."""
    produce = ProduceState(M0, acks, ONE, Offset(1), ZERO, ProduceOutcome.ACKNOWLEDGED)
    loss = LostRecord(M0, TWO, was_clean, had_appended)
    return replace(START, produces=(produce,), history_losses=(loss,), history_committed=frozenset({M0}))


def with_view(**changes: Any) -> PartitionState:  # noqa: ANN401 - any field of the controller's view
    """Return a state with another controller."""
    return replace(START, controller=replace(START.controller, **changes))


def _with_diverged_logs() -> PartitionState:
    return with_log(with_log(START, ONE, log((M0, ZERO)), 1), TWO, log((M1, ZERO)), 1)


def _with_missing_record() -> PartitionState:
    return with_log(START, ONE, log((M0, ZERO)), 1)


def _with_gone_record() -> PartitionState:
    return replace(lost(Acks.ALL, was_clean=True), history_losses=())


def _with_longer_follower() -> PartitionState:
    return with_log(START, TWO, log((M0, ZERO)))


def _with_untrue_cache() -> PartitionState:
    return with_log(START, ONE, ReplicaLog((ModelRecord(M0, ZERO),), (EpochEntry(FIRST, Offset(0)),)))


def _with_unordered_cache() -> PartitionState:
    entries = (EpochEntry(FIRST, Offset(0)), EpochEntry(ZERO, Offset(1)))
    return with_log(START, ONE, ReplicaLog((), entries))


def _with_small_maximal_isr() -> PartitionState:
    return START.with_replica(replace(START.replica(ONE), isr=frozenset({ONE})))


BROKEN: dict[str, tuple[PartitionState, ...]] = {
    "AcknowledgedSurvives": (lost(Acks.ALL, was_clean=True), lost(Acks.ALL, was_clean=False, had_appended=True)),
    "NothingAcknowledgedIsLost": (lost(Acks.ALL, was_clean=False), lost(Acks.LEADER, was_clean=True)),
    "CommittedSurvives": (lost(Acks.NONE, was_clean=True), lost(Acks.NONE, was_clean=False, had_appended=True)),
    "CandidatesAreComplete": (_with_missing_record(),),
    "InSyncLogsMatch": (_with_diverged_logs(),),
    "AcknowledgedIsSomewhere": (_with_gone_record(),),
    "SameOffsetAndEpochSameRecord": (_with_diverged_logs(),),
    "ServedFollowerIsAPrefix": (_with_longer_follower(),),
    "HighWatermarkIsWithinLog": (with_log(START, TWO, ReplicaLog(), 1),),
    "EpochsNeverDecrease": (with_log(START, TWO, ReplicaLog((ModelRecord(M0, FIRST), ModelRecord(M1, ZERO)))),),
    "EpochCacheIsThatOfTheLog": (_with_untrue_cache(), _with_unordered_cache()),
    "LeaderIsInSync": (with_view(isr=(TWO,)), with_view(registered=frozenset({TWO}))),
    "EligibleReplicasAreDisjoint": (with_view(elr=frozenset({TWO})),),
    "QuorumIsASuperset": (_with_small_maximal_isr(),),
}


def test_every_property_has_a_state_that_breaks_it() -> None:
    assert BROKEN.keys() == ASKED.keys()


@pytest.mark.parametrize("name", ASKED)
def test_the_initial_state_keeps_it(name: str) -> None:
    assert ASKED[name](START)


@pytest.mark.parametrize("name", ASKED)
def test_it_can_be_broken(name: str) -> None:
    assert not any(ASKED[name](state) for state in BROKEN[name])


@pytest.mark.parametrize("name", ["AcknowledgedSurvives", "CommittedSurvives"])
def test_a_loss_that_the_settings_allow_breaks_no_promise(name: str) -> None:
    assert ASKED[name](lost(Acks.ALL, was_clean=False))


@pytest.mark.parametrize("name", ["CandidatesAreComplete", "QuorumIsASuperset", "ServedFollowerIsAPrefix"])
def test_without_a_leader_there_is_nothing_to_compare(name: str) -> None:
    assert ALWAYS[name](replace(_with_missing_record(), controller=replace(START.controller, leader=None)))


def test_a_lost_record_is_not_asked_for_on_any_disk() -> None:
    assert ALWAYS["AcknowledgedIsSomewhere"](lost(Acks.ALL, was_clean=True))


def test_a_follower_in_another_epoch_may_hold_what_its_leader_does_not() -> None:
    state = _with_longer_follower()
    leader = replace(state.replica(ONE), leader_epoch=SECOND)
    assert ALWAYS["ServedFollowerIsAPrefix"](state.with_replica(leader))


def _with_fetch(change: Callable[[ReplicaState], ReplicaState]) -> PartitionState:
    return START.with_replica(change(START.replica(TWO)))


def _asking(replica: ReplicaState) -> ReplicaState:
    assert replica.fetch is not None
    return replace(replica, fetch=replace(replica.fetch, kind=FetchKind.EPOCH_LOOKUP))


def _told(replica: ReplicaState) -> ReplicaState:
    assert replica.fetch is not None
    answer = FetchAnswer((), Offset(0), diverging=replica.log.end_offset_for(ZERO))
    return replace(replica, fetch=replace(replica.fetch, stage=FetchStage.ANSWERED, answer=answer))


def _knowing_less() -> PartitionState:
    state = with_log(START, TWO, log((M0, ZERO)))
    return replace(state, history_committed=frozenset({M0}))


LED = START.controller.leaderships
REACHED: dict[str, PartitionState] = {
    "clean election": with_view(leaderships=(*LED, (FIRST, TWO, True))),
    "unclean election": with_view(leaderships=(*LED, (FIRST, TWO, False))),
    "no leader": with_view(leader=None),
    "truncation": replace(START, history_truncations=((TWO, M0, "rule"),)),
    "ISR shrunk": with_view(isr=(ONE, TWO)),
    "record committed": replace(START, history_committed=frozenset({M0})),
    "record acknowledged": lost(Acks.ALL, was_clean=True),
    "follower without the news": _knowing_less(),
    "follower ahead of its leader": _with_longer_follower(),
    "epoch lookup": _with_fetch(_asking),
    "diverging fetch": _with_fetch(_told),
}


def test_every_place_is_tried() -> None:
    assert REACHED.keys() == SOMETIMES.keys()


@pytest.mark.parametrize("name", SOMETIMES)
def test_a_place_is_recognised_and_the_initial_state_is_none(name: str) -> None:
    assert SOMETIMES[name](REACHED[name])
    assert not SOMETIMES[name](START)
