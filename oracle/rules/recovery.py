"""Is a leader that was elected uncleanly marked as such? From 3.2: its partition is recovering until somebody joins it.

While a partition recovers its ISR is the leader alone. The first replica that the leader adds ends it:
brokers say "recovered" with every change of the ISR that they ask for. Without the mark nobody can
tell that committed records may be missing.

Source: KIP-704, Election.leaderForOffline, PartitionChangeBuilder.tryElection.

Mutant: marks-no-unclean-leader, which the story recovering-on-3.2 notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.state import ControllerView

RULE = Rule(
    name="unclean-leader-recovers",
    source="KIP-704, PartitionChangeBuilder.tryElection",
    says="A partition whose leader was elected uncleanly is marked until its leader has recovered.",
)


def unmarked(_before: ControllerView, after: ControllerView) -> ControllerView:
    """Leave the partition as it is, as releases before KIP-704 do."""
    return after


def marked(before: ControllerView, after: ControllerView) -> ControllerView:
    """Mark the partition if its leader has just been elected uncleanly; a clean election leaves the mark."""
    if before.leaderships == after.leaderships:
        return after
    _, _, was_clean = after.leaderships[-1]
    return after if was_clean else replace(after, is_recovering=True)
