"""Is a record readable that was produced with acks=1 while the ISR is below min.insync.replicas?

Up to 3.6 the high watermark follows the smaller ISR; from 3.7 on it stands still (KAFKA-15583).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.scenarios.produce_path.ac_05_shrinks_after_append import SETTINGS, joined_again
from conformance.scenarios.vocabulary import await_isr, brokers, checkpoint, kill, produce
from oracle.schedule import Schedule
from oracle.steps.questions import Consume
from oracle.vocabulary import Acks, BrokerId, Offset

if TYPE_CHECKING:
    from oracle.steps.step import Step


def alone_with_a_record(checked: str) -> tuple[Step, ...]:
    """Have broker 1 alone in the ISR append m1 with acks=1, and measure a checkpoint."""
    return produce("m0"), kill(2), await_isr(1), produce("m1", acks=Acks.LEADER), checkpoint(checked)


INVISIBLE = Scenario(
    name="AC-06",
    explanation=(
        "Broker 2 is away, and m1 is produced with acks=1: the leader takes it, whatever the minimum. Up to 3.6 it is "
        "below the high watermark at once and a consumer gets it; from 3.7 on it is invisible until broker 2 is back."
    ),
    schedule=Schedule(
        id="produce/acks-1-below-the-minimum",
        requirement=(
            "From 3.7 on a record produced with acks=1 while the ISR is below min.insync.replicas is not readable "
            "before the ISR has the minimum again; before, it is readable at once."
        ),
        sources=("AC-06", "AC-04", "HW-02", "003", "KAFKA-15583"),
        replicas=brokers(1, 2),
        settings=SETTINGS,
        steps=(
            *alone_with_a_record("m1 is in the leader's log"),
            Consume(BrokerId(1), Offset(1)),
            produce("m2", acks=Acks.LEADER),
            checkpoint("m2 is there too"),
            *joined_again(),
            Consume(BrokerId(1), Offset(1)),
            checkpoint("broker 2 is back"),
        ),
    ),
)

SCENARIOS = (INVISIBLE,)
