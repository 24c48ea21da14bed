"""Topics of one partition, written and read as any client would."""

import logging

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.waiting import NotYetError, until

_QUIET = {"log_level": 0, "logger": logging.getLogger(__name__)}
_DEADLINE_S = 30


def create_topic(cluster: Cluster, topic: str, replicas: list[int]) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, **_QUIET})
    created = admin.create_topics([NewTopic(topic, num_partitions=1, replica_assignment=[replicas])])
    created[topic].result(_DEADLINE_S)


def produce(cluster: Cluster, topic: str, *values: bytes) -> None:
    failed: list[object] = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", **_QUIET})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: failed.append(error) if error else None)
    assert producer.flush(_DEADLINE_S) == 0
    assert not failed


def consume(cluster: Cluster, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "unused", **_QUIET})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        return [message.value() for message in consumer.consume(count, timeout=_DEADLINE_S)]
    finally:
        consumer.close()


def await_isr(cluster: Cluster, topic: str, isr: set[int]) -> None:
    """Wait until broker 1 knows the in-sync replicas to be ``isr``."""
    admin = AdminClient({"bootstrap.servers": cluster.client_address(1), **_QUIET})

    def is_isr() -> bool:
        partitions = admin.list_topics(topic, timeout=_DEADLINE_S).topics[topic].partitions
        if 0 not in partitions:
            raise NotYetError(f"{topic} has no partition 0 yet")
        seen = set(partitions[0].isrs)
        if seen != isr:
            raise NotYetError(seen)
        return True

    until(is_isr, deadline_s=_DEADLINE_S, what=f"in-sync replicas {isr} of {topic}", interval_s=0.2)
