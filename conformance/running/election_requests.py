"""How is a leader election asked for? As the operators' tools of the release do it.

With ZooKeeper a preferred election is a node that the controller watches, in every release; an unclean one, and any
in KRaft mode, is an ElectLeaders request (KIP-183, KIP-460).
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from conformance.clients import quiet_configuration
from conformance.interruption import HarnessError
from conformance.probes.connection import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    BrokerConnection,
    ElectLeadersRequest,
    ElectLeadersResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ProbeError,
)
from fault_injection.cluster.readiness import zookeeper
from oracle.error_codes import ErrorCode, error_name
from oracle.vocabulary import ElectionKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId


PREFERRED_ELECTION_PATH = "/admin/preferred_replica_election"


def request_election(cluster: Cluster, asked: int, topic: str, kind: ElectionKind) -> None:
    """Ask for an election of a topic's only partition; returns when the request is accepted.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is None:
        _require_taken("the election", *_ask_broker_to_elect(cluster.client_address(asked), topic, kind))
    elif kind is ElectionKind.PREFERRED:
        _write_node(zookeeper, topic)
    else:
        _ask_controller(cluster.client_address(asked), topic)


def request_preferred_leaders(cluster: Cluster, asked: int, topic: str, partitions: int) -> None:
    """Ask for the preferred leader of each of a topic's partitions; returns when the request is accepted.

    A partition that has it already, or whose preferred leader is not in sync, is left as it is.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is not None:
        _write_node(zookeeper, topic, range(partitions))
        return
    address = cluster.client_address(asked)
    codes = _ask_broker_to_elect(address, topic, ElectionKind.PREFERRED, range(partitions))
    left_alone = {ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    _require_taken("the election", *(code for code in codes if code not in left_alone))


def _write_node(zookeeper: str, topic: str, partitions: Iterable[int] = (0,)) -> None:
    wanted = {"version": 1, "partitions": [{"topic": topic, "partition": number} for number in partitions]}
    with asking_zookeeper(zookeeper, "the election could not be asked for") as session:
        session.create(PREFERRED_ELECTION_PATH, json.dumps(wanted).encode())


def _ask_controller(address: str, topic: str) -> None:
    """Ask for an unclean election; the client finds the controller."""
    admin = AdminClient(quiet_configuration(address))
    partition = TopicPartition(topic, 0)
    try:
        answers = admin.elect_leaders(ElectionType.UNCLEAN, [partition]).result(DEADLINE_S)
    except (KafkaException, TimeoutError) as failed:
        raise HarnessError(f"{NO_ELECTION}: {failed}") from failed
    error = answers.get(partition)
    if error is not None:
        raise HarnessError(f"the election was refused: {error}")


def _ask_broker_to_elect(
    address: str, topic: str, kind: ElectionKind, partitions: Iterable[int] = (0,)
) -> tuple[int, ...]:
    """Return the error codes of the answer."""
    wanted = [ElectLeadersRequest.TopicPartitions(topic=topic, partitions=list(partitions))]
    request = ElectLeadersRequest(election_type=ELECTION_TYPES[kind], topic_partitions=wanted, timeout_ms=DEADLINE_MS)
    answer = _ask_broker(address, request, ElectLeadersResponse, NO_ELECTION, version=1)
    codes = (one.error_code for named in answer.replica_election_results for one in named.partition_result)
    return answer.error_code, *codes


NO_ELECTION = "the election could not be asked for"
ELECTION_TYPES = {ElectionKind.PREFERRED: 0, ElectionKind.UNCLEAN: 1}
"""How ElectLeaders writes the kind of an election."""


# How is the controller asked in KRaft mode? Through a broker, which passes the request on.


def _ask_broker(address: str, request: Any, response: Any, failure: str, *, version: int = 0) -> Any:  # noqa: ANN401 - untyped
    """Ask this broker and no other: a client takes the one that metadata calls the controller, which may be paused."""
    try:
        with BrokerConnection(address, DEADLINE_S) as connection:
            return connection.ask(request, response, version)
    except ProbeError as unanswered:
        raise HarnessError(f"{failure}: {unanswered}") from unanswered


def _require_taken(what: str, *codes: int) -> None:
    """Make sure that no error code of an answer says that the request was refused."""
    refused = next((code for code in codes if code), None)
    if refused is not None:
        raise HarnessError(f"{what} was refused: {error_name(refused)}")


# How does the tester ask through ZooKeeper, as the operators' tools of its time do? By a session of its own.


DEADLINE_S = 15.0
DEADLINE_MS = int(DEADLINE_S * 1000)


@contextmanager
def asking_zookeeper(address: str, failure: str) -> Iterator[Any]:
    """Return a connected client.

    Args:
        address: ZooKeeper's.
        failure: what it means if ZooKeeper cannot be reached or refuses, in words.

    Raises:
        HarnessError: ZooKeeper cannot be reached or refuses; begins with ``failure``.
    """
    try:
        with zookeeper(address, DEADLINE_S) as client:
            yield client
    except (KazooException, KazooTimeoutError) as failed:
        raise HarnessError(f"{failure}: {failed!r}") from failed


# How is a partition moved to other brokers? As the operators' tool of the release asks for it.
#
# With ZooKeeper it is a node that the controller watches, in every release; in KRaft mode it is an
# AlterPartitionReassignments request (KIP-455).


REASSIGNMENT_PATH = "/admin/reassign_partitions"


def request_reassignment(cluster: Cluster, asked: int, topic: str, replicas: tuple[BrokerId, ...]) -> None:
    """Ask for a topic's only partition to be moved; returns when the request is accepted.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is not None:
        _write_reassignment(zookeeper, topic, replicas)
    else:
        _ask_broker_to_reassign(cluster.client_address(asked), topic, replicas)


