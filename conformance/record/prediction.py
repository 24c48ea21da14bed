"""What was predicted before the first step? ``prediction/prediction.json``, its tables for the join, and their hash.

The form is that of ``predict --json`` (``oracle.prediction.Prediction.as_json``). ``outcome/`` has the same of the
one outcome that fits what was measured, where a race was open.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from conformance.record.answers import AnswerValue  # noqa: TC001 - likewise
from conformance.record.directory import RunDirectoryError
from conformance.record.run import Frozen, read_run, update_run
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

PREDICTION_FILE = "prediction/prediction.json"
OUTCOME_FILE = "outcome/prediction.json"


@dataclass(frozen=True, slots=True)
class PredictedReplica:
    """One replica's offsets at rest; those of a dead broker are what its files say."""

    log_end_offset: int
    high_watermark: int
    alive: bool
    log_start_offset: int = 0


@dataclass(frozen=True, slots=True)
class PredictedMoment:
    """The partition at rest after a step, or at a checkpoint; see ``oracle.prediction.Moment``."""

    step: int
    name: str | None
    replicas: Mapping[int, PredictedReplica]
    leader: int | None
    leadership: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    remote_log_end_offsets: Mapping[int, int | None]
    hung: tuple[int, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class PredictedRecord:
    """What becomes of one record; see ``oracle.prediction.RecordPrediction``."""

    id: int
    label: str
    fate: str
    was_committed: bool
    outcome: str
    error: str | None
    offset: int | None
    leadership: int | None
    acks: int
    decided_by: str
    promise: str
    promise_reason: str | None

    @property
    def called(self) -> str:
        """The word for its end: an acknowledged record that is gone is lost to its producer, committed or not."""
        if self.fate not in ("lost", "absent"):
            return self.fate
        return "lost" if self.was_committed or self.outcome == "acknowledged" else "absent"

    @property
    def end(self) -> tuple[str, int | None, str]:
        """How it ends: the word for it, where it is if it is present, and what its producer is told."""
        return self.called, self.offset if self.fate == "present" else None, self.outcome


@dataclass(frozen=True, slots=True)
class PredictedEntry:
    """One offset of one replica's log."""

    offset: int
    label: str
    leadership: int


@dataclass(frozen=True, slots=True)
class PredictedDivergence:
    """An offset below both high watermarks where two replicas hold different records: the label on each broker."""

    offset: int
    replicas: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class PredictedBrokerAnswer:
    """What a broker answers to a step that asks it.

    Attributes:
        asked: the step in words.
    """

    step: int
    asked: str
    answer: Mapping[str, AnswerValue]


@dataclass(frozen=True, slots=True)
class Assumed:
    """A step that only some of the open outcomes bring about, in words."""

    step: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedNumbers:
    """What can be measured: numbers, records and logs.

    Attributes:
        steps: the numbers after every step.
    """

    checkpoints: tuple[PredictedMoment, ...]
    records: tuple[PredictedRecord, ...]
    logs: Mapping[int, tuple[PredictedEntry, ...]]
    diverged: tuple[PredictedDivergence, ...]
    steps: tuple[PredictedMoment, ...]
    answers: tuple[PredictedBrokerAnswer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedOutcome(PredictedNumbers):
    """One of several outcomes that are open, with the moves that decide for it, and in which steps they do."""

    race: tuple[str, ...]
    raced_steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredOutcome:
    """Which of the open outcomes was measured: its number from 1, of how many, and its moves."""

    number: int
    of: int
    race: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenPrediction(PredictedNumbers):
    """prediction.json; see ``oracle.prediction.Prediction``.

    Attributes:
        measured_outcome: in ``outcome/prediction.json`` alone: whose numbers, records and logs these are.
    """

    format: int = 1
    scenario: str
    kafka: str
    metadata: str
    rules: tuple[str, ...]
    unregistrable: tuple[int, ...] = ()
    races: tuple[str, ...] = ()
    assumed: tuple[Assumed, ...] = ()
    alternatives: tuple[PredictedOutcome, ...] = ()
    measured_outcome: MeasuredOutcome | None = None

    @property
    def open_records(self) -> frozenset[str]:
        """Return the labels of the records that do not end alike in all of the open outcomes."""
        ends = [{record.label: record.end for record in outcome.records} for outcome in self.alternatives]
        return frozenset(
            label for each in ends for label, end in each.items() if any(o.get(label) != end for o in ends)
        )

    def ending(self, number: int) -> FrozenPrediction:
        """Return the prediction with the numbers, records and logs of an open outcome, counted from 1."""
        chosen = self.alternatives[number - 1]
        return replace(
            self,
            checkpoints=chosen.checkpoints,
            records=chosen.records,
            logs=chosen.logs,
            diverged=chosen.diverged,
            steps=chosen.steps,
            answers=chosen.answers,
            measured_outcome=MeasuredOutcome(number, len(self.alternatives), chosen.race),
        )


def frozen_form(document: object) -> FrozenPrediction:
    """Return what ``oracle.prediction.Prediction.as_json`` says in the form in which a run has it."""
    return msgspec.json.decode(msgspec.json.encode(document), type=FrozenPrediction)


def read_prediction(run: RunDirectory, name: str = PREDICTION_FILE) -> FrozenPrediction:
    """Read a prediction.

    Raises:
        RunDirectoryError: it is missing or cannot be read.
    """
    return run.read(name, FrozenPrediction)


def write_prediction(run: RunDirectory, document: object, record_id_base: int, name: str = PREDICTION_FILE) -> None:
    """Write a prediction, and its records and logs as Parquet for the join.

    Args:
        run: where it goes.
        document: a ``FrozenPrediction``, or what ``oracle.prediction.Prediction.as_json`` returns.
        record_id_base: the id of the run's first record.
        name: ``PREDICTION_FILE`` or ``OUTCOME_FILE``.
    """
    run.write(name, document)
    for path, table in _tables((run.path / name).parent, read_prediction(run, name), record_id_base):
        pq.write_table(table, path)


def _tables(directory: Path, prediction: FrozenPrediction, record_id_base: int) -> Iterator[tuple[Path, pa.Table]]:
    """Yield a prediction's records and logs, and where they stand."""
    ids = {record.label: record_id_base + record.id for record in prediction.records}
    records = [{**asdict(record), "record_id": ids[record.label]} for record in prediction.records]
    logs = [
        {**asdict(entry), "broker": broker, "record_id": ids[entry.label]}
        for broker, entries in prediction.logs.items()
        for entry in entries
    ]
    for name, rows, schema in (("records", records, _records_schema()), ("replica_logs", logs, _replica_logs_schema())):
        columns = [{column: row[column] for column in schema.names} for row in rows]
        yield directory / f"{name}.parquet", pa.Table.from_pylist(columns, schema=schema)


@cache
def _records_schema() -> pa.Schema:
    return pa.schema(
        [
            ("record_id", pa.int64()),
            ("label", pa.string()),
            ("fate", pa.string()),
            ("was_committed", pa.bool_()),
            ("outcome", pa.string()),
            ("error", pa.string()),
            ("offset", pa.int64()),
            ("acks", pa.int32()),
        ]
    )


@cache
def _replica_logs_schema() -> pa.Schema:
    return pa.schema(
        [
            ("broker", pa.int32()),
            ("offset", pa.int64()),
            ("label", pa.string()),
            ("record_id", pa.int64()),
            ("leadership", pa.int32()),
        ]
    )


def freeze(run: RunDirectory) -> None:
    """Hash the prediction's files and note hash and time in run.json, before anything is read."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    update_run(run, prediction=Frozen(_digest(run), at, time.monotonic_ns()))


def check_frozen(run: RunDirectory) -> None:
    """Refuse a prediction that is not the one frozen before the read.

    Raises:
        RunDirectoryError: it changed, was never frozen, or is told in two ways.
    """
    frozen = read_run(run).prediction
    if frozen is None:
        raise RunDirectoryError(f"{run.path}: the prediction was never frozen")
    if frozen.sha256 != _digest(run):
        raise RunDirectoryError(f"{run.path}: the prediction has changed since it was frozen")
    if run.has(PREDICTION_FILE):
        _require_tables(run)


def _require_tables(run: RunDirectory) -> None:
    """Refuse a prediction whose tables, with which records are joined, say otherwise than it does."""
    directory = (run.path / PREDICTION_FILE).parent
    for path, table in _tables(directory, read_prediction(run), read_run(run).record_id_base):
        if not path.exists() or not pq.read_table(path, columns=table.schema.names).equals(table):
            raise RunDirectoryError(f"{run.path}: {PREDICTION_FILE} and {path.name} beside it differ")


def _digest(run: RunDirectory) -> str:
    """Return the SHA-256 over the names and contents of the prediction's files."""
    digest = hashlib.sha256()
    for path in sorted((run.path / "prediction").iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
