"""When is a producer answered, by its acks?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    consume,
    hold_request,
    produce,
    release,
    send_to,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

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

SCENARIOS = (ANSWERED,)
