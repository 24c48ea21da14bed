"""What does whoever leads now answer to ListOffsets(latest)? Nobody answers where nobody leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.replication.consuming import LIST_OFFSETS_WITH_OWN_ERROR, list_offset
from oracle.vocabulary import OffsetSpec

if TYPE_CHECKING:
    from oracle.replication.consuming import ListOffsetsAnswer
    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState


def latest_offset(
    state: PartitionState, rules: RuleSet, *, request_version: int = LIST_OFFSETS_WITH_OWN_ERROR
) -> ListOffsetsAnswer | None:
    """Ask the leader of a state for its latest offset (KIP-207); None if nobody leads."""
    leader = state.serving_leader()
    return None if leader is None else list_offset(leader, OffsetSpec.LATEST, request_version, rules)
