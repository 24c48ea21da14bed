"""Which latest offset does a new leader tell whose high watermark is behind the start of its epoch?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import WITH_PUPPETS
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    consume,
    hold_request,
    hold_response,
    kill,
    latest,
    produce,
    release,
    start,
)
from oracle.schedule import Schedule

LATEST_OFFSET = Examination(
    name="HW-14/puppets",
    id="one-broker/new-leader-does-not-tell-a-lagging-latest-offset",
    requirement=(
        "From 2.2 on a new leader whose high watermark is below the start of its epoch answers the latest offset with "
        "OFFSET_NOT_AVAILABLE (78); before, it answers the lagging high watermark."
    ),
    sources=("HW-14", "004", "KIP-207"),
    explanation="A follower with high watermark 1 of 3 is made the leader; the first fetch at 3 makes it trustworthy.",
    where=WITH_PUPPETS,
    examined=by("one_broker:LATEST_OFFSET"),
)

NEW_LEADER = Scenario(
    name="HW-14",
    explanation=(
        "Broker 2 has m0, committed and acknowledged, but its high watermark is 0 when it becomes leader, below the "
        "start of its epoch, and broker 3 has not fetched from it yet. A consumer that had seen m0 and asks for the "
        "latest offset is told 0 up to 2.1; from 2.2 on OFFSET_NOT_AVAILABLE (LEADER_NOT_AVAILABLE in the old version "
        "1 of the request), and 1 once broker 3 has fetched."
    ),
    schedule=Schedule(
        id="asking/a-new-leader-does-not-tell-its-old-high-watermark",
        requirement=(
            "From 2.2 on a newly elected leader answers ListOffsets(latest) with OFFSET_NOT_AVAILABLE until its high "
            "watermark has reached the start of its epoch; older releases answer an offset that steps back."
        ),
        sources=("HW-14", "HW-06", "KIP-207"),
        replicas=brokers(1, 2, 3),
        steps=(
            hold_response("commitment for 2", follower=2, leader=1, fetch_offset=1),
            hold_response("commitment for 3", follower=3, leader=1, fetch_offset=1),
            produce("m0"),
            await_hold("commitment for 2"),
            await_hold("commitment for 3"),
            latest(1),
            consume(1),
            hold_request("first fetch", follower=3, leader=2),
            kill(1),
            await_leader(2),
            await_hold("first fetch"),
            checkpoint("the new leader's high watermark is behind its epoch's start"),
            latest(2, version=1),
            latest(2),
            consume(2),
            release("first fetch"),
            latest(2, version=1),
            latest(2),
            consume(2),
            start(1),
            await_isr(1, 2, 3),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (LATEST_OFFSET, NEW_LEADER)
