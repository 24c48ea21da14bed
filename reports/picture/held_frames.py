"""Which frame stood still between two replicas? A bar between their lanes, from caught to released.

An arrow leaves the sender's lane and ends at the bar: the frame is on its way. Where it is released
a second arrow runs on to the receiver; where it is discharged or thrown away the bar ends in a cross.
An arrow that runs behind another replica's lane is dashed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.picture.layout import bar_words
from reports.story import CONTROLLER
from reports.svg import element, group, label, titled

if TYPE_CHECKING:
    from reports.picture.layout import Bar, PictureLayout
    from reports.story import Story

_THICK = 7.0


def draw_held_frames(story: Story, layout: PictureLayout) -> Markup:
    """Return every held frame of the sheet."""
    return group(*(_draw(bar, layout, story.said_of(bar.frame.armed_in)) for bar in layout.bars), class_="held-frames")


def _draw(bar: Bar, layout: PictureLayout, proof: str) -> Markup:
    frame = bar.frame
    sender, receiver = frame.ends
    words = f"{frame.label} ({frame.name}): from {_named(sender)} to {_named(receiver)}, {frame.ending}{proof}"
    parts = [
        titled(words),
        _arrow(bar, layout, _edge(layout, sender, bar.y)),
        element("rect", x=bar.left, y=bar.y - _THICK / 2, width=bar.right - bar.left, height=_THICK, class_="bar"),
        element(
            "rect",
            x=bar.left,
            y=bar.y - _THICK / 2,
            width=bar.right - bar.left,
            height=_THICK,
            fill="url(#area-held)",
        ),
        label(bar.left + 9, bar.y - _THICK / 2 - 4, bar_words(frame), "bar-words"),
        _end(bar, layout, _edge(layout, receiver, bar.y)),
    ]
    return group(*parts)


def _named(end: int) -> str:
    return "the controller" if end == CONTROLLER else f"broker {end}"


def _css(layout: PictureLayout, start: float, end: float) -> str:
    """Return the style of an arrow: another one where it crosses a lane."""
    high, low = sorted((start, end))
    crosses = any(high < lane.top and lane.bottom < low for lane in layout.lanes)
    return "frame crossing" if crosses else "frame"


def _edge(layout: PictureLayout, broker: int, y: float) -> float:
    """Return the edge of a broker's lane that faces the bar."""
    lane = layout.lane_of(broker)
    if lane is None:
        return y
    return lane.bottom if lane.bottom <= y else lane.top


def _arrow(bar: Bar, layout: PictureLayout, start: float) -> Markup:
    x, end = bar.left, bar.y + (_THICK / 2 if bar.y < start else -_THICK / 2)
    css = _css(layout, start, end)
    return element("line", x1=x, x2=x, y1=start, y2=end, class_=css, marker_end="url(#area-arrow)")


def _end(bar: Bar, layout: PictureLayout, edge: float) -> Markup:
    if bar.frame.ending == "released":
        return element(
            "line",
            x1=bar.right,
            x2=bar.right,
            y1=bar.y,
            y2=edge + (2 if edge < bar.y else -2),
            class_=_css(layout, bar.y, edge),
            marker_end="url(#area-arrow)",
        )
    if bar.frame.ending != "still held":
        x, y, arm = bar.right, bar.y, 5.0
        strokes = f"M{x - arm:.1f} {y - arm:.1f} l{2 * arm} {2 * arm} m0 {-2 * arm} l{-2 * arm} {2 * arm}"
        return element("path", d=strokes, class_="discharged")
    return Markup()
