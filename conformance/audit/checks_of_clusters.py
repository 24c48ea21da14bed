"""Is the cluster itself sound? Its own topics, what it creates, its controllers, releases, and what it is known for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from conformance.audit.audited import facts_of
from conformance.audit.cluster import MIN_ISR, NotSeen
from conformance.audit.finding import AuditCheck, AuditFinding, Ground, Severity, Unseen, setting_ground
from conformance.audit.mends import set_on_topic, upgrade_feature
from conformance.audit.own_topics import OWN_TOPICS
from conformance.audit.reassigning import reassigned
from conformance.audit.release_seen import METADATA_VERSION, LineSpeaks
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audited import Audited, TopicFacts
    from conformance.audit.cluster import TopicSeen

LAG_LEAST_MS = 5_000
"""Less throws followers out that are merely busy; a broker refuses less than replica.fetch.wait.max.ms."""
LAG_BUILT_IN_MS = 30_000
"""replica.lag.time.max.ms as it is built in from 2.5 on; 10,000 before."""


def own_topics(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield Kafka's own topics that are kept worse than a topic of users should be."""
    wanted = min(3, len(audited.registered or audited.live))
    if wanted == 1:  # one broker has no other place for them
        return
    known = {one.name: one for one in audited.cluster.topics if one.name in OWN_TOPICS}
    for name, topic in known.items():
        if isinstance(topic.settings, NotSeen):
            yield Unseen("internal-topics", f"topic {name}", topic.settings.why)
        facts = facts_of(topic)
        is_lone = facts is not None and facts.needed == 1 and wanted > 2
        if topic.partitions and (topic.replication_factor < wanted or is_lone):
            yield _poor_own_topic(topic, facts, wanted, audited)
    yield from (Unseen("internal-topics", f"topic {name}", why.why) for name, why in audited.cluster.hidden.items())
    absent = [name for name in OWN_TOPICS if name not in known and name not in audited.cluster.hidden]
    if absent:
        yield from audited.unseen_brokers("internal-topics")
    for name in absent:
        yield from _to_be_created(audited, name, wanted)


def _poor_own_topic(topic: TopicSeen, facts: TopicFacts | None, wanted: int, audited: Audited) -> AuditFinding:
    content = OWN_TOPICS[topic.name].content
    is_short, factor = topic.replication_factor < wanted, topic.replication_factor
    evidence = (Ground("replication factor", str(factor), "Metadata"),)
    more = () if facts is None else (setting_ground(MIN_ISR, facts.min_isr),)
    lone = f"one broker alone can acknowledge {content}: they are lost with it"
    floor = f", and {MIN_ISR}=2" if wanted > 2 else ""
    return AuditFinding(
        "internal-topics",
        Severity.HIGH if factor == 1 or not is_short else Severity.MEDIUM,
        f"topic {topic.name}",
        (*evidence, *more),
        lone if factor == 1 or not is_short else f"{content} bear the end of one broker less than {wanted} replicas do",
        *(
            reassigned(f"{wanted} replicas{floor}", topic, wanted, audited)
            if is_short
            else (f"{MIN_ISR}=2", set_on_topic(topic.name, MIN_ISR, 2))
        ),
    )


def _to_be_created(audited: Audited, name: str, wanted: int) -> Iterator[AuditFinding]:
    setting, content = OWN_TOPICS[name].factor, OWN_TOPICS[name].content
    every = [one for _, one in audited.cluster.broker_setting(setting)]
    told = [one for one in every if int(one.value or wanted) < wanted]
    if told:
        yield AuditFinding(
            "internal-topics",
            Severity.MEDIUM,
            f"topic {name}",
            (setting_ground(setting, told[0]),),
            f"it will be created with {told[0].value} of {wanted} possible replicas: with them go {content}",
            f"{setting}={wanted} before it is first used",
        )


