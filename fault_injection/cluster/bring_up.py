"""In which order do the nodes of a new cluster start?

Everything that may start at once does. In ZooKeeper mode the witness must be the controller, so the other
brokers wait until it is. The last broker starts first: schedules rather kill the others, and the first one to
start is the one that may archive its classes when it ends.
"""

import base64
import re
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fault_injection.cluster.backend import Backend, StorageFormatError
from fault_injection.cluster.launches import SETTINGS, storage_tool_launch, write_files
from fault_injection.cluster.plan import log_directories, properties
from fault_injection.cluster.readiness import DEADLINE_S, await_registered, zookeeper
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import JarSet
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
    waiting = [*spec.metadata_nodes, *reversed(spec.broker_nodes)]
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


# How do the directories of a KRaft cluster get formatted?
#
# Kafka's own storage tool formats the controller's directory. A broker's is the same but for its ids, so it is
# copied from there: ``node.id`` is the broker's, ``directory.id`` (from 3.7 on) is a fresh one.


META_PROPERTIES = "meta.properties"


def new_uuid() -> str:
    """Return a random id in Kafka's spelling: 16 bytes in URL-safe base 64 that do not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def format_storage(spec: ClusterSpec, directories: dict[int, Path], jars: JarSet, backend: Backend) -> None:
    """Format the directories of a KRaft cluster's nodes, given by node id.

    Raises:
        StorageFormatError: Kafka's storage tool refuses.
    """
    controller = spec.metadata_node
    formatted = directories[controller.id]
    features = [f"--feature={name}={level}" for name, level in sorted(spec.features.items())]
    arguments = ("format", "-t", new_uuid(), "-c", str(formatted / SETTINGS), *features)
    launch = storage_tool_launch(spec, controller, formatted, jars, arguments)
    exit_code, printed = backend.run_to_end(launch)
    if exit_code != 0:
        raise StorageFormatError(printed.strip()[-2000:])
    for node_id, directory in directories.items():
        if node_id != controller.id:
            for name in log_directories(spec):
                _copy(formatted / name, directory / name, node_id)


def _copy(formatted: Path, to: Path, node_id: int) -> None:
    shutil.copytree(formatted, to, dirs_exist_ok=True)
    meta = to / META_PROPERTIES
    text = re.sub(r"(?m)^node\.id=.*$", f"node.id={node_id}", meta.read_text())
    meta.write_text(re.sub(r"(?m)^directory\.id=.*$", f"directory.id={new_uuid()}", text))
