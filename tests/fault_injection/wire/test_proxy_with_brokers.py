"""Can a FETCH between two real brokers be stopped before the leader, and its answer before the follower?"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer, TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.waiting import NotYetError, until
from fault_injection.wire.gate_events import CaughtFrame
from fault_injection.wire.points import Point
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.views import FetchResponseView

DEADLINE_S = 30.0
TOPIC = "held"

pytestmark = pytest.mark.broker


@pytest.fixture(params=["0.10.2", "4.3"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cluster]:
    release = find_release(request.param)
    backend = ProcessBackend()
    spec = ClusterSpec(release, release.default_metadata_mode, broker_ids=(1, 2), fetch_wait_max_ms=100)
    with GateProxy(backend.host, schemas=schema_jar()) as proxy:
        proxy.trace_to(tmp_path / "wire.ndjson")
        with Cluster.start(spec, jars_of(release), backend, proxy, tmp_path / "cluster") as started:
            yield started
    backend.close()


def await_caught(proxy: GateProxy, name: str) -> CaughtFrame:
    return until(lambda: proxy.caught(name), deadline_s=DEADLINE_S, what=f"{name} caught a frame")


def fetch_point(name: str, fetch_offset: int) -> Point:
    return Point(name, source=2, destination=1, topic=TOPIC, partition=0, fetch_offset=fetch_offset)


def create_topic(cluster: Cluster, proxy: GateProxy) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    topic = NewTopic(TOPIC, num_partitions=1, replica_assignment=[[1, 2]])
    admin.create_topics([topic])[TOPIC].result(DEADLINE_S)
    if cluster.spec.release.is_at_least(3, 1):
        topic_id = until(lambda: id_of_topic(admin), deadline_s=DEADLINE_S, what="the topic has an id")
        proxy.learn_topic(topic_id, TOPIC)


def id_of_topic(admin: AdminClient) -> str:
    try:
        described = admin.describe_topics(TopicCollection([TOPIC]))[TOPIC].result(DEADLINE_S)
    except KafkaException as error:
        raise NotYetError(error) from error
    return str(described.topic_id)


def produce(cluster: Cluster, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": cluster.client_address(1), "acks": "1", "linger.ms": 0})
    producer.produce(TOPIC, value)
    assert producer.flush(DEADLINE_S) == 0


def high_watermark(caught: CaughtFrame) -> int:
    assert isinstance(caught.view, FetchResponseView)
    (given,) = (entry for entry in caught.view.partitions if entry.topic == TOPIC)
    return given.high_watermark


def test_each_step_of_replication_can_be_stopped(cluster: Cluster, tmp_path: Path) -> None:
    proxy = cluster.relay
    assert isinstance(proxy, GateProxy)
    create_topic(cluster, proxy)

    proxy.arm("first", fetch_point("fetch_request", 0))
    await_caught(proxy, "first")
    produce(cluster, b"m0")

    proxy.arm("appended", fetch_point("fetch_request", 1))
    proxy.release("first")
    appended = await_caught(proxy, "appended")
    assert (appended.fetch_offset, appended.request.source) == (1, 2)
    assert proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 0

    proxy.arm("committed", fetch_point("fetch_response", 1))
    proxy.release("appended")
    committed = await_caught(proxy, "committed")
    assert high_watermark(committed) == 1
    assert proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 1
    (carried,) = [one for one in proxy.rounds_since(0, topic=TOPIC, follower=2) if one.record_bytes]
    assert (carried.fetch_offset, carried.first_offset, carried.last_offset) == (0, 0, 0)
    assert carried.high_watermark == 0

    proxy.release("committed")
    until(
        lambda: len(proxy.rounds_since(committed.caught_ns, topic=TOPIC)) >= 2,
        deadline_s=DEADLINE_S,
        what="replication goes on",
    )
    assert proxy.undecodable == 0
    proxy.flush_trace()
    lines = [json.loads(line) for line in (tmp_path / "wire.ndjson").read_text().splitlines()]
    assert {line["hold"] for line in lines} == {None, "first", "appended", "committed"}
