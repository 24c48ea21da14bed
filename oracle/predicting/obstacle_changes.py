"""What was put in the way of frames, or taken away, and which records were deleted? In words, for the chronicle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.obstacles import Obstacles
    from oracle.state import ReplicaState
    from oracle.vocabulary import BrokerId


def obstacle_words(old: Obstacles, new: Obstacles) -> Iterator[tuple[BrokerId, str]]:
    """Yield whom each change concerns, and what it is."""
    for broker in sorted(new.paused - old.paused):
        yield broker, f"broker {broker} is paused: it neither fetches, serves nor hears"
    for broker in sorted(old.paused - new.paused):
        yield broker, f"broker {broker} stands still no more"
    for broker in sorted(new.isolated - old.isolated):
        yield broker, f"broker {broker} is cut off from every other node"
    for broker in sorted(old.isolated - new.isolated):
        yield broker, f"broker {broker} reaches the other nodes again"
    for follower, leader in sorted(new.cuts - old.cuts):
        yield follower, f"no fetch of broker {follower} reaches broker {leader}"
    for follower, leader in sorted(old.cuts - new.cuts):
        yield follower, f"fetches of broker {follower} reach broker {leader} again"


def start_words(old: ReplicaState, new: ReplicaState) -> str | None:
    """Return where a replica's log starts now, in words; None if it starts where it did."""
    if new.log_start_offset == old.log_start_offset:
        return None
    if new.log_start_offset > old.log_start_offset:
        return f"broker {new.broker} deletes what is before offset {new.log_start_offset}: its log starts there"
    return f"broker {new.broker} has not written down where its log starts: at {new.log_start_offset} again"
