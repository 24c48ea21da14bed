"""How did one replica's log end offset and high watermark move? Two step lines and the area between."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from reports.picture.layout import STRIP
from reports.picture.scale import LEFT, TimeScale, change_at
from reports.story import CONTROLLER
from reports.svg import element, group, label, text_width, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.picture.layout import Lane
    from reports.picture.scale import TimeScale
    from reports.story import MomentView, Story


Point = tuple[float, float]
Corner = tuple[float, int]
_APART = 1.4


def draw_lane(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return one replica's lane without its events: frame, offsets, areas and the two lines."""
    log_end = corners(story, story.measured, lane.broker, "log_end_offset", scale)
    watermark = corners(story, story.measured, lane.broker, "high_watermark", scale)
    return group(
        _frame(lane, scale),
        _area(lane, log_end, scale, "url(#area-uncommitted)"),
        _area(lane, watermark, scale, None),
        _line(lane, watermark, scale, "high-watermark", _APART),
        _line(lane, log_end, scale, "log-end-offset", -_APART),
        _numbers(lane, log_end, scale),
        _end_labels(lane, log_end, watermark, scale),
        class_="lane",
    )


def corners(
    story: Story, moments: Sequence[MomentView], broker: int, number: str, scale: TimeScale
) -> tuple[Corner, ...]:
    """Return where a number takes a new value: (x, value), from left to right."""
    found: list[Corner] = []
    for moment in moments:
        replica = moment.replicas.get(broker)
        value = getattr(replica, number) if replica else None
        if value is not None and (not found or found[-1][1] != value):
            found.append((change_at(scale, story.marks, broker, moment.step), value))
    return tuple(found)


def _frame(lane: Lane, scale: TimeScale) -> Markup:
    width = scale.right - LEFT
    lines = [
        element("line", x1=LEFT, x2=scale.right, y1=lane.offsets.y(tick), y2=lane.offsets.y(tick), class_="grid")
        for tick in lane.offsets.ticks()
    ]
    numbers = [
        label(LEFT - 8, lane.offsets.y(tick) + 3.5, str(tick), "tick", text_anchor="end")
        for tick in lane.offsets.ticks()
    ]
    return group(
        element("rect", x=LEFT, y=lane.top, width=width, height=lane.bottom - lane.top, class_="lane-ground"),
        *lines,
        *numbers,
        label(4, name_base(lane), lane_name(lane), "lane-name"),
        label(4, name_base(lane) + 15, "offset", "tick"),
    )


def lane_name(lane: Lane) -> str:
    """Return whose lane it is, in words."""
    return "controller" if lane.broker == CONTROLLER else f"broker {lane.broker}"


def name_base(lane: Lane) -> float:
    """Return on which line of the picture its name stands."""
    return lane.top + 14 if lane.broker == CONTROLLER else lane.offsets.y(lane.offsets.offset_max / 2) - 3


def _path(lane: Lane, points: Sequence[Corner], right: float, shift: float) -> list[Point]:
    """Return the outline of a step line, from its first corner to the right edge."""
    outline: list[Point] = []
    for position, (x, value) in enumerate(points):
        y = lane.offsets.y(value) + shift
        end = points[position + 1][0] if position + 1 < len(points) else right
        outline += [(x, y), (end, y)]
    return outline


def _line(lane: Lane, points: Sequence[Corner], scale: TimeScale, css: str, shift: float) -> Markup:
    outline = _path(lane, points, scale.right, shift)
    if not outline:
        return Markup()
    return element("polyline", points=_written(outline), class_=css)


def _area(lane: Lane, points: Sequence[Corner], scale: TimeScale, fill: str | None) -> Markup:
    outline = _path(lane, points, scale.right, 0)
    if not outline:
        return Markup()
    ground = lane.offsets.y(0)
    closed = [(outline[0][0], ground), *outline, (outline[-1][0], ground)]
    return element("polygon", points=_written(closed), class_=None if fill else "committed", fill=fill)


