"""Is an acknowledged record lost where only clean elections happen (document 001)?"""

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

CLEAN_ELECTIONS_ONLY = Scenario(
    name="TR-02",
    profiles=QUICK,
    explanation=(
        "No unclean election anywhere, min.insync.replicas 2. Broker 3 becomes follower of the new leader and, up "
        "to 0.10.2, cuts m1 to its stale high watermark while it is still in the ISR: elected cleanly, it loses m1."
    ),
    schedule=Schedule(
        id="truncation/clean-elections-keep-committed-record",
        requirement="An acknowledged record survives any number of clean elections.",
        sources=("TR-02", "TR-04", "000", "001", "KIP-101", "KAFKA-1211"),
        replicas=brokers(1, 2, 3),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0"),
            hold_response("gap of 2", follower=2, leader=1, fetch_offset=2),
            hold_response("gap of 3", follower=3, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("gap of 2"),
            await_hold("gap of 3"),
            checkpoint("both followers have m1, neither knows that it is committed"),
            hold_request("fetch from 2", follower=3, leader=2),
            kill(1),
            await_leader(2),
            await_hold("fetch from 2"),
            checkpoint("broker 3 follows broker 2"),
            kill(2),
            await_leader(3),
            checkpoint("broker 3 leads"),
            start(2),
            await_isr(2, 3),
            produce("m2"),
            start(1),
            await_isr(1, 2, 3),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (CLEAN_ELECTIONS_ONLY,)
