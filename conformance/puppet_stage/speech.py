"""What do a follower and a leader say to each other, in few words that compare?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.state import FetchAnswer

NO_ERROR, OFFSET_OUT_OF_RANGE, REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS, INVALID_REQUIRED_ACKS = 0, 1, 7, 19, 21
FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 74, 75
NOT_LEADER_OR_FOLLOWER = 6

Words = tuple[str, int, int]
"""A follower's request: what it is, its fetch offset, and the epoch it names; -1 for none."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a leader answers a follower's fetch.

    Attributes:
        error: the error code; the rest counts only without one.
        records: how many came.
        high_watermark: as it was told.
        diverging: the epoch and offset at which the logs part, where the release tells so (KIP-595).
        is_pushed: whether a fetch that may wait is answered at once, for its high watermark alone (KAFKA-9952).
    """

    error: int = 0
    records: int = 0
    high_watermark: int = 0
    diverging: tuple[int, int] | None = None
    is_pushed: bool = False


def diverging_in(answer: FetchAnswer) -> tuple[int, int] | None:
    """Give the diverging epoch of a modelled answer and where it ends, if it has one."""
    end = answer.diverging
    if end is None:
        return None
    assert end.leader_epoch is not None
    assert end.end_offset is not None
    return end.leader_epoch, end.end_offset
