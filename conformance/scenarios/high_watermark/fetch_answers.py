"""When is a follower's fetch answered, and which high watermark does the answer carry?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import Question
from conformance.catalogue.scenario import Scenario
from conformance.record.answers import Between
from conformance.scenarios.high_watermark.measures import (
    high_watermark_with,
    median_answer_with,
    parked_before_sent,
    shortest_idle_wait,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    high_watermark,
    hold_request,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks, Expectation

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
ANSWERED = "broker 3 has the answer and has not fetched again"


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
        Question(
            "case 1: the median wait of the fetches that found their records",
            lambda _rules, _prediction: AT_ONCE,
            median_answer_with(FOUND, follower=2, leader=1),
        ),
        Question(
            "records that were sent while a fetch at their offset waited at the leader",
            lambda _rules, _prediction: len(FOLLOWED),
            parked_before_sent(FOLLOWED, follower=2, leader=1),
        ),
        Question(
            "case 2: the median wait of the fetches that got them",
            lambda _rules, _prediction: AT_ONCE,
            median_answer_with((5, 6, 7), follower=2, leader=1),
        ),
        Question(
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


def fetch_that_commits(
    first: str,
    second: str,
    third: str,
    *,
    answered: str,
    before_m1: tuple[Step, ...] = (),
    before_commit: tuple[Step, ...] = (),
) -> tuple[Step, ...]:
    """Have broker 3 commit m1 with a fetch that is answered with m2, and hold its next fetch.

    Args:
        first: the hold of broker 2's fetch at 1.
        second: that of broker 3's fetch at 2, which commits m1.
        third: that of broker 3's fetch at 3.
        answered: the checkpoint when broker 3 has the answer.
        before_m1: taken before m1 is produced.
        before_commit: taken when broker 3 alone is waited for.
    """
    return (
        produce("m0"),
        hold_request(first, follower=2, leader=1, fetch_offset=1),
        hold_request(second, follower=3, leader=1, fetch_offset=2),
        *before_m1,
        produce("m1", acks=Acks.LEADER),
        await_hold(second),
        produce("m2", acks=Acks.LEADER),
        release(first),
        *before_commit,
        hold_request(third, follower=3, leader=1, fetch_offset=3),
        release(second),
        await_hold(third),
        checkpoint(answered),
        release(third),
        checkpoint("end"),
    )


CARRIED = Scenario(
    name="HW-12",
    explanation=(
        "Broker 3's fetch at 2 is the word that commits m1, and there is m2 to answer it with at once. Is the new high "
        "watermark in that answer? In 1.0.0, 1.0.1 and 1.1.0 only: there broker 3 knows of 2 before it fetches again."
    ),
    questions=(
        Question(
            "the high watermark in the answer to broker 3's fetch at 2",
            lambda _, prediction: high_watermark(prediction, ANSWERED, 3),
            high_watermark_with(2, follower=3, leader=1),
        ),
    ),
    schedule=Schedule(
        id="high-watermark/an-immediate-answer-carries-the-one-of-before",
        requirement=(
            "An immediate fetch answer carries the high watermark of before the update that the same request made; in "
            "1.0.0, 1.0.1 and 1.1.0 the one after it."
        ),
        sources=("HW-12", "KAFKA-5758", "KAFKA-7104", "001"),
        replicas=brokers(1, 2, 3),
        steps=fetch_that_commits(
            "fetch(1) of 2",
            "fetch(2) of 3",
            "fetch(3) of 3",
            answered=ANSWERED,
            before_m1=(await_hold("fetch(1) of 2"),),
            before_commit=(checkpoint("the leader waits for broker 3 alone"),),
        ),
    ),
)

SCENARIOS = (WAITS, CARRIED)
