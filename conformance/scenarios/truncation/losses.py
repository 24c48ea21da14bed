"""Truncation, loss and divergence around leader changes (documents 000, 001 and 003; KIP-101)."""

from __future__ import annotations

from conformance.catalogue.scenario import QUICK, Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import Expectation

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
        settings=Settings(min_insync_replicas=1, unclean_leader_election=True),
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
        settings=Settings(min_insync_replicas=2, unclean_leader_election=False),
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
        settings=Settings(min_insync_replicas=1, unclean_leader_election=True),
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

UNREPLICATED_RECORD = Scenario(
    name="TR-05",
    profiles=QUICK,
    explanation=(
        "Record m4 reached no follower when its leader died. Its producer was never told that it is safe, and it is "
        "cut when the old leader returns as a follower."
    ),
    schedule=Schedule(
        id="truncation/unreplicated-record-of-a-crashed-leader-is-removed",
        requirement="A record that no follower had when its leader crashed is removed when that broker returns.",
        sources=("TR-05", "TR-06", "003"),
        replicas=brokers(1, 2),
        settings=Settings(min_insync_replicas=1, unclean_leader_election=False),
        steps=(
            produce("m1", "m2", "m3"),
            hold_request("fetch of m4", follower=2, leader=1, fetch_offset=3),
            await_hold("fetch of m4"),
            produce("m4", expect=Expectation.PENDING),
            checkpoint("only the leader has m4"),
            kill(1),
            await_outcome("m4", expect=Expectation.INDETERMINATE),
            await_leader(2),
            produce("m5"),
            start(1),
            await_isr(1, 2),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (RESTARTED_FOLLOWER, CLEAN_ELECTIONS_ONLY, DIVERGENCE, UNREPLICATED_RECORD)
