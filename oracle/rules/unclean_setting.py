"""Does a controller look at unclean.leader.election.enable? KRaft's does from 3.9 on only.

Before, the setting could be made and had no effect in KRaft mode: a partition whose in-sync replicas are all
gone waits for one of them, or for an operator who asks for an unclean election (KAFKA-12670).

Source: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic. Versions: KRaft, 3.3 to 3.8.

Mutant: listens-to-the-setting, which the story unclean-on-request-only-on-3.8-kraft notices.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.rules.election import ElectionRules, Partition
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

RULE = Rule(
    name="unclean-election-on-request-only",
    source="KAFKA-12670",
    versions="KRaft mode, 3.3 to 3.8",
    replaces=None,
    breaks="a replica outside the ISR is elected although the controller never looks at the setting",
)


@cache
def unheeded(election: ElectionRules) -> ElectionRules:
    """Return a controller's rules without unclean elections of its own accord; one on request stays possible."""

    def removed(view: ControllerView, partition: Partition, broker: BrokerId) -> ControllerView:
        return election.removed(view, _clean(partition), broker)

    def returned(view: ControllerView, partition: Partition, broker: BrokerId, clean: bool) -> ControllerView:  # noqa: FBT001
        return election.returned(view, _clean(partition), broker, clean)

    return replace(election, removed=removed, returned=returned, heeding=election)


def heeded(election: ElectionRules) -> ElectionRules:
    """Return the rules that a controller would have if it looked at the setting."""
    return election.heeding or election


def why_unheeded(version: str) -> str:
    """Say why a partition waits although its setting allows an unclean election."""
    return f"Kafka {version} does not look at unclean.leader.election.enable in KRaft mode (KAFKA-12670: 3.9)"


def _clean(partition: Partition) -> Partition:
    return replace(partition, settings=replace(partition.settings, unclean_leader_election=False))
