"""How did the replicas stand at each checkpoint? A still a checkpoint: states, logs by offset, frames held just then.

Log end offset, high watermark, leader, leader epoch and ISR are measured. Which record lies at an offset is what the
judge infers and the logs after the run confirm (``conformance.record.verdict.HeldRecord``); where it infers nothing,
an offset has no label. Nothing is compared here: what differs from the prediction, the judge has said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.picture.cells import have_epochs
from reports.picture.status import status_of
from reports.story import end_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conformance.record.verdict import HeldRecord
    from reports.model import CheckpointView, ComparisonView, FinalLogs, RunView
    from reports.story import HeldFrameView, MomentView, NumbersView, StepView, Story

COLUMNS_MAX = 10
"""So many offsets are drawn; of longer logs those just below the log end offsets and high watermarks."""
UNKNOWN = "?"
_OBSTACLES = {"paused": "‖ paused", "isolated": "⊗ isolated", "link_cut": "⊗ link cut"}
_OVER = {"resumed": "paused", "rejoined": "isolated", "link_healed": "link_cut"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One offset of one replica's log.

    Attributes:
        label: the record; empty where the log does not reach, ``UNKNOWN`` where nobody knows it.
        epoch: the leader epoch that it was written under, if known.
        cut: the record that the last still had here, and this one has not; empty if there is none.
        is_committed: whether it lies below the replica's high watermark.
        is_last: whether the log ends behind it.
        is_new: whether the last still did not have it here.
    """

    label: str = ""
    epoch: int | None = None
    cut: str = ""
    is_committed: bool = False
    is_last: bool = False
    is_new: bool = False

    @property
    def css(self) -> str:
        """Return the cell's classes: o an offset, r a record, c committed, e the log's end."""
        marks = {"o": True, "r": bool(self.label), "c": self.is_committed, "e": self.is_last}
        return " ".join(name for name, has in marks.items() if has)


@dataclass(frozen=True, slots=True)
class Number:
    """A log end offset or a high watermark.

    Attributes:
        predicted: what was predicted, if that was another.
        is_new: whether the last still had another.
    """

    value: int | None
    predicted: int | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class ReplicaRow:
    """One replica at one moment."""

    broker: int
    state: str
    is_state_new: bool
    is_down: bool
    cells: tuple[Cell, ...]
    log_end_offset: Number
    high_watermark: Number


@dataclass(frozen=True, slots=True)
class Still:
    """The partition at rest at a checkpoint, or when the run ended.

    Attributes:
        number: the checkpoint's, from 1; None of the end.
        since: the steps taken since the last still.
        held: the frames that are held, in words.
        differing: what was not as predicted.
    """

    number: int | None
    title: str
    since: tuple[StepView, ...]
    held: tuple[str, ...]
    rows: tuple[ReplicaRow, ...]
    differing: tuple[ComparisonView, ...]


@dataclass(frozen=True, slots=True)
class Stills:
    """All stills of a run.

    Attributes:
        columns: the offsets drawn; None stands for some that are left out.
    """

    columns: tuple[int | None, ...]
    stills: tuple[Still, ...]
    has_labels: bool
    has_epochs: bool


def stills_of(run: RunView) -> Stills:
    """Return the stills of a run; none if nothing was measured at rest."""
    story = run.story
    moments = [moment for moment in story.measured if moment.step < len(story.steps) and moment.replicas]
    shown = [moment for moment in moments if moment is moments[-1] or _is_checkpoint(story, moment.step)]
    columns, epochs = _columns(shown), _epochs(story, run.final_logs)
    stills, before, numbers = [], None, iter(range(1, len(shown) + 1))
    for moment in shown:
        number = next(numbers) if _is_checkpoint(story, moment.step) else None
        compared = None if number is None else _at(run.checkpoints, number)
        rows = tuple(_row(story, moment, before, broker, columns, epochs) for broker in story.replicas)
        stills.append(_still(story, moment, before, number, compared, rows))
        before = moment
    return Stills(columns, tuple(stills), bool(story.held_records), bool(epochs))


def _is_checkpoint(story: Story, step: int) -> bool:
    return story.steps[step].taken.word == "checkpoint"


def _at(checkpoints: Sequence[CheckpointView], number: int) -> CheckpointView | None:
    return checkpoints[number - 1] if number <= len(checkpoints) else None


def _still(
    story: Story,
    moment: MomentView,
    before: MomentView | None,
    number: int | None,
    compared: CheckpointView | None,
    rows: tuple[ReplicaRow, ...],
) -> Still:
    first = 0 if before is None else before.step + 1
    return Still(
        number=number,
        title="the run ends" if number is None else story.steps[moment.step].taken.subject,
        since=story.steps[first : moment.step + (number is None)],
        held=tuple(_held_words(frame) for frame in story.held_frames if _is_held(frame, moment.step)),
        rows=rows,
        differing=() if compared is None else tuple(row for row in compared.rows if not row.agrees),
    )


