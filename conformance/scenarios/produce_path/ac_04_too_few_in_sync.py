"""What does a leader do with a produce when too few replicas are in sync (document 003)?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import QUICK, Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.scenarios.vocabulary import await_isr, await_leader, brokers, checkpoint, kill, produce, start
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.topic import Alter
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from oracle.steps.produce import Produce
    from oracle.steps.step import Step


def _lone_leader_dies(attempt: Produce, seen: str) -> tuple[Step, ...]:
    """Leave broker 1 alone, let it have one acks=all produce, and let broker 2 take over uncleanly."""
    return (
        produce("m0"),
        kill(2),
        await_isr(1),
        attempt,
        checkpoint(seen),
        kill(1),
        await_leader(None),
        start(2),
        await_leader(2),
        start(1),
        await_isr(1, 2),
        produce("m2"),
        checkpoint("end"),
    )


REFUSED_BELOW_MINIMUM = Scenario(
    name="AC-04/safe",
    profiles=QUICK,
    variant="safe",
    explanation="With min.insync.replicas=2 the lone leader refuses acks=all, so its death costs nothing.",
    schedule=Schedule(
        id="produce/lone-leader-refuses-acks-all",
        requirement="acks=all with fewer in-sync replicas than min.insync.replicas is refused, nothing is written.",
        sources=("AC-04", "003"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=True),
        steps=_lone_leader_dies(
            produce("m1", expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS"), "the lone leader refused m1"
        ),
    ),
)

ACCEPTED_BY_ONE = Scenario(
    name="AC-04/unsafe",
    profiles=QUICK,
    variant="unsafe",
    explanation="With min.insync.replicas=1 the same leader acknowledges alone, and its death costs the record.",
    schedule=Schedule(
        id="produce/lone-leader-accepts-acks-all",
        requirement="acks=all with min.insync.replicas=1 is acknowledged by a lone leader.",
        sources=("AC-04", "003"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=_lone_leader_dies(produce("m1"), "the lone leader acknowledged m1"),
    ),
)

TOO_FEW = Examination(
    name="AC-04/puppets",
    id="one-broker/too-few-in-sync-replicas",
    requirement=(
        "With fewer in-sync replicas than min.insync.replicas acks=all is refused with NOT_ENOUGH_REPLICAS (19) and "
        "nothing is written; acks=1 is appended, and visible at once only up to 3.6."
    ),
    sources=("AC-04", "AC-06", "003", "KAFKA-15583"),
    explanation="min.insync.replicas is 2 and the leader is alone; when the second replica is back all is committed.",
    where=WITH_PUPPETS,
    examined=by("one_broker:TOO_FEW"),
)

NEW_MINIMUM = Scenario(
    name="AC-04/new-minimum",
    explanation=(
        "Broker 1 is alone and refuses m1 under min.insync.replicas=2, takes m2 under 1, and refuses m3 under 2 again."
    ),
    schedule=Schedule(
        id="produce/new-minimum-holds-for-the-next-produce",
        requirement="A new min.insync.replicas of a topic holds for the next produce.",
        sources=("AC-04", "003"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0"),
            kill(2),
            produce("m1", expect=Expectation.REFUSED),
            Alter(min_insync_replicas=1),
            produce("m2"),
            checkpoint("one replica is enough"),
            Alter(min_insync_replicas=2),
            produce("m3", expect=Expectation.REFUSED),
            start(2),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (REFUSED_BELOW_MINIMUM, ACCEPTED_BY_ONE, TOO_FEW, NEW_MINIMUM)
