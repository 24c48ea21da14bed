"""Where on the sheet is a moment, and where is an offset?

Time is compressed: every step has the same width, however long it took, so that waiting for an
election does not push the story off the page. Inside its column an event keeps its place in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reports.model import FinalLogs
    from reports.story import Instant, MarkView, StepView, Story


SHEET_WIDTH = 1060.0
LEFT = 92.0
RIGHT = 74.0
COLUMN_MIN = 30.0
COLUMN_MAX = 84.0
_EDGE = 0.12


@dataclass(frozen=True, slots=True)
class TimeScale:
    """Equal columns, one a step."""

    steps: tuple[StepView, ...]
    column: float

    @classmethod
    def of(cls, story: Story) -> TimeScale:
        """Return the scale that fits the sheet, or a wider one for a long schedule."""
        available = (SHEET_WIDTH - LEFT - RIGHT) / max(1, len(story.steps))
        return cls(story.steps, min(COLUMN_MAX, max(COLUMN_MIN, available)))

    @property
    def right(self) -> float:
        """Return where the last step ends."""
        return LEFT + self.column * len(self.steps)

    @property
    def sheet_width(self) -> float:
        """Return the width of the whole picture."""
        return max(SHEET_WIDTH * 0.6, self.right + RIGHT)

    def left_of(self, step: int) -> float:
        """Return where a step begins."""
        return LEFT + self.column * max(0, min(step, len(self.steps)))

    def middle_of(self, step: int) -> float:
        """Return the middle of a step's column."""
        return self.left_of(step) + self.column / 2

    def at(self, instant: Instant) -> float:
        """Return where an instant lies, never on a column's very edge."""
        share = max(_EDGE, min(1 - _EDGE, self._share(instant)))
        return self.left_of(instant.step) + share * self.column

    def _share(self, instant: Instant) -> float:
        if instant.t_ns is None or not 0 <= instant.step < len(self.steps):
            return 0.5
        step = self.steps[instant.step]
        if step.started_ns is None or step.finished_ns is None or step.finished_ns <= step.started_ns:
            return 0.5
        return (instant.t_ns - step.started_ns) / (step.finished_ns - step.started_ns)


@dataclass(frozen=True, slots=True)
class OffsetScale:
    """A lane's own small vertical scale: offset 0 at the bottom."""

    top: float
    height: float
    offset_max: int

    def y(self, offset: float) -> float:
        """Return the height of an offset."""
        return self.top + self.height * (1 - offset / max(1, self.offset_max))

    def ticks(self) -> tuple[int, ...]:
        """Return the offsets worth a line."""
        if self.offset_max <= 6:
            return tuple(range(self.offset_max + 1))
        return (0, self.offset_max // 2, self.offset_max)


def change_at(scale: TimeScale, marks: tuple[MarkView, ...], broker: int, step: int) -> float:
    """Return where in a step's column a broker's numbers change: at its own kill or start, or midway."""
    for mark in marks:
        if mark.broker == broker and mark.at.step == step and mark.kind != "elected":
            return scale.at(mark.at)
    return scale.middle_of(step)


# Which offsets of long logs are worth a cell? Ends, and the neighbourhood of everything remarkable.


CELLS_MAX = 14
_AROUND = 1


def shown_offsets(final: FinalLogs) -> list[tuple[int | None, int]]:
    """Return (offset, 0) for every cell and (None, how many) for every stretch left out."""
    everything = {entry.offset for log in final.logs for entry in log.entries}
    everything |= {ghost.offset for ghost in final.ghosts}
    if not everything:
        return []
    chosen = everything if len(everything) <= CELLS_MAX else _chosen(final, everything)
    return _with_gaps(sorted(chosen), everything)


def _chosen(final: FinalLogs, everything: set[int]) -> set[int]:
    first, last = min(everything), max(everything)
    ends = {first, first + 1, last - 1, last} & everything
    remarkable = sorted(final.diverged_offsets | {ghost.offset for ghost in final.ghosts})
    chosen = set(ends)
    for offset in remarkable:
        near = {offset + step for step in range(-_AROUND, _AROUND + 1)} & everything
        if len(chosen | near) > CELLS_MAX:
            break
        chosen |= near
    return chosen


def _with_gaps(chosen: list[int], everything: set[int]) -> list[tuple[int | None, int]]:
    shown: list[tuple[int | None, int]] = []
    for position, offset in enumerate(chosen):
        previous = chosen[position - 1] if position else None
        if previous is not None:
            left_out = sum(1 for other in range(previous + 1, offset) if other in everything)
            if left_out:
                shown.append((None, left_out))
        shown.append((offset, 0))
    return shown