def _is_held(frame: HeldFrameView, step: int) -> bool:
    return frame.caught.step <= step and (frame.ended is None or frame.ended.step > step)


def _held_words(frame: HeldFrameView) -> str:
    sender, receiver = map(end_words, frame.ends)
    return f"{frame.label.removesuffix(' held')} from {sender} to {receiver}"


# Which offsets have a column? All of a short log; of a long one those near which something ends.


def _columns(moments: Sequence[MomentView]) -> tuple[int | None, ...]:
    seen = [numbers for moment in moments for numbers in moment.replicas.values()]
    end = max((numbers.log_end_offset or 0 for numbers in seen), default=0)
    if end <= COLUMNS_MAX:
        return tuple(range(end))
    near: dict[int, None] = {}
    for numbers in reversed(seen):
        for edge in (numbers.log_end_offset, numbers.high_watermark):
            near |= dict.fromkeys(offset for offset in ((edge or 0) - 1, (edge or 0) - 2) if offset >= 0)
    return tuple(_with_gaps(sorted(list(near)[:COLUMNS_MAX])))


def _with_gaps(offsets: Iterable[int]) -> Iterator[int | None]:
    following = 0
    for offset in offsets:
        if offset != following:
            yield None
        yield offset
        following = offset + 1


# What stands in a replica's row? Its state, a cell an offset, its numbers; each beside the last still's.


def _row(
    story: Story,
    moment: MomentView,
    before: MomentView | None,
    broker: int,
    columns: Sequence[int | None],
    epochs: Mapping[tuple[int, str], int],
) -> ReplicaRow:
    now, then = moment.replicas.get(broker), None if before is None else before.replicas.get(broker)
    state = _state(story, moment, broker)
    labels = _labels(story.held_records, broker, moment.step, now)
    earlier = labels if before is None else _labels(story.held_records, broker, before.step, then)
    wanted = story.predicted_instead(moment.step, broker)
    cells = (Cell() if at is None else _cell(at, labels, earlier, now, epochs) for at in columns)
    names = ("log_end_offset", "high_watermark")
    end, watermark = (_number(now, then, wanted, name) for name in names)
    is_new = before is not None and state != _state(story, before, broker)
    return ReplicaRow(broker, state, is_new, now is not None and not now.alive, tuple(cells), end, watermark)


def _state(story: Story, moment: MomentView, broker: int) -> str:
    """Return what a replica is, and what of it stands still."""
    under: dict[str, str] = {}
    for mark in story.marks:
        if mark.broker == broker and mark.at.step <= moment.step:
            under |= {mark.kind: _OBSTACLES[mark.kind]} if mark.kind in _OBSTACLES else {}
            under.pop(_OVER.get(mark.kind, ""), None)
    return ", ".join((status_of(story, moment, broker).words, *under.values()))


def _labels(held: Iterable[HeldRecord], broker: int, step: int, numbers: NumbersView | None) -> dict[int, str]:
    """Return the record at each offset of a replica's log after a step."""
    end = 0 if numbers is None else numbers.log_end_offset or 0
    known = {one.offset: one.label for one in held if one.broker == broker and one.step <= step}
    return {offset: known.get(offset, UNKNOWN) for offset in range(end)}


def _cell(
    offset: int,
    labels: Mapping[int, str],
    earlier: Mapping[int, str],
    numbers: NumbersView | None,
    epochs: Mapping[tuple[int, str], int],
) -> Cell:
    label, was = labels.get(offset, ""), earlier.get(offset, "")
    watermark = 0 if numbers is None else numbers.high_watermark or 0
    return Cell(
        label=label,
        epoch=epochs.get((offset, label)),
        cut=was if was != label else "",
        is_committed=bool(label) and offset < watermark,
        is_last=bool(label) and offset + 1 not in labels,
        is_new=bool(label) and label != was,
    )


def _number(now: NumbersView | None, then: NumbersView | None, wanted: Mapping[str, int], name: str) -> Number:
    value = None if now is None else getattr(now, name)
    return Number(value, wanted.get(name), then is not None and getattr(then, name) != value)


def _epochs(story: Story, final: FinalLogs) -> dict[tuple[int, str], int]:
    """Return the leader epoch of a record at an offset: as decoded; of one that is gone, the partition's as it came.

    Where the format of messages has no epochs there are none.
    """
    if not have_epochs(final):
        return {}
    leading = {moment.step: moment.leader_epoch for moment in story.measured}
    came: dict[tuple[int, str], int] = {}
    for held in story.held_records:
        if (epoch := leading.get(held.step)) is not None:
            came.setdefault((held.offset, held.label), epoch)
    decoded = ((entry, entry.leader_epoch) for log in final.logs for entry in log.entries)
    return came | {(entry.offset, entry.label): epoch for entry, epoch in decoded if epoch is not None}
