"""How can a person look at a run without changing it? At rest nothing moves, but some clocks go on.

A broker gives up a held frame, a client a record that waits for its answer, and under ``timing: lag`` a silent
follower leaves the in-sync replicas. A run that is looked at is *unhurried*: its brokers wait for an hour, its clients
as long as they can. What ends all the same, and when, a standstill says itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from fault_injection.cluster.spec import PATIENCE_S, Timing
from oracle.steps.brokers import Isolate, Pause
from oracle.steps.frames import CutLink
from oracle.steps.produce import PRODUCE_TIMEOUT_MS, AwaitOutcome, Produce
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers
    from fault_injection.cluster.spec import ClusterSpec
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId, Label

UNHURRIED_S = 3_600
"""How long brokers wait for a held answer while somebody looks at them."""
USUAL_TIMEOUT_MS = 30_000
"""What a schedule that says nothing gives a record: nothing of it rests on that time."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What ends by itself, and when.

    Attributes:
        at: monotonic seconds.
        why: what ends then, as a clause.
    """

    at: float
    why: str


@dataclass(frozen=True, slots=True)
class StandingFrame:
    """A frame that stands in the gate.

    Attributes:
        name: its hold's.
        text: which frame, in words.
        since: monotonic seconds.
    """

    name: str
    text: str
    since: float


@dataclass(frozen=True, slots=True)
class Standstill:
    """A run at rest at a checkpoint.

    Attributes:
        step: the checkpoint's, from 0.
        measured: its numbers.
        held: the frames that stand in the gate.
        pending: the records that wait for their answer.
        limits: what ends by itself, the first one first.
        measure: reads the numbers again.
    """

    step: int
    measured: MeasuredCheckpoint
    held: tuple[StandingFrame, ...]
    pending: tuple[Label, ...]
    limits: tuple[Limit, ...]
    measure: Callable[[], MeasuredNumbers]


def limits_of(
    began: float,
    spec: ClusterSpec,
    waited_for: Mapping[str, float],
    pending: Mapping[Label, float],
    leaving: Mapping[BrokerId, float],
) -> tuple[Limit, ...]:
    """Return what ends by itself, the first one first; all times are monotonic seconds.

    Args:
        began: when the run did.
        spec: of its cluster.
        waited_for: by what somebody waits for, since when.
        pending: when records that wait for their answers are given up.
        leaving: when followers that are silent may leave the in-sync replicas.
    """
    limits = [Limit(since + spec.patience_s, f"who waits for {what} gives up") for what, since in waited_for.items()]
    limits += [Limit(at, f"{label} is given up by its client") for label, at in pending.items()]
    limits += [Limit(at, f"broker {broker} may leave the in-sync replicas") for broker, at in leaving.items()]
    if spec.timing is Timing.SESSION:
        limits.append(Limit(began + spec.lag_s, "the lag time passes"))
    return tuple(sorted(limits, key=lambda limit: limit.at))


Look: TypeAlias = "Callable[[RunDirectory, Standstill], None]"
"""Shows a person how a run stands; the run goes on when it returns."""


@dataclass(slots=True)
class TimedLook:
    """A look that knows how long it has held a run up: that is no time of the run.

    Attributes:
        seconds: all looks together.
    """

    look: Look
    seconds: float = 0.0

    def __call__(self, run: RunDirectory, still: Standstill) -> None:
        """Show how a run stands."""
        began = time.monotonic()
        try:
            self.look(run, still)
        finally:
            self.seconds += time.monotonic() - began


def patience(schedule: Schedule) -> dict[str, int]:
    """Return for how long brokers of an unhurried run wait, as fields of their ``ClusterSpec``.

    Where brokers stand still or are cut off, others wait for them in vain, and a schedule for those: as long as usual.
    """
    obstructs = any(isinstance(step, Pause | CutLink | Isolate) for step in schedule.steps)
    return {"patience_s": PATIENCE_S if obstructs else UNHURRIED_S, "lag_s": 2 * UNHURRIED_S}


def unhurried(schedule: Schedule) -> Schedule:
    """Return a schedule whose records wait for their answers as long as a client can.

    Only those that are left pending, with the usual time, and that no step waits for unless they are acknowledged.
    """
    hurried = frozenset(_given_up(schedule.steps))
    return replace(schedule, steps=tuple(_unhurried(step, hurried) for step in schedule.steps))


def _given_up(steps: Sequence[Step]) -> Iterator[Label]:
    """Yield the records whose time may have to pass before a step goes on."""
    for step in steps:
        if isinstance(step, AwaitOutcome) and step.expect is not Expectation.ACKNOWLEDGED:
            yield from step.records


def _unhurried(step: Step, hurried: frozenset[Label]) -> Step:
    if not isinstance(step, Produce) or step.expect is not Expectation.PENDING or hurried & {*step.records}:
        return step
    return replace(step, timeout_ms=PRODUCE_TIMEOUT_MS.greatest) if step.timeout_ms == USUAL_TIMEOUT_MS else step
