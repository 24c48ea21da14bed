"""How far from stopping or losing are partitions now? Leaders, the ISR, eligible leader replicas, the next restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.audit.audited import is_led
from conformance.audit.cluster import MIN_ISR, NotSeen
from conformance.audit.finding import AuditCheck, AuditFinding, Ground, Severity, Unseen, setting_ground

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audited import Audited, TopicFacts
    from conformance.audit.cluster import PartitionSeen, TopicSeen

GIVEN_UP = "KAFKA_STORAGE_ERROR"
"""What DescribeLogDirs tells of a log directory that a broker has given up; no other error says that of the disk."""


def without_leader(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield partitions that nobody leads, and for which no eligible leader replica waits."""
    for topic, partition in _partitions(audited):
        if not is_led(partition) and not (partition.eligible or partition.last_known):
            yield AuditFinding(
                "offline",
                Severity.CRITICAL,
                _name(topic, partition),
                (_isr(partition), Ground("leader", "none", "Metadata")),
                f"nothing can be read or written until one of the brokers {_listed(partition.isr)} is back: what only "
                f"they have is lost if they are gone",
                f"bring back one of the brokers {_listed(partition.isr)}",
            )


def on_eligible_replicas(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield partitions without leader that wait for an eligible leader replica or the last known leader (KIP-966)."""
    if audited.has_eligible and audited.cluster.eligible is not None:
        yield Unseen("on-eligible-replicas", "cluster", audited.cluster.eligible.why)
    for topic, partition in _partitions(audited):
        if not is_led(partition) and (partition.eligible or partition.last_known):
            waited = partition.eligible or partition.last_known
            kind = "eligible leader replicas" if partition.eligible else "the last known leader"
            yield AuditFinding(
                "on-eligible-replicas",
                Severity.CRITICAL,
                _name(topic, partition),
                (_isr(partition), Ground(kind, _listed(waited), "DescribeTopicPartitions")),
                f"nothing can be read or written until broker {_listed(waited)} is back with its disk: nobody else is "
                f"known to have every committed record",
                f"bring back broker {_listed(waited)}; change no {MIN_ISR} meanwhile, which would clear the list",
            )


def below_min_isr(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield partitions that take no record with acks=all now."""
    yield from audited.unseen_topics("under-min-isr")
    for facts, partition in _led(audited):
        if len(partition.isr) < _floor(facts, partition):
            yield AuditFinding(
                "under-min-isr",
                Severity.CRITICAL,
                _name(facts.topic, partition),
                (_isr(partition), setting_ground(MIN_ISR, facts.min_isr)),
                "records sent with acks=all are refused now",
                f"bring back the replicas {_absent(partition)}",
            )


def at_min_isr(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield partitions that the next failure stops (KIP-427)."""
    yield from audited.unseen_topics("at-min-isr")
    for facts, partition in _led(audited):
        is_waiting = not audited.has_replicas_nowhere(partition)
        if is_waiting and len(partition.isr) == _floor(facts, partition) < len(partition.replicas):
            yield AuditFinding(
                "at-min-isr",
                Severity.HIGH,
                _name(facts.topic, partition),
                (_isr(partition), setting_ground(MIN_ISR, facts.min_isr)),
                "the next failure of a replica in sync stops writes with acks=all",
                f"bring back the replicas {_absent(partition)}, and restart no other broker before they are in sync",
            )


def next_restart(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield partitions that lack a replica already, and that one restart more puts at min.insync.replicas."""
    yield from audited.unseen_topics("roll-margin")
    for facts, partition in _led(audited):
        if audited.has_replicas_nowhere(partition):
            continue
        if len(partition.isr) - 1 == _floor(facts, partition) and len(partition.isr) < len(partition.replicas):
            yield AuditFinding(
                "roll-margin",
                Severity.MEDIUM,
                _name(facts.topic, partition),
                (_isr(partition), setting_ground(MIN_ISR, facts.min_isr)),
                f"a restart of any of the brokers {_listed(partition.isr)} leaves it at {MIN_ISR}: a failure during a "
                f"roll then stops writes with acks=all",
                f"wait until the replicas {_absent(partition)} are in sync before a broker is restarted",
            )


def offline_log_directories(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Yield brokers that have given up a log directory, and go on without it (KIP-112)."""
    for broker in audited.cluster.brokers:
        if isinstance(broker.directory_errors, NotSeen):
            yield Unseen("log-directory-offline", f"broker {broker.id}", broker.directory_errors.why)
            continue
        told = sorted(broker.directory_errors.items())
        for path, error in told:
            if error != GIVEN_UP:
                yield Unseen("log-directory-offline", f"broker {broker.id}", f"DescribeLogDirs tells {error} of {path}")
        given_up = [path for path, error in told if error == GIVEN_UP]
        if given_up:
            yield AuditFinding(
                "log-directory-offline",
                Severity.HIGH,
                f"broker {broker.id}",
                tuple(Ground("log directory", f"{path}: {GIVEN_UP}", "DescribeLogDirs") for path in given_up),
                "no replica in that directory is in sync or can lead, while the broker itself looks well: each counts "
                "as a failure that has happened already; if the disk is lost, so are they",
                "repair or replace the disk, then restart the broker: it copies what it lacks from the leaders",
            )


def _partitions(audited: Audited) -> Iterator[tuple[TopicSeen, PartitionSeen]]:
    return ((topic, partition) for topic in audited.cluster.topics for partition in topic.partitions)


def _led(audited: Audited) -> Iterator[tuple[TopicFacts, PartitionSeen]]:
    """Yield led partitions whose settings were seen."""
    for facts in audited.every_topic:
        yield from ((facts, partition) for partition in facts.topic.partitions if is_led(partition))


def _floor(facts: TopicFacts, partition: PartitionSeen) -> int:
    """Return how many replicas must be in sync; more than there are is another check's."""
    return min(facts.needed, len(partition.replicas))


def _name(topic: TopicSeen, partition: PartitionSeen) -> str:
    return f"partition {topic.name}-{partition.number}"


def _isr(partition: PartitionSeen) -> Ground:
    return Ground("in sync", f"{_listed(partition.isr)} of {_listed(partition.replicas)}", "Metadata")


def _absent(partition: PartitionSeen) -> str:
    return _listed(tuple(one for one in partition.replicas if one not in partition.isr))


def _listed(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers)) or "none"


CHECKS: tuple[AuditCheck, ...] = (
    AuditCheck("offline", "is there a leader?", "kafka-topics --unavailable-partitions", without_leader),
    AuditCheck("on-eligible-replicas", "does a partition wait for one broker?", "KIP-966", on_eligible_replicas),
    AuditCheck("under-min-isr", "are records refused now?", "KIP-164", below_min_isr),
    AuditCheck("at-min-isr", "does the next failure stop writes?", "KIP-427", at_min_isr),
    AuditCheck("roll-margin", "can a broker be restarted?", "KIP-427", next_restart),
    AuditCheck(
        "log-directory-offline", "has a broker given up a disk?", "KIP-112", offline_log_directories, is_of_topics=False
    ),
)
