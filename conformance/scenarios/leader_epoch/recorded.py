"""When does the leader epoch rise, and which replicas write down where each epoch starts?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.scenarios.leader_epoch.epoch_files import epoch_file_while_running, epoch_files, leader_epochs
from conformance.scenarios.leader_epoch.requests import first_requests
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule
from oracle.steps.topic import Elect
from oracle.vocabulary import Acks, BrokerId, ElectionKind

APPENDED = "broker 3 has appended m1, and its leader does not know it"

_RISES = Schedule(
    id="leader-epoch/rises-at-every-leader-change",
    requirement=(
        "Every leader change raises the leader epoch, and the leader's checkpoint names the epoch with the first "
        "offset written in it; from 2.0.1 on at once, before anything is written."
    ),
    sources=("LE-01", "000", "001", "KIP-101", "KAFKA-7415"),
    replicas=brokers(1, 2, 3),
    steps=(
        produce("m0"),
        checkpoint("broker 1 leads first"),
        kill(1),
        await_leader(2),
        produce("m1"),
        checkpoint("broker 2 leads"),
        start(1),
        await_isr(1, 2, 3),
        Elect(ElectionKind.PREFERRED),
        await_leader(1),
        checkpoint("broker 1 leads again, and nothing is written yet"),
        produce("m2"),
        kill(1),
        await_leader(2),
        start(1),
        await_isr(1, 2, 3),
        checkpoint("broker 2 leads again; nothing was written in its epoch"),
    ),
)

RISES = Scenario(
    name="LE-01",
    explanation=(
        "Three leader changes. In the last leadership nothing is written: its epoch is in the new leader's "
        "checkpoint on releases that write it when they take it, in no checkpoint on older ones. The epochs compared "
        "are Kafka's own numbers."
    ),
    schedule=_RISES,
    questions=(leader_epochs(_RISES), *epoch_files(_RISES)),
)

_SAME_PAIRS = Schedule(
    id="leader-epoch/checkpoint-holds-the-predicted-pairs",
    requirement=(
        "On every replica leader-epoch-checkpoint holds one pair (epoch, first offset) for each epoch that the log "
        "has records of, also after an epoch was cut away; from 2.0.1 on a leader's may also name one that it has "
        "taken up and not written in yet."
    ),
    sources=("LE-02", "000", "001", "KIP-101"),
    replicas=brokers(1, 2, 3),
    steps=(
        produce("m0"),
        kill(1),
        await_leader(2),
        hold_request("gap", follower=3, leader=2, fetch_offset=1),
        await_hold("gap"),
        produce("x1", acks=Acks.LEADER),
        checkpoint("broker 2 alone has a record of its epoch"),
        kill(2),
        await_leader(3),
        produce("m1", "m2"),
        start(1),
        start(2),
        await_isr(1, 2, 3),
        checkpoint("broker 2 has cut x1 and the epoch that began with it"),
        Elect(ElectionKind.PREFERRED),
        await_leader(1),
        produce("m3"),
        checkpoint("end"),
    ),
)

SAME_PAIRS = Scenario(
    name="LE-02",
    explanation=(
        "Broker 2 leads and writes x1, which nobody fetches: its checkpoint names an epoch that starts at offset "
        "1. It "
        "dies, broker 3 leads and writes m1 at that offset. When broker 2 is back, x1 and its pair must be gone: the "
        "three files are equal in the end."
    ),
    schedule=_SAME_PAIRS,
    questions=(leader_epochs(_SAME_PAIRS), *epoch_files(_SAME_PAIRS)),
)

_LEARNED = Schedule(
    id="leader-epoch/follower-records-the-epoch-of-a-batch",
    requirement=(
        "A follower that gets the first batch of a new leader epoch knows that epoch again after a kill before its "
        "next fetch: it asks with it, and its leader-epoch-checkpoint names it in the end."
    ),
    sources=("LE-07", "LE-02", "000", "001", "KIP-101"),
    replicas=brokers(1, 2, 3),
    steps=(
        produce("m0"),
        kill(1),
        await_leader(2),
        hold_request("next fetch", follower=3, leader=2, fetch_offset=2),
        produce("m1", acks=Acks.LEADER),
        await_hold("next fetch"),
        checkpoint(APPENDED),
        kill(3),
        await_isr(2),
        start(3),
        await_isr(2, 3),
        checkpoint("broker 3 is back"),
        start(1),
        await_isr(1, 2, 3),
        checkpoint("end"),
    ),
)

LEARNED = Scenario(
    name="LE-07",
    explanation=(
        "Broker 3 appends m1, the first record of its leader's epoch, and is killed before its next fetch reaches "
        "anybody. Its epoch file is read while it still runs: the pair stands there before any recovery could write "
        "it. When broker 3 is back it first asks with m1's epoch."
    ),
    where=Where(since="0.11.0", why="brokers before have no leader epochs in their logs (KIP-101)"),
    schedule=_LEARNED,
    questions=(
        epoch_file_while_running(_LEARNED, BrokerId(3), APPENDED),
        first_requests(_LEARNED, follower=3, leader=2),
        *epoch_files(_LEARNED),
    ),
)

SCENARIOS = (RISES, SAME_PAIRS, LEARNED)
