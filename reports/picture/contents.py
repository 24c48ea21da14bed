"""Which records did a replica hold at which time? As the judge says it: drawn where a log rose over them.

Nobody decodes segments in the middle of a run: conformance/judgement/held_records.py says what the logs after the run
confirm. Where they confirm nothing, no label is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.picture.lanes import corners
from reports.picture.scale import TimeScale, change_at
from reports.svg import clipped, element, group, label, titled

if TYPE_CHECKING:
    from reports.picture.layout import Lane
    from reports.story import MarkView, Story

_OFFSETS_MAX = 5


def draw_contents(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Write every record's label into the lane where the replica's log end offset rose over it."""
    if lane.offsets.offset_max > _OFFSETS_MAX:
        return group()
    return group(
        *(
            label(
                change_at(scale, story.marks, lane.broker, held.step) + 6,
                lane.offsets.y(held.offset + 0.5) + 4.5,
                clipped(held.label, 8),
                "content",
            )
            for held in story.held_records
            if held.broker == lane.broker
        )
    )


# What did a disk forget? Records, crossed out where they lay, their labels struck through; a high watermark.


_COLUMNS_MAX = 1.3
_LABELS_MAX = 5
_LETTER = 7.2
"""Width of a letter of the labels' monospaced face, in user units."""


def draw_vanished(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return a block for every tail that the lane's broker lost, and words for every lost checkpoint."""
    own = [mark for mark in story.marks if mark.broker == lane.broker]
    tails = (_block(story, lane, scale, mark) for mark in own if mark.kind == "tail_lost")
    checkpoints = (_fall(story, lane, scale, mark) for mark in own if mark.kind == "checkpoint_lost")
    return group(*tails, *checkpoints, class_="vanished-from-disk")


def _fall(story: Story, lane: Lane, scale: TimeScale, mark: MarkView) -> Markup:
    """Write how far the high watermark fell beside its fall."""
    points = corners(story, story.measured, lane.broker, "high_watermark", scale)
    x = scale.at(mark.at)
    before, after = _around(points, x)
    if before is None or after is None or after >= before:
        return Markup()
    y = lane.offsets.y((before + after) / 2) + 4
    return label(x + 7, y, f"HW {before} → {after}", "fallen-high-watermark")


def _block(story: Story, lane: Lane, scale: TimeScale, mark: MarkView) -> Markup:
    points = corners(story, story.measured, lane.broker, "log_end_offset", scale)
    left = scale.at(mark.at)
    before, after = _around(points, left)
    if before is None or after is None or after >= before:
        return Markup()
    later = [x for x, _ in points if x > left + 1]
    box = {
        "x": left + 2,
        "y": lane.offsets.y(before),
        "width": min([left + _COLUMNS_MAX * scale.column, scale.right, *later]) - left - 2,
        "height": lane.offsets.y(after) - lane.offsets.y(before),
    }
    return group(
        titled(f"broker {lane.broker} lost offsets {after} to {before - 1} with its disk"),
        element("rect", **box, class_="vanished"),
        element("rect", **box, fill="url(#area-lost)"),
        *(
            _struck_through(left + 14, lane.offsets.y(offset + 0.5) + 4.5, clipped(words, 8))
            for offset, words in _labels(story, lane, mark).items()
            if after <= offset < before and before <= _LABELS_MAX
        ),
    )


def _struck_through(x: float, y: float, words: str) -> Markup:
    return group(
        label(x, y, words, "content gone"),
        element("line", x1=x - 2, x2=x + 2 + _LETTER * len(words), y1=y - 4, y2=y - 4, class_="strike"),
    )


def _around(points: tuple[tuple[float, int], ...], x: float) -> tuple[int | None, int | None]:
    """Return a number's values before and after a place."""
    before = [value for at, value in points if at < x - 0.5]
    after = [value for at, value in points if at <= x + 0.5]
    return (before[-1] if before else None), (after[-1] if after else None)


def _labels(story: Story, lane: Lane, mark: MarkView) -> dict[int, str]:
    """Return what the replica held at every offset when it was lost."""
    held = (one for one in story.held_records if one.broker == lane.broker and one.step < mark.at.step)
    return {one.offset: one.label for one in held}
