"""How long does a consumer's fetch wait that asks beyond the high watermark? From 3.8 on it does not.

Up to 3.7 a fetch between the high watermark and the log end offset waits for its minimum of bytes until its time is
over. From 3.8 on the leader takes it for one that asks a leader which has truncated, and answers at once.

Source: KAFKA-16452, DelayedFetch.tryComplete at 3.7.2 and 3.8.0.

Mutant: lets-a-fetch-beyond-the-end-wait, which an examination of one broker notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.vocabulary import Offset

RULE = Rule(
    name="fetch-beyond-the-end-is-answered-at-once",
    source="KAFKA-16452, DelayedFetch.tryComplete",
    says="A leader answers at once a fetch beyond the end that it may show, the high watermark for a consumer.",
)


def waits(_offset: Offset, _end: Offset) -> bool:
    """Let it wait as any fetch that has not its minimum of bytes."""
    return False


def answered_at_once(offset: Offset, end: Offset) -> bool:
    """Answer a fetch that asks beyond the end."""
    return offset > end
