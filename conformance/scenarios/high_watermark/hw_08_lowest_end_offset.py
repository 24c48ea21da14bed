"""Whom does the high watermark wait for? In-sync replicas, and in some releases others that are caught up."""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_response,
    kill,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

RETURNED = Scenario(
    name="HW-08/returned",
    explanation=(
        "Broker 2 is back outside the ISR, one fetch at 1 has reached the leader, its answer is held. Up to 3.2 (a new "
        "epoch counts as a fetch) and in KRaft mode from 3.6 (the ISR shrinks within the epoch) it counts as caught "
        "up, and m3 waits for it; in ZooKeeper mode from 3.3, and in KRaft mode before 3.6, m3 is committed without it."
    ),
    schedule=Schedule(
        id="high-watermark/waits-for-a-returned-replica-that-counts-as-caught-up",
        requirement=(
            "The high watermark waits for a replica outside the ISR that was caught up within replica.lag.time.max.ms, "
            "and for no other."
        ),
        sources=("HW-08", "KAFKA-15021", "002"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1", "m2"),
            hold_response("answer", follower=2, leader=1, fetch_offset=1),
            start(2),
            await_hold("answer"),
            checkpoint("broker 2 is back at 1, outside the ISR"),
            produce("m3", expect=Expectation.ANY),
            checkpoint("the leader has m3"),
            release("answer"),
            await_isr(1, 2),
            await_outcome("m3", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

GONE = Scenario(
    name="HW-08/gone",
    explanation=(
        "Broker 1 leads on after a restart and trusts no earlier fetch. Broker 2 comes back, reaches at 3 what the "
        "leader had at its fetch before, so that it counts as caught up though m3 is committed, and dies outside the "
        "ISR. Up to 3.5 it holds m4 back all the same, for replica.lag.time.max.ms (120 s here); from 3.6 a replica "
        "whose broker is gone holds nothing back."
    ),
    schedule=Schedule(
        id="high-watermark/waits-for-a-dead-replica-that-was-caught-up",
        requirement=(
            "Up to 3.5 the high watermark waits for a replica that was caught up even after its broker is gone; from "
            "3.6 it waits for no replica outside the ISR whose broker is gone."
        ),
        sources=("HW-08", "KAFKA-15021", "002"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1", "m2"),
            kill(1),
            start(1),
            await_leader(1),
            hold_response("first", follower=2, leader=1, fetch_offset=1),
            start(2),
            await_hold("first"),
            produce("m3"),
            hold_response("second", follower=2, leader=1, fetch_offset=3),
            release("first"),
            await_hold("second"),
            checkpoint("broker 2 has asked for m3, outside the ISR"),
            kill(2),
            produce("m4", expect=Expectation.ANY),
            checkpoint("broker 2 is gone, the leader has m4"),
            start(2),
            await_isr(1, 2),
            await_outcome("m4", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

LOWEST_END_OFFSET = Examination(
    name="HW-08/puppets",
    id="one-broker/high-watermark-is-the-lowest-end-offset",
    requirement=(
        "A leader's high watermark is the lowest end offset of the in-sync replicas, never lower than before; an "
        "answer that does not wait carries the one before or after the fetch's own offset counted, as the release does."
    ),
    sources=("HW-08", "HW-12", "HW-04", "HW-09", "002", "KAFKA-7104"),
    explanation=(
        "Two followers fetch at offsets of choice. Only 1.0.0, 1.0.1 and 1.1.0 answer at once with the high watermark "
        "that the same fetch has moved (KAFKA-5758); a fetch that is parked is read again and carries the new one."
    ),
    where=WITH_PUPPETS,
    examined=by("one_broker:HIGH_WATERMARK"),
)

SCENARIOS = (RETURNED, GONE, LOWEST_END_OFFSET)
