"""How are topics made and changed beside the partition that is tested? And who cleans up?

Each request is asked of a broker that hears the controller, and returns when every such broker knows what was
decided. With ZooKeeper partitions are added in the topic's node, which the controller watches, in every release; in
KRaft mode by a CreatePartitions request (KIP-195).
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from conformance.clients import quiet_configuration
from conformance.clients.topics import TopicError, create_topic, delete_topic
from conformance.interruption import HarnessError
from conformance.probes.connection import BrokerConnection, partition_metadata
from conformance.record.timeline import Event
from conformance.running.election_requests import DEADLINE_S, asking_zookeeper
from fault_injection.waiting import until
from oracle.steps.topic import AddPartitions, CreateTopic, DeleteTopic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.running.recorder import Recorder
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId

    Brokers = Callable[[], Sequence[BrokerId]]


FOLLOWERS_S = 3.0
"""How long a leader that has deleted records waits for its followers to do so, before it answers."""


class TopicRequests:
    """What a run asks for beside its partition.

    Args:
        cluster: the brokers.
        recorder: gets every deed onto the timeline.
        topic: the run's topic; other topics are named after it.
        hearing: tells which brokers can be asked: they run and hear the controller.
        replicas: tells on which brokers the partition is.
    """

    def __init__(
        self, cluster: Cluster, recorder: Recorder, topic: str, *, hearing: Brokers, replicas: Brokers
    ) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._topic = topic
        self._hearing = hearing
        self._replicas = replicas
        self._others: list[str] = []

    def take(self, step: AddPartitions | CreateTopic | DeleteTopic) -> None:
        """Ask for what a step says, and wait until it is known.

        Raises:
            HarnessError: nobody took the request, or not everybody heard of it.
        """
        try:
            match step:
                case AddPartitions(count):
                    self._add_partitions(count)
                    self._recorder.mark(Event.PARTITIONS_ADDED, self._topic, f"the topic has {count} partitions")
                case CreateTopic(name):
                    create_topic(self._addresses(), self._named(name), self._replicas())
                    self._others.append(name)
                    self._recorder.mark(Event.TOPIC_CREATED, name, f"topic {self._named(name)} created")
                case DeleteTopic(name):
                    delete_topic(self._addresses(), self._named(name))
                    self._others.remove(name)
                    self._recorder.mark(Event.TOPIC_DELETED, name, f"topic {self._named(name)} deleted")
        except TopicError as failed:
            raise HarnessError(str(failed)) from failed

    def delete_records(self, leader: BrokerId, offset: int) -> None:
        """Have the leader delete the records before an offset; its followers may hear of it later.

        Raises:
            HarnessError: the request was refused.
        """
        delete_records(self._cluster, self._topic, leader, offset)
        text = f"records before offset {offset} deleted on request"
        self._recorder.mark(Event.RECORDS_DELETED, offset, text, offset=offset)

    def remove_others(self) -> None:
        """Delete the other topics that are left; a cluster that cannot do that is not healthy afterwards."""
        for name in self._others:
            with suppress(TopicError):
                delete_topic(self._addresses(), self._named(name))

    def _named(self, name: str) -> str:
        return f"{self._topic}.{name}"

    def _addresses(self) -> list[str]:
        return [self._cluster.client_address(broker) for broker in self._hearing()]

    def _add_partitions(self, count: int) -> None:
        zookeeper = self._cluster.zookeeper_address
        if zookeeper is not None:
            self._write_node(zookeeper, count)
        else:
            self._ask_broker(count)
        for address in self._addresses():
            with BrokerConnection(address) as connection:

                def knows(connection: BrokerConnection = connection) -> bool:
                    seen = partition_metadata(connection, self._topic, count - 1)
                    return seen is not None and seen.leader is not None

                until(knows, deadline_s=DEADLINE_S, what=f"{address} to know partition {count - 1}")

    def _write_node(self, zookeeper: str, count: int) -> None:
        path = f"/brokers/topics/{self._topic}"
        with asking_zookeeper(zookeeper, "partitions could not be added") as session:
            content, _ = session.get(path)
            node = json.loads(content)
            for partition in range(len(node["partitions"]), count):
                node["partitions"][str(partition)] = list(self._replicas())
            session.set(path, json.dumps(node).encode())

    def _ask_broker(self, count: int) -> None:
        admin = AdminClient(quiet_configuration(self._addresses()[0]))
        with BrokerConnection(self._addresses()[0]) as connection:
            known = next(n for n in range(1, count + 1) if partition_metadata(connection, self._topic, n) is None)
        assignment = [list(self._replicas())] * (count - known)
        wanted = NewPartitions(self._topic, count, replica_assignment=assignment)
        try:
            admin.create_partitions([wanted])[self._topic].result(DEADLINE_S)
        except (KafkaException, TimeoutError) as failed:
            raise HarnessError(f"partitions could not be added: {failed}") from failed


# When is a run's topic gone from a cluster that the next run uses?


DELETION_DEADLINE_S = 30.0


def delete_records(cluster: Cluster, topic: str, leader: int, offset: int) -> None:
    """Have the leader of a topic's partition 0 delete the records before an offset; its followers may hear of it later.

    Raises:
        HarnessError: the request was refused.
    """
    admin = AdminClient(quiet_configuration(cluster.client_address(leader)))
    wanted = TopicPartition(topic, 0, offset)
    try:
        admin.delete_records([wanted], operation_timeout=FOLLOWERS_S)[wanted].result(DEADLINE_S)
    except (KafkaException, TimeoutError) as failed:
        if not isinstance(failed, KafkaException) or failed.args[0].code() != KafkaError.REQUEST_TIMED_OUT:
            raise HarnessError(f"records could not be deleted: {failed}") from failed


def require_all_running(cluster: Cluster) -> None:
    """Make sure that no broker keeps what it has of a topic because it does not run.

    Raises:
        TopicError: one ended by itself, and is down still.
    """
    if down := [broker for broker in cluster.spec.broker_ids if not cluster.is_alive(broker)]:
        raise TopicError(f"brokers {down} have ended by themselves, and keep what they have")


def remove_topic(cluster: Cluster, topic: str) -> None:
    """Delete a topic and wait until it is gone from every log directory.

    Raises:
        TopicError: the brokers refuse to.
        DeadlineExceededError: it does not go away.
    """
    addresses = [cluster.client_address(broker) for broker in cluster.live_brokers]
    delete_topic(addresses, topic)
    until(
        lambda: not any(_is_of(topic, name) for b in cluster.live_brokers for name in cluster.files(b)),
        deadline_s=DELETION_DEADLINE_S,
        what=f"topic {topic} to be gone from every log directory",
    )


def _is_of(topic: str, path: str) -> bool:
    """Return whether a data file lies in the directory of one of the topic's partitions."""
    folder, _, partition = path.partition("/")[0].rpartition("-")
    return folder == topic and partition.isdigit()
