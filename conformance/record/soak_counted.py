"""What did Spark count of a soak? ``reconciliation/counted.json``: by partition, by class, and some records by name.

Every class has two numbers: how many records are in it, and how many of these are exactly as predicted, in fate and
offset. Records of which the prediction leaves open whether they are there are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

COUNTED_FILE = "reconciliation/counted.json"
OF_NOTE = "reconciliation/of_note"
"""Where every record is listed that is not simply kept, or absent as predicted, as Parquet."""
CLASS_MEANS = {
    "lost": "acknowledged, and not there",
    "phantom": "there, and nobody sent it",
    "value_changed": "there with another value than was sent",
    "duplicated": "there more than once",
    "resurrected": "there, although it was refused, or had been lost, or never left its producer",
    "moved": "there, and not at the offset or in the partition that was acknowledged",
    "reordered": "there, behind one of its producer and partition that was sent later",
    "absent": "never acknowledged, and not there",
    "indeterminate_present": "nobody was told of it, and it is there",
    "kept": "acknowledged, and there",
}
"""What a class is. The order is that in which a record's primary class is chosen: the gravest first."""
CLASSES = tuple(CLASS_MEANS)


class ComparedAs(StrEnum):
    """How records compare with what was predicted of them.

    PREDICTED: fate and offset are exactly those. EITHER: the prediction allows this, and the contrary. AGAINST: the
    prediction says otherwise, or nothing.
    """

    PREDICTED = "predicted"
    EITHER = "either"
    AGAINST = "against"


@dataclass(frozen=True, slots=True)
class ClassCounted:
    """How many records are in a class, and how they compare with the prediction; the three add up."""

    predicted: int = 0
    either: int = 0
    against: int = 0

    @property
    def records(self) -> int:
        """Return how many they are."""
        return self.predicted + self.either + self.against

    def __add__(self, other: ClassCounted) -> ClassCounted:
        """Return both together."""
        return ClassCounted(self.predicted + other.predicted, self.either + other.either, self.against + other.against)


@dataclass(frozen=True, slots=True)
class SoakPartition:
    """What was counted of the records that belong into one partition.

    Attributes:
        attempted: records in the ledgers.
        outcomes: of those, by what their producers were told.
        copies: how often these records, and phantoms with ids of the soak, are in the topic.
        read: records that were read from this partition of the topic, whoever's.
        foreign: of those, the ones whose key is no id of the soak.
        classes: a record in every class that it belongs to.
        primary: in one alone, the gravest; adds up to the attempted ones and the phantoms.
        not_predicted: offsets below the end that no range of the prediction says to be there, or to be possible.
        beyond_end: offsets at the end and above that the prediction says to be there.
    """

    partition: int
    attempted: int
    outcomes: Mapping[str, int]
    copies: int
    read: int
    foreign: int
    classes: Mapping[str, ClassCounted]
    primary: Mapping[str, ClassCounted]
    not_predicted: int = 0
    beyond_end: int = 0


@dataclass(frozen=True, slots=True)
class SoakRecord:
    """One record that is not simply kept, in one of its classes.

    Attributes:
        partition: where it belongs; of a record whose key is no id, where it is.
        record_id: None of a record whose key is no id of the soak.
        found_partition: where its first copy is; None if there is none.
        found_offset: of that copy.
        expected_offset: the first offset at which it is predicted to be; None if it is to be nowhere.
    """

    classification: str
    judged: ComparedAs
    partition: int
    record_id: int | None
    outcome: str | None
    acknowledged_offset: int | None
    copies: int
    found_partition: int | None
    found_offset: int | None
    expected_offset: int | None


@dataclass(frozen=True, slots=True)
class Compared:
    """How much was compared block by block, and how much of it record by record.

    Attributes:
        blocks: of up to 64 ids that are neighbours in one producer and partition.
        joined_blocks: those that differ, or have a record that is no plain case.
        joined_records: the records in them.
    """

    blocks: int
    joined_blocks: int
    joined_records: int


@dataclass(frozen=True, slots=True)
class Control:
    """What a sample says that was read again, and joined record by record.

    Attributes:
        records: that were read in it.
        kept: those of them that ledger and topic have alike.
        kept_by_blocks: how many there must be by the comparison of blocks.
        others_in_plain_blocks: records that are not alike, in blocks that were found to be.
    """

    records: int
    kept: int
    kept_by_blocks: int
    others_in_plain_blocks: int

    @property
    def agrees(self) -> bool:
        """Return whether both ways find the same."""
        return self.kept == self.kept_by_blocks and not self.others_in_plain_blocks


