"""Which broker shows records to a consumer? The leader alone, and from 2.4 on followers as well.

A follower bounds what it shows by its own high watermark, which may lag behind the leader's. In 2.4 and 2.5 a leader
therefore answered a waiting fetch as soon as it had a higher high watermark to tell than the follower had been told,
records or not, and followers fetched half as often again (KAFKA-9731, KAFKA-9952).

Source: KIP-392, ReplicaManager.fetchMessages; KAFKA-9952, DelayedFetch.tryComplete (case H).

Mutant: followers-serve-nobody, which a consumer of a follower notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

RULE = Rule(
    name="followers-serve-consumers",
    source="KIP-392, ReplicaManager.fetchMessages",
    says="A follower serves consumers up to its high watermark.",
)
PUSHED = Rule(
    name="high-watermark-is-pushed",
    source="KAFKA-9731, KAFKA-9952, DelayedFetch.tryComplete",
    says="A risen high watermark answers a waiting fetch without records.",
)


def waits_for_records(_told: Offset, _high_watermark: Offset) -> bool:
    """Let a waiting fetch wait for records, or for its time."""
    return False


def wakes_for_news(told: Offset, high_watermark: Offset) -> bool:
    """Answer a waiting fetch once there is a higher high watermark than the follower was told last."""
    return high_watermark > told
