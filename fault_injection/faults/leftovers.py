"""Is a fault of somebody before still standing in a cluster?"""

from collections.abc import Iterator

from fault_injection.cluster.health import UnhealthyClusterError
from fault_injection.cluster.launches import log_directories
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.wire.gate_events import HoldStatus
from fault_injection.wire.proxy import GateProxy


def require_untouched(cluster: Cluster) -> None:
    """Make sure that no frame is waited for or held, no link impaired, and no log directory full or read-only.

    Raises:
        UnhealthyClusterError: something is, and what.
    """
    found = tuple(_standing(cluster))
    if found:
        raise UnhealthyClusterError(f"a fault is left over before the first one: {'; '.join(found)}")


def _standing(cluster: Cluster) -> Iterator[str]:
    relay = cluster.relay
    if isinstance(relay, GateProxy):
        for name, status in relay.holds().items():
            if status in (HoldStatus.ARMED, HoldStatus.CAUGHT):
                yield f"hold {name!r} is {status.value}"
        yield from relay.network.imposed()
    for node in cluster.spec.broker_nodes:
        for directory in log_directories(cluster.spec):
            proof = cluster.backend.storage_proof(node, directory)
            if proof is not None:
                yield f"{node.name} has {proof}"
