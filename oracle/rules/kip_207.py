"""What does a new leader answer to a consumer that asks for the latest offset? Not yet, from 2.2 on.

A new leader's high watermark may lag behind the one that consumers have seen already, until its
followers have fetched from it up to where its epoch starts. Up to 2.1 it answers that old high
watermark, so that a consumer's latest offset steps back; from 2.2 it answers OFFSET_NOT_AVAILABLE
(LEADER_NOT_AVAILABLE to ListOffsets before version 5), and the consumer asks again.

Source: KIP-207, Partition.fetchOffsetForTimestamp.

Mutant: tells-the-latest-offset-too-early, which a question between two steps notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

RULE = Rule(
    name="latest-offset-waits-for-epoch-start",
    source="KIP-207, Partition.fetchOffsetForTimestamp",
    says="A new leader tells no latest offset until its high watermark reaches its epoch's start.",
)


def at_once(_high_watermark: Offset, _epoch_start: Offset) -> bool:
    """Answer the high watermark as it is."""
    return True


def from_epoch_start(high_watermark: Offset, epoch_start: Offset) -> bool:
    """Answer once the high watermark has reached the start of the leader's epoch."""
    return high_watermark >= epoch_start
