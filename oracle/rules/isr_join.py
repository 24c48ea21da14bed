"""When may a replica (re)join the ISR? At the high watermark; later also at the epoch's start.

Without the second condition a replica joins below records of the leader's epoch that the old high
watermark does not cover, is elected, and committed records are gone (KAFKA-7128).

Source: Partition.maybeExpandIsr.

Mutant: joins-at-the-high-watermark, which the story kafka-7128-on-2.0.1 notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

AT_HIGH_WATERMARK = Rule(
    name="join-isr-at-high-watermark",
    source="KAFKA-7128, Partition.maybeExpandIsr",
    says="A follower joins the ISR when it reaches the high watermark.",
)
AT_EPOCH_START = Rule(
    name="join-isr-at-epoch-start",
    source="KAFKA-7128, Partition.maybeExpandIsr",
    says="A follower joins the ISR when it reaches the high watermark and the start of the leader's epoch.",
)


def at_high_watermark(fetch_offset: Offset, high_watermark: Offset, _epoch_start: Offset) -> bool:
    """Join once the fetch offset has reached the leader's high watermark."""
    return fetch_offset >= high_watermark


def at_epoch_start(fetch_offset: Offset, high_watermark: Offset, epoch_start: Offset) -> bool:
    """Join once the fetch offset has reached the high watermark and the epoch's start offset."""
    return fetch_offset >= max(high_watermark, epoch_start)
