"""What do checks look at? The cluster that was read, its release, and what its users say of their producers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from conformance.audit.cluster import MIN_ISR, NO_LEADER, UNCLEAN, NotSeen, seen
from conformance.audit.finding import Ground, Unseen
from conformance.audit.release_seen import METADATA_VERSION, ReleaseSeen, metadata_mode
from oracle.rules.by_version import rules_for
from oracle.rules.transactions import TRANSACTION_FEATURE
from oracle.rules.unclean_election import heeded
from oracle.vocabulary import TRANSACTION_STATE, Acks, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conformance.audit.cluster import ClusterSeen, PartitionSeen, Setting, TopicSeen
    from oracle.rules.rule_set import RuleSet

ELIGIBLE_FEATURE = "eligible.leader.replicas.version"


@dataclass(frozen=True, slots=True)
class Producers:
    """What users say of their producers.

    Attributes:
        acks: what they wait for; some may wait for less than others.
        bearable_s: so many seconds of records they can lose with acks=1.
    """

    acks: frozenset[Acks] = frozenset({Acks.ALL})
    bearable_s: float = 30.0


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """A topic with the settings that decide about its records.

    Attributes:
        min_isr: min.insync.replicas as configured.
        unclean: unclean.leader.election.enable.
    """

    topic: TopicSeen
    min_isr: Setting
    unclean: Setting

    @property
    def name(self) -> str:
        """Return the topic's name."""
        return self.topic.name

    @property
    def replicas(self) -> int:
        """Return the fewest replicas that a partition has."""
        return self.topic.replication_factor

    @property
    def needed(self) -> int:
        """Return min.insync.replicas as a number."""
        return int(self.min_isr.value or 1)

    @property
    def is_unclean(self) -> bool:
        """Return whether an unclean election is allowed by configuration."""
        return self.unclean.value == "true"