def _write_reassignment(zookeeper: str, topic: str, replicas: tuple[BrokerId, ...]) -> None:
    wanted = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": list(replicas)}]}
    with asking_zookeeper(zookeeper, "the reassignment could not be asked for") as session:
        session.create(REASSIGNMENT_PATH, json.dumps(wanted).encode())


def _ask_broker_to_reassign(address: str, topic: str, replicas: tuple[BrokerId, ...]) -> None:
    moved = AlterPartitionReassignmentsRequest.ReassignableTopic
    partition = moved.ReassignablePartition(partition_index=0, replicas=list(replicas))
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=DEADLINE_MS, topics=[moved(name=topic, partitions=[partition])]
    )
    answer = _ask_broker(
        address, request, AlterPartitionReassignmentsResponse, "the reassignment could not be asked for"
    )
    codes = (it.error_code for named in answer.responses for it in named.partitions)
    _require_taken("the reassignment", answer.error_code, *codes)


# How do a topic's durability settings change while it is in use? As the operators' tool of the release does it.
#
# With ZooKeeper they are a node and a notice that brokers watch, in every release; in KRaft mode it is an
# IncrementalAlterConfigs request (KIP-339).


NOTICE_PATH = "/config/changes/config_change_"
TOPIC, SET = 2, 0
"""The kind of a resource and the operation on a setting, as IncrementalAlterConfigs has them."""


def request_settings(cluster: Cluster, asked: int, topic: str, configs: dict[str, str]) -> None:
    """Give a topic other settings; returns when the request is accepted.

    Args:
        cluster: the brokers.
        asked: the broker to ask in KRaft mode.
        topic: the topic.
        configs: every setting that the topic shall have from now on.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is not None:
        _write_nodes(zookeeper, topic, configs)
    else:
        _ask_broker_for_settings(cluster.client_address(asked), topic, configs)


def _write_nodes(zookeeper: str, topic: str, configs: dict[str, str]) -> None:
    notice = {"version": 2, "entity_path": f"topics/{topic}"}
    with asking_zookeeper(zookeeper, "the settings could not be changed") as session:
        session.set(f"/config/topics/{topic}", json.dumps({"version": 1, "config": configs}).encode())
        session.create(NOTICE_PATH, json.dumps(notice).encode(), sequence=True)


def _ask_broker_for_settings(address: str, topic: str, configs: dict[str, str]) -> None:
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    entries = [
        resource.AlterableConfig(name=name, config_operation=SET, value=value) for name, value in configs.items()
    ]
    altered = resource(resource_type=TOPIC, resource_name=topic, configs=entries)
    request = IncrementalAlterConfigsRequest(resources=[altered], validate_only=False)
    answer = _ask_broker(address, request, IncrementalAlterConfigsResponse, "the settings could not be changed")
    refused = next((one for one in answer.responses if one.error_code), None)
    if refused is not None:
        raise HarnessError(f"the settings were refused: {error_name(refused.error_code)}: {refused.error_message}")
