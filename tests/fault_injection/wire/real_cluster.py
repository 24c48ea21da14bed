"""Two real brokers behind a gate, and what tests do with them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import MetadataMode, find_release, jars_of, schema_jar
from fault_injection.waiting import NotYetError, until
from fault_injection.wire.gate_events import CaughtFrame
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy

DEADLINE_S = 30.0
TOPIC = "held"
TOPIC_IDS_SINCE = (3, 1)


@contextmanager
def cluster_of(
    version: str, directory: Path, *, mode: MetadataMode | None = None, overrides: Mapping[str, str] | None = None
) -> Iterator[tuple[Cluster, GateProxy]]:
    """Start brokers 1 and 2; their frames are written to ``wire.ndjson`` in the directory."""
    release = find_release(version)
    spec = ClusterSpec(
        release, release.metadata_mode(mode), broker_ids=(1, 2), fetch_wait_max_ms=100, overrides=overrides or {}
    )
    backend = ProcessBackend()
    try:
        with GateProxy(backend.host, backend.peers, schemas=schema_jar()) as proxy:
            proxy.trace_to(directory / "wire.ndjson")
            with Cluster.start(spec, jars_of(release), backend, proxy, directory / "cluster") as cluster:
                yield cluster, proxy
    finally:
        backend.close()


def create_topic(cluster: Cluster, proxy: GateProxy, name: str = TOPIC) -> None:
    """Create a topic of one partition with leader 1 and follower 2, and tell the proxy its id."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(name, num_partitions=1, replica_assignment=[[1, 2]])])[name].result(DEADLINE_S)
    if cluster.spec.release.is_at_least(*TOPIC_IDS_SINCE):
        topic_id = until(lambda: _topic_id(admin, name), deadline_s=DEADLINE_S, what=f"{name} has an id")
        proxy.learn_topic(topic_id, name)


def _topic_id(admin: AdminClient, name: str) -> str:
    try:
        described = admin.describe_topics(TopicCollection([name]))[name].result(DEADLINE_S)
    except KafkaException as error:
        raise NotYetError(error) from error
    return str(described.topic_id)


def produce(cluster: Cluster, value: bytes, topic: str = TOPIC) -> None:
    """Have the leader append one record without waiting for the follower.

    A client asks any broker for metadata; one that is kept from its metadata says that it knows no such topic.
    """
    until(
        lambda: _produced(cluster.client_address(1), topic, value) or None,
        deadline_s=DEADLINE_S,
        what=f"{value!r} is acknowledged",
    )


def _produced(bootstrap: str, topic: str, value: bytes) -> bool:
    errors: list[KafkaError | None] = []
    settings = {"bootstrap.servers": bootstrap, "acks": "1", "linger.ms": 0, "topic.metadata.propagation.max.ms": 500}
    producer = Producer(settings)
    producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(DEADLINE_S) == 0
    (error,) = errors
    if error is not None and error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
        raise KafkaException(error)
    return error is None


def fetch_point(name: str, fetch_offset: int, topic: str = TOPIC) -> Point:
    return Point(name, source=2, destination=1, topic=topic, partition=0, fetch_offset=fetch_offset)


def await_caught(proxy: GateProxy, name: str) -> CaughtFrame:
    return until(lambda: proxy.caught(name), deadline_s=DEADLINE_S, what=f"{name} caught a frame")


def traced(proxy: GateProxy, directory: Path) -> list[dict[str, Any]]:
    """Return the lines of the trace so far in the order of arrival."""
    proxy.trace.flush()
    lines = [json.loads(line) for line in (directory / "wire.ndjson").read_text().splitlines()]
    return sorted(lines, key=lambda line: line["seq"])
