"""Does silence alone put a follower out of the ISR that has every record?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.in_sync_replicas.silence import heard_again
from conformance.scenarios.vocabulary import (
    await_hold,
    await_lag,
    brokers,
    checkpoint,
    hold_request,
    produce,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Timing

SILENCE_ALONE = Scenario(
    name="IS-04",
    explanation=(
        "Broker 2 has every record when it falls silent, and nothing is produced. From 2.1 on it stays in the ISR; up "
        "to 2.0 its silence alone puts it out, and its next fetch brings it back."
    ),
    schedule=Schedule(
        id="in-sync-replicas/silence-alone-removes-nobody",
        requirement=(
            "From 2.1 on a follower whose log ends where the leader's does is still in the ISR when it was silent for "
            "as long as puts out one that lacks a record; before, it leaves like any other one."
        ),
        sources=("IS-04", "IS-03", "003", "004", "KAFKA-7152"),
        replicas=brokers(1, 2),
        timing=Timing.LAG,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1, fetch_offset=1),
            await_hold("silence"),
            await_lag(2),
            checkpoint("broker 2 was silent for the lag time and has everything"),
            *heard_again(produce("m1")),
        ),
    ),
)

SCENARIOS = (SILENCE_ALONE,)
