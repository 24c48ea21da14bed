"""Does an audit find on real brokers what is wrong there, and does it ask them nothing but what it says?"""

from __future__ import annotations

import json
import logging
import socket
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.audit.audit import audit
from conformance.audit.audited import Audited
from conformance.audit.demonstrated_topics import found_by
from conformance.audit.reading import cluster_reader
from conformance.audit.release_seen import release_seen
from conformance.clients.connecting import UnreadableClusterError
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.waiting import NotYetError, until
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.audit.audit import Audit

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

READING = {
    3: "Metadata",
    18: "ApiVersions",
    32: "DescribeConfigs",
    35: "DescribeLogDirs",
    55: "DescribeQuorum",
    60: "DescribeCluster",
}
READING |= {66: "ListTransactions", 75: "DescribeTopicPartitions"}
GOOD = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "replica.lag.time.max.ms": "30000",
}
TOPICS: dict[str, tuple[list[int], dict[str, str]]] = {
    "good": ([1, 2, 3], {}),
    "one": ([1], {"min.insync.replicas": "1"}),
    "lone": ([1, 2, 3], {"min.insync.replicas": "1"}),
    "every": ([1, 2, 3], {"min.insync.replicas": "3"}),
    "two": ([1, 2], {"min.insync.replicas": "1"}),
    "unclean": ([1, 2, 3], {"unclean.leader.election.enable": "true"}),
}
FOUND = {
    "one": {"replication-factor-1"},
    "lone": {"min-isr-1"},
    "every": {"min-isr-equals-replicas"},
    "two": {"two-replicas"},
    "unclean": {"unclean-election"},
}


@pytest.fixture(scope="module", params=["0.11.0.3", "2.8.2", "3.9.2", "4.4.0"])
def relayed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Cluster, GateProxy]]:
    """A good cluster but for its topics, in front of which a gate sees every request of clients."""
    release = find_release(request.param)
    spec = ClusterSpec(release, release.default_metadata_mode, overrides=GOOD, client_links=True, racks=True)
    backend = ProcessBackend()
    try:
        with (
            GateProxy(backend.host, backend.peers, schemas=schema_jar()) as gate,
            Cluster.start(spec, jars_of(release), backend, gate, tmp_path_factory.mktemp("audited")) as cluster,
        ):
            _create_topics(cluster)
            yield cluster, gate
    finally:
        backend.close()


def _create_topics(cluster: Cluster) -> None:
    quiet = {"log_level": 0, "logger": logging.getLogger(__name__)}
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, **quiet})
    asked = [
        NewTopic(name, num_partitions=1, replica_assignment=[replicas], config=config)
        for name, (replicas, config) in TOPICS.items()
    ]
    for created in admin.create_topics(asked).values():
        created.result(30)


def _audited(servers: str) -> Audit:
    with cluster_reader(servers.split(",")) as reader:
        seen = reader.read()
    return audit(Audited(seen, release_seen(seen)))


def _of_every_topic(servers: str) -> Audit:
    """Return an audit once the broker that is asked knows every topic."""

    def every_topic_is_known() -> Audit:
        found = _audited(servers)
        if {one.name for one in found.audited.cluster.topics} < TOPICS.keys():
            raise NotYetError("topics")
        return found

    return until(every_topic_is_known, deadline_s=30, what="every topic is known")


def _found(audit: Audit, check: str) -> list[str]:
    return [subject for row in audit.rows if row.finding.check == check for subject in row.subjects]


def test_each_mistaken_topic_is_found_by_its_own_check_and_by_read_requests_alone(
    relayed: tuple[Cluster, GateProxy], tmp_path: Path
) -> None:
    cluster, gate = relayed
    trace = tmp_path / "wire.ndjson"

    gate.trace_to(trace)
    found = _of_every_topic(relayed_bootstrap(cluster))
    gate.end_trace()

    told = {name: {row.finding.check for row in found.rows if f"topic {name}" in row.subjects} for name in TOPICS}
    assert {name for name, checks in told.items() if "known-defect" in checks} <= {"lone", "two", "unclean"}
    assert {name: checks - {"known-defect"} for name, checks in told.items() if checks} == FOUND
    assert found.audited.release.line is not None
    assert found.audited.release.line.release == cluster.spec.release
    assert _requests_of_clients(trace) <= READING.keys()
    assert {one.name for one in _audited(cluster.bootstrap).audited.cluster.topics} == TOPICS.keys()
    assert {3, 18} <= _requests_of_clients(trace)


def _requests_of_clients(trace: Path) -> set[int]:
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    return {line["api_key"] for line in lines if line.get("link") == "client" and line["direction"] == "request"}


def test_a_broker_that_is_down_leaves_partitions_at_the_floor(relayed: tuple[Cluster, GateProxy]) -> None:
    cluster, _ = relayed
    cluster.kill(3)

    def is_out_of_sync() -> Audit:
        found = _audited(cluster.client_address(1))
        if "partition good-0" not in _found(found, "at-min-isr"):
            raise NotYetError([row.finding.check for row in found.rows])
        return found

    try:
        found = until(is_out_of_sync, deadline_s=30, what="broker 3 is out of sync")
        assert _found(found, "under-min-isr") == ["partition every-0"]
        assert _found(found, "offline") == []
    finally:
        cluster.start_broker(3)


def test_a_finding_is_demonstrated_with_the_topic_that_was_read(relayed: tuple[Cluster, GateProxy]) -> None:
    cluster, _ = relayed
    found = _of_every_topic(cluster.bootstrap)
    settings = {topic: found_by(found, check).twins.as_read for topic, (check,) in FOUND.items()}
    for topic, telling in settings.items():
        replicas, config = TOPICS[topic]
        minimum = config.get("min.insync.replicas", GOOD["min.insync.replicas"])
        assert telling.settings.startswith(f"replication factor {len(replicas)}, min.insync.replicas={minimum}")
        assert telling.line.release == cluster.spec.release


def test_a_listener_that_hangs_is_told_in_one_line() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        host, port = listener.getsockname()
        reading = cluster_reader([f"{host}:{port}"], patience_s=1.0)
        with pytest.raises(UnreadableClusterError, match=f"no broker answers at {host}:{port}"), reading:
            pass
