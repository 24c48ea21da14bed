"""How large is a published module's model? The constants that its search is bounded by."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.vocabulary import BrokerId


@dataclass(frozen=True, slots=True)
class Constants:
    """The published constants: Replicas, LogSize, MaxRecords, MaxLeaderEpoch.

    Attributes:
        replicas: how many replicas the partition has.
        log_size: slots of each log.
        records: how many records may ever be written.
        epochs: highest leader epoch; the first one is 0.
    """

    replicas: int
    log_size: int
    records: int
    epochs: int

    @property
    def brokers(self) -> tuple[BrokerId, ...]:
        """Return the brokers, numbered from 1."""
        return tuple(BrokerId(number) for number in range(1, self.replicas + 1))

    @property
    def part_bits(self) -> int:
        """Bits that number every content that one part of a state may come to have."""
        return 18
