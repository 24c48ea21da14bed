"""Does a follower truncate again when the same broker leads on in a new epoch?

Up to 2.0.0 it does not look at the epoch at all: a follower that missed leaderships in between
keeps records its leader has lost (KAFKA-7164). 2.0.1 skips only a gap of one epoch; from 2.1 every
new epoch runs truncation again (KIP-320).

Source: Partition.makeFollower.

Mutant: skips-for-the-same-leader, which the story same-leader-on-2.4 notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import BrokerId, LeaderEpoch

SKIPS = Rule(
    name="same-leader-skips-truncation",
    source="KAFKA-7164, Partition.makeFollower",
    says="A follower whose leader stays the same in a new epoch does not truncate.",
)
SKIPS_ONE_EPOCH = Rule(
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
