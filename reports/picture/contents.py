"""Which records did a replica hold at which time? Inferred, and shown only where the end confirms it.

Nobody decodes segments in the middle of a run. But a leader that grows during a produce step holds that
step's records, a follower that grows copies its leader's log, and a truncation cuts. If this reasoning
ends at exactly the logs that were decoded after the run, the labels are drawn; otherwise none is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reports.picture.scale import TimeScale, change_at
from reports.svg import clipped, group, label

if TYPE_CHECKING:
    from markupsafe import Markup

    from reports.model import FinalLogs, Moment, Step, Story
    from reports.picture.layout import Lane

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
    logs: dict[int, list[str]] = {broker: [] for broker in story.replicas}
    stays: list[Stay] = []
    for moment in story.measured:
        if moment.step < len(story.steps):
            stays += _grown(logs, moment, story.steps[moment.step])
    measured = {log.broker: [entry.label for entry in log.entries] for log in final.logs}
    return stays if final.measured and logs == measured else []


def _grown(logs: dict[int, list[str]], moment: Moment, step: Step) -> list[Stay]:
    """Move every log to the moment's log end offset, the leader first, and return what was added."""
    stays: list[Stay] = []
    for broker in sorted(logs, key=lambda broker: broker != moment.leader):
        numbers = moment.replicas.get(broker)
        if numbers is None or numbers.log_end_offset is None:
            continue
        log = logs[broker]
        del log[numbers.log_end_offset :]
        added = _source(logs, moment, broker, step)[: numbers.log_end_offset - len(log)]
        stays += [Stay(broker, len(log) + i, added[i], step.index) for i in range(len(added))]
        log += added
    return stays


def _source(logs: dict[int, list[str]], moment: Moment, broker: int, step: Step) -> list[str]:
    if broker == moment.leader:
        labels = step.arguments.get("records") or [] if step.verb == "produce" else []
        return [str(item) for item in labels]
    return logs.get(moment.leader, [])[len(logs[broker]) :] if moment.leader is not None else []
