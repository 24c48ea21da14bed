"""What is a producer answered, and what is written? AC-01, AC-02 and AC-07, one request at a time."""

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
    kill,
    produce,
    release,
    send_to,
    start,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

INVALID = Scenario(
    name="AC-01",
    explanation="Acks of 2, 7 and -2: three refusals, no record, and the next record gets offset 1.",
    schedule=Schedule(
        id="asking/acks-that-mean-nothing",
        requirement=(
            "A produce request whose acks are not 0, 1 or -1 is answered with INVALID_REQUIRED_ACKS and writes "
            "nothing, whether the broker leads or not."
        ),
        sources=("AC-01", "003"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            send_to("two", 1, acks=2),
            send_to("seven", 1, acks=7),
            send_to("minus-two", 1, acks=-2),
            send_to("to-a-follower", 2, acks=7),
            checkpoint("nothing was written"),
            send_to("m1", 1, acks=-1),
            consume(),
            checkpoint("the next record follows the first"),
        ),
    ),
)

ANSWERED = Scenario(
    name="AC-02",
    explanation=(
        "Broker 2's fetch is held, so the high watermark stands at 1. acks=0 is written and not answered; acks=1 is "
        "written and answered at once, invisible as it is; acks=-1 is written and answered only when broker 2 has "
        "fetched past it, and then all three are visible."
    ),
    schedule=Schedule(
        id="asking/acks-decide-when-a-producer-is-answered",
        requirement=(
            "acks=0 is never answered, acks=1 as soon as the leader has appended the record, acks=-1 only when the "
            "high watermark has passed it."
        ),
        sources=("AC-02", "HW-05", "003"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            hold_request("replication", follower=2, leader=1, fetch_offset=1),
            await_hold("replication"),
            send_to("none", 1, acks=0),
            checkpoint("acks=0 is in the leader's log"),
            send_to("one", 1, acks=1),
            checkpoint("acks=1 is in the leader's log"),
            produce("all", expect=Expectation.PENDING),
            checkpoint("acks=-1 is in the leader's log, and its producer waits"),
            consume(),
            release("replication"),
            await_outcome("all", expect=Expectation.ACKNOWLEDGED),
            consume(),
            checkpoint("all are committed"),
        ),
    ),
)

TO_A_FOLLOWER = Scenario(
    name="AC-07",
    explanation=(
        "Broker 2 follows and refuses acks=-1 and acks=1; with acks=0 it cannot answer and closes the connection. When "
        "the two have changed places broker 1 does the same."
    ),
    schedule=Schedule(
        id="asking/a-broker-that-does-not-lead-writes-nothing",
        requirement=(
            "A produce request to a broker that does not lead the partition is answered with NOT_LEADER_OR_FOLLOWER, "
            "or with acks=0 by the end of its connection, and writes nothing."
        ),
        sources=("AC-07", "003"),
        replicas=brokers(1, 2),
        steps=(
            produce("m0"),
            send_to("all", 2, acks=-1),
            send_to("one", 2, acks=1),
            send_to("none", 2, acks=0),
            checkpoint("the follower wrote nothing"),
            kill(1),
            await_leader(2),
            start(1),
            await_isr(1, 2),
            send_to("to-the-old-leader", 1, acks=1),
            send_to("m1", 2, acks=-1),
            consume(),
            checkpoint("the old leader wrote nothing"),
        ),
    ),
)

SCENARIOS = (INVALID, ANSWERED, TO_A_FOLLOWER)
