"""Does an answer carry the high watermark that its own request raised?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.questions import ScheduleQuestion
from conformance.catalogue.scenario import Scenario
from conformance.questions.fetch_rounds import (
    high_watermark_with,
)
from conformance.scenarios.vocabulary import (
    await_hold,
    brokers,
    checkpoint,
    high_watermark,
    hold_request,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from oracle.steps.step import Step

ANSWERED = "broker 3 has the answer and has not fetched again"


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
        ScheduleQuestion(
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

SCENARIOS = (CARRIED,)
