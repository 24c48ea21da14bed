"""How do nodes run as containers on a network of their own?

The tester's half of the network is the network's gateway: relays listen there, and ports that nodes reach each
other at are published there. Ports that clients use are published on 127.0.0.1, or where a cluster is advertised. Any
container can knock at a gateway.

Nothing of this machine is mounted: what is prepared for a node is copied into its container, and what it writes stays
there, in the container's own file system. A node that is started again is the same container started again.

This module and its neighbours ``container_*`` are the only ones that know Docker.
"""

import contextlib
import io
import logging
import os
import socket
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, DockerException
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from fault_injection.cluster.backend import ClusterError, NodeLaunch, ProcessState
from fault_injection.cluster.backends.container_files import ContainerFiles, archive
from fault_injection.cluster.backends.container_image import (
    CLASS_PATH,
    PUBLIC_JRE_IMAGE,
    first_line,
    image_with_jars,
    present_jre,
    problem_with_pulling,
)
from fault_injection.cluster.backends.container_shell import OWNER_LABEL, kill_paused, owner_of_this_process, swept
from fault_injection.cluster.hosts import address_seen_at
from fault_injection.cluster.launches import LOG, OUTPUT
from fault_injection.cluster.spec import Node
from fault_injection.waiting import until

_KILL_DEADLINE_S = 30.0

testcontainers_config.ryuk_disabled = True  # containers are swept by label; the reaper's image may not be had
logging.getLogger("testcontainers").setLevel(logging.WARNING)


def problem_with_docker(jre_image: str | None) -> str | None:
    """Say in words why containers cannot be used, or None if they can; an absent image is pulled."""
    try:
        _knock()
        with contextlib.closing(docker.from_env()) as client:
            return (
                None if present_jre(client, jre_image) else problem_with_pulling(client, jre_image or PUBLIC_JRE_IMAGE)
            )
    except APIError as refused:
        return f"the Docker daemon refuses it ({first_line(refused)})"
    except (DockerException, OSError) as error:
        return f"no Docker daemon answers ({first_line(error)})"


@dataclass(frozen=True, slots=True)
class _Placed:
    """A node's container, which lives on while the node is dead."""

    launch: NodeLaunch
    container: DockerContainer
    files: ContainerFiles


