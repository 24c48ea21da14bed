"""Does a controller look at unclean.leader.election.enable, and what if nobody has set it? KRaft's does from 3.9 on.

Before, the setting could be made and had no effect in KRaft mode: a partition whose in-sync replicas are all
gone waits for one of them, or for an operator who asks for an unclean election (KAFKA-12670).

Where neither the topic nor a broker has the setting, unclean elections are allowed up to 0.10.2 and forbidden since.

Source: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic; KIP-106, KafkaConfig.

Mutant: listens-to-the-setting, which the story unclean-on-request-only-on-3.8-kraft notices.
Mutant: allows-unclean-elections-unasked, which the examination EL-05 notices.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.rules.election import ElectedPartition, ElectionRules
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

RULE = Rule(
    name="unclean-election-on-request-only",
    source="KAFKA-12670",
    says="The controller does not look at unclean.leader.election.enable.",
)

ALLOWED_UNLESS_SET = Rule(
    name="unclean-election-is-allowed-unless-set",
    source="KafkaConfig of 0.10.2",
    says="Unclean election is allowed where unclean.leader.election.enable is not set.",
)
FORBIDDEN_UNLESS_SET = Rule(
    name="unclean-election-is-forbidden-unless-set",
    source="KIP-106, KafkaConfig",
    says="Unclean election is forbidden where unclean.leader.election.enable is not set.",
)


def allowed_unless_set(setting: bool | None) -> bool:  # noqa: FBT001 - the setting itself
    """Go by the setting; allow it without one."""
    return setting is not False


def forbidden_unless_set(setting: bool | None) -> bool:  # noqa: FBT001 - the setting itself
    """Go by the setting; forbid it without one."""
    return setting is True


@cache
def unheeded(election: ElectionRules) -> ElectionRules:
    """Return a controller's rules without unclean elections of its own accord; one on request stays possible."""

    def removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
        return election.removed(view, _clean(partition), broker)

    def returned(view: ControllerView, partition: ElectedPartition, broker: BrokerId, clean: bool) -> ControllerView:  # noqa: FBT001
        return election.returned(view, _clean(partition), broker, clean)

    return replace(election, removed=removed, returned=returned, heeding=election)


def heeded(election: ElectionRules) -> ElectionRules:
    """Return the rules that a controller would have if it looked at the setting."""
    return election.heeding or election


def why_unheeded(version: str) -> str:
    """Return why a partition waits although its setting allows an unclean election."""
    return f"Kafka {version} does not look at unclean.leader.election.enable in KRaft mode (KAFKA-12670: 3.9)"


def _clean(partition: ElectedPartition) -> ElectedPartition:
    return replace(partition, settings=replace(partition.settings, unclean_leader_election=False))
