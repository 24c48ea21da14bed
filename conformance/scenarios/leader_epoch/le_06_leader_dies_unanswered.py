"""What if nobody lives to tell a follower where its last epoch ends?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS, Where
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.frames import Hold
from oracle.vocabulary import BrokerId, Expectation, PointName


def _never_answered(variant: str, hold: Hold) -> Schedule:
    return Schedule(
        id=f"leader-epoch/leader-dies-before-it-tells-the-end-of-an-epoch-{variant}",
        requirement=(
            "A follower whose leader dies before it could say where the follower's last epoch ends has cut nothing; "
            "elected, it keeps its whole log, also records that the dead leader never had."
        ),
        sources=("LE-06", "LE-04", "000", "KIP-101", "KIP-595"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            hold_request("broker 2 is slow", follower=2, leader=1, fetch_offset=1),
            await_hold("broker 2 is slow"),
            produce("x1", expect=Expectation.PENDING),
            checkpoint("broker 3 has x1, broker 2 has not"),
            hold,
            kill(1),
            await_leader(2),
            await_outcome("x1", expect=Expectation.INDETERMINATE),
            await_hold(hold.name),
            checkpoint("broker 2 leads without x1, and broker 3 has cut nothing"),
            kill(2),
            await_leader(3),
            checkpoint("broker 3 leads, with x1"),
            start(2),
            start(1),
            await_isr(1, 2, 3),
            produce("m2"),
            checkpoint("end"),
        ),
    )


_WHY = (
    "Broker 2 is elected without x1, and broker 3, which has it, has to hear that the epoch of x1 ended before it. "
    "{held} is held until broker 2 is dead. Broker 3 is in sync, has cut nothing and is elected: x1, which nobody was "
    "promised, stays."
)

LOOKUP_UNANSWERED = Scenario(
    name="LE-06/lookup",
    explanation=_WHY.format(held="The answer to its OffsetsForLeaderEpoch"),
    where=Where(since="0.11.0", before="2.8.0", why="followers ask OffsetsForLeaderEpoch (KIP-101)"),
    schedule=_never_answered(
        "lookup", Hold("the answer", PointName.OFFSETS_FOR_LEADER_EPOCH_RESPONSE, BrokerId(3), BrokerId(2))
    ),
)

FETCH_UNANSWERED = Scenario(
    name="LE-06/fetch",
    explanation=_WHY.format(held="Its first fetch"),
    where=Where(since="2.8.0", why="the answer to a fetch tells where an epoch ends (KAFKA-10554)"),
    schedule=_never_answered("fetch", hold_request("the fetch", follower=3, leader=2)),
)

UNANSWERED = Examination(
    name="LE-06/puppets",
    id="one-broker/leader-dies-before-it-answers",
    requirement=(
        "A follower whose leader dies before it answers the first request has not cut its log, from 0.11 on; elected, "
        "it keeps all of it."
    ),
    sources=("LE-06", "000"),
    explanation="Up to 0.10.2 the follower has cut to its high watermark before it asks for anything.",
    where=WITH_PUPPETS,
    examined=by("one_broker:UNANSWERED"),
)

SCENARIOS = (LOOKUP_UNANSWERED, FETCH_UNANSWERED, UNANSWERED)
