"""What is a consumer told? The latest offset that the leader is ready to name, or the error instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState
    from oracle.vocabulary import Offset

LIST_OFFSETS_WITH_OWN_ERROR = 5
"""The first version of ListOffsets that knows OFFSET_NOT_AVAILABLE."""


@dataclass(frozen=True, slots=True)
class LatestOffset:
    """A leader's answer to ListOffsets for the latest offset, read uncommitted: one of the two is None."""

    offset: Offset | None
    error: str | None


def latest_offset(
    state: PartitionState, rules: RuleSet, *, request_version: int = LIST_OFFSETS_WITH_OWN_ERROR
) -> LatestOffset | None:
    """Return what the leader answers to ListOffsets(latest) in some version; None if nobody leads (KIP-207)."""
    leader = state.serving_leader()
    if leader is None:
        return None
    if rules.tells_latest_offset(leader.high_watermark, leader.epoch_start_offset):
        return LatestOffset(leader.high_watermark, None)
    knows_error = request_version >= LIST_OFFSETS_WITH_OWN_ERROR
    return LatestOffset(None, "OFFSET_NOT_AVAILABLE" if knows_error else "LEADER_NOT_AVAILABLE")
