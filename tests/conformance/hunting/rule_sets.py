"""Schedules and rules that tests of hunting share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.by_version import one_rule_apart, rules_for
from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start
from oracle.steps.produce import Produce
from oracle.steps.topic import CreateTopic
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, MetadataMode

if TYPE_CHECKING:
    from oracle.steps.step import Step

NEWEST = rules_for("4.4.0", MetadataMode.KRAFT)
OTHERS = one_rule_apart(NEWEST)
ONE, TWO = BrokerId(1), BrokerId(2)
NEEDS_MIN_ISR = "high-watermark-needs-min-isr"
SWAPPED = OTHERS[NEEDS_MIN_ISR]


def sent(label: str, acks: Acks = Acks.LEADER) -> Produce:
    """Return the step that sends a record, whatever becomes of it."""
    return Produce((Label(label),), acks, Expectation.ANY)


def schedule(*steps: Step, minimum: int = 2, replicas: tuple[BrokerId, ...] = (ONE, TWO)) -> Schedule:
    """Return a schedule with a checkpoint at its end."""
    settings = TopicSettings(min_insync_replicas=minimum)
    return Schedule("hunt/told", "Told.", (), replicas, (*steps, Checkpoint("the end")), settings)


LONG = schedule(
    sent("m0"),
    CreateTopic("other"),
    Checkpoint("before"),
    Kill(TWO),
    sent("m1"),
    Checkpoint("alone"),
    Start(TWO),
    sent("m2"),
)
"""A lone leader with two in-sync replicas needed: its high watermark stands still (KAFKA-15583)."""
