"""How is a directory of a node's container made too small, or read-only?

The directory is put on a volume of its own: one of a limited size in the daemon's memory, or an ordinary one that is
mounted read-only. A container cannot get a volume later, so the node's next start is another container with the same
files. What is in a volume in memory lasts as long as a container that has it runs; the node ends and starts, so a
*keeper* that does nothing has it too. Volume and keeper carry the owner's label, by which a later tester sweeps them.
"""

import contextlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.errors import APIError

from fault_injection.cluster.backends.container_files import archive
from fault_injection.cluster.errors import ClusterError
from fault_injection.cluster.spec import Node

_BLOCK_BYTES = 4096
_KEEPER = ["sleep", "infinity"]


@dataclass(frozen=True, slots=True)
class Volume:
    """A directory that lies on a volume of its own.

    Attributes:
        directory: where it is in the container.
        volume: the Docker SDK's volume.
        keeper: the Docker SDK's container that keeps the volume mounted.
        is_read_only: whether the node may not write to it.
        text: what it is, in words.
    """

    directory: Path
    volume: Any
    keeper: Any
    is_read_only: bool
    text: str

    @property
    def mount(self) -> dict[str, str]:
        """Where the node's container gets it, in the words of the Docker SDK."""
        return {"bind": str(self.directory), "mode": "ro" if self.is_read_only else "rw"}

    def remove(self) -> None:
        """Remove volume and keeper; no other container has the volume any more."""
        self.keeper.remove(force=True)
        self.volume.remove(force=True)


class NodeVolumes:
    """The volumes of the nodes of one tester: those that their containers have, and those that the next ones get.

    Args:
        client: the Docker SDK's client.
        labels: what tells whose the volumes and keepers are.
    """

    def __init__(self, client: Any, labels: dict[str, str]) -> None:  # noqa: ANN401 - untyped library
        self._client = client
        self._labels = labels
        self._present: dict[Node, Volume] = {}
        self._wanted: dict[Node, Volume | None] = {}

    def limit(self, node: Node, container: Any, directory: Path, room_bytes: int) -> None:  # noqa: ANN401
        """Let a dead node's next container have no more room in a directory than so many bytes."""
        content = archive(container, directory)
        size = _used_bytes(content) + room_bytes // _BLOCK_BYTES * _BLOCK_BYTES
        options = {"type": "tmpfs", "device": "tmpfs", "o": f"size={size}"}
        text = f"a volume in memory, size={size}, on {directory.name}"
        self._want(node, self._filled(container, directory, content, options, text=text))

    def protect(self, node: Node, container: Any, directory: Path) -> None:  # noqa: ANN401 - untyped library
        """Let a dead node's next container only read a directory."""
        text = f"a volume mounted read-only on {directory.name}"
        self._want(node, self._filled(container, directory, archive(container, directory), {}, text=text))

    def restore(self, node: Node, directory: Path) -> bool:
        """Let a dead node's next container have a directory of its own again; False if it has that."""
        if self.proof(node, directory) is None:
            return False
        self._want(node, None)
        return True

    def proof(self, node: Node, directory: Path) -> str | None:
        """Say in words which volume a directory lies on; None when on none."""
        volume = self.of_next(node)
        return volume.text if volume is not None and volume.directory == directory else None

    def is_settled(self, node: Node) -> bool:
        """Return whether the node's container has the volume that it is to have."""
        return node not in self._wanted

    def of_next(self, node: Node) -> Volume | None:
        """Return the volume that the node's next container gets."""
        return self._wanted[node] if node in self._wanted else self._present.get(node)

    def settle(self, node: Node) -> None:
        """Take note that the node's container has been replaced; what it had before is removed."""
        if not self.is_settled(node):
            before, now = self._present.pop(node, None), self._wanted.pop(node)
            if now is not None:
                self._present[node] = now
            if before is not None:
                before.remove()

    def remove(self, node: Node) -> None:
        """Remove all volumes of a node whose container is gone."""
        self._want(node, None)
        self.settle(node)

    def close(self) -> None:
        """Remove all volumes; no node has a container any more."""
        for node in {*self._present, *self._wanted}:
            self.remove(node)

    def _want(self, node: Node, volume: Volume | None) -> None:
        unused = self._wanted.pop(node, None)
        if unused is not None:
            unused.remove()
        if volume is not None or node in self._present:
            self._wanted[node] = volume

    def _filled(
        self,
        container: Any,  # noqa: ANN401 - untyped library
        directory: Path,
        content: bytes,
        options: dict[str, str],
        *,
        text: str,
    ) -> Volume:
        volume = self._client.volumes.create(driver="local", driver_opts=options, labels=self._labels)
        keeper: Any = None
        try:
            keeper = self._client.containers.create(
                container.attrs["Image"],
                entrypoint=_KEEPER[:1],
                command=_KEEPER[1:],
                volumes={volume.name: {"bind": str(directory), "mode": "rw"}},
                labels=self._labels,
                network_mode="none",
                user="0",
            )
            keeper.start()
            keeper.put_archive(str(directory.parent), content)
        except BaseException as failed:
            for created in filter(None, (keeper, volume)):
                with contextlib.suppress(APIError):  # a sweep may be removing it; what came before it is what is told
                    created.remove(force=True)
            if isinstance(failed, APIError):
                raise ClusterError(f"no container can keep a volume: {failed.explanation}") from failed
            raise
        return Volume(directory, volume, keeper, is_read_only=not options, text=text)


def _used_bytes(content: bytes) -> int:
    """Return the room that an archive's files take in whole blocks."""
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        blocks = sum(-(-member.size // _BLOCK_BYTES) for member in tar if member.isfile())
    return max(1, blocks) * _BLOCK_BYTES
