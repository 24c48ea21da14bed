"""How did a soak go, over time? ``course.json``: a few hundred buckets of time and the states of each partition.

It is seen on the wire, in the one pass that predicts, and is small however much was sent: a bucket is as wide as is
needed. Nothing is predicted or judged from it; it is for pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.record.directory import RunDirectory

COURSE_FILE = "course.json"
BUCKETS_MAX = 400
STATES_MAX = 4000
"""So many states are kept of all partitions together."""
STATES_OF_ONE = (8, 320)
"""So many at least, and at most, of one partition."""


@dataclass(frozen=True, slots=True)
class LedState:
    """What held of a partition from a moment on, as the wire showed it first.

    Attributes:
        at_s: seconds since load began; what held before is at 0.
        leader: None if there is none.
        isr: the replicas in sync; of several states those that were in sync in all of them.
        states: how many this stands for: states that are too short, or too many, are one with those that follow.
    """

    at_s: float
    leader: int | None
    leader_epoch: int
    isr: tuple[int, ...]
    states: int = 1


@dataclass(frozen=True, slots=True)
class PartitionCourse:
    """The states of one partition, in the order of time; none if the wire never showed one."""

    partition: int
    states: tuple[LedState, ...]


@dataclass(frozen=True, slots=True)
class SoakCourse:
    """What a soak went through, bucket by bucket.

    Attributes:
        bucket_s: the width of a bucket in seconds; the first begins with the load.
        sent: records that left their producers; a record that was sent again counts again.
        acknowledged: records that were acknowledged with an offset.
        lag: the greatest number of records that a leader was seen to have, and did not yet count as committed: its log
            end offset less its high watermark, over partitions and over the time of the bucket.
        out_of_sync: how many partitions at once had a replica that was not in sync, or no leader, at the worst moment.
        partitions: in their order.
    """

    bucket_s: float
    sent: tuple[int, ...]
    acknowledged: tuple[int, ...]
    lag: tuple[int, ...]
    out_of_sync: tuple[int, ...]
    partitions: tuple[PartitionCourse, ...]

    @property
    def seconds(self) -> float:
        """Return how long it is."""
        return self.bucket_s * len(self.sent)


def read_course(run: RunDirectory) -> SoakCourse | None:
    """Read how a soak went; None if its trace was never gone through.

    Raises:
        RunDirectoryError: it cannot be read.
    """
    return run.read(COURSE_FILE, SoakCourse) if run.has(COURSE_FILE) else None
