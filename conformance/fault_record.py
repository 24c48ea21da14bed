"""What does a run's timeline say of its faults, and which frames came where one waited in vain?

``fault_armed``, ``fault_fired``, ``fault_healed`` and ``fault_heal_failed`` carry the fault's number in the run, the
monotonic time at which it happened (``at_ns``), and the frame that it fired on, if it waited for one.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fault_injection.wire.codec import api_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.recorder import Recorder
    from fault_injection.timeline import FaultEvent
    from fault_injection.wire.points import Point

LAST_FRAMES = 3


def on_timeline(recorder: Recorder) -> Callable[[FaultEvent], None]:
    """Give the function that puts a fault's stages on a run's timeline."""

    def mark(event: FaultEvent) -> None:
        frame = None if event.frame is None else asdict(event.frame)
        recorder.mark(
            f"fault_{event.stage.value}", event.fault, event.text, number=event.number, at_ns=event.at_ns, frame=frame
        )

    return mark


def came_instead(trace: Path, point: Point, since_ns: int) -> str:
    """Say which last frames of a point's request passed between its two ends, out of a run's wire trace."""
    last: deque[str] = deque(maxlen=LAST_FRAMES)
    seen = 0
    for frame in _frames(trace):
        if frame.get("arrived_ns", 0) >= since_ns and _is_of(point, frame):
            seen += 1
            last.append(_named(frame))
    where = f"{api_name(point.kind.api_key)} between {_end(point.source)} and {_end(point.destination)}"
    return f"{seen} frames of {where} came meanwhile" + (f", the last ones: {', '.join(last)}" if last else "")


def _end(broker: int | None) -> str:
    return "anybody" if broker is None else f"broker {broker}"


def _frames(trace: Path) -> Iterator[dict[str, Any]]:
    """Give the frames of a trace that is still being written: its last line may be cut."""
    if not trace.exists():
        return
    with trace.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:
                return


def _is_of(point: Point, frame: dict[str, Any]) -> bool:
    return (
        frame.get("api_key") == point.kind.api_key
        and point.source in (None, frame.get("source"))
        and point.destination in (None, frame.get("destination"))
    )


def _named(frame: dict[str, Any]) -> str:
    partitions = (frame.get("decoded") or {}).get("partitions") or ()
    offsets = [str(entry["fetch_offset"]) for entry in partitions if "fetch_offset" in entry]
    shown = f" at offset {offsets[0]}" if offsets else ""
    return f"{frame['api']} {frame['direction']} {frame['correlation_id']} of connection {frame['connection']}{shown}"
