"""How short can a counterexample be? Steps are taken away for as long as the model still shows the defect.

Greedy, from the end, until no single removal keeps it: hold by hold (with everything that names it), step by
step, also with a hold that meets no frame any more, then the offsets that holds ask for. What is left is written out in
full, with awaits and outcomes (``with_awaits``).
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING

from oracle.guarantees import PromiseVerdict
from oracle.predict import initial_world, predict
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.predicting.step_effects import take
from oracle.steps.brokers import Start
from oracle.steps.frames import AwaitHold, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitIsr, Checkpoint
from oracle.vocabulary import Acks, Expectation, Fate, Label
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.prediction import Prediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step
    from oracle.vocabulary import BrokerId
    from oracle.world import World


class PartitionDefect(StrEnum):
    """What can be wrong with a partition that has come to rest."""

    PROMISE_BROKEN = "an acknowledged record is lost although the settings promise it"
    ACKNOWLEDGED_LOST = "an acknowledged record is lost"
    COMMITTED_LOST = "a committed record is lost"
    DIVERGED = "two replicas disagree below both their high watermarks"


def defects(prediction: Prediction) -> frozenset[PartitionDefect]:
    """Return everything that is wrong at the end of a predicted schedule."""
    promises = {record.promise.verdict for record in prediction.records}
    lost = {PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS}
    found = {
        PartitionDefect.PROMISE_BROKEN: PromiseVerdict.BROKEN in promises,
        PartitionDefect.ACKNOWLEDGED_LOST: bool(promises & lost),
        PartitionDefect.COMMITTED_LOST: any(record.fate is Fate.LOST for record in prediction.records),
        PartitionDefect.DIVERGED: bool(prediction.diverged),
    }
    return frozenset(defect for defect, is_there in found.items() if is_there)


def is_determined(prediction: Prediction) -> bool:
    """Return whether the schedule leaves no race open."""
    return not prediction.races and all(record.fate is not Fate.UNDETERMINED for record in prediction.records)


def shrunk(steps: tuple[Step, ...], partition: Schedule, rules: RuleSet, defect: PartitionDefect) -> Schedule | None:
    """Return the shortest schedule found with the defect, or None if the steps do not show it at all."""
    schedule = showing(steps, partition, rules, defect)
    while schedule is not None:
        shorter = _shorter(steps, partition, rules, defect)
        if shorter is None:
            return schedule
        steps, schedule = shorter
    return None


def _shorter(
    steps: tuple[Step, ...], partition: Schedule, rules: RuleSet, defect: PartitionDefect
) -> tuple[tuple[Step, ...], Schedule] | None:
    for fewer in _smaller(steps):
        schedule = showing(fewer, partition, rules, defect)
        if schedule is not None:
            return fewer, schedule
    return None


def showing(steps: tuple[Step, ...], partition: Schedule, rules: RuleSet, defect: PartitionDefect) -> Schedule | None:
    """Return the whole schedule if it is possible, leaves no race open and shows the defect."""
    try:
        schedule = replace(partition, steps=with_awaits(_renamed(steps), partition, rules))
        prediction = predict(schedule, rules)
    except (ImpossibleEventError, UnmetAssumptionError, ScheduleError):
        return None
    return schedule if is_determined(prediction) and defect in defects(prediction) else None


def _smaller(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Return each way to take one thing away."""
    for index in reversed(range(len(steps))):
        gone = steps[index]
        fewer = _without(steps, gone)
        yield fewer
        yield from (_without(fewer, hold) for hold in fewer if isinstance(hold, Hold))
        if isinstance(gone, Hold):
            yield from _with_later_produce(fewer)
    for index, step in enumerate(steps):
        if isinstance(step, Hold) and step.fetch_offset is not None:
            yield (*steps[:index], replace(step, fetch_offset=None), *steps[index + 1 :])


def _without(steps: tuple[Step, ...], gone: Step) -> tuple[Step, ...]:
    """Return the steps without one of them, and without those that name it if it is a hold."""
    return tuple(step for step in steps if step is not gone and not _names(step, gone))


def _names(step: Step, hold: Step) -> bool:
    return isinstance(hold, Hold) and getattr(step, "name", None) == hold.name


