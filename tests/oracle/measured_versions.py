"""Which versions of requests were brokers measured to send each other, and to take? Kept in ``measured_versions.json``.

For each release and metadata mode: the newest version of Fetch, OffsetsForLeaderEpoch and AlterPartition (AlterIsr)
that its brokers sent, null where none was sent, and the oldest and newest version that ApiVersions names of what
clients ask. Two brokers behind the gate, one topic; its follower stops, misses a record and comes back. Measured with

    python -m tests.oracle.measured_versions RELEASE/MODE …

which takes some ten seconds a release; without arguments, every line of the file.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from conformance.clients.questions import API_KEYS, CLIENT_ID
from conformance.line import line_named
from fault_injection.puppets.connection import API_VERSIONS, PuppetConnection
from oracle.rules.release import parse_version
from oracle.vocabulary import ClientRequest
from tests.fault_injection.cluster.topics import await_isr, produce
from tests.fault_injection.wire.real_cluster import TOPIC, cluster_of, create_topic, traced

if TYPE_CHECKING:
    from conformance.line import Line
    from fault_injection.cluster.lifecycle import Cluster

FILE = Path(__file__).with_suffix(".json")
SENT = ("Fetch", "OffsetForLeaderEpoch", "AlterPartition")
METADATA_LOG = ("Fetch", "controller")
"""A request and its link that is none of a follower's."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What brokers of a release say, as it was seen.

    Attributes:
        sent: of each request the newest version that was sent; None if none was.
        taken: of each request of clients the oldest and the newest version that is taken; None if none is.
    """

    sent: dict[str, int | None]
    taken: dict[str, tuple[int, int] | None]


def measured() -> dict[str, Measured]:
    """Read what was measured, by line such as ``3.9.2/kraft``."""
    return {
        name: Measured(told["sent"], {ask: tuple(span) if span else None for ask, span in told["taken"].items()})
        for name, told in json.loads(FILE.read_text()).items()
    }


def measure(of: Line) -> Measured:
    """Start brokers of a line, have a follower come back, and see which requests go between them."""
    with (
        TemporaryDirectory(prefix="versions-") as folder,
        cluster_of(of.release.version, Path(folder), mode=of.metadata) as (cluster, proxy),
    ):
        create_topic(cluster, proxy)
        produce(cluster, TOPIC, b"m0")
        cluster.stop(2)
        await_isr(cluster, TOPIC, {1})
        produce(cluster, TOPIC, b"m1")
        cluster.start_broker(2)
        await_isr(cluster, TOPIC, {1, 2})
        frames, taken = traced(proxy, Path(folder)), _taken(cluster)
    return Measured({name: _newest(frames, name) for name in SENT}, taken)


def _newest(frames: list[dict[str, Any]], name: str) -> int | None:
    asked = [frame for frame in frames if frame.get("direction") == "request" and frame["api"] == name]
    return max((frame["api_version"] for frame in asked if (name, frame["link"]) != METADATA_LOG), default=None)


def _taken(cluster: Cluster) -> dict[str, tuple[int, int] | None]:
    host, _, port = cluster.client_address(1).rpartition(":")
    connection = PuppetConnection((host, int(port)), CLIENT_ID)
    try:
        answer = connection.ask(API_VERSIONS, {}, version=0)
    finally:
        connection.close()
    spans = {named.api_key: (named.min_version, named.max_version) for named in answer.api_keys}
    return {request.value: spans.get(API_KEYS[request]) for request in ClientRequest}


def write(names: list[str]) -> None:
    """Measure lines, and keep what was seen of them beside what is there."""
    for of in map(line_named, names or measured()):
        seen = measure(of)
        found = {**(measured() if FILE.exists() else {}), of.text: seen}
        rows = (f' "{name}": {json.dumps(asdict(found[name]))}' for name in sorted(found, key=_age))
        FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        sys.stdout.write(f"{of.text} {seen}\n")


def _age(name: str) -> tuple[tuple[int, ...], str]:
    version, _, mode = name.partition("/")
    return parse_version(version), mode


if __name__ == "__main__":
    write(sys.argv[1:])
