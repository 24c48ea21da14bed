"""Which leader epochs, with which start offsets, are in the checkpoint file of each replica?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.questions.epoch_files import epoch_files, leader_epochs
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
from oracle.vocabulary import Acks, ElectionKind

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
        "Broker 2 leads and writes x1, which nobody fetches: its checkpoint names an epoch that starts at offset 1. It "
        "dies, broker 3 leads and writes m1 at that offset. When broker 2 is back, x1 and its pair must be gone: the "
        "three files are equal in the end."
    ),
    schedule=_SAME_PAIRS,
    questions=(leader_epochs(_SAME_PAIRS), *epoch_files(_SAME_PAIRS)),
)

SCENARIOS = (SAME_PAIRS,)
