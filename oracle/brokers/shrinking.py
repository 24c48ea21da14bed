"""How short can a counterexample be? Steps are taken away for as long as the model still shows the defect.

Greedy, from the end, until no single removal keeps it: hold by hold (with everything that names
it), step by step, also with a hold that meets no frame any more, then the offsets that holds ask
for. What is left is written out in full, with awaits and outcomes, by ``telling``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from oracle.brokers.defects import defects, is_determined
from oracle.brokers.telling import with_awaits
from oracle.predict import predict
from oracle.predicting.assumptions import UnmetAssumptionError
from oracle.schedule import ScheduleError
from oracle.steps import Hold, Produce
from oracle.vocabulary import Label
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from oracle.brokers.defects import Defect
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps import Step


def shrunk(steps: tuple[Step, ...], partition: Schedule, rules: RuleSet, defect: Defect) -> Schedule | None:
    """Return the shortest schedule found with the defect, or None if the steps do not show it at all."""
    schedule = _shown(steps, partition, rules, defect)
    while schedule is not None:
        shorter = _shorter(steps, partition, rules, defect)
        if shorter is None:
            return schedule
        steps, schedule = shorter
    return None


def _shorter(
    steps: tuple[Step, ...], partition: Schedule, rules: RuleSet, defect: Defect
) -> tuple[tuple[Step, ...], Schedule] | None:
    for fewer in _smaller(steps):
        schedule = _shown(fewer, partition, rules, defect)
        if schedule is not None:
            return fewer, schedule
    return None


def _shown(steps: tuple[Step, ...], partition: Schedule, rules: RuleSet, defect: Defect) -> Schedule | None:
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
