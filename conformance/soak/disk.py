"""How much room does a soak need on disk, and is it there? Asked before anything starts.

The logs of all replicas, with what batches and indexes add; the ledger; the wire trace. What Spark reads of the topic
is kept for a cross-check alone. Every number is at least what was measured: a soak that begins does not fill the disk.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.layout import size_words
from conformance.soak.producing import LINGER_MS
from fault_injection.releases import UsageError
from oracle.rules.message_format import stamps_epochs

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.record.soak import Soak

RECORD_BYTES = 22
"""What a record has beside its value at most: a key of eight bytes, lengths and differences (KIP-98)."""
BATCH_BYTES = 61
"""A batch's header (KIP-98)."""
MESSAGE_BYTES = 42
"""What a message of the format before has beside its value: key, lengths, offset, checksum, time; and no batch."""
BATCH_RECORDS = 50
"""So many records a batch has at least where brokers are the slower ones."""
INDEX_PART = 0.01
"""Offset and time index have 20 bytes for each 4 KiB of log (``log.index.interval.bytes``)."""
LEDGER_BYTES = 8
"""Of the ledger for each record, attempts and outcomes."""
CROSS_CHECK_BYTES = 60
"""Of what was read, and DuckDB reads again, for each record."""
TRACE_BYTES_A_S = 2**30 // 3600
FASTEST = 200_000
"""Records a second that brokers on one machine take at most, where no rate is asked."""
SLOWEST = 10_000
"""Records a second that they take at least: so long the wire is traced."""
MARGIN = 1.05
NODES_BYTES = 500 * 10**6
"""What nodes write beside the topic: their own logs, metadata, indexes that are laid out before they are filled."""


@dataclass(frozen=True, slots=True)
class NeededRoom:
    """What a soak needs on disk, in bytes.

    Attributes:
        records: how many are reckoned with.
        logs: of all replicas together.
    """

    records: int
    logs: int
    ledger: int
    trace: int
    cross_check: int = 0

    @property
    def whole(self) -> int:
        """Return the sum, with what nodes write beside it and a margin."""
        return self.of_brokers + self.of_run

    @property
    def of_brokers(self) -> int:
        """Return what is theirs of it."""
        return int(self.logs * MARGIN) + NODES_BYTES

    @property
    def of_run(self) -> int:
        """Return what is in the soak's directory of it."""
        return int((self.ledger + self.trace + self.cross_check) * MARGIN)

    @property
    def words(self) -> str:
        """Return the sum and its parts for a person to read."""
        each = {"logs of all replicas": self.logs, "ledger": self.ledger, "wire trace": self.trace}
        each |= {"cross-check": self.cross_check} if self.cross_check else {}
        parts = ", ".join(f"{name} {size_words(count)}" for name, count in each.items())
        return f"{self.records:,} records need {size_words(self.whole)} ({parts})"


def needed_room(soak: Soak, *, cross_check: bool = False) -> NeededRoom:
    """Return what a soak needs on disk: for its records, or all that can be sent while it lasts."""
    records = records_at_most(soak)
    logs = int(records * (soak.value_length + _beside_the_value(soak)) * soak.replicas * (1 + INDEX_PART))
    seconds = records / (soak.rate or SLOWEST)
    if soak.duration_s is not None:
        seconds = min(seconds, soak.duration_s)
    again = records * CROSS_CHECK_BYTES if cross_check else 0
    return NeededRoom(records, logs, records * LEDGER_BYTES, int(seconds * TRACE_BYTES_A_S), again)


def records_at_most(soak: Soak) -> int:
    """Return how many records a soak sends at most.

    Raises:
        UsageError: it would never end.
    """
    limits = [] if soak.records is None else [soak.records]
    if soak.duration_s is not None:
        limits.append(int(soak.duration_s * (soak.rate or FASTEST)))
    if not limits:
        raise UsageError("A soak ends after a number of records or a time: give --records or --duration.")
    return min(limits)


def check_room(soak: Soak, directory: Path, runs: Path | None = None, *, cross_check: bool = False) -> NeededRoom:
    """Return what a soak needs on disk, once it is known to be there.

    Args:
        soak: what is asked.
        directory: in which its brokers' logs will be, or a copy of them if brokers are in containers; it need not exist
            yet.
        runs: in which its ledger and trace will be; None for the same.
        cross_check: whether what is read is written down there too.

    Raises:
        UsageError: there is less; says how much is needed, how much is there, where, and what to change; or the soak
            would never end.
    """
    needed = needed_room(soak, cross_check=cross_check)
    if runs is None or _device(runs) == _device(directory):
        _require(soak, needed, needed.whole, directory, "TMPDIR")
    else:
        _require(soak, needed, needed.of_brokers, directory, "TMPDIR")
        _require(soak, needed, needed.of_run, runs, "--runs-dir")
    return needed


def check_storage(soak: Soak, storage: Path, directory: Path) -> None:
    """Make sure that containers have room for brokers' logs, beside the copy that is read of them at rest.

    Args:
        soak: what is asked.
        storage: in which containers are.
        directory: in which the copy will be.

    Raises:
        UsageError: there is less.
    """
    needed, copies = needed_room(soak), 2 if _device(storage) == _device(directory) else 1
    _require(soak, needed, copies * needed.of_brokers, storage, "Docker's data-root")


def _require(soak: Soak, needed: NeededRoom, wanted: int, directory: Path, set_by: str) -> None:
    """Make sure that so many bytes are free in a directory, which an option or a variable says."""
    free = shutil.disk_usage(_existing(directory)).free
    if wanted <= free:
        return
    changes = " or ".join(["--records", *(["--rate"] if soak.duration_s is not None else [])])
    fewer = f", fewer --replicas than {soak.replicas}" if soak.replicas > 1 else ""
    raise UsageError(
        f"{needed.words}, and {size_words(free)} are free in {directory}: ask for {_fewer(soak, needed, wanted, free)} "
        f"records ({changes}){fewer}, or set {set_by} to a directory on a disk that has the room."
    )


def _fewer(soak: Soak, needed: NeededRoom, wanted: int, free: int) -> str:
    """Return how many records would fit, in words."""
    beside = 0 if wanted == needed.of_run else NODES_BYTES
    fit = int(needed.records * (free - beside) / (wanted - beside)) if free > beside else 0
    return f"at most {fit:,}" if fit > soak.producers else "fewer"


def _device(directory: Path) -> int:
    return _existing(directory).stat().st_dev


def _beside_the_value(soak: Soak) -> float:
    """Return how many bytes of log a record has beside its value: a batch is what comes while a client lingers."""
    if not stamps_epochs(soak.version):
        return MESSAGE_BYTES
    queues, linger_s = soak.producers * soak.partitions, LINGER_MS / 1000
    of_one_queue = BATCH_RECORDS if soak.rate is None else soak.rate / queues * linger_s
    return RECORD_BYTES + BATCH_BYTES / min(BATCH_RECORDS, max(1.0, of_one_queue))


def _existing(directory: Path) -> Path:
    return next(one for one in (directory.absolute(), *directory.absolute().parents) if one.exists())
