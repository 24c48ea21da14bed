"""Where does a replica cut its log when it becomes follower? Up to 0.10.2 at its own high watermark."""

from __future__ import annotations

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import offset_caught
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    kill,
    log_end_offset,
    produce,
    start,
)
from oracle.schedule import Schedule

FOLLOWS = "broker 3 follows broker 2 and has not fetched"

TO_HIGH_WATERMARK = Scenario(
    name="TR-04",
    explanation=(
        "Broker 3 runs all the time: that it becomes follower of broker 2 is enough. Its log has m1, its high "
        "watermark is 1. Up to 0.10.2 it cuts m1 before it fetches, and its segment ends at 1 when it is killed; later "
        "releases cut nothing."
    ),
    questions=(
        ScheduleQuestion(
            "the fetch offset of broker 3's first fetch from broker 2",
            lambda _, prediction: log_end_offset(prediction, FOLLOWS, 3),
            offset_caught("first fetch"),
        ),
    ),
    schedule=Schedule(
        id="truncation/becoming-follower-cuts-to-the-high-watermark",
        requirement=(
            "Up to 0.10.2 a replica that becomes follower cuts its log to its own high watermark; from 0.11 it keeps "
            "what its leader has."
        ),
        sources=("TR-04", "TR-09", "000", "001", "KIP-101", "KAFKA-1211"),
        replicas=brokers(1, 2, 3),
        steps=(
            produce("m0"),
            hold_response("news for 2", follower=2, leader=1, fetch_offset=2),
            hold_response("news for 3", follower=3, leader=1, fetch_offset=2),
            produce("m1"),
            await_hold("news for 2"),
            await_hold("news for 3"),
            checkpoint("both followers have m1 and a high watermark of 1"),
            hold_request("first fetch", follower=3, leader=2),
            kill(1),
            await_leader(2),
            await_hold("first fetch"),
            checkpoint(FOLLOWS),
            kill(3),
            await_isr(2),
            checkpoint("the segment of broker 3 on disk"),
            start(3),
            start(1),
            await_isr(1, 2, 3),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (TO_HIGH_WATERMARK,)
