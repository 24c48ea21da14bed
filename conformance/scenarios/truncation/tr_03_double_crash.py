"""Do logs diverge when both replicas crash (document 000, KIP-101)?"""

from __future__ import annotations

from conformance.catalogue.scenario import QUICK, Scenario
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

DIVERGENCE = Scenario(
    name="TR-03",
    profiles=QUICK,
    explanation=(
        "Broker 1 comes back as follower with its high watermark at its log end. Up to 0.10.2 it cuts nothing and "
        "keeps m1 where the leader has x1: two records at one offset, and no error anywhere."
    ),
    schedule=Schedule(
        id="truncation/double-crash-does-not-diverge",
        requirement="After both replicas crashed, no offset holds different records on the two of them.",
        sources=("TR-03", "000", "001", "KIP-101", "KAFKA-1211"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=(
            produce("m0"),
            kill(2),
            await_isr(1),
            produce("m1"),
            checkpoint("broker 1 alone has m1"),
            kill(1),
            await_leader(None),
            start(2),
            await_leader(2),
            produce("x1"),
            checkpoint("broker 2 leads and has x1 at m1's offset"),
            start(1),
            await_isr(1, 2),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (DIVERGENCE,)
