"""How does a follower cut its log, so that it becomes a prefix of its leader's? By one of four rules, by release."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, EpochEnd, ReplicaLog
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.vocabulary import LeaderEpoch, Offset

    EndOffsetFor = Callable[[ReplicaLog, LeaderEpoch], EpochEnd]


@dataclass(frozen=True, slots=True)
class TruncationPoint:
    """Where a follower cuts its log, and whether it may fetch afterwards or must ask again."""

    offset: Offset
    is_final: bool = True


@dataclass(frozen=True, slots=True)
class Truncation:
    """How a follower makes its log a prefix of its leader's.

    Attributes:
        cuts_to_high_watermark: cut at once on becoming follower, asking nobody.
        asks_leader: look the last epoch up with OffsetsForLeaderEpoch before the first fetch.
        asks_without_epochs: even if the follower has no epoch to ask about (KAFKA-6859).
        checks_on_fetch: the leader compares the last fetched epoch and answers a diverging epoch.
        end_offset_for: the leader's answer about an epoch.
        cut: the follower's cut from (own log, where to cut if the leader cannot tell, leader's answer).
        stamps_epochs: batches carry the leader epoch they were written in.
        notes_epochs: a replay keeps in which leader epoch records were appended, though batches do not carry it
            (``oracle.tracing.committed``); no rule looks at it.
    """

    rule: Rule
    cuts_to_high_watermark: bool
    asks_leader: bool
    asks_without_epochs: bool
    checks_on_fetch: bool
    end_offset_for: Callable[[ReplicaLog, LeaderEpoch], EpochEnd]
    cut: Callable[[ReplicaLog, Offset, EpochEnd], TruncationPoint]
    stamps_epochs: bool = True
    notes_epochs: bool = False

    def looks_up(self, log: ReplicaLog) -> bool:
        """Return whether a follower with this log asks before it fetches."""
        return self.asks_leader and (self.asks_without_epochs or bool(log.epochs))

    def cuts_at_once(self, log: ReplicaLog) -> bool:
        """Return whether a follower with this log cuts to its high watermark, having no epoch to ask or tell about."""
        return self.cuts_to_high_watermark or not (self.stamps_epochs or self.asks_without_epochs or log.epochs)


TRUNCATE_TO_HIGH_WATERMARK = Rule(
    name="truncate-to-high-watermark",
    source="KAFKA-1211, ReplicaManager.makeFollowers",
    says="A new follower cuts its log to its own high watermark.",
)
"""How did a follower truncate before leader epochs? It cut its log to its own high watermark.

Because of it a follower that restarts, or gets a new leader, removes records that are committed but whose commitment
it has not heard of yet; elected next, it loses them (KAFKA-1211).

Source: ReplicaManager.makeFollowers up to 0.10.2.

Mutant: cuts-nothing, which the golden prediction of TR-02 notices.
"""


def cut_to_high_watermark(log: ReplicaLog, high_watermark: Offset, _answer: EpochEnd) -> TruncationPoint:
    """Cut to the replica's own high watermark, whatever a leader says."""
    return TruncationPoint(min(high_watermark, log.log_end_offset))


def knows_no_epochs(_log: ReplicaLog, _epoch: LeaderEpoch) -> EpochEnd:
    """Answer that the epoch is unknown: there is no epoch cache."""
    return UNDEFINED


TO_HIGH_WATERMARK = Truncation(
    rule=TRUNCATE_TO_HIGH_WATERMARK,
    cuts_to_high_watermark=True,
    asks_leader=False,
    asks_without_epochs=False,
    checks_on_fetch=False,
    end_offset_for=knows_no_epochs,
    cut=cut_to_high_watermark,
)

TRUNCATE_BY_LEADER_EPOCH = Rule(
    name="truncate-by-leader-epoch",
    source="KIP-101, ReplicaFetcherThread.maybeTruncate",
    says="A follower cuts its log where its leader says that the follower's last epoch ends.",
)
"""How does a follower truncate with leader epochs? It cuts where its last epoch ends on the leader.

Without it a follower cuts to its own high watermark and can lose committed records, or keep records that its leader
never had. An answer that the leader cannot give still falls back to the high watermark. Up to 2.0 a follower without
any epoch asks as well (KAFKA-6859), and no leader can tell it anything; what records of an older message format make
of that is in ``message_format``.

Mutant: cuts-to-high-watermark-although-it-asked, which loses an acknowledged record by clean elections.
"""
ASKS_WITHOUT_EPOCHS = Rule(
    name="asks-without-epochs",
    source="KAFKA-6859, ReplicaFetcherThread.buildLeaderEpochRequest",
    says="A follower without an epoch asks where it ends all the same.",
)


