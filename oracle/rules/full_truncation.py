"""Where is the high watermark of a follower whose log was emptied? Where its log begins anew.

A follower whose log ends before its leader's begins throws all of it away and begins where the leader does. In 2.4.0
its high watermark stayed below, where there is nothing: a leader looks its high watermark up in its log, so such a
replica took the leadership, and every record it was sent, with OFFSET_OUT_OF_RANGE, until it had fetched once.

Source: KAFKA-9491, Log.truncateFullyAndStartAt, Log.updateLogStartOffset.

Mutant: high-watermark-left-below-the-start, which a question between two steps notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

LEFT_BELOW = Rule(
    name="high-watermark-left-below-log-start",
    source="KAFKA-9491, Log.truncateFullyAndStartAt",
    says="A replica that empties its log and begins at a later offset keeps its old high watermark.",
)


def moved_to_start(high_watermark: Offset, start: Offset) -> Offset:
    """Move the high watermark to where the log begins."""
    return max(high_watermark, start)


def left_below(high_watermark: Offset, _start: Offset) -> Offset:
    """Leave the high watermark where it was."""
    return high_watermark
