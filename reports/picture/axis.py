"""Which column is which step, and how long did it take? Slanted words above, numbers and seconds below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.picture.layout import HEADER
from reports.picture.scale import LEFT
from reports.svg import clipped, element, group, label, titled

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.model import Step
    from reports.picture.scale import TimeScale


def draw_header(scale: TimeScale) -> Markup:
    """Return the steps' words, slanted over their columns."""
    return group(*(_heading(scale, step) for step in scale.steps), class_="headings")


def draw_axis(scale: TimeScale, top: float) -> Markup:
    """Return step numbers and the seconds at which every step began."""
    rows = [
        label(LEFT - 8, top + 16, "step", "tick", text_anchor="end"),
        label(LEFT - 8, top + 32, "begins at", "tick", text_anchor="end"),
    ]
    for step in scale.steps:
        x = scale.middle_of(step.index)
        rows.append(label(x, top + 16, str(step.index + 1), "tick", text_anchor="middle"))
        rows.append(label(x, top + 32, seconds_words(scale, step), "tick", text_anchor="middle"))
    return group(*rows)


def seconds_words(scale: TimeScale, step: Step) -> str:
    """Return when a step began, in seconds since the first; empty if nobody wrote it down."""
    begun = [other.started_ns for other in scale.steps if other.started_ns is not None]
    if step.started_ns is None or not begun:
        return ""
    seconds = (step.started_ns - min(begun)) / 1e9
    return f"{seconds:.1f} s" if scale.column >= 38 else f"{seconds:.0f}"


def _heading(scale: TimeScale, step: Step) -> Markup:
    x, y = scale.middle_of(step.index) - 2, HEADER - 24
    line = element("line", x1=scale.left_of(step.index), x2=scale.left_of(step.index), y1=HEADER - 4, y2=HEADER)
    words = label(0, 0, clipped(step.short, 18), f"heading heading-{step.verb.replace('_', '-')}")
    return group(titled(step.prose), line, group(words, transform=f"translate({x:.1f} {y:.1f}) rotate(-38)"))
