"""How does a puppet write records that look as if a leader of a chosen epoch had appended them?

A leader writes the base offset and its epoch into the header of a batch; neither is covered by the batch's checksum.
Message sets before v2 have no epoch, and each message carries its own offset.

Sources: Kafka documentation, "Message Format"; KIP-32 (fetch v2: magic 1), KIP-98 (fetch v4: magic 2).
"""

import struct
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

with warnings.catch_warnings():
    # kafka-python reads its own schemas through a deprecated function of importlib.resources.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record import MemoryRecordsBuilder

RECORD_BATCH_MAGIC = 2
PRODUCER_EPOCH = 0
NONE = -1
TIMESTAMP_MS = 1_500_000_000_000
_HEADER = struct.Struct(">qii")  # base offset, length of what follows, leader epoch
_LENGTH_BEGINS_AFTER = 12
_BATCH_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that a leader appended at once.

    Attributes:
        base_offset: the offset of the first one.
        leader_epoch: the epoch of the leader; not written before record batches v2.
        values: the records' values; they have no keys.
        timestamp_ms: of each of them.
        transaction: the producer id whose transaction they are part of, and the first one's sequence number.
    """

    base_offset: int
    leader_epoch: int
    values: tuple[bytes, ...]
    timestamp_ms: int = TIMESTAMP_MS
    transaction: tuple[int, int] | None = None

    @property
    def end_offset(self) -> int:
        """Return the offset after the last record."""
        return self.base_offset + len(self.values)

    def encoded(self, magic: int) -> bytes:
        """Return the bytes of the batch, or of its messages before v2."""
        is_batch = magic >= RECORD_BATCH_MAGIC
        first = 0 if is_batch else self.base_offset
        producer_id, sequence = (NONE, NONE) if self.transaction is None else self.transaction
        builder = MemoryRecordsBuilder(
            magic,
            0,
            batch_size=_BATCH_BYTES_MAX,
            offset=first,
            transactional=self.transaction is not None,
            producer_id=producer_id,
            producer_epoch=NONE if self.transaction is None else PRODUCER_EPOCH,
            base_sequence=sequence,
        )
        for value in self.values:
            builder.append(timestamp=self.timestamp_ms, key=None, value=value)
        builder.close()
        content = bytearray(builder.buffer())
        if is_batch:
            _HEADER.pack_into(content, 0, self.base_offset, len(content) - _LENGTH_BEGINS_AFTER, self.leader_epoch)
        return bytes(content)


def batches(*epochs: tuple[int, Iterable[bytes]]) -> tuple[Batch, ...]:
    """Return a log from offset 0 on, one batch a record, from (leader epoch, values) in order."""
    log: list[Batch] = []
    for leader_epoch, values in epochs:
        for value in values:
            log.append(Batch(len(log), leader_epoch, (value,)))
    return tuple(log)


def magic_of_fetch(version: int) -> int:
    """Return the message format that a fetch of a version is answered in."""
    if version >= 4:
        return RECORD_BATCH_MAGIC
    return 1 if version >= 2 else 0
