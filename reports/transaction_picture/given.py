"""What are consumers of committed records given, and what was promised? A lane beside the logs, cells at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from reports.svg import clipped, element, group, label, titled
from reports.transaction_picture.course import GIVEN_WHAT, MISSING, STUCK, UNASKED
from reports.transaction_picture.layout import CELL, CONSUMERS, EXTRA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.record.transaction_course import CourseLook, CourseMoment
    from reports.transaction_picture.course import CourseView
    from reports.transaction_picture.layout import CourseLayout, CourseRow

_PARTITION = "partition "


def draw_given(view: CourseView, layout: CourseLayout) -> Markup:
    """Return in each row what consumers are given anew, and where logs are looked at, all of it."""
    return group(*(part for row in layout.rows for part in _row(view, layout, row)), class_="given-in-time")


def _row(view: CourseView, layout: CourseLayout, row: CourseRow) -> Iterator[Markup]:
    left = layout.bands[CONSUMERS].left + 9
    looks = [look for look in row.act.looks if look.what == GIVEN_WHAT] if row.request is None else []
    if looks:
        for line, look in enumerate(looks):
            yield from _look(view, look, left, row.top + 17 + 2 * EXTRA * line)
        return
    anew = [one for at in view.logs if at.startswith(_PARTITION) for one in _anew(row.before, row.after, at)]
    for place, one in enumerate(anew):
        yield _chip(view, one, left + CELL[0] * place, row.arrow - CELL[1] / 2 - 2)


def _anew(before: CourseMoment | None, after: CourseMoment, at: str) -> tuple[str, ...]:
    given = [next((log.given for log in moment.logs if log.at == at), ()) for moment in (before, after) if moment]
    return given[-1][len(given[0]) :] if len(given) > 1 else ()


def _chip(view: CourseView, record: str, x: float, y: float) -> Markup:
    css = f"batch committed{' wrong' if record in view.broken_by(UNASKED) else ''}"
    return group(
        titled(f"from now on consumers are given {record}"),
        element("rect", x=x + 1, y=y, width=CELL[0] - 2, height=CELL[1], rx=3, class_=css),
        label(x + CELL[0] / 2, y + 15.5, clipped(record, 3), f"{css} holds", text_anchor="middle"),
    )


def _look(view: CourseView, look: CourseLook, x: float, y: float) -> Iterator[Markup]:
    records = look.predicted.strip("[]") or "nothing"
    sign, instead = view.sign(look.asked), view.measured_instead(look.asked)
    yield label(x, y, f"{look.at.removeprefix(_PARTITION)}: {clipped(records, 12)} {sign}".rstrip(), "look-words")
    lost = [one for one in view.broken_by(MISSING) if one in _held(view, look.at)]
    below = instead or (f"✕ {', '.join(lost)} lost" if lost else "")
    if below:
        css = "instead" if instead else "lost-words"
        yield group(titled(below), label(x, y + EXTRA, clipped(below, 17), css))


def _held(view: CourseView, at: str) -> list[str]:
    """Return the records that a log holds in the end."""
    return [one.holds for log in view.course.acts[-1].after.logs if log.at == at for one in log.batches]


# What is given in the end, record by record? Cells as of the replicas' final logs: kept, lost, wrongly given.


class _End(NamedTuple):
    record: str
    css: str
    words: str
    says: str


_CELL = (112.0, 46.0)
HEIGHT = 92.0
"""Of the cells with their title."""


def draw_ends(view: CourseView, top: float, width: float) -> Markup:
    """Return what becomes of every record that was promised or is given."""
    ends = list(_ends(view))
    cells = (_end(one, 148 + (_CELL[0] + 10) * place, top + 30) for place, one in enumerate(ends))
    measured = "as measured" if view.is_measured else "as predicted"
    return group(
        element("line", x1=0, x2=width, y1=top, y2=top, class_="act-line"),
        label(4, top + 50, "In the end", "lane-name"),
        label(4, top + 67, measured, "tick"),
        *(cells if ends else [label(148, top + 56, "nothing was promised, and nothing is given", "tick")]),
        class_="ends",
    )


def _ends(view: CourseView) -> Iterator[_End]:
    missing, unasked = view.broken_by(MISSING), view.broken_by(UNASKED)
    given = [record for records in view.given().values() for record in records]
    for record in dict.fromkeys((*view.course.promised, *missing, *given, *unasked)):
        if record in missing:
            yield _End(record, "lost", "✕ lost", "acknowledged, committed, and not given")
        elif record in unasked:
            yield _End(record, "diverged", "! wrongly given", "given, and nobody asked to commit it")
        elif record in given:
            yield _End(record, "kept", "✓ given", "given to consumers of committed records")
        else:
            yield _End(record, "absent", "○ not given", "not given to consumers of committed records")
    for at in view.broken_by(STUCK):
        yield _End(at, "uncommitted", "‖ read no further", "a transaction stays open, and nobody ends it")


def _end(one: _End, x: float, y: float) -> Markup:
    box = {"x": x, "y": y, "width": _CELL[0], "height": _CELL[1]}
    pattern = {"lost": "lost", "diverged": "diverged", "uncommitted": "uncommitted"}.get(one.css)
    return group(
        titled(f"{one.record}: {one.says}"),
        element("rect", **box, rx=5, class_=f"cell {one.css}"),
        element("rect", **box, rx=5, fill=f"url(#area-{pattern})") if pattern else Markup(),
        label(x + _CELL[0] / 2, y + 19, clipped(one.record, 12), f"cell-label on-{one.css}", text_anchor="middle"),
        label(x + _CELL[0] / 2, y + 37, one.words, f"cell-words {one.css}", text_anchor="middle"),
    )