@dataclass(frozen=True)
class Audited:
    """What checks look at."""

    cluster: ClusterSeen
    release: ReleaseSeen
    producers: Producers = field(default_factory=Producers)

    @cached_property
    def mode(self) -> MetadataMode | None:
        """Return who keeps the metadata; None if no broker says."""
        if self.release.is_named and self.release.line is not None:
            return MetadataMode(self.release.line.metadata.value)
        return next(filter(None, map(metadata_mode, self.cluster.brokers)), None)

    @cached_property
    def rules(self) -> RuleSet | None:
        """Return the rules of the release, with eligible leader replicas as the cluster has them; None if unknown."""
        if self.release.line is None:
            return None
        return rules_for(
            self.release.line.release.version,
            MetadataMode(self.release.line.metadata.value),
            eligible_leader_replicas=self.has_eligible,
        )

    @cached_property
    def finalized(self) -> Mapping[str, int] | None:
        """Return the cluster's feature levels; None if no broker told them."""
        spoken = (seen(one.speaks) for one in self.cluster.brokers)
        return next((one.finalized for one in spoken if one is not None), None)

    @cached_property
    def supported(self) -> Mapping[str, int] | None:
        """Return of each feature the highest level that every broker supports; None if a broker did not tell."""
        spoken = [one.speaks for one in self.cluster.brokers]
        told = [one.supported for one in spoken if not isinstance(one, NotSeen)]
        if len(told) < len(spoken) or not told:
            return None
        return {name: min(one.get(name, 0) for one in told) for name in told[0]}

    @property
    def has_eligible(self) -> bool | None:
        """Return whether eligible leader replicas are switched on (KIP-966); None if no broker told."""
        return None if self.finalized is None else self.finalized.get(ELIGIBLE_FEATURE, 0) > 0

    @property
    def transaction_version(self) -> int | None:
        """Return the cluster's level of transaction.version, 0 without one (KIP-890); None if no broker told."""
        return None if self.finalized is None else self.finalized.get(TRANSACTION_FEATURE, 0)

    @property
    def metadata_levels(self) -> tuple[int, int] | None:
        """Return metadata.version and the highest that every broker supports; None without the feature."""
        if not self.finalized or not self.supported or METADATA_VERSION not in self.finalized:
            return None
        return self.finalized[METADATA_VERSION], self.supported[METADATA_VERSION]

    @cached_property
    def topics(self) -> tuple[TopicFacts, ...]:
        """Return the users' topics whose settings were seen."""
        return tuple(one for one in self.every_topic if not one.topic.is_internal)

    @cached_property
    def every_topic(self) -> tuple[TopicFacts, ...]:
        """Return every topic that has partitions and whose settings were seen."""
        return tuple(facts for one in self.cluster.topics if one.partitions and (facts := facts_of(one)))

    def unseen_topics(self, check: str) -> Iterator[Unseen]:
        """Yield each topic whose settings a check could not look at, and why."""
        for topic in self.cluster.topics:
            if isinstance(topic.settings, NotSeen):
                yield Unseen(check, f"topic {topic.name}", topic.settings.why)

    def unseen_brokers(self, check: str) -> Iterator[Unseen]:
        """Yield each broker whose settings a check could not look at, and why."""
        for broker in self.cluster.brokers:
            if isinstance(broker.settings, NotSeen):
                yield Unseen(check, f"broker {broker.id}", broker.settings.why)

    @cached_property
    def norm(self) -> int:
        """Return how many replicas most topics of users have; of several numbers the highest."""
        counts = Counter(one.replication_factor for one in self.cluster.topics if not one.is_internal)
        return max(counts, key=lambda factor: (counts[factor], factor), default=0)

    @cached_property
    def racks(self) -> frozenset[str]:
        """Return the racks of the brokers."""
        return frozenset(one.rack for one in self.cluster.brokers if one.rack is not None)

    @cached_property
    def has_transactions(self) -> bool | None:
        """Return whether somebody has had a transaction: their topic is there; None if that cannot be seen."""
        ids = seen(self.cluster.transactional_ids)
        if ids or any(one.name == TRANSACTION_STATE for one in self.cluster.topics):
            return True
        return None if TRANSACTION_STATE in self.cluster.hidden else False

    @property
    def transactions_ground(self) -> Ground:
        """Return by what it is known that somebody has had a transaction."""
        ids = seen(self.cluster.transactional_ids)
        if not ids:
            return Ground(TRANSACTION_STATE, "there", "Metadata")
        return Ground(TRANSACTION_STATE, f"there, with {len(ids)} transactional ids", "Metadata, ListTransactions")

    @cached_property
    def registered(self) -> frozenset[int] | None:
        """Return the brokers that are registered, live or not; None if only the live ones are told (up to 3.9)."""
        fenced = seen(self.cluster.fenced)
        return None if fenced is None else self.live | frozenset(fenced)

    @cached_property
    def live(self) -> frozenset[int]:
        """Return the brokers that are up."""
        return frozenset(one.id for one in self.cluster.brokers)

    def has_replicas_nowhere(self, partition: PartitionSeen) -> bool:
        """Return whether a partition is known to have replicas on brokers that there are not."""
        return any(map(self.is_nowhere, partition.replicas))

    def is_nowhere(self, broker: int) -> bool:
        """Return whether a broker is known not to be registered; one that is down is."""
        return self.registered is not None and broker not in self.registered

    @cached_property
    def heeds_unclean(self) -> bool:
        """Return whether the release looks at unclean.leader.election.enable (in KRaft mode from 3.9 on)."""
        return self.rules is None or heeded(self.rules.election) is self.rules.election


def facts_of(topic: TopicSeen) -> TopicFacts | None:
    """Return a topic with the settings that decide about its records; None if they were not seen."""
    settings = seen(topic.settings)
    if settings is None or MIN_ISR not in settings or UNCLEAN not in settings:
        return None
    return TopicFacts(topic, settings[MIN_ISR], settings[UNCLEAN])


def is_led(partition: PartitionSeen) -> bool:
    """Return whether a partition has a leader."""
    return partition.leader != NO_LEADER
