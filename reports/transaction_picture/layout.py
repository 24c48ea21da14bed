"""Where does each lane lie, and where each row? A row for every request, in the block of its act."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from conformance.record.transaction_course import COORDINATOR
from reports.svg import text_width

if TYPE_CHECKING:
    from conformance.record.transaction_course import CourseAct, CourseMoment, CourseRequest
    from reports.transaction_picture.course import CourseView

TEXT = 150.0
"""Room for the words of an act."""
LETTERS = 24
"""So many of them in a line."""
LINE = 15.0
GUTTER = 20.0
"""Room for one request that is kept back, left of the producers."""
PRODUCER = 68.0
SAID = 210.0
"""Room for what requests say, between producers and coordinator."""
COORDINATOR_WIDTH = 116.0
MARKERS = 122.0
"""Room for what markers say, between coordinator and logs."""
CELL = (28.0, 22.0)
LOG_MIN, LOG_UNUSED = 104.0, 84.0
APART = 14.0
GIVEN = 106.0
"""Width of the lane of consumers."""
NAME = 13.5
"""Size of the letters of its name."""
TOP = 52.0
ROW = 44.0
ARROW = 21.0
"""Where in its row an arrow lies."""
PADDING = 9.0
EXTRA = 15.0
"""A further line in a row."""


class Band(NamedTuple):
    """A lane: from where to where."""

    left: float
    right: float

    @property
    def middle(self) -> float:
        """Return where its middle is."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class CourseRow:
    """One request with its place, or an act without one.

    Attributes:
        top: where the row begins.
        before: what was known before; None of the first row.
        is_first: whether it is the first one of its act.
    """

    act: CourseAct
    request: CourseRequest | None
    top: float
    after: CourseMoment
    before: CourseMoment | None
    is_first: bool

    @property
    def arrow(self) -> float:
        """Return the height of its arrow."""
        return self.top + ARROW


@dataclass(frozen=True, slots=True)
class LateBar:
    """A request that waits: from the row in which it is kept back, or answered in vain, to the one where it arrives.

    Attributes:
        end: None if it never arrives.
    """

    x: float
    begin: CourseRow
    end: CourseRow | None


@dataclass(frozen=True, slots=True)
class CourseLayout:
    """The sheet.

    Attributes:
        bands: the lanes, by their names; ``CONSUMERS`` is the last.
        blocks: where each act begins and ends.
        bottom: where the lanes end.
    """

    bands: dict[str, Band]
    rows: tuple[CourseRow, ...]
    blocks: tuple[tuple[CourseAct, float, float], ...]
    bars: tuple[LateBar, ...]
    bottom: float

    @property
    def width(self) -> float:
        """Return the width of the sheet."""
        return self.bands[CONSUMERS].right + 2

    @property
    def left(self) -> float:
        """Return where the first lane begins."""
        return min(band.left for band in self.bands.values())


CONSUMERS = "read_committed"
"""The lane of what consumers of committed records are given."""


def lay_out_course(view: CourseView) -> CourseLayout:
    """Return the places of all lanes, rows and waiting requests."""
    rows, blocks, bottom = _rows(view)
    pairs = _waiting(rows)
    kept = [begin for begin, _ in pairs if begin.request and begin.request.sender != COORDINATOR]
    bands = _bands(view, len(kept))
    bars = [LateBar(_bar_x(bands, begin, kept), begin, end) for begin, end in pairs]
    return CourseLayout(bands, rows, blocks, tuple(bars), bottom)


def _bands(view: CourseView, kept: int) -> dict[str, Band]:
    x = TEXT + GUTTER * kept + 12
    bands: dict[str, Band] = {}
    for name in view.producers:
        bands[name] = Band(x, x + PRODUCER)
        x += PRODUCER + APART
    x += SAID - APART
    bands[COORDINATOR] = Band(x, x + COORDINATOR_WIDTH)
    x += COORDINATOR_WIDTH + MARKERS
    for name in view.logs:
        cells = _length(view, name)
        width = max(LOG_MIN if cells else LOG_UNUSED, CELL[0] * cells + 24, text_width(name, NAME))
        bands[name] = Band(x, x + width)
        x += width + APART
    bands[CONSUMERS] = Band(x, x + GIVEN)
    return bands


def _length(view: CourseView, name: str) -> int:
    ends = view.course.acts[-1].after.logs if view.course.acts else ()
    return max((len(log.batches) for log in ends if log.at == name), default=0)


def _bar_x(bands: dict[str, Band], begin: CourseRow, kept: list[CourseRow]) -> float:
    if begin not in kept:
        return bands[COORDINATOR].right + 12
    return TEXT + 14 + GUTTER * kept.index(begin)


def _rows(view: CourseView) -> tuple[tuple[CourseRow, ...], tuple[tuple[CourseAct, float, float], ...], float]:
    rows: list[CourseRow] = []
    blocks: list[tuple[CourseAct, float, float]] = []
    y = TOP
    for act in view.course.acts:
        top = y
        y += PADDING
        for one, request, after, before in view.steps():
            if one is act:
                rows.append(CourseRow(act, request, y, after, before, is_first=y == top + PADDING))
                y += row_height(view, act, request)
        y = max(y, top + LINE * len(act_lines(act)) + 18)
        blocks.append((act, top, y))
    return tuple(rows), tuple(blocks), y + PADDING


def row_height(view: CourseView, act: CourseAct, request: CourseRequest | None) -> float:
    """Return the height of a row: one that says in what brokers differ needs a line for that."""
    if request is not None:
        return ROW + (EXTRA if view.measured_instead(request.asked) else 0)
    given = sum(1 for look in act.looks if look.at)
    if not given:
        return ROW - 14
    lanes = {look.at for look in act.looks}
    lines = max(sum(bool(view.measured_instead(one.asked)) for one in act.looks if one.at == at) for at in lanes)
    return ROW + 20 + EXTRA * lines


def act_lines(act: CourseAct) -> list[str]:
    """Return the words of an act as lines."""
    return wrap(f"{act.number}. {act.text}", LETTERS)


def _waiting(rows: tuple[CourseRow, ...]) -> list[tuple[CourseRow, CourseRow | None]]:
    """Return where requests begin to wait, and where each arrives."""
    found: list[tuple[CourseRow, CourseRow | None]] = []
    for place, row in enumerate(rows):
        request = row.request
        if request is None:
            continue
        if request.answer is None:
            found.append((row, next((one for one in rows[place:] if _is_arrival(one, request)), None)))
        elif request.is_again:
            found.append((next(one for one in reversed(rows[:place]) if _is_same(one, request)), row))
    return found


def _is_arrival(row: CourseRow, kept: CourseRequest) -> bool:
    return row.request is not None and row.request.answer is not None and row.request.late == kept.late


def _is_same(row: CourseRow, again: CourseRequest) -> bool:
    one = row.request
    return one is not None and (one.kind, one.receiver, one.says) == (again.kind, again.receiver, again.says)
