"""What does a follower ask by its last leader epoch?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.questions.epoch_requests import end_of_epoch_told, first_requests
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

_ASKED = Schedule(
    id="leader-epoch/last-epoch-is-asked-about",
    requirement=(
        "A follower with leader epochs fetches nothing before its leader has compared its last epoch: it asks "
        "OffsetsForLeaderEpoch first (0.11 to 2.7), or names that epoch in the fetch itself (2.8 and newer)."
    ),
    sources=("LE-04", "000", "001", "KIP-101", "KIP-279", "KIP-595", "KAFKA-10554"),
    replicas=brokers(1, 2, 3),
    steps=(
        produce("m0"),
        kill(1),
        await_leader(2),
        produce("m1", "m2"),
        checkpoint("broker 1 is down with m0, of the first epoch"),
        start(1),
        await_isr(1, 2, 3),
        checkpoint("broker 1 has asked, and has everything"),
    ),
)

ASKED = Scenario(
    name="LE-04",
    explanation=(
        "Broker 1 returns with one record of the first epoch. Its first requests to the new leader are read from the "
        "wire: which kind, for which epoch, from which offset, and where the leader says that the epoch ends."
    ),
    schedule=_ASKED,
    questions=(
        first_requests(_ASKED, follower=1, leader=2),
        end_of_epoch_told(_ASKED, follower=1, leader=2),
    ),
)

EMPTY_ANSWER = Examination(
    name="LE-04/empty-answer",
    id="one-broker/empty-answer-leaves-the-last-epoch-alone",
    requirement=(
        "A follower that has got nothing from a new leader still tells the epoch of its last record with every fetch, "
        "from 2.8 on; 3.5.1 to 3.6 forget it (KAFKA-15510)."
    ),
    sources=("LE-04", "KIP-595", "KAFKA-15510"),
    explanation="The second leader has the same log as the first, so that its first answer has no records.",
    where=WITH_PUPPETS,
    examined=by("one_broker:EMPTY_ANSWER"),
)

SCENARIOS = (ASKED, EMPTY_ANSWER)
