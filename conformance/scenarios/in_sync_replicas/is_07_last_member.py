"""Who stays in the ISR when everybody is gone?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Acks, Expectation

LAST_MEMBER = Scenario(
    name="IS-07",
    explanation=(
        "Broker 2 goes, then broker 1, the last in sync. Without eligible leader replicas the ISR goes on naming "
        "broker 1, with no leader; with them (4.1 on) the ISR is empty and broker 1 is eligible. Either way broker 2, "
        "which is back first, may not lead."
    ),
    schedule=Schedule(
        id="in-sync-replicas/last-member-stays",
        requirement=(
            "The last in-sync replica stays in the ISR when its broker dies, and the partition has no leader until it "
            "is back; with eligible leader replicas it leaves the ISR and is eligible instead."
        ),
        sources=("IS-07", "EL-01", "002", "003", "KIP-966"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1"),
            checkpoint("broker 1 is the last in sync"),
            kill(1),
            await_leader(None),
            checkpoint("nobody is alive"),
            start(2),
            await_leader(None),
            produce("m2", acks=Acks.LEADER, expect=Expectation.REFUSED, error="LEADER_NOT_AVAILABLE", timeout_ms=3000),
            checkpoint("broker 2 is back and may not lead"),
            start(1),
            await_leader(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (LAST_MEMBER,)
