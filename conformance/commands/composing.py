"""``compose``: a cluster of a release that a person starts with Docker Compose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.parser import add_json
from conformance.line import line_named
from fault_injection.cluster.composed import COMPOSE_FILE, client_address, composed_files, composed_spec, write_composed
from fault_injection.releases import UsageError, jars_of

if TYPE_CHECKING:
    from conformance.commands.parser import Parser
    from conformance.console import Console

DESCRIPTION = """Writes three brokers of a release for Docker Compose, with the listeners and settings that the tester
gives its own, to look at with clients and tools, and to audit and attach to. The release's jars are fetched
into the cache, which is mounted. Nothing stands between these brokers, so no frame is held; run starts
clusters of its own."""
EPILOG = """examples:
  kafka-conformance compose 4.4.0 cluster                 with KRaft
  kafka-conformance compose 3.9.2/zookeeper cluster       with ZooKeeper
"""


def add_compose(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("kafka", metavar="V", help="a release, such as 4.4.0 or 3.9.2/zookeeper")
    parser.add_argument("directory", type=Path, metavar="DIR", help="a directory that is new, or empty")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: compose(console, a.kafka, a.directory))


def compose(console: Console, kafka: str, directory: Path) -> int:
    """Write a cluster into a directory, fetch its jars, and say how it is started.

    Raises:
        UsageError: no such release or mode, or the directory has something else.
        JarsUnavailableError: the release's jars cannot be fetched; nothing is written.
    """
    line = line_named(kafka)
    spec = composed_spec(line.release.version, line.metadata)
    _require_room(directory, composed_files(spec))
    jars_of(spec.release)
    write_composed(spec, directory)
    file = directory / COMPOSE_FILE
    brokers = ["{}:{}".format(*client_address(node.id)) for node in spec.broker_nodes]
    if console.as_json:
        console.answer_json({"file": str(file), "bootstrap": brokers})
        return 0
    console.answer(
        f"""{file}: Kafka {line.release.version} ({line.metadata.value}), brokers at {", ".join(brokers)}

  python -m fault_injection.cluster.backends.container_image
  docker-compose -f {file} up -d
  kafka-conformance audit --bootstrap-server {brokers[0]}
  docker-compose -f {file} down -v

The first, once, builds the image without a registry; JRE_IMAGE=eclipse-temurin:17.0.13_11-jre takes another."""
    )
    return 0


def _require_room(directory: Path, files: dict[str, str]) -> None:
    """Refuse what is no directory, and one that has what is none of the files to be written."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory} is no directory: give a new one.")
    others = sorted(path.name for path in directory.iterdir() if path.name not in files) if directory.is_dir() else []
    if others:
        raise UsageError(f"{directory} has {others[0]}, which is no file of such a cluster: give a new directory.")
