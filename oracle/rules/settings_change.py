"""What does a controller make of new durability settings? It may have to elect, or to forget who is eligible.

A partition that nobody leads gets a leader as soon as unclean election is switched on for its topic:
from 2.1 with ZooKeeper, and from 3.9 in KRaft mode, where it may take unclean.leader.election.interval.ms.
Before, only the next broker that came or went brought one. With eligible leader replicas a change of
min.insync.replicas clears them, and the last known leader: who left under the old minimum need not
hold what the new one commits.

Sources: KafkaController.processTopicUncleanLeaderElectionEnable (KAFKA-6526),
ReplicationControlManager.maybeElectUncleanLeaders, ConfigurationControlManager.createClearElrRecordsAsNeeded.

Mutant: keeps-eligible-leaders-under-a-new-minimum, which a question between two steps notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.release import RuleKey, in_zookeeper_mode, since
from oracle.rules.rule import Rule

if TYPE_CHECKING:
    from oracle.rules.election import ElectedPartition, ElectionRules
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView


def elects_once_allowed(release: RuleKey) -> bool:
    """Match releases that elect uncleanly as soon as the topic's settings allow it."""
    return since("2.1.0")(release) if in_zookeeper_mode(release) else since("3.9.0")(release)


WAITS = Rule(
    name="unclean-election-waits-for-a-broker",
    source="OfflinePartitionLeaderSelector",
    says="A partition without a leader waits for the next broker when its topic allows unclean election.",
)
AT_ONCE = Rule(
    name="unclean-election-once-allowed",
    source="KAFKA-6526, KafkaController.processTopicUncleanLeaderElectionEnable, QuorumController.electUnclean",
    says="A partition without a leader gets one when its topic allows unclean election.",
)
CLEARS_ELIGIBLE = Rule(
    name="new-minimum-clears-eligible-leaders",
    source="KIP-966, ConfigurationControlManager.createClearElrRecordsAsNeeded",
    says="A change of min.insync.replicas clears the eligible leader replicas.",
)


def waits(
    view: ControllerView, _old: TopicSettings, _partition: ElectedPartition, _rules: ElectionRules
) -> ControllerView:
    """Do nothing until a broker comes or goes."""
    return view


def elects(
    view: ControllerView, _old: TopicSettings, partition: ElectedPartition, rules: ElectionRules
) -> ControllerView:
    """Elect for a partition without a leader, now that its settings may allow it."""
    return rules.elect(view, partition) if view.leader is None else view


def clears_and_elects(
    view: ControllerView, old: TopicSettings, partition: ElectedPartition, rules: ElectionRules
) -> ControllerView:
    """Forget who is eligible if the minimum has changed; then elect for a partition without a leader."""
    if old.min_insync_replicas != partition.settings.min_insync_replicas:
        view = replace(view, elr=frozenset(), last_known_leader=None)
    return elects(view, old, partition, rules)
