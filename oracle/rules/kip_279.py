"""How does a follower truncate after several fast failovers? By (epoch, offset), asking again.

Without it a follower that lacks the epoch its leader answers about keeps records of an epoch that
the leader never had: logs diverge (KAFKA-6361).

Source: KIP-279, AbstractFetcherThread.getOffsetTruncationState.

Mutant: asks-only-once, which the story kip-279-asks-twice notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, EpochEnd, ReplicaLog
from oracle.rules import kip_101
from oracle.rules.rule import Rule
from oracle.rules.truncation import Truncation, TruncationPoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.vocabulary import LeaderEpoch, Offset

    EndOffsetFor = Callable[[ReplicaLog, LeaderEpoch], EpochEnd]

RULE = Rule(
    name="truncate-to-common-epoch",
    source="KIP-279, AbstractFetcherThread.getOffsetTruncationState",
    says="A follower asks again until it cuts its log at an epoch that both logs have.",
)

WITHIN_CACHE = Rule(
    name="epoch-below-the-cache-is-unknown",
    source="KAFKA-7415, LeaderEpochFileCache.endOffsetFor of 2.0.0",
    says="A leader asked about an epoch below the first of its cache says that it does not know it.",
)


def end_offset_of_largest_epoch(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer the largest epoch not above the one asked about, and its end offset.

    An epoch below the cache's first is answered as itself, ending where the first one starts
    (KAFKA-7415).
    """
    answer = log.end_offset_for(epoch)
    if answer.end_offset is not None and answer.leader_epoch is None:
        return EpochEnd(epoch, answer.end_offset)
    return answer


def end_offset_within_cache(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer as 2.0.0 does: an epoch below the cache's first is unknown."""
    answer = log.end_offset_for(epoch)
    return UNDEFINED if answer.leader_epoch is None else answer


def cut_to_common_epoch(log: ReplicaLog, high_watermark: Offset, answer: EpochEnd) -> TruncationPoint:
    """Cut to the end of the leader's epoch if the follower has it, else of the next lower, and ask again."""
    return _cut(log, high_watermark, answer, end_offset_of_largest_epoch)


def cut_within_cache(log: ReplicaLog, high_watermark: Offset, answer: EpochEnd) -> TruncationPoint:
    """Cut as 2.0.0 does: to the leader's end offset if the epoch is below the follower's first."""
    return _cut(log, high_watermark, answer, end_offset_within_cache)


def _cut(log: ReplicaLog, high_watermark: Offset, answer: EpochEnd, end_offset_for: EndOffsetFor) -> TruncationPoint:
    if answer.leader_epoch is None or answer.end_offset is None:
        return kip_101.cut_to_end_offset(log, high_watermark, answer)
    own = end_offset_for(log, answer.leader_epoch)
    if own.end_offset is None:
        return TruncationPoint(min(answer.end_offset, log.log_end_offset))
    if own.leader_epoch != answer.leader_epoch:
        return TruncationPoint(own.end_offset, is_final=False)
    return TruncationPoint(min(own.end_offset, answer.end_offset))


TRUNCATION = Truncation(
    rule=RULE,
    cuts_to_high_watermark=False,
    asks_leader=True,
    asks_without_epochs=False,
    checks_on_fetch=False,
    end_offset_for=end_offset_of_largest_epoch,
    cut=cut_to_common_epoch,
)
TRUNCATION_BEFORE_KAFKA_7415 = replace(TRUNCATION, end_offset_for=end_offset_within_cache, cut=cut_within_cache)
