"""Is a cluster as it should be when nobody has hurt it?

It is when every node runs and none stands still, every broker is registered and knows every other one, every
partition has all its replicas in sync, and no broker has given up a log directory. Nothing here writes anything or
passes through a relay.

A broker can be excused: it may be down, or end while it is waited for, and all the same is asked of the others. What
nobody can do without it is not asked of them either: to be in sync with a partition that is without a leader because
the excused broker is down. While it runs it is asked like the others.

Sources: KIP-112 (offline log directories) and KIP-113 (DescribeLogDirs), since 1.0.
"""

from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeLogDirsRequest, DescribeLogDirsResponse
from kafka.protocol.metadata import MetadataRequest, MetadataResponse

from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.readiness import ask, registered_brokers
from fault_injection.waiting import DeadlineExceededError, NotYetError, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from fault_injection.cluster.lifecycle import Cluster

RECOVERY_DEADLINE_S = 60.0

_ASK_TIMEOUT_S = 2.0
_METADATA_VERSION = 1
_NO_LEADER = -1


class UnhealthyClusterError(ClusterError):
    """A cluster is not as it should be before a fault, or after all were healed."""


def problems(cluster: "Cluster", excused: "AbstractSet[int]" = frozenset()) -> tuple[str, ...]:
    """Say in words what is wrong with a cluster; nothing if it is healthy but for excused brokers that are down."""
    down = frozenset(broker for broker in excused if not cluster.is_alive(broker))
    gone = tuple(_without_process(cluster, down))
    return gone or tuple(_at_work(cluster, down))


def require_healthy(
    cluster: "Cluster", when: str, deadline_s: float = 0.0, excused: "AbstractSet[int]" = frozenset()
) -> None:
    """Make sure that a cluster is healthy.

    Args:
        cluster: the cluster.
        when: in words, for the error, such as ``before the first fault``.
        deadline_s: how many seconds it may take until it is.
        excused: the brokers that may be down.

    Raises:
        UnhealthyClusterError: it is not, and what is wrong.
    """

    def is_healthy() -> bool:
        found = problems(cluster, excused)
        if found:
            raise NotYetError("; ".join(found))
        return True

    try:
        until(is_healthy, deadline_s=deadline_s, what="the cluster to be healthy", interval_s=0.1)
    except DeadlineExceededError as late:
        raise UnhealthyClusterError(f"the cluster is not healthy {when}: {late.last_seen}") from late


def _expected(cluster: "Cluster", excused: "AbstractSet[int]") -> frozenset[int]:
    return frozenset(node.id for node in cluster.spec.broker_nodes) - excused


def _without_process(cluster: "Cluster", excused: "AbstractSet[int]") -> "Iterator[str]":
    expected = _expected(cluster, excused)
    for node in cluster.spec.nodes:
        is_asked = node in cluster.spec.metadata_nodes or node.id in expected
        if is_asked and not cluster.backend.is_running(node):
            yield f"{node.name} does not run"
    for broker in sorted(expected):
        if cluster.is_paused(broker):
            yield f"broker {broker} is paused"


def _at_work(cluster: "Cluster", excused: "AbstractSet[int]") -> "Iterator[str]":
    expected = _expected(cluster, excused)
    for broker in sorted(expected - registered_brokers(cluster)):
        yield f"broker {broker} is not registered"
    for broker in sorted(expected):
        try:
            yield from _seen_by(cluster, broker, expected, excused)
            yield from _offline_log_directories(cluster, broker)
        except OSError as unanswered:
            yield f"broker {broker} does not answer ({unanswered})"


def _seen_by(cluster: "Cluster", viewer: int, expected: frozenset[int], excused: "AbstractSet[int]") -> "Iterator[str]":
    request = MetadataRequest[_METADATA_VERSION](topics=None)
    answer = ask(cluster.client_address(viewer), request, MetadataResponse, _ASK_TIMEOUT_S)
    known = {int(broker.node_id) for broker in answer.brokers}
    for broker in sorted(expected - known):
        yield f"broker {viewer} does not know broker {broker}"
    for topic in answer.topics:
        for partition in topic.partitions:
            missing = _out_of_sync(partition, excused)
            if missing:
                where = f"{topic.name}-{partition.partition_index}"
                yield f"broker {viewer} knows replicas {', '.join(map(str, missing))} of {where} to be out of sync"


def _out_of_sync(partition: Any, excused: "AbstractSet[int]") -> list[int]:  # noqa: ANN401 - untyped library
    """Return the replicas of a partition that are not in sync and could be."""
    replicas = set(partition.replica_nodes)
    if excused & replicas and partition.leader_id in {_NO_LEADER, *excused}:
        return []
    return sorted(replicas - set(partition.isr_nodes) - excused)


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
