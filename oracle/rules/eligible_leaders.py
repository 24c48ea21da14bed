"""Who may lead when the ISR is empty? KIP-966: who is eligible, and what a new minimum and a deleted topic change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.replacing import replace
from oracle.rules.election import ElectedPartition, ElectionRules, first_live, re_elected, with_leader
from oracle.rules.rule import Rule
from oracle.rules.unclean_election import elects_at_once
from oracle.vocabulary import ELIGIBLE_LEADER_REPLICAS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId

    Elect = Callable[[ControllerView, ElectedPartition], ControllerView]

KIP_966 = Rule(
    name=ELIGIBLE_LEADER_REPLICAS,
    source="KIP-966, PartitionChangeBuilder",
    says="The controller elects from the ISR, else from the eligible leader replicas, else the last known leader.",
)
"""Who may lead once the ISR is empty? Eligible leader replicas, then the last known leader.

A replica that leaves the ISR while it is smaller than min.insync.replicas holds every committed record (the high
watermark stood still since), so it stays eligible unless it shut down uncleanly. Without the rule the last member of
the ISR is elected again even if it lost its disk cache (last replica standing). A kill -9 counts as an unclean
shutdown.

The last known leader leads when its broker is there; in 4.0 it was elected although it was not (KAFKA-19522).

Source: KIP-966 part 1, PartitionChangeBuilder.maybePopulateTargetElr; KAFKA-19522,
PartitionChangeBuilder.canElectLastKnownLeader; EligibleLeaderReplicasVersion. KRaft mode from 4.0 on: a feature of the
cluster, which is formatted without it in 4.0 and with it from 4.1 on, unless its operator says otherwise.

Mutant: last-replica-stands, which the story lost-tail-on-4.1 notices.
Mutant: has-the-feature-unasked, which the examination EL-06/other-level notices.
"""
ELECTS_THE_ABSENT = Rule(
    name="last-known-leader-is-elected-absent",
    source="KAFKA-19522, PartitionChangeBuilder.canElectLastKnownLeader",
    says="The controller elects the last known leader although its broker is not there.",
)
OFF_BY_DEFAULT = Rule(
    name="eligible-leader-replicas-are-off-by-default",
    source="KIP-966, EligibleLeaderReplicasVersion",
    says="A new cluster has no eligible leader replicas unless it is formatted with them.",
)
ON_BY_DEFAULT = Rule(
    name="eligible-leader-replicas-are-on-by-default",
    source="KIP-966, EligibleLeaderReplicasVersion",
    says="A new cluster has eligible leader replicas unless it is formatted without them.",
)
LAST_REPLICA_STANDING = Rule(
    name="last-replica-standing",
    source="KIP-966, last replica standing: its disk forgot the record",
    says="The last member of the ISR is elected again when it returns, whatever its disk forgot.",
)


def removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Take the broker out of the ISR, which may become empty, and elect if it led."""
    return _removed(view, partition, broker, elect)


def _removed(view: ControllerView, partition: ElectedPartition, broker: BrokerId, elected: Elect) -> ControllerView:
    view = replace(view, registered=view.registered - {broker})
    was_leader = view.leader == broker
    view = with_isr(view, partition, tuple(b for b in view.isr if b != broker))
    if not was_leader:
        return view
    if not view.isr:
        view = replace(view, last_known_leader=broker)
    return re_elected(view, partition, elected)


def with_isr(view: ControllerView, partition: ElectedPartition, isr: tuple[BrokerId, ...]) -> ControllerView:
    """Set the ISR; below min.insync.replicas those that leave it become eligible leader replicas."""
    return with_isr_of_replicas(view, partition, isr, len(partition.assignment))


def with_isr_of_replicas(
    view: ControllerView, partition: ElectedPartition, isr: tuple[BrokerId, ...], replicas: int
) -> ControllerView:
    """Set the ISR of a partition that counts as one of so many replicas."""
    minimum = min(partition.settings.min_insync_replicas, replicas)
    eligible = frozenset() if len(isr) >= minimum else (view.elr | set(view.isr)) - set(isr)
    return replace(view, isr=isr, elr=eligible)


def elect(view: ControllerView, partition: ElectedPartition) -> ControllerView:
    """Elect from the ISR, else from the eligible ones, else the last known leader, else uncleanly."""
    known = _last_known_leader(view)
    return _elected(view, partition, known if known in view.registered else None)


def elect_even_absent(view: ControllerView, partition: ElectedPartition) -> ControllerView:
    """Elect as 4.0 does: the last known leader although its broker is not there (KAFKA-19522)."""
    return _elected(view, partition, _last_known_leader(view))


