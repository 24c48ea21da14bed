"""How is a partition moved to other brokers? As the operators' tool of the release asks for it.

With ZooKeeper it is a node that the controller watches, in every release; in KRaft mode it is an
AlterPartitionReassignments request (KIP-455).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from conformance.error_names import error_name
from conformance.interruption import HarnessError
from conformance.probes.connection import BrokerConnection
from conformance.probes.messages import AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse
from conformance.running.asking_zookeeper import DEADLINE_S, asking_zookeeper

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster
    from oracle.vocabulary import BrokerId

REASSIGNMENT_PATH = "/admin/reassign_partitions"
VERSION = 0


def request_reassignment(cluster: Cluster, asked: int, topic: str, replicas: tuple[BrokerId, ...]) -> None:
    """Ask for a topic's only partition to be moved; returns when the request is accepted.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is not None:
        _write_node(zookeeper, topic, replicas)
    else:
        _ask_broker(cluster.client_address(asked), topic, replicas)


def _write_node(zookeeper: str, topic: str, replicas: tuple[BrokerId, ...]) -> None:
    wanted = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": list(replicas)}]}
    with asking_zookeeper(zookeeper, "the reassignment could not be asked for") as session:
        session.create(REASSIGNMENT_PATH, json.dumps(wanted).encode())


def _ask_broker(address: str, topic: str, replicas: tuple[BrokerId, ...]) -> None:
    moved = AlterPartitionReassignmentsRequest.ReassignableTopic
    partition = moved.ReassignablePartition(partition_index=0, replicas=list(replicas))
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=int(DEADLINE_S * 1000), topics=[moved(name=topic, partitions=[partition])]
    )
    with BrokerConnection(address, DEADLINE_S) as connection:
        answer = connection.ask(request, AlterPartitionReassignmentsResponse, VERSION)
    codes = (answer.error_code, *(it.error_code for named in answer.responses for it in named.partitions))
    refused = next((code for code in codes if code), None)
    if refused is not None:
        raise HarnessError(f"the reassignment was refused: {error_name(refused)}")
