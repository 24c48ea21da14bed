"""When and where was something seen? What every observed event tells, and how a request is known again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch, Offset


class TopicPartition(NamedTuple):
    """Which partition an event is about."""

    topic: str
    partition: int


class RequestKey(NamedTuple):
    """Which request an answer belongs to: the number of its connection, unique in a run, and its correlation id."""

    connection: int
    correlation_id: int


class EpochRun(NamedTuple):
    """Consecutive records of one leader epoch; None for batches that carry none (message formats 0 and 1)."""

    leader_epoch: LeaderEpoch | None
    first_offset: Offset
    last_offset: Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """A moment.

    Attributes:
        at: monotonic nanoseconds.
        frame: number of the frame in the wire trace that shows it; None if no frame does.
    """

    at: int
    frame: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionObserved(Observed):
    """A moment of one partition."""

    partition: TopicPartition
