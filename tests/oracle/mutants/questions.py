"""What can only be asked between two steps? Decisions and requests on their way: a schedule never rests there.

Each question starts from three replicas at rest, broker 1 leading, and returns a plain answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination
from conformance.catalogue.questions import Between
from conformance.registry import select
from oracle.asking import answer
from oracle.events import (
    BrokerRemoved,
    BrokerReturned,
    JoinCommitted,
    RecordSent,
    RequestReceived,
    SettingsChanged,
    TopicDeleted,
)
from oracle.gate import ModelledGate
from oracle.predict import NotOnReleaseError, initial_world, predict, take
from oracle.rules import fencing
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.steps.brokers import Kill, Pause, Resume, Start
from oracle.steps.frames import Hold, ReleaseHold
from oracle.steps.produce import Produce
from oracle.steps.questions import Ask
from oracle.steps.topic import Elect, Reassign
from oracle.tracing.invariants import TraceSettings
from oracle.tracing.sending import sent_versions
from oracle.vocabulary import Acks, ElectionKind, Expectation, Label, MetadataMode, PointName
from oracle.world import ImpossibleEventError
from tests.oracle.latest_offset import latest_offset
from tests.oracle.schedules import LOOKUP, ONE, THREE, TWO, hold, moved_unheard, produce, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.world import World

REPLICAS = (ONE, TWO, THREE)


def _after(rules: RuleSet, *steps: Step, unclean: bool = False) -> World:
    world = initial_world(schedule(*steps, replicas=REPLICAS, unclean=unclean), rules, REPLICAS)
    for step in steps:
        world = take(world, step)
    return world


def _rules(version: str, change: Callable[[RuleSet], RuleSet]) -> RuleSet:
    metadata = MetadataMode.KRAFT if version.endswith("-kraft") else MetadataMode.ZOOKEEPER
    return change(rules_for(version.removesuffix("-kraft"), metadata))


def isr_after_a_fetch(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask for the controller's ISR when a returned replica's fetch has reached the leader, and nothing else."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change), Kill(THREE), hold("fetch", follower=THREE), Start(THREE))
        return sorted(world.apply(RequestReceived(THREE)).state.controller.isr)

    return ask


def latest_offset_after_election(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask a new leader for the latest offset while it does not know yet that m0 is committed."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        rules = _rules(version, change)
        answers = (hold(f"to {f}", PointName.FETCH_RESPONSE, follower=f, fetch_offset=1) for f in (TWO, THREE))
        refetch = hold("first fetch", follower=THREE, leader=TWO)
        told = latest_offset(_after(rules, *answers, produce("m0"), refetch, Kill(ONE)).state, rules)
        return None if told is None else (told.offset, told.error)

    return ask


def told_by_a_broker(version: str, *steps: Step) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask what a broker answers to the last step, while the fetches of broker 2 are held."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        rules = _rules(version, change)
        held = hold("fetch", follower=TWO, fetch_offset=0)
        pending = Produce((Label("m0"),), Acks.ALL, Expectation.PENDING)
        question = steps[-1]
        assert isinstance(question, Ask)
        return answer(_after(rules, held, pending, *steps), question)

    return ask


def decisions_on_their_way(*brokers: int, to: int, version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask how many decisions a broker has yet to hear after others have been removed while they ran."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change))
        for broker in brokers:
            world = world.apply(BrokerRemoved(REPLICAS[broker - 1]))
        return len(world.state.replica(REPLICAS[to - 1]).undelivered)

    return ask


def news_that_nobody_leads(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask how many decisions the last broker in sync has yet to hear when it is removed, too."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change), Kill(THREE), Kill(TWO))
        return len(world.apply(BrokerRemoved(ONE)).state.replica(ONE).undelivered)

    return ask


def isr_as_its_leader_was_answered(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask for the leader's ISR when the answer to its request has come and the metadata log is held."""
    request = Hold("request", PointName.ALTER_PARTITION_REQUEST, broker=ONE)
    answer = Hold("answer", PointName.ALTER_PARTITION_RESPONSE, broker=ONE)
    log = Hold("log", PointName.CONTROLLER_FETCH_RESPONSE, broker=ONE)
    steps = (Kill(THREE), request, Start(THREE), log, answer, ReleaseHold("request"), ReleaseHold("answer"))

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change), *steps)
        return sorted(world.state.replica(ONE).isr)

    return ask


