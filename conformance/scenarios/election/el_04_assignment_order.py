"""Whom does the controller elect when several could lead? The first one alive and in sync, as they are assigned."""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    elect_preferred,
    hold_request,
    kill,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.topic import Reassign

_SETTINGS = TopicSettings(min_insync_replicas=1, unclean_leader_election=False)

ASSIGNMENT_ORDER = Scenario(
    name="EL-04",
    explanation=(
        "The replicas are assigned as 2, 3, 1. Broker 3 leaves the ISR and joins again, so that it is the last one in "
        "the ISR's own order. When the leader dies broker 3 is elected, not broker 1, which has the lower id and was "
        "in sync all the time."
    ),
    schedule=Schedule(
        id="election/first-in-assignment-order",
        requirement=(
            "The new leader is the first in-sync replica alive in the order of the assignment, neither in the order of "
            "ids nor in that of the ISR."
        ),
        sources=("EL-04", "002", "003"),
        replicas=brokers(2, 3, 1),
        settings=_SETTINGS,
        steps=(
            produce("m0"),
            kill(3),
            await_isr(1, 2),
            produce("m1"),
            start(3),
            await_isr(1, 2, 3),
            checkpoint("broker 3 was the last one to join"),
            kill(2),
            await_leader(3),
            checkpoint("broker 3 leads"),
            kill(3),
            await_leader(1),
            checkpoint("broker 1 is the only one left"),
            start(3),
            start(2),
            await_isr(1, 2, 3),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)

IN_SYNC_ONLY = Scenario(
    name="EL-04/in-sync-only",
    explanation=(
        "The same assignment, but broker 3 is back and not yet in sync: its first fetch is held. When the leader dies "
        "broker 3 is passed over, and broker 1 leads."
    ),
    schedule=Schedule(
        id="election/first-in-assignment-order-that-is-in-sync",
        requirement="A replica that is alive and not in sync is passed over, although the assignment names it earlier.",
        sources=("EL-04", "EL-01", "002", "003"),
        replicas=brokers(2, 3, 1),
        settings=_SETTINGS,
        steps=(
            produce("m0"),
            kill(3),
            await_isr(1, 2),
            produce("m1"),
            hold_request("refetch", follower=3, leader=2),
            start(3),
            await_hold("refetch"),
            checkpoint("broker 3 is alive and not in sync"),
            hold_request("fetch from 1", follower=3, leader=1),
            kill(2),
            await_leader(1),
            await_hold("fetch from 1"),
            checkpoint("broker 1 leads"),
            release("fetch from 1"),
            start(2),
            await_isr(1, 2, 3),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)

MOVED = Scenario(
    name="EL-04/moved",
    explanation=(
        "The partition moves from 2, 1 to 3, 1: broker 3 is held at its first fetch, and the move waits for it. Then "
        "it moves to 1, 3, where broker 1 is preferred, and is left on broker 1 alone."
    ),
    schedule=Schedule(
        id="election/partition-moves-to-another-broker",
        requirement="A partition that moves to another broker keeps every committed record.",
        sources=("EL-04", "KIP-455"),
        replicas=brokers(2, 1),
        steps=(
            produce("m0"),
            hold_request("first", follower=3, leader=2),
            Reassign(brokers(3, 1)),
            await_hold("first"),
            produce("m1"),
            checkpoint("broker 3 has not fetched yet"),
            release("first"),
            await_leader(3),
            produce("m2"),
            checkpoint("moved"),
            Reassign(brokers(1, 3)),
            elect_preferred(),
            Reassign(brokers(1)),
            produce("m3"),
            checkpoint("one replica is left"),
        ),
    ),
)

SCENARIOS = (ASSIGNMENT_ORDER, IN_SYNC_ONLY, MOVED)
