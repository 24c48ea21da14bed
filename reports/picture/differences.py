"""Where did a replica's numbers differ from the prediction? A dotted line at the predicted offset, with words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.picture.scale import TimeScale, change_at
from reports.svg import element, group, label, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from reports.picture.layout import Lane
    from reports.story import Moment, Story

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
            free_from = left + text_width(words, 12)
            drawn.append(_words(lane, scale, left, max(expected.values()), words))
        said = expected
    return group(*drawn, class_="differences")


def differing(measured: Moment, predicted: Moment | None, broker: int) -> dict[str, int]:
    """Return the predicted numbers that were not measured, by their short names."""
    replica, expected = measured.replicas.get(broker), predicted.replicas.get(broker) if predicted else None
    if replica is None or expected is None:
        return {}
    pairs = {name: (getattr(expected, number), getattr(replica, number)) for number, name in _NAMES.items()}
    return {name: wanted for name, (wanted, found) in pairs.items() if wanted is not None and wanted != found}


def _extent(story: Story, lane: Lane, scale: TimeScale, position: int) -> tuple[float, float]:
    """Return from where to where a moment's numbers are drawn."""
    moments: Sequence[Moment] = story.measured
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
