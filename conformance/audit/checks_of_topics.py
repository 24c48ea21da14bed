"""Do a topic's settings keep what its producers were told? Replicas, min.insync.replicas, racks, flushing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.audit.cluster import MIN_ISR
from conformance.audit.finding import AuditCheck, AuditFinding, Ground, Severity, Unseen, setting_ground
from conformance.audit.losses import loss_words
from conformance.audit.mends import set_on_topic
from conformance.audit.reassigning import reassigned
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audited import Audited, TopicFacts

UNFLUSHED = 1_000_000
"""A flush every so many records is none that a power failure would not come before."""
RECOMMENDED = 3
"""The fewest replicas with which one can be lost while writes go on and every record is still on two brokers."""


def _replicas(facts: TopicFacts) -> Ground:
    return Ground("replication factor", str(facts.replicas), "Metadata")


def _evidence(facts: TopicFacts) -> tuple[Ground, ...]:
    return _replicas(facts), setting_ground(MIN_ISR, facts.min_isr)


def _lost(audited: Audited, facts: TopicFacts) -> str:
    """Return what a lone leader's acknowledgement is worth; what an unclean election does is told by its own check."""
    acks = Acks.ALL if Acks.ALL in audited.producers.acks else Acks.LEADER
    return loss_words(audited.rules, acks, 1, facts.replicas, unclean=False)


