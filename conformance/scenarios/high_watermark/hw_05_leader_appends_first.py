"""Does the leader's log end offset move before any follower has the record?"""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import (
    records_delivered_before,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    log_end_offset,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, Expectation

LEADER_HAS_MORE = "the leader has three records more"

LEADER_FIRST = Scenario(
    name="HW-05",
    explanation=(
        "Both followers' fetches stand in the gate. The leader's log grows by three records all the same; acks=1 is "
        "answered at once, acks=all waits, and nothing but the leader's log end offset moves."
    ),
    questions=(
        ScheduleQuestion(
            "answers with m1, m2 or m3 that any follower has got when the leader's log ends at 4",
            lambda _, prediction: sum(log_end_offset(prediction, LEADER_HAS_MORE, broker) > 1 for broker in (2, 3)),
            records_delivered_before(LEADER_HAS_MORE, leader=1, followers=(2, 3), first=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/the-leader-appends-before-any-follower",
        requirement="The leader's log end offset moves when it appends, before any follower has the record.",
        sources=("HW-05", "HW-01", "AC-02", "001", "002"),
        replicas=brokers(1, 2, 3),
        steps=(
            produce("m0"),
            hold_request("fetch of 2", follower=2, leader=1, fetch_offset=1),
            hold_request("fetch of 3", follower=3, leader=1, fetch_offset=1),
            await_hold("fetch of 2"),
            await_hold("fetch of 3"),
            checkpoint("no fetch can arrive"),
            produce("m1", "m2", expect=Expectation.PENDING),
            produce("m3", acks=Acks.LEADER),
            checkpoint(LEADER_HAS_MORE),
            release("fetch of 2"),
            release("fetch of 3"),
            await_outcome("m1", "m2", expect=Expectation.ACKNOWLEDGED),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (LEADER_FIRST,)
