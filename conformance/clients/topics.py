"""How does a topic come to exist, or to be gone, for every broker that is asked?

The controller's answer is not enough: a client may ask a broker that has not heard of the topic yet. Both
functions return only when the metadata of each given broker says so.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from conformance.clients import quiet_configuration
from conformance.clients.outcomes import kafka_error_name
from conformance.probes.connection import BrokerConnection, partition_metadata
from fault_injection.waiting import DeadlineExceededError, until

if TYPE_CHECKING:
    from concurrent.futures import Future

DEADLINE_S_DEFAULT = 30.0
REQUEST_TIMEOUT_S = 5.0


class TopicError(Exception):
    """A topic could not be created or deleted.

    Attributes:
        error: the name of Kafka's error; None when no answer came in time.
    """

    def __init__(self, message: str, error: str | None = None) -> None:
        super().__init__(message)
        self.error = error


def create_topic(
    addresses: Sequence[str],
    topic: str,
    assignment: Sequence[int],
    configs: Mapping[str, str] | None = None,
    deadline_s: float = DEADLINE_S_DEFAULT,
) -> None:
    """Create a topic of one partition, as ``create_spread_topic`` does.

    Raises:
        TopicError: the controller refused, or a broker did not learn of the topic in time.
    """
    create_spread_topic(addresses, topic, [assignment], configs, deadline_s)


def create_spread_topic(
    addresses: Sequence[str],
    topic: str,
    assignments: Sequence[Sequence[int]],
    configs: Mapping[str, str] | None = None,
    deadline_s: float = DEADLINE_S_DEFAULT,
) -> None:
    """Create a topic and wait until every given broker knows it and the leaders of its partitions.

    Args:
        addresses: ``host:port`` of the live brokers' client listeners; the first one is asked.
        topic: the topic.
        assignments: of each partition the broker ids of the replicas, the preferred leader first.
        configs: topic settings, such as ``min.insync.replicas``.
        deadline_s: seconds for all of it.

    Raises:
        TopicError: the controller refused, or a broker did not learn of the topic in time.
    """
    assigned = [list(replicas) for replicas in assignments]
    wanted = NewTopic(topic, num_partitions=len(assigned), replica_assignment=assigned, config=dict(configs or {}))
    admin = AdminClient(quiet_configuration(addresses[0]))
    answered = admin.create_topics([wanted], request_timeout=deadline_s, operation_timeout=REQUEST_TIMEOUT_S)
    _settle(answered[topic], f"topic {topic} was not created", deadline_s)
    _await_known(addresses, topic, deadline_s, partitions=len(assigned))


def delete_topic(addresses: Sequence[str], topic: str, deadline_s: float = DEADLINE_S_DEFAULT) -> None:
    """Delete a topic and wait until no given broker knows it; its files may outlive that for a moment.

    Args:
        addresses: ``host:port`` of the live brokers' client listeners; the first one is asked.
        topic: the topic.
        deadline_s: seconds for all of it.

    Raises:
        TopicError: the controller refused, or a broker did not forget the topic in time.
    """
    admin = AdminClient(quiet_configuration(addresses[0]))
    answered = admin.delete_topics([topic], request_timeout=deadline_s, operation_timeout=REQUEST_TIMEOUT_S)
    _settle(answered[topic], f"topic {topic} was not deleted", deadline_s)
    _await_known(addresses, topic, deadline_s, partitions=None)


def create_where_brokers_like(
    connection: Mapping[str, str], topic: str, partitions: int, replicas: int, configs: Mapping[str, str]
) -> None:
    """Create a topic on a cluster that somebody else runs; its brokers choose who has the replicas.

    Args:
        connection: settings of librdkafka that reach the cluster.
        topic: its name; ``partitions`` and ``replicas`` of each of them are how many.
        partitions: see there.
        replicas: see there.
        configs: topic settings, such as ``min.insync.replicas``.

    Raises:
        TopicError: the controller refused, or did not answer.
    """
    wanted = NewTopic(topic, num_partitions=partitions, replication_factor=replicas, config=dict(configs))
    admin = AdminClient({**connection, "log_level": 0})
    answered = admin.create_topics([wanted], request_timeout=DEADLINE_S_DEFAULT)
    _settle(answered[topic], f"topic {topic} was not created", DEADLINE_S_DEFAULT)


def delete_anywhere(connection: Mapping[str, str], topic: str) -> None:
    """Delete a topic on a cluster that somebody else runs; as ``create_where_brokers_like``."""
    admin = AdminClient({**connection, "log_level": 0})
    answered = admin.delete_topics([topic], request_timeout=DEADLINE_S_DEFAULT)
    _settle(answered[topic], f"topic {topic} was not deleted", DEADLINE_S_DEFAULT)


def _settle(answered: "Future[None]", failure: str, deadline_s: float) -> None:
    try:
        answered.result(deadline_s)
    except KafkaException as refused:
        error = refused.args[0]
        name = kafka_error_name(error.name())
        raise TopicError(f"{failure}: {name}, {error.str()}", name) from refused
    except TimeoutError as late:
        raise TopicError(f"{failure}: no answer within {deadline_s:g} s") from late


def _await_known(addresses: Sequence[str], topic: str, deadline_s: float, *, partitions: int | None) -> None:
    """Wait until every broker knows a leader of each partition; None: until none of them knows the topic."""
    for address in addresses:
        with BrokerConnection(address) as connection:

            def agrees(connection: BrokerConnection = connection) -> bool:
                seen = [partition_metadata(connection, topic, number) for number in range(partitions or 1)]
                return seen == [None] if partitions is None else all(one is not None and one.leader for one in seen)

            try:
                until(
                    agrees,
                    deadline_s=deadline_s,
                    what=f"{address} {'forgets' if partitions is None else 'knows'} {topic}",
                )
            except DeadlineExceededError as late:
                raise TopicError(str(late)) from late