def role_while_metadata_is_held(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask for the role of a leader that was frozen and goes on, while the first UpdateMetadata to it is held."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        held = Hold("metadata", PointName.UPDATE_METADATA, broker=ONE)
        return _after(_rules(version, change), Pause(ONE), held, Resume(ONE)).state.replica(ONE).role

    return ask


def holds_lost_to_another_leader(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask which held fetches go with their connections when the followers take another leader, that runs."""
    steps = (Kill(ONE), Start(ONE), hold("fetch", follower=THREE, leader=TWO), Elect(ElectionKind.PREFERRED))

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        try:
            return [lost.name for lost in _after(_rules(version, change), *steps).gate.lost]
        except ImpossibleEventError:
            return "it waits for the answer"

    return ask


def news_of_a_committed_join(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask how many decisions the leader has yet to hear when a join is committed and the answer is not yet there."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change), Kill(THREE), hold("fetch", follower=THREE), Start(THREE))
        world = world.apply(RequestReceived(THREE)).apply(JoinCommitted(THREE, is_answered=False))
        return len(world.state.replica(ONE).undelivered)

    return ask


def deposed_leader_is_truncating(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask whether a former leader whose last epoch has no record is still truncating once all is quiet (KAFKA-10706).

    Broker 2 leads an epoch without records between two of broker 1, and lacks a record of the first.
    """

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change), produce("m0"), Kill(THREE), hold("gap"), unclean=True)
        world = replace(world, gate=world.gate.arm(hold("lookup", LOOKUP, follower=ONE, leader=TWO)))
        world = world.apply(RecordSent(Label("m1"), Acks.LEADER)).settle()
        world = world.apply(BrokerRemoved(ONE)).settle().apply(BrokerReturned(ONE, clean=True)).settle()
        world = world.apply(BrokerRemoved(TWO)).settle().apply(BrokerReturned(TWO, clean=True))
        return replace(world, gate=ModelledGate()).settle().state.replica(TWO).truncating

    return ask


def leader_once_unclean_election_is_allowed(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask who leads once unclean election is switched on, with only a replica that was not in sync alive."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        world = _after(_rules(version, change), Kill(TWO), Kill(THREE), Kill(ONE), Start(TWO))
        return world.apply(SettingsChanged(TopicSettings(1, unclean_leader_election=True))).state.controller.leader

    return ask


def eligible_under_a_new_minimum(change: Callable[[RuleSet], RuleSet]) -> object:
    """Ask who is still eligible when min.insync.replicas has changed."""
    world = _after(_rules("4.3.1-kraft", change), Kill(TWO), Kill(THREE), Kill(ONE))
    return world.apply(SettingsChanged(TopicSettings(2))).state.controller.elr


def eligible_after_a_reassignment(change: Callable[[RuleSet], RuleSet]) -> object:
    """Ask who is eligible once the partition has moved to one broker, and two in-sync replicas are needed."""
    world = _after(_rules("4.3.1-kraft", change)).apply(SettingsChanged(TopicSettings(2)))
    return take(world, Reassign((ONE,))).state.controller.elr


def registers_once_its_topic_is_deleted(change: Callable[[RuleSet], RuleSet]) -> object:
    """Ask whether a broker that was eligible under an old minimum runs after a crash when its topic is gone."""
    world = _after(_rules("4.3.1-kraft", change), Kill(TWO), Kill(THREE), Kill(ONE))
    world = world.apply(SettingsChanged(TopicSettings(2))).apply(TopicDeleted())
    return world.apply(BrokerReturned(ONE, clean=False)).state.replica(ONE).alive


def holds_unclean_elections(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask whether a schedule with an unclean election on request can be predicted."""
    steps = (Kill(TWO), produce("m0"), Kill(ONE), Start(TWO), Elect(ElectionKind.UNCLEAN))
    return is_predicted(version, schedule(*steps))


def fetched_unheard(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask what a new replica has, and what its leader knows of it, while the leader has not heard of it."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        moving, _ = predict(moved_unheard(PointName.LEADER_AND_ISR), _rules(version, change)).checkpoints
        return moving.replicas[TWO].log_end_offset, moving.remote_log_end_offsets.get(TWO)

    return ask


def told_to_a_waiting_producer(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask what a producer is told whose leader has been removed by a reassignment that it heard of late."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        deaf = Hold("deaf", PointName.LEADER_AND_ISR_RESPONSE, broker=ONE)
        sent = replace(produce("m0", expect=Expectation.ANY), leader=ONE)
        moved = schedule(deaf, Reassign((TWO, THREE)), sent, ReleaseHold("deaf"), replicas=(ONE,))
        return predict(moved, _rules(version, change)).records[0].error

    return ask


def is_predicted(version: str, asked: Schedule) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask whether a release has all that a schedule asks of it."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        try:
            predict(asked, _rules(version, change))
        except NotOnReleaseError:
            return False
        return True

    return ask


def examined(name: str, version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask what an examination predicts of one broker among puppets."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        (entry,) = select([name])
        assert isinstance(entry, Examination)
        return [given.value for given in entry.subject.predict(_rules(version, change))]

    return ask


def waits_for_what_is_not_there(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask which of a consumer's fetches a leader answers only when their time is over."""

    def ask(change: Callable[[RuleSet], RuleSet]) -> object:
        told = examined("RM-05/puppets", version)(change)
        assert isinstance(told, list)
        return [value.low > 0 for value in told if isinstance(value, Between)]

    return ask


def newest_fetch_that_may_be_seen(version: str) -> Callable[[Callable[[RuleSet], RuleSet]], object]:
    """Ask in which version, at most, brokers may fetch from each other."""
    return lambda change: sent_versions(_rules(version, change), TraceSettings()).fetch[-1]


def obeys_a_lower_epoch(_change: Callable[[RuleSet], RuleSet]) -> object:
    """Ask whether a broker that has seen controller epoch 4 takes a request of epoch 3."""
    return fencing.is_obeyed(3, 4)
