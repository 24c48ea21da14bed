"""Which frames surround the one that breaks an invariant?

Only frames that show something of the topic are kept, and only the last few.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.observation.frame_text import frame_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.observation.wire_moments import Moment
    from oracle.tracing.observed import Event

NEARBY = 5
NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class NearbyFrame:
    """One frame near the violation.

    Attributes:
        seq: its number in the wire trace.
        at_s: when it was sent, in seconds since the trace began.
        text: what it is.
    """

    seq: int
    at_s: float
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"seq": self.seq, "at_s": self.at_s, "text": self.text}


class NearbyFrames:
    """Keeps the last frames of the topic until it is told to stop, and a few more after that."""

    def __init__(self) -> None:
        self._began_ns: int | None = None
        self._kept: deque[tuple[dict[str, Any], list[Event]]] = deque(maxlen=2 * NEARBY)
        self._still_wanted: int | None = None

    @property
    def are_enough(self) -> bool:
        """Whether the frames after the violation are complete."""
        return self._still_wanted == 0

    def stop_soon(self, seq: int | None) -> None:
        """Take note that the violation is here, shown by this frame: only a few more frames are wanted."""
        self._still_wanted = NEARBY
        kept = list(self._kept)
        place = next((index for index, (frame, _) in enumerate(kept) if frame["seq"] == seq), len(kept))
        self._kept = deque(kept[max(place - NEARBY, 0) :])

    def shown(self, moment: Moment, events: Sequence[Event]) -> None:
        """Take note of a moment and of the events that it shows."""
        if self._began_ns is None:
            self._began_ns = moment.at
        if not events or self.are_enough:
            return
        for frame, known in reversed(self._kept):
            if frame["seq"] == moment.seq:
                known.extend(events)
                return
        self._kept.append((moment.frame, list(events)))
        if self._still_wanted is not None:
            self._still_wanted -= 1

    def seconds(self, at: int) -> float:
        """Give a monotonic time as seconds since the trace began."""
        return round((at - (self._began_ns or at)) / NS_PER_S, 6)

    def frames(self) -> list[NearbyFrame]:
        """Give the frames that were kept, in the order in which they were sent."""
        by_time = sorted(self._kept, key=lambda kept: (kept[0]["arrived_ns"], kept[0]["seq"]))
        return [
            NearbyFrame(frame["seq"], self.seconds(frame["arrived_ns"]), frame_text(frame, events))
            for frame, events in by_time
        ]
