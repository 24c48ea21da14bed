"""What does a cluster look like that a person starts with docker-compose, with the tester's listeners and settings?

``kafka-conformance compose 3.9.2/zookeeper DIRECTORY`` writes one: docker-compose.yaml, and the settings of each node
by the same code that writes them for a run. Nothing stands between its brokers, so no frame
can be held: clients use the CLIENT listeners on this machine, brokers each other's REPLICATION listener.
"""

from pathlib import Path, PurePosixPath
from textwrap import fill

from fault_injection.cluster.launches import CONFIG_NAME, SETTINGS, logging_config, node_launch, storage_tool_launch
from fault_injection.cluster.plan import Listeners, NodePlan, properties
from fault_injection.cluster.relay import Address
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole
from fault_injection.releases import NO_JARS, MetadataMode, find_release

COMPOSE_FILE = "docker-compose.yaml"
CLIENT_PORT, REPLICATION_PORT, CONTROLLER_PORT, ZOOKEEPER_PORT = 9092, 9093, 9094, 2181
"""Ports inside the containers."""
CLIENT_PORT_BASE, ZOOKEEPER_PORT_HERE = 19090, 12181
"""Ports of this machine: broker 1 is at 127.0.0.1:19091."""

_HERE, _EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104 - inside a container, which publishes chosen ports only
_DIRECTORY = Path("/kafka")
_CLUSTER_ID = "Q29uZm9ybWFuY2VUZXN0cw"
_HEAD = """\
# Kafka {version} with {mode}: three brokers with the listeners and settings that the tester gives its own.
# Written by
#   kafka-conformance compose {version}/{mode} DIRECTORY
# which says how it is started.
services:
"""
_SERVICE = """\
  {name}:
    image: ${{JRE_IMAGE:-kafka-conformance/jre:17}}
    hostname: {name}
    entrypoint: [sh, -c]
    command:
      - >-
        {command}
    volumes:
      - ${{KAFKA_JARS:-~/.cache/kafka-conformance/jars/{version}}}:/opt/kafka/libs:ro
      - ./{name}.properties:/kafka/{settings}:ro
      - ./{logging}:/kafka/{logging}:ro
"""


def composed_spec(version: str, mode: MetadataMode | None = None) -> ClusterSpec:
    """Return three brokers of a release, one node for the metadata, and no witness.

    Raises:
        UsageError: no such release, or a mode that it does not have.
    """
    release = find_release(version)
    metadata = release.metadata_mode(mode)
    return ClusterSpec(release, metadata, controller_id=100 if metadata is MetadataMode.KRAFT else None)


def client_address(broker: int) -> Address:
    """Return the address of a broker's CLIENT listener on this machine."""
    return _HERE, CLIENT_PORT_BASE + broker


def composed_files(spec: ClusterSpec) -> dict[str, str]:
    """Return the content of every file of a composed cluster, by name."""
    binding = spec.release.log_binding
    files = {f"{node.name}.properties": properties(spec, node, _listeners(spec, node)).text() for node in spec.nodes}
    files[CONFIG_NAME[binding]] = logging_config(binding, str(_DIRECTORY / "server.log"))
    head = _HEAD.format(version=spec.release.version, mode=spec.metadata_mode.value)
    files[COMPOSE_FILE] = head + "".join(_service(spec, node) for node in spec.nodes)
    return files


def write_composed(spec: ClusterSpec, directory: Path) -> None:
    """Write a composed cluster into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in composed_files(spec).items():
        (directory / name).write_text(text, encoding="utf-8")


def _listeners(spec: ClusterSpec, node: Node) -> Listeners:
    port = CONTROLLER_PORT if spec.is_kraft else ZOOKEEPER_PORT
    keepers = {one.id: (one.name, port) for one in spec.metadata_nodes}
    data = str(PurePosixPath(_DIRECTORY) / "data")
    if node.role is ProcessRole.BROKER:
        ports = {"CLIENT": CLIENT_PORT, "REPLICATION": REPLICATION_PORT}
        advertised = {"CLIENT": client_address(node.id), "REPLICATION": (node.name, REPLICATION_PORT)}
        return Listeners(_EVERYWHERE, ports, advertised, keepers, data)
    name = "CONTROLLER" if node.role is ProcessRole.CONTROLLER else ""
    return Listeners(_EVERYWHERE, {name: port}, {}, keepers, data)


def _service(spec: ClusterSpec, node: Node) -> str:
    text = _SERVICE.format(
        name=node.name,
        version=spec.release.version,
        command=_folded(_command(spec, node)),
        settings=SETTINGS,
        logging=CONFIG_NAME[spec.release.log_binding],
    )
    published = _published(node)
    if published is not None:
        text += f'    ports: ["{_HERE}:{published[0]}:{published[1]}"]\n'
    if node.role is ProcessRole.BROKER:
        text += f"    depends_on: [{spec.metadata_node.name}]\n"
    return text


def _folded(command: str) -> str:
    """Break a command into lines that YAML puts together again."""
    return fill(command, 110, subsequent_indent=8 * " ", break_long_words=False, break_on_hyphens=False)


def _published(node: Node) -> tuple[int, int] | None:
    """Return the port of this machine and that of the container, if the node has one that clients use."""
    if node.role is ProcessRole.BROKER:
        return client_address(node.id)[1], CLIENT_PORT
    return (ZOOKEEPER_PORT_HERE, ZOOKEEPER_PORT) if node.role is ProcessRole.ZOOKEEPER else None


def _command(spec: ClusterSpec, node: Node) -> str:
    """Return what a container does: in KRaft mode it formats its storage once, then it is the node."""
    launch = node_launch(spec, NodePlan(node, _DIRECTORY, _listeners(spec, node), {}), NO_JARS)
    run = f"exec {_java(launch.arguments)}"
    if not spec.is_kraft:
        return run
    arguments = ("format", "--ignore-formatted", "-t", _CLUSTER_ID, "-c", str(_DIRECTORY / SETTINGS))
    tool = storage_tool_launch(spec, node, _DIRECTORY, NO_JARS, arguments)
    return f"{_java(tool.arguments)} && {run}"


def _java(arguments: tuple[str, ...]) -> str:
    return " ".join(("java", "-cp", "'/opt/kafka/libs/*'", *arguments))
