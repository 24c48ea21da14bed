"""How does a produce with acks=all end that waits for a follower?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.questions import ScheduleQuestion, formula_ms
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS, Where
from conformance.questions.one_row import waited
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    produce,
    release,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Isolate, Rejoin
from oracle.vocabulary import BrokerId, Expectation, MetadataMode

if TYPE_CHECKING:
    from conformance.catalogue.questions import Expected
    from conformance.record.prediction import FrozenPrediction
    from oracle.rules.rule_set import RuleSet

TIMEOUT_MS = 6_000
"""Longer than the replicas take to come to rest after the send: whoever looks later notes the outcome later."""


def _at_the_timeout(_rules: RuleSet, _prediction: FrozenPrediction) -> Expected:
    """Return the formula of ``DelayedProduce``: it expires ``timeout`` ms after it was appended."""
    return formula_ms(TIMEOUT_MS, TIMEOUT_MS)


TIMES_OUT = Scenario(
    name="AC-03/timeout",
    explanation=(
        "m1 is in the leader's log and waits for broker 2, whose fetch is held. After its 6 s the producer is told "
        "that time is up. The record stays, and is committed as soon as broker 2 fetches."
    ),
    schedule=Schedule(
        id="produce/parked-request-times-out-and-its-record-stays",
        requirement=(
            "An acks=all produce that no follower confirms in time is answered REQUEST_TIMED_OUT; its record stays in "
            "the leader's log and may be read later."
        ),
        sources=("AC-03", "AC-02", "003"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1),
            await_hold("silence"),
            produce("m1", expect=Expectation.PENDING, timeout_ms=TIMEOUT_MS),
            await_outcome("m1", expect=Expectation.INDETERMINATE, error="REQUEST_TIMED_OUT"),
            checkpoint("time is up, and m1 is in the leader's log"),
            release("silence"),
            checkpoint("m1 is committed all the same"),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
    questions=(
        ScheduleQuestion(
            "milliseconds from the send of m1 to its outcome", _at_the_timeout, lambda run: waited(run, "m1")
        ),
    ),
)

IS_REPLICATED = Scenario(
    name="AC-03/replicated",
    explanation=(
        "The same wait, but broker 2's fetches go on before the time is up. Its first fetch only takes m1 away; the "
        "next one tells the leader that it has arrived, and only then is the producer answered."
    ),
    schedule=Schedule(
        id="produce/parked-request-ends-by-replication",
        requirement=(
            "An acks=all produce is acknowledged when the follower's fetch after the one that took the record away "
            "raises the high watermark past it, not before."
        ),
        sources=("AC-03", "AC-02", "HW-06", "003"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1),
            await_hold("silence"),
            produce("m1", expect=Expectation.PENDING),
            hold_request("report", follower=2, leader=1, fetch_offset=2),
            release("silence"),
            await_hold("report"),
            checkpoint("broker 2 has m1, and m1 still waits"),
            release("report"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            checkpoint("m1 is acknowledged"),
        ),
    ),
)

TIMED_OUT = Examination(
    name="AC-03/puppets",
    id="one-broker/produce-times-out-and-the-record-stays",
    requirement=(
        "A produce with acks=all that no in-sync follower fetches in time ends with REQUEST_TIMED_OUT (7); its record "
        "stays in the leader's log and is committed when the follower fetches past it."
    ),
    sources=("AC-03", "003"),
    explanation="The outcome is indeterminate: the producer was told no, the record becomes visible all the same.",
    where=WITH_PUPPETS,
    examined=by("one_broker:TIMED_OUT"),
)

LEADER_ISOLATED = Scenario(
    name="AC-03/isolated-leader",
    explanation=(
        "ZooKeeper keeps a leader registered that no broker reaches. m1 is in its log and waits; nobody is elected. "
        "When the network is whole again the followers fetch m1, and it is acknowledged."
    ),
    where=Where(metadata=MetadataMode.ZOOKEEPER, why="a controller of KRaft fences a broker that it does not hear of"),
    schedule=Schedule(
        id="produce/parked-request-outlives-an-isolation",
        requirement="An acks=all produce waits while no follower reaches its leader, and is acknowledged once they do.",
        sources=("AC-03", "IS-07", "003"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0"),
            Isolate(BrokerId(1)),
            produce("m1", expect=Expectation.PENDING),
            checkpoint("no follower fetches m1"),
            Rejoin(BrokerId(1)),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (TIMES_OUT, IS_REPLICATED, TIMED_OUT, LEADER_ISOLATED)
