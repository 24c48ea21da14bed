"""Which epoch of its last record does a follower tell, once an answer had no records? That of its log's last record.

From 3.5.1 to 3.6 it told none until records came: it took the epoch from the answer's records, and there were none.
Its log is then a prefix of its leader's, so that nothing diverges by it.

Source: KAFKA-15510, AbstractFetcherThread.processFetchRequest.

Mutant: forgets-its-last-epoch, which a question between two steps notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import LeaderEpoch

FORGOTTEN = Rule(
    name="empty-answer-forgets-last-epoch",
    source="KAFKA-15510, AbstractFetcherThread.processFetchRequest",
    says="A follower forgets the epoch of its last record when its first answer has no records.",
)


def remembered(last_epoch: LeaderEpoch) -> LeaderEpoch:
    """Tell the epoch of the last record."""
    return last_epoch


def forgotten(_last_epoch: LeaderEpoch) -> LeaderEpoch:
    """Tell none."""
    return NO_EPOCH
