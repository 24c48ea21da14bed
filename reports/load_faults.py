"""Which faults were injected in which step, and what proves that each fired? From the timeline's typed marks.

A hold is known by its name: a step arms it, and the frame that it caught, then or later, proves it. Any other fault is
known by its number. What ends a fault is known by the step in which it was healed. Where nothing was written down, the
proof says so. Runs of before tell of holds as of every fault, and are read like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.timeline import Event
from reports.story import ProofView

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from conformance.record.timeline import FrameOfFault, TimelineMark
    from reports.story import StepView


def proofs_of(timeline: Sequence[TimelineMark], steps: Sequence[StepView], partition: str) -> tuple[ProofView, ...]:
    """Return what shows of every fault that it fired, or was taken back, in the order of the steps.

    Args:
        timeline: what was done when.
        steps: the steps of the schedule; one that was never taken needs no proof.
        partition: the partition as faults name it, which a reader need not be told.
    """
    fired = {mark.number: mark for mark in timeline if mark.event is Event.FAULT_FIRED}
    found: list[ProofView] = []
    for step in steps:
        if step.taken.injects:
            armed = [mark for mark in timeline if mark.event is Event.FAULT_ARMED and mark.step == step.index]
            own = [_proof(step, fired.get(mark.number)) for mark in armed] or _held(timeline, step)
        elif step.taken.takes_back:
            own = [_proof(step, mark) for mark in _taken_back(timeline, step)]
        else:
            continue
        found += own or _missing(step)
    return tuple(found) if not partition else tuple(proof.without(partition) for proof in found)


def _held(timeline: Sequence[TimelineMark], step: StepView) -> list[ProofView]:
    """Return which frames the holds caught that a step armed."""
    armed = [mark.subject for mark in timeline if mark.event is Event.HOLD_ARMED and mark.step == step.index]
    caught = {mark.subject: mark for mark in timeline if mark.event is Event.HOLD_CAUGHT and mark.frame is not None}
    return [_proof(step, caught.get(name)) for name in armed]


def _taken_back(timeline: Sequence[TimelineMark], step: StepView) -> Iterable[TimelineMark]:
    """Return what healed the faults; where a broker has come back, that it is registered says more."""
    in_step = [mark for mark in timeline if mark.step == step.index]
    if step.taken.leaves == Event.BROKER_STARTED:
        return (mark for mark in in_step if mark.event is Event.BROKER_STARTED)
    return (mark for mark in in_step if mark.event is Event.FAULT_HEALED and mark.subject in step.taken.takes_back)


def _missing(step: StepView) -> list[ProofView]:
    """Return that nothing proves a step that was taken."""
    return [] if step.finished_ns is None else [ProofView(step.index)]


def _proof(step: StepView, shown: TimelineMark | None) -> ProofView:
    if shown is None:
        return ProofView(step.index)
    at_ns = shown.t_ns if shown.at_ns is None else shown.at_ns
    return ProofView(step.index, shown.text if shown.frame is None else _frame_words(shown.frame), at_ns)


def _frame_words(frame: FrameOfFault) -> str:
    offset = "" if frame.offset is None else f" at offset {frame.offset}"
    return f"it caught {frame.api} {frame.direction} {frame.correlation_id} of connection {frame.connection}{offset}"
