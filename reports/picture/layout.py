"""Where does every lane lie, and where is room for held frames between lanes?"""

from __future__ import annotations

from dataclasses import dataclass
from math import radians, sin
from typing import TYPE_CHECKING

from reports.picture.scale import OffsetScale, TimeScale
from reports.story import CONTROLLER
from reports.svg import clipped, text_width

if TYPE_CHECKING:
    from reports.story import HeldFrameView, StepView, Story

STRIP = 18.0
EVENTS = 19.0
GAP = 30.0
BAR_ROW = 36.0
AXIS = 42.0
SLANT_DEGREES = 38.0
_ABOVE = 20.0
_BELOW = 8.0


@dataclass(frozen=True, slots=True)
class Lane:
    """One replica's lane: status strip, plot, events, from top to bottom."""

    broker: int
    top: float
    offsets: OffsetScale
    bottom: float

    @property
    def events_y(self) -> float:
        """Return the base line of the words under the plot."""
        return self.bottom - 5


@dataclass(frozen=True, slots=True)
class Bar:
    """A held frame with its place between two lanes."""

    frame: HeldFrameView
    y: float
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PictureLayout:
    """The sheet: lanes from top to bottom with the bars between them."""

    top: float
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    bottom: float
    controller: Lane | None = None

    @property
    def marked_lanes(self) -> tuple[Lane, ...]:
        """Return all lanes, the controller's among them."""
        return (*self.lanes, self.controller) if self.controller else self.lanes

    def lane_of(self, broker: int) -> Lane | None:
        """Return the lane of a broker or of the controller, if it has one."""
        if broker == CONTROLLER:
            return self.controller
        return next((lane for lane in self.lanes if lane.broker == broker), None)


def lay_out(story: Story, scale: TimeScale) -> PictureLayout:
    """Return the places of all lanes and bars."""
    highest = offset_max(story)
    plot = min(104.0, max(58.0, 24.0 * highest))
    rows = _rows(story, scale)
    lanes: list[Lane] = []
    bars: list[Bar] = []
    top = header_height(story)
    y = top
    for position, broker in enumerate(story.replicas):
        bottom = y + STRIP + _ABOVE + plot + _BELOW + EVENTS
        lanes.append(Lane(broker, y, OffsetScale(y + STRIP + _ABOVE, plot, highest), bottom))
        between = rows.get(position, [])
        for row, frames in enumerate(between):
            bars.extend(_bar(frame, bottom + 30 + BAR_ROW * row, scale) for frame in frames)
        y = bottom + max(GAP, BAR_ROW * len(between) + 20 if between else 0)
    end = lanes[-1].bottom if lanes else top
    if not story.shows_controller:
        return PictureLayout(top, tuple(lanes), tuple(bars), end)
    controller = Lane(CONTROLLER, y, OffsetScale(y + STRIP, 0, 1), y + STRIP + EVENTS + 4)
    return PictureLayout(top, tuple(lanes), tuple(bars), controller.bottom, controller)


def header_height(story: Story) -> float:
    """Return the room that the slanted words over the columns need."""
    longest = max((text_width(heading_words(step)) for step in story.steps), default=0.0)
    return 40.0 + longest * sin(radians(SLANT_DEGREES))


def heading_words(step: StepView) -> str:
    """Return the words over a step's column."""
    return clipped(step.taken.short, 26)


def offset_max(story: Story) -> int:
    """Return the highest offset any number of the story reaches; at least 1."""
    numbers = [
        number.log_end_offset
        for moment in story.measured
        for number in moment.replicas.values()
        if number.log_end_offset is not None
    ]
    return max([1, *numbers, *(one.predicted for one in story.differences or ())])


def _rows(story: Story, scale: TimeScale) -> dict[int, list[list[HeldFrameView]]]:
    """Pack every gap's frames into rows in which neither bars nor labels overlap."""
    rows: dict[int, list[list[HeldFrameView]]] = {}
    ends: dict[tuple[int, int], float] = {}
    for frame in sorted(story.held_frames, key=lambda held: (held.caught.step, held.caught.t_ns or 0)):
        gap = _gap_of(frame, story.replicas)
        if gap is None:
            continue
        bar = _bar(frame, 0, scale)
        row = next(
            (number for number in range(len(rows.get(gap, []))) if ends[gap, number] < bar.left),
            len(rows.get(gap, [])),
        )
        rows.setdefault(gap, []).extend([[]] if row == len(rows.get(gap, [])) else [])
        rows[gap][row].append(frame)
        ends[gap, row] = max(bar.right, bar.left + text_width(bar_words(frame))) + 16
    return rows


def bar_words(frame: HeldFrameView) -> str:
    """Return what is written on a held frame's bar."""
    return f"{frame.label}, {frame.ending}"


def _gap_of(frame: HeldFrameView, replicas: tuple[int, ...]) -> int | None:
    """Return the gap next to the follower, on the leader's side, as the index of the lane above it.

    The controller's lane is the lowest.
    """
    places = {broker: place for place, broker in enumerate((*replicas, CONTROLLER))}
    if frame.follower not in places or frame.leader not in places:
        return None
    follower, leader = places[frame.follower], places[frame.leader]
    return follower if leader > follower else follower - 1


def _bar(frame: HeldFrameView, y: float, scale: TimeScale) -> Bar:
    left = scale.at(frame.caught)
    right = scale.at(frame.ended) if frame.ended else scale.right
    return Bar(frame, y, left, max(right, left + 6))