def created_with_one_replica(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say that a producer's typing error creates a topic with one replica."""
    if len(audited.cluster.brokers) < 2:
        return
    yield from audited.unseen_brokers("auto-create")
    created = audited.cluster.broker_setting("auto.create.topics.enable")
    factors = audited.cluster.broker_setting("default.replication.factor")
    for (broker, creates), (_, factor) in zip(created, factors, strict=True):
        if creates.value == "true" and factor.value == "1":
            yield AuditFinding(
                "auto-create",
                Severity.MEDIUM,
                f"broker {broker.id}",
                (
                    setting_ground("auto.create.topics.enable", creates),
                    setting_ground("default.replication.factor", factor),
                ),
                "who produces to a topic that there is not creates it, with one replica",
                "auto.create.topics.enable=false, or default.replication.factor=3 (in server.properties)",
            )


def controllers(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say that one host more or less decides whether the cluster has a controller."""
    if audited.mode is MetadataMode.ZOOKEEPER:
        return
    quorum = audited.cluster.quorum
    if isinstance(quorum, NotSeen) or quorum is None:
        yield Unseen("controller-quorum", "cluster", quorum.why if quorum else "no quorum was told")
        return
    voters = Ground("voters", ", ".join(map(str, quorum.voters)), "DescribeQuorum")
    hosts = Counter(quorum.hosts.values())
    if len(quorum.voters) == 1:
        yield AuditFinding(
            "controller-quorum",
            Severity.HIGH,
            "cluster",
            (voters,),
            "if its disk is lost, so is all metadata: topics, settings, who is in sync; while it is down nobody is "
            "elected",
            "three voters",
        )
    elif len(quorum.hosts) < len(quorum.voters):
        yield Unseen("controller-quorum", "cluster", "DescribeQuorum names no hosts of voters before 3.9")
    elif len(quorum.voters) - max(hosts.values()) <= len(quorum.voters) // 2:
        yield AuditFinding(
            "controller-quorum",
            Severity.HIGH,
            "cluster",
            (voters, Ground("their hosts", ", ".join(sorted(quorum.hosts.values())), "DescribeQuorum")),
            "the end of one host ends the majority of controllers: nobody is elected then",
            "three voters or more, each on a host of its own",
        )


def several_releases(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say that brokers differ, or that the cluster's metadata is of an earlier release than they are."""
    spoken = {one.id: one.speaks for one in audited.cluster.brokers}
    for broker, speaks in spoken.items():
        if isinstance(speaks, NotSeen):
            yield Unseen("mixed-versions", f"broker {broker}", speaks.why)
    told = {broker: LineSpeaks.of(speaks) for broker, speaks in spoken.items() if not isinstance(speaks, NotSeen)}
    apart = sorted(broker for broker, speaks in told.items() if speaks != next(iter(told.values())))
    if apart:
        yield AuditFinding(
            "mixed-versions",
            Severity.MEDIUM,
            "cluster",
            (Ground("brokers that speak otherwise", ", ".join(map(str, apart)), "ApiVersions"),),
            "what the oldest of its releases loses the cluster can lose",
            "end the upgrade",
        )
    elif audited.metadata_levels is not None and audited.metadata_levels[0] < audited.metadata_levels[1]:
        level, highest = audited.metadata_levels
        yield AuditFinding(
            "mixed-versions",
            Severity.LOW,
            "cluster",
            (Ground(METADATA_VERSION, f"{level} of {highest}", "ApiVersions"),),
            "the cluster works by the rules of an earlier release than its brokers': what was mended may not hold",
            f"raise {METADATA_VERSION}, once no broker has to go back",
            upgrade_feature(METADATA_VERSION, highest),
        )


def lag_time(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say that a silent follower stays in the ISR for longer than the loss that is bearable with acks=1."""
    is_lost = Acks.LEADER in audited.producers.acks
    longest_ms = audited.producers.bearable_s * 1000 if is_lost else LAG_BUILT_IN_MS
    yield from audited.unseen_brokers("lag-time")
    for broker, setting in audited.cluster.broker_setting("replica.lag.time.max.ms"):
        lag_ms = int(setting.value or 0)
        if lag_ms <= longest_ms:
            continue
        lost = (
            f"a follower that fetches nothing for {lag_ms / 1000:g} s is still in sync and can be elected: with acks=1 "
        )
        yield AuditFinding(
            "lag-time",
            Severity.MEDIUM if is_lost else Severity.LOW,
            f"broker {broker.id}",
            (setting_ground("replica.lag.time.max.ms", setting),),
            f"{lost}the records of that time are lost"
            if is_lost
            else f"while a follower is silent, up to {lag_ms / 1000:g} s, records sent with acks=all wait for it",
            f"replica.lag.time.max.ms={max(LAG_LEAST_MS, int(longest_ms))}",
        )


CHECKS: tuple[AuditCheck, ...] = (
    AuditCheck(
        "internal-topics",
        "are Kafka's own topics kept well?",
        "offsets.topic.replication.factor",
        own_topics,
        is_of_topics=False,
    ),
    AuditCheck(
        "auto-create",
        "with how many replicas are topics created?",
        "KIP-361",
        created_with_one_replica,
        is_of_topics=False,
    ),
    AuditCheck(
        "controller-quorum",
        "does one host end the controllers?",
        "KIP-595",
        controllers,
        is_of_topics=False,
    ),
    AuditCheck(
        "mixed-versions",
        "is the cluster of one release?",
        "KIP-584",
        several_releases,
        is_of_topics=False,
    ),
    AuditCheck(
        "lag-time", "how long is a silent follower in sync?", "replica.lag.time.max.ms", lag_time, is_of_topics=False
    ),
)
