"""In which order do the nodes of a new cluster start?

Everything that may start at once does. In ZooKeeper mode the witness must be the controller, so the other
brokers wait until it is. The last broker starts first: schedules rather kill the others, and the first one to
start is the one that may archive its classes when it ends.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fault_injection.cluster.launches import write_files
from fault_injection.cluster.properties import properties
from fault_injection.cluster.readiness import DEADLINE_S, await_registered, zookeeper
from fault_injection.cluster.storage_format import format_storage
from fault_injection.waiting import NotYetError, until

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster


def bring_up(cluster: "Cluster", progress: Callable[[str], None]) -> None:
    """Write every node's files, start every node, and wait until all brokers are registered."""
    spec = cluster.spec
    for plan in cluster.plans:
        write_files(spec, plan.directory, properties(spec, plan.node, plan.listeners))
    if spec.is_kraft:
        progress("formatting storage")
        directories = {plan.node.id: plan.directory for plan in cluster.plans}
        format_storage(spec, directories, cluster.jars, cluster.backend)
    waiting = [spec.metadata_node, *reversed(spec.broker_nodes)]
    if spec.witness_id is not None:
        progress("starting ZooKeeper and the witness broker")
        for node in spec.nodes[:2]:
            cluster.launch(node)
            waiting.remove(node)
        _await_controller(cluster, spec.witness_id)
    progress(f"starting {', '.join(node.name for node in waiting)}")
    for node in waiting:
        cluster.launch(node)
    await_registered(cluster, *(node.id for node in spec.broker_nodes))
    progress("all brokers are registered")


def _await_controller(cluster: "Cluster", broker: int) -> None:
    assert cluster.zookeeper_address is not None
    with zookeeper(cluster.zookeeper_address) as client:

        def is_controller() -> bool:
            cluster.check_alive(broker)
            return _has_controller(client)

        until(is_controller, deadline_s=DEADLINE_S, what=f"broker {broker} to be the controller")


def _has_controller(client: Any) -> bool:  # noqa: ANN401 - untyped library
    if client.exists("/controller") is None:
        raise NotYetError("no /controller")
    return True
