"""Which field of a step is to blame that no rule allows? The one that a file's author has to change."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from oracle.step_fields import written_name
from oracle.steps import EndOffsetOfEpoch, ListOffsets, LoseTail, Produce, SendTo

if TYPE_CHECKING:
    from oracle.steps import Step
    from oracle.world import World


def blamed_field(step: Step, world: World) -> str:
    """Return the field, as files name it: mostly the first one, which says what the step is about.

    A lost tail is refused for its offset if its broker is down, a produce for the leader that it names, and a
    question for the broker that is asked.
    """
    if isinstance(step, LoseTail) and not world.state.replica(step.broker).alive:
        return "offset"
    if isinstance(step, Produce):
        return "leader"
    if isinstance(step, ListOffsets | EndOffsetOfEpoch | SendTo):
        return "broker"
    return written_name(fields(step)[0])
