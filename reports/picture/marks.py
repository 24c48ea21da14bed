"""What happened to a replica, and when? Kills, starts, elections and truncations, each with its word."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from reports.picture.lanes import corners
from reports.picture.layout import STRIP
from reports.svg import element, group, label, text_width, titled

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.model import Story
    from reports.picture.layout import Lane, Layout
    from reports.picture.scale import TimeScale

_WORDS = {"killed": "✕ killed", "stopped": "■ stopped", "started": "▶ started", "elected": "★ elected"}


class _Happening(NamedTuple):
    x: float
    words: str
    css: str
    says: str


def draw_marks(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return a lane's events: a thin upright and, under the plot, shape and word."""
    happenings = sorted([*_marks(story, lane, scale), *_truncations(story, lane, scale)])
    drawn, free_from = [], 0.0
    for happening in happenings:
        left = max(free_from, happening.x - 4)
        left = min(left, scale.right - text_width(happening.words, 11))
        drawn.append(_draw(lane, happening, left))
        free_from = left + text_width(happening.words, 11) + 7
    return group(*drawn, class_="marks")


def draw_checkpoints(story: Story, layout: Layout, scale: TimeScale) -> Markup:
    """Return the numbered dotted lines through all lanes, one a checkpoint."""
    top = layout.top - 1
    checkpoints = [step for step in story.steps if step.verb == "checkpoint"]
    return group(
        *(
            group(
                titled(f"Checkpoint {number}: {step.arguments.get('name')}"),
                element("line", x1=x, x2=x, y1=top, y2=layout.bottom, class_="checkpoint"),
                element("circle", cx=x, cy=top - 7, r=8, class_="checkpoint-disc"),
                label(x, top - 3.2, str(number), "checkpoint-number", text_anchor="middle"),
            )
            for number, step in enumerate(checkpoints, start=1)
            for x in [scale.middle_of(step.index)]
        )
    )


def _marks(story: Story, lane: Lane, scale: TimeScale) -> list[_Happening]:
    return [
        _Happening(scale.at(mark.at), _WORDS[mark.kind], mark.kind, mark.text or mark.kind)
        for mark in story.marks
        if mark.broker == lane.broker
    ]


def _truncations(story: Story, lane: Lane, scale: TimeScale) -> list[_Happening]:
    points = corners(story, story.measured, lane.broker, "log_end_offset", scale)
    return [
        _Happening(x + 0.5, f"✂ cut to {value}", "truncated", f"log truncated from {before} to {value}")
        for (_, before), (x, value) in pairwise(points)
        if value < before
    ]


def _draw(lane: Lane, happening: _Happening, left: float) -> Markup:
    return group(
        titled(f"broker {lane.broker}: {happening.says}"),
        element(
            "line",
            x1=happening.x,
            x2=happening.x,
            y1=lane.top + STRIP,
            y2=lane.events_y - 10,
            class_=f"upright {happening.css}",
        ),
        label(left, lane.events_y, happening.words, f"mark {happening.css}"),
    )
