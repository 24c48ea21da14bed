"""How does a follower truncate with leader epochs? It cuts where its last epoch ends on the leader.

Without it a follower cuts to its own high watermark and can lose committed records, or keep
records that its leader never had. An answer that the leader cannot give still falls back to the
high watermark. Up to 2.0 a follower without any epoch asks as well (KAFKA-6859), and no leader can
tell it anything; what records of an older message format make of that is in ``message_format``.

Source: KIP-101, ReplicaFetcherThread.maybeTruncate.

Mutant: cuts-to-high-watermark-although-it-asked, which loses an acknowledged record by clean elections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import UNDEFINED, EpochEnd, ReplicaLog
from oracle.rules import truncate_to_high_watermark
from oracle.rules.rule import Rule
from oracle.rules.truncation import Truncation, TruncationPoint

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch, Offset

RULE = Rule(
    name="truncate-by-leader-epoch",
    source="KIP-101, ReplicaFetcherThread.maybeTruncate",
    says="A follower cuts its log where its leader says that the follower's last epoch ends.",
)
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
        return truncate_to_high_watermark.cut_to_high_watermark(log, high_watermark, answer)
    return TruncationPoint(min(answer.end_offset, log.log_end_offset))


TRUNCATION = Truncation(
    rule=RULE,
    cuts_to_high_watermark=False,
    asks_leader=True,
    asks_without_epochs=False,
    checks_on_fetch=False,
    end_offset_for=end_offset_only,
    cut=cut_to_end_offset,
)