def end_offset_only(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer the end offset of an epoch within the cache; unknown above or below it."""
    answer = log.end_offset_for(epoch)
    return UNDEFINED if answer.leader_epoch is None else EpochEnd(None, answer.end_offset)


def cut_to_end_offset(log: ReplicaLog, high_watermark: Offset, answer: EpochEnd) -> TruncationPoint:
    """Cut to the leader's end offset for the epoch; to the high watermark if it has none."""
    if answer.end_offset is None:
        return cut_to_high_watermark(log, high_watermark, answer)
    return TruncationPoint(min(answer.end_offset, log.log_end_offset))


KIP_101 = replace(
    TO_HIGH_WATERMARK,
    rule=TRUNCATE_BY_LEADER_EPOCH,
    cuts_to_high_watermark=False,
    asks_leader=True,
    end_offset_for=end_offset_only,
    cut=cut_to_end_offset,
)

TRUNCATE_TO_COMMON_EPOCH = Rule(
    name="truncate-to-common-epoch",
    source="KIP-279, AbstractFetcherThread.getOffsetTruncationState",
    says="A follower asks again until it cuts its log at an epoch that both logs have.",
)
"""How does a follower truncate after several fast failovers? By (epoch, offset), asking again.

Without it a follower that lacks the epoch its leader answers about keeps records of an epoch that the leader never
had: logs diverge (KAFKA-6361).

Mutant: asks-only-once, which the story kip-279-asks-twice notices.
"""

EPOCH_BELOW_CACHE_UNKNOWN = Rule(
    name="epoch-below-the-cache-is-unknown",
    source="KAFKA-7415, LeaderEpochFileCache.endOffsetFor of 2.0.0",
    says="A leader asked about an epoch below the first of its cache says that it does not know it.",
)


def end_offset_of_largest_epoch(log: ReplicaLog, epoch: LeaderEpoch) -> EpochEnd:
    """Answer the largest epoch not above the one asked about, and its end offset.

    An epoch below the cache's first is answered as itself, ending where the first one starts (KAFKA-7415).
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
        return cut_to_end_offset(log, high_watermark, answer)
    own = end_offset_for(log, answer.leader_epoch)
    if own.end_offset is None:
        return TruncationPoint(min(answer.end_offset, log.log_end_offset))
    if own.leader_epoch != answer.leader_epoch:
        return TruncationPoint(own.end_offset, is_final=False)
    return TruncationPoint(min(own.end_offset, answer.end_offset))


KIP_279 = replace(
    KIP_101, rule=TRUNCATE_TO_COMMON_EPOCH, end_offset_for=end_offset_of_largest_epoch, cut=cut_to_common_epoch
)
KIP_279_BEFORE_KAFKA_7415 = replace(KIP_279, end_offset_for=end_offset_within_cache, cut=cut_within_cache)

TRUNCATE_ON_FETCH = Rule(
    name="truncate-on-fetch",
    source="KIP-595, KAFKA-10554, AbstractFetcherThread.truncateOnFetchResponse",
    says="A follower cuts its log where the answer to its fetch says that the logs diverge.",
)
"""How does a follower truncate without a separate lookup? The fetch carries its last epoch.

The follower starts to fetch at its log end offset; a leader whose end offset for that epoch lies below answers a
diverging epoch instead of records. Without the check a follower whose epochs were never looked up would append to a
log that is not a prefix of its leader's.

Source: KIP-595 applied to replica fetchers (KAFKA-10554), UnifiedLog / Partition.readRecords.

Mutant: leader-compares-no-epoch, under which the epochs of a log decrease.
"""

ON_FETCH = replace(KIP_279, rule=TRUNCATE_ON_FETCH, asks_leader=False, checks_on_fetch=True)
