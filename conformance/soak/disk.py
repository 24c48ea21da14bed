"""How much room does a soak need on disk, and is it there? Asked before anything starts.

The logs of all replicas, with what batches and indexes add; the ledger; the wire trace. What Spark reads of the topic
is not kept. Every number is at least what was measured, so that a soak that begins does not fill the disk.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
LINGER_S = 0.005
BATCH_RECORDS = 50
"""So many records a batch has at least where brokers are the slower ones."""
INDEX_PART = 0.01
"""Offset and time index have 20 bytes for each 4 KiB of log (``log.index.interval.bytes``)."""
LEDGER_BYTES = 8
"""Of the ledger for each record, attempts and outcomes."""
TRACE_BYTES_A_S = 2**30 // 3600
FASTEST = 200_000
"""Records a second that brokers on one machine take at most, where no rate is asked."""
SLOWEST = 10_000
"""Records a second that they take at least: so long the wire is traced."""
MARGIN = 1.05
NODES_BYTES = 500 * 10**6
"""What nodes write beside the topic: their own logs, metadata, indexes that are laid out before they are filled."""
GB = 10**9


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

    @property
    def whole(self) -> int:
        """Return the sum, with what nodes write beside it and a margin."""
        return int((self.logs + self.ledger + self.trace) * MARGIN) + NODES_BYTES

    @property
    def words(self) -> str:
        """Return the sum and its parts for a person to read."""
        parts = f"logs of all replicas {_size(self.logs)}, ledger {_size(self.ledger)}, wire trace {_size(self.trace)}"
        return f"{self.records:,} records need {_size(self.whole)} ({parts})"


def needed_room(soak: Soak) -> NeededRoom:
    """Return what a soak needs on disk: for its records, or all that can be sent while it lasts."""
    records = records_at_most(soak)
    logs = int(records * (soak.value_length + _beside_the_value(soak)) * soak.replicas * (1 + INDEX_PART))
    seconds = records / (soak.rate or SLOWEST)
    if soak.duration_s is not None:
        seconds = min(seconds, soak.duration_s)
    return NeededRoom(records, logs, records * LEDGER_BYTES, int(seconds * TRACE_BYTES_A_S))


def records_at_most(soak: Soak) -> int:
    """Return how many records a soak sends at most."""
    limits = [] if soak.records is None else [soak.records]
    if soak.duration_s is not None:
        limits.append(int(soak.duration_s * (soak.rate or FASTEST)))
    return min(limits)


def check_room(soak: Soak, directory: Path) -> NeededRoom:
    """Return what a soak needs on the disk of a directory, once it is known to be there.

    Args:
        soak: what is asked.
        directory: in which its run and its brokers' logs will be; it need not exist yet.

    Raises:
        UsageError: there is less; says how much is needed, how much is there, where, and what to change.
    """
    needed = needed_room(soak)
    free = shutil.disk_usage(_existing(directory)).free
    if needed.whole > free:
        changes = " or ".join(["--records", *(["--rate"] if soak.duration_s is not None else [])])
        fewer = f", fewer --replicas than {soak.replicas}" if soak.replicas > 1 else ""
        raise UsageError(
            f"{needed.words}, and {_size(free)} are free in {directory}: ask for {_fewer(soak, needed, free)} records "
            f"({changes}){fewer}, or another directory on a disk that has the room."
        )
    return needed


def _fewer(soak: Soak, needed: NeededRoom, free: int) -> str:
    """Return how many records would fit, in words."""
    a_record = needed.whole - NODES_BYTES
    fit = int(needed.records * (free - NODES_BYTES) / a_record) if free > NODES_BYTES else 0
    return f"at most {fit:,}" if fit > soak.producers else "fewer"


def _beside_the_value(soak: Soak) -> float:
    """Return how many bytes of log a record has beside its value: a batch is what comes while a client lingers."""
    if not stamps_epochs(soak.version):
        return MESSAGE_BYTES
    of_one_queue = BATCH_RECORDS if soak.rate is None else soak.rate / (soak.producers * soak.partitions) * LINGER_S
    return RECORD_BYTES + BATCH_BYTES / min(BATCH_RECORDS, max(1.0, of_one_queue))


def _existing(directory: Path) -> Path:
    return next(one for one in (directory.absolute(), *directory.absolute().parents) if one.exists())


def _size(count: int) -> str:
    return f"{count / GB:,.1f} GB"
