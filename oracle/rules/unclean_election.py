"""When is a leader elected from outside the ISR? What the setting and its change do, and what marks such a leader."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from oracle.rules.release import RuleKey, in_zookeeper_mode, since
from oracle.rules.rule import Rule
from oracle.vocabulary import ElectionKind

if TYPE_CHECKING:
    from oracle.rules.election import ElectedPartition, ElectionRules
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

ON_REQUEST_ONLY = Rule(
    name="unclean-election-on-request-only",
    source="KAFKA-12670",
    says="The controller does not look at unclean.leader.election.enable.",
)
"""Does a controller look at unclean.leader.election.enable, and what if nobody has set it? KRaft's does from 3.9 on.

Before, the setting could be made and had no effect in KRaft mode: a partition whose in-sync replicas are all gone
waits for one of them, or for an operator who asks for an unclean election (KAFKA-12670).

Where neither the topic nor a broker has the setting, unclean elections are allowed up to 0.10.2 and forbidden since.

Source: ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic; KIP-106, KafkaConfig.

Mutant: listens-to-the-setting, which the story unclean-on-request-only-on-3.8-kraft notices.
Mutant: allows-unclean-elections-unasked, which the examination EL-05 notices.
"""

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


def allowed_unless_set(setting: bool | None) -> bool:
    """Go by the setting; allow it without one."""
    return setting is not False


def forbidden_unless_set(setting: bool | None) -> bool:
    """Go by the setting; forbid it without one."""
    return setting is True


@cache
def unheeded(election: ElectionRules) -> ElectionRules:
    """Return a controller's rules without unclean elections of its own accord; one on request stays possible."""

    def removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
        return election.removed(view, _clean(partition), broker)

    def returned(view: ControllerView, partition: ElectedPartition, broker: BrokerId, clean: bool) -> ControllerView:
        return election.returned(view, _clean(partition), broker, clean)

    return replace(election, removed=removed, returned=returned, heeding=election)


def heeded(election: ElectionRules) -> ElectionRules:
    """Return the rules that a controller would have if it looked at the setting."""
    return election.heeding or election


def why_unheeded(version: str) -> str:
    """Return why a partition waits although its setting allows an unclean election."""
    return f"Kafka {version} does not look at unclean.leader.election.enable in KRaft mode (KAFKA-12670: 3.9)"


def why_missing(kind: ElectionKind, rules: RuleSet) -> str | None:
    """Return why a release holds no such election on request, or None if it does."""
    has_it = kind is ElectionKind.PREFERRED or rules.elects_uncleanly_on_request
    return None if has_it else f"Kafka {rules.version} holds no unclean election on request: 2.4 is the first that does"


def _clean(partition: ElectedPartition) -> ElectedPartition:
    return replace(partition, settings=replace(partition.settings, unclean_leader_election=False))


def elects_once_allowed(release: RuleKey) -> bool:
    """Match releases that elect uncleanly as soon as the topic's settings allow it."""
    return since("2.1.0")(release) if in_zookeeper_mode(release) else since("3.9.0")(release)


WAITS_FOR_BROKER = Rule(
    name="unclean-election-waits-for-a-broker",
    source="OfflinePartitionLeaderSelector",
    says="A partition without a leader waits for the next broker when its topic allows unclean election.",
)
"""What does a controller do when unclean election is switched on for a partition that nobody leads? It elects.

It elects at once from 2.1 on with ZooKeeper, and from 3.9 on in KRaft mode, where it may take
unclean.leader.election.interval.ms. Before, only the next broker that came or went brought a leader.

Sources: KafkaController.processTopicUncleanLeaderElectionEnable (KAFKA-6526),
ReplicationControlManager.maybeElectUncleanLeaders.

Mutant: waits-although-unclean-election-is-allowed, which a question between two steps notices.
"""
ONCE_ALLOWED = Rule(
    name="unclean-election-once-allowed",
    source="KAFKA-6526, KafkaController.processTopicUncleanLeaderElectionEnable, QuorumController.electUnclean",
    says="A partition without a leader gets one when its topic allows unclean election.",
)


def waits_for_broker(
    view: ControllerView, _old: TopicSettings, _partition: ElectedPartition, _rules: ElectionRules
) -> ControllerView:
    """Do nothing until a broker comes or goes."""
    return view


def elects_at_once(
    view: ControllerView, _old: TopicSettings, partition: ElectedPartition, rules: ElectionRules
) -> ControllerView:
    """Elect for a partition without a leader, now that its settings may allow it."""
    return rules.elect(view, partition) if view.leader is None else view


UNCLEAN_LEADER_RECOVERS = Rule(
    name="unclean-leader-recovers",
    source="KIP-704, PartitionChangeBuilder.tryElection",
    says="A partition whose leader was elected uncleanly is marked until its leader has recovered.",
)
"""Is a leader that was elected uncleanly marked as such? From 3.2: its partition is recovering until somebody joins it.

While a partition recovers its ISR is the leader alone. The first replica that the leader adds ends it: brokers say
"recovered" with every change of the ISR that they ask for. Without the mark nobody can tell that committed records may
be missing.

Source: KIP-704, Election.leaderForOffline, PartitionChangeBuilder.tryElection.

Mutant: marks-no-unclean-leader, which the story recovering-on-3.2 notices.
"""


def unmarked(_before: ControllerView, after: ControllerView) -> ControllerView:
    """Leave the partition as it is, as releases before KIP-704 do."""
    return after


def marked(before: ControllerView, after: ControllerView) -> ControllerView:
    """Mark the partition if its leader has just been elected uncleanly; a clean election leaves the mark."""
    if before.leaderships == after.leaderships:
        return after
    _, _, was_clean = after.leaderships[-1]
    return after if was_clean else replace(after, is_recovering=True)
