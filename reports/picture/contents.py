"""Which records did a replica hold at which time? Inferred, and shown only where the end confirms it.

Nobody decodes segments in the middle of a run. But a leader that grows during a produce step holds that
step's records, a follower that grows copies its leader's log, and a truncation cuts. Where this does not
end at exactly the logs that were decoded after the run, followers in sync are taken to have cut what their
leader never had, unless a held frame keeps them from knowing their leader. If that does not either, no label
is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from reports.picture.lanes import corners
from reports.picture.scale import TimeScale, change_at
from reports.picture.status import misses_leader_change
from reports.svg import clipped, element, group, label, titled

if TYPE_CHECKING:
    from reports.model import FinalLogs
    from reports.picture.layout import Lane
    from reports.story import MarkView, MomentView, StepView, Story

_OFFSETS_MAX = 5


class Stay(NamedTuple):
    """A record that one replica held from one step on."""

    broker: int
    offset: int
    label: str
    step: int


def draw_contents(story: Story, final: FinalLogs, lane: Lane, scale: TimeScale) -> Markup:
    """Write every record's label into the lane where the replica's log end offset rose over it."""
    if lane.offsets.offset_max > _OFFSETS_MAX:
        return group()
    return group(
        *(
            label(
                change_at(scale, story.marks, lane.broker, stay.step) + 6,
                lane.offsets.y(stay.offset + 0.5) + 4.5,
                clipped(stay.label, 8),
                "content",
            )
            for stay in confirmed_stays(story, final)
            if stay.broker == lane.broker
        )
    )


def confirmed_stays(story: Story, final: FinalLogs) -> list[Stay]:
    """Return which record every replica held from when on; nothing if the final logs say otherwise."""
    measured = {log.broker: [entry.label for entry in log.entries] for log in final.logs}
    for cuts in (False, True):
        logs: dict[int, list[str]] = {broker: [] for broker in story.replicas}
        stays: list[Stay] = []
        for moment in story.measured:
            if moment.step < len(story.steps):
                stays += _grown(logs, moment, story.steps[moment.step])
                stays += _agreed(story, logs, moment) if cuts else []
        if final.measured and logs == measured:
            return stays
    return []


def replaced_stays(story: Story, final: FinalLogs) -> list[Stay]:
    """Return the records that were cut while others took their place: label cut, and the step in which it was."""
    found: list[Stay] = []
    held: dict[tuple[int, int], str] = {}
    ends: dict[int, int] = {}
    stays = confirmed_stays(story, final)
    for moment in story.measured:
        for stay in (stay for stay in stays if stay.step == moment.step):
            before = held.get((stay.broker, stay.offset))
            if before is not None and before != stay.label and ends.get(stay.broker, 0) > stay.offset:
                found.append(stay._replace(label=before))
            held[stay.broker, stay.offset] = stay.label
        ends |= {broker: number.log_end_offset or 0 for broker, number in moment.replicas.items()}
    return found


def _agreed(story: Story, logs: dict[int, list[str]], moment: MomentView) -> list[Stay]:
    """Replace what a follower in sync holds and its leader does not, and return what took its place."""
    stays: list[Stay] = []
    leader = logs.get(moment.leader, []) if moment.leader is not None else []
    for broker, log in logs.items():
        numbers = moment.replicas.get(broker)
        if (
            broker not in moment.isr
            or numbers is None
            or not numbers.alive
            or misses_leader_change(story, broker, moment.step)
        ):
            continue
        for offset, (own, other) in enumerate(zip(log, leader, strict=False)):
            if own != other:
                log[offset] = other
                stays.append(Stay(broker, offset, other, moment.step))
    return stays


def _grown(logs: dict[int, list[str]], moment: MomentView, step: StepView) -> list[Stay]:
    """Move every log to the moment's log end offset and return what was added.

    The first log is that of the broker that was sent records.
    """
    stays: list[Stay] = []
    named = step.taken.leader if step.taken.word == "produce" else None
    writer = moment.leader if named is None else named
    for broker in sorted(logs, key=lambda broker: broker != writer):
        numbers = moment.replicas.get(broker)
        if numbers is None or numbers.log_end_offset is None:
            continue
        log = logs[broker]
        del log[numbers.log_end_offset :]
        added = _source(logs, writer, broker, step)[: numbers.log_end_offset - len(log)]
        stays += [Stay(broker, len(log) + i, added[i], step.index) for i in range(len(added))]
        log += added
    return stays


def _source(logs: dict[int, list[str]], writer: int | None, broker: int, step: StepView) -> list[str]:
    if broker == writer:
        return list(step.taken.records)
    return logs.get(writer, [])[len(logs[broker]) :] if writer is not None else []


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
