"""Does a restarted follower keep an acknowledged record (document 000, KIP-101)?"""

from __future__ import annotations

from conformance.catalogue.scenario import QUICK, Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings

RESTARTED_FOLLOWER = Scenario(
    name="TR-01",
    profiles=QUICK,
    explanation=(
        "Broker 2 has m1 but not the high watermark that commits it. Up to 0.10.2 it cuts m1 when it restarts; "
        "elected before it fetches again, it loses a record that its producer was told is safe."
    ),
    schedule=Schedule(
        id="truncation/restarted-follower-keeps-committed-record",
        requirement="A follower that restarts keeps every record its leader had committed.",
        sources=("TR-01", "TR-04", "000", "001", "KIP-101", "KAFKA-1211"),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=True),
        steps=(
            produce("m0"),
            hold_response("gap", follower=2, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("gap"),
            checkpoint("follower has m1 but not the high watermark that commits it"),
            kill(2),
            await_isr(1),
            hold_request("refetch", follower=2, leader=1),
            start(2),
            await_hold("refetch"),
            checkpoint("follower restarted"),
            kill(1),
            await_leader(2),
            produce("m2"),
            start(1),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (RESTARTED_FOLLOWER,)
