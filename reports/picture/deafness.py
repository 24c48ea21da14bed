"""Which broker has not heard who leads? One whose frame from or to the controller is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.story import HeldFrame, Story

_TELL_OF_LEADERS = frozenset({"leader_and_isr", "controller_fetch_request", "controller_fetch_response"})


def is_deaf(story: Story, broker: int, step: int) -> bool:
    """Say whether a broker waits, at the end of a step, for a held frame that tells who leads."""
    return any(_deafens(frame, broker, step) for frame in story.held_frames)


def believes_to_lead(story: Story, broker: int, step: int) -> bool:
    """Say whether a broker led when the frame was caught that would tell it of its successor."""
    return any(_deafens(frame, broker, step) and _led_before(story, broker, frame) for frame in story.held_frames)


def _deafens(frame: HeldFrame, broker: int, step: int) -> bool:
    is_ended = frame.ended is not None and frame.ended.step <= step
    is_caught = frame.point in _TELL_OF_LEADERS and frame.caught.step <= step
    return frame.follower == broker and is_caught and not is_ended


def _led_before(story: Story, broker: int, frame: HeldFrame) -> bool:
    leaders = [moment.leader for moment in story.measured if moment.step < frame.caught.step]
    return bool(leaders) and leaders[-1] == broker
