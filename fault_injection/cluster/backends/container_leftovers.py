"""Which containers, volumes and networks did a dead tester leave behind, and how are they told from anybody else's?

They carry the label of their owner, the tester's process. A later tester removes those whose owner is provably gone:
other hosts and PID namespaces may share the Docker daemon, and their testers live on.
"""

import contextlib
from typing import Any

import docker
from docker.errors import NotFound

from fault_injection.cluster.owner import Owner

OWNER_LABEL = "org.kafka-conformance.owner"


def owner_of_this_process() -> str:
    """Give the label's value for what this process starts."""
    return str(Owner.of_this_process())


def sweep() -> list[str]:
    """Remove the containers, volumes and networks whose owner is gone; return their names."""
    with contextlib.closing(docker.from_env()) as client:
        return swept(client)


def swept(client: Any) -> list[str]:  # noqa: ANN401 - untyped library
    """Remove them as a Docker client sees them; return their names."""
    filters = {"label": OWNER_LABEL}
    removed = []
    for container in client.containers.list(all=True, filters=filters):
        if _is_orphan(container.labels[OWNER_LABEL]):
            with contextlib.suppress(NotFound):
                container.remove(force=True, v=True)
                removed.append(str(container.name))
    for volume in client.volumes.list(filters=filters):
        if _is_orphan(volume.attrs["Labels"][OWNER_LABEL]):
            with contextlib.suppress(NotFound):
                volume.remove(force=True)
                removed.append(str(volume.name))
    for network in client.networks.list(filters=filters):
        if _is_orphan(network.attrs["Labels"][OWNER_LABEL]):
            with contextlib.suppress(NotFound):
                network.remove()
                removed.append(str(network.name))
    return removed


def _is_orphan(owner: str) -> bool:
    known = Owner.written(owner)
    return known is not None and known.is_gone
