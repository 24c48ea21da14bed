"""One partition of a relayed cluster behind its gate: what tests do with it and see of it."""

import logging
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.waiting import until
from fault_injection.wire.content import ANYTHING, Content
from fault_injection.wire.points import POINTS, Point
from fault_injection.wire.proxy import GateProxy
from tests.fault_injection.cluster.topics import create_topic
from tests.fault_injection.faults.relayed_cluster import DEADLINE_S, await_partition

TOPIC_IDS_SINCE = (3, 1)
_QUIET = {"log_level": 0, "logger": logging.getLogger(__name__)}


@dataclass(frozen=True)
class GatedTopic:
    """A topic with leader 1 and follower 2."""

    cluster: Cluster
    gate: GateProxy
    name: str

    def point(self, name: str, *, asked: Content = ANYTHING, answered: Content = ANYTHING) -> Point:
        """Name a point of this topic between leader and follower, or on the way to either."""
        source = 2 if POINTS[name].fetches == "data" else None
        return Point(name, source=source, topic=self.name, partition=0, asked=asked, answered=answered)

    def produce(self, value: bytes = b"m", acks: str = "all") -> str:
        """Send a record through the gate, once, and give the name of the error, empty for an acknowledgement."""
        settings = {"bootstrap.servers": relayed_bootstrap(self.cluster), "acks": acks, "retries": 0, "linger.ms": 0}
        producer = Producer({**settings, **_QUIET})
        errors: list[str] = []
        producer.produce(self.name, value, on_delivery=lambda error, _: errors.append(error.name() if error else ""))
        assert producer.flush(DEADLINE_S) == 0
        (error,) = errors
        return error

    def commit_with_offsets(self) -> None:
        """Commit a transaction with a record and a group's offset, through the gate."""
        settings = {"bootstrap.servers": relayed_bootstrap(self.cluster), **_QUIET}
        producer = Producer({**settings, "transactional.id": self.name, "linger.ms": 0})
        member = Consumer({**settings, "group.id": self.name})
        try:
            producer.init_transactions(DEADLINE_S)
            producer.begin_transaction()
            producer.produce(self.name, b"in a transaction")
            offsets = [TopicPartition(self.name, 0, 1)]
            producer.send_offsets_to_transaction(offsets, member.consumer_group_metadata(), DEADLINE_S)
            producer.commit_transaction(DEADLINE_S)
        finally:
            member.close()

    def records(self) -> list[bytes | None]:
        """Read all records through the gate, as far as they are committed."""
        consumer = Consumer({"bootstrap.servers": relayed_bootstrap(self.cluster), "group.id": "unused", **_QUIET})
        partition = TopicPartition(self.name, 0, 0)
        try:
            _, high_watermark = consumer.get_watermark_offsets(partition, timeout=DEADLINE_S)
            consumer.assign([partition])
            return [message.value() for message in consumer.consume(high_watermark, timeout=DEADLINE_S)]
        finally:
            consumer.close()

    def await_isr(self, *isr: int, at: int = 1) -> None:
        """Wait until a broker knows leader 1 and these in-sync replicas."""
        await_partition(self.cluster, at, self.name, leader=1, isr=set(isr))

    def fetches_since(self, time_ns: int) -> int:
        """Return how many rounds the follower has made since a time."""
        return len(self.gate.rounds_since(time_ns, topic=self.name, follower=2))

    def delete(self) -> None:
        """Delete the topic."""
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap, **_QUIET})
        admin.delete_topics([self.name])[self.name].result(DEADLINE_S)


def gated_topic(cluster: Cluster, gate: GateProxy, name: str) -> GatedTopic:
    """Create a topic, both replicas in sync, and tell the gate its id."""
    topic = GatedTopic(cluster, gate, name)
    create_topic(cluster, name, [1, 2])
    for broker in (1, 2):  # whichever of them is asked to describe it
        topic.await_isr(1, 2, at=broker)
    if cluster.spec.release.is_at_least(*TOPIC_IDS_SINCE):
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, **_QUIET})
        found = admin.describe_topics(TopicCollection([name]))[name].result(DEADLINE_S)
        gate.learn_topic(str(found.topic_id), name)
    until(lambda: topic.fetches_since(0), deadline_s=DEADLINE_S, what="the follower fetches")
    return topic
