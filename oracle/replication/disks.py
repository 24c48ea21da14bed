"""What can a disk forget while its broker is down? The log's tail, and the high watermark's checkpoint.

A record is on a log once it is in the page cache: kill -9 keeps it, a machine that loses power may
not. What is gone is the end of the active segment. When the broker loads the log it cuts the epoch
cache to the new end, and takes as high watermark what the checkpoint file says, 0 without a file,
but at most the log end offset. A machine that lost power did not write its clean-shutdown file.

Sources: LogLoader, UnifiedLog (leaderEpochCache.truncateFromEnd), OffsetCheckpointFile; HW-13, EL-06.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.replication.following import truncate
from oracle.vocabulary import Offset

if TYPE_CHECKING:
    from oracle.state import PartitionState
    from oracle.vocabulary import BrokerId, Label

TAIL_LOST = "tail-lost"
"""The reason that is written beside a record which a disk forgot."""


def lose_tail(state: PartitionState, broker: BrokerId, offset: Offset) -> PartitionState:
    """Forget a dead broker's records from an offset on; the shutdown before it counts as unclean."""
    replica = replace(state.replica(broker), shut_down_cleanly=False)
    return truncate(state, replica, offset, TAIL_LOST)


def lose_high_watermark(state: PartitionState, broker: BrokerId) -> PartitionState:
    """Forget a dead broker's checkpointed high watermark: it will start with 0."""
    start = Offset(0)
    return state.with_replica(replace(state.replica(broker), high_watermark=start, checkpointed_high_watermark=start))


def forgot(state: PartitionState, broker: BrokerId, label: Label) -> bool:
    """Tell whether a broker's disk has once forgotten a record."""
    return (broker, label, TAIL_LOST) in state.history_truncations


def why_not(state: PartitionState, broker: BrokerId, offset: Offset | None = None) -> str | None:
    """Return why a broker's disk cannot forget this, or None: it runs, or the log has no such record."""
    replica = state.replica(broker)
    if replica.alive:
        return f"broker {broker} runs: only a broker that is down can lose what its disk holds"
    start = replica.log_start_offset if offset is None else max(r.log_start_offset for r in state.replicas)
    if (offset or 0) < start:
        return f"records before offset {start} were deleted: what is left then is not predicted"
    if offset is not None and offset >= replica.log.log_end_offset:
        return f"the log of broker {broker} ends at {replica.log.log_end_offset}: nothing is lost from {offset} on"
    return None
