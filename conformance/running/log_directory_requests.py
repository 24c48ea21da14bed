"""How does a broker move its replica to another of its log directories? Asked as the operators' tools ask (KIP-113).

AlterReplicaLogDirs has the broker copy the replica into a future log in the other directory; when that has caught up,
it takes the place of the current one. DescribeLogDirs tells in which directory each of the two is.

Sources: ReplicaManager.alterReplicaLogDirs, ReplicaAlterLogDirsThread, LogManager.replaceCurrentWithFutureLog.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.interruption import HarnessError
from conformance.probes.connection import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    BrokerConnection,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    ProbeError,
)
from fault_injection.waiting import NotYetError, until
from oracle.error_codes import error_name

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster

NEWEST = 1
"""The version in which both requests are asked: every release from 1.1 on speaks it or the one before."""
DEADLINE_S = 40.0


def move_replica(cluster: Cluster, broker: int, topic: str) -> str:
    """Have a broker move its replica of a topic's partition 0 to another log directory; return when it is there.

    Args:
        cluster: of brokers with two log directories or more.
        broker: holds the replica.
        topic: the topic.

    Returns:
        The name of the log directory that has the replica now.

    Raises:
        HarnessError: the broker does not take the request, or knows no other log directory.
        DeadlineExceededError: the replica does not arrive.
    """
    address = cluster.client_address(broker)
    to = next((path for path, kinds in replica_directories(address, topic).items() if not kinds), None)
    if to is None:
        raise HarnessError(f"broker {broker} has no log directory without {topic}-0")
    _request_move(address, topic, to)

    def has_arrived() -> bool:
        try:
            found = replica_directories(address, topic)
        except ProbeError as unanswered:
            raise NotYetError(str(unanswered)) from unanswered
        return {path for path, kinds in found.items() if kinds} == {to} and found[to] == {False}

    until(has_arrived, deadline_s=DEADLINE_S, what=f"{topic}-0 to be in {to} of broker {broker}")
    return to.rpartition("/")[2]


def replica_directories(address: str, topic: str) -> dict[str, set[bool]]:
    """Return each log directory of a broker with what it has of a topic's partition 0: whether that is a future log.

    Raises:
        ProbeError: the broker does not answer.
    """
    named = DescribeLogDirsRequest.DescribableLogDirTopic(topic=topic, partitions=[0])
    answer = _ask(address, DescribeLogDirsRequest(topics=[named]), DescribeLogDirsResponse)
    return {
        one.log_dir: {bool(replica.is_future_key) for told in one.topics for replica in told.partitions}
        for one in answer.results
        if not one.error_code
    }


def _request_move(address: str, topic: str, to: str) -> None:
    moved = AlterReplicaLogDirsRequest.AlterReplicaLogDir
    named = moved.AlterReplicaLogDirTopic(name=topic, partitions=[0])
    request = AlterReplicaLogDirsRequest(dirs=[moved(path=to, topics=[named])])
    answer = _ask(address, request, AlterReplicaLogDirsResponse)
    codes = [one.error_code for told in answer.results for one in told.partitions]
    if refused := next((code for code in codes if code), None):
        raise HarnessError(f"the move of {topic}-0 to {to} was refused: {error_name(refused)}")


def _ask(address: str, request: Any, response: Any) -> Any:  # noqa: ANN401 - kafka-python is untyped
    with BrokerConnection(address, DEADLINE_S) as connection:
        version = connection.version_of(request, NEWEST)
        if version is None:
            raise HarnessError(f"{address} takes no {request.name} up to version {NEWEST}")
        return connection.ask(request, response, version)
