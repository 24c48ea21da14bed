"""What must always hold in the published modules? Their invariants, and one more for elections that are not clean.

Each is told as what breaks it, between one replica and another, or itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.published.parts import Isr, Replica

WEAK_ISR = "WeakIsr"
STRONG_ISR = "StrongIsr"
FOLLOWER_IS_PREFIX = "FollowerIsPrefix"


def breaks_weak_isr(leader: Replica, member: Replica) -> bool:
    """Break WeakIsr: a member of a presumed leader's own ISR lacks what lies below that leader's high watermark."""
    return member.broker in leader.isr and lacks_committed(leader, member)


def breaks_strong_isr(isr: Isr, leader: Replica, member: Replica) -> bool:
    """Break StrongIsr: a member of the quorum's ISR lacks what lies below some presumed leader's high watermark."""
    return member.broker in isr and lacks_committed(leader, member)


def breaks_follower_is_prefix(leader: Replica, follower: Replica) -> bool:
    """Break FollowerIsPrefix: a follower has records that its leader of the same epoch has not."""
    is_following = leader.presumes_leadership and follower.leader == leader.broker
    entries = follower.log.entries
    return (
        is_following and follower.leader_epoch == leader.leader_epoch and leader.log.entries[: len(entries)] != entries
    )


def lacks_committed(leader: Replica, member: Replica) -> bool:
    """Tell whether two logs differ below the high watermark of a presumed leader, or do not reach it."""
    if not leader.presumes_leadership:
        return False
    high_watermark = leader.high_watermark
    committed = leader.log.entries[:high_watermark]
    return len(committed) < high_watermark or member.log.entries[:high_watermark] != committed
