"""Which schedule does a test start from? One that is right, to be made wrong in one place."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.schedule import Schedule, TopicSettings
from oracle.steps.brokers import Kill, Start
from oracle.steps.frames import AwaitHold, Close, DelayFrame, Drop, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.topic import Reassign
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, Expectation, HighWatermarkCheckpoint, Label, Offset, PointName, Timing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.steps.step import Step

ONE, TWO, THREE, NINE = BrokerId(1), BrokerId(2), BrokerId(3), BrokerId(9)
LOOKUP = PointName.OFFSETS_FOR_LEADER_EPOCH_REQUEST


def schedule(
    *steps: Step,
    replicas: tuple[BrokerId, ...] = (ONE, TWO),
    min_isr: int = 1,
    unclean: bool = False,
    timing: Timing = Timing.SESSION,
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT,
    settings: TopicSettings | None = None,
) -> Schedule:
    """Return a schedule of these steps."""
    settings = settings or TopicSettings(min_isr, unclean)
    return Schedule("test", "A sentence.", (), replicas, steps, settings, timing, checkpointing)


def produce(
    *labels: str, acks: Acks = Acks.ALL, expect: Expectation = Expectation.ACKNOWLEDGED, error: str | None = None
) -> Produce:
    """Return a produce step."""
    return Produce(tuple(Label(label) for label in labels), acks, expect, error)


def hold(
    name: str,
    point: PointName = PointName.FETCH_REQUEST,
    *,
    follower: BrokerId = TWO,
    leader: BrokerId = ONE,
    fetch_offset: int | None = None,
    nth: int = 1,
) -> Hold:
    """Return a hold step on the link from broker 2 to broker 1."""
    return Hold(name, point, follower, leader, None if fetch_offset is None else Offset(fetch_offset), nth)


def restarted_with_held_lookup() -> Schedule:
    """Return a schedule that holds OffsetsForLeaderEpoch when broker 2 comes back."""
    return schedule(produce("m0"), Kill(TWO), hold("lookup", LOOKUP), Start(TWO), AwaitHold("lookup"))


def moved_unheard(point: PointName) -> Schedule:
    """Return a schedule that adds broker 2, of which leader 1 hears late: what it is told is held at a point."""
    held = Hold("told", point, broker=ONE)
    steps = (produce("m0"), held, Reassign((TWO, ONE)), Checkpoint("moving"), ReleaseHold("told"), Checkpoint("moved"))
    return schedule(*steps, replicas=(ONE,))


GATE_STEPS = (Hold, DelayFrame, AwaitHold, ReleaseHold, Drop, Close)


def without_holds(schedule: Schedule) -> Schedule:
    """Return the baseline control: the same steps with no gate, expecting nothing of produces."""
    return replace(schedule, id=f"{schedule.id}/without-holds", steps=tuple(_ungated(schedule.steps)))


def _ungated(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        if isinstance(step, Produce | AwaitOutcome):
            yield replace(step, expect=Expectation.ANY, error=None)
        elif not isinstance(step, GATE_STEPS):
            yield step
