"""What becomes of a record when the ISR falls below min.insync.replicas after the append?

Up to 3.6 the high watermark follows the smaller ISR; from 3.7 on it stands still (KAFKA-15583).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
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

if TYPE_CHECKING:
    from oracle.steps.step import Step

SETTINGS = TopicSettings(min_insync_replicas=2, unclean_leader_election=False)


def joined_again() -> tuple[Step, ...]:
    """Have broker 2 back in the ISR."""
    return start(2), await_isr(1, 2)


AFTER_APPEND = Scenario(
    name="AC-05",
    explanation=(
        "m1 waits for broker 2, which dies. Up to 3.6 the leader commits m1 alone and tells the producer that too few "
        "have it: NOT_ENOUGH_REPLICAS_AFTER_APPEND. From 3.7 on the high watermark is frozen, and the producer's time "
        "runs out. Either way m1 is there in the end."
    ),
    schedule=Schedule(
        id="produce/isr-shrinks-below-the-minimum-after-the-append",
        requirement=(
            "When the ISR falls below min.insync.replicas after the append, the producer is answered "
            "NOT_ENOUGH_REPLICAS_AFTER_APPEND while the record becomes visible (up to 3.6), or waits until its time is "
            "up while the high watermark stands still (from 3.7)."
        ),
        sources=("AC-05", "AC-03", "003", "KAFKA-15583"),
        replicas=brokers(1, 2),
        settings=SETTINGS,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1),
            await_hold("silence"),
            produce("m1", expect=Expectation.PENDING, timeout_ms=12_000),
            checkpoint("m1 waits for broker 2"),
            kill(2),
            await_isr(1),
            checkpoint("broker 1 alone is in sync"),
            await_outcome("m1", expect=Expectation.INDETERMINATE),
            checkpoint("the producer knows"),
            produce("m2", expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS"),
            *joined_again(),
            produce("m3"),
            checkpoint("end"),
        ),
    ),
)

BACK_IN_TIME = Scenario(
    name="AC-05/back-in-time",
    explanation=(
        "The same, but broker 2 is back before the producer's time is up. From 3.7 on m1 has waited for it and is "
        "acknowledged; up to 3.6 the producer was told otherwise at the moment when broker 2 left."
    ),
    schedule=Schedule(
        id="produce/replica-is-back-before-the-time-is-up",
        requirement=(
            "From 3.7 on a produce that waits while the ISR is below the minimum is acknowledged if the replicas are "
            "back in time; before, it has failed already."
        ),
        sources=("AC-05", "AC-06", "003", "KAFKA-15583"),
        replicas=brokers(1, 2),
        settings=SETTINGS,
        steps=(
            produce("m0"),
            hold_request("silence", follower=2, leader=1),
            await_hold("silence"),
            produce("m1", expect=Expectation.ANY, timeout_ms=60_000),
            kill(2),
            await_isr(1),
            checkpoint("broker 1 alone is in sync"),
            *joined_again(),
            await_outcome("m1"),
            checkpoint("end"),
        ),
    ),
)

SCENARIOS = (AFTER_APPEND, BACK_IN_TIME)
