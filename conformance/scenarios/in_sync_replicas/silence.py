"""How does a follower fall silent until its leader removes it, and come back? Steps that several rows share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_lag,
    await_outcome,
    checkpoint,
    hold_request,
    produce,
    release,
)
from oracle.vocabulary import Acks, Expectation

if TYPE_CHECKING:
    from oracle.steps.frames import Hold
    from oracle.steps.produce import Produce
    from oracle.steps.step import Step

SILENT_LINK = hold_request("silence", follower=2, leader=1)
"""The fetch of broker 2 that its leader does not see."""

REMOVED = "broker 2 has left the ISR"
"""The checkpoint after that."""


def silent_until_removed(record: Produce, removed: str, silence: Hold = SILENT_LINK) -> tuple[Step, ...]:
    """Have broker 2 replicate m0, miss another record, and leave the ISR; measure a checkpoint then."""
    return (
        produce("m0"),
        silence,
        await_hold(silence.name),
        record,
        await_lag(2),
        await_isr(1),
        checkpoint(removed),
    )


def removed_while_a_record_waits(removed: str, silence: Hold = SILENT_LINK) -> tuple[Step, ...]:
    """Have m1 wait for broker 2 until that has left the ISR, and be acknowledged when m2 is appended at the latest."""
    return (
        *silent_until_removed(produce("m1", expect=Expectation.PENDING), removed, silence),
        produce("m2"),
        await_outcome("m1", expect=Expectation.ACKNOWLEDGED),
    )


def removed_without(record: str) -> tuple[Step, ...]:
    """Have broker 2 leave the ISR for a record that its leader alone has."""
    return silent_until_removed(produce(record, acks=Acks.LEADER), REMOVED)


def heard_again(*records: Produce, silence: Hold = SILENT_LINK) -> tuple[Step, ...]:
    """Have broker 2 fetch again and join the ISR; produce records and measure the end."""
    return release(silence.name), await_isr(1, 2), *records, checkpoint("end")


HEARD = "everybody has had the time to hear of it"
