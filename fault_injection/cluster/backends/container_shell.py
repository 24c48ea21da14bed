"""How does a running container give a file's content within milliseconds?

A shell stays open in the container and answers one request a line. A file is opened once, so that one which is
replaced meanwhile is given as it was before or as it is after, never as a mixture. Answers are in base 64 and end
with a line that no base 64 can begin with. Needs ``sh``, ``ls`` and ``base64`` in the image, nothing else.
"""

import base64
import contextlib
import os
import struct
from typing import Any

import docker
from docker.errors import APIError, NotFound

from fault_injection.cluster.supervision import Owner, is_node

_SCRIPT = """
cd "$1" || exit
while read -r verb path; do
  if [ "$verb" = list ]; then ls -1ARp . | base64; echo =done
  elif [ -f "$path" ] && base64 "$path"; then echo =done
  else echo =absent; fi
done 2>/dev/null
"""
_DONE, _ABSENT = b"=done\n", b"=absent\n"
_FRAME_HEADER = struct.Struct(">BxxxL")
"""Docker's framing of a stream without a terminal: which stream, and how many bytes follow."""
_ANSWER_S = 5.0


class ContainerShell:
    """A shell in one container's directory; for one thread at a time.

    Args:
        container: the Docker SDK's container; it runs.
        directory: the directory in the container.
    """

    def __init__(self, container: Any, directory: str) -> None:  # noqa: ANN401 - untyped library
        api = container.client.api
        command = ["sh", "-c", _SCRIPT, "sh", directory]
        self._stream: Any = api.exec_start(
            api.exec_create(container.id, command, stdin=True, stderr=False)["Id"], socket=True
        )
        self._socket: Any = self._stream._sock  # noqa: SLF001 - the stream around it can only be read
        self._socket.settimeout(_ANSWER_S)

    def names(self) -> list[str]:
        """Return the files below the directory, relative to it.

        Raises:
            OSError: the shell does not answer; it is of no more use.
        """
        return sorted(_files_of_listing(self._ask("list")))

    def read(self, relative: str) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError: there is no such file.
            OSError: the shell does not answer; it is of no more use.
        """
        return self._ask(f"read {relative}")

    def close(self) -> None:
        """Let the shell end."""
        self._stream._response.close()  # noqa: SLF001 - it holds the connection, and closes the stream
        self._socket.close()

    def _ask(self, request: str) -> bytes:
        self._socket.sendall(f"{request}\n".encode())
        answer = bytearray()
        while not answer.endswith((_DONE, _ABSENT)):
            _, length = _FRAME_HEADER.unpack(self._received(_FRAME_HEADER.size))
            answer += self._received(length)
        if answer.endswith(_ABSENT):
            raise FileNotFoundError(request.partition(" ")[2])
        return base64.b64decode(answer.removesuffix(_DONE))

    def _received(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self._socket.recv(length - len(parts))
            if not part:
                raise ConnectionResetError("the shell ended")
            parts += part
        return bytes(parts)


def _files_of_listing(listing: bytes) -> list[str]:
    """Take the files out of what ``ls -1ARp .`` prints: a block for each directory, headed by its name."""
    files = []
    for block in listing.decode().strip().split("\n\n"):
        head, *names = block.splitlines()
        directory = head.removesuffix(":").removeprefix(".").removeprefix("/")
        files += [f"{directory}/{name}".removeprefix("/") for name in names if not name.endswith("/")]
    return files


# How is a container killed that stands still?


def kill_paused(container: Any) -> None:  # noqa: ANN401 - untyped library
    """Kill a frozen container; a daemon that refuses to is made to thaw it dying, if it is on this machine."""
    try:
        container.kill()
    except APIError:
        pid = int(container.attrs["State"]["Pid"])
        if is_node(pid):
            os.kill(pid, 9)
        container.unpause()
        with contextlib.suppress(APIError):
            container.kill()


# Which containers and networks did a dead tester leave behind, and how are they told from anybody else's?
#
# They carry the label of their owner, the tester's process. A later tester removes those whose owner is provably gone:
# other hosts and PID namespaces may share the Docker daemon, and their testers live on.


OWNER_LABEL = "org.kafka-conformance.owner"


def owner_of_this_process() -> str:
    """Return the label's value for what this process starts."""
    return str(Owner.of_this_process())


def sweep() -> list[str]:
    """Remove the containers and networks whose owner is gone; return their names."""
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
    for network in client.networks.list(filters=filters):
        if _is_orphan(network.attrs["Labels"][OWNER_LABEL]):
            with contextlib.suppress(NotFound):
                network.remove()
                removed.append(str(network.name))
    return removed


def _is_orphan(owner: str) -> bool:
    known = Owner.written(owner)
    return known is not None and known.is_gone
