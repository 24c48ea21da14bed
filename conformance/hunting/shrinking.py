"""How short can a finding be? Steps, records, replicas and settings are taken away for as long as it is still shown.

Greedy: halves of the steps first, then quarters, and so on down to single steps, each from the end; then what the
schedule is about, made plainer. Whatever is left is taken on the model anew (``legal_steps.retaken``), so that a step
that names what is gone falls away with it. Who shrinks says whether a schedule still shows the finding: the model, in
which that takes no time, or brokers.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

from conformance.hunting.legal_steps import DroppedError, retaken
from oracle.schedule import TopicSettings
from oracle.steps.frames import Hold
from oracle.steps.produce import Produce
from oracle.vocabulary import HighWatermarkCheckpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.steps.step import Step

    Size = tuple[int, int]

Whole = TypeVar("Whole")


def size_of(schedule: Schedule) -> Size:
    """Return how large a schedule is: its steps; then its records, replicas, and what else is not as by default."""
    settings, plain = schedule.settings, TopicSettings()
    changed = sum(getattr(settings, one.name) != getattr(plain, one.name) for one in fields(plain))
    offsets = sum(isinstance(step, Hold) and step.fetch_offset is not None for step in schedule.steps)
    is_unusual = schedule.checkpointing is not HighWatermarkCheckpoint.PROMPT
    return len(schedule.steps), len(schedule.labels()) + len(schedule.replicas) + changed + offsets + is_unusual


def identity(schedule: Schedule) -> Hashable:
    """Return what two schedules have in common that are run alike."""
    return schedule.steps, schedule.replicas, schedule.settings, schedule.checkpointing


def shrunk(schedule: Schedule, rules: RuleSet, is_shown: Callable[[Schedule], bool]) -> Schedule:
    """Return the smallest schedule found that still shows a finding; itself if nothing can be taken away.

    Args:
        schedule: shows the finding.
        rules: by which every smaller one must be possible.
        is_shown: tells whether another schedule shows it too. Once it is out of time it says no.
    """
    tried: set[Hashable] = set()

    def is_new_and_shown(smaller: Schedule) -> bool:
        key = identity(smaller)
        if key in tried:
            return False
        tried.add(key)
        return is_shown(smaller)

    while (smaller := _one_round(schedule, rules, is_new_and_shown)) is not schedule:
        schedule = smaller
    return schedule


def parts_left_out(
    whole: Whole, length_of: Callable[[Whole], int], without: Callable[[Whole, int, int], Whole]
) -> Whole:
    """Leave out halves, then quarters, and so on down to single parts, each from the end; the last part stays.

    Args:
        whole: a schedule, or the acts of a script.
        length_of: says how many parts it has.
        without: returns it without the parts from one place up to another if that shows the finding still, else itself.
    """
    length = max(1, length_of(whole) // 2)
    while length:
        end = length_of(whole) - 1
        while end > 0:
            start = max(0, end - length)
            whole = without(whole, start, end)
            end = min(start, length_of(whole) - 1)
        length //= 2
    return whole


def _one_round(schedule: Schedule, rules: RuleSet, is_shown: Callable[[Schedule], bool]) -> Schedule:
    def without(known: Schedule, start: int, end: int) -> Schedule:
        fewer = replace(known, steps=(*known.steps[:start], *known.steps[end:]))
        return _if_shown(fewer, known, rules, is_shown)

    schedule = parts_left_out(schedule, lambda known: len(known.steps), without)
    for plainer in _plainer(schedule):
        schedule = _if_shown(plainer, schedule, rules, is_shown)
    return schedule


def _if_shown(
    candidate: Schedule, schedule: Schedule, rules: RuleSet, is_shown: Callable[[Schedule], bool]
) -> Schedule:
    """Return a candidate, with its end brought back, if it is smaller and shows the finding; else the schedule."""
    try:
        smaller = retaken(candidate, rules)
    except DroppedError:
        return schedule
    return smaller if size_of(smaller) < size_of(schedule) and is_shown(smaller) else schedule


def _plainer(schedule: Schedule) -> Iterator[Schedule]:
    """Yield each way to make a schedule plainer without a step less."""
    if len(schedule.replicas) > 1:
        yield replace(schedule, replicas=schedule.replicas[:-1])
    for one in fields(TopicSettings):
        plain = getattr(TopicSettings(), one.name)
        if getattr(schedule.settings, one.name) != plain:
            yield replace(schedule, settings=replace(schedule.settings, **{one.name: plain}))
    if schedule.checkpointing is not HighWatermarkCheckpoint.PROMPT:
        yield replace(schedule, checkpointing=HighWatermarkCheckpoint.PROMPT)
    for index, step in enumerate(schedule.steps):
        for plain_step in _plainer_steps(step):
            yield replace(schedule, steps=(*schedule.steps[:index], plain_step, *schedule.steps[index + 1 :]))


def _plainer_steps(step: Step) -> Iterator[Step]:
    if isinstance(step, Produce) and len(step.records) > 1:
        yield replace(step, records=step.records[:1])
    if isinstance(step, Hold) and step.fetch_offset is not None:
        yield replace(step, fetch_offset=None)
