"""What does a script of transactions look like? One sheet, with its legend, a description and a table of the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.svg import element, group, label, text_width
from reports.transaction_picture.course import MISSING, UNASKED
from reports.transaction_picture.given import HEIGHT, draw_ends, draw_given
from reports.transaction_picture.lanes import draw_coordinator, draw_ground, draw_logs, draw_producers
from reports.transaction_picture.layout import act_lines, lay_out_course
from reports.transaction_picture.requests import draw_late, draw_requests
from reports.transaction_picture.story import told_story

if TYPE_CHECKING:
    from reports.transaction_picture.course import CourseView
    from reports.transaction_picture.layout import CourseLayout

_LEGEND = 26.0


def draw_course(view: CourseView, prefix: str) -> Markup:
    """Return the picture as an SVG element.

    Args:
        view: what happens, and what was answered.
        prefix: begins every id inside the picture; unique on its page.
    """
    layout = lay_out_course(view)
    end = layout.bottom + 12
    height = end + HEIGHT + _LEGEND * len(_legend_rows(view, layout.width))
    return element(
        "svg",
        element(
            "title", "The transactions over time, a lane for producers, coordinator and logs", id=f"{prefix}-title"
        ),
        element("desc", " ".join(told_story(view)), id=f"{prefix}-desc"),
        draw_ground(layout),
        draw_producers(view, layout),
        draw_coordinator(layout),
        _acts(layout),
        draw_requests(view, layout),
        draw_late(layout),
        draw_logs(view, layout),
        draw_given(view, layout),
        draw_ends(view, end, layout.width),
        _legend(view, layout, end + HEIGHT),
        viewBox=f"0 0 {layout.width:.0f} {height:.0f}",
        width=layout.width,
        height=height,
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="timeline transactions",
    )


def _acts(layout: CourseLayout) -> Markup:
    """Return the words of every act, at the left of its block."""
    return group(
        *(
            label(4, top + 22 + 15 * number, line, "act-words")
            for act, top, _ in layout.blocks
            for number, line in enumerate(act_lines(act))
        )
    )


# What does each look mean? Samples with words, as many rows as they need.


_LATE = "waits, and arrives late"
_ITEMS = (
    ("batch open", "a1", "open"),
    ("batch committed", "a1", "committed"),
    ("batch aborted", "a1", "aborted"),
    ("batch marker-commit", "C", "COMMIT marker"),
    ("batch marker-abort", "A", "ABORT marker"),
    ("batch aborted lost", "a1", "lost"),
    ("batch committed wrong", "a1", "wrongly given"),
    ("late", "", _LATE),
    ("stable-offset", "", "last stable offset (LSO)"),
)
_MEASURED = (("good-sign", "✓", "measured so"), ("instead", "≠", "measured otherwise"))


def _legend_rows(view: CourseView, width: float) -> list[list[tuple[float, tuple[str, str, str]]]]:
    """Return the samples with their places, row by row."""
    rows: list[list[tuple[float, tuple[str, str, str]]]] = [[]]
    x = 4.0
    for item in _used(view):
        wide = 34 + text_width(item[2]) + 16
        if x + wide > width and rows[-1]:
            rows.append([])
            x = 4.0
        rows[-1].append((x, item))
        x += wide
    return rows


def _used(view: CourseView) -> list[tuple[str, str, str]]:
    """Return the samples of what this picture has."""
    is_late = any(one.late or one.is_again for act in view.course.acts for one in act.requests)
    there = {"lost": view.broken_by(MISSING), "wrongly given": view.broken_by(UNASKED), _LATE: is_late}
    items = [item for item in _ITEMS if there.get(item[2], True)]
    return [*items, *(_MEASURED if view.is_measured else ())]


def _legend(view: CourseView, layout: CourseLayout, top: float) -> Markup:
    return group(
        *(
            group(_sample(*item[:2]), label(34, 4, item[2], "tick"), transform=f"translate({x:.0f} {y:.0f})")
            for number, row in enumerate(_legend_rows(view, layout.width))
            for y in [top + 12 + _LEGEND * number]
            for x, item in row
        ),
        class_="legend",
    )


def _sample(css: str, words: str) -> Markup:
    if css == "late":
        line = element("line", x1=4, x2=26, y1=0, y2=0, class_="request late", marker_end="url(#area-late)")
        return group(element("rect", x=0, y=-8, width=6, height=16, rx=2, class_="bar"), line)
    if css == "stable-offset":
        return element("line", x1=13, x2=13, y1=-9, y2=9, class_=css)
    if not css.startswith("batch"):
        return label(10, 4, words, css)
    box = {"x": 1, "y": -9, "width": 26, "height": 18, "rx": 3}
    hatch = element("rect", **box, fill="url(#area-uncommitted)") if css == "batch open" else Markup()
    return group(element("rect", **box, class_=css), hatch, label(14, 4.5, words, f"{css} holds", text_anchor="middle"))
