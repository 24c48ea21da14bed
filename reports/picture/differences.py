"""Where did a replica's numbers differ from the prediction? A dotted line at the predicted offset, with words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.picture.contents import confirmed_stays
from reports.picture.lanes import corners
from reports.picture.scale import TimeScale, change_at
from reports.svg import clipped, element, group, label, text_width, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.model import FinalLogs
    from reports.picture.layout import Lane
    from reports.story import MarkView, MomentView, Story


_NAMES = {"log_end_offset": "LEO", "high_watermark": "HW"}


def draw_differences(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return the predicted log end offset and high watermark wherever the measured ones differ."""
    predicted = {moment.step: moment for moment in story.predicted}
    drawn: list[Markup] = []
    said: Mapping[str, int] = {}
    free_from = 0.0
    for position, moment in enumerate(story.measured):
        expected = differing(moment, predicted.get(moment.step), lane.broker)
        left, right = _extent(story, lane, scale, position)
        drawn += [_line(lane, value, left, right) for value in set(expected.values())]
        if expected and expected != said and left >= free_from:
            words = "≠ predicted " + ", ".join(f"{name} {value}" for name, value in expected.items())
            free_from = left + text_width(words, 12) + 8
            drawn.append(_words(lane, scale, left, max(expected.values()), words))
        said = expected
    return group(*drawn, class_="differences")


def differing(measured: MomentView, predicted: MomentView | None, broker: int) -> dict[str, int]:
    """Return the predicted numbers that were not measured, by their short names."""
    replica, expected = measured.replicas.get(broker), predicted.replicas.get(broker) if predicted else None
    if replica is None or expected is None:
        return {}
    pairs = {name: (getattr(expected, number), getattr(replica, number)) for number, name in _NAMES.items()}
    return {name: wanted for name, (wanted, found) in pairs.items() if wanted is not None and wanted != found}


def _extent(story: Story, lane: Lane, scale: TimeScale, position: int) -> tuple[float, float]:
    """Return from where to where a moment's numbers are drawn."""
    moments: Sequence[MomentView] = story.measured
    left = change_at(scale, story.marks, lane.broker, moments[position].step)
    if position + 1 == len(moments):
        return left, scale.right
    return left, change_at(scale, story.marks, lane.broker, moments[position + 1].step)


def _line(lane: Lane, value: int, left: float, right: float) -> Markup:
    y = lane.offsets.y(value)
    return element("line", x1=left, x2=right, y1=y, y2=y, class_="predicted")


def _words(lane: Lane, scale: TimeScale, left: float, value: int, words: str) -> Markup:
    x = min(left + 3, scale.right - text_width(words, 12))
    return label(x, lane.offsets.y(value) - 5, words, "predicted-words")


# What did a disk forget? Records, crossed out where they lay, their labels struck through; a high watermark.


_COLUMNS_MAX = 1.3
_LABELS_MAX = 5
_LETTER = 7.2
"""Width of a letter of the labels' monospaced face, in user units."""


def draw_vanished(story: Story, final: FinalLogs, lane: Lane, scale: TimeScale) -> Markup:
    """Return a block for every tail that the lane's broker lost, and words for every lost checkpoint."""
    own = [mark for mark in story.marks if mark.broker == lane.broker]
    tails = (_block(story, final, lane, scale, mark) for mark in own if mark.kind == "tail_lost")
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


def _block(story: Story, final: FinalLogs, lane: Lane, scale: TimeScale, mark: MarkView) -> Markup:
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
            _struck_through(left + 8, lane.offsets.y(offset + 0.5) + 4.5, clipped(words, 8))
            for offset, words in _labels(story, final, lane, mark).items()
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


def _labels(story: Story, final: FinalLogs, lane: Lane, mark: MarkView) -> dict[int, str]:
    """Return what the replica held at every offset when it was lost, if the final logs confirm it."""
    stays = confirmed_stays(story, final)
    return {stay.offset: stay.label for stay in stays if stay.broker == lane.broker and stay.step < mark.at.step}
