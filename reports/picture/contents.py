"""Which records did a replica hold at which time? Inferred, and shown only where the end confirms it.

Nobody decodes segments in the middle of a run. But a leader that grows during a produce step holds that
step's records, a follower that grows copies its leader's log, and a truncation cuts. Where this does not
end at exactly the logs that were decoded after the run, followers in sync are taken to have cut what their
leader never had, unless a held frame keeps them from knowing their leader. If that does not either, no label
is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reports.picture.scale import TimeScale, change_at
from reports.picture.status import misses_leader_change
from reports.svg import clipped, group, label

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.model import FinalLogs
    from reports.picture.layout import Lane
    from reports.story import MomentView, StepView, Story

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
