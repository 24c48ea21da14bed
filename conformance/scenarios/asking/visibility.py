"""What does a consumer see, and when? HW-02 and HW-14, asked of leader, follower and a leader that is new."""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    consume,
    hold_request,
    hold_response,
    kill,
    latest,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

AT_LEADER = Scenario(
    name="HW-02/leader",
    explanation=(
        "m1 is in the leader's log, and broker 2 does not have it: nobody is shown m1, and a consumer that asks for "
        "its offset gets no record and no error. When broker 2 has told that it has m1, everybody is shown it."
    ),
    schedule=Schedule(
        id="asking/consumers-see-less-than-the-high-watermark",
        requirement=(
            "A consumer is shown the records below the high watermark only; the record at the high watermark is "
            "invisible, though it is in the leader's log, until the high watermark has passed it."
        ),
        sources=("HW-02", "HW-05", "000", "001", "002", "004"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("replication", follower=2, leader=1, fetch_offset=1),
            await_hold("replication"),
            produce("m1", expect=Expectation.PENDING),
            checkpoint("m1 is in the leader's log only"),
            consume(),
            consume(offset=1),
            latest(),
            release("replication"),
            await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
            consume(),
            consume(offset=1),
            latest(),
            checkpoint("m1 is committed"),
        ),
    ),
)

AT_FOLLOWER = Scenario(
    name="HW-02/follower",
    explanation=(
        "m1 is on both replicas and committed, and broker 2 has not heard of the commitment: the leader shows m1, "
        "broker 2 does not. Up to 2.3 broker 2 shows consumers nothing at all and answers NOT_LEADER_OR_FOLLOWER."
    ),
    schedule=Schedule(
        id="asking/a-follower-shows-what-it-knows-to-be-committed",
        requirement=(
            "From 2.4 on a consumer may read from a follower, and is shown there what is below the follower's own "
            "high watermark; before, a follower answers no consumer."
        ),
        sources=("HW-02", "HW-06", "KIP-392"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_response("commitment", follower=2, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("commitment"),
            checkpoint("m1 is committed, which the follower has not heard"),
            consume(1),
            consume(2),
            consume(2, offset=2),
            release("commitment"),
            consume(2),
            checkpoint("the follower has heard it"),
        ),
    ),
)

NEW_LEADER = Scenario(
    name="HW-14",
    explanation=(
        "Broker 2 has m0, committed and acknowledged, but its high watermark is 0 when it becomes leader, below the "
        "start of its epoch, and broker 3 has not fetched from it yet. A consumer that had seen m0 and asks for the "
        "latest offset is told 0 up to 2.1; from 2.2 on OFFSET_NOT_AVAILABLE (LEADER_NOT_AVAILABLE in the old version "
        "1 of the request), and 1 once broker 3 has fetched."
    ),
    schedule=Schedule(
        id="asking/a-new-leader-does-not-tell-its-old-high-watermark",
        requirement=(
            "From 2.2 on a newly elected leader answers ListOffsets(latest) with OFFSET_NOT_AVAILABLE until its high "
            "watermark has reached the start of its epoch; older releases answer an offset that steps back."
        ),
        sources=("HW-14", "HW-06", "KIP-207"),
        replicas=brokers(1, 2, 3),
        steps=(
            hold_response("commitment for 2", follower=2, leader=1, fetch_offset=1),
            hold_response("commitment for 3", follower=3, leader=1, fetch_offset=1),
            produce("m0"),
            await_hold("commitment for 2"),
            await_hold("commitment for 3"),
            latest(1),
            consume(1),
            hold_request("first fetch", follower=3, leader=2),
            kill(1),
            await_leader(2),
            await_hold("first fetch"),
            checkpoint("the new leader's high watermark is behind its epoch's start"),
            latest(2, version=1),
            latest(2),
            consume(2),
            release("first fetch"),
            latest(2, version=1),
            latest(2),
            consume(2),
            start(1),
            await_isr(1, 2, 3),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (AT_LEADER, AT_FOLLOWER, NEW_LEADER)
