"""Which request is under way, and what was known when it was received? One exchange per request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.tracing.known_log import START, UNBOUNDED

if TYPE_CHECKING:
    from oracle.tracing.observed import FetchAnswered, FetchSent, LookupAnswered, LookupSent
    from oracle.vocabulary import LeaderEpoch, Offset

NO_ERROR = 0
CAPACITY = 256
"""So many requests of a partition are kept at most; a follower has one under way at a time."""


@dataclass(slots=True)
class Exchange:
    """One FETCH or lookup on its way.

    Attributes:
        request: as it was sent.
        sent_in: leader epochs in which the follower may have sent it.
        received_at: when it reached the leader, or the leader's next decision, if it may be handled after that; None
            before.
        may_be_recorded: whether the leader may have recorded the end in it.
        answer: None until the leader has answered.
        copied: what the answer may bring, as the logs that its leader may have tell the epochs of its records; empty
            where its batches carry them.
        is_delivered: whether the answer has reached the follower.
        low: the leader's lowest possible high watermark when the request was received.
        high: its highest then, without what this request may have moved.
        offset_before: the follower's end as the leader knew it then.
        is_immediate: the leader had records to answer with at once.
        epochs: leader epochs that the leader may have been in then.
        may_lead: whether it may have led then.
        may_not_lead: whether it may have had another role then.
        end: where its log ends at least, if it leads.
        may_be_of_stranger: whether the leader may not have known then that its follower is assigned.
        is_of_earlier_start: whether its follower has been started again since it was sent.
        is_follower_down: whether its follower has ended since that: then its leader knows of no later start (until it
            hears of the end it may).
    """

    request: FetchSent | LookupSent
    sent_in: frozenset[LeaderEpoch] = field(default_factory=frozenset)
    received_at: int | None = None
    may_be_recorded: bool = False
    answer: FetchAnswered | LookupAnswered | None = None
    copied: tuple[FetchAnswered, ...] = ()
    is_delivered: bool = False
    low: Offset = START
    high: Offset = START
    offset_before: Offset | None = None
    is_immediate: bool = False
    epochs: frozenset[LeaderEpoch] = field(default_factory=frozenset)
    may_lead: bool = False
    may_not_lead: bool = False
    end: Offset = UNBOUNDED
    may_be_of_stranger: bool = False
    is_of_earlier_start: bool = False
    is_follower_down: bool = False

    @property
    def is_answered(self) -> bool:
        """Return whether the follower may have the answer by now."""
        return self.answer is not None and self.is_delivered
