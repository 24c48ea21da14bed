"""What do a follower and a leader say to each other, in few words that compare?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fault_injection.wire.views import NONE
from oracle.state import FetchAnswer, FetchKind

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import FetchInFlight

FollowerRequest = tuple[str, int, int]
"""A follower's request: what it is, its fetch offset, and the epoch it names; -1 for none."""


@dataclass(frozen=True, slots=True)
class LeaderAnswer:
    """What a leader answers a follower's fetch.

    Attributes:
        error: the error code; the rest counts only without one.
        records: how many came.
        high_watermark: as it was told.
        diverging: the epoch and offset at which the logs part, where the release tells so (KIP-595).
        is_pushed: whether a fetch that may wait is answered at once, for its high watermark alone (KAFKA-9952).
    """

    error: int = 0
    records: int = 0
    high_watermark: int = 0
    diverging: tuple[int, int] | None = None
    is_pushed: bool = False


class FollowerRequests:
    """What a modelled follower says to one leader in one epoch.

    A first answer without records may make it forget its last fetched epoch, until records come. Later empty answers
    change nothing: it then knows its lag (``AbstractFetcherThread.processFetchRequest``, KAFKA-15510).
    """

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._is_first, self._was_empty = True, False

    def words(self, fetch: FetchInFlight) -> FollowerRequest:
        """Return a request in words."""
        if fetch.kind is FetchKind.EPOCH_LOOKUP:
            return "epoch lookup", NONE, fetch.last_epoch
        if not self._rules.truncation.checks_on_fetch:
            return "fetch", fetch.offset, NONE
        told = self._rules.last_epoch_after_empty_answer(fetch.last_epoch) if self._was_empty else fetch.last_epoch
        return "fetch", fetch.offset, told

    def answered(self, fetch: FetchInFlight) -> FollowerRequest:
        """Return a request in words, and note the answer that it carries by now."""
        said, answer = self.words(fetch), fetch.answer
        if isinstance(answer, FetchAnswer) and not answer.out_of_range and answer.diverging is None:
            if self._is_first or answer.entries:
                self._was_empty = not answer.entries
            self._is_first = False
        return said


def diverging_in(answer: FetchAnswer) -> tuple[int, int] | None:
    """Return the diverging epoch of a modelled answer and where it ends, if it has one."""
    end = answer.diverging
    if end is None:
        return None
    assert end.leader_epoch is not None
    assert end.end_offset is not None
    return end.leader_epoch, end.end_offset
