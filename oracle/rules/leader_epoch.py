"""What does a replica make of leader epochs? When it notes one, which one it tells, and when it truncates for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.log import NO_EPOCH
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId, LeaderEpoch

ENTRY_ON_ELECTION = Rule(
    name="epoch-entry-on-election",
    source="KAFKA-7415, Partition.makeLeader",
    says="A new leader notes its leader epoch before it appends a record.",
)
"""When does a leader write its epoch into the cache? With its first record; later on election.

Without the entry a leader that has written nothing yet answers lookups about older epochs with its log end, so a
follower keeps records past the true end of that epoch (KAFKA-7415).

And when does a follower drop an entry without records? When it cuts its log there. Up to 2.6.0 it did nothing if its
log ended there already, so that a former leader, whose last epoch has no record, asked about that epoch again and
again, and never came to fetch (KAFKA-10706).

Mutant: writes-no-epoch-on-election, which the story kafka-7415-on-2.0.1 notices.
"""
ENTRY_KEPT_WITHOUT_CUT = Rule(
    name="epoch-entry-kept-without-cut",
    source="KAFKA-10706, Log.truncateTo",
    says="A cut at the log's end leaves the leader-epoch cache as it is.",
)

LAST_EPOCH_FORGOTTEN = Rule(
    name="empty-answer-forgets-last-epoch",
    source="KAFKA-15510, AbstractFetcherThread.processFetchRequest",
    says="A follower forgets the epoch of its last record when its first answer has no records.",
)
"""Which epoch of its last record does a follower tell, once an answer had no records? That of its log's last record.

From 3.5.1 to 3.6 it told none until records came: it took the epoch from the answer's records, and there were none.
Its log is then a prefix of its leader's, so that nothing diverges by it.

Mutant: forgets-its-last-epoch, which a question between two steps notices.
"""


def last_epoch_remembered(last_epoch: LeaderEpoch) -> LeaderEpoch:
    """Tell the epoch of the last record."""
    return last_epoch


def last_epoch_forgotten(_last_epoch: LeaderEpoch) -> LeaderEpoch:
    """Tell none."""
    return NO_EPOCH


SAME_LEADER_SKIPS = Rule(
    name="same-leader-skips-truncation",
    source="KAFKA-7164, Partition.makeFollower",
    says="A follower whose leader stays the same in a new epoch does not truncate.",
)
"""Does a follower truncate again when the same broker leads on in a new epoch?

Up to 2.0.0 it does not look at the epoch at all: a follower that missed leaderships in between keeps records its leader
has lost (KAFKA-7164). 2.0.1 skips only a gap of one epoch; from 2.1 every new epoch runs truncation again (KIP-320).

Mutant: skips-for-the-same-leader, which the story same-leader-on-2.4 notices.
"""
SAME_LEADER_SKIPS_ONE_EPOCH = Rule(
    name="same-leader-skips-one-epoch",
    source="KAFKA-7164, Partition.makeFollower",
    says="A follower whose leader stays the same in the next epoch does not truncate.",
)


def skips(old_leader: BrokerId | None, _old: LeaderEpoch, leader: BrokerId, _new: LeaderEpoch) -> bool:
    """Skip truncation whenever the leader's id is unchanged."""
    return old_leader == leader


def skips_one_epoch(old_leader: BrokerId | None, old: LeaderEpoch, leader: BrokerId, new: LeaderEpoch) -> bool:
    """Skip truncation if the leader's id is unchanged and at most one epoch passed."""
    return old_leader == leader and new <= old + 1


def never_skips(_old_leader: BrokerId | None, old: LeaderEpoch, _leader: BrokerId, new: LeaderEpoch) -> bool:
    """Run truncation again on every new epoch."""
    return new <= old