def one_replica(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics with one replica: its broker's disk is all there is."""
    for topic in audited.cluster.topics:
        if not topic.is_internal and topic.replication_factor == 1:
            yield AuditFinding(
                "replication-factor-1",
                Severity.CRITICAL if len(audited.cluster.brokers) > 1 else Severity.HIGH,
                f"topic {topic.name}",
                (Ground("replication factor", "1", "Metadata"),),
                "while its broker is down nothing can be read or written; if its disk is lost, so is every record",
                *reassigned(f"give every partition {RECOMMENDED} replicas", topic, RECOMMENDED, audited),
            )


def more_replicas_than_brokers(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics with replicas on brokers that there are not."""
    for topic in audited.cluster.topics:
        absent = sorted({one for part in topic.partitions for one in part.replicas} - audited.live)
        if audited.registered is None and absent:
            why = (
                f"whether brokers {absent} are gone or down: the release tells only live ones (from 4.0 the others too)"
            )
            yield Unseen("replicas-nowhere", f"topic {topic.name}", why)
        elif any(map(audited.has_replicas_nowhere, topic.partitions)):
            nowhere = ", ".join(str(one) for one in absent if one not in (audited.registered or ()))
            yield AuditFinding(
                "replicas-nowhere",
                Severity.HIGH,
                f"topic {topic.name}",
                (
                    Ground("replication factor", str(topic.replication_factor), "Metadata"),
                    Ground("brokers that there are not", nowhere, "DescribeCluster"),
                ),
                "replicas that are nowhere are never in sync: each failure counts for one more than it seems to",
                *reassigned(
                    "reassign its partitions to brokers that there are, or bring the missing ones back",
                    topic,
                    topic.replication_factor,
                    audited,
                ),
            )


def fewer_replicas_than_others(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics with fewer replicas than most; two or one are told by checks of their own."""
    for topic in audited.cluster.topics:
        if not topic.is_internal and 2 < topic.replication_factor < audited.norm:
            yield AuditFinding(
                "replication-factor-below-norm",
                Severity.LOW,
                f"topic {topic.name}",
                (
                    Ground("replication factor", str(topic.replication_factor), "Metadata"),
                    Ground("of most topics", str(audited.norm), "Metadata"),
                ),
                "it bears fewer failures than the cluster's other topics",
                *reassigned(
                    f"give it {audited.norm} replicas, too, if its records are worth it", topic, audited.norm, audited
                ),
            )


def weak_acks(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield replicated topics whose producers do not wait for the replicas."""
    weak = sorted((one for one in audited.producers.acks if one is not Acks.ALL), reverse=True)
    for topic in audited.cluster.topics:
        for acks in weak:
            if topic.is_internal or topic.replication_factor <= 1:
                continue
            lost = loss_words(audited.rules, Acks.LEADER, 1, topic.replication_factor, unclean=False)
            unheard = "nothing is acknowledged: a producer does not hear that a record was refused or lost"
            yield AuditFinding(
                "weak-acks",
                Severity.HIGH if acks is Acks.LEADER else Severity.CRITICAL,
                f"topic {topic.name}",
                (
                    Ground("acks", str(int(acks)), "--producer"),
                    Ground("replication factor", str(topic.replication_factor), "Metadata"),
                ),
                f"the leader alone acknowledges: {lost}" if acks is Acks.LEADER else unheard,
                "acks=all for records that matter",
            )


def one_in_sync_replica(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics of which a lone leader acknowledges records with acks=all."""
    yield from audited.unseen_topics("min-isr-1")
    for facts in audited.topics:
        if facts.needed == 1 and facts.replicas >= RECOMMENDED and Acks.ALL in audited.producers.acks:
            yield AuditFinding(
                "min-isr-1",
                Severity.HIGH,
                f"topic {facts.name}",
                _evidence(facts),
                f"with acks=all a leader that is alone in the ISR acknowledges records that no other broker has: "
                f"{_lost(audited, facts)}",
                f"{MIN_ISR}=2: then a record is on two brokers before it is acknowledged",
                set_on_topic(facts.name, MIN_ISR, 2),
            )


def all_in_sync_replicas(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics that take no record with acks=all while one replica is down."""
    yield from audited.unseen_topics("min-isr-equals-replicas")
    for facts in audited.topics:
        if facts.needed == facts.replicas >= RECOMMENDED and Acks.ALL in audited.producers.acks:
            yield AuditFinding(
                "min-isr-equals-replicas",
                Severity.MEDIUM,
                f"topic {facts.name}",
                _evidence(facts),
                "one restart stops its writes: with acks=all they are refused (NOT_ENOUGH_REPLICAS) until the replica "
                "is back in sync",
                f"{MIN_ISR}={facts.replicas - 1}",
                set_on_topic(facts.name, MIN_ISR, facts.replicas - 1),
            )


def more_in_sync_replicas_than_there_are(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics whose min.insync.replicas is above their replication factor (KAFKA-15583 made it count as that)."""
    yield from audited.unseen_topics("min-isr-above-replicas")
    for facts in audited.topics:
        if facts.needed <= facts.replicas:
            continue
        needed = None if audited.rules is None else audited.rules.effective_min_isr(facts.needed, facts.replicas)
        is_counted = needed == facts.replicas
        if is_counted and facts.replicas == 1:
            continue
        refused = f"every record sent with acks=all is refused: {facts.needed} replicas are never in sync"
        counted = f"on this release it counts as {facts.replicas}: one restart stops its writes with acks=all"
        yield AuditFinding(
            "min-isr-above-replicas",
            Severity.MEDIUM if is_counted else Severity.CRITICAL,
            f"topic {facts.name}",
            _evidence(facts),
            counted if is_counted else refused,
            f"{MIN_ISR}={max(1, facts.replicas - 1)}, or more replicas",
            set_on_topic(facts.name, MIN_ISR, max(1, facts.replicas - 1)),
        )


def two_replicas(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics with two replicas, for which no setting is good."""
    yield from audited.unseen_topics("two-replicas")
    for facts in audited.topics:
        if facts.replicas == 2 and facts.needed <= 2:
            lone = f"with {MIN_ISR}=1 a lone leader acknowledges: {_lost(audited, facts)}"
            yield AuditFinding(
                "two-replicas",
                Severity.HIGH if facts.needed == 1 else Severity.MEDIUM,
                f"topic {facts.name}",
                _evidence(facts),
                f"{lone}; with {MIN_ISR}=2 one restart stops its writes",
                *reassigned(
                    f"give every partition {RECOMMENDED} replicas, and then {MIN_ISR}=2",
                    facts.topic,
                    RECOMMENDED,
                    audited,
                ),
            )


def one_rack(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield topics with all replicas of a partition in one rack of several."""
    if len(audited.racks) < 2:
        return
    rack_of = {one.id: one.rack for one in audited.cluster.brokers}
    for topic in audited.cluster.topics:
        there = [[rack_of.get(one) for one in part.replicas] for part in topic.partitions if len(part.replicas) > 1]
        alike = sorted({racks[0] for racks in there if racks[0] is not None and len(set(racks)) == 1})
        if alike:
            yield AuditFinding(
                "one-rack",
                Severity.HIGH,
                f"topic {topic.name}",
                (Ground("racks of a partition's replicas", ", ".join(alike), "Metadata"),),
                "what ends that rack ends every replica: without power all of its unflushed records are lost",
                *reassigned(
                    f"spread its replicas over the racks {', '.join(sorted(audited.racks))}",
                    topic,
                    topic.replication_factor,
                    audited,
                ),
            )


def nothing_is_flushed(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say that one power failure reaches all replicas, if no rack is known and nothing is flushed."""
    brokers = audited.cluster.brokers
    if len(brokers) < 2 or len(audited.racks) > 1:
        return
    for unseen in audited.unseen_brokers("unflushed-in-one-room"):
        yield unseen
        return
    told = list(audited.cluster.broker_setting("log.flush.interval.messages"))
    waits = [setting.value for _, setting in audited.cluster.broker_setting("log.flush.interval.ms")]
    if told and not any(waits) and all(int(setting.value or 0) > UNFLUSHED for _, setting in told):
        yield AuditFinding(
            "unflushed-in-one-room",
            Severity.LOW,
            "cluster",
            (
                setting_ground("log.flush.interval.messages", told[0][1]),
                Ground("racks", ", ".join(sorted(audited.racks)) or "none is set", "Metadata"),
            ),
            "an acknowledged record is in the page caches of its replicas, on no disk yet: if all of them lose power "
            "at once, and no broker is known to stand elsewhere, it is lost",
            "spread the brokers over rooms and set broker.rack, so that replicas are spread, too",
        )


CHECKS: tuple[AuditCheck, ...] = (
    AuditCheck("replication-factor-1", "is there a second replica?", "replication factor", one_replica),
    AuditCheck(
        "replicas-nowhere",
        "is there a broker for each replica?",
        "KIP-966 (DescribeCluster 2)",
        more_replicas_than_brokers,
    ),
    AuditCheck(
        "replication-factor-below-norm",
        "has a topic as many replicas as the others?",
        "replication factor",
        fewer_replicas_than_others,
    ),
    AuditCheck("weak-acks", "do producers wait for the replicas?", "acks", weak_acks),
    AuditCheck("min-isr-1", "does a lone leader acknowledge with acks=all?", MIN_ISR, one_in_sync_replica),
    AuditCheck("min-isr-equals-replicas", "does one restart stop writes?", MIN_ISR, all_in_sync_replicas),
    AuditCheck(
        "min-isr-above-replicas",
        "can min.insync.replicas ever be met?",
        "KAFKA-15583",
        more_in_sync_replicas_than_there_are,
    ),
    AuditCheck("two-replicas", "are there enough replicas for a good setting?", MIN_ISR, two_replicas),
    AuditCheck("one-rack", "are replicas spread over racks?", "KIP-36", one_rack),
    AuditCheck(
        "unflushed-in-one-room",
        "can one power failure reach all replicas?",
        "log.flush.interval.messages",
        nothing_is_flushed,
        is_of_topics=False,
    ),
)
