"""Which column is which step, and how long did it take? Slanted words above, numbers and seconds below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.picture.layout import SLANT_DEGREES, heading_words
from reports.picture.scale import LEFT
from reports.svg import element, group, label, titled

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.picture.scale import TimeScale
    from reports.story import Step


def draw_header(scale: TimeScale, top: float) -> Markup:
    """Return the steps' words, slanted over their columns; the lanes begin at ``top``."""
    return group(*(_heading(scale, step, top) for step in scale.steps), class_="headings")


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


def _heading(scale: TimeScale, step: Step, top: float) -> Markup:
    x, left = scale.middle_of(step.index) - 2, scale.left_of(step.index)
    words = label(0, 0, heading_words(step), f"heading heading-{step.verb.replace('_', '-')}")
    return group(
        titled(step.prose),
        element("line", x1=left, x2=left, y1=top - 4, y2=top),
        group(words, transform=f"translate({x:.1f} {top - 24:.1f}) rotate({-SLANT_DEGREES:.0f})"),
    )
