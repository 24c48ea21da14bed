"""On which occasions does a leader look at its high watermark? Exactly four, each alone in one scenario."""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import requests_between
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_lag,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, Expectation, Timing

BEFORE, AFTER = "before", "after"

APPEND = Scenario(
    name="HW-07/append",
    explanation=(
        "Broker 1 is alone in the ISR. Broker 2 runs and wants to fetch, but its request stands in the gate: the high "
        "watermark rises with what broker 1 appends, and with nothing else."
    ),
    questions=(
        ScheduleQuestion(
            "fetch offsets of broker 2 that reached broker 1 between the two checkpoints",
            lambda _rules, _prediction: [],
            requests_between(BEFORE, AFTER, follower=2, leader=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/rises-by-an-append",
        requirement="A leader that is alone in the ISR raises its high watermark when it appends.",
        sources=("HW-07", "HW-05", "001", "002"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1),
            await_hold("silence"),
            produce("m1", acks=Acks.LEADER),
            await_lag(2),
            await_isr(1),
            produce("m2", acks=Acks.LEADER),
            checkpoint(BEFORE),
            produce("m3", acks=Acks.LEADER),
            checkpoint(AFTER),
            release("silence"),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

FETCH = Scenario(
    name="HW-07/fetch",
    explanation=(
        "The follower's fetch at 2 stands in the gate, and the high watermark at 1. It passes, its answer is caught: "
        "in between one request has reached the leader, and the high watermark is 2."
    ),
    questions=(
        ScheduleQuestion(
            "fetch offsets of broker 2 that reached broker 1 between the two checkpoints",
            lambda _rules, _prediction: [2],
            requests_between(BEFORE, AFTER, follower=2, leader=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/rises-by-a-fetch",
        requirement=(
            "A leader raises its high watermark when a follower's fetch shows that all in-sync replicas have a record."
        ),
        sources=("HW-07", "HW-04", "001", "002"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("report", follower=2, leader=1, fetch_offset=2),
            produce("m1", expect=Expectation.PENDING),
            await_hold("report"),
            checkpoint(BEFORE),
            hold_response("answer", follower=2, leader=1, fetch_offset=2),
            release("report"),
            await_hold("answer"),
            checkpoint(AFTER),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            release("answer"),
            checkpoint("end"),
        ),
    ),
)

ELECTION = Scenario(
    name="HW-07/election",
    explanation=(
        "Broker 2 has m1 but not the high watermark that covers it. Elected, alone in the ISR, it raises its own to "
        "its log end. Broker 1 is dead and cannot fetch; that broker 2 appends nothing and that nobody leaves its ISR "
        "is among the numbers of the two checkpoints."
    ),
    schedule=Schedule(
        id="high-watermark/rises-by-becoming-leader",
        requirement=(
            "A replica that becomes leader, alone in the ISR, raises its high watermark to its log end offset at once."
        ),
        sources=("HW-07", "001", "002"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_response("news", follower=2, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("news"),
            checkpoint(BEFORE),
            kill(1),
            await_leader(2),
            checkpoint(AFTER),
            start(1),
            await_isr(1, 2),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)

SHRINK = Scenario(
    name="HW-07/shrink",
    explanation=(
        "The follower's fetch stands in the gate until replica.lag.time.max.ms has passed. The leader removes it from "
        "the ISR in the same epoch, and raises its high watermark; in 2.7 to 3.0 it does not (KAFKA-13091)."
    ),
    questions=(
        ScheduleQuestion(
            "fetch offsets of broker 2 that reached broker 1 between the two checkpoints",
            lambda _rules, _prediction: [],
            requests_between(BEFORE, AFTER, follower=2, leader=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/rises-when-a-replica-leaves-the-isr",
        requirement="A leader raises its high watermark when the replica that held it back leaves the ISR.",
        sources=("HW-07", "IS-05", "KAFKA-13091", "001", "002"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1, fetch_offset=1),
            await_hold("silence"),
            produce("m1", expect=Expectation.PENDING),
            checkpoint(BEFORE),
            await_lag(2),
            await_isr(1),
            checkpoint(AFTER),
            release("silence"),
            await_isr(1, 2),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (APPEND, FETCH, ELECTION, SHRINK)
