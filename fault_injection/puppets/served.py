"""What does a leader puppet tell its followers about one partition? All of it is the caller's choice."""

from collections.abc import Callable
from dataclasses import dataclass

from fault_injection.puppets.records import Batch
from fault_injection.wire.views import NONE, EpochEnd

UNKNOWN_END = EpochEnd(-1, -1)
OFFSET_OUT_OF_RANGE = 1
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75


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
        leader_epoch: requests that claim another epoch are fenced, as leaders do from 2.1 on; None serves any.
        error: the error code of every answer; 0 for none.

    Spec: KIP-320 for the fencing.
    """

    log: tuple[Batch, ...]
    high_watermark: int
    end_of_epoch: Callable[[int], EpochEnd] = _unknown
    diverging: Callable[[int, int], EpochEnd | None] = _never_diverges
    leader_epoch: int | None = None
    error: int = 0

    def error_for(self, current_leader_epoch: int) -> int:
        """Give the error code for a request that claims a leader epoch; -1 claims none."""
        if self.error or self.leader_epoch is None or current_leader_epoch in {NONE, self.leader_epoch}:
            return self.error
        return FENCED_LEADER_EPOCH if current_leader_epoch < self.leader_epoch else UNKNOWN_LEADER_EPOCH

    def fetch_error_for(self, current_leader_epoch: int) -> int:
        """Give the error code for a fetch; that of any other request unless a leader says otherwise."""
        return self.error_for(current_leader_epoch)

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
