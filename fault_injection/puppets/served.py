"""What does a leader puppet tell its followers about one partition? All of it is the caller's choice."""

from collections.abc import Callable
from dataclasses import dataclass

from fault_injection.puppets.records import Batch
from fault_injection.wire.views import EpochEnd

UNKNOWN_END = EpochEnd(-1, -1)
OFFSET_OUT_OF_RANGE = 1


def _unknown(_leader_epoch: int) -> EpochEnd:
    return UNKNOWN_END


def _never_diverges(_last_fetched_epoch: int, _fetch_offset: int) -> EpochEnd | None:
    return None


@dataclass(frozen=True, slots=True)
class Served:
    """The leader's side of one partition.

    Attributes:
        log: the records, from the log start offset on.
        high_watermark: as every fetch is told.
        end_of_epoch: (epoch asked about) -> the answer to OffsetsForLeaderEpoch; unknown by default.
        diverging: (last fetched epoch, fetch offset) -> a diverging epoch in place of records (Fetch v12+).
        error: the error code of every answer; 0 for none.
    """

    log: tuple[Batch, ...]
    high_watermark: int
    end_of_epoch: Callable[[int], EpochEnd] = _unknown
    diverging: Callable[[int, int], EpochEnd | None] = _never_diverges
    error: int = 0

    @property
    def log_start_offset(self) -> int:
        """The first offset that is there."""
        return self.log[0].base_offset if self.log else 0

    @property
    def log_end_offset(self) -> int:
        """The offset after the last record."""
        return self.log[-1].end_offset if self.log else 0

    def records_from(self, offset: int, magic: int) -> bytes:
        """Give the encoded batches from the one with an offset on."""
        return b"".join(batch.encoded(magic) for batch in self.log if batch.end_offset > offset)
