"""Which offsets of a soak's partitions are predicted to be lost, or left open? Range by range, and where in the log."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.directory import cleaned
from conformance.record.soak_tables import (
    AlikeBatches,
    NotKeptBatch,
    read_alike,
    read_not_kept,
    read_ranges,
)
from oracle.vocabulary import Acks, ProduceOutcome, RangeFate
from reports.course_picture import LEFT, WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.soak_prediction import RangeRow

SHOWN_MAX, BARS_MAX, EPOCHS_MAX, ANSWERS_MAX = 60, 40, 60, 24
LEAST = 2.5
"""So wide is a range in a bar at least, however short it is: it is to be seen."""


@dataclass(frozen=True, slots=True)
class RangeOfNote:
    """Offsets of one leader epoch that must be lost, or may be.

    Attributes:
        told: the range.
        acknowledged: what was acknowledged of it, in words.
    """

    told: RangeRow
    acknowledged: str

    @property
    def is_lost(self) -> bool:
        """Return whether it is lost; else either may be."""
        return self.told.fate == RangeFate.LOST

    @property
    def promised(self) -> str:
        """Return whether its acknowledged records were promised to stay, in words; empty if it was not looked at."""
        return {"broken": "promised to stay", "allowed_by_settings": "not promised"}.get(self.told.promise, "")

    @property
    def offsets(self) -> int:
        """Return how many they are."""
        return self.told.last_offset - self.told.first_offset + 1


@dataclass(frozen=True, slots=True)
class LogBar:
    """Where ranges are in the log of a partition.

    Attributes:
        end: where the log ends, or the ranges, if they go further.
        epochs: where leader epochs began, in the picture's units.
        marks: x, width and whether it is lost, of each range.
    """

    partition: int
    end: int
    epochs: list[float]
    marks: list[tuple[float, float, bool]]


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
    batches: list[AlikeBatches]

    @property
    def is_kept_but_for_batches(self) -> bool:
        """Return whether some batch was acknowledged and is lost, or may be."""
        told = (one.fate for one in self.batches if one.answer == ProduceOutcome.ACKNOWLEDGED)
        return any(fate != RangeFate.PRESENT for fate in told)


def ranges_of(run: RunDirectory, soak: Soak) -> Ranges:
    """Return what is predicted of a soak that is not plainly present.

    Raises:
        RunDirectoryError: a table cannot be read.
    """
    every = cleaned(read_ranges(run))
    noted = [one for one in every if one.fate != RangeFate.PRESENT]
    batches = _by_partition(read_not_kept(run)) if noted else {}
    return Ranges(
        shown=[RangeOfNote(one, _acknowledged(one, batches.get(one.partition, ()))) for one in noted[:SHOWN_MAX]],
        more=len(noted[SHOWN_MAX:]),
        partitions=frozenset(one.partition for one in noted),
        bars=_bars(every, noted, soak),
        batches=read_alike(run)[:ANSWERS_MAX],
    )


def _by_partition(batches: Sequence[NotKeptBatch]) -> dict[int, list[NotKeptBatch]]:
    found: defaultdict[int, list[NotKeptBatch]] = defaultdict(list)
    for one in batches:
        found[one.partition].append(one)
    return found


def _acknowledged(told: RangeRow, batches: Sequence[NotKeptBatch]) -> str:
    records: Counter[str] = Counter()
    for one in batches:
        records[acks_word(one.acks)] += one.shared(told)
    return ", ".join(f"{count:,} with acks={acks}" for acks, count in sorted(records.items()) if count) or "none"


def acks_word(acks: int) -> str:
    """Return what a producer waits for, as its setting is written."""
    return "all" if acks == Acks.ALL else f"{acks}"


def _bars(every: Sequence[RangeRow], noted: Sequence[RangeRow], soak: Soak) -> list[LogBar]:
    numbers = sorted({one.partition for one in noted})[:BARS_MAX]
    ranges: dict[int, list[RangeRow]] = {number: [] for number in numbers}
    for one in every:
        if one.partition in ranges:
            ranges[one.partition].append(one)
    return [_bar(number, ranges[number], soak) for number in numbers]


def _bar(number: int, ranges: Sequence[RangeRow], soak: Soak) -> LogBar:
    end = max([one.last_offset + 1 for one in ranges] + [soak.ends[number] if number < len(soak.ends) else 0])
    begun = [one.first_offset for one in ranges if one.fate == RangeFate.PRESENT][1:]
    marks = [_mark(one, end) for one in ranges if one.fate != RangeFate.PRESENT]
    return LogBar(number, end, [_x(first, end) for first in begun[:EPOCHS_MAX]], marks[:SHOWN_MAX])


def _mark(one: RangeRow, end: int) -> tuple[float, float, bool]:
    x = min(_x(one.first_offset, end), WIDTH - LEAST)
    return x, max(_x(one.last_offset + 1, end) - x, LEAST), one.fate == RangeFate.LOST


def _x(offset: int, end: int) -> float:
    return LEFT + (WIDTH - LEFT) * offset / max(end, 1)
