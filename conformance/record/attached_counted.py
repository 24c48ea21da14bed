"""What did Spark count of a ledger beside somebody's cluster? By partition, and some records that are not kept."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectoryError
from conformance.spark_extra import at_first_use

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

COUNTED_FILE = "reconciliation/attached.json"
NOTED = "reconciliation/not_kept"
"""Where every record that is in another class than kept is listed, as Parquet."""
CLASS_MEANS = {
    "lost": "acknowledged, and not there",
    "phantom": "there, and nobody sent it",
    "value_changed": "there with another value than was sent",
    "resurrected": "there, although it was refused before it was sent",
    "duplicated": "there more than once",
    "moved": "there, elsewhere than acknowledged",
    "reordered": "there, behind one that was sent later",
    "deleted": "acknowledged below the start of the log",
    "deleted_or_lost": "acknowledged without an offset, and not there, while the start of the log moved",
    "absent": "not there, and never acknowledged",
    "high_watermark_fell": "looks at which consumers saw less than before",
    "leader_epoch_fell": "looks at which a broker told of an older leader epoch than before",
    "epoch_ends_disagree": "leader epochs that end before what was seen of them",
}
"""What a class of records, or of looks at the cluster, is."""


@dataclass(frozen=True, slots=True)
class LossTimes:
    """When records of one partition that are lost were acknowledged.

    Attributes:
        completed_ns: wall clock, when the last acknowledgement among them was known.
        is_first_lost: whether the record that was acknowledged at the least offset is among them.
    """

    completed_ns: int
    is_first_lost: bool = False


@dataclass(frozen=True, slots=True)
class PartitionCounted:
    """How many records of one partition are in each class.

    Attributes:
        outcomes: of those attempted, by what the producer was told.
        errors: of those whose outcome is not known although the client told an error, by its name.
        classes: a record in every class that it belongs to.
        primary: in one alone, the gravest; adds up to the attempted ones and the phantoms.
        unplaced: records that were acknowledged without an offset, and are not there, while the start of the log moved:
            they are in ``deleted``, and may be lost.
        losses: of those that are lost, when; None if none is.
    """

    partition: int
    attempted: int
    read: int
    outcomes: Mapping[str, int]
    classes: Mapping[str, int]
    primary: Mapping[str, int]
    errors: Mapping[str, int] = field(default_factory=dict)
    unplaced: int = 0
    losses: LossTimes | None = None


@dataclass(frozen=True, slots=True)
class RecordOfNote:
    """One record that is not simply kept."""

    classification: str
    partition: int
    record_id: int | None
    outcome: str | None
    error: str | None
    acknowledged_offset: int | None
    first_offset: int | None
    last_offset: int | None
    copies: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What Spark counted of a ledger.

    Attributes:
        partitions: in their order.
        samples: up to 20 records of each class but the kept ones.
        foreign: records that are not this ledger's.
        identity_holds: whether every record is in exactly one primary class, by the rows of the files.
    """

    partitions: tuple[PartitionCounted, ...]
    samples: tuple[RecordOfNote, ...]
    foreign: int
    identity_holds: bool

    def total(self, name: str) -> int:
        """Return how many records are in a class, a record in every class that it belongs to."""
        return sum(one.classes.get(name, 0) for one in self.partitions)

    def told(self, outcome: str) -> int:
        """Return of how many records producers were told an outcome."""
        return sum(one.outcomes.get(outcome, 0) for one in self.partitions)

    @property
    def untold(self) -> int:
        """Return how many records have neither an answer nor an error: the tester ended before one was written."""
        erring = sum(count for one in self.partitions for count in one.errors.values())
        return max(0, self.told("indeterminate") - erring)

    @property
    def attempted(self) -> int:
        """Return how many records were attempted."""
        return sum(one.attempted for one in self.partitions)

    def erring(self, *names: str) -> int:
        """Return of how many records the client told one of these errors, and the outcome is not known."""
        return sum(one.errors.get(name, 0) for one in self.partitions for name in names)


@dataclass(frozen=True, slots=True)
class LostRange:
    """Lost records of one partition that were acknowledged one behind the other: their offsets, both included."""

    partition: int
    first_offset: int
    last_offset: int

    @property
    def records(self) -> int:
        """Return how many they are."""
        return self.last_offset - self.first_offset + 1


def lost_ranges(run: RunDirectory) -> list[LostRange]:
    """Read which acknowledged offsets are lost, by partition, in their order; those without an offset are left out.

    Raises:
        RunDirectoryError: what Spark listed cannot be read.
    """
    try:
        lost = [("lost", "=", True)]
        noted = pq.read_table(run.path / NOTED, columns=["partition", "acknowledged_offset"], filters=lost)
    except (pa.ArrowException, OSError) as error:
        raise RunDirectoryError(f"{run.path / NOTED} cannot be read: {error}") from error
    rows = zip(noted["partition"].to_pylist(), noted["acknowledged_offset"].to_pylist(), strict=True)
    found: list[LostRange] = []
    for partition, offset in sorted((one, at) for one, at in rows if at is not None):
        last = found[-1] if found else None
        if last is not None and (last.partition, last.last_offset + 1) == (partition, offset):
            found[-1] = LostRange(partition, last.first_offset, offset)
        else:
            found.append(LostRange(partition, offset, offset))
    return found
