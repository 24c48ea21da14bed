"""What is a published module, and how large is its model? A row of rules, as each release is one, and constants.

Fences and joins are the very functions that predict brokers; where a follower cuts its log is composed from them in
`oracle.published.truncations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.log import ReplicaLog
    from oracle.vocabulary import LeaderEpoch, Offset

    Cuts = Callable[[ReplicaLog, ReplicaLog, Offset], tuple[Offset, ...]]
    Fence = Callable[[LeaderEpoch, LeaderEpoch], bool]
    Joins = Callable[[Offset, Offset, Offset], bool]


@dataclass(frozen=True, slots=True)
class Module:
    """A module's rules.

    Attributes:
        name: the module's published name.
        cuts: where a follower cuts its log, from the leader's log, its own and its high watermark: one offset for
            each alternative of the published guard that is true; none if the step is not possible.
        fences_truncation: whether the leader must be in the epoch that the follower is about to enter.
        serves: whether a leader gives records to a follower in another epoch.
        counts: whether a follower in another epoch counts for the high watermark.
        acknowledges: whether a follower in another epoch is in sync, when the leader shrinks or expands the ISR.
        joins: whether a replica may join, from its fetch offset, the high watermark and the epoch's start offset.
        tells_reasons_apart: a follower to drop that is both in another epoch and behind is dropped in two ways.
        checks_last_epoch: a follower begins to fetch at once; the leader compares the epoch of the last record.
        enters_epoch_on_election: a new leader writes its epoch into the cache before its first record.
        elects_uncleanly: the controller may elect a replica outside the ISR.
    """

    name: str
    cuts: Cuts
    fences_truncation: bool
    serves: Fence
    counts: Fence
    acknowledges: Fence
    joins: Joins
    tells_reasons_apart: bool = False
    checks_last_epoch: bool = False
    enters_epoch_on_election: bool = False
    elects_uncleanly: bool = False


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
