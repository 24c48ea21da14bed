"""When does the leader epoch rise?"""

from __future__ import annotations

from conformance.catalogue.scenario import Scenario
from conformance.questions.epoch_files import epoch_files, leader_epochs
from conformance.scenarios.vocabulary import (
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule
from oracle.steps.topic import Elect
from oracle.vocabulary import ElectionKind

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

SCENARIOS = (RISES,)
