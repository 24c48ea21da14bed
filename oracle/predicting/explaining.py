"""Why does each record end as it does, and why is each number of a checkpoint what it is?

A story is told by the changes that happened on the way: of a record every change about it, of a number the
last change that moved it, with the holds that keep it where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oracle.predicting.wording import ChangeKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.predicting.wording import Change, Chronicle
    from oracle.prediction import Moment, Prediction, RecordPrediction
    from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class RecordStory:
    """One record's way, oldest change first.

    Attributes:
        decided_by: the step and the rule that decided its fate.
    """

    record: RecordPrediction
    changes: Chronicle

    def as_json(self) -> dict[str, Any]:
        """Return the story as ``predict --explain --json`` has it."""
        return {
            "label": self.record.label,
            "fate": self.record.fate.value,
            "decided_by": self.record.decided_by,
            "changes": [change.as_json() for change in self.changes],
        }


@dataclass(frozen=True, slots=True)
class NumberStory:
    """One number of a checkpoint.

    Attributes:
        what: the number in words.
        broker: whose it is; None if it is the partition's.
        changes: what moved it last; nothing if it is as the partition was created.
        holds: the frames whose being held keeps it from moving on.
    """

    what: str
    broker: BrokerId | None
    value: str
    changes: Chronicle = ()
    holds: Chronicle = ()

    def as_json(self) -> dict[str, Any]:
        """Return the story as ``predict --explain --json`` has it."""
        return {
            "what": self.what,
            "broker": self.broker,
            "value": self.value,
            "changes": [change.as_json() for change in self.changes],
            "holds": [change.as_json() for change in self.holds],
        }


@dataclass(frozen=True, slots=True)
class CheckpointStory:
    """Every number of one checkpoint."""

    name: str
    numbers: tuple[NumberStory, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the story as ``predict --explain --json`` has it."""
        return {"name": self.name, "numbers": [number.as_json() for number in self.numbers]}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a prediction says what it says."""

    checkpoints: tuple[CheckpointStory, ...]
    records: tuple[RecordStory, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the value of ``explanation`` in ``predict --explain --json``."""
        return {
            "checkpoints": [checkpoint.as_json() for checkpoint in self.checkpoints],
            "records": [record.as_json() for record in self.records],
        }


def explain(prediction: Prediction) -> Explanation:
    """Explain every record's fate and every number of every checkpoint; of an open race give it one alternative's."""
    return Explanation(
        checkpoints=tuple(
            CheckpointStory(moment.name or "", tuple(_numbers(moment, prediction.chronicle)))
            for moment in prediction.checkpoints
        ),
        records=tuple(
            RecordStory(record, tuple(c for c in prediction.chronicle if record.label in c.records))
            for record in prediction.records
        ),
    )


def _numbers(moment: Moment, chronicle: Chronicle) -> Iterator[NumberStory]:
    past = tuple(change for change in chronicle if change.step <= moment.step)
    leader = "none" if moment.leader is None else f"broker {moment.leader}"
    yield NumberStory("leader", None, leader, _last(past, None, ChangeKind.ELECTED, ChangeKind.LEADERLESS))
    isr = f"{{{', '.join(map(str, moment.isr))}}}"
    yield NumberStory("ISR", None, isr, _last(past, None, ChangeKind.ISR))
    for broker, numbers in moment.replicas.items():
        holds = _standing(past, broker)
        if not numbers.alive:
            yield NumberStory("process", broker, "down", _last(past, broker, ChangeKind.PROCESS))
        end = _last(past, broker, ChangeKind.APPENDED, ChangeKind.CUT)
        yield NumberStory("log end offset", broker, str(numbers.log_end_offset), end, holds)
        moved = _last(past, broker, ChangeKind.HIGH_WATERMARK)
        yield NumberStory("high watermark", broker, str(numbers.high_watermark), moved, holds)


def _last(past: Chronicle, broker: BrokerId | None, *kinds: ChangeKind) -> Chronicle:
    found = [c for c in past if c.kind in kinds and (broker is None or c.broker == broker)]
    return tuple(found[-1:])


def _standing(past: Chronicle, broker: BrokerId) -> Chronicle:
    """Return the holds that have caught a frame of a follower's and still keep it."""
    standing: dict[str | None, Change] = {}
    for change in past:
        if change.kind is ChangeKind.HELD and change.broker == broker:
            standing[change.hold] = change
        elif change.kind is ChangeKind.LET_GO:
            standing.pop(change.hold, None)
    return tuple(standing.values())
