"""What came of comparing? ``reconciliation/``: counts and samples of the records, every number of every checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

COUNTS_FILE = "reconciliation/counts.json"
SAMPLES_FILE = "reconciliation/samples.json"
RECORDS_FILE = "reconciliation/records.json"
CHECKPOINTS_FILE = "reconciliation/checkpoints.json"


@dataclass(frozen=True, slots=True)
class Totals:
    """How many records there are on each side."""

    produced: int
    predicted: int
    read: int
    acknowledged: int
    refused: int
    indeterminate: int = 0

    @property
    def by_name(self) -> dict[str, int]:
        """Return the counts by their names."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many records fell into each class.

    Attributes:
        classes: measured, a record in every class that it belongs to; ``primary`` in one alone.
        predicted: by the prediction.
        deviations: how many records and log entries are not as predicted; by kind likewise.
        identity_holds: whether every record is in one primary class.
        end_offset_read: up to where the topic was read.
    """

    totals: Totals
    classes: Mapping[str, int]
    predicted: Mapping[str, int]
    deviations: int
    identity_holds: bool
    primary: Mapping[str, int] = field(default_factory=dict)
    deviations_by_kind: Mapping[str, int] = field(default_factory=dict)
    end_offset_read: int | None = None

    @property
    def differing(self) -> frozenset[str]:
        """Return the classes of which another number of records was measured than predicted."""
        return frozenset(name for name, count in self.classes.items() if self.predicted.get(name, count) != count)


@dataclass(frozen=True, slots=True)
class RecordSample:
    """One record of a class: what ledger, prediction and topic say of it."""

    record_id: int | None = None
    label: str | None = None
    offset: int | None = None
    outcome: str | None = None
    error: str | None = None
    acknowledged_offset: int | None = None
    fate: str | None = None
    predicted_outcome: str | None = None
    predicted_error: str | None = None
    predicted_offset: int | None = None
    copies: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    values_match: bool | None = None


@dataclass(frozen=True, slots=True)
class RecordClass:
    """One produced record: its gravest class, predicted and measured.

    Attributes:
        record_id: with the run's base.
        predicted: the class that it was predicted to have; None of one that nobody predicted.
        measured: the class that it has.
        offset: the first one at which it is in the topic; None if it is not.
        copies: at how many offsets it is in the topic.
        outcome: what its producer was told; ``error`` and ``acknowledged_offset`` likewise.
        deviates: whether it is not as predicted.
    """

    record_id: int
    predicted: str | None
    measured: str
    offset: int | None = None
    copies: int = 0
    outcome: str | None = None
    error: str | None = None
    acknowledged_offset: int | None = None
    deviates: bool = False


@dataclass(frozen=True, slots=True)
class DeviationSample:
    """One record, or one entry of a replica's log, that is not as predicted.

    Attributes:
        kind: record or replica_log.
        anomaly: what is wrong, one of ``record.verdict.CODES``.
    """

    expected: str
    measured: str
    kind: str = "record"
    anomaly: str | None = None
    record_id: int | None = None
    label: str | None = None
    broker: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class DivergenceSample:
    """An offset where two replicas hold different records."""

    offset: int
    broker_a: int
    broker_b: int
    record_a: int | None = None
    record_b: int | None = None
    label_a: str | None = None
    label_b: str | None = None
    is_predicted: bool = False


@dataclass(frozen=True, slots=True)
class Samples:
    """Some records of every class, by its name; some deviations and divergences."""

    classes: Mapping[str, tuple[RecordSample, ...]] = field(default_factory=dict)
    deviations: tuple[DeviationSample, ...] = ()
    divergences: tuple[DivergenceSample, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """One compared number: both sides as the files have them."""

    what: str
    predicted: Any
    measured: Any
    agrees: bool


@dataclass(frozen=True, slots=True)
class ComparedCheckpoint:
    """One checkpoint's compared numbers."""

    name: str
    rows: tuple[ComparedNumber, ...]


def write_reconciliation(
    run: RunDirectory, counts: Counts, samples: Mapping[str, object], records: Sequence[RecordClass]
) -> None:
    """Write counts, samples (a list of rows by class, ``deviations`` and ``divergences``) and every record's class."""
    run.write(COUNTS_FILE, counts)
    run.write(SAMPLES_FILE, samples)
    run.write(RECORDS_FILE, records)


def read_counts(run: RunDirectory) -> Counts | None:
    """Read the counts; None of a run that was never reconciled.

    Raises:
        RunDirectoryError: they cannot be read.
    """
    return run.read(COUNTS_FILE, Counts) if run.has(COUNTS_FILE) else None


def read_samples(run: RunDirectory) -> Samples:
    """Read the samples; none of a run that was never reconciled.

    Raises:
        RunDirectoryError: they cannot be read.
    """
    if not run.has(SAMPLES_FILE):
        return Samples()
    parts = run.read(SAMPLES_FILE, _Parts)
    classes = run.read(SAMPLES_FILE, dict[str, tuple[RecordSample, ...]])
    named = {name: sample for name, sample in classes.items() if name not in ("deviations", "divergences")}
    return Samples(named, parts.deviations, parts.divergences)


def read_record_classes(run: RunDirectory) -> tuple[RecordClass, ...]:
    """Read each record's class; of a run of format 1 those of the samples, of a run of very many records none.

    Raises:
        RunDirectoryError: they cannot be read.
    """
    if run.has(RECORDS_FILE):
        return run.read(RECORDS_FILE, tuple[RecordClass, ...])
    samples = read_samples(run)
    deviating = {deviation.record_id for deviation in samples.deviations}
    found: dict[int, RecordClass] = {}
    for name, sample in samples.classes.items():
        for row in sample:
            if row.record_id is not None and row.record_id not in found:
                deviates, copies = row.record_id in deviating, row.copies or 0
                at, told = row.first_offset, row.outcome
                found[row.record_id] = RecordClass(
                    row.record_id, None, name, at, copies, told, row.error, row.acknowledged_offset, deviates
                )
    return tuple(found.values())


def write_checkpoints(run: RunDirectory, compared: Sequence[ComparedCheckpoint]) -> None:
    """Write every checkpoint's compared numbers."""
    run.write(CHECKPOINTS_FILE, compared)


def read_checkpoints(run: RunDirectory) -> tuple[ComparedCheckpoint, ...]:
    """Read every checkpoint's compared numbers; none of a run that was never judged.

    Raises:
        RunDirectoryError: they cannot be read.
    """
    return run.read(CHECKPOINTS_FILE, tuple[ComparedCheckpoint, ...]) if run.has(CHECKPOINTS_FILE) else ()


@dataclass(frozen=True, slots=True)
class _Parts:
    deviations: tuple[DeviationSample, ...] = ()
    divergences: tuple[DivergenceSample, ...] = ()
