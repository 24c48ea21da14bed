"""How do the directories of a KRaft cluster get formatted?

Kafka's own storage tool formats the controller's directory. A broker's is the same but for its ids, so it is
copied from there: ``node.id`` is the broker's, ``directory.id`` (from 3.7 on) is a fresh one.
"""

import base64
import re
import shutil
import uuid
from pathlib import Path

from fault_injection.cluster.backend import Backend
from fault_injection.cluster.errors import StorageFormatError
from fault_injection.cluster.launches import SETTINGS, log_directories, storage_tool_launch
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import JarSet

META_PROPERTIES = "meta.properties"


def new_uuid() -> str:
    """Give a random id in Kafka's spelling: 16 bytes in URL-safe base 64 that do not begin with a dash."""
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
