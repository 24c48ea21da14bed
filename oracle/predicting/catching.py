"""Will every hold catch its frame on real brokers too? If that is not certain, no broker starts.

A hold that never meets a frame ends a run in an error of the tester: what was to be tried was not tried. And a
follower that has everything fetches all the time, up to twice a second and no rule says when: a hold that counts its
frames (``nth``) may have counted few or many of these by the next step, so that step has to await it.

Sources: AbstractFetcherThread.doWork, DelayedFetch (replica.fetch.wait.max.ms); architecture, "Contract of a step" 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.predicting.assumptions import what_passes
from oracle.steps.frames import AwaitHold, Hold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import AwaitIsr, AwaitLeader, Checkpoint

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from oracle.steps.step import Step
    from oracle.world import World

LOOKS_ONLY = (Checkpoint, AwaitLeader, AwaitIsr)
"""Steps that change nothing, so that it does not matter whether a hold has caught its frame before them."""


def check_met(steps: Sequence[Step], ends: Sequence[World]) -> None:
    """Refuse holds that catch no frame on any way through the schedule.

    Raises:
        ScheduleError: names the hold's step, and says what there is instead.
    """
    for index, step in enumerate(steps):
        if isinstance(step, Hold) and not any(step.name in end.gate.met for end in ends):
            message = f"hold {step.name!r} never catches a frame: {_instead(step, ends[0])}"
            raise ScheduleError(message, step=index, field="name")


def _instead(hold: Hold, end: World) -> str:
    armed = end.gate.named(hold.name)
    return "none comes before its connection ends" if armed is None else what_passes(end, armed)


def check_awaited(steps: Sequence[Step], index: int, met: Collection[str], worlds: Sequence[World]) -> None:
    """Refuse a step that brings a counted frame into the gate, and that is not followed by an await of it.

    Args:
        steps: of the whole schedule.
        index: of the step that was taken last.
        met: the holds that had caught a frame before it.
        worlds: where it has led, on every way.

    Raises:
        ScheduleError: names the hold's step, and the step after which it must be awaited.
    """
    later = (step for step in steps[index + 1 :] if not isinstance(step, LOOKS_ONLY))
    following = next(later, None)
    for world in worlds:
        for armed in world.gate.holds:
            name = armed.hold.name
            is_new = armed.caught and armed.hold.nth > 1 and name not in met
            if is_new and following != AwaitHold(name):
                message = (
                    f"hold {name!r} counts fetches that bring nothing too, and no rule says how many come by the step "
                    f"after step {index + 1}: an await_hold of it must follow there"
                )
                raise ScheduleError(message, step=steps.index(armed.hold), field="nth")
