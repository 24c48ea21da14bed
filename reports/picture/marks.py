"""What happened to a replica, and when? Kills, starts, elections, losses and truncations, each with its word."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from reports.picture.lanes import corners, lane_name
from reports.picture.layout import STRIP, bar_words
from reports.picture.scale import change_at
from reports.story import end_words
from reports.svg import element, group, label, text_width, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.picture.layout import Bar, Lane, PictureLayout
    from reports.picture.scale import TimeScale
    from reports.story import MarkView, Story


_WORDS = {
    "killed": "✕ killed",
    "stopped": "■ stopped",
    "ended": "■ ended itself",
    "started": "▶ started",
    "elected": "★ elected",
    "tail_lost": "⌫ lost {detail}",
    "checkpoint_lost": "⊘ lost its HW",
    "election_requested": "☆ {detail} election asked for",
    "paused": "‖ paused",
    "resumed": "▶ resumed",
    "isolated": "⊗ isolated",
    "rejoined": "⊕ rejoined",
    "link_cut": "⊗ link cut",
    "link_healed": "⊕ link healed",
}


_OF_FAULTS = frozenset(_WORDS) - {"ended", "elected", "election_requested"}
"""Marks of what the tester did to brokers."""


APART = 7.0
"""Between two marks."""


class _Happening(NamedTuple):
    x: float
    words: str
    css: str
    says: str


def draw_marks(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return a lane's events: a thin upright and, under the plot, shape and word."""
    happenings = sorted(
        (
            *_marks(story, lane, scale),
            *_truncations(story, lane, scale),
            *_silences(story, lane, scale),
            *_replacements(story, lane, scale),
        )
    )
    lefts = _apart([(one.x - 4, text_width(one.words)) for one in happenings], scale.right)
    return group(*(_draw(lane, one, left) for one, left in zip(happenings, lefts, strict=True)), class_="marks")


def _apart(words: Sequence[tuple[float, float]], right: float) -> list[float]:
    """Return where words begin that do not cover one another: as they are asked for, or later, or before the end.

    Args:
        words: where each would begin, in order, and how wide it is.
        right: where the last one ends.
    """
    lefts, free_from = [], 0.0
    for asked, width in words:
        lefts.append(max(free_from, asked))
        free_from = lefts[-1] + width + APART
    free_to = right
    for number in reversed(range(len(words))):
        lefts[number] = min(lefts[number], free_to - words[number][1])
        free_to = lefts[number] - APART
    return lefts


def mark_words(mark: MarkView) -> str:
    """Return a mark as words of a sentence."""
    said = {
        "tail_lost": f"lost offsets {mark.detail}",
        "checkpoint_lost": "lost its high watermark checkpoint",
        "link_cut": "cannot fetch: its link is cut",
        "link_healed": "can fetch again: its link is healed",
    }
    if mark.kind == "election_requested":
        return f"{mark.detail} election asked for"
    return f"broker {mark.broker} {said.get(mark.kind, mark.kind)}"


def draw_checkpoints(story: Story, layout: PictureLayout, scale: TimeScale) -> Markup:
    """Return the numbered dotted lines through all lanes, one a checkpoint."""
    top = layout.top - 1
    checkpoints = [step for step in story.steps if step.taken.word == "checkpoint"]
    return group(
        *(
            group(
                titled(f"Checkpoint {number}: {step.taken.subject}"),
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
        _Happening(scale.at(mark.at), _words(mark), mark.kind.replace("_", "-"), _says(mark, story))
        for mark in story.marks
        if mark.broker == lane.broker
    ]


def _says(mark: MarkView, story: Story) -> str:
    """Return a mark in words, with what proves the fault that it stands for."""
    return f"{mark.text or _words(mark)}{proof_words(mark, story)}"


def proof_words(mark: MarkView, story: Story) -> str:
    """Return what proves the fault of a mark, to be written behind it; empty if it stands for no fault."""
    return story.said_of(mark.at.step) if mark.kind in _OF_FAULTS else ""


def _words(mark: MarkView) -> str:
    return _WORDS[mark.kind].format(detail=mark.detail)


def _silences(story: Story, lane: Lane, scale: TimeScale) -> list[_Happening]:
    """Return where the lag time passed without this broker's fetches."""
    return [
        _Happening(
            scale.left_of(step.index) + 8,
            "◷ silent",
            "silent",
            f"no fetch for {step.seconds or 'the lag time'}",
        )
        for step in story.steps
        if lane.broker in step.taken.followers
    ]


def _truncations(story: Story, lane: Lane, scale: TimeScale) -> list[_Happening]:
    """Return where the log became shorter and no disk had forgotten its end."""
    lost = {scale.at(mark.at) for mark in story.marks if mark.kind == "tail_lost" and mark.broker == lane.broker}
    points = corners(story, story.measured, lane.broker, "log_end_offset", scale)
    return [
        _Happening(x + 0.5, f"✂ cut to {value}", "truncated", f"log truncated from {before} to {value}")
        for (_, before), (x, value) in pairwise(points)
        if value < before and x not in lost
    ]


def _replacements(story: Story, lane: Lane, scale: TimeScale) -> list[_Happening]:
    """Return where records were cut and others took their place within one step, so that no number shows it."""
    return [
        _Happening(
            change_at(scale, story.marks, lane.broker, held.step) + 0.5,
            f"✂ cut {held.replaced}",
            "truncated",
            f"log truncated to {held.offset}: {held.replaced} was cut",
        )
        for held in story.held_records
        if held.broker == lane.broker and held.replaced is not None
    ]


def _draw(lane: Lane, happening: _Happening, left: float) -> Markup:
    return group(
        titled(f"{lane_name(lane)}: {happening.says}"),
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


# Which frame stood still between two replicas? A bar between their lanes, from caught to released.
#
# An arrow leaves the sender's lane and ends at the bar: the frame is on its way. Where it is released
# a second arrow runs on to the receiver; where it is discharged or thrown away the bar ends in a cross.
# An arrow that runs behind another replica's lane is dashed.


_THICK = 7.0


def draw_held_frames(story: Story, layout: PictureLayout) -> Markup:
    """Return every held frame of the sheet."""
    return group(*(_held(bar, layout, story.said_of(bar.frame.armed_in)) for bar in layout.bars), class_="held-frames")


def _held(bar: Bar, layout: PictureLayout, proof: str) -> Markup:
    frame = bar.frame
    sender, receiver = frame.ends
    words = f"{frame.label} ({frame.name}): from {end_words(sender)} to {end_words(receiver)}, {frame.ending}{proof}"
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
