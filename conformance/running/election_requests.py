"""How is a leader election asked for? As the operators' tools of the release do it.

With ZooKeeper a preferred election is a node that the controller watches, in every release; otherwise,
and for an unclean one, it is an ElectLeaders request (KIP-183, KIP-460).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from conformance.clients.configuration import quiet_configuration
from conformance.interruption import HarnessError
from conformance.running.asking_zookeeper import DEADLINE_S, asking_zookeeper
from oracle.vocabulary import ElectionKind

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster

PREFERRED_ELECTION_PATH = "/admin/preferred_replica_election"


def request_election(cluster: Cluster, asked: int, topic: str, kind: ElectionKind) -> None:
    """Ask for an election of a topic's only partition; returns when the request is accepted.

    Raises:
        HarnessError: nobody took the request.
    """
    zookeeper = cluster.zookeeper_address
    if zookeeper is not None and kind is ElectionKind.PREFERRED:
        _write_node(zookeeper, topic)
    else:
        _ask_broker(cluster.client_address(asked), topic, kind)


def _write_node(zookeeper: str, topic: str) -> None:
    wanted = {"version": 1, "partitions": [{"topic": topic, "partition": 0}]}
    with asking_zookeeper(zookeeper, "the election could not be asked for") as session:
        session.create(PREFERRED_ELECTION_PATH, json.dumps(wanted).encode())


def _ask_broker(address: str, topic: str, kind: ElectionKind) -> None:
    admin = AdminClient(quiet_configuration(address))
    election = ElectionType.PREFERRED if kind is ElectionKind.PREFERRED else ElectionType.UNCLEAN
    partition = TopicPartition(topic, 0)
    try:
        answers = admin.elect_leaders(election, [partition]).result(DEADLINE_S)
    except (KafkaException, TimeoutError) as failed:
        raise HarnessError(f"the election could not be asked for: {failed}") from failed
    error = answers.get(partition)
    if error is not None:
        raise HarnessError(f"the election was refused: {error}")
