"""Which frames did the gate freeze, and until when? Pairs of timeline events, named by the schedule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reports.run_files import whole
from reports.step_prose import frame_words
from reports.story import CONTROLLER, HeldFrame, Instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.story import Step

_ENDINGS = {
    "hold_released": "released",
    "hold_discharged": "discharged",
    "hold_dropped": "dropped",
    "hold_closed": "closed",
}


def load_held_frames(events: Sequence[Mapping[str, Any]], steps: Sequence[Step]) -> tuple[HeldFrame, ...]:
    """Return every frame that was caught; one that never ended is held to the end of the run."""
    armed = {step.arguments.get("name"): step.arguments for step in steps if step.verb == "hold"}
    frames = []
    for position, event in enumerate(events):
        if event.get("event") == "hold_caught":
            ended = _ending(events[position + 1 :], event.get("subject"))
            frames.append(_frame(event, ended, armed.get(event.get("subject"), {})))
    return tuple(frame for frame in frames if frame is not None)


def _ending(later: Sequence[Mapping[str, Any]], name: object) -> Mapping[str, Any] | None:
    for event in later:
        if event.get("event") in _ENDINGS and event.get("subject") == name:
            return event
    return None


def _frame(caught: Mapping[str, Any], ended: Mapping[str, Any] | None, hold: Mapping[str, Any]) -> HeldFrame | None:
    follower, leader = _ends(caught, hold)
    if follower is None or leader is None:
        return None
    point = str(hold.get("point") or caught.get("point") or "fetch_request")
    ending = _ENDINGS[ended["event"]] if ended else "still held"
    return HeldFrame(
        name=str(caught.get("subject") or ""),
        point=point,
        label=f"{frame_words(point, _fetch_offset(caught, hold))} held",
        follower=int(follower),
        leader=int(leader),
        is_from_follower=point.endswith("request"),
        caught=_at(caught),
        ended=_at(ended) if ended else None,
        ending=ending,
    )


def _ends(caught: Mapping[str, Any], hold: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return follower and leader; of a controller's channel the broker and the controller."""
    broker = caught.get("broker", hold.get("broker"))
    if broker is not None:
        return int(broker), CONTROLLER
    return caught.get("follower", hold.get("follower")), caught.get("leader", hold.get("leader"))


def _fetch_offset(caught: Mapping[str, Any], hold: Mapping[str, Any]) -> object:
    """Return the offset that was really caught, or the one the schedule asked for."""
    for name in ("fetch_offset", "offset"):
        if caught.get(name) is not None:
            return caught[name]
    said = re.search(r"(?:FETCH\(|fetch offset )(\d+)", str(caught.get("text") or ""), re.IGNORECASE)
    return said.group(1) if said else hold.get("fetch_offset")


def _at(event: Mapping[str, Any]) -> Instant:
    return Instant(int(event.get("step") or 0), whole(event.get("t_ns")))
