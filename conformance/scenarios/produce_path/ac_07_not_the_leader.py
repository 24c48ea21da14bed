"""What does a broker answer a producer that does not lead the partition?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    consume,
    kill,
    produce,
    send_to,
    start,
)
from oracle.schedule import Schedule

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

SCENARIOS = (TO_A_FOLLOWER,)
