"""Which protocol points does a cluster have? Not every release sends every request.

| request | who has it |
|---|---|
| FETCH of followers and consumers, Produce | every release |
| OffsetsForLeaderEpoch of followers | 0.11 to 2.7: before, they need none; later, FETCH tells them (KIP-595) |
| LeaderAndIsr, UpdateMetadata, StopReplica, ControlledShutdown | ZooKeeper mode |
| AlterPartition, called AlterIsr up to 3.1 (KIP-497) | 2.7 and newer |
| BrokerRegistration, BrokerHeartbeat, FETCH of the metadata log (KIP-631, KIP-595) | KRaft mode |

Sources: the rows of ``oracle.rules.by_version`` say the same of what the model needs; ``BrokerLifecycleManager``,
``ControllerChannelManager`` and ``AlterPartitionManager`` of Kafka 3.9.
"""

from fault_injection.cluster.spec import ClusterSpec
from fault_injection.wire.codec import api_name
from fault_injection.wire.points import POINTS

_EPOCH_LOOKUP, _ALTER_PARTITION = 23, 56
_OF_ZOOKEEPER_MODE = frozenset({4, 5, 6, 7})
_OF_KRAFT_MODE = frozenset({62, 63})
_OF_CLIENTS = frozenset({"produce_request", "produce_response", "client_fetch_request", "client_fetch_response"})


def why_no_point(name: str, spec: ClusterSpec) -> str:
    """Say why no frame at a point can pass the relay of a cluster; empty if one can."""
    kind, release = POINTS[name], spec.release
    api = api_name(kind.api_key)
    if kind.api_key in _OF_ZOOKEEPER_MODE and spec.is_kraft:
        return f"no {api} is sent in KRaft mode: brokers read the metadata log"
    if (kind.api_key in _OF_KRAFT_MODE or kind.fetches == "metadata") and not spec.is_kraft:
        return f"no {'fetch of the metadata log' if kind.fetches else api} is sent in ZooKeeper mode"
    if kind.api_key == _ALTER_PARTITION and not release.is_at_least(2, 7):
        return f"leaders of Kafka {release.version} write the in-sync replicas to ZooKeeper themselves"
    if kind.api_key == _EPOCH_LOOKUP and not (release.is_at_least(0, 11) and not release.is_at_least(2, 8)):
        return f"followers of Kafka {release.version} send no {api}"
    if name in _OF_CLIENTS and not spec.client_links:
        return "clients reach the brokers directly (client_links)"
    return ""


def points_of(spec: ClusterSpec) -> tuple[str, ...]:
    """Give the names of the points that a cluster has."""
    return tuple(name for name in POINTS if not why_no_point(name, spec))
