"""Does each broker hear a decision in its own time, and is a leader that has not heard it kept from harm?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.events import (
    BrokerDied,
    BrokerRemoved,
    BrokerReturned,
    DecisionReceived,
    ElectionRequested,
    Event,
    JoinAnswered,
    JoinCommitted,
    JoinRefused,
    LagPassed,
    RecordSent,
    ShrinkAnswered,
    ShrinkCommitted,
)
from oracle.predict import initial_world
from oracle.predicting.wording import event_words
from oracle.replication import joining
from oracle.replication.electing import awaiting
from oracle.rules.by_version import rules_for
from oracle.transitions import Refusal, Transition, step
from oracle.vocabulary import Acks, ElectionKind, Label, MetadataMode, ProduceOutcome, ReplicaRole
from oracle.world import World, half_step
from tests.oracle.schedules import ONE, THREE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState

ZOOKEEPER = rules_for("3.9.2", MetadataMode.ZOOKEEPER)
KRAFT = rules_for("3.9.2", MetadataMode.KRAFT)
M0 = Label("m0")


def world(rules: RuleSet, *, min_isr: int = 1, unclean: bool = False) -> World:
    base = schedule(produce("m0"), replicas=(ONE, TWO, THREE), min_isr=min_isr, unclean=unclean)
    return initial_world(base, rules, base.replicas)


def after(state: PartitionState, rules: RuleSet, *events: Event) -> PartitionState:
    for event in events:
        result = step(state, event, rules)
        assert isinstance(result, Transition), result
        state = result.state
    return state


def refused(state: PartitionState, rules: RuleSet, event: Event) -> str:
    result = step(state, event, rules)
    assert isinstance(result, Refusal)
    return result.reason


def session_lost(rules: RuleSet) -> PartitionState:
    """Return the state after the controller has given up leader 1, which runs on."""
    return after(world(rules).state, rules, BrokerRemoved(ONE))


@pytest.mark.parametrize("rules", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_a_decision_reaches_each_broker_on_its_own(rules: RuleSet) -> None:
    state = after(world(rules).state, rules, BrokerDied(ONE, graceful=False), BrokerRemoved(ONE))
    assert awaiting(state) == (TWO, THREE)
    assert state.replica(TWO).role is ReplicaRole.FOLLOWER
    state = after(state, rules, DecisionReceived(THREE))
    assert (state.replica(THREE).leader, state.replica(TWO).leader) == (TWO, ONE)
    state = after(state, rules, DecisionReceived(TWO))
    assert (state.replica(TWO).role, awaiting(state)) == (ReplicaRole.LEADER, ())
    assert refused(state, rules, DecisionReceived(TWO)) == "broker 2 has heard every decision"


def test_a_leader_without_a_session_is_told_by_the_log_only() -> None:
    assert awaiting(session_lost(ZOOKEEPER)) == (TWO, THREE)
    assert awaiting(session_lost(KRAFT)) == (TWO, ONE, THREE)


def test_a_broker_whose_session_is_back_hears_who_leads() -> None:
    state = after(session_lost(ZOOKEEPER), ZOOKEEPER, BrokerReturned(ONE, clean=True), DecisionReceived(ONE))
    assert (state.replica(ONE).role, state.replica(ONE).leader) == (ReplicaRole.FOLLOWER, TWO)
    assert refused(state, ZOOKEEPER, BrokerReturned(ONE, clean=True)) == "broker 1 runs already"


def test_only_the_log_tells_that_nobody_leads() -> None:
    for rules, heard in ((ZOOKEEPER, False), (KRAFT, True)):
        state = world(rules).state
        for broker in (TWO, THREE, ONE):
            state = after(state, rules, BrokerRemoved(broker))
        assert state.controller.leader is None
        while awaiting(state):
            state = after(state, rules, DecisionReceived(awaiting(state)[0]))
        assert (state.replica(ONE).role is ReplicaRole.FOLLOWER) is heard
        assert (state.replica(THREE).leader is None) is heard


def test_the_log_merges_what_a_broker_has_missed() -> None:
    for rules, missed in ((ZOOKEEPER, 2), (KRAFT, 1)):
        state = world(rules).state
        gone = (BrokerDied(ONE, graceful=False), BrokerRemoved(ONE), BrokerDied(TWO, graceful=False))
        state = after(state, rules, *gone, BrokerRemoved(TWO))
        assert len(state.replica(THREE).undelivered) == missed
        assert state.replica(THREE).undelivered[-1].leader == THREE


def zombie(rules: RuleSet) -> PartitionState:
    """Return the state in which 2 leads, and leader 1 has not heard so."""
    return after(session_lost(rules), rules, DecisionReceived(TWO), DecisionReceived(THREE))


def test_a_zombie_leader_appends_but_cannot_commit() -> None:
    state = after(zombie(KRAFT), KRAFT, RecordSent(M0, Acks.ALL, leader=ONE))
    assert state.replica(ONE).log.log_end_offset == 1
    assert state.produces[0].outcome is None
    state = after(state, KRAFT, DecisionReceived(ONE))
    assert (state.produces[0].outcome, state.produces[0].error) == (
        ProduceOutcome.INDETERMINATE,
        "NOT_LEADER_OR_FOLLOWER",
    )


def test_what_a_zombie_leader_acknowledged_is_lost_when_it_hears_or_dies() -> None:
    state = after(zombie(KRAFT), KRAFT, RecordSent(M0, Acks.LEADER, leader=ONE))
    assert state.history_losses == ()
    for event in (DecisionReceived(ONE), BrokerDied(ONE, graceful=False)):
        assert [loss.label for loss in after(state, KRAFT, event).history_losses] == [M0]


def test_a_zombie_leader_may_not_change_the_isr() -> None:
    state = zombie(KRAFT)
    assert joining.refusal(state, state.replica(ONE)) == "broker 1 does not lead any more"


def test_a_zombie_may_step_down_while_nobody_leads() -> None:
    state = after(zombie(KRAFT), KRAFT, RecordSent(M0, Acks.LEADER, leader=ONE))
    state = after(state, KRAFT, BrokerRemoved(THREE), BrokerRemoved(TWO), DecisionReceived(ONE))
    assert state.replica(ONE).role is ReplicaRole.FOLLOWER
    assert state.history_losses == ()


def test_a_record_is_not_sent_to_who_does_not_lead() -> None:
    state = world(KRAFT).state
    assert refused(state, KRAFT, RecordSent(M0, Acks.ALL, leader=TWO)) == "broker 2 does not believe that it leads"


def wishing(rules: RuleSet) -> PartitionState:
    """Return the state in which leader 1 wishes to add broker 3, which is back."""
    start = world(rules)
    gone = start.apply(BrokerDied(THREE, graceful=False)).apply(BrokerRemoved(THREE)).settle()
    state = gone.apply(BrokerReturned(THREE, clean=False)).state
    state = after(state, rules, DecisionReceived(THREE))
    rounds = World(state, rules, start.checkpointing, start.order)
    while not rounds.state.replica(ONE).joining:
        rounds = half_step(rounds, THREE)
    return rounds.state


@pytest.mark.parametrize("rules", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_the_answer_to_a_wish_may_come_later(rules: RuleSet) -> None:
    state = wishing(rules)
    assert refused(state, rules, JoinAnswered(THREE)) == "no answer to a leader's request is on its way"
    assert refused(state, rules, JoinRefused(THREE)) == "broker 3 is eligible to join the ISR"
    assert refused(state, rules, ShrinkCommitted()) == "no leader has asked to remove a replica"
    state = after(state, rules, JoinCommitted(THREE, is_answered=False))
    assert refused(state, rules, JoinCommitted(THREE)) in (
        "broker 3 is in the ISR already",
        "leader 1 has not heard the controller's latest decision",
    )
    assert (THREE in state.controller.isr, THREE in state.replica(ONE).isr) == (True, False)
    for heard in (JoinAnswered(THREE), *([DecisionReceived(ONE)] if rules is KRAFT else [])):
        leader = after(state, rules, heard).replica(ONE)
        assert leader.isr == {ONE, TWO, THREE}
        assert (leader.joining, leader.isr_answer, leader.undelivered) == (frozenset(), None, ())


@pytest.mark.parametrize("rules", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_a_leader_takes_what_was_committed_whatever_has_been_decided_since(rules: RuleSet) -> None:
    committed = after(wishing(rules), rules, JoinCommitted(THREE, is_answered=False))
    gone = after(committed, rules, BrokerDied(TWO, graceful=False), BrokerRemoved(TWO))
    heard = after(gone, rules, JoinAnswered(THREE))
    assert (heard.replica(ONE).isr, heard.controller.isr) == ({ONE, TWO, THREE}, (ONE, THREE))
    assert after(heard, rules, DecisionReceived(ONE)).replica(ONE).isr == {ONE, THREE}


def test_a_zombie_takes_the_answer_to_its_own_request() -> None:
    committed = after(wishing(KRAFT), KRAFT, JoinCommitted(THREE, is_answered=False), BrokerRemoved(ONE))
    zombie = after(committed, KRAFT, DecisionReceived(TWO))
    assert refused(zombie, KRAFT, JoinAnswered(THREE)) == "no answer to a leader's request is on its way"
    assert after(zombie, KRAFT, JoinAnswered(THREE, ONE)).replica(ONE).isr == {ONE, TWO, THREE}


def test_an_answer_that_comes_after_a_decision_is_ignored() -> None:
    committed = after(wishing(KRAFT), KRAFT, JoinCommitted(THREE, is_answered=False))
    heard = after(committed, KRAFT, BrokerRemoved(ONE), DecisionReceived(ONE))
    assert heard.replica(ONE).isr_answer is None
    assert "no answer" in refused(heard, KRAFT, JoinAnswered(THREE, ONE))


@pytest.mark.parametrize("rules", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_the_wish_of_a_leader_that_is_behind_is_refused(rules: RuleSet) -> None:
    state = after(wishing(rules), rules, BrokerDied(TWO, graceful=False), BrokerRemoved(TWO))
    behind = "leader 1 has not heard the controller's latest decision"
    assert refused(state, rules, JoinCommitted(THREE)) == behind
    heard = after(state, rules, DecisionReceived(ONE))
    assert not heard.replica(ONE).joining


def test_wishes_read_as_words() -> None:
    events = (JoinAnswered(THREE), JoinRefused(THREE), ShrinkAnswered())
    assert [event_words(event, world(KRAFT)) for event in events] == [
        "the leader hears that broker 3 is in the ISR",
        "the controller refuses to add broker 3 to the ISR",
        "the leader hears that the lagging replicas are out of the ISR",
    ]


@pytest.mark.parametrize("rules", [ZOOKEEPER, KRAFT], ids=["zookeeper", "kraft"])
def test_the_answer_to_a_shrink_may_come_later(rules: RuleSet) -> None:
    start = world(rules)
    behind = after(start.state, rules, BrokerDied(THREE, graceful=False), RecordSent(M0, Acks.LEADER))
    state = after(behind, rules, LagPassed((THREE,)))
    assert refused(state, rules, ShrinkAnswered()) == "no answer to a leader's request is on its way"
    state = after(state, rules, ShrinkCommitted(is_answered=False))
    assert (THREE in state.controller.isr, THREE in state.replica(ONE).isr) == (False, True)
    assert refused(state, rules, ShrinkCommitted()) == "the replicas are out of the ISR already"
    for heard in (ShrinkAnswered(), *([DecisionReceived(ONE)] if rules is KRAFT else [])):
        leader = after(state, rules, heard).replica(ONE)
        assert leader.isr == {ONE, TWO}
        assert (leader.leaving, leader.isr_answer, leader.undelivered) == (frozenset(), None, ())


def test_who_may_not_join_is_refused_for_good() -> None:
    state = after(wishing(KRAFT), KRAFT, BrokerDied(THREE, graceful=False), BrokerRemoved(THREE))
    assert refused(state, KRAFT, JoinCommitted(THREE)) == "broker 3 is not eligible to join the ISR"
    state = after(state, KRAFT, JoinRefused(THREE))
    assert not state.replica(ONE).joining


def test_a_leader_that_is_behind_cannot_write_the_isr() -> None:
    rules = rules_for("2.6.3", MetadataMode.ZOOKEEPER)
    start = world(rules)
    gone = start.apply(BrokerDied(THREE, graceful=False)).apply(BrokerRemoved(THREE)).settle()
    unreachable = gone.apply(BrokerReturned(THREE, clean=False)).apply(BrokerDied(TWO, graceful=False))
    state = after(unreachable.state, rules, DecisionReceived(THREE), BrokerRemoved(TWO))
    assert awaiting(state) == (ONE, THREE)
    fenced = World(state, rules, start.checkpointing, start.order)
    for _ in range(4):
        fenced = half_step(fenced, THREE)
    assert fenced.state.replica(ONE).remote(THREE).is_this_incarnation
    assert fenced.state.controller.isr == (ONE,)
    assert THREE in fenced.settle().state.controller.isr


def test_elections_on_request_that_change_nothing_are_refused() -> None:
    state = world(KRAFT).state
    assert refused(state, KRAFT, ElectionRequested(ElectionKind.PREFERRED)) == "broker 1 leads already"
    for broker in (ONE, TWO, THREE):
        state = after(state, KRAFT, BrokerDied(broker, graceful=False), BrokerRemoved(broker))
    assert refused(state, KRAFT, ElectionRequested(ElectionKind.UNCLEAN)) == "no replica lives"


def test_an_old_release_holds_no_unclean_election_on_request() -> None:
    old = rules_for("2.3.1", MetadataMode.ZOOKEEPER)
    assert "no unclean election on request" in refused(world(old).state, old, ElectionRequested(ElectionKind.UNCLEAN))
