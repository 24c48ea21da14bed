"""Whom does a controller still look for, once a new minimum has cleared the eligible leader replicas?

Beside each partition's eligible leader replicas the controller keeps an index: for every broker the partitions in
which it is eligible. It walks the index when a broker registers after an unclean shutdown, and when one is
unregistered. A change of min.insync.replicas empties the partitions (``settings_change``), and the index ought to
be emptied with them. The releases leave it as it is. Nothing shows while the topic exists. When it is deleted, only
brokers that are eligible then leave the index, and what is left names a topic that is gone: the walk fails, so the
controller cannot register that broker again, gives up its leadership each time, and the broker ends.

Sources, as the class files of 4.0.2, 4.1.2, 4.2.1, 4.2.2, 4.3.1 and 4.4.0 have them: ReplicationControlManager, where
replay(ClearElrRecord) and removeTopicElrs leave BrokersToElrs alone, replay(RemoveTopicRecord) drops the entries of
brokers that are eligible then, and handleBrokerShutdown walks it; generateLeaderAndIsrUpdates, which fails on a topic
that it does not find. Open upstream.

Mutant: index-is-cleared-with-its-partition, which a question after a deletion notices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.rule import Rule
from oracle.rules.settings_change import clears_and_elects

if TYPE_CHECKING:
    from oracle.rules.election import ElectedPartition, ElectionRules
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

KEPT = Rule(
    name="cleared-eligible-leaders-stay-in-the-index",
    source="ReplicationControlManager.replay(ClearElrRecord), BrokersToElrs",
    says="Eligible leader replicas that a new minimum clears stay in the controller's index of brokers.",
)


def clears_but_keeps_index(
    view: ControllerView, old: TopicSettings, partition: ElectedPartition, rules: ElectionRules
) -> ControllerView:
    """Clear who is eligible as ``clears_and_elects`` does, and leave in the index who was."""
    cleared = clears_and_elects(view, old, partition, rules)
    if old.min_insync_replicas == partition.settings.min_insync_replicas:
        return cleared
    return replace(cleared, left_in_index=view.left_in_index | view.elr)


def keeping_index(rules: RuleSet) -> RuleSet:
    """Return the rule set of a release that leaves them in the index."""
    return replace(rules, settings_changed=clears_but_keeps_index)


def without_topic(view: ControllerView) -> ControllerView:
    """Forget the deleted partition: the brokers that are eligible now leave the index, others stay in it."""
    return replace(
        view,
        leader=None,
        isr=(),
        elr=frozenset(),
        last_known_leader=None,
        left_in_index=view.left_in_index - view.elr,
    )


def unregistrable(view: ControllerView) -> frozenset[BrokerId]:
    """Return the brokers that could not register after a crash if the topic were deleted now."""
    return without_topic(view).left_in_index


def registers(view: ControllerView, broker: BrokerId, *, clean: bool) -> bool:
    """Return whether the controller can register a broker when the topic of its partition is gone."""
    return clean or broker not in view.left_in_index