class DockerBackend:
    """Nodes as containers; removes them all, and their network, when it is closed.

    Args:
        jre_image: the image with a Java runtime to put a release's jars on; None for the one that is there.
        kafka_image: an image that brings Kafka's jars itself and is used as it is.
    """

    name = "docker"
    bind_host = "0.0.0.0"  # noqa: S104 - inside a container, which publishes chosen ports only
    client_host = "127.0.0.1"

    def __init__(self, jre_image: str | None = None, kafka_image: str | None = None) -> None:
        self._client: Any = docker.from_env()
        self.swept = swept(self._client)
        self._jre_image = present_jre(self._client, jre_image) or jre_image or PUBLIC_JRE_IMAGE
        self._kafka_image = kafka_image
        self._labels = {OWNER_LABEL: owner_of_this_process()}
        self._network = Network(docker_network_kw={"labels": self._labels, "check_duplicate": True}).create()
        addresses = self._client.networks.get(self._network.name).attrs["IPAM"]["Config"][0]
        self.host = str(addresses["Gateway"])
        self.peers = str(addresses["Subnet"]), address_seen_at(self.host)
        self._placed: dict[Node, _Placed] = {}
        self._image_digest: str | None = None

    @property
    def image_digest(self) -> str | None:
        """Return the id of the image that nodes run from, once one runs."""
        return self._image_digest

    @property
    def storage(self) -> Path | None:
        """Return the directory of the Docker daemon, if it is on this machine."""
        root = Path(self._client.info()["DockerRootDir"])
        return root if root.exists() else None

    def run(self, launch: NodeLaunch) -> None:
        """Start a node, for the first time or again with the data that it has."""
        if self.is_running(launch.node):
            raise ClusterError(f"{launch.node.name} runs already")
        known = self._placed.get(launch.node)
        if known is not None and known.launch == launch:
            known.container.get_wrapped_container().start()
            known.files.forget()
            return
        container = self._container(launch)
        self._remove(launch.node)
        try:
            container.start()
        except BaseException:
            container.stop()
            raise
        wrapped = container.get_wrapped_container()
        self._placed[launch.node] = _Placed(launch, container, ContainerFiles(wrapped, launch.directory))
        self._image_digest = str(wrapped.attrs["Image"])

    def run_to_end(self, launch: NodeLaunch) -> tuple[int, str]:
        """Run a program to its end; return its exit code and all that it printed."""
        container = self._container(launch)
        try:
            container.start()
            exit_code = int(container.get_wrapped_container().wait()["StatusCode"])
            written = archive(container.get_wrapped_container(), launch.directory)
            with tarfile.open(fileobj=io.BytesIO(written)) as tar:
                tar.extractall(launch.directory.parent, filter="data")
            return exit_code, container.get_wrapped_container().logs().decode(errors="replace")
        finally:
            container.stop()

    def is_running(self, node: Node) -> bool:
        """Return whether the node's container runs, also while it is paused."""
        return node in self._placed and self._status(node) in ("running", "paused", "restarting")

    def terminate(self, node: Node) -> None:
        """Ask a node to shut down and return at once."""
        self._running(node).kill(signal="SIGTERM")

    def process_state(self, node: Node) -> ProcessState | None:
        """Return what became of the node's container."""
        if node not in self._placed:
            return None
        if self.is_running(node):
            return ProcessState(is_paused=self._status(node) == "paused")
        return ProcessState(int(self._placed[node].container.get_wrapped_container().attrs["State"]["ExitCode"]))

    def kill(self, *nodes: Node) -> None:
        """End nodes without a warning, all at once, and return when they are gone.

        The daemon answers a request to kill only when the container is gone, so each gets a thread.
        """
        with ThreadPoolExecutor(max_workers=max(1, len(nodes))) as threads:
            for ended in [threads.submit(self._kill, node, self._running(node)) for node in nodes]:
                ended.result()

    def _kill(self, node: Node, container: Any) -> None:  # noqa: ANN401 - untyped library
        if self._status(node) == "paused":
            kill_paused(container)
        else:
            container.kill()
        until(lambda: not self.is_running(node), deadline_s=_KILL_DEADLINE_S, what=f"end of {node.name}")

    def retire(self, node: Node) -> None:
        """End a node that is not needed any more and copy its logs to this machine."""
        if self.is_running(node):
            self.kill(node)
        if node in self._placed and (directory := self._placed[node].launch.directory).is_dir():
            with contextlib.suppress(FileNotFoundError):
                (directory / LOG).write_bytes(self.read(node, LOG))
            (directory / OUTPUT).write_text(self.output(node))

    def pause(self, node: Node) -> None:
        """Freeze a node and return when it stands still."""
        self._running(node).pause()

    def resume(self, node: Node) -> None:
        """Let a frozen node go on."""
        self._running(node).unpause()
        self._placed[node].files.forget()

    def files(self, node: Node) -> list[str]:
        """Return the files of a node's directory."""
        return self._placed[node].files.names() if node in self._placed else []

    def read(self, node: Node, relative: str) -> bytes:
        """Return the content of a file of a node's directory."""
        if node in self._placed:
            return self._placed[node].files.read(relative)
        raise FileNotFoundError(relative)

    def write(self, node: Node, relative: str, content: bytes) -> None:
        """Put a file into a dead node's directory."""
        self._placed[node].files.write(relative, content)

    def remove(self, node: Node, *relative: str) -> None:
        """Remove files from a dead node's directory."""
        self._placed[node].files.remove(*relative)

    def output(self, node: Node) -> str:
        """Return what a node printed, beside its log."""
        placed = self._placed.get(node)
        return "" if placed is None else str(placed.container.get_wrapped_container().logs().decode(errors="replace"))

    def close(self) -> None:
        """Remove every container and the network."""
        for node in list(self._placed):
            self._remove(node)
        self._network.remove()
        self._network._docker.client.close()  # noqa: SLF001 - it has no other way to give its connections back
        self._client.close()

    def _container(self, launch: NodeLaunch) -> DockerContainer:
        """Make a container with a node's prepared files."""
        container = DockerContainer(self._kafka_image or image_with_jars(self._client, launch, self._jre_image))
        container.with_network(self._network)
        for path in filter(Path.is_file, launch.directory.rglob("*")):
            container.with_copy_into_container(path.read_bytes(), str(path))
        container.with_command(["-cp", CLASS_PATH, *launch.arguments])
        for host, ports in ((self.client_host, launch.client_ports), (self.host, launch.node_ports)):
            container.ports |= {f"{port}/tcp": (host, port) for port in ports}
        container.ports |= {f"{port}/tcp": (host, port) for host, port in launch.advertised_ports}
        container.with_kwargs(entrypoint=["java"], labels=self._labels, user="0", working_dir=str(launch.directory))
        return container

    def _status(self, node: Node) -> str:
        (container := self._placed[node].container).reload()
        return str(container.status)

    def _running(self, node: Node) -> Any:  # noqa: ANN401 - untyped library
        if not self.is_running(node):
            raise ClusterError(f"{node.name} does not run")
        return self._placed[node].container.get_wrapped_container()

    def _remove(self, node: Node) -> None:
        placed = self._placed.pop(node, None)
        if placed is not None:
            placed.files.forget()
            placed.container.stop()


def _knock() -> None:
    """Connect to the daemon's socket, if it is a local one; the library leaks a socket when it cannot."""
    kind, _, path = (os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock").partition("://")
    if kind == "unix":
        with socket.socket(socket.AF_UNIX) as local:
            local.connect(path)
