"""What can a leader know of a follower? Where it ends, for certain and perhaps, and when it was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.tracing.known_log import START

if TYPE_CHECKING:
    from oracle.vocabulary import Offset


@dataclass(slots=True)
class Follower:
    """What a leader can know of one follower.

    Attributes:
        recorded: its end, as certainly recorded; None before its first answered fetch.
        received: the highest of the ends that the leader may have recorded last; None before the first.
        peak: the highest of the ends that it ever showed.
        may_join: a fetch has come that lets it join the ISR.
        caught_up_at: the latest moment at which it certainly had everything.
        fetched_at: when its last fetch was received; None before the first.
    """

    recorded: Offset | None = None
    received: Offset | None = None
    peak: Offset = START
    may_join: bool = False
    caught_up_at: int = 0
    fetched_at: int | None = None
