"""What do a ledger's outcomes say of its course, and of where its partitions end? Read by columns, file by file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectoryError
from conformance.record.ledger import NOT_SENT, OUTCOMES_PREFIX, ledger_files
from conformance.spark_extra import at_first_use
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    import pyarrow.parquet as pq

    from conformance.record.directory import RunDirectory
else:
    pa = at_first_use("pyarrow")
    pq = at_first_use("pyarrow.parquet")

NS = 1_000_000_000


def acknowledged_ends(run: RunDirectory, first_id: int, partitions: int) -> tuple[dict[int, int], set[int]]:
    """Return the offset after the greatest acknowledged one of each partition that has one, and where some have none.

    The second are the partitions with records that were acknowledged without an offset.

    Args:
        run: whose ledger is read, file by file.
        first_id: record ``first_id + n`` went to partition n modulo ``partitions``.
        partitions: see there.

    Raises:
        RunDirectoryError: a file is no Parquet file, or has other columns.
    """
    ends: dict[int, int] = {}
    unplaced: set[int] = set()
    for told in _outcomes_of_each_file(run, ["record_id", "outcome", "offset"]):
        columns = (told[name].to_pylist() for name in ("record_id", "outcome", "offset"))
        for record_id, outcome, offset in zip(*columns, strict=True):
            number = (record_id - first_id) % partitions
            if offset is not None:
                ends[number] = max(offset + 1, ends.get(number, 0))
            elif outcome == ProduceOutcome.ACKNOWLEDGED:
                unplaced.add(number)
    return ends, unplaced


def _outcomes_of_each_file(run: RunDirectory, columns: list[str]) -> Iterator[pa.Table]:
    for file in ledger_files(run.path / "ledger", OUTCOMES_PREFIX):
        try:
            yield pq.read_table(file, columns=columns, partitioning=None)
        except (pa.ArrowException, OSError) as error:
            raise RunDirectoryError(f"{file} cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class LedgerCourse:
    """What a ledger's outcomes say of its course.

    Attributes:
        acknowledged: how many records were acknowledged in each second since it began, until the last outcome.
        not_sent: records that were written down, and not handed to the client before all was over.
    """

    acknowledged: tuple[int, ...]
    not_sent: int

    @property
    def longest_silence(self) -> tuple[int, int]:
        """Return from which second on, and for how many, no record was acknowledged for the longest time."""
        silences, began = [(0, 0)], 0
        for second, count in enumerate((*self.acknowledged, 1)):
            if count:
                silences.append((second - began, -began))
                began = second + 1
        longest, since = max(silences)
        return -since, longest


def course_of(run: RunDirectory, began_ns: int) -> LedgerCourse:
    """Read how a ledger's records came to be acknowledged.

    Args:
        run: whose ledger is read, file by file.
        began_ns: the moment from which seconds are counted, of the ledger's clock.

    Raises:
        RunDirectoryError: a file is no Parquet file, or has other columns.
    """
    seconds: Counter[int] = Counter()
    not_sent, last = 0, -1
    for told in _outcomes_of_each_file(run, ["outcome", "error", "completed_ns"]):
        not_sent += sum(error == NOT_SENT for error in told["error"].to_pylist())
        last = max([last, *((at - began_ns) // NS for at in told["completed_ns"].to_pylist())])
        acknowledged = told.filter([one == ProduceOutcome.ACKNOWLEDGED for one in told["outcome"].to_pylist()])
        seconds.update((at - began_ns) // NS for at in acknowledged["completed_ns"].to_pylist())
    return LedgerCourse(tuple(seconds[second] for second in range(last + 1)), not_sent)
