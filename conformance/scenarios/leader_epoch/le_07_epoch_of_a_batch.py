"""Does a follower record the epoch that a batch carries?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import Where
from conformance.questions.epoch_files import epoch_file_while_running, epoch_files
from conformance.questions.epoch_requests import first_requests
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
from oracle.vocabulary import Acks, BrokerId

APPENDED = "broker 3 has appended m1, and its leader does not know it"

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

SCENARIOS = (LEARNED,)
