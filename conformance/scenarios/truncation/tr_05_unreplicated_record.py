"""Does a former leader cut the records that nobody else has?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import QUICK, Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    start,
)
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Expectation

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
        settings=TopicSettings(min_insync_replicas=1, unclean_leader_election=False),
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

FORMER_LEADER = Examination(
    name="TR-05/puppets",
    id="one-broker/former-leader-cuts-its-uncommitted-records",
    requirement="A leader that becomes a follower removes the records that its successor does not have.",
    sources=("TR-05", "000", "001"),
    explanation="Of a, b and c only a was replicated; the successor has written x and y in epoch 6.",
    where=WITH_PUPPETS,
    examined=by("one_broker:FORMER_LEADER"),
)

SCENARIOS = (UNREPLICATED_RECORD, FORMER_LEADER)
