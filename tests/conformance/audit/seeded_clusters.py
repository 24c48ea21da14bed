"""Real clusters into which mistakes are put, and what an audit finds there, each by its check and whom it is about."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

from conformance.audit.audit import audit
from conformance.audit.audited import Audited
from conformance.audit.reading import cluster_reader
from conformance.audit.release_seen import release_seen
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, jars_of
from fault_injection.waiting import NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from conformance.audit.audit import Audit
    from conformance.line import Line

GOOD = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "replica.lag.time.max.ms": "30000",
}
QUIET = {"log_level": 0, "logger": logging.getLogger(__name__)}
HOSTS = {101: "127.0.0.2", 102: "127.0.0.3"}
"""Of controllers, as if each were a machine of its own."""

Findings = set[tuple[str, str]]
"""Each finding's check and subject."""
Topics = dict[str, tuple[list[int], dict[str, str]]]
"""By name the brokers of the only partition, the leader first, and settings."""


@contextmanager
def seeded(line: Line, directory: Path, **more: object) -> Iterator[Cluster]:
    """Start a cluster that is good but for what ``more``, as of ``ClusterSpec``, says otherwise."""
    is_kraft = line.metadata is MetadataMode.KRAFT
    quorum = {"other_controller_ids": tuple(HOSTS), "controller_hosts": HOSTS} if is_kraft else {}
    asked = {"controller_id": 100 if is_kraft else None, "overrides": GOOD, "racks": True, **quorum, **more}
    spec = ClusterSpec(line.release, line.metadata, **asked)  # type: ignore[arg-type]  # named there
    backend = ProcessBackend()
    try:
        with Cluster.start(spec, jars_of(line.release), backend, DirectRelay(), directory) as cluster:
            yield cluster
    finally:
        backend.close()


def create(cluster: Cluster, topics: Topics) -> None:
    """Create topics of one partition."""
    admin = AdminClient({"bootstrap.servers": live(cluster), **QUIET})
    asked = [
        NewTopic(name, num_partitions=1, replica_assignment=[replicas], config=config)
        for name, (replicas, config) in topics.items()
    ]
    for created in admin.create_topics(asked).values():
        created.result(30)


def live(cluster: Cluster) -> str:
    """Return the addresses of the brokers that run."""
    return ",".join(cluster.client_address(one) for one in cluster.live_brokers)


def audit_of(cluster: Cluster) -> Audit:
    """Audit a cluster."""
    with cluster_reader(live(cluster).split(",")) as reader:
        seen = reader.read()
    return audit(Audited(seen, release_seen(seen)))


def findings(found: Audit) -> Findings:
    """Return what an audit found."""
    return {(row.finding.check, subject) for row in found.rows for subject in row.subjects}


def await_findings(cluster: Cluster, expected: Mapping[str, str | list[str]], topics: Topics) -> None:
    """Wait until an audit finds what is expected, and nothing else, and sees every topic.

    Args:
        cluster: that is asked.
        expected: by check whom it is about.
        topics: that the broker that is asked must know.
    """
    listed = {check: [about] if isinstance(about, str) else about for check, about in expected.items()}
    wanted = {(check, one) for check, about in listed.items() for one in about}

    def is_found() -> bool:
        found = audit_of(cluster)
        unknown = topics.keys() - {one.name for one in found.audited.cluster.topics}
        differing = findings(found) ^ wanted
        if unknown or differing:
            raise NotYetError({"unknown": unknown, "not found": differing & wanted, "besides": differing - wanted})
        return True

    until(is_found, deadline_s=60, what="an audit finds what is expected, and nothing else", interval_s=0.5)


def await_isr(cluster: Cluster, topic: str, isr: set[int]) -> None:
    """Wait until these replicas of a topic are in sync, and no others."""

    def is_so() -> bool:
        (seen,) = [one for one in audit_of(cluster).audited.cluster.topics if one.name == topic]
        if set(seen.partitions[0].isr) != isr:
            raise NotYetError(seen.partitions)
        return True

    until(is_so, deadline_s=60, what=f"{topic} has the ISR {isr}", interval_s=0.3)
