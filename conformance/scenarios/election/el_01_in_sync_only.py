"""Who may lead when nobody in sync is alive (documents 001 to 004)?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import QUICK, Scenario
from conformance.catalogue.where import Where
from conformance.scenarios.vocabulary import await_isr, await_leader, brokers, checkpoint, kill, produce, start
from oracle.rules import unclean_election
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.topic import Alter
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from oracle.steps.step import Step

_OUT_OF_SYNC_ALONE: tuple[Step, ...] = (
    produce("m0"),
    kill(2),
    await_isr(1),
    produce("m1"),
    kill(1),
    await_leader(None),
    start(2),
)
"""Only broker 2 is left, which never had m1: what comes next depends on unclean election."""

WAITS_FOR_ISR = Scenario(
    name="EL-01/safe",
    profiles=QUICK,
    variant="safe",
    explanation="Broker 2 is alive but not in sync: no leader until broker 1 is back, and m1 is kept.",
    schedule=Schedule(
        id="election/only-an-isr-member-is-elected",
        requirement="With unclean election off only an ISR member is elected; nothing acknowledged is lost.",
        sources=("EL-01", "IS-07", "001", "002"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            *_OUT_OF_SYNC_ALONE,
            await_leader(None),
            checkpoint("broker 2 is up and may not lead"),
            produce("m2", expect=Expectation.REFUSED, error="LEADER_NOT_AVAILABLE", timeout_ms=3000),
            start(1),
            await_leader(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

DOES_NOT_WAIT = Scenario(
    name="EL-01/unsafe",
    profiles=QUICK,
    variant="unsafe",
    explanation="The same crashes with unclean election on: broker 2 leads at once, without m1.",
    schedule=Schedule(
        id="election/a-replica-outside-the-isr-leads-at-once",
        requirement="With unclean election on a replica outside the ISR is elected when no ISR member lives.",
        sources=("EL-01", "EL-02", "001", "002"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=(
            *_OUT_OF_SYNC_ALONE,
            await_leader(2),
            checkpoint("broker 2 leads without m1"),
            produce("m2"),
            start(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

_ALLOWED_WHEN_LEADERLESS: tuple[Step, ...] = (
    kill(2),
    produce("m0"),
    kill(1),
    start(2),
    await_leader(None),
    Alter(unclean_leader_election=True),
)
"""Broker 2 is up, and broker 1, which has m0, is not, when unclean elections are allowed."""

ALLOWED_LATER = Scenario(
    name="EL-01/allowed-later",
    where=Where(rule=unclean_election.ONCE_ALLOWED.name, why="else the controller overlooks the setting"),
    explanation=(
        "Broker 2 is up, and broker 1, which has m0, is not, when unclean elections are allowed. From 2.1 on with "
        "ZooKeeper and 3.9 in KRaft mode the controller then elects broker 2, and m0 is lost."
    ),
    schedule=Schedule(
        id="election/unclean-election-is-allowed-later",
        requirement="A partition without a leader gets one from outside the ISR as soon as its topic allows it.",
        sources=("EL-01", "EL-02", "001", "002", "KAFKA-6526"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            *_ALLOWED_WHEN_LEADERLESS,
            await_leader(2),
            checkpoint("broker 2 leads without m0"),
            produce("m1"),
            start(1),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

ALLOWED_IN_VAIN = Scenario(
    name="EL-01/allowed-in-vain",
    where=Where(rule=unclean_election.WAITS_FOR_BROKER.name, why="else the controller elects when the setting changes"),
    explanation=(
        "As in allowed-later, on releases whose controller does not look at a setting when it changes: the partition "
        "waits for a broker to come, and that is broker 1, which has m0."
    ),
    schedule=Schedule(
        id="election/unclean-election-waits-for-a-broker",
        requirement="Where a controller overlooks a changed setting, a partition without a leader waits for a broker.",
        sources=("EL-01", "EL-02", "001", "002", "KAFKA-6526"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            *_ALLOWED_WHEN_LEADERLESS,
            await_leader(None),
            checkpoint("broker 2 may lead and does not"),
            start(1),
            await_leader(1),
            await_isr(1, 2),
            produce("m1"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (WAITS_FOR_ISR, DOES_NOT_WAIT, ALLOWED_LATER, ALLOWED_IN_VAIN)
