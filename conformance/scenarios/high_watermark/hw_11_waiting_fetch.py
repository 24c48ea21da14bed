"""When is a follower's fetch answered?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import median_answer_with, parked_before_sent, shortest_idle_wait
from conformance.record.answers import Between
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from oracle.steps.step import Step

LIMIT_MS = 500
"""What replica.fetch.wait.max.ms is by default."""

AT_ONCE = Between(0, LIMIT_MS * 3 // 5, "ms")

AT_THE_LIMIT = Between(LIMIT_MS - 10, 2 * LIMIT_MS - 1, "ms")

FOUND = (1, 2, 3)
"""The offsets of the records that are there before their fetch."""

FOLLOWED = (("m5", 5), ("m6", 6), ("m7", 7))
"""The records that are sent once their predecessor's fetch has arrived, with their offsets."""


def _found(offset: int) -> tuple[Step, ...]:
    """Have a record on the leader before the fetch at its offset arrives."""
    fetch, record = f"late fetch at {offset}", f"m{offset}"
    return (
        hold_request(fetch, follower=2, leader=1, fetch_offset=offset),
        await_hold(fetch),
        produce(record, expect=Expectation.PENDING),
        release(fetch),
        await_outcome(record, expect=Expectation.ACKNOWLEDGED),
    )


WAITS = Scenario(
    name="HW-11",
    explanation=(
        "Case 1: m1, m2 and m3 each are on the leader before the fetch arrives, which the gate sees to, and are in its "
        "answer at once. Case 2: each of m4 to m7 is acknowledged only when the follower's next fetch has arrived, so "
        "the one after finds that fetch parked, and ends it long before its wait is over. With nothing to send a fetch "
        "is parked for the whole of replica.fetch.wait.max.ms."
    ),
    questions=(
        ScheduleQuestion(
            "case 1: the median wait of the fetches that found their records",
            lambda _rules, _prediction: AT_ONCE,
            median_answer_with(FOUND, follower=2, leader=1),
        ),
        ScheduleQuestion(
            "records that were sent while a fetch at their offset waited at the leader",
            lambda _rules, _prediction: len(FOLLOWED),
            parked_before_sent(FOLLOWED, follower=2, leader=1),
        ),
        ScheduleQuestion(
            "case 2: the median wait of the fetches that got them",
            lambda _rules, _prediction: AT_ONCE,
            median_answer_with((5, 6, 7), follower=2, leader=1),
        ),
        ScheduleQuestion(
            "case 2: the shortest wait of a fetch for which nothing comes",
            lambda _rules, _prediction: AT_THE_LIMIT,
            shortest_idle_wait(follower=2, leader=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/a-fetch-waits-for-a-record-or-for-the-limit",
        requirement=(
            "A fetch is answered at once if there is a record for it; else it waits in the leader's purgatory until a "
            "produce ends it, or replica.fetch.wait.max.ms has passed."
        ),
        sources=("HW-11", "001", "004"),
        replicas=brokers(1, 2),
        fetch_wait_max_ms=LIMIT_MS,
        steps=(
            produce("m0"),
            *(step for offset in FOUND for step in _found(offset)),
            checkpoint("three fetches found a record"),
            produce("m4", "m5", "m6", "m7"),
            checkpoint("four fetches waited for one"),
        ),
    ),
)

SCENARIOS = (WAITS,)
