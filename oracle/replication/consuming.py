"""What is a client told that asks one broker? Errors by their names in Kafka, numbers as that broker has them.

| question | who answers | what decides |
|---|---|---|
| Fetch | the leader; from 2.4 a follower as well, in Fetch 11 and newer (KIP-392) | that broker's high watermark |
| Fetch, from a rack | the leader names a follower in that rack that has the offset (KIP-392) | what it fetched last |
| ListOffsets | the leader | its high watermark, once that has reached its epoch's start (KIP-207, 2.2) |
| OffsetsForLeaderEpoch | the leader, in the epoch that the asker claims (KIP-320, 2.1) | its epoch cache |

Sources: ``ReplicaManager.fetchMessages``, ``ReplicaManager.findPreferredReadReplica``, ``RackAwareReplicaSelector``,
``Partition.fetchOffsetForTimestamp``, ``Partition.lastOffsetForLeaderEpoch``, ``Partition.checkCurrentLeaderEpoch``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, EpochEnd
from oracle.vocabulary import Offset, OffsetSpec, ReplicaRole

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from oracle.rules.rule_set import RuleSet
    from oracle.state import ReplicaState
    from oracle.vocabulary import BrokerId, Label, LeaderEpoch

FETCH_FOLLOWERS_ANSWER = 11
"""The first version of Fetch that a follower answers to a consumer, where the release lets it (KIP-392)."""
LIST_OFFSETS_WITH_OWN_ERROR = 5
"""The first version of ListOffsets that knows OFFSET_NOT_AVAILABLE."""
EPOCH_ANSWERS_NAME_EPOCH = 1
"""The first version of OffsetsForLeaderEpoch whose answer names an epoch (KIP-279)."""
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"


@dataclass(frozen=True, slots=True)
class Consumed:
    """An answer to a consumer's Fetch: the records that it shows, and that broker's high watermark; or the error."""

    records: tuple[Label, ...] = ()
    high_watermark: Offset | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ListOffsetsAnswer:
    """An answer to ListOffsets, read uncommitted: both None if no record is that late."""

    offset: Offset | None
    error: str | None


@dataclass(frozen=True, slots=True)
class EpochLookupAnswer:
    """An answer to OffsetsForLeaderEpoch."""

    end: EpochEnd = UNDEFINED
    error: str | None = None


def consume(replica: ReplicaState, offset: Offset, version: int, rules: RuleSet) -> Consumed:
    """Answer a consumer's Fetch with what is below the replica's own high watermark (HW-02)."""
    is_served = rules.followers_serve_consumers and version >= FETCH_FOLLOWERS_ANSWER
    if replica.role is not ReplicaRole.LEADER and not is_served:
        return Consumed(error=NOT_LEADER)
    if not replica.log_start_offset <= offset <= replica.log.log_end_offset:
        return Consumed(error="OFFSET_OUT_OF_RANGE")
    shown = replica.log.entries[offset : replica.high_watermark]
    return Consumed(tuple(entry.label for entry in shown), replica.high_watermark)


def preferred_read_replica(
    asked: ReplicaState, offset: Offset, rack: str, racks: Mapping[BrokerId, str]
) -> BrokerId | None:
    """Return which follower a rack-aware leader sends a consumer to; None if it answers itself (HW-02, KIP-392).

    Args:
        asked: the replica whose broker is asked; a follower names nobody.
        offset: at which the consumer fetches; only a follower is named whose last fetch was as far.
        rack: of the consumer.
        racks: of the brokers; every selector but ``RackAwareReplicaSelector`` has none of this.
    """
    if asked.role is not ReplicaRole.LEADER or racks.get(asked.broker) == rack:
        return None
    near = [remote for remote in asked.remotes if racks.get(remote.broker) == rack]
    ends = {remote.broker: remote.log_end_offset for remote in near if remote.log_end_offset is not None}
    there = [broker for broker, end in ends.items() if end >= offset]
    return max(there, key=lambda broker: ends[broker], default=None)


def list_offset(
    replica: ReplicaState, spec: OffsetSpec, version: int, rules: RuleSet, late_enough: Collection[Label] = ()
) -> ListOffsetsAnswer:
    """Answer ListOffsets; a timestamp is found only below the high watermark (RM-06, HW-14).

    Args:
        replica: whose broker is asked.
        spec: what it is asked for.
        version: of the request.
        rules: of its release.
        late_enough: with a timestamp the records that are not older.
    """
    if replica.role is not ReplicaRole.LEADER:
        return ListOffsetsAnswer(None, NOT_LEADER)
    if spec is OffsetSpec.EARLIEST:
        return ListOffsetsAnswer(replica.log_start_offset, None)
    found = replica.high_watermark if spec is OffsetSpec.LATEST else _first_of(replica, late_enough)
    if spec is OffsetSpec.TIMESTAMP and found is not None and found < replica.high_watermark:
        return ListOffsetsAnswer(found, None)
    if not rules.tells_latest_offset(replica.high_watermark, replica.epoch_start_offset):
        knows_error = version >= LIST_OFFSETS_WITH_OWN_ERROR
        return ListOffsetsAnswer(None, "OFFSET_NOT_AVAILABLE" if knows_error else "LEADER_NOT_AVAILABLE")
    return ListOffsetsAnswer(found if _is_allowed(replica, spec, found, rules) else None, None)


def _is_allowed(replica: ReplicaState, spec: OffsetSpec, found: Offset | None, rules: RuleSet) -> bool:
    """Tell whether an offset is told that is not below the high watermark: that one itself, and up to 0.10.2 at it."""
    if spec is OffsetSpec.LATEST:
        return True
    return rules.finds_time_at_high_watermark and found == replica.high_watermark


def _first_of(replica: ReplicaState, labels: Collection[Label]) -> Offset | None:
    """Return where the first of these records lies in what the replica serves."""
    served = enumerate(replica.log.entries)
    found = (offset for offset, entry in served if entry.label in labels and offset >= replica.log_start_offset)
    return next((Offset(offset) for offset in found), None)


def end_offset_of_epoch(
    replica: ReplicaState, epoch: LeaderEpoch, current: LeaderEpoch | None, version: int, rules: RuleSet
) -> EpochLookupAnswer:
    """Answer OffsetsForLeaderEpoch from the replica's epoch cache (LE-03); only versions from 2 on claim an epoch."""
    if current is not None and not rules.serves_epoch(current, replica.leader_epoch):
        is_old = current < replica.leader_epoch
        return EpochLookupAnswer(error="FENCED_LEADER_EPOCH" if is_old else "UNKNOWN_LEADER_EPOCH")
    if replica.role is not ReplicaRole.LEADER:
        return EpochLookupAnswer(error=NOT_LEADER)
    end = rules.truncation.end_offset_for(replica.log, epoch)
    return EpochLookupAnswer(end if version >= EPOCH_ANSWERS_NAME_EPOCH else EpochEnd(None, end.end_offset))