def _with_later_produce(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Return each way to send one record a step later: what a hold kept from a broker, its death does too."""
    for index, (step, following) in enumerate(pairwise(steps)):
        if isinstance(step, Produce):
            yield (*steps[:index], following, step, *steps[index + 2 :])


def _renamed(steps: Sequence[Step]) -> list[Step]:
    """Number the records that are left."""
    labels = [label for step in steps if isinstance(step, Produce) for label in step.records]
    numbers = {label: Label(f"m{number}") for number, label in enumerate(labels)}
    return [
        replace(step, records=tuple(numbers[label] for label in step.records)) if isinstance(step, Produce) else step
        for step in steps
    ]


# What does a bare schedule leave unsaid? Which frames are caught when, what producers learn, how it ends.
#
# The model runs along. At the end every link is let go and every broker is started, so that the
# topic can be read; where replicas would stay out of the ISR, one more record is sent before that.


def with_awaits(
    steps: Sequence[Step], partition: Schedule, rules: RuleSet, *, may_send: bool = True
) -> tuple[Step, ...]:
    """Return a whole schedule's steps.

    Args:
        steps: what happens, without awaits.
        partition: replicas and settings; its steps are not looked at.
        rules: the rules under which it happens.
        may_send: whether one more record may be sent where replicas would stay out of the ISR.

    Raises:
        ImpossibleEventError: a step that the rules do not allow.
        UnmetAssumptionError: a step that assumes what does not come.
    """
    endings = [_ScheduleSoFar(steps, partition, rules) for _ in range(1 + may_send)]
    for telling, has_record in zip(endings, (False, True), strict=False):
        telling.finish(has_record=has_record)
        if telling.is_whole():
            return tuple(telling.steps)
    return tuple(endings[0].steps)


class _ScheduleSoFar:
    """The steps told so far, and where the model stands after them."""

    def __init__(self, steps: Sequence[Step], partition: Schedule, rules: RuleSet) -> None:
        self._world: World = initial_world(partition, rules, partition.replicas)
        self._replicas: tuple[BrokerId, ...] = partition.replicas
        self._caught: set[str] = set()
        self.steps: list[Step] = []
        for step in steps:
            self._take(step)

    def finish(self, *, has_record: bool) -> None:
        """Let every frame go, start every broker, and end at rest with a checkpoint."""
        self._release_all()
        if has_record:
            self._take(Produce((Label(f"m{len(self._world.state.produces)}"),), Acks.LEADER))
        for broker in self._replicas:
            if not self._world.state.replica(broker).alive:
                self._take(Start(broker))
                self._release_all()
        self.steps += [AwaitIsr(tuple(sorted(self._world.state.controller.isr))), Checkpoint("end")]

    def is_whole(self) -> bool:
        """Return whether every replica is in sync."""
        return len(self._world.state.controller.isr) == len(self._replicas)

    def _take(self, step: Step) -> None:
        """Take a step; say which frames it brought into the gate and what producers learned."""
        waiting = {produce.label for produce in self._world.state.produces if produce.outcome is None}
        self._world = take(self._world, step)
        self.steps.append(self._expecting(step) if isinstance(step, Produce) else step)
        self._await_holds()
        self._await_outcomes(waiting)

    def _expecting(self, step: Produce) -> Produce:
        produce = next(p for p in self._world.state.produces if p.label == step.records[-1])
        if produce.outcome is None:
            return replace(step, expect=Expectation.PENDING)
        return replace(step, expect=Expectation(produce.outcome.value), error=produce.error)

    def _await_holds(self) -> None:
        for armed in self._world.gate.holds:
            name = armed.hold.name
            if armed.caught and name not in self._caught:
                self._caught.add(name)
                self.steps.append(AwaitHold(name))

    def _await_outcomes(self, waiting: set[Label]) -> None:
        for produce in self._world.state.produces:
            if produce.label in waiting and produce.outcome is not None:
                self.steps.append(AwaitOutcome((produce.label,), Expectation(produce.outcome.value), produce.error))

    def _release_all(self) -> None:
        while held := next((armed for armed in self._world.gate.holds if armed.caught), None):
            self._take(ReleaseHold(held.hold.name))
