"""Where do the published modules cut a follower's log? Each answer composed from the rule that predicts brokers.

Three differences are deliberate and stated here, because they belong to the specifications and not to brokers:

- A step whose cut lies beyond the follower's log end is not taken at all; a broker cuts nothing and goes on.
- KIP-101's lookup knows an epoch below the leader's first one; a broker of 0.11 to 1.1 answers that it does not.
- KIP-279's lookup knows every epoch: the leader's log is given an entry of a later epoch at its end first, as a
  leader has one from 2.0.1 on (KAFKA-7415). Without it a follower would be sent to its high watermark.

Where logs are such that no epoch cache describes them (epochs that go down along a log, or an epoch that starts at
different offsets on two logs: the unfenced modules reach such logs in the end), brokers' rules have nothing to look
up, and the published definition over single records stands in.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from oracle.log import UNDEFINED, EpochEnd, ReplicaLog
from oracle.rules import truncation
from oracle.vocabulary import LeaderEpoch, Offset


@cache
def cuts_to_high_watermark(_leader: ReplicaLog, follower: ReplicaLog, high_watermark: Offset) -> tuple[Offset, ...]:
    """Cut to the follower's own high watermark (KafkaTruncateToHighWatermark)."""
    return (truncation.TO_HIGH_WATERMARK.cut(follower, high_watermark, UNDEFINED).offset,)


@cache
def cuts_by_kip_101(leader: ReplicaLog, follower: ReplicaLog, high_watermark: Offset) -> tuple[Offset, ...]:
    """Cut where the follower's last epoch ends on the leader, else to the high watermark (Kip101)."""
    if not follower.entries:
        return (Offset(0),)
    epoch = follower.entries[-1].leader_epoch
    answer = leader.end_offset_for(epoch) if has_epoch_cache(leader) else end_by_records(leader, epoch)
    if answer.end_offset is not None and answer.end_offset > follower.log_end_offset:
        return ()
    return (truncation.KIP_101.cut(follower, high_watermark, answer).offset,)


@cache
def cuts_by_kip_279(leader: ReplicaLog, follower: ReplicaLog, _high_watermark: Offset) -> tuple[Offset, ...]:
    """Cut after the last record that both logs have (Kip320): ask again until the answer is final."""
    if not has_common_history(leader, follower):
        return (last_match(leader, follower),)
    ended = leader.with_epoch(LeaderEpoch(max(leader.latest_epoch, follower.latest_epoch) + 1))
    rule, log, is_final = truncation.KIP_279, follower, False
    while log.entries and not is_final:
        cut = rule.cut(log, Offset(0), rule.end_offset_for(ended, log.latest_epoch))
        log, is_final = log.truncate_to(cut.offset), cut.is_final
    return (log.log_end_offset,)


def cuts_in_two_ways(leader: ReplicaLog, follower: ReplicaLog, high_watermark: Offset) -> tuple[Offset, ...]:
    """Cut as KIP-279; an empty follower has two ways to cut nothing (Kip279)."""
    cuts = cuts_by_kip_279(leader, follower, high_watermark)
    return cuts if follower.entries else (Offset(0), *cuts)


@cache
def last_epoch_agrees(leader: ReplicaLog, follower: ReplicaLog, offset: Offset) -> bool:
    """Return whether both logs have a record of the same epoch right before an offset (Kip320FirstTry).

    Brokers compare the last fetched epoch with where that epoch ends on the leader, so they can only be asked if the
    epoch is known to begin before the offset.
    """
    if offset == 0:
        return True
    if offset > leader.log_end_offset:
        return False
    epoch = follower.entries[offset - 1].leader_epoch
    starts = {line.leader_epoch: line.start_offset for line in leader.epochs}
    if not has_epoch_cache(leader) or starts.get(epoch, offset) >= offset:
        return leader.entries[offset - 1].leader_epoch == epoch
    answer = truncation.ON_FETCH.end_offset_for(leader, epoch)
    return answer.end_offset is not None and answer.end_offset >= offset


@cache
def diverges(leader: ReplicaLog, follower: ReplicaLog) -> bool:
    """Tell whether a follower's log goes past its leader's, or ends with a record of another epoch (Kip320FirstTry)."""
    end = follower.log_end_offset
    return end > leader.log_end_offset or not last_epoch_agrees(leader, follower, end)


def has_epoch_cache(log: ReplicaLog) -> bool:
    """Return whether epochs never go down along the log, as an epoch cache takes for granted."""
    return all(before.leader_epoch <= after.leader_epoch for before, after in pairwise(log.entries))


def has_common_history(one: ReplicaLog, other: ReplicaLog) -> bool:
    """Return whether the last epoch that both logs hold starts at the same offset in both."""
    if not has_epoch_cache(one) or not has_epoch_cache(other):
        return False
    starts, others = ({line.leader_epoch: line.start_offset for line in log.epochs} for log in (one, other))
    common = max(starts.keys() & others.keys(), default=None)
    return common is None or starts[common] == others[common]


def end_by_records(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer where an epoch ends by the records alone: at the first one of a larger epoch, if it is not the last."""
    if log.entries[-1].leader_epoch == epoch:
        return EpochEnd(epoch, log.log_end_offset)
    larger = (n for n, entry in enumerate(log.entries) if entry.leader_epoch > epoch)
    end = next(larger, None)
    return UNDEFINED if end is None else EpochEnd(epoch, Offset(end))


def last_match(leader: ReplicaLog, follower: ReplicaLog) -> Offset:
    """Return the offset after the last one at which both logs hold the same record."""
    pairs = enumerate(zip(leader.entries, follower.entries, strict=False))
    return Offset(max((n + 1 for n, (one, other) in pairs if one == other), default=0))
