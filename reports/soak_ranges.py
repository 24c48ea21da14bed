"""Which offsets of a soak's partitions are predicted to be lost, or left open? From ``prediction/``, range by range."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.record.directory import RunDirectoryError, cleaned
from conformance.record.soak_prediction import BATCHES_FILE, RANGES_FILE, RangeFate
from conformance.spark_extra import at_first_use
from oracle.vocabulary import Acks, ProduceOutcome
from reports.course_picture import LEFT, WIDTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
else:
    pa = at_first_use("pyarrow")
    pc = at_first_use("pyarrow.compute")
    pq = at_first_use("pyarrow.parquet")

SHOWN_MAX, BARS_MAX, EPOCHS_MAX, ANSWERS_MAX = 60, 40, 60, 24
LEAST = 2.5
"""So wide is a range in a bar at least, however short it is: it is to be seen."""
NO_ANSWER = "none"


@dataclass(frozen=True, slots=True)
class RangeOfNote:
    """Offsets of one leader epoch that must be lost, or may be.

    Attributes:
        leader: the broker that appended them; None if unknown.
        is_lost: else either may be.
        acknowledged: what was acknowledged of them, in words.
    """

    partition: int
    leader_epoch: int
    leader: int | None
    first: int
    last: int
    is_lost: bool
    rule: str
    reason: str
    acknowledged: str

    @property
    def offsets(self) -> int:
        """Return how many they are."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class LogBar:
    """Where ranges are in the log of a partition: x, width and whether they are lost, in the picture's units.

    Attributes:
        end: where the log ends, and how far the ranges go, if they go further.
        epochs: where leader epochs began.
    """

    partition: int
    end: int
    epochs: list[float]
    marks: list[tuple[float, float, bool]]


@dataclass(frozen=True, slots=True)
class NoPlainBatches:
    """Batches that are no plain case and have the same answer, acks and fate."""

    answer: str
    acks: str
    fate: str
    batches: int
    records: int


@dataclass(frozen=True, slots=True)
class Ranges:
    """What is predicted to be lost, or left open.

    Attributes:
        shown: as many ranges as there is room for, in the order of partitions and offsets.
        more: how many there are besides.
        partitions: that have such ranges.
        bars: of as many of these as there is room for.
        batches: what became of batches that are no plain case.
    """

    shown: list[RangeOfNote]
    more: int
    partitions: frozenset[int]
    bars: list[LogBar]
    batches: list[NoPlainBatches]


def ranges_of(run: RunDirectory, soak: Soak) -> Ranges:
    """Return what is predicted of a soak that is not plainly present.

    Raises:
        RunDirectoryError: a table cannot be read.
    """
    rows = cleaned(_table(run, RANGES_FILE).to_pylist())
    noted = [row for row in rows if row["fate"] != RangeFate.PRESENT]
    batches = _table(run, BATCHES_FILE)
    acknowledged = _acknowledged(batches) if noted else {}
    return Ranges(
        shown=[_noted(row, acknowledged) for row in noted[:SHOWN_MAX]],
        more=len(noted[SHOWN_MAX:]),
        partitions=frozenset(row["partition"] for row in noted),
        bars=_bars(rows, noted, soak),
        batches=_no_plain(batches),
    )


def _table(run: RunDirectory, name: str) -> pa.Table:
    try:
        return pq.read_table(run.path / name, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise RunDirectoryError(f"{run.path / name} cannot be read: {error}") from error


Place = tuple[int, int, str]


def _acknowledged(batches: pa.Table) -> Mapping[Place, Sequence[tuple[int, int, int]]]:
    """Return offset, count and acks of what was acknowledged and is lost, or may be, by partition, epoch and fate."""
    is_told = pc.and_(
        pc.equal(batches["answer"], ProduceOutcome.ACKNOWLEDGED.value),
        pc.not_equal(batches["fate"], RangeFate.PRESENT.value),
    )
    told = batches.filter(is_told).select(["partition", "leader_epoch", "fate", "base_offset", "count", "acks"])
    columns = (told[name].to_pylist() for name in told.column_names)
    found: defaultdict[Place, list[tuple[int, int, int]]] = defaultdict(list)
    for partition, epoch, fate, base, count, acks in zip(*columns, strict=True):
        if base is not None:
            found[partition, epoch, fate].append((base, count, acks))
    return found


def _noted(row: Mapping[str, Any], acknowledged: Mapping[Place, Sequence[tuple[int, int, int]]]) -> RangeOfNote:
    first, last = row["first_offset"], row["last_offset"]
    records: Counter[str] = Counter()
    for base, count, acks in acknowledged.get((row["partition"], row["leader_epoch"], row["fate"]), ()):
        records[acks_word(acks)] += max(min(base + count - 1, last) - max(base, first) + 1, 0)
    told = ", ".join(f"{count:,} with acks={acks}" for acks, count in sorted(records.items()) if count)
    return RangeOfNote(
        partition=row["partition"],
        leader_epoch=row["leader_epoch"],
        leader=row["leader"] if row["leader"] >= 0 else None,
        first=first,
        last=last,
        is_lost=row["fate"] == RangeFate.LOST,
        rule=row["rule"],
        reason=row["reason"],
        acknowledged=told or "none",
    )


def acks_word(acks: int) -> str:
    """Return what a producer waits for, as its setting is written."""
    return "all" if acks == Acks.ALL else f"{acks}"


def _bars(rows: Sequence[Mapping[str, Any]], noted: Sequence[Mapping[str, Any]], soak: Soak) -> list[LogBar]:
    by_partition: defaultdict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_partition[row["partition"]].append(row)
    numbers = sorted({row["partition"] for row in noted})[:BARS_MAX]
    return [_bar(number, by_partition[number], soak) for number in numbers]


def _bar(number: int, rows: Sequence[Mapping[str, Any]], soak: Soak) -> LogBar:
    end = max([row["last_offset"] + 1 for row in rows] + [soak.ends[number] if number < len(soak.ends) else 0])
    begun = [row["first_offset"] for row in rows if row["fate"] == RangeFate.PRESENT][1:]
    marks = [_mark(row, end) for row in rows if row["fate"] != RangeFate.PRESENT]
    return LogBar(number, end, [_x(first, end) for first in begun[:EPOCHS_MAX]], marks[:SHOWN_MAX])


def _mark(row: Mapping[str, Any], end: int) -> tuple[float, float, bool]:
    x = min(_x(row["first_offset"], end), WIDTH - LEAST)
    return x, max(_x(row["last_offset"] + 1, end) - x, LEAST), row["fate"] == RangeFate.LOST


def _x(offset: int, end: int) -> float:
    return LEFT + (WIDTH - LEFT) * offset / max(end, 1)


def _no_plain(batches: pa.Table) -> list[NoPlainBatches]:
    """Return the batches that have a row, by answer, acks and fate: the most records first."""
    counted = batches.group_by(["answer", "acks", "fate"]).aggregate([("count", "count"), ("count", "sum")])
    told = [
        NoPlainBatches(row["answer"], acks_word(row["acks"]), row["fate"], row["count_count"], row["count_sum"])
        for row in counted.to_pylist()
    ]
    return sorted(told, key=lambda one: (-one.records, one.answer, one.acks, one.fate))[:ANSWERS_MAX]