def _written(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _numbers(lane: Lane, points: Sequence[Corner], scale: TimeScale) -> Markup:
    """Write the log end offset at every change, so that nobody has to measure heights."""
    return group(
        *(label(x + 4, lane.offsets.y(value) - 5, str(value), "value") for x, value in points if x + 12 < scale.right)
    )


def _end_labels(lane: Lane, log_end: Sequence[Corner], watermark: Sequence[Corner], scale: TimeScale) -> Markup:
    if not log_end:
        return label(scale.right + 8, lane.offsets.y(0), "not measured", "tick")
    log_end_y = lane.offsets.y(log_end[-1][1])
    words = [label(scale.right + 8, log_end_y - 2, f"LEO {log_end[-1][1]}", "end-log-end-offset")]
    if watermark:
        watermark_y = max(lane.offsets.y(watermark[-1][1]) + 4, log_end_y + 12)
        words.append(label(scale.right + 8, watermark_y, f"HW {watermark[-1][1]}", "end-high-watermark"))
    return group(titled(f"broker {lane.broker} at the end"), *words)


# What had the controller decided, and when? A low lane under the replicas, drawn where the controller takes part.


class _Decision(NamedTuple):
    left: float
    right: float
    forms: tuple[str, ...]
    """From the longest to the shortest."""


def draw_controller(story: Story, lane: Lane | None, scale: TimeScale) -> Markup:
    """Return the controller's lane: the leader and ISR it has committed, without its marks."""
    if lane is None:
        return Markup()
    box = {"x": LEFT, "y": lane.top, "width": scale.right - LEFT, "height": lane.bottom - lane.top}
    return group(
        element("rect", **box, class_="lane-ground"),
        label(4, name_base(lane), lane_name(lane), "lane-name"),
        label(4, name_base(lane) + 15, "decided", "tick"),
        *(_segment(lane, decision) for decision in _decisions(story, scale)),
        class_="controller",
    )


def _decisions(story: Story, scale: TimeScale) -> list[_Decision]:
    found: list[_Decision] = []
    for moment in story.measured:
        forms = _forms(moment)
        if found and found[-1].forms == forms:
            continue
        left = _change(story, scale, moment) if found else LEFT
        if found:
            found[-1] = found[-1]._replace(right=left)
        found.append(_Decision(left, scale.right, forms))
    return found


def _change(story: Story, scale: TimeScale, moment: MomentView) -> float:
    """Return where in its step a decision fell: at the election or what brought it about, or midway."""
    at = [scale.at(mark.at) for mark in story.marks if mark.at.step == moment.step and mark.kind == "elected"]
    return at[-1] if at else scale.middle_of(moment.step)


def _forms(moment: MomentView) -> tuple[str, ...]:
    isr = "ISR {" + ", ".join(str(broker) for broker in moment.isr) + "}"
    if moment.leader is None:
        return f"no leader, {isr}", "no leader", "none"
    epoch = "" if moment.leader_epoch is None else f", epoch {moment.leader_epoch}"
    leader = f"leader {moment.leader}"
    return f"{leader}{epoch}, {isr}", f"{leader}, {isr}", f"{leader}{epoch}", leader, str(moment.leader)


def _segment(lane: Lane, decision: _Decision) -> Markup:
    width = decision.right - decision.left
    words = next((form for form in decision.forms if text_width(form) + 8 <= width), "")
    return group(
        titled(f"the controller has decided: {decision.forms[0]}"),
        element("rect", x=decision.left, y=lane.top, width=width, height=STRIP, class_="strip decided"),
        label(decision.left + 6, lane.top + 13, words, "strip-words decided"),
    )


# Where did a replica's numbers differ from the prediction? A dotted line at the predicted offset, with words.


_NAMES = {"log_end_offset": "LEO", "high_watermark": "HW"}


def draw_differences(story: Story, lane: Lane, scale: TimeScale) -> Markup:
    """Return the predicted log end offset and high watermark wherever the measured ones differ."""
    drawn: list[Markup] = []
    said: Mapping[str, int] = {}
    free_from = 0.0
    for position, moment in enumerate(story.measured):
        instead = story.predicted_instead(moment.step, lane.broker)
        expected = {_NAMES[number]: value for number, value in instead.items()}
        left, right = _extent(story, lane, scale, position)
        drawn += [_predicted_line(lane, value, left, right) for value in set(expected.values())]
        if expected and expected != said and left >= free_from:
            words = "≠ predicted " + ", ".join(f"{name} {value}" for name, value in expected.items())
            free_from = left + text_width(words) + 8
            drawn.append(_predicted_words(lane, scale, left, max(expected.values()), words))
        said = expected
    return group(*drawn, class_="differences")


def _extent(story: Story, lane: Lane, scale: TimeScale, position: int) -> tuple[float, float]:
    """Return from where to where a moment's numbers are drawn."""
    moments: Sequence[MomentView] = story.measured
    left = change_at(scale, story.marks, lane.broker, moments[position].step)
    if position + 1 == len(moments):
        return left, scale.right
    return left, change_at(scale, story.marks, lane.broker, moments[position + 1].step)


def _predicted_line(lane: Lane, value: int, left: float, right: float) -> Markup:
    y = lane.offsets.y(value)
    return element("line", x1=left, x2=right, y1=y, y2=y, class_="predicted")


ABOVE_A_VALUE = 18.0
"""How far above its line words stand: below them the measured numbers do."""


def _predicted_words(lane: Lane, scale: TimeScale, left: float, value: int, words: str) -> Markup:
    x = min(left + 3, scale.right - text_width(words))
    y = max(lane.offsets.y(value) - ABOVE_A_VALUE, lane.top + STRIP + 12)
    return label(x, y, words, "predicted-words")