def _elected(view: ControllerView, partition: ElectedPartition, last_known: BrokerId | None) -> ControllerView:
    clean = first_live(partition, view, view.isr or view.elr)
    if clean is not None:
        among = with_isr(view, partition, view.isr)  # who is eligible is settled before the election, not after it
        settled = among if view.isr else replace(among, isr=(clean,), elr=among.elr - {clean})
        return with_leader(replace(settled, last_known_leader=None), clean, clean=True)
    unclean = last_known or _any_live(view, partition)
    if unclean is not None:
        settled = replace(view, isr=(unclean,), elr=frozenset(), last_known_leader=None)
        return with_leader(settled, unclean, clean=False)
    return view


def _last_known_leader(view: ControllerView) -> BrokerId | None:
    return None if view.isr or view.elr else view.last_known_leader


def _any_live(view: ControllerView, partition: ElectedPartition) -> BrokerId | None:
    if not partition.settings.unclean_leader_election:
        return None
    return first_live(partition, view, partition.assignment)


def returned(view: ControllerView, partition: ElectedPartition, broker: BrokerId, clean: bool) -> ControllerView:
    """Register the broker; after an unclean shutdown it is no longer eligible."""
    view = _registered(view, broker, clean=clean)
    return elect(view, partition) if view.leader is None else view


def _registered(view: ControllerView, broker: BrokerId, *, clean: bool) -> ControllerView:
    if not clean:
        view = replace(view, elr=view.elr - {broker}, isr=tuple(b for b in view.isr if b != broker))
    return replace(view, registered=view.registered | {broker})


def joined(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    """Add a replica to the ISR; at min.insync.replicas the eligible ones are cleared."""
    return with_isr(view, partition, (*view.isr, broker))


def left(view: ControllerView, partition: ElectedPartition, brokers: Collection[BrokerId]) -> ControllerView:
    """Remove lagging replicas from the ISR; below min.insync.replicas they become eligible."""
    return with_isr(view, partition, tuple(b for b in view.isr if b not in brokers))


ELECTION = ElectionRules(rule=KIP_966, removed=removed, returned=returned, joined=joined, left=left, elect=elect)


def _removed_in_4_0(view: ControllerView, partition: ElectedPartition, broker: BrokerId) -> ControllerView:
    return _removed(view, partition, broker, elect_even_absent)


def _returned_in_4_0(
    view: ControllerView, partition: ElectedPartition, broker: BrokerId, clean: bool
) -> ControllerView:
    view = _registered(view, broker, clean=clean)
    return elect_even_absent(view, partition) if view.leader is None else view


ELECTION_OF_THE_ABSENT = replace(ELECTION, removed=_removed_in_4_0, returned=_returned_in_4_0, elect=elect_even_absent)

NEW_MINIMUM_CLEARS = Rule(
    name="new-minimum-clears-eligible-leaders",
    source="KIP-966, ConfigurationControlManager.createClearElrRecordsAsNeeded",
    says="A change of min.insync.replicas clears the eligible leader replicas.",
)
"""What does a new min.insync.replicas make of the eligible leader replicas? It clears them, and the last known leader.

Who left under the old minimum need not hold what the new one commits.

Mutant: keeps-eligible-leaders-under-a-new-minimum, which a question between two steps notices.
"""


def clears_and_elects(
    view: ControllerView, old: TopicSettings, partition: ElectedPartition, rules: ElectionRules
) -> ControllerView:
    """Forget who is eligible if the minimum has changed; then elect for a partition without a leader."""
    if old.min_insync_replicas != partition.settings.min_insync_replicas:
        view = replace(view, elr=frozenset(), last_known_leader=None)
    return elects_at_once(view, old, partition, rules)


KEPT_IN_INDEX = Rule(
    name="cleared-eligible-leaders-stay-in-the-index",
    source="ReplicationControlManager.replay(ClearElrRecord), BrokersToElrs",
    says="Eligible leader replicas that a new minimum clears stay in the controller's index of brokers.",
)
"""Whom does a controller still look for, once a new minimum has cleared the eligible leader replicas?

Beside each partition's eligible leader replicas the controller keeps an index: for every broker the partitions in
which it is eligible. It walks the index when a broker registers after an unclean shutdown, and when one is
unregistered. A change of min.insync.replicas empties the partitions (``clears_and_elects``), and the index ought to be
emptied with them. The releases leave it as it is. Nothing shows while the topic exists. When it is deleted, only
brokers that are eligible then leave the index, and what is left names a topic that is gone: the walk fails, so the
controller cannot register that broker again, gives up its leadership each time, and the broker ends.

Sources, as the class files of 4.0.2, 4.1.2, 4.2.1, 4.2.2, 4.3.1 and 4.4.0 have them: ReplicationControlManager, where
replay(ClearElrRecord) and removeTopicElrs leave BrokersToElrs alone, replay(RemoveTopicRecord) drops the entries of
brokers that are eligible then, and handleBrokerShutdown walks it; generateLeaderAndIsrUpdates, which fails on a topic
that it does not find. Open upstream.

Mutant: index-is-cleared-with-its-partition, which a question after a deletion notices.
"""


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