@dataclass(frozen=True, slots=True)
class LostTail:
    """A replica whose log ends below the high watermark at rest: where, and how many records it lacks."""

    partition: int
    broker: int
    log_end: int
    records: int


@dataclass(frozen=True, slots=True)
class ReplicaDifference:
    """An offset below the high watermark at which two replicas hold different records; None where one holds none."""

    partition: int
    offset: int
    broker_a: int
    record_a: int | None
    broker_b: int
    record_b: int | None


@dataclass(frozen=True, slots=True)
class DivergedRange:
    """Offsets below the high watermark, first to last, at all of which two replicas differ."""

    partition: int
    broker_a: int
    broker_b: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class RottenBatch:
    """A batch whose content is not what its checksum says: where it is, in its segment's file by the byte."""

    partition: int
    broker: int
    segment: str
    position: int
    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class ReplicasCounted:
    """What the segment files of all replicas say.

    Attributes:
        batches: that all replicas which reach them have alike, by their headers.
        decoded_batches: on any replica, which had to be decoded.
        diverged: at how many offsets replicas differ, by partition; empty where they do nowhere.
        lost_tails: the replicas that do not reach the high watermark.
        samples: up to 20 offsets at which they differ.
        ranges: where which two replicas differ, up to a thousand of a partition.
        more_ranges: how many there are besides.
        rotten: how many batches there are, on any replica, whose content is not what their checksum says.
        rotten_samples: up to 20 of them.
        logs: how many replicas were read.
        log_bytes: how much that was; every checksum of it was computed anew.
        unread: which replicas were not, and why, in sentences.
    """

    batches: int
    decoded_batches: int
    diverged: Mapping[int, int]
    lost_tails: tuple[LostTail, ...]
    samples: tuple[ReplicaDifference, ...]
    ranges: tuple[DivergedRange, ...] = ()
    more_ranges: int = 0
    rotten: int = 0
    rotten_samples: tuple[RottenBatch, ...] = ()
    logs: int = 0
    log_bytes: int = 0
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SoakCounted:
    """What Spark counted of a soak.

    Attributes:
        partitions: in their order.
        samples: up to 20 records of each class but the kept ones, those against the prediction first.
        compared: how it was counted.
        identity_holds: whether rows of files, offsets of the topic, and primary classes add up.
        control: of a sample; None without one.
        cross_check: differences to what DuckDB counts, in words; None if it did not count.
        errors: how many outcomes name which error.
        replicas: of all brokers; None where their files are not on this machine, or were not asked for.
    """

    partitions: tuple[SoakPartition, ...]
    samples: tuple[SoakRecord, ...]
    compared: Compared
    identity_holds: bool
    control: Control | None = None
    cross_check: tuple[str, ...] | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    replicas: ReplicasCounted | None = None

    def total(self, name: str) -> ClassCounted:
        """Return how many records are in a class, a record in every class that it belongs to."""
        return sum((one.classes.get(name, ClassCounted()) for one in self.partitions), ClassCounted())

    def told(self, outcome: str) -> int:
        """Return of how many records producers were told an outcome."""
        return sum(one.outcomes.get(outcome, 0) for one in self.partitions)

    @property
    def attempted(self) -> int:
        """Return how many records were attempted."""
        return sum(one.attempted for one in self.partitions)

    @property
    def read(self) -> int:
        """Return how many records were read."""
        return sum(one.read for one in self.partitions)

    @property
    def foreign(self) -> int:
        """Return how many records are not this soak's."""
        return sum(one.foreign for one in self.partitions)

    @property
    def against(self) -> int:
        """Return how many records are not as predicted, each once; those that are not this soak's among them."""
        return sum(counted.against for one in self.partitions for counted in one.primary.values())

    @property
    def left_open(self) -> int:
        """Return of how many records the prediction allows what became of them, and the contrary; each once."""
        return sum(counted.either for one in self.partitions for counted in one.primary.values())


def read_counted(run: RunDirectory) -> SoakCounted:
    """Read what was counted.

    Raises:
        RunDirectoryError: nothing was, or it cannot be read.
    """
    return run.read(COUNTED_FILE, SoakCounted)
