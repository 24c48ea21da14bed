"""What do brokers of each era do when a log directory is full or read-only, and do they keep what they acknowledged?

One broker with two log directories: before 1.0 it halts; since KIP-112 it gives the directory up and goes on with the
other one.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.clients import quiet_configuration
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.health import problems
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import FaultError
from fault_injection.faults.process import KillProcess
from fault_injection.faults.storage import FullLogDirectory, ReadOnlyLogDirectory
from fault_injection.waiting import NotYetError, until
from tests.fault_injection.cluster.conftest import (
    NewBackend,
    made_healthy,
    running_cluster,
    spec_of,
)

pytestmark = pytest.mark.broker
TWO_DIRECTORIES = {"log.dirs": "data,data2", "auto.create.topics.enable": "false"}
SECOND = "data2"
ROOM_BYTES = 64 * 1024
VALUE = bytes(range(256)) * 32
TOPICS = (f"stored-{number}" for number in itertools.count())
CLUSTERS = [
    pytest.param((ProcessBackend, "0.10.2.2"), id="process-0.10.2.2"),
    pytest.param((ProcessBackend, "4.3.1"), id="process-4.3.1"),
]


@pytest.fixture(scope="module", params=CLUSTERS)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    chosen: tuple[NewBackend, str] = request.param
    new_backend, version = chosen
    spec = replace(spec_of(version, broker_ids=(1,)), overrides=TWO_DIRECTORIES)
    with running_cluster(spec, new_backend, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared: Cluster) -> Cluster:
    return made_healthy(shared)


def stored_in_second(cluster: Cluster) -> tuple[str, int]:
    """Create a topic with a partition in each log directory; give it and the partition in the second one."""
    topic = next(TOPICS)
    admin = AdminClient(quiet_configuration(cluster.bootstrap))
    created = admin.create_topics([NewTopic(topic, num_partitions=2, replica_assignment=[[1], [1]])])
    created[topic].result(30)

    def partition() -> tuple[int] | None:
        files = cluster.backend.files(cluster.node(1))
        found = [number for number in (0, 1) if any(it.startswith(f"{SECOND}/{topic}-{number}/") for it in files)]
        return (found[0],) if found else None

    return topic, until(partition, deadline_s=10, what=f"a partition in {SECOND}")[0]


def produce(cluster: Cluster, topic: str, partition: int, count: int) -> int:
    """Produce until so many records are acknowledged or one is not; give how many were."""
    settings = {**quiet_configuration(cluster.bootstrap), "acks": "all", "message.timeout.ms": 4000}
    producer = Producer(settings)
    for acknowledged in range(count):
        answers: list[bool] = []
        producer.produce(
            topic, VALUE, partition=partition, on_delivery=lambda error, _, it=answers: it.append(error is None)
        )
        producer.flush(10)
        if answers != [True]:
            return acknowledged
    return count


def stored(cluster: Cluster, topic: str, partition: int) -> int:
    """Read from the beginning and give how many whole records there are."""
    settings = {**quiet_configuration(cluster.bootstrap), "group.id": "none", "enable.auto.commit": False}
    consumer = Consumer(settings)
    try:
        end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=10)[1]
        consumer.assign([TopicPartition(topic, partition, 0)])
        return sum(message.value() == VALUE for message in consumer.consume(end, timeout=10))
    finally:
        consumer.close()


def end(cluster: Cluster, faults: FaultAccount) -> None:
    faults.inject(KillProcess(1))
    await_unregistered(cluster, 1)


def await_given_up(cluster: Cluster) -> None:
    """Wait until the broker has halted, or has given up its second log directory."""
    is_halting = not cluster.spec.release.is_at_least(1, 0)

    def is_given_up() -> bool:
        if is_halting:
            return not cluster.is_alive(1)
        found = problems(cluster)
        if not any("has given up the log directory" in one and SECOND in one for one in found):
            raise NotYetError(found)
        return True

    until(is_given_up, deadline_s=20, what="the broker to meet the fault")
    assert cluster.is_alive(1) is not is_halting


def test_a_broker_whose_log_directory_is_full_keeps_what_it_acknowledged(cluster: Cluster) -> None:
    topic, partition = stored_in_second(cluster)
    assert produce(cluster, topic, partition, 2) == 2
    with FaultAccount(cluster) as faults:
        end(cluster, faults)
        full = faults.inject(FullLogDirectory(1, ROOM_BYTES, SECOND))
        assert full.done == f"broker 1 has {ROOM_BYTES} bytes left in {SECOND}"
        cluster.start_broker(1)
        await_registered(cluster, 1)

        acknowledged = 2 + produce(cluster, topic, partition, 20)

        assert 2 < acknowledged <= 2 + ROOM_BYTES // len(VALUE)
        await_given_up(cluster)
        assert "No space left on device" in cluster.log_text(1)
        causes = [str(node.foreign_cause) for node in cluster.lost_nodes()]
        assert len(causes) == (not cluster.is_alive(1))
        assert all("the machine failed it" in cause and "No space left on device" in cause for cause in causes)
    assert acknowledged <= stored(cluster, topic, partition) <= acknowledged + 1
    assert produce(cluster, topic, partition, 20) == 20


def test_a_broker_whose_first_log_directory_is_read_only_does_not_start_and_keeps_what_it_has(cluster: Cluster) -> None:
    topic, partition = stored_in_second(cluster)
    assert produce(cluster, topic, 1 - partition, 3) == 3
    fault = ReadOnlyLogDirectory(1)
    assert "is for a broker that is down" in fault.available(cluster).obstacle
    with FaultAccount(cluster) as faults:
        with pytest.raises(FaultError, match="is for a broker that is down"):
            faults.inject(fault)
        end(cluster, faults)
        assert faults.inject(fault).done == "broker 1 may only read data"

        cluster.start_broker(1)

        until(lambda: not cluster.is_alive(1), deadline_s=20, what="the end of a broker that cannot write")
        assert "Read-only file system" in cluster.log_text(1)
    assert stored(cluster, topic, 1 - partition) == 3
