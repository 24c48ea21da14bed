"""Is a cluster as it should be when nobody has hurt it?

It is when every node runs and none stands still, every broker is registered and knows every other one, every
partition has all its replicas in sync, and no broker has given up a log directory. Nothing here writes anything or
passes through a relay.

Sources: KIP-112 (offline log directories) and KIP-113 (DescribeLogDirs), since 1.0.
"""

from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeLogDirsRequest, DescribeLogDirsResponse
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from fault_injection.cluster.errors import ClusterError
from fault_injection.cluster.readiness import registered_brokers
from fault_injection.cluster.request import ask
from fault_injection.waiting import DeadlineExceededError, NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.cluster.lifecycle import Cluster

RECOVERY_DEADLINE_S = 60.0

_ASK_TIMEOUT_S = 2.0
_METADATA_VERSION = 1


class UnhealthyClusterError(ClusterError):
    """A cluster is not as it should be before a fault, or after all were healed."""


def problems(cluster: "Cluster") -> tuple[str, ...]:
    """Say in words what is wrong with a cluster; nothing if it is healthy."""
    gone = tuple(_without_process(cluster))
    return gone or tuple(_at_work(cluster))


def require_healthy(cluster: "Cluster", when: str, deadline_s: float = 0.0) -> None:
    """Make sure that a cluster is healthy.

    Args:
        cluster: the cluster.
        when: in words, for the error, such as ``before the first fault``.
        deadline_s: how many seconds it may take until it is.

    Raises:
        UnhealthyClusterError: it is not, and what is wrong.
    """

    def is_healthy() -> bool:
        found = problems(cluster)
        if found:
            raise NotYetError("; ".join(found))
        return True

    try:
        until(is_healthy, deadline_s=deadline_s, what="the cluster to be healthy", interval_s=0.1)
    except DeadlineExceededError as late:
        raise UnhealthyClusterError(f"the cluster is not healthy {when}: {late.last_seen}") from late


def _without_process(cluster: "Cluster") -> "Iterator[str]":
    for node in cluster.spec.nodes:
        if not cluster.backend.is_running(node):
            yield f"{node.name} does not run"
    for broker in (node.id for node in cluster.spec.broker_nodes):
        if cluster.is_paused(broker):
            yield f"broker {broker} is paused"


def _at_work(cluster: "Cluster") -> "Iterator[str]":
    expected = frozenset(node.id for node in cluster.spec.broker_nodes)
    for broker in sorted(expected - registered_brokers(cluster)):
        yield f"broker {broker} is not registered"
    for broker in sorted(expected):
        try:
            yield from _seen_by(cluster, broker, expected)
            yield from _offline_log_directories(cluster, broker)
        except OSError as unanswered:
            yield f"broker {broker} does not answer ({unanswered})"


def _seen_by(cluster: "Cluster", viewer: int, expected: frozenset[int]) -> "Iterator[str]":
    request = MetadataRequest[_METADATA_VERSION](topics=None)
    answer = ask(cluster.client_address(viewer), request, MetadataResponse, _ASK_TIMEOUT_S)
    known = {int(broker.node_id) for broker in answer.brokers}
    for broker in sorted(expected - known):
        yield f"broker {viewer} does not know broker {broker}"
    for topic in answer.topics:
        for partition in topic.partitions:
            yield from _out_of_sync(viewer, topic.name, partition)


def _out_of_sync(viewer: int, topic: str, partition: Any) -> "Iterator[str]":  # noqa: ANN401 - untyped library
    missing = sorted(set(partition.replica_nodes) - set(partition.isr_nodes))
    if missing:
        where = f"{topic}-{partition.partition_index}"
        yield f"broker {viewer} knows replicas {', '.join(map(str, missing))} of {where} to be out of sync"


def _offline_log_directories(cluster: "Cluster", broker: int) -> "Iterator[str]":
    release = cluster.spec.release
    if not release.is_at_least(1, 0):
        return
    version = 1 if release.is_at_least(2, 0) else 0
    request = DescribeLogDirsRequest[version](topics=None)
    answer = ask(cluster.client_address(broker), request, DescribeLogDirsResponse, _ASK_TIMEOUT_S)
    for directory in answer.results:
        if directory.error_code:
            yield f"broker {broker} has given up the log directory {directory.log_dir}"
