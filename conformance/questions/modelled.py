"""What does the model say between the numbers of a prediction? Its states, one after each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.predict import initial_world, take
from oracle.steps.waits import Checkpoint

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule
    from oracle.world import World


def worlds(schedule: Schedule, rules: RuleSet) -> tuple[World, ...]:
    """Return the model after its creation and after each step; for schedules without an open race only."""
    after = [initial_world(schedule, rules, schedule.brokers)]
    for step in schedule.steps:
        after.append(take(after[-1], step))
    return tuple(after)


def worlds_at_checkpoints(schedule: Schedule, rules: RuleSet) -> tuple[World, ...]:
    """Return the model at each checkpoint, in their order."""
    after = worlds(schedule, rules)[1:]
    return tuple(world for world, step in zip(after, schedule.steps, strict=True) if isinstance(step, Checkpoint))


def has_epochs(rules: RuleSet) -> bool:
    """Tell whether a release's logs have leader epochs (KIP-101)."""
    return not rules.truncation.cuts_to_high_watermark
