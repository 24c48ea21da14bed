"""Clusters as an audit may have read them: good ones, and one for each mistake, which is good but for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.audit.audit import Audit, audit
from conformance.audit.audited import ELIGIBLE_FEATURE, Audited, Producers
from conformance.audit.cluster import (
    MIN_ISR,
    NO_LEADER,
    UNCLEAN,
    BrokerSeen,
    ClusterSeen,
    NotSeen,
    PartitionSeen,
    QuorumSeen,
    Setting,
    Settings,
    Source,
    Spoken,
    TopicSeen,
)
from conformance.audit.release_seen import METADATA_VERSION, known_lines, release_seen
from oracle.rules.transactions import TRANSACTION_FEATURE
from oracle.vocabulary import TRANSACTION_STATE, Acks

if TYPE_CHECKING:
    from collections.abc import Callable

NEWEST, OLD = "4.4.0/kraft", "2.8.2/zookeeper"
RACKS = {1: "a", 2: "b", 3: "c"}
BROKER_SETTINGS = {
    "auto.create.topics.enable": "false",
    "default.replication.factor": "3",
    "log.flush.interval.messages": str(2**63 - 1),
    "offsets.topic.replication.factor": "3",
    "replica.lag.time.max.ms": "30000",
    "transaction.state.log.replication.factor": "3",
    MIN_ISR: "2",
}


BROKERS_HAVE: Settings = {name: Setting(value, Source.BROKER_FILE) for name, value in BROKER_SETTINGS.items()}


def settings(source: Source = Source.BROKER_FILE, **values: str) -> Settings:
    return {name.replace("_", "."): Setting(value, source) for name, value in values.items()}


def of_topic(min_isr: int = 2, *, unclean: bool = False) -> Settings:
    return {
        MIN_ISR: Setting(str(min_isr), Source.TOPIC),
        UNCLEAN: Setting(str(unclean).lower(), Source.TOPIC),
    }


def partition(
    replicas: tuple[int, ...] = (1, 2, 3), isr: tuple[int, ...] | None = None, **more: tuple[int, ...]
) -> PartitionSeen:
    in_sync = replicas if isr is None else isr
    return PartitionSeen(0, in_sync[0] if in_sync else NO_LEADER, replicas, in_sync, **more)


def topic(name: str, own: Settings | NotSeen, *partitions: PartitionSeen) -> TopicSeen:
    return TopicSeen(name, name.startswith("__"), partitions or (partition(),), own)


def spoken(line: str, **levels: int) -> Spoken:
    known = known_lines()[line]
    features = {METADATA_VERSION: known.metadata_version} if known.metadata_version else {}
    features |= {ELIGIBLE_FEATURE: 1, TRANSACTION_FEATURE: 2} if line == NEWEST else {}
    return Spoken(
        known.requests, features, features | {name.replace("_", "."): level for name, level in levels.items()}
    )


def good(line: str = NEWEST, **levels: int) -> ClusterSeen:
    brokers = tuple(
        BrokerSeen(
            one,
            RACKS[one],
            spoken(line, **levels),
            BROKERS_HAVE,
            {},
        )
        for one in RACKS
    )
    is_kraft = line.endswith("kraft")
    topics = (topic("orders", of_topic()), topic("payments", of_topic()), topic("__consumer_offsets", of_topic()))
    quorum = QuorumSeen((11, 12, 13), {11: "c-1", 12: "c-2", 13: "c-3"}) if is_kraft else None
    fenced = () if is_kraft else NotSeen("the release has no DescribeCluster that tells it")
    return ClusterSeen("id", brokers, topics, fenced, quorum, (), None, {})


def with_topic(
    *, own: Settings | NotSeen | None = None, line: str = NEWEST, parts: tuple[PartitionSeen, ...] = ()
) -> Callable[[], ClusterSeen]:
    def change() -> ClusterSeen:
        cluster = good(line)
        mistaken = topic("mistaken", of_topic() if own is None else own, *parts)
        return replace(cluster, topics=(*cluster.topics, mistaken))

    return change


def with_brokers(line: str = NEWEST, **values: str) -> Callable[[], ClusterSeen]:
    def change() -> ClusterSeen:
        cluster = good(line)
        more = settings(**values)
        changed = tuple(replace(one, settings={**one.settings, **more}) for one in cluster.brokers)
        return replace(cluster, brokers=changed)

    return change


def without_racks() -> ClusterSeen:
    cluster = good()
    return replace(cluster, brokers=tuple(replace(one, rack=None) for one in cluster.brokers))


def with_unclean_transactions() -> ClusterSeen:
    return with_transactions(with_topic(own=of_topic(unclean=True))())


def with_late_transactions() -> ClusterSeen:
    return with_transactions(good(transaction_version=1))


def with_transactions(cluster: ClusterSeen, *ids: str) -> ClusterSeen:
    """Return a cluster in which somebody has had transactions; ids of those whose coordinators still know them."""
    return replace(cluster, topics=(*cluster.topics, topic(TRANSACTION_STATE, of_topic())), transactional_ids=ids)


def with_own_min_isr() -> ClusterSeen:
    cluster = good()
    value = Setting("2", Source.CLUSTER_DEFAULT, (Setting("3", Source.BROKER_FILE),))
    first = replace(cluster.brokers[0], settings={**cluster.brokers[0].settings, MIN_ISR: value})
    return replace(cluster, brokers=(first, *cluster.brokers[1:]))


def with_offsets_on_one() -> ClusterSeen:
    cluster = good()
    return replace(cluster, topics=(*cluster.topics[:2], topic("__consumer_offsets", of_topic(1))))


def with_voters(*hosts: str) -> Callable[[], ClusterSeen]:
    def change() -> ClusterSeen:
        voters = {11 + at: host for at, host in enumerate(hosts)}
        return replace(good(), quorum=QuorumSeen(tuple(voters), voters))

    return change


def with_an_older_broker() -> ClusterSeen:
    cluster = good()
    older = replace(cluster.brokers[0], speaks=spoken("4.3.1/kraft"))
    return replace(cluster, brokers=(older, *cluster.brokers[1:]))


def with_offline_directory() -> ClusterSeen:
    cluster = good()
    first = replace(cluster.brokers[0], directory_errors={"/disk-2": "KAFKA_STORAGE_ERROR"})
    return replace(cluster, brokers=(first, *cluster.brokers[1:]))


ELSEWHERE = partition((1, 2, 3, 4, 5), (1, 2, 3))
MISTAKES: dict[str, Callable[[], ClusterSeen]] = {
    "replication-factor-1": with_topic(own=of_topic(1), parts=(partition((1,)),)),
    "replicas-nowhere": with_topic(parts=(ELSEWHERE,)),
    "min-isr-1": with_topic(own=of_topic(1)),
    "min-isr-equals-replicas": with_topic(own=of_topic(3)),
    "min-isr-above-replicas": with_topic(own=of_topic(4)),
    "two-replicas": with_topic(own=of_topic(1), parts=(partition((1, 2)),)),
    "one-rack": lambda: _in_one_rack(),  # noqa: PLW0108 - it stands below
    "unflushed-in-one-room": without_racks,
    "unclean-election": with_topic(own=of_topic(unclean=True)),
    "unclean-transactions": with_unclean_transactions,
    "eligible-replicas-off": lambda: good(eligible_leader_replicas_version=0),
    "broker-min-isr-unheeded": with_own_min_isr,
    "transaction-version": with_late_transactions,
    "offline": with_topic(parts=(partition(isr=()),)),
    "on-eligible-replicas": with_topic(parts=(partition(isr=(), eligible=(2,)),)),
    "under-min-isr": with_topic(parts=(partition(isr=(1,)),)),
    "at-min-isr": with_topic(parts=(partition(isr=(1, 2)),)),
    "roll-margin": lambda: _wide(partition((1, 2, 3, 4), (1, 2, 3))),
    "log-directory-offline": with_offline_directory,
    "replication-factor-below-norm": lambda: _wide(partition((1, 2, 3, 4)), norm=4),
    "internal-topics": with_offsets_on_one,
    "auto-create": with_brokers(auto_create_topics_enable="true", default_replication_factor="1"),
    "controller-quorum": with_voters("c-1"),
    "mixed-versions": with_an_older_broker,
    "lag-time": with_brokers(replica_lag_time_max_ms="120000"),
    "known-defect": with_topic(own=of_topic(1), line=OLD),
}
WEAK = "weak-acks"
"""Not a mistake of a cluster: what its users say of their producers."""


def _wide(part: PartitionSeen, norm: int = 3) -> ClusterSeen:
    """Return a cluster of four brokers with one topic of four replicas, or several such and one of three."""
    cluster = good()
    fourth = replace(cluster.brokers[0], id=4, rack="d")
    topics = (
        (topic("wide", of_topic(), part),) if norm == 3 else tuple(topic(f"w{n}", of_topic(3), part) for n in range(3))
    )
    kept = cluster.topics if norm == 3 else cluster.topics[1:]
    return replace(cluster, brokers=(*cluster.brokers, fourth), topics=(*kept, *topics))


def _in_one_rack() -> ClusterSeen:
    cluster = good()
    racks = {1: "a", 2: "a", 3: "a"}
    brokers = tuple(replace(one, rack=racks[one.id]) for one in cluster.brokers)
    there = tuple(replace(cluster.brokers[0], id=number, rack=rack) for number, rack in ((4, "b"), (5, "c")))
    spread = partition((1, 4, 5))
    topics = tuple(replace(one, partitions=(spread,)) for one in cluster.topics)
    return replace(cluster, brokers=(*brokers, *there), topics=(*topics, topic("mistaken", of_topic())))


def audited(cluster: ClusterSeen, *acks: Acks) -> Audit:
    return audit(Audited(cluster, release_seen(cluster), Producers(frozenset(acks or (Acks.ALL,)))))


def found(cluster: ClusterSeen) -> set[str]:
    return {row.finding.check for row in audited(cluster).rows}
