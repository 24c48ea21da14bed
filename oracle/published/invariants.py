"""What must always hold in the published modules? Their invariants, and one more for elections that are not clean.

Each is told as what breaks it, between one replica and another, or itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.published.parts import Quorum, Replica

WEAK_ISR = "WeakIsr"
STRONG_ISR = "StrongIsr"
FOLLOWER_IS_PREFIX = "FollowerIsPrefix"


def exposes_records(leader: Replica) -> bool:
    """Tell whether consumers may read from a replica that presumes to lead: what both published invariants ask."""
    return leader.presumes_leadership and leader.high_watermark > 0


def breaks_weak_isr(leader: Replica, member: Replica) -> bool:
    """Break WeakIsr: a member of a presumed leader's own ISR lacks what lies below that leader's high watermark."""
    return member.broker in leader.isr and lacks_committed(leader, member)


def breaks_own_weak_isr(leader: Replica) -> bool:
    """Break WeakIsr alone: the leader itself lacks it."""
    return breaks_weak_isr(leader, leader)


def breaks_strong_isr(quorum: Quorum, leader: Replica, member: Replica) -> bool:
    """Break StrongIsr: a member of the quorum's ISR lacks what lies below some presumed leader's high watermark."""
    return member.broker in quorum.isr and lacks_committed(leader, member)


def breaks_own_strong_isr(quorum: Quorum, leader: Replica) -> bool:
    """Break StrongIsr alone: the leader itself lacks it."""
    return breaks_strong_isr(quorum, leader, leader)


def breaks_follower_is_prefix(leader: Replica, follower: Replica) -> bool:
    """Break FollowerIsPrefix: a follower has records that its leader of the same epoch has not."""
    entries = follower.log.entries
    is_following = follower.leader == leader.broker and follower.leader_epoch == leader.leader_epoch
    return is_following and leader.log.entries[: len(entries)] != entries


def lacks_committed(leader: Replica, member: Replica) -> bool:
    """Tell whether two logs differ below the leader's high watermark, or do not reach it."""
    high_watermark = leader.high_watermark
    committed = leader.log.entries[:high_watermark]
    return len(committed) < high_watermark or member.log.entries[:high_watermark] != committed
